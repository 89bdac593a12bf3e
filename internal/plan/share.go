package plan

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strings"
)

// Share is a part of a plan's tenants, in parts per 10,000.
type Share int

// Everybody is the share that is all tenants.
const Everybody Share = 10_000

// String returns the share in percent, such as 5% or 0.25%.
func (s Share) String() string {
	text := fmt.Sprintf("%d.%02d", s/100, s%100)
	return strings.TrimRight(strings.TrimRight(text, "0"), ".") + "%"
}

// ParseShare parses a share as String writes it: percent with up to two decimals.
func ParseShare(s string) (Share, error) {
	number, ok := strings.CutSuffix(s, "%")
	whole, part, dotted := strings.Cut(number, ".")
	n, isNumber := parseDigits(whole)
	ok = ok && isNumber && n <= 100
	share := Share(n) * 100
	if dotted {
		ok = ok && (len(part) == 1 || len(part) == 2)
		for i, unit := 0, Share(10); i < len(part); i, unit = i+1, unit/10 {
			ok = ok && '0' <= part[i] && part[i] <= '9'
			share += Share(part[i]-'0') * unit
		}
	}
	if !ok || share > Everybody {
		return 0, fmt.Errorf("share %s: want a percentage from 0%% to 100%% with up to two decimals, such as 5%% or 0.25%%", quote(s))
	}
	return share, nil
}

// has reports whether a tenant is in the share of a plan's tenants. Who is in a
// share is in every wider one: each tenant stands at a fixed point of the range,
// found by hashing, and a share has those below it.
func (s Share) has(plan, tenant string) bool {
	return s > 0 && pointOf(plan, tenant) < s
}

// pointOf returns where in [0, Everybody) a tenant of a plan stands. The plan's name
// is hashed too, so that it is not the same tenants who try every plan first.
func pointOf(plan, tenant string) Share {
	var buf [2*MaxName + 1]byte
	b := append(append(append(buf[:0], plan...), 0), tenant...)
	sum := sha256.Sum256(b)
	return Share(binary.BigEndian.Uint64(sum[:8]) % uint64(Everybody)) //nolint:gosec // in range
}
