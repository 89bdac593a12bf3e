package identity

import "net/netip"

// v6Bits is the part of an IPv6 address that names a subscriber: the rest is
// theirs to choose, so that counting whole addresses would limit nobody.
const v6Bits = 64

// IPKey returns the text by which requests from a are counted: an IPv4 address
// as it is, an IPv6 address as its /64. An IPv4-mapped IPv6 address counts as
// the IPv4 address it is, and a zone is dropped. The zero Addr gives "".
func IPKey(a netip.Addr) string { return string(AppendIPKey(nil, a)) }

// AppendIPKey appends IPKey(a) to dst.
func AppendIPKey(dst []byte, a netip.Addr) []byte {
	a = a.Unmap().WithZone("")
	if !a.Is6() {
		return a.AppendTo(dst) // nothing, for the zero Addr
	}
	return netip.PrefixFrom(a, v6Bits).Masked().AppendTo(dst)
}
