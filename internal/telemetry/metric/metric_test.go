package metric

import (
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of metrics into docs/telemetry.md")

const (
	page  = "../../../docs/telemetry.md"
	begin = "<!-- metrics: go test ./internal/telemetry/metric -update -->\n"
	end   = "<!-- end of metrics -->\n"
)

// TestPage: docs/telemetry.md lists the metrics as they are here.
func TestPage(t *testing.T) {
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok1 := strings.Cut(string(data), begin)
	stated, tail, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		t.Fatalf("%s does not have the lines %s and %s", page, begin, end)
	}
	want := "\n" + Tables() + "\n"
	if stated == want {
		return
	}
	if !*update {
		t.Fatalf("%s lists other metrics than this package; run go test ./internal/telemetry/metric -update\nit states\n%s\nwant\n%s", page, stated, want)
	}
	if err := os.WriteFile(page, []byte(head+begin+want+end+tail), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestList: the list is complete, and CloudWatch can take it.
func TestList(t *testing.T) {
	name := regexp.MustCompile(`^[A-Z][A-Za-z]+$`)
	seen := make(map[string]bool)
	for _, m := range All() {
		switch {
		case !name.MatchString(m.Name), seen[m.Name]:
			t.Errorf("%q is no name, or twice in the list", m.Name)
		case m.Unit == "", m.Type == "", len(m.By) == 0, m.Meaning == "", m.Action == "", strings.Contains(m.Meaning+m.Action, "|"):
			t.Errorf("%s: something is missing", m.Name)
		case len(m.Dimensions) == 0:
			t.Errorf("%s has no dimensions", m.Name)
		}
		seen[m.Name] = true
		for _, set := range m.Dimensions {
			if len(set) == 0 || set[0] != Region {
				t.Errorf("%s: dimensions %v do not begin with Region", m.Name, set)
			}
		}
	}
}
