package operator

import (
	"testing"
	"time"

	"weir/internal/memstore"
	"weir/internal/plan"
	"weir/pkg/bucket"
)

const t0 = 1_800_000_000 * second

// spent charges a tenant's bucket of limit api, in one Region.
func spent(t *testing.T, s *memstore.Store, l bucket.Limit, now, tokens int64) {
	t.Helper()
	inc, _ := l.Charge(tokens, 0)
	out, err := s.Charge(t.Context(), "api|acme", bucket.Charge{Limit: l, Now: now, Tokens: tokens, Inc: inc, Ver: 2})
	if err != nil || out.Status != bucket.Charged {
		t.Fatalf("charge: %+v, %v", out, err)
	}
}

func TestOver(t *testing.T) {
	for _, tt := range []struct {
		name     string
		from, to string
		carry    bucket.Carry
		use      func(*testing.T, *memstore.Store, bucket.Limit)
		why      Reason // "" is not over
		used     int64
	}{
		{"idle", "rate: 100/s", "rate: 1/s", bucket.Additive, nil, "", 0},
		{"used more than the new burst", "rate: 100/h", "rate: 50/h", bucket.Additive,
			func(t *testing.T, s *memstore.Store, l bucket.Limit) { spent(t, s, l, t0, 80) }, ByLevel, 80},
		{"the same in proportion", "rate: 100/h", "rate: 50/h", bucket.Proportional,
			func(t *testing.T, s *memstore.Store, l bucket.Limit) { spent(t, s, l, t0, 80) }, "", 0},
		{"as many remain, so more are missing", "rate: 100/h", "rate: 50/h", bucket.AsIs,
			func(t *testing.T, s *memstore.Store, l bucket.Limit) { spent(t, s, l, t0, 80) }, "", 0},
		{"spends faster than the new rate", "rate: 100/s", "rate: 20/s", bucket.Proportional, steady(50), ByRate, -1},
		{"spends slower", "rate: 100/s", "rate: 60/s", bucket.Proportional, steady(50), "", 0},
		{"for hours faster than a slow new rate", "rate: 100/h", "rate: 50/h", bucket.Proportional,
			func(t *testing.T, s *memstore.Store, l bucket.Limit) {
				for i := int64(300); i >= 0; i-- {
					spent(t, s, l, t0-i*45*second, 1)
				}
			}, ByRate, -1},
		{"for hours, until an hour ago", "rate: 100/h", "rate: 50/h", bucket.Proportional,
			func(t *testing.T, s *memstore.Store, l bucket.Limit) {
				for i := int64(300); i >= 80; i-- {
					spent(t, s, l, t0-i*45*second, 1)
				}
			}, "", 0},
		{"a higher rate", "rate: 50/s", "rate: 60/s", bucket.Proportional, steady(50), "", 0},
		{"the same rate, spent faster from a burst", "{rate: 40/s, burst: 5000}", "{rate: 40/s, burst: 4000}", bucket.Proportional, steady(50), "", 0},
		{"off", "rate: 100/s", "{rate: 20/s, mode: off}", bucket.Proportional, steady(50), "", 0},
		{"unlimited", "rate: 100/s", "rate: unlimited", bucket.Proportional, steady(50), "", 0},
		{"nothing at all", "rate: 100/s", "rate: 0/s", bucket.Proportional, steady(50), ByRate, -1},
		{"of shadow too", "rate: 100/s", "{rate: 20/s, mode: shadow}", bucket.Proportional, steady(50), ByRate, -1},
		{"another key is another bucket", "rate: 100/s", `{rate: 20/s, key: "{tenant}:x"}`, bucket.Proportional, steady(50), "", 0},
		{"another table too", "rate: 100/s", `{rate: 20/s, consistency: strict}`, bucket.Proportional, steady(50), "", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			from, to := planOf(t, tt.from), planOf(t, tt.to)
			s := memstore.New("a")
			if tt.use != nil {
				tt.use(t, s, from.Limits[0].Bucket)
			}
			b := Buckets{Region: "a", Plain: s, Strict: memstore.New("*"), Grace: bucket.DefaultGrace}
			over, err := b.over(t.Context(), "acme", from, to, tt.carry, t0+second/10)
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case tt.why == "" && len(over) == 0:
			case tt.why == "" || len(over) != 1 || over[0].Why != tt.why || over[0].Tenant != "acme" || over[0].Limit != "api":
				t.Errorf("over is %+v, want %q", over, tt.why)
			case tt.used >= 0 && over[0].Used != tt.used:
				t.Errorf("%d used, want %d", over[0].Used, tt.used)
			}
		})
	}
}

// steady spends so many tokens a second for ten seconds, until t0.
func steady(perSecond int64) func(*testing.T, *memstore.Store, bucket.Limit) {
	return func(t *testing.T, s *memstore.Store, l bucket.Limit) {
		for now := t0 - 10*second; now <= t0; now += second / 5 {
			spent(t, s, l, now, perSecond/5)
		}
	}
}

// planOf returns a plan with one limit, api.
func planOf(t *testing.T, limit string) *plan.Plan {
	t.Helper()
	if limit[0] != '{' {
		limit = "{" + limit + "}"
	}
	return parsePlan(t, "limits: [{name: api, "+limit[1:]+"]")
}

// TestOverIsOfAllRegions: what matters is what all Regions have used together, or
// for a limit of each Region by itself the worst of them.
func TestOverIsOfAllRegions(t *testing.T) {
	for _, tt := range []struct {
		consistency string
		want        int64
	}{{"global", 60}, {"regional", 40}} {
		from := planOf(t, "{rate: 100/h, consistency: "+tt.consistency+"}")
		to := planOf(t, "{rate: 100/h, burst: 39, consistency: "+tt.consistency+"}")
		l := from.Limits[0].Bucket
		rows := stub{spending(l, "a", t0, t0, second, 40), spending(l, "b", t0, t0, second, 20)}
		rows[0].Limit, rows[1].Limit = bucket.Limit{}, bucket.Limit{} // of before rows said it
		b := Buckets{Region: "a", Plain: rows, Grace: bucket.DefaultGrace}
		over, err := b.over(t.Context(), "acme", from, to, bucket.Additive, t0+1)
		if err != nil || len(over) != 1 || over[0].Used != tt.want {
			t.Errorf("%s: %+v, %v; want %d used", tt.consistency, over, err, tt.want)
		}
	}
}

func TestTextOfRates(t *testing.T) {
	for want, r := range map[string]bucket.Rate{
		"100/s": {Count: 100, Period: time.Second}, "7/m": {Count: 7, Period: time.Minute}, "5000/h": {Count: 5000, Period: time.Hour},
		"1/d": {Count: 1, Period: 24 * time.Hour}, "0/s": {}, "3 per 2s": {Count: 3, Period: 2 * time.Second},
	} {
		l, err := bucket.NewLimit(r, 5)
		if err != nil {
			t.Fatal(err)
		}
		if got := RateText(l); got != want {
			t.Errorf("RateText(%+v) = %s, want %s", r, got, want)
		}
	}
	if got := RateText(bucket.Unlimited()); got != "unlimited" {
		t.Errorf("unlimited is %s", got)
	}
	for spend, want := range map[int64]string{0: "0/s", 71_500: "71.5/s", 1000: "1/s", 500: "30/m", 20: "1.2/m", 5: "18/h"} {
		if got := SpendText(spend); got != want {
			t.Errorf("SpendText(%d) = %s, want %s", spend, got, want)
		}
	}
}
