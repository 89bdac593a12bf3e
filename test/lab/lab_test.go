package main

import (
	"strings"
	"testing"
	"time"

	"weir/internal/testtool"
	"weir/pkg/bucket"
)

// TestLab tells the short story with real parts. It takes about 40 s, which are
// spent waiting.
func TestLab(t *testing.T) {
	o := defaults()
	o.lag = 500 * time.Millisecond // so that the story holds more of them
	l, err := start(t.Context(), o)
	testtool.Need(t, err)
	defer l.close()
	r, err := l.tell(t.Context(), shortStory, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	if !r.print(t.Output()) {
		t.Error("a claim failed")
	}
}

// TestClaimsCanFail makes up a story that keeps every claim, and breaks them one
// by one.
func TestClaimsCanFail(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*result)
		claim string // that must fail, "" for none
	}{
		"all is well": {func(*result) {}, ""},
		"no answer": {func(r *result) {
			r.undecided = 1
		}, "every request is decided"},
		"store down": {func(r *result) {
			r.some(nothing).verdict.unchecked = true
		}, "let through unchecked"},
		"each Region alone": {func(r *result) {
			r.admitAll(nothing)
		}, "even traffic"},
		"starved by a cut": {func(r *result) {
			r.refuseAll(cut)
		}, "cut off"},
		"nothing known after a cut": {func(r *result) {
			r.admitAll(heal)
		}, "healed"},
		"locked out after a cut": {func(r *result) {
			r.refuseAll(heal)
		}, "healed"},
		"refused when moved": {func(r *result) {
			r.some(death).verdict.allowed = false
		}, "Region dead"},
		"rows differ": {func(r *result) {
			r.rows[2] = map[string]int64{}
		}, "same rows"},
		"lost charge": {func(r *result) {
			for _, rows := range r.rows {
				rows["us-east-1"]--
			}
		}, "no charge is lost"},
		"unused charges": {func(r *result) {
			for _, rows := range r.rows {
				rows["us-east-1"] += 100
			}
		}, "unused"},
		"simulator": {func(r *result) {
			r.simulated[1] *= 1.2
		}, "simulator"},
	} {
		r := madeUp(t)
		c.spoil(r)
		var failed []string
		for _, claim := range r.claims() {
			if !claim.ok {
				failed = append(failed, claim.text+": "+claim.got)
			}
		}
		all := strings.Join(failed, "\n")
		if (c.claim == "") != (len(failed) == 0) || !strings.Contains(all, c.claim) {
			t.Errorf("%s: failed claims %q, want one about %q", name, failed, c.claim)
		}
	}
}

// madeUp returns a result in which one bucket has decided everything.
func madeUp(t *testing.T) *result {
	t.Helper()
	l, err := bucket.NewLimit(bucket.Rate{Count: 30, Period: time.Second}, 30)
	if err != nil {
		t.Fatal(err)
	}
	r := &result{o: defaults(), limit: l}
	at := time.Duration(0)
	for _, p := range shortStory {
		c := chapter{phase: p, from: at}
		at += p.lasts
		if p.offered > 0 {
			gap := time.Duration(float64(time.Second) / 30 / p.offered)
			for ; c.from+time.Duration(len(c.requests))*gap < at; c.requests = append(c.requests, &request{
				at: c.from + time.Duration(len(c.requests))*gap, region: len(c.requests) % 2, attempts: 1,
			}) {
			}
		}
		c.to = at
		r.chapters = append(r.chapters, c)
	}
	r.finish()
	r.simulated = make([]float64, len(r.chapters))
	spent := map[string]int64{}
	for _, q := range r.requests {
		if q.verdict.allowed = r.ideal[q]; q.verdict.allowed {
			spent[regionNames[q.region]]++
		}
	}
	for i, c := range r.chapters {
		r.simulated[i] = float64(r.between(c.from, c.to).admitted)
	}
	for range regionNames {
		rows := map[string]int64{}
		for name, n := range spent {
			rows[name] = n
		}
		r.rows = append(r.rows, rows)
	}
	return r
}

// some returns a request of a chapter that was admitted.
func (r *result) some(what happening) *request {
	c, _ := r.chapter(what)
	for _, q := range c.requests {
		if q.verdict.allowed {
			return q
		}
	}
	return nil
}

func (r *result) admitAll(what happening)  { r.decideAll(what, true) }
func (r *result) refuseAll(what happening) { r.decideAll(what, false) }

func (r *result) decideAll(what happening, allowed bool) {
	c, _ := r.chapter(what)
	for _, q := range c.requests {
		q.verdict.allowed = allowed
	}
}
