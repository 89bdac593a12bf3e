package limiter_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"weir/internal/limiter"
	"weir/internal/memstore"
	"weir/pkg/bucket"
)

// randomLimit returns limits of all kinds, so that levels are often near empty at a
// request every few ms.
func randomLimit(t *testing.T, rng *rand.Rand) bucket.Limit {
	switch rng.IntN(12) {
	case 0:
		return bucket.Unlimited()
	case 1:
		return mustLimit(t, 0, 0, rng.Int64N(5))
	case 2:
		return mustLimit(t, 1+rng.Int64N(10), time.Hour, 1+rng.Int64N(20))
	}
	return mustLimit(t, 1+rng.Int64N(300), time.Second, 1+rng.Int64N(200))
}

// Random changes, with older checks among the newer ones: one process without
// leases decides what the rule says, request by request. The rule: the newest limit
// decides, the level is carried over as of the change from the limit under which a
// token was taken last, and a refusal takes nothing.
func TestRandomChanges(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 7))
		store := memstore.New("r")
		l := limiter.New(store, limiter.Options{Timeout: time.Minute, NoLease: true})
		plans := []limiter.Check{check("api", mustLimit(t, 100, time.Second, 100), 1)}
		plans[0].Ver = 2
		tat, last, spent, paid := int64(0), int64(0), int64(0), int64(0) // last is when a token was taken
		of, known := plans[0].Limit, int64(0)                            // what tat was computed with, and what is known
		for now, i := start, 0; i < 600; i++ {
			now += rng.Int64N(12 * ms)
			switch rng.IntN(200) {
			case 0, 1, 2:
				c := check("api", randomLimit(t, rng), 1)
				c.Ver, c.Carry, c.Since = plans[len(plans)-1].Ver+2, bucket.Carry(rng.IntN(4)), now
				plans = append(plans, c)
				now += rng.Int64N(2) * rng.Int64N(500*ms) // it is known at once, or later
			case 3:
				now += 10 * second // full again
			}
			newest, c := &plans[len(plans)-1], plans[rng.IntN(len(plans))]
			if known != newest.Ver { // somebody has to be the first to say so
				c, known, paid = *newest, newest.Ver, 0
			}
			limit, level := newest.Limit, tat
			if of != limit { // nothing has been taken since it changed, so it was not brought to it yet
				level = newest.Carry.TAT(tat, max(newest.Since, last), of, limit)
			}
			want := limit.IsUnlimited()
			if !want && !limit.IsZero() {
				inc, rest := limit.Charge(1, paid)
				if t := max(level, now) + inc; t <= now+int64(limit.Depth()) {
					want, tat, of, last, paid = true, t, limit, now, rest
					spent++
				}
			}
			d := l.Decide(context.Background(), now, []limiter.Check{c})
			if r := d.Results[0]; d.Allowed != want || r.Limit != limit || r.Ver != newest.Ver {
				t.Fatalf("seed %d, request %d of version %d: %+v; want allowed=%v by version %d", seed, i, c.Ver, r, want, newest.Ver)
			}
		}
		if row, _ := store.Peek(plans[0].Key); row.Spent != spent {
			t.Errorf("seed %d: %d charged, %d admitted", seed, row.Spent, spent)
		}
	}
}
