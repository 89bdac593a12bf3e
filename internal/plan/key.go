package plan

import (
	"crypto/sha256"
	"encoding/base64"

	"weir/internal/identity"
)

// Bounds of a bucket's key, in bytes. A name, '|' and an expansion stay below 256.
const (
	maxValue     = 64  // of one placeholder's value; a longer one is hashed
	maxExpansion = 190 // of a whole template; a longer one is hashed
)

// absent stands for a value the request does not have, such as a missing header
// or, without a credential, the tenant. No value is written so.
const absent = '!'

// PerTenant reports whether each of l's buckets is one tenant's: whether its key
// has {tenant}. The others are shared by tenants, of any plan that has such a limit.
func (l *Limit) PerTenant() bool { return l.Key.uses(tenant) }

// BucketKey returns the key of the bucket that l uses for s: the limit's name,
// '|' and the expanded template, in less than 256 bytes. The plan's name is no
// part of it, so a tenant who changes plan keeps the buckets of limits that have
// the same name.
//
// Two subjects that differ in a placeholder of the template never share a key;
// of an IPv6 address the first 64 bits count. Nor do two different templates
// under one limit name, unless they say the same.
func (l *Limit) BucketKey(s Subject) string {
	var buf [256]byte
	b := append(buf[:0], l.Name...)
	b = append(b, '|')
	return string(l.Key.Expand(b, s))
}

// Expand appends to dst the template filled with s: at most 190 bytes.
//
// Every part says what it is (a tenant's id stands bare, a word follows '=', the
// rest is ip=, route=, method= and header.NAME=), values have the characters
// that could be mistaken for such marks escaped as %XX, and long values are
// replaced by '#' and a SHA-256. So an expansion can be taken apart in one way
// only, and no value that a client chooses can pass for another.
func (t Template) Expand(dst []byte, s Subject) []byte {
	if t.parts == nil {
		return appendValue(dst, s.Tenant)
	}
	start := len(dst)
	for i, p := range t.parts {
		if i > 0 {
			dst = append(dst, ':')
		}
		dst = p.expand(dst, s)
	}
	if len(dst)-start > maxExpansion {
		sum := sha256.Sum256(dst[start:])
		dst = base64.RawURLEncoding.AppendEncode(append(dst[:start], '#', '#'), sum[:])
	}
	return dst
}

func (p part) expand(dst []byte, s Subject) []byte {
	switch p.kind {
	case tenant:
		return appendValue(dst, s.Tenant)
	case ip:
		dst = append(dst, "ip="...)
		if !s.IP.IsValid() {
			return append(dst, absent)
		}
		return identity.AppendIPKey(dst, s.IP) // ends at the first ':' if it has a '.', else after "/64"
	case route:
		return appendValue(append(dst, "route="...), s.Resource)
	case method:
		return appendValue(append(dst, "method="...), s.Method)
	case header:
		dst = append(dst, "header."...)
		dst = append(dst, p.text...)
		dst = append(dst, '=')
		if s.Header == nil {
			return append(dst, absent)
		}
		return appendValue(dst, s.Header(p.text))
	}
	return append(append(dst, '='), p.text...)
}

// appendValue appends v escaped, hashed if that is longer than maxValue, or
// absent if v is empty.
func appendValue(dst []byte, v string) []byte {
	if v == "" {
		return append(dst, absent)
	}
	start := len(dst)
	for i := range len(v) {
		if c := v[i]; bare(c) {
			dst = append(dst, c)
		} else {
			const hex = "0123456789ABCDEF"
			dst = append(dst, '%', hex[c>>4], hex[c&15])
		}
		if len(dst)-start > maxValue {
			dst = append(dst[:start], v...) // hashed in place: a conversion would allocate
			sum := sha256.Sum256(dst[start:])
			return base64.RawURLEncoding.AppendEncode(append(dst[:start], '#'), sum[:])
		}
	}
	return dst
}

// bare reports whether c stands for itself in a value: visible ASCII but for the
// marks of an expansion.
func bare(c byte) bool {
	switch c {
	case '%', ':', '=', '|', '#', absent:
		return false
	}
	return c > ' ' && c <= '~'
}
