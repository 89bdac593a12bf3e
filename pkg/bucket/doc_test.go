package bucket

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Every test that doc.go names for an invariant exists, and names it back.
func TestInvariantsAreTested(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	comments := testComments(t)
	invariant := regexp.MustCompile(`^//\tI(\d+) `)
	test := regexp.MustCompile(`\b(?:Test|Fuzz)\w+`)
	id, found := "", 0
	for line := range strings.Lines(string(doc)) {
		switch m := invariant.FindStringSubmatch(line); {
		case m != nil:
			id = "I" + m[1]
		case !strings.HasPrefix(line, "//\t"):
			id = ""
		}
		if id == "" {
			continue
		}
		for _, name := range test.FindAllString(line, -1) {
			found++
			comment, ok := comments[name]
			if !ok {
				t.Errorf("%s names %s, which does not exist", id, name)
			} else if !covers(comment, id) {
				t.Errorf("%s names %s, whose comment does not name it back", id, name)
			}
		}
	}
	if found < 7 {
		t.Errorf("doc.go names %d tests, want one or more for each invariant", found)
	}
}

// covers reports whether a comment names the invariant, alone or within a range
// such as "I1 to I4".
func covers(comment, id string) bool {
	span := regexp.MustCompile(`\bI(\d+)(?: to I(\d+))?\b`)
	n, _ := strconv.Atoi(id[1:])
	for _, m := range span.FindAllStringSubmatch(comment, -1) {
		from, _ := strconv.Atoi(m[1])
		to := from
		if m[2] != "" {
			to, _ = strconv.Atoi(m[2])
		}
		if from <= n && n <= to {
			return true
		}
	}
	return false
}

// testComments returns the comment of every function in the package's tests.
func testComments(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	comments := map[string]string{}
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				comments[fn.Name.Name] = fn.Doc.Text()
			}
		}
	}
	return comments
}
