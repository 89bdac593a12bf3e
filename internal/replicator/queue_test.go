package replicator

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// script drives a queue by hand; versions are the times at which they were
// written, so that a mix-up shows.
type script struct {
	t *testing.T
	q *queue
}

func newScript(t *testing.T, coalesce int64, lags ...int64) script {
	i := 0
	return script{t, newQueue(coalesce, func() int64 {
		i++
		return lags[(i-1)%len(lags)]
	})}
}

func (s script) push(item string, at int64) int {
	return s.q.push(write{item: item, version: at, at: at})
}

// take returns all that is due at now, as item@version, and ends each flight at once.
func (s script) take(now int64) []string {
	var got []string
	for {
		d, ok, _ := s.q.next(now)
		if !ok {
			return got
		}
		got = append(got, fmt.Sprintf("%s@%d", d.item, d.version))
		s.q.done(d.item)
	}
}

func (s script) want(now int64, want ...string) {
	s.t.Helper()
	if got := s.take(now); !slices.Equal(got, want) {
		s.t.Errorf("due at %d: %v, want %v", now, got, want)
	}
}

func TestQueueWaitsForTheLag(t *testing.T) {
	s := newScript(t, 0, 100)
	s.push("a", 10)
	s.push("b", 20)
	if _, ok, at := s.q.next(109); ok || at != 110 {
		t.Errorf("next before the lag is over: %v at %d, want none before 110", ok, at)
	}
	s.want(110, "a@10")
	s.want(120, "b@20")
	if _, ok, at := s.q.next(math.MaxInt64); ok || at != math.MaxInt64 {
		t.Errorf("an empty queue has %v at %d", ok, at)
	}
}

func TestQueueKeepsTheOrderOfAnItem(t *testing.T) {
	s := newScript(t, 0, 100, 100, 20, 30)
	s.push("a", 1)
	s.push("a", 2)
	s.push("b", 3) // due at 23
	if n := s.push("a", 4); n != 2 {
		t.Errorf("a version that overtakes two others took the place of %d", n)
	}
	if at := s.q.oldest(); at != 1 {
		t.Errorf("oldest %d, want 1: the version stands for that too", at)
	}
	s.want(22)
	s.want(33, "b@3")
	s.want(200, "a@4")

	s = newScript(t, 0, 10, 100, 50)
	s.push("a", 1)
	s.push("a", 2)
	if n := s.push("a", 3); n != 1 {
		t.Errorf("a version that overtakes one of two took the place of %d", n)
	}
	s.want(11, "a@1")
	s.want(53, "a@3")
}

func TestQueueHasOneVersionOfAnItemInFlight(t *testing.T) {
	s := newScript(t, 0, 0)
	s.push("a", 1)
	s.push("a", 2)
	s.push("b", 3)
	if d, ok, _ := s.q.next(9); !ok || d.version != 1 {
		t.Fatalf("next = %v, %v", d.version, ok)
	}
	s.want(9, "b@3")
	if at := s.q.oldest(); at != 1 {
		t.Errorf("oldest with version 1 in flight: %d", at)
	}
	s.q.done("a")
	s.want(9, "a@2")
	if at := s.q.oldest(); at != math.MaxInt64 {
		t.Errorf("oldest of nothing: %d", at)
	}
}

func TestQueueCoalesces(t *testing.T) {
	s := newScript(t, 50, 100)
	if s.push("a", 0)+s.push("b", 1) > 0 {
		t.Error("first versions joined something")
	}
	if s.push("a", 49) != 1 {
		t.Error("a write within 50 of the first did not join it")
	}
	if s.push("a", 50) > 0 {
		t.Error("a write at 50 joined the first")
	}
	s.want(100, "a@49") // when the first was due
	s.want(101, "b@1")
	s.want(150, "a@50")
}

func TestPausedQueueKeepsTheNewest(t *testing.T) {
	s := newScript(t, 0, 100)
	s.push("a", 0)
	s.push("a", 1)
	if n := s.q.setPaused(2, true); n != 1 {
		t.Errorf("pausing merged %d writes, want 1", n)
	}
	if s.push("a", 1000) != 1 {
		t.Error("a write while paused did not take the place of the one that waits")
	}
	s.push("b", 1001)
	s.want(5000)
	s.q.setPaused(5000, false)
	s.want(5099)
	if got := s.take(5100); !slices.Contains(got, "a@1000") || !slices.Contains(got, "b@1001") || len(got) != 2 {
		t.Errorf("after Resume: %v, want a@1000 and b@1001", got)
	}
}
