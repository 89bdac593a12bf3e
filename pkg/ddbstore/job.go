package ddbstore

import (
	"context"
	"fmt"
)

// Job is how far the reconciler of a Region has got with something that takes
// long. The reconciler gives every field its meaning; here they are numbers.
type Job struct {
	Region   string
	ID       string
	Plan     string // "" if it is not about one
	Stamp    int64  // of the change that it carries out
	Cursor   string // where to go on
	Seen     int64
	Changed  int64
	Skipped  int64
	Failed   int64
	Started  int64 // ns since the Unix epoch
	Updated  int64 // ns since the Unix epoch
	Finished int64 // ns since the Unix epoch; 0 while it is not
	Version  int64
}

const (
	attrCursor   = "cursor"
	attrSeenN    = "seen"
	attrSkipped  = "skipped"
	attrFailed   = "failed"
	attrStarted  = "started"
	attrUpdated  = "updated"
	attrFinished = "finished"
)

// maxJobs bounds what Jobs returns.
const maxJobs = 1000

// Job returns a job, or ErrNotFound.
func (c *Config) Job(ctx context.Context, region, id string) (Job, error) {
	it, err := c.get(ctx, jobPrefix+region, id)
	if err != nil {
		return Job{}, fmt.Errorf("read job %s in %s: %w", id, region, err)
	}
	return jobOf(region, it)
}

// Jobs returns the jobs of a Region, finished or not, backwards in the order of
// their ids: at most the last thousand.
func (c *Config) Jobs(ctx context.Context, region string) ([]Job, error) {
	items, _, err := c.query(ctx, span{pk: jobPrefix + region, newest: true}, maxJobs)
	if err != nil {
		return nil, fmt.Errorf("list jobs in %s: %w", region, err)
	}
	jobs := make([]Job, len(items))
	for i, it := range items {
		if jobs[i], err = jobOf(region, it); err != nil {
			return nil, err
		}
	}
	return jobs, nil
}

// PutJob makes j the version after j.Version and returns it, or ErrConflict.
func (c *Config) PutJob(ctx context.Context, j Job) (Job, error) {
	for what, id := range map[string]string{"a Region": j.Region, "an id": j.ID} {
		if err := checkID(what, id); err != nil {
			return Job{}, fmt.Errorf("write job %q in %q: %w", j.ID, j.Region, err)
		}
	}
	it := keyed(item{
		attrStamp:    num(j.Stamp),
		attrSeenN:    num(j.Seen),
		attrChanged:  num(j.Changed),
		attrSkipped:  num(j.Skipped),
		attrFailed:   num(j.Failed),
		attrStarted:  num(j.Started),
		attrUpdated:  num(j.Updated),
		attrFinished: num(j.Finished),
	}, jobPrefix+j.Region, j.ID)
	optional(it, attrPlan, j.Plan)
	optional(it, attrCursor, j.Cursor)
	version, err := c.putVersion(ctx, it, j.Version)
	if err != nil {
		return Job{}, fmt.Errorf("write job %s in %s: %w", j.ID, j.Region, err)
	}
	j.Version = version
	return j, nil
}

func jobOf(region string, it item) (Job, error) {
	d := decoder{it: it}
	j := Job{
		Region:   region,
		ID:       d.text(sortKey),
		Plan:     d.text(attrPlan),
		Stamp:    d.number(attrStamp),
		Cursor:   d.text(attrCursor),
		Seen:     d.number(attrSeenN),
		Changed:  d.number(attrChanged),
		Skipped:  d.number(attrSkipped),
		Failed:   d.number(attrFailed),
		Started:  d.number(attrStarted),
		Updated:  d.number(attrUpdated),
		Finished: d.number(attrFinished),
		Version:  d.number(attrVersion),
	}
	if d.err != nil {
		return Job{}, fmt.Errorf("read job in %s: %w", region, d.err)
	}
	return j, nil
}
