package limiter

import (
	"context"
	"sync"
	"time"

	"weir/pkg/bucket"
)

// maxTries bounds the round trips of one request: the first guess, one after a
// fold conflict or for the tokens that are left, and one spare.
const maxTries = 3

// remote settles with the store every check that memory could not.
func (l *Limiter) remote(ctx context.Context, now int64, checks []Check, results []Result, most int64) {
	ctx, cancel := context.WithTimeout(ctx, l.timeout)
	defer cancel()
	own := -1
	var wg sync.WaitGroup
	for i := range results {
		r := &results[i]
		if r.Allowed || r.Wait > 0 { // decided
			continue
		}
		// One is settled on this goroutine: most requests have no other.
		if own < 0 {
			own = i
			continue
		}
		wg.Add(1)
		go func() {
			defer wg.Done()
			l.settle(ctx, now, &checks[i], r, most)
		}()
	}
	l.settle(ctx, now, &checks[own], &results[own], most)
	wg.Wait()
}

// attempt is what one request has tried so far.
type attempt struct {
	need    int64   // tokens that it and those waiting for it want
	part    portion // of the limit that this Region may admit
	exactly int64   // tokens to ask for next, whatever a lease would be; 0 if undecided
	life    int64   // of the lease, ns
	worth   int64   // fewer tokens than that are not worth another write
	refused bool    // by the last outcome
	owed    int64   // tokens in the charge that were spent before
	reach   int64   // how far into the future a token may be taken, ns
	paid    int64   // remainder of Limit.Charge, if it is Charged
}

