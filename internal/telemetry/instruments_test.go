package telemetry

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"weir/internal/telemetry/metric"
)

// TestInstruments: counters, gauges and distributions arrive under their
// dimensions, once, and a gauge each time.
func TestInstruments(t *testing.T) {
	c := newCloudWatch(t)
	r := New(Options{Out: c, Region: "eu-west-1", Namespace: "Other"})
	for _, table := range []string{metric.Buckets, metric.Config} {
		r.Counter(metric.StoreCalls, table).Add(3)
		r.Distribution(metric.StoreTime, table).Observe(1500)
		r.Distribution(metric.StoreTime, table).Observe(2500)
	}
	r.Counter(metric.StoreCalls, metric.Config).Add(4)
	units := r.Counter(metric.WriteUnits, "")
	units.UpTo(10)
	units.UpTo(25)
	units.UpTo(25)
	open, polls := false, 0
	r.Poll(func(now int64) {
		polls++
		r.Gauge(metric.BreakerOpen, metric.Buckets).SetBool(open)
	})
	r.Counter(metric.UnexpectedErrors, metric.Panic).Add(1)
	r.Counter(metric.UnexpectedErrors, metric.Lookup).Add(2)
	r.Counter(metric.StoreErrors, metric.Buckets) // nothing counted
	r.Flush(t0)
	open = true
	r.Flush(t0 + minute)

	c.read()
	for _, tt := range []struct {
		name string
		want int64
		dims []string
	}{
		{"StoreCalls", 3, []string{"Store", "buckets"}},
		{"StoreCalls", 7, []string{"Store", "config"}},
		{"WriteUnits", 25, nil},
		{"UnexpectedErrors", 3, nil},
		{"UnexpectedErrors", 1, []string{"Kind", "panic"}},
		{"UnexpectedErrors", 2, []string{"Kind", "lookup"}},
	} {
		if got := c.sum(tt.name, tt.dims...); got != tt.want {
			t.Errorf("%s %v: %d, want %d", tt.name, tt.dims, got, tt.want)
		}
	}
	if d := c.get("StoreTime", "Store", "buckets"); d.samples != 2 || d.min < 1300 || d.max > 2900 {
		t.Errorf("StoreTime: %+v", d)
	}
	if d := c.get("BreakerOpen", "Store", "buckets"); d.samples != 2 || d.min != 0 || d.max != 1 || polls != 2 {
		t.Errorf("BreakerOpen: %+v, polled %d times", d, polls)
	}
	if _, ok := c.data["StoreErrors Store=buckets"]; ok {
		t.Errorf("a counter that counted nothing is written")
	}
	s := r.Snapshot(t0)
	var text strings.Builder
	if err := s.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"StoreCalls config", "7", "BreakerOpen buckets", "StoreTime buckets"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the text does not say %q:\n%s", want, &text)
		}
	}
}

// TestSnapshotOfInstruments: a snapshot has what was written and what was not.
func TestSnapshotOfInstruments(t *testing.T) {
	r := New(Options{Region: "eu-west-1"})
	for i := range int64(3) {
		r.Counter(metric.StoreCalls, metric.Buckets).Add(2)
		r.Distribution(metric.StoreTime, metric.Buckets).Observe(5 + i)
		s := r.Snapshot(t0)
		if n := s.Counts[0].N; n != 2*(i+1) {
			t.Errorf("%d calls, want %d", n, 2*(i+1))
		}
		if x := s.Summaries[0].Summary; x.N != i+1 || x.Max != 5+i {
			t.Errorf("%+v, want %d of up to %d", x, i+1, 5+i)
		}
		r.Flush(t0)
	}
}

// TestInstrumentsAreBounded: keys that come from elsewhere grow nothing.
func TestInstrumentsAreBounded(t *testing.T) {
	c := newCloudWatch(t)
	r := New(Options{Out: c, Region: "eu-west-1"})
	for i := range 10_000 {
		r.Counter(metric.UnexpectedErrors, fmt.Sprint("kind-", i)).Add(1)
	}
	r.Flush(t0)
	if n := len(c.read().data); n > maxInstruments+1 {
		t.Errorf("%d metrics", n)
	}
}

// TestUnexpected: an unexpected error does not wait for the end of the interval.
func TestUnexpected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCloudWatch(t)
		o := NewObserver(ObserverOptions{Recorder: New(Options{Out: c, Region: "eu-west-1"})})
		ctx, s := o.Begin(context.Background())
		if s != nil {
			t.Fatal("a span without a tracer")
		}
		d := fine
		d.Now = t0 + 2*second
		o.Answered(ctx, s, d, Detail{})
		d.Now += 2 * second
		o.Failed(d.Now, metric.Panic)
		o.Answered(ctx, s, d, Detail{})
		synctest.Wait()
		if got := c.read().sum("UnexpectedErrors", "Kind", "panic"); got != 1 {
			t.Errorf("%d panics written, want one", got)
		}
		for range 40 { // what goes on failing is no reason to write all the time
			d.Now += second
			o.Failed(d.Now, metric.Panic)
			o.Answered(ctx, s, d, Detail{})
			synctest.Wait()
		}
		if n := len(c.writes); n != 0 {
			t.Errorf("%d writes in the same interval, want none", n)
		}
	})
}

// TestMeter measures a call.
func TestMeter(t *testing.T) {
	c := newCloudWatch(t)
	r := New(Options{Out: c, Region: "eu-west-1"})
	now := t0
	end := r.Meter(metric.Strict, func() int64 { return now }).Begin()
	now += int64(3 * time.Millisecond)
	end(2)
	r.Flush(now)
	c.read()
	if got := c.sum("StoreCalls", "Store", "strict"); got != 2 {
		t.Errorf("%d calls, want two", got)
	}
	if d := c.get("StoreTime", "Store", "strict"); d.min != 3000 {
		t.Errorf("it took %v µs, want 3000", d.min)
	}
}
