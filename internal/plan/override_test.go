package plan

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"weir/pkg/bucket"
)

func mustOverrides(t testing.TB, text string) Overrides {
	t.Helper()
	o, err := ParseOverrides("acme", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// one returns a plan with limit a, written so.
func one(t testing.TB, limit string) *Plan {
	t.Helper()
	p, err := ParsePlan("pro", []byte("limits: [{ name: a, "+limit+" }]"))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestOverrideOfRateAndBurst(t *testing.T) {
	per := func(n int64, d time.Duration, burst int64) bucket.Limit { return mustLimit(t, n, d, burst) }
	for _, tt := range []struct {
		limit, override string
		want            bucket.Limit
		warn            string // part of the one warning; "" for none
	}{
		{"rate: 100/s", "rate: 200/s", per(200, time.Second, 200), ""},
		{"rate: 100/s", "rate: 50/s", per(50, time.Second, 50), ""},
		{"rate: 100/s, burst: 150%", "rate: 6000/m", per(6000, time.Minute, 9000), ""},
		{"rate: 100/s, burst: 500", "rate: 200/s", per(200, time.Second, 500), ""},
		{"rate: 100/s, burst: 500", "burst: 400", per(100, time.Second, 400), ""},
		{"rate: 100/s, burst: 500", "burst: 200%", per(100, time.Second, 200), ""},
		{"rate: 100/s, burst: 500", "{ rate: 3/s, burst: 5k }", per(3, time.Second, 5000), ""},
		{"rate: 100/s, burst: 500", "{ rate: 3/s, burst: 34% }", per(3, time.Second, 1), ""},
		{"rate: unlimited", "rate: 10/s", per(10, time.Second, 10), ""},
		{"rate: unlimited, burst: 7", "rate: 10/s", per(10, time.Second, 10), ""},
		{"rate: unlimited", "burst: 10", bucket.Unlimited(), ""},
		{"rate: 10/s", "rate: unlimited", bucket.Unlimited(), ""},
		{"rate: 10/s, cost: 10", "{ rate: unlimited, burst: 1 }", bucket.Unlimited(), ""},
		{"rate: 0/s", "rate: 10/s", per(10, time.Second, 10), ""},
		{"rate: 10/s", "rate: 0/m", per(0, 0, 0), ""},
		{"rate: 10/s, burst: 30", "rate: 0/s", per(0, 0, 30), ""},

		// What cannot be becomes the nearest that can.
		{"rate: 100/s, burst: 10%", "rate: 5/s", per(5, time.Second, 1), "a burst of 0 tokens cannot be beside its rate; the tenant's bucket holds 1"},
		{"rate: 1/d, burst: 10", "burst: 1M", per(1, day, 36500), "a burst of 1000000 tokens cannot be beside its rate; the tenant's bucket holds 36500"},
		{"rate: 100/s, burst: 1M", "rate: 1/d", per(1, day, 36500), "holds 36500"},
		{"rate: 1/s, burst: 1000000%", "rate: 1M/s", per(1_000_000, time.Second, bucket.MaxBurst), "holds 10000000"},
		{"rate: 0/s, burst: 0", "rate: 10/s", per(10, time.Second, 1), "holds 1"},

		{"rate: 100/s, cost: 50", "burst: 49", per(100, time.Second, 49), `limit "a" costs 50 tokens, but the tenant's bucket holds 49`},
		{"rate: 100/s, cost: 50", "burst: 50", per(100, time.Second, 50), ""},
	} {
		if !strings.HasPrefix(tt.override, "{") {
			tt.override = "{ " + tt.override + " }"
		}
		p, o := one(t, tt.limit), mustOverrides(t, "limits: { a: "+tt.override+" }")
		eff, _ := Effective(p, Tenant{ID: "acme", Overrides: o}, 0)
		if got := eff.Limits[0].Bucket; got != tt.want {
			t.Errorf("%s, override %s: %+v, want %+v", tt.limit, tt.override, got, tt.want)
		}
		if w := strings.Join(o.Warnings(p), "\n"); !strings.Contains(w, tt.warn) || (w == "") != (tt.warn == "") {
			t.Errorf("%s, override %s: warning %q, want %q", tt.limit, tt.override, w, tt.warn)
		}
		if l := &eff.Limits[0]; l.Bucket.IsUnlimited() || l.Bucket.IsZero() || l.Cost <= l.Bucket.Burst() {
			eff.Ver = 7
			checkRoundTrip(t, eff)
		}
	}
}

// An override is of what the plan says, whenever: not of what it said once.
func TestOverrideOutlivesThePlan(t *testing.T) {
	o := mustOverrides(t, "limits: { a: { burst: 200% } }")
	for _, tt := range []struct {
		rate string
		want int64
	}{{"100/s", 200}, {"150/s", 300}} {
		if eff, _ := Effective(one(t, "rate: "+tt.rate), Tenant{Overrides: o}, 0); eff.Limits[0].Bucket.Burst() != tt.want {
			t.Errorf("plan of %s: burst %d, want %d", tt.rate, eff.Limits[0].Bucket.Burst(), tt.want)
		}
	}
}

func TestOverrideBoundsInitial(t *testing.T) {
	p := one(t, "rate: 100/s, initial: 20")
	eff, _ := Effective(p, Tenant{Overrides: mustOverrides(t, "limits: { a: { rate: 5/s } }")}, 0)
	if got := eff.Limits[0].Initial; got != 5 {
		t.Errorf("initial %d beside a burst of 5", got)
	}
	if p.Limits[0].Initial != 20 {
		t.Error("the plan itself was changed")
	}
}

func TestOverrideOfUnknownLimit(t *testing.T) {
	p, o := one(t, "rate: 100/s"), mustOverrides(t, `{limits: {aa: {rate: 1/s}, b: {burst: 4}}}`)
	if eff, _ := Effective(p, Tenant{Overrides: o}, 0); eff != p {
		t.Errorf("it is %+v, want the plan itself", eff)
	}
	want := []string{
		`plan "pro" has no limit "aa", so what is said of it has no effect: want one of a`,
		`plan "pro" has no limit "b", so what is said of it has no effect: want one of a`,
	}
	if got := o.Warnings(p); !reflect.DeepEqual(got, want) {
		t.Errorf("warnings %q\nwant %q", got, want)
	}
	if data, err := json.Marshal(o); err != nil || !strings.Contains(string(data), `"b":{"burst":4}`) {
		t.Errorf("it is not kept: %s, %v", data, err)
	}
}

func TestParseLimitOverrides(t *testing.T) {
	for _, tt := range []struct{ text, err string }{
		{`{a: {rate: 200/s, burst: 400}, b: {burst: 50%}, c: {rate: unlimited, burst: 3}, d: {rate: 0/s, burst: 0}}`, ""},
		{`{}`, ""},
		{`{a: {}}`, `1:13: limit "a" of tenant "acme" says nothing: want a rate such as 200/s, a burst such as 400 or 100%, or both`},
		{`{a: 200/s}`, `1:13: limit "a" of tenant "acme" is text: want a mapping`},
		{`{a: }`, `1:13: limit "a" of tenant "acme" is empty: want a mapping`},
		{`{a: {rte: 1/s}}`, `1:14: unknown field "rte" in limit "a" of tenant "acme"; did you mean rate?`},
		{`{a: {rate: 1}}`, `1:20: rate of limit "a" of tenant "acme" is a bare number: say per what, such as 1/s`},
		{`{a: {rate: 1/sec}}`, `1:20: limit "a" of tenant "acme": rate "1/sec": want a whole number per second, minute, hour or day, such as 100/s, 60/m, 5k/h or 1M/d, or unlimited; did you mean 1/s?`},
		{`{a: {rate: 2M/s}}`, `1:20: limit "a" of tenant "acme": bucket: impossible rate: 2000000 per 1s: at most 1000000/s`},
		{`{a: {burst: 0}}`, `1:21: limit "a" of tenant "acme": bucket: impossible burst: 0 tokens admit nothing; write rate 0 to refuse everything, or a burst of 1 or more`},
		{`{a: {burst: 0%}}`, `1:21: limit "a" of tenant "acme": bucket: impossible burst: 0 tokens admit nothing; write rate 0 to refuse everything, or a burst of 1 or more`},
		{`{a: {burst: 11M}}`, `1:21: limit "a" of tenant "acme": bucket: impossible burst: 11000000 tokens: want 1 to 10000000`},
		{`{a: {burst: []}}`, `1:21: burst of limit "a" of tenant "acme" is a list: want a number of tokens, or a percentage such as 100%`},
		{`{a: {rate: 1/d, burst: 1M}}`, `1:32: limit "a" of tenant "acme": bucket: impossible burst: 1000000 tokens at 1 per 24h0m0s refill in over 100 years: at most 36500`},
		{`{"a b": {rate: 1/s}}`, `1:10: limit name "a b": want 1 to 64 letters, digits, '.', '_' and '-', the first a letter or digit`},
		{`{a: {rate: 1/s}, a: {rate: 1/s}}`, `1:26: "a" appears twice in limits of tenant "acme"; first on line 1`},
	} {
		o, err := ParseOverrides("acme", []byte("limits: "+tt.text))
		if got := strings.TrimPrefix(errText(err), "overrides of tenant acme:"); got != tt.err {
			t.Errorf("%s\n got %s\nwant %s", tt.text, got, tt.err)
		}
		if err != nil && !o.IsZero() {
			t.Errorf("%s: %+v beside an error", tt.text, o)
		}
	}
	var b strings.Builder
	for i := range MaxLimits + 1 {
		b.WriteString(" l" + string(rune('a'+i%26)) + string(rune('a'+i/26)) + ": {rate: 1/s},")
	}
	if _, err := ParseOverrides("acme", []byte("limits: {"+b.String()+"}")); err == nil || !strings.Contains(err.Error(), "limits of tenant \"acme\" has 33 entries: at most 32") {
		t.Errorf("33 limits: %v", err)
	}
}

func TestTenantsFileWarns(t *testing.T) {
	f := mustParse(t, `
plans: { p: { limits: [{ name: api, rate: 5/s, cost: 2 }] } }
tenants:
  - { id: a, plan: p, limits: { api: { rate: 7/s } } }
  - { id: b, plan: p, limits: { apii: { rate: 7/s } } }
  - { id: c, plan: p, limits: { api: { burst: 1 } } }
`)
	want := `plans.yaml:5:31: tenant "b": plan "p" has no limit "apii", so what is said of it has no effect; did you mean api?
plans.yaml:6:31: tenant "c": limit "api" costs 2 tokens, but the tenant's bucket holds 1: no request would ever pass; raise the burst, or write rate: 0/s to refuse all`
	if got := f.Warnings.Error(); got != want {
		t.Errorf("warnings\n%s\nwant\n%s", got, want)
	}
	if f := mustParse(t, "plans: { p: { limits: [{ name: api, rate: 5/s }] } }"); f.Warnings != nil {
		t.Errorf("warnings of a file without tenants: %v", f.Warnings)
	}
}

// randomOverrides are possible ones, for limits a-1, b-1, ... of randomPlan too.
func randomOverrides(rnd *rand.Rand) Overrides {
	o := Overrides{Mode: Mode(rnd.IntN(len(modes))), Hold: []time.Duration{0, 250 * time.Millisecond, MaxHold}[rnd.IntN(3)]}
	for range rnd.IntN(4) {
		if o.Limits == nil {
			o.Limits = map[string]LimitOverride{}
		}
		var lo LimitOverride
		if rnd.IntN(3) > 0 {
			lo.Rate = &Rate{Rate: bucket.Rate{Count: 1 + rnd.Int64N(1000), Period: []time.Duration{time.Second, time.Minute, time.Hour, day}[rnd.IntN(4)]}}
			if rnd.IntN(8) == 0 {
				lo.Rate = &Rate{Unlimited: rnd.IntN(2) == 0}
			}
		}
		if lo.Rate == nil || !lo.Rate.Unlimited && rnd.IntN(2) == 0 {
			lo.Burst = &Burst{Tokens: 1 + rnd.Int64N(30_000)}
			if rnd.IntN(2) == 0 {
				lo.Burst = &Burst{Percent: 100 + rnd.Int64N(900)}
			}
		}
		o.Limits[string(rune('a'+rnd.IntN(6)))+"-1"] = lo
	}
	return o
}

func TestRoundTripOfAnyOverrides(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		o := randomOverrides(rnd)
		data, err := json.Marshal(o)
		if err != nil {
			t.Fatalf("%+v: %v", o, err)
		}
		got, err := ParseOverrides("acme", data)
		if err != nil || !got.Equal(o) || !reflect.DeepEqual(got, o) {
			t.Fatalf("%s is read back as %+v, %v; want %+v", data, got, err, o)
		}
		if again, err := json.Marshal(got); err != nil || string(again) != string(data) {
			t.Fatalf("written as %s, then as %s, %v", data, again, err)
		}
	}
}

func TestOverridesEqual(t *testing.T) {
	base := `{mode: shadow, hold: 1s, limits: {a: {rate: 1/s}, b: {burst: 5}}}`
	for text, want := range map[string]bool{
		base: true,
		`{mode: shadow, hold: 1s, limits: {b: {burst: "5"}, a: {rate: 1/s}}}`: true,
		`{mode: off, hold: 1s, limits: {a: {rate: 1/s}, b: {burst: 5}}}`:      false,
		`{mode: shadow, hold: 2s, limits: {a: {rate: 1/s}, b: {burst: 5}}}`:   false,
		`{mode: shadow, hold: 1s, limits: {a: {rate: 2/s}, b: {burst: 5}}}`:   false,
		`{mode: shadow, hold: 1s, limits: {a: {rate: 1/s}, b: {burst: 5%}}}`:  false,
		`{mode: shadow, hold: 1s, limits: {a: {rate: 1/s}, c: {burst: 5}}}`:   false,
		`{mode: shadow, hold: 1s, limits: {a: {rate: 1/s}}}`:                  false,
		`{mode: shadow, hold: 1s}`:                                            false,
	} {
		if got := mustOverrides(t, base).Equal(mustOverrides(t, text)); got != want {
			t.Errorf("equal to %s: %v, want %v", text, got, want)
		}
	}
	for text, want := range map[string]bool{"": true, "{}": true, "limits: {}": true, "mode: enforce": true, "mode: off": false, "hold: 1s": false, "limits: {a: {burst: 1}}": false} {
		if got := mustOverrides(t, text).IsZero(); got != want {
			t.Errorf("%q changes nothing: %v, want %v", text, got, want)
		}
	}
}
