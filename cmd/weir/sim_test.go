package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"weir/internal/sim"
	"weir/pkg/bucket"
)

func TestParseChange(t *testing.T) {
	for text, want := range map[string]sim.Change{
		"60s,200/s":              {At: time.Minute, Rate: bucket.Rate{Count: 200, Period: time.Second}, Burst: 200},
		"90,10/m,40":             {At: 90 * time.Second, Rate: bucket.Rate{Count: 10, Period: time.Minute}, Burst: 40},
		"1m,10/m,200%,additive":  {At: time.Minute, Rate: bucket.Rate{Count: 10, Period: time.Minute}, Burst: 20, Carry: bucket.Additive},
		"1m,200/s,200,as-is":     {At: time.Minute, Rate: bucket.Rate{Count: 200, Period: time.Second}, Burst: 200, Carry: bucket.AsIs},
		"60s":                    {},
		"soon,200/s":             {},
		"60s,fast":               {},
		"60s,unlimited":          {},
		"60s,200/s,200,twice":    {},
		"60s,200/s,200,reset,no": {},
	} {
		c, err := parseChange(text)
		if wrong := want == (sim.Change{}); wrong != (err != nil) || !wrong && c != want {
			t.Errorf("%q: %+v, %v; want %+v", text, c, err, want)
		}
	}
}

// The command that a report prints gives the same report.
func TestSimAgain(t *testing.T) {
	args := strings.Fields("sim --json --regions 3 --rate 50/s --burst 80 --for 50s --change 30s,100/s,150,additive --change 45s,20/s --spread 2s")
	out, _, err := run(t, ".", args...)
	if err != nil {
		t.Fatal(err)
	}
	var r sim.Report
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	again, _, err := run(t, ".", append(strings.Fields(r.Command)[1:], "--json")...)
	if err != nil || again != out {
		t.Errorf("%s\n%v\ngives\n%s\nwant\n%s", r.Command, err, again, out)
	}
}
