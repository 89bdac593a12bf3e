package plan

import (
	"fmt"
	"testing"
	"time"
)

// A limit has what it says, or else what its plan says.
func TestPlanIsTheDefaultOfItsLimits(t *testing.T) {
	f := mustParse(t, `
plans:
  a:
    limits:
      - { name: x, rate: 5/s }
      - { name: y, rate: 5/s, mode: shadow, hold: 1s, onError: deny, initial: 2 }
  b:
    mode: shadow
    hold: 250ms
    limits:
      - { name: x, rate: 5/s }
      - { name: y, rate: 5/s, mode: enforce, hold: 0s, onError: local }
      - { name: z, rate: 5/s, mode: off }
`)
	for _, tt := range []struct {
		plan string
		i    int
		want Limit
	}{
		{"a", 0, Limit{}},
		{"a", 1, Limit{Mode: Shadow, Hold: time.Second, OnError: Deny, Initial: 2}},
		{"b", 0, Limit{Mode: Shadow, Hold: 250 * time.Millisecond}},
		{"b", 1, Limit{OnError: Local}},
		{"b", 2, Limit{Mode: Off, Hold: 250 * time.Millisecond}},
	} {
		l := f.Plans[tt.plan].Limits[tt.i]
		got := Limit{Mode: l.Mode, Hold: l.Hold, OnError: l.OnError, Initial: l.Initial}
		if fmt.Sprint(got) != fmt.Sprint(tt.want) {
			t.Errorf("plan %s, limit %s: mode %v, hold %v, onError %v, initial %d", tt.plan, l.Name, l.Mode, l.Hold, l.OnError, l.Initial)
		}
	}
}

// What a plan says is no limit's before it, and no other plan's.
func TestDefaultsDoNotLeak(t *testing.T) {
	f := mustParse(t, `
plans:
  a: { mode: off, hold: 5s, limits: [{ name: x, rate: 5/s, cost: 3, onError: deny, initial: 4 }, { name: y, rate: 5/s }] }
  b: { limits: [{ name: x, rate: 5/s }] }
`)
	if l := f.Plans["a"].Limits[1]; l.Cost != 1 || l.OnError != Allow || l.Initial != 0 {
		t.Errorf("limit y has something of limit x: %+v", l)
	}
	if l := f.Plans["b"].Limits[0]; l.Mode != Enforce || l.Hold != 0 {
		t.Errorf("plan b has something of plan a: %+v", l)
	}
}

func TestPolicyNames(t *testing.T) {
	for _, tt := range []struct{ got, want string }{
		{Enforce.String(), "enforce"}, {Shadow.String(), "shadow"}, {Off.String(), "off"}, {Mode(9).String(), "Mode(9)"},
		{Allow.String(), "allow"}, {Local.String(), "local"}, {Deny.String(), "deny"}, {OnError(-1).String(), "OnError(-1)"},
	} {
		if tt.got != tt.want {
			t.Errorf("got %s, want %s", tt.got, tt.want)
		}
	}
}
