package limiter_test

import (
	"context"
	"testing"
	"time"

	"weir/internal/limiter"
	"weir/internal/memstore"
)

// Beside a hold too a flood buys no writes, and what is held leaves nothing over.
func TestHoldUnderFlood(t *testing.T) {
	c := []limiter.Check{check("api", mustLimit(t, 100, time.Second, 100), 1)}
	c[0].Hold = 250 * time.Millisecond
	var h holds
	l := limiter.New(memstore.New("r"), limiter.Options{Timeout: time.Minute, Sleep: h.sleep, Rand: func() float64 { return 0.5 }})
	served, wasted := 0, 0.0
	for i := range 5000 { // 1,000/s for 5 s
		d := l.Decide(context.Background(), start+int64(i)*ms, c)
		r := d.Results[0]
		switch {
		case d.Allowed:
			served++
			if r.Hold > 0 && r.Remaining != 0 {
				t.Fatalf("held for %v with %d left", r.Hold, r.Remaining)
			}
		default:
			wasted += r.Units
		}
	}
	if served < 595 || wasted > 200 {
		t.Errorf("%d served, %v write units for %d refused", served, wasted, 5000-served)
	}
}
