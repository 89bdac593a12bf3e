package bucket

import (
	"testing"
	"time"
)

func TestExpiry(t *testing.T) {
	const now = int64(1_700_000_000_000_000_001) // 1 ns into a second
	for _, tt := range []struct {
		name  string
		rate  Rate
		burst int64
		want  int64
	}{
		{"one second deep", Rate{100, time.Second}, 100, 1_700_000_001 + 32 + 86_400},
		{"depth rounded up", Rate{1000, time.Second}, 1, 1_700_000_001 + 32 + 86_400},
		{"an hour deep", Rate{200, time.Hour}, 200, 1_700_000_001 + 32*3600 + 86_400},
		{"a century deep", Rate{1, 24 * time.Hour}, 36_500, 1_700_000_001 + 32*36_500*86_400 + 86_400},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l, err := NewLimit(tt.rate, tt.burst)
			if err != nil {
				t.Fatal(err)
			}
			if got := (Charge{Limit: l, Now: now}).Expiry(); got != tt.want {
				t.Errorf("Expiry() = %d, want %d", got, tt.want)
			}
		})
	}
}
