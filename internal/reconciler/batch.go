package reconciler

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"weir/pkg/ddbstore"
)

// Response is the answer to a batch of the stream. Lambda begins again at the
// lowest of the sequence numbers; all of them are named all the same.
type Response struct {
	BatchItemFailures []Failure `json:"batchItemFailures"`
}

// Failure is a record that is to be delivered again.
type Failure struct {
	ItemIdentifier string `json:"itemIdentifier"` // its sequence number
}

// task is a change, and the records of the batch that report it.
type task struct {
	change
	sequence []string
	err      error
}

// stream handles a batch. A record that cannot be handled holds up none of the
// others: they are handled all the same, and again when Lambda delivers them with
// it again, which changes nothing. The error says that the records are of
// something else.
func (r *Reconciler) stream(ctx context.Context, records []json.RawMessage) (Response, error) {
	out := Response{BatchItemFailures: []Failure{}}
	tasks, bad, oldest, ok := r.sort(records)
	if !ok {
		return out, errors.New("reconciler: Records without a sequence number: want those of a DynamoDB stream")
	}
	r.work(ctx, tasks)
	failed := bad
	for _, t := range tasks {
		if t.err != nil {
			failed = append(failed, t.sequence...)
			r.log.Error("change not applied", "kind", t.kind, "id", t.name(), "records", len(t.sequence), "error", t.err)
		}
	}
	for _, s := range failed {
		out.BatchItemFailures = append(out.BatchItemFailures, Failure{ItemIdentifier: s})
	}
	b := Batch{Records: len(records), Failed: len(failed)}
	if oldest > 0 {
		b.Age = time.Duration(max(0, r.now()-oldest))
	}
	r.observe.Batch(b)
	r.log.Info("batch", "records", b.Records, "changes", len(tasks), "failed", b.Failed, "ageMs", b.Age.Milliseconds())
	return out, nil
}

// sort turns records into changes, each once however often it is reported, in the
// order in which they appear. It also returns the sequence numbers of records that
// say nothing, when the oldest was written (ns since the Unix epoch; 0 if none
// says), and whether any of the records is of a stream.
func (r *Reconciler) sort(records []json.RawMessage) (tasks []*task, bad []string, oldest int64, ok bool) {
	known := make(map[change]*task)
	for _, raw := range records {
		rec, c, v := read(raw)
		seq := rec.DynamoDB.SequenceNumber
		ok = ok || seq != ""
		if at := int64(rec.DynamoDB.Created * 1e9); at > 0 && (oldest == 0 || at < oldest) {
			oldest = at
		}
		switch {
		case v == malformed:
			r.log.Error("record not understood", "sequenceNumber", seq, "bytes", len(raw))
			if seq != "" { // one without would fail the whole batch
				bad = append(bad, seq)
			}
		case v == news:
			t := known[c]
			if t == nil {
				t = &task{change: c}
				known[c] = t
				tasks = append(tasks, t)
			}
			if seq != "" {
				t.sequence = append(t.sequence, seq)
			}
		}
	}
	return tasks, bad, oldest, ok
}

// work does the tasks: what concerns one tenant or Region several at a time, plans
// one after the other, since each is many tenants.
func (r *Reconciler) work(ctx context.Context, tasks []*task) {
	var small, plans []*task
	for _, t := range tasks {
		t.err = errUnfinished
		if t.kind == planChange {
			plans = append(plans, t)
		} else {
			small = append(small, t)
		}
	}
	_, _ = r.pace.each(ctx, len(small), func(i int) bool { // what it did not begin is unfinished
		small[i].err = r.apply(ctx, small[i].change)
		return true
	})
	for _, t := range plans {
		if ctx.Err() != nil {
			return
		}
		t.err = r.apply(ctx, t.change)
	}
}

// apply brings what has changed to what it is now.
func (r *Reconciler) apply(ctx context.Context, c change) error {
	return r.safely(string(c.kind), func() error {
		if c.kind == heartbeat {
			return r.hear(ctx, c.id)
		}
		n, since, err := r.bringChange(ctx, c)
		a := Applied{Kind: string(c.kind), Rows: n, Err: err}
		if err == nil && since > 0 && (n.Changed > 0 || c.kind == planChange) {
			a.Effect = time.Duration(max(0, r.now()-since))
		}
		r.observe.Applied(a)
		if err == nil {
			r.log.Info("change applied", "kind", c.kind, "id", c.name(),
				"changed", n.Changed, "skipped", n.Skipped, "failed", n.Failed, "effectMs", a.Effect.Milliseconds())
		}
		return err
	})
}

// bringChange brings rows to what a change says now, and returns since when that
// holds.
func (r *Reconciler) bringChange(ctx context.Context, c change) (Tally, int64, error) {
	switch c.kind {
	case planChange:
		return r.plan(ctx, c.id)
	case tenantChange:
		return r.tenant(ctx, c.id)
	}
	return r.credential(ctx, c.id)
}

// safely makes an error of a panic: what one plan or tenant is like must not end the
// process, and the work on others with it.
func (r *Reconciler) safely(what string, f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			r.log.Error("panic", "at", what, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			err = fmt.Errorf("panic at %s", what)
		}
	}()
	return f()
}

// credential brings the tenant of a credential to what holds for it. A credential
// has no say in a limit; what is left to do is what its tenant's own record has
// not brought about.
func (r *Reconciler) credential(ctx context.Context, id string) (Tally, int64, error) {
	h, _ := hashOf(id)
	var cr ddbstore.Credential
	err := r.pace.try(ctx, func() (err error) { cr, err = r.config.Credential(ctx, h); return err })
	if errors.Is(err, ddbstore.ErrNotFound) {
		return Tally{}, 0, nil
	}
	if err != nil {
		return Tally{}, 0, err
	}
	return r.tenant(ctx, cr.Tenant)
}

// name is what a change is called in the log: of a credential's hash the
// beginning.
func (c change) name() string {
	if c.kind == credentialChange {
		return c.id[:min(len(c.id), 2*hex.EncodedLen(2))]
	}
	return c.id
}
