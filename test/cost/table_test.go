package cost_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the measured tables into docs/cost.md")

const (
	page  = "../../docs/cost.md"
	begin = "<!-- measured: go test ./test/cost -update -->\n"
	end   = "<!-- end of what is measured -->\n"
)

// TestPage: docs/cost.md says what is measured now.
func TestPage(t *testing.T) {
	one, three := deploy(t, 1), deploy(t, 3)
	var b strings.Builder
	b.WriteString("| one charge | Regions | calls | of them failed | write units here | in all Regions | read units |\n|---|---|---|---|---|---|---|\n")
	for _, r := range chargeRows(one, three) {
		b.WriteString(r.line(1))
	}
	b.WriteString("\n| one request that memory cannot decide | Regions | calls | of them failed | write units here | in all Regions | read units |\n|---|---|---|---|---|---|---|\n")
	for _, a := range requests {
		d := one
		if a.regions > 1 {
			d = three
		}
		b.WriteString(d.measureRequests(a).line(each))
	}
	measured := b.String()
	t.Log("\n" + measured)

	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok1 := strings.Cut(string(data), begin)
	stated, tail, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		t.Fatalf("%s does not have the lines %s and %s", page, begin, end)
	}
	if strings.TrimSpace(stated) == strings.TrimSpace(measured) {
		return
	}
	if !*update {
		t.Fatalf("%s states\n%s\nmeasured is\n%s\nrun go test ./test/cost -update, and look at what has changed", page, stated, measured)
	}
	if err := os.WriteFile(page, []byte(head+begin+"\n"+measured+"\n"+end+tail), 0o644); err != nil {
		t.Fatal(err)
	}
}

// line is the row as a line of the table, of n charges together.
func (r row) line(n float64) string {
	all := fmt.Sprintf("%v", (r.here.Write+r.elsewhere.Write)/n)
	if r.strict { // the engine has no such tables
		written := r.here.Write - float64(r.here.Failed)
		all = fmt.Sprintf("%v*", (r.here.Write+written*float64(r.regions-1))/n)
	}
	return fmt.Sprintf("| %s | %d | %v | %v | %v | %s | %v |\n", r.name, r.regions,
		float64(r.here.calls())/n, float64(r.here.Failed)/n, r.here.Write/n, all, r.here.Read/n)
}
