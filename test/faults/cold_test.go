package faults_test

import (
	"testing"
	"time"

	"weir/internal/testengine"
)

// TestColdStart: a function that starts while DynamoDB is away has never seen a
// tenant. Who calls cannot be found out, so it refuses, unless another Region can
// tell; then limits follow their policy.
func TestColdStart(t *testing.T) {
	silent := func(p *testengine.Proxy) { p.Set(testengine.In(region, testengine.Stall)) }
	for _, tt := range []struct {
		name  string
		begin func(*testengine.Proxy)
		lasts time.Duration
		env   []string
		want  code
	}{
		{"gone", down, 2 * time.Second, nil, unavailable},
		{"silent", silent, 4 * time.Second, nil, unavailable},
		{"silent, but not in another Region", silent, 2500 * time.Millisecond, []string{bothRegions}, unchecked},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := start(t, allow, tt.env...)
			tt.begin(f.proxy)
			r := f.traffic(tt.lasts)
			f.proxy.Set(nil)
			f.proxy.Up(t)
			took, back := f.until(2 * recovery)
			if !back || took > recovery {
				t.Errorf("the first answer from the bucket came %v after the store was back, want it within %v\n%s", ms(took), recovery, f.lines())
			}
			t.Logf("back after %v", ms(took))
			r.within(t, lookup)
			if got := r.count(0, tt.want); got != len(r.samples) {
				t.Errorf("%d of %d answers are %q\n%s", got, len(r.samples), tt.want, f.lines())
			}
			f.drain()
			f.accounts()
		})
	}
}
