package authorizer

import (
	"maps"
	"slices"
	"strings"
)

// headers returns all values of every header under its name in lower case. API
// Gateway keeps the client's casing, so that one header sent in two casings is
// two entries of the event; here they are one, with its values in a sorted order,
// since that of the entries is lost.
//
// multi has every value and wins; single, which has one per name, fills in the
// names that multi lacks.
func headers(single map[string]string, multi map[string][]string) map[string][]string {
	all := make(map[string][]string, max(len(single), len(multi)))
	for name, values := range multi {
		addHeader(all, lower(name), values...)
	}
	var rest map[string][]string
	for name, value := range single {
		key := lower(name)
		if _, ok := all[key]; ok {
			continue
		}
		if rest == nil {
			rest = make(map[string][]string, len(single))
		}
		addHeader(rest, key, value)
	}
	maps.Copy(all, rest)
	return all
}

func addHeader(all map[string][]string, key string, values ...string) {
	if before, ok := all[key]; ok {
		values = slices.Sorted(slices.Values(slices.Concat(before, values)))
	}
	all[key] = values
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
