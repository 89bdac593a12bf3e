package plan

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzParse checks that no file makes the parser panic, that every refusal says
// where, and that every plan it accepts survives being written and read back.
func FuzzParse(f *testing.F) {
	f.Add(readFile(f, "../../examples/plans.yaml"))
	for _, tt := range refusals {
		f.Add([]byte(tt.text))
	}
	for _, text := range accepted {
		f.Add([]byte(text))
	}
	for _, s := range []string{
		"a: &a [*a, *a]", "plans: &p {p: *p}", "plans: {p: &l {limits: [*l]}}", "? {a: b}\n: c", "- - - -", "{[", "%TAG ! x\n---\n!y z",
		"plans: {p: {limits: [{name: a, rate: 1/s}]}}\n...\n", "a: |\n\tb", "\ufeffplans: {}", "plans:\r  a: b: c", "*x", "&x *x", "a: !<!> b", "!!map {a: b}", "plans: !!null {}", "\"\\xff\": 1",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Parse("f", data)
		if err != nil {
			checkPositions(t, data, err)
			return
		}
		if len(file.Plans) == 0 {
			t.Error("a file without plans is accepted")
		}
		for _, tenant := range file.Tenants {
			if file.Plans[tenant.Plan] == nil || !validName(tenant.ID) {
				t.Errorf("tenant %+v is accepted", tenant)
			}
		}
		for name, p := range file.Plans {
			if p.Name != name || len(p.Limits) == 0 {
				t.Errorf("plan %q is %+v", name, p)
			}
			checkRoundTrip(t, p)
		}
	})
}

// checkPositions checks that err is an ErrorList whose positions, in order, all
// lie in data or just after it.
func checkPositions(t *testing.T, data []byte, err error) {
	t.Helper()
	var l ErrorList
	if !errors.As(err, &l) || len(l) == 0 || len(l) > maxErrors+1 {
		t.Fatalf("%T of %d errors: %v", err, len(l), err)
	}
	lines := strings.Count(string(data), "\n") + strings.Count(string(data), "\r") + strings.Count(string(data), "\u0085") +
		strings.Count(string(data), "\u2028") + strings.Count(string(data), "\u2029") + 1 // all are line breaks to YAML
	for i, e := range l {
		if e.File != "f" || e.Err == nil || e.Line < 1 || e.Line > lines+1 || e.Column < 1 {
			t.Errorf("error without a place in %d lines: %+v", lines, e)
		}
		if i > 0 && (e.Line < l[i-1].Line) {
			t.Errorf("%v comes after %v", e, l[i-1])
		}
	}
}

// Files that are nothing but nested aliases must not take longer than their size
// allows: without bounds, these would be walked billions of times.
func TestAliasesDoNotMultiply(t *testing.T) {
	var b strings.Builder
	b.WriteString("plans:\n  p: &p { limits: &l [&x {name: a, rate: 1/s}")
	for range 10_000 {
		b.WriteString(", *x")
	}
	b.WriteString("] }\n")
	for i := range 900 {
		b.WriteString("  p" + strings.Repeat("x", i%60) + string(rune('a'+i%26)) + ": *p\n")
	}
	_, err := Parse("f", []byte(b.String()))
	if err == nil {
		t.Error("10,000 limits in a plan are accepted")
	}
	deep := strings.Repeat("[", 9000) + strings.Repeat("]", 9000)
	if _, err := Parse("f", []byte("plans: "+deep)); err == nil {
		t.Error("9,000 nested lists are accepted")
	}
}

// TestExamples reads every plans file that the project ships.
func TestExamples(t *testing.T) {
	names, err := filepath.Glob("../../examples/*.yaml")
	if err != nil || len(names) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Parse(name, data); err != nil {
			t.Error(err)
		}
	}
}
