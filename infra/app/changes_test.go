package app_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the files of testdata anew")

// changes lists what an update from one assembly to another does: stacks and
// resources that come (+) and go (-), properties that change (~). What cdk-nag
// notes is no part of it.
func changes(t *testing.T, from, to assembly) []string {
	t.Helper()
	var all []string
	for _, stack := range keys(from.templates, to.templates) {
		before, was := from.templates[stack]
		after, is := to.templates[stack]
		switch {
		case !was:
			all = append(all, fmt.Sprintf("+ stack %s", stack))
			continue
		case !is:
			all = append(all, fmt.Sprintf("- stack %s", stack))
			continue
		}
		for _, id := range keys(before.Resources, after.Resources) {
			b, was := before.Resources[id]
			a, is := after.Resources[id]
			switch {
			case !was:
				all = append(all, fmt.Sprintf("%s: + %s %s", stack, a.Type, id))
			case !is:
				all = append(all, fmt.Sprintf("%s: - %s %s", stack, b.Type, id))
			default:
				for _, d := range differences(t, b.Properties, a.Properties) {
					all = append(all, fmt.Sprintf("%s: ~ %s.%s", stack, id, d))
				}
			}
		}
	}
	for i, line := range all { // digests change with every property
		all[i] = digest.ReplaceAllString(line, "#")
	}
	return all
}

var digest = regexp.MustCompile(`[0-9a-f]{40}`)

func keys[V any](a, b map[string]V) []string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return slices.Sorted(maps.Keys(all))
}

// differences lists the values that differ, by path. Lists are compared by element.
func differences(t *testing.T, before, after any) []string {
	t.Helper()
	b, isMap := before.(map[string]any)
	a, stillMap := after.(map[string]any)
	if !isMap || !stillMap {
		if compact(t, before) == compact(t, after) {
			return nil
		}
		return []string{": " + shortened(t, before) + " -> " + shortened(t, after)}
	}
	var all []string
	for _, k := range keys(b, a) {
		for _, d := range differences(t, b[k], a[k]) {
			if !strings.HasPrefix(d, ":") {
				d = "." + d
			}
			all = append(all, k+d)
		}
	}
	return all
}

func shortened(t *testing.T, v any) string {
	s := compact(t, v)
	if len(s) > 400 {
		return "(long)"
	}
	return s
}

// TestAddingARegion: one more line in the configuration changes what it should.
func TestAddingARegion(t *testing.T) {
	text, err := os.ReadFile("testdata/two.yaml")
	if err != nil {
		t.Fatal(err)
	}
	two := string(text)
	three := strings.Replace(two, "  - us-east-1\n", "  - us-east-1\n  - ap-southeast-2\n", 1)
	if strings.Count(three, "\n") != strings.Count(two, "\n")+1 {
		t.Fatal("the two files differ in more than a line")
	}
	got := strings.Join(changes(t, synthesisedText(t, "two", two), synthesisedText(t, "three", three)), "\n") + "\n"
	const golden = "testdata/two-to-three.golden"
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("if this is meant, run the test with -update\ngot\n%swant\n%s", got, want)
	}
	for line := range strings.Lines(got) {
		if strings.Contains(line, ": - ") || strings.HasPrefix(line, "- ") {
			if !strings.Contains(line, "AWS::Lambda::Version") {
				t.Errorf("something goes: %s", line)
			}
		}
	}
}
