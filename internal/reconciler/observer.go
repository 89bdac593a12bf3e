package reconciler

import "time"

// Observer is told what the reconciler does, so that somebody can count it. Its
// methods are called from several goroutines, and must not block.
type Observer interface {
	// Batch: a batch of the stream has been handled.
	Batch(Batch)
	// Applied: a change has been brought to this Region's rows, or could not be.
	Applied(Applied)
	// Scheduled: a scheduled run is over.
	Scheduled(Report)
}

// Batch is what became of a batch of the stream.
type Batch struct {
	Records int
	Failed  int           // records that are to be delivered again
	Age     time.Duration // of its oldest record: the iterator age
}

// Applied is what became of a change.
type Applied struct {
	Kind   string        // plan, tenant or credential
	Rows   Tally         // what was done for it by this call
	Effect time.Duration // from the change to the last of its rows; 0 if there was nothing left to do
	Err    error         // it is not done, and will be tried again
}

// Tally counts rows that a change should affect, but for Failed, which counts
// tenants that nothing could be done for.
type Tally struct {
	Changed int64 `json:"changed"` // brought to the limit and the version
	Skipped int64 `json:"skipped"` // there already, or newer
	Failed  int64 `json:"failed"`
}

func (t *Tally) add(o Tally) {
	t.Changed += o.Changed
	t.Skipped += o.Skipped
	t.Failed += o.Failed
}

// nobody is the Observer that does nothing.
type nobody struct{}

func (nobody) Batch(Batch)      {}
func (nobody) Applied(Applied)  {}
func (nobody) Scheduled(Report) {}
