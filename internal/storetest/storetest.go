// Package storetest is what every limiter.Store must pass.
//
// A test of a store is three lines: a Harness that makes stores, and Run.
package storetest

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"weir/internal/limiter"
	"weir/pkg/bucket"
)

// Harness makes stores on one table. Every function may be called many times;
// each call stands for a process of its own, with connections of its own.
type Harness struct {
	Open      func(t *testing.T, region string) limiter.Store // works
	Throttled func(t *testing.T) limiter.Store                // every call is throttled
	Stalled   func(t *testing.T) limiter.Store                // no call ever returns by itself
	Gone      func(t *testing.T) limiter.Store                // nothing is there to be called

	OneRow bool // all Regions write the same row
}

// Run runs the suite.
func Run(t *testing.T, h Harness) {
	regions := testRegions
	if h.OneRow {
		regions = testOneRow
	}
	for _, tt := range []struct {
		name string
		run  func(*testing.T, Harness)
	}{
		{"Trace", testTrace},
		{"Refused", testRefused},
		{"NeverFits", testNeverFits},
		{"ClockBehind", testClockBehind},
		{"ExpiredRow", testExpiredRow},
		{"Regions", regions},
		{"Keys", testKeys},
		{"Fold", testFold},
		{"FoldConflict", testFoldConflict},
		{"SteadyChargeIsOneCall", testSteadyChargeIsOneCall},
		{"StaleKnown", testStaleKnown},
		{"ConcurrentCreators", testConcurrentCreators},
		{"LastTokens", testLastTokens},
		{"ColdBucket", testColdBucket},
		{"RacingFolders", testRacingFolders},
		{"Versions", testVersions},
		{"OlderRow", testOlderRow},
		{"Unversioned", testUnversioned},
		{"Rescale", testRescale},
		{"RescaleExpired", testRescaleExpired},
		{"RescaleMovesExpiry", testRescaleMovesExpiry},
		{"RacingVersions", testRacingVersions},
		{"RacingCarries", testRacingCarries},
		{"Throttled", testThrottled},
		{"Deadline", testDeadline},
		{"Cancelled", testCancelled},
		{"Gone", testGone},
	} {
		t.Run(tt.name, func(t *testing.T) { tt.run(t, h) })
	}
}

// t0 is when tests begin. It lies far ahead, so that no store that removes
// expired rows by a clock of its own removes one during a test.
const t0 = int64(4_000_000_000) * second // the year 2096

const second = int64(time.Second)

const home = "eu-west-1"

var keys atomic.Int64

// newKey returns the key of a bucket that no other test uses.
func newKey(t *testing.T) string {
	return fmt.Sprintf("%s/%d", t.Name(), keys.Add(1))
}

// limit returns a limit of rate tokens a second and the given burst.
func limit(t *testing.T, rate, burst int64) bucket.Limit {
	t.Helper()
	l, err := bucket.NewLimit(bucket.Rate{Count: rate, Period: time.Second}, burst)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// perHour returns a limit of n tokens an hour, all at once.
func perHour(t *testing.T, n int64) bucket.Limit {
	t.Helper()
	l, err := bucket.NewLimit(bucket.Rate{Count: n, Period: time.Hour}, n)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// take is a charge of n tokens.
func take(l bucket.Limit, now, n int64) bucket.Charge {
	return bucket.Charge{Limit: l, Now: now, Tokens: n, Inc: l.Time(n), Ver: 1}
}

// charge makes a charge that may not fail.
func charge(t *testing.T, s limiter.Store, key string, c bucket.Charge) bucket.Outcome {
	t.Helper()
	out, err := s.Charge(context.Background(), key, c)
	if err != nil {
		t.Fatalf("Charge(%d tokens at t0%+d ns): %v", c.Tokens, c.Now-t0, err)
	}
	return out
}

// rows returns the rows of a bucket by Region.
func rows(t *testing.T, s limiter.Store, key string) map[string]bucket.Row {
	t.Helper()
	list, err := s.Rows(context.Background(), key)
	if err != nil {
		t.Fatalf("Rows: %v", err)
	}
	m := make(map[string]bucket.Row)
	for _, r := range list {
		if _, twice := m[r.Region]; twice {
			t.Errorf("Rows: two rows of %s", r.Region)
		}
		m[r.Region] = r
	}
	return m
}

func wantStatus(t *testing.T, out bucket.Outcome, want bucket.Status) {
	t.Helper()
	if out.Status != want {
		t.Fatalf("status %v, want %v (row %+v)", out.Status, want, out.Row)
	}
}
