package plan

import (
	"fmt"
	"strconv"
	"strings"
)

// MaxName is the length of the longest name of a plan, limit or tenant.
const MaxName = 64

// validName reports whether s is 1 to MaxName letters, digits, '.', '_' and '-'.
func validName(s string) bool {
	if s == "" || len(s) > MaxName {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '_', c == '-':
		default:
			return false
		}
	}
	return true
}

// quote quotes s for a message, cut to a length that fits one.
func quote(s string) string {
	const most = 60
	if len(s) > most {
		return strconv.Quote(strings.ToValidUTF8(s[:most], "")) + "..."
	}
	return strconv.Quote(s)
}

// didYouMean returns "; did you mean X?" for the known word nearest to s, or ""
// if none is near.
func didYouMean(s string, known []string) string {
	best, least := "", MaxName
	if len(s) <= MaxName {
		for _, k := range known {
			if d := distance(strings.ToLower(s), strings.ToLower(k)); d < least && d <= len(k)/3 {
				best, least = k, d
			}
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", best)
}

// orOneOf is didYouMean, or else a list of the known words if they are few.
func orOneOf(s string, known []string) string {
	if hint := didYouMean(s, known); hint != "" || len(known) == 0 || len(known) > 16 {
		return hint
	}
	return ": want one of " + strings.Join(known, ", ")
}

// distance is the number of insertions, deletions and substitutions between a and b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			d := diagonal
			if a[i] != b[j] {
				d = 1 + min(d, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], d
		}
	}
	return row[len(b)]
}

// ValidName reports whether s can be a tenant's id: 1 to MaxName letters, digits,
// '.', '_' and '-'. The name of a plan or a limit must begin with a letter or
// digit besides.
func ValidName(s string) bool { return validName(s) }
