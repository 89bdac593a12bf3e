package plan

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestRefusals(t *testing.T) {
	for _, tt := range refusals {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse("f", []byte(tt.text))
			checkErrors(t, err, tt.want)
		})
	}
}

// TestUnreadable has what the parser refuses before it looks at any field.
func TestUnreadable(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"empty", "", "1:1: empty: want a mapping"},
		{"comments only", "# plans\n\n", "1:1: empty: want a mapping"},
		{"null", "~\n", "1:1: the file is empty: want a mapping"},
		{"two documents", "plans: {p: {limits: [{name: a, rate: 1/s}]}}\n---\nplans: {}\n", "2:1: a second document begins here: put everything into one"},
		{"not UTF-8", "plans:\n  # gr\xfcn\n", "2:7: not UTF-8: save the file as UTF-8"},
		{"UTF-16", "\xff\xfep\x00", "1:1: not UTF-8: save the file as UTF-8"},
		{"control character", "plans:\n  é\x00: 1\n", "2:4: control character U+0000"},
		{"too long", "#" + strings.Repeat("x", MaxFileSize), fmt.Sprintf("1:1: %d bytes: at most %d", MaxFileSize+1, MaxFileSize)},
		{"tab", "plans:\n  pro:\n\tlimits: []\n", "3:1: YAML: a tab in the indentation: indent with spaces"},
		{"tab first", "\tplans: {}", "1:1: YAML: a tab in the indentation: indent with spaces"},
		{"unclosed list", "plans:\n  a: [1,\n  b: 2\n", "2:3: YAML: did not find expected ',' or ']'"},
		{"unclosed quote", "x: 1\nplans: 'a\n", "2:1: YAML: found unexpected end of stream"},
		{"bad indent", "plans:\n  a:\n    - b\n   c: d\n", "2:3: YAML: did not find expected key, in the block that begins or ends here: check the indentation"},
		{"two colons", "plans:\n  a: b: c\n", "2:3: YAML: mapping values are not allowed in this context"},
		{"unknown anchor", "plans:\n  a: *base\n", "2:6: YAML: unknown anchor 'base' referenced"},
		{"bare @", "plans:\n  a: @b\n", "2:3: YAML: found character that cannot start any token"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse("f", []byte(tt.text))
			checkErrors(t, err, []string{tt.want})
		})
	}
}

func TestErrorsAreBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString("plans:\n")
	for i := range 500 {
		fmt.Fprintf(&b, "  p%d: x\n", i)
	}
	_, err := Parse("f", []byte(b.String()))
	var l ErrorList
	if !errors.As(err, &l) || len(l) != maxErrors+1 {
		t.Fatalf("%d errors, want %d", len(l), maxErrors+1)
	}
	if got, want := l[maxErrors].Err.Error(), "too many errors; the rest of the file was not read"; got != want {
		t.Errorf("last error %q, want %q", got, want)
	}
}

func TestErrorsNeverShowAKey(t *testing.T) {
	const secret = "s3cr3t"
	for _, keys := range []string{
		"[" + secret + ", " + secret + "]",
		`["` + secret + ` x"]`,
		secret,
		"{" + secret + ": 1}",
		"[!!int " + secret + "]",
	} {
		_, err := Parse("f", []byte("plans: {p: {limits: [{name: a, rate: 1/s}]}}\ntenants: [{id: a, plan: p, keys: "+keys+"}]"))
		if err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("keys %s: error %v; want one without the key", keys, err)
		}
	}
}

// checkErrors checks that err is an ErrorList of file f with exactly the given
// texts, in any order within one position.
func checkErrors(t *testing.T, err error, want []string) {
	t.Helper()
	var l ErrorList
	if !errors.As(err, &l) {
		t.Fatalf("got %v, want an ErrorList", err)
	}
	for i := range max(len(l), len(want)) {
		got, w := "no error", "no error"
		if i < len(l) {
			got = strings.TrimPrefix(l[i].Error(), "f:")
		}
		if i < len(want) {
			w = want[i]
		}
		if got != w {
			t.Errorf("error %d:\n got %s\nwant %s", i, got, w)
		}
	}
}