// charge asks the store for tokens and fills r. Only the goroutine that owns
// e.call calls it.
func (l *Limiter) charge(ctx context.Context, now int64, e *entry, c *Check, r *Result, need, most int64) error {
	store := l.store
	if c.Consistency == Strict && l.strict != nil {
		store = l.strict
	}
	join := func() {}
	if l.merges(c) {
		join = sync.OnceFunc(l.refresh(ctx, now, e, c.Key))
		defer join()
	}
	a := attempt{need: need, part: l.portion(ctx, now, c), reach: patienceOf(c, most)}
	var ch bucket.Charge
	for range maxTries {
		var ok bool
		if ch, ok = l.prepare(now, e, c, r, &a); !ok {
			join() // refused by other Regions' rows: by what they are now, not by what they were
			if ch, ok = l.prepare(now, e, c, r, &a); !ok {
				return nil
			}
		}
		out, err := store.Charge(ctx, c.Key, ch)
		r.Calls += out.Calls
		r.Units += out.Units
		l.units.Add(int64(out.Units))
		if err != nil {
			return err
		}
		if l.absorb(e, c, r, &a, ch, out) {
			return nil
		}
	}
	if !a.refused {
		return ErrConflict
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	l.refuse(ch.Now, e, c, r, ch.Tokens, a.reach)
	return nil
}

// merges reports whether other Regions have a say in c.
func (l *Limiter) merges(c *Check) bool { return l.regions > 1 && c.Consistency == Global }

// prepare builds the next charge. If other Regions' rows refuse c, or no charge can
// change what the limit in force answers, it fills r and returns false: no write is
// bought. What this Region's own row said last may have been lowered since, so that
// is asked.
func (l *Limiter) prepare(now int64, e *entry, c *Check, r *Result, a *attempt) (bucket.Charge, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	now = max(now, e.row.At)
	e.adopt(now, c)
	if e.fixed(c.Cost) {
		r.answer(*e.limit, e.newest)
		return bucket.Charge{}, false
	}
	limit := e.inForce(now)
	ch := bucket.Charge{Limit: limit.Limit, Ver: limit.Ver, Carry: limit.Carry, Since: limit.Since, Now: now}
	own := e.tatOf(now, e.row)
	tat := own
	e.ahead = 0
	if l.merges(c) && e.peers != nil {
		g := limit.Merge(e.own(l.region), e.peers.rows, l.grace)
		e.ahead = e.peers.unseen(*e.limit, e.row.Spent, g.TAT, now)
		tat, ch.Fold = max(g.TAT, now)+e.ahead, g.Fold
		l.noteSkew(g.Skew)
	}
	e.level(tat)
	if e.known {
		known := e.row
		ch.Known = &known
	}
	least := max(1, c.Cost-e.spendable(now))
	left := a.part.tokens(e.limit.Remaining(e.tat-a.reach, now))
	if left < least && e.limit.Remaining(own-a.reach, now) >= least {
		l.refuse(now, e, c, r, a.need, a.reach)
		return ch, false
	}
	ch.Tokens = a.exactly
	if ch.Tokens == 0 {
		ch.Tokens, a.life = e.leaseSize(now, a.need, left)
		if l.noLease {
			ch.Tokens = a.need
		}
		if c.Share { // what is served from memory does not say that the Region is alive
			a.life = min(a.life, l.grace/2)
		}
		if e.scarce(now) {
			a.worth = ch.Tokens / worthwhile
		}
		if left >= a.worth {
			ch.Tokens = min(ch.Tokens, left)
		}
	}
	ch.Tokens = max(ch.Tokens, least)
	a.owed = min(e.first, max(0, left-ch.Tokens)) // the rest when there is room
	ch.Tokens += a.owed
	ch.Keep = e.ahead - a.reach // other processes' charges, not known here, must leave it too
	ch.Inc, a.paid = e.limit.Charge(ch.Tokens, e.paid)
	ch.Inc = a.part.time(ch.Inc)
	return ch, true
}

// own returns this Region's row, or that of a Region that never charged.
func (e *entry) own(region string) bucket.Row {
	if e.known {
		return e.row
	}
	return bucket.Row{Region: region}
}

// absorb learns from an outcome and reports whether c is decided.
func (l *Limiter) absorb(e *entry, c *Check, r *Result, a *attempt, ch bucket.Charge, out bucket.Outcome) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.adopt(ch.Now, c)
	e.row, e.known = out.Row, true
	e.follow(ch.Now, out.Row)
	current := ch.Ver == e.ver && ch.Limit == *e.limit // nothing newer has come to be known meanwhile
	e.level(e.tatOf(ch.Now, out.Row) + e.ahead)
	a.refused = out.Status == bucket.Refused && current
	switch {
	case out.Status == bucket.Charged:
		e.denyUntil = 0
		e.won(ch.Now)
		e.ripe = out.Row.TAT - int64(ch.Limit.Depth())
		e.lend(ch.Now, ch.Tokens-a.owed, a.life+a.reach)
		e.first -= a.owed
		if current {
			e.paid = a.paid
		} else {
			e.ripe = carryRipe(e.ripe, bucket.Rescale{Limit: ch.Limit, Ver: ch.Ver}, e.inForce(ch.Now))
			e.mixed, e.credit = true, min(e.credit, max(0, e.most))
		}
		if e.credit < c.Cost { // others spent from the lease meanwhile, or it may not all be spent
			a.exactly = c.Cost - e.credit
			return false
		}
		held := min(e.ripeIn(ch.Now, c.Cost), a.reach)
		e.credit -= c.Cost
		e.describe(ch.Now, c, r, true)
		r.Hold = time.Duration(held)
		return true
	case !current: // by a limit that is no longer in force
		a.exactly = 0
		return false
	case out.Status != bucket.Refused: // another process folded; see what is left to fold
		return false
	}
	if ch.Fold != nil {
		e.level(e.tat + ch.Fold.Delta)
	}
	least := max(c.Cost-e.spendable(ch.Now), a.worth)
	e.wasted += int64(out.Units)
	l.wasted.Add(int64(out.Units))
	if left := e.limit.Remaining(e.tat-a.reach, ch.Now); left >= least && left < ch.Tokens {
		a.exactly = left
		return false
	}
	l.refuse(ch.Now, e, c, r, ch.Tokens, a.reach)
	return true
}

func (l *Limiter) noteSkew(ns int64) {
	for {
		old := l.skew.Load()
		if ns <= old || l.skew.CompareAndSwap(old, ns) {
			return
		}
	}
}
