package plan

import (
	"regexp"
	"strings"
	"testing"
)

// TestDocsExamples parses every example of docs/plans.md that is YAML or JSON.
func TestDocsExamples(t *testing.T) {
	blocks := regexp.MustCompile("(?s)```(yaml|json)\n(.*?)```").FindAllStringSubmatch(string(readFile(t, "../../docs/plans.md")), -1)
	read := map[string]int{}
	for _, b := range blocks {
		var err error
		kind, text := b[1], b[2]
		switch {
		case kind == "yaml":
			var f *File
			if f, err = Parse("plans.md", []byte(text)); err == nil && len(f.Warnings) > 0 {
				err = f.Warnings
			}
		case strings.Contains(text, `"body"`):
			kind = "rollout"
			_, err = ParseRollout("pro", []byte(text))
		default:
			kind = "overrides"
			_, err = ParseOverrides("acme", []byte(text))
		}
		if err != nil {
			t.Errorf("%v in\n%s", err, text)
		}
		read[kind]++
	}
	if read["yaml"] < 2 || read["rollout"] < 2 || read["overrides"] < 1 {
		t.Errorf("docs/plans.md has these examples: %v; were some lost?", read)
	}
}
