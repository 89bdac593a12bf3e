package metric

import (
	"fmt"
	"strings"
)

// Tables returns all metrics as tables in Markdown, one for each function.
func Tables() string {
	return "**Authorizer**\n\n" + table(authorizers()) + "\n**Reconciler**\n\n" + table(reconcilers())
}

// table returns the metrics as a table in Markdown.
func table(all []Metric) string {
	var b strings.Builder
	b.WriteString("| metric | unit | read as | dimensions | what it is | when it moves |\n|---|---|---|---|---|---|\n")
	for _, m := range all {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s |\n", m.Name, m.Unit, m.reading(), m.sets(), m.Meaning, m.Action)
	}
	return b.String()
}

func (m Metric) reading() string {
	if m.Type == Values {
		return "p50, " + m.Type.Statistic()
	}
	return m.Type.Statistic()
}

// sets returns the sets of dimensions, without Region, which all have.
func (m Metric) sets() string {
	var sets []string
	for _, set := range m.Dimensions {
		var names []string
		for _, d := range set {
			if d != Region {
				names = append(names, string(d))
			}
		}
		if len(names) == 0 {
			names = []string{"(Region alone)"}
		}
		sets = append(sets, strings.Join(names, " + "))
	}
	return strings.Join(sets, "; ")
}
