package main

import (
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"
)

// The worked example of docs/smoothing.md, over HTTP: a limit of 100/s with a
// burst of as much.

// atOnce sends n requests at the same time and returns the replies.
func atOnce(t *testing.T, c client, n int) []reply {
	t.Helper()
	replies := make([]reply, n)
	var wg sync.WaitGroup
	for i := range replies {
		wg.Go(func() {
			var err error
			if replies[i], err = c.get(t.Context(), "/v1/things"); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	return replies
}

func newSmoothing(t *testing.T) *api {
	t.Helper()
	a := newAPIOf(t, "examples/smoothing.yaml")
	a.now.Store(time.Now().UnixNano()) // and there it stands: requests do not bring refill
	return a
}

func TestSpikeWithoutHold(t *testing.T) {
	a := newSmoothing(t)
	served, refused := 0, 0
	for _, r := range atOnce(t, a.client("acme-dev-key-1", ""), 120) {
		if r.status == 200 {
			served++
			continue
		}
		refused++
		r.is(t, 429, map[string]string{"Retry-After": "1", "X-RateLimit-Remaining": "0", "X-RateLimit-Reason": "api"})
	}
	if served != 100 || refused != 20 {
		t.Errorf("%d served and %d refused of 120 at once, want 100 and 20", served, refused)
	}
	// The 20 took nothing: after a second the bucket is full again, no less.
	a.now.Add(int64(time.Second))
	for i, r := range atOnce(t, a.client("acme-dev-key-1", ""), 100) {
		if r.status != 200 {
			t.Fatalf("a second later request %d: status %d, want 100 served", i+1, r.status)
		}
	}
}

func TestSpikeWithHold(t *testing.T) {
	a := newSmoothing(t)
	hooli := a.client("hooli-dev-key-1", "")
	for _, r := range atOnce(t, hooli, 120) {
		r.is(t, 200, nil)
	}
	a.wantHeld(t, 100, 20, 10) // a token every 10 ms, and each waits for its own
	// 250 ms of the future hold 25 tokens: there is room for 5 of the next 10.
	served := 0
	for _, r := range atOnce(t, hooli, 10) {
		if r.status == 200 {
			served++
			continue
		}
		r.is(t, 429, map[string]string{"Retry-After": "1", "X-RateLimit-Remaining": "0"})
	}
	if served != 5 {
		t.Errorf("%d of the next 10 served, want 5", served)
	}
	a.wantHeld(t, 0, 5, 210)
	// A second later 100 tokens more are there, less the 25 taken in advance.
	a.now.Add(int64(time.Second))
	for _, r := range atOnce(t, hooli, 80) {
		r.is(t, 200, nil)
	}
	a.wantHeld(t, 75, 5, 10)
}

// wantHeld checks the requests since it was last called: of those served so many
// at once, and the others held for from ms and 10 ms more each.
func (a *api) wantHeld(t *testing.T, atOnce, held, from int) {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	var got, want []int
	for _, r := range a.records {
		ms, err := strconv.Atoi(r.Authorizer["held"])
		switch {
		case err != nil:
			t.Fatal(err)
		case r.Status != 200:
			continue
		case r.Took < time.Duration(ms)*time.Millisecond:
			t.Errorf("answered after %v, want it held for %d ms", r.Took, ms)
		}
		got = append(got, ms)
	}
	a.records = nil
	want = make([]int, atOnce)
	for i := range held {
		want = append(want, from+10*i)
	}
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("held for %v ms, want %v", got, want)
	}
}

// 300/s for five seconds: the burst and then 100/s are served, and what is refused
// is not charged. A process that was refused pauses for up to 0.6 s before it asks
// for tokens again, so a second may get some of the next one's or leave them to it.
func TestSustainedOverload(t *testing.T) {
	const paused = 60 // tokens that come in 0.6 s
	a := newSmoothing(t)
	c := a.client("acme-dev-key-1", "")
	var served [5]int
	total := 0
	for i := range 5 * 300 {
		switch r := c.do(t, "GET", "/v1/things"); r.status {
		case 200:
			served[i/300]++
			total++
		default:
			r.is(t, 429, map[string]string{"Retry-After": "1"})
		}
		a.now.Add(int64(time.Second) / 300)
	}
	t.Logf("served in each second: %v", served)
	if total > 600 || total < 600-paused-10 {
		t.Errorf("%d served, want the burst and 100 in each of 5 seconds, less a pause at the end", total)
	}
	for i, n := range served[1:] {
		if n < 100-paused || n > 100+paused {
			t.Errorf("%d served in second %d, want about 100", n, i+2)
		}
	}
	row, ok := a.store.Peek("api|acme")
	if lease := int64(100 / 12); !ok || row.Spent < int64(total) || row.Spent > int64(total)+lease {
		t.Errorf("%d charged for %d served, want at most a lease more", row.Spent, total)
	}
}
