package reconciler

import (
	"testing"
	"time"

	"weir/pkg/ddbstore"
)

func TestHeard(t *testing.T) {
	const second = int64(time.Second)
	now := t0
	tests := []struct {
		name string
		last int64 // ns ago
		lag  int64 // of the last arrival
		want int64
		cut  bool
	}{
		{"just now", second, second / 2, second / 2, false},
		{"a minute ago, as always", 60 * second, second, second, false},
		{"one run late", 119 * second, second, second, false},
		{"two missed", 150 * second, second, 90 * second, false},
		{"three missed", 181 * second, second, 121 * second, true},
		{"slow but heard", 100 * second, 40 * second, 40 * second, false},
		{"its clock is ahead", -5 * second, 0, 0, false},
	}
	for _, tt := range tests {
		lag, cut := heard(now, ddbstore.Heartbeat{At: now - tt.last}, ddbstore.Seen{Lag: tt.lag})
		if lag != tt.want || cut != tt.cut {
			t.Errorf("%s: lag %v, cut %v; want %v, %v", tt.name, time.Duration(lag), cut, time.Duration(tt.want), tt.cut)
		}
	}
	if _, cut := heard(now, ddbstore.Heartbeat{}, ddbstore.Seen{}); !cut {
		t.Error("a Region that was never heard is not cut")
	}
}
