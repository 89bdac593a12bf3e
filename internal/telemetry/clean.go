package telemetry

import (
	"net/netip"
	"strings"

	"weir/internal/telemetry/metric"
)

// maxText is the longest text that is taken over from elsewhere.
const maxText = 128

// clean returns s as a dimension's value and a log's: metric.NoName for the empty
// string, '_' for what is not printable ASCII, or could end a JSON string, and no
// more than maxText bytes. CloudWatch takes nothing else in dimensions, and a log
// that is read on a terminal should not be able to move its cursor.
func clean(s string) string {
	if s == "" {
		return metric.NoName
	}
	if len(s) > maxText {
		s = s[:maxText]
	}
	for i := range len(s) {
		if !plain(s[i]) {
			return replaceOdd(s)
		}
	}
	if s[0] == ':' || strings.TrimSpace(s) == "" { // CloudWatch takes neither
		return "_" + s[1:]
	}
	return s
}

func replaceOdd(s string) string {
	b := []byte(s)
	for i, c := range b {
		if !plain(c) {
			b[i] = '_'
		}
	}
	if b[0] == ':' {
		b[0] = '_'
	}
	return string(b)
}

func plain(c byte) bool { return ' ' <= c && c <= '~' && c != '"' && c != '\\' }

// maskIP returns the network that an address is in, so that a log does not say
// which person it was: the /24 of IPv4, the /48 of IPv6, "-" without an address.
func maskIP(ip netip.Addr) string {
	if !ip.IsValid() {
		return metric.NoName
	}
	ip = ip.Unmap().WithZone("")
	bits := 48
	if ip.Is4() {
		bits = 24
	}
	p, _ := ip.Prefix(bits) // there are so many bits
	return p.String()
}
