package authorizer

import (
	"maps"
	"slices"
	"strings"
)

// headers returns all values of every header under its name in lower case. API
// Gateway keeps the client's casing, so that one header sent in two casings is
// two entries of the event; here they are one with two values.
//
// multi has every value and wins; single, which has one per name, fills in the
// names that multi lacks.
func headers(single map[string]string, multi map[string][]string) map[string][]string {
	all := make(map[string][]string, max(len(single), len(multi)))
	for _, name := range slices.Sorted(maps.Keys(multi)) {
		key := lower(name)
		all[key] = append(all[key], multi[name]...)
	}
	var rest []string
	for name := range single {
		if _, ok := all[lower(name)]; !ok {
			rest = append(rest, name)
		}
	}
	slices.Sort(rest)
	for _, name := range rest {
		key := lower(name)
		all[key] = append(all[key], single[name])
	}
	return all
}

// lower is strings.ToLower for ASCII only: header names are ASCII, and Unicode
// would fold other letters (the Kelvin sign, for one) into them.
func lower(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}
