package ddbstore_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"weir/pkg/ddbstore"
)

func wantHome(t *testing.T, c *ddbstore.Config, want string) {
	t.Helper()
	if got, err := c.Home(t.Context()); err != nil || got != want {
		t.Errorf("Home = %q, %v, want %q", got, err, want)
	}
}

// wantHomeError checks that err names the home and what to do.
func wantHomeError(t *testing.T, err error, home, region string) {
	t.Helper()
	var e *ddbstore.HomeError
	if !errors.As(err, &e) || !errors.Is(err, ddbstore.ErrHome) || e.Home != home || e.Region != region {
		t.Errorf("%v, want a HomeError: home %s, writer in %q", err, home, region)
		return
	}
	if errors.Is(err, ddbstore.ErrConflict) || !strings.Contains(err.Error(), home) || !strings.Contains(err.Error(), region) {
		t.Errorf("the message is %q", err)
	}
}

func TestHome(t *testing.T) {
	ctx := t.Context()
	c, table := newConfig(t)
	dublin, virginia, tokyo := c.In("eu-west-1"), c.In("us-east-1"), c.In("ap-northeast-1")
	plan := func(c *ddbstore.Config, base int64) error {
		_, err := c.PutPlan(ctx, ddbstore.Plan{Name: "pro", Version: base}, change)
		return err
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	wantHome(t, c, "")
	must(plan(c, 0)) // as nobody has said where home is
	wantHome(t, c, "")
	must(plan(dublin, 1)) // the first that says it
	wantHome(t, c, "eu-west-1")
	must(plan(dublin, 2))

	before := dump(t, table)
	wantHomeError(t, plan(c, 3), "eu-west-1", "")
	wantHomeError(t, plan(virginia, 3), "eu-west-1", "us-east-1")
	wantHomeError(t, plan(virginia, 9), "eu-west-1", "us-east-1") // what is missing there may be here
	wantHomeError(t, plan(virginia, 0), "eu-west-1", "us-east-1")
	wantHomeError(t, tokyo.MoveHome(ctx, "us-east-1", change), "eu-west-1", "ap-northeast-1")
	wantHomeError(t, c.MoveHome(ctx, "us-east-1", change), "eu-west-1", "")
	must(tokyo.MoveHome(ctx, "eu-west-1", change)) // where it is
	if err := dublin.MoveHome(ctx, "", change); err == nil || !strings.Contains(err.Error(), "needs a Region") {
		t.Errorf("MoveHome to nowhere: %v", err)
	}
	if err := dublin.MoveHome(ctx, "us-east-1", ddbstore.Change{}); err == nil || !strings.Contains(err.Error(), "needs an author") {
		t.Errorf("MoveHome by nobody: %v", err)
	}
	if after := dump(t, table); len(after) != len(before) || after["META / CLOCK"] != before["META / CLOCK"] {
		t.Errorf("something was written:\n%v\n%v", before, after)
	}

	must(dublin.MoveHome(ctx, "us-east-1", change)) // hand over
	wantHome(t, c, "us-east-1")
	wantHomeError(t, plan(dublin, 3), "us-east-1", "eu-west-1")
	must(plan(virginia, 3))
	must(tokyo.MoveHome(ctx, "ap-northeast-1", change)) // take over
	wantHomeError(t, plan(virginia, 4), "ap-northeast-1", "us-east-1")
	must(plan(tokyo, 4))

	feed, _, err := c.Changes(ctx, 0, 3)
	if err != nil || len(feed) != 3 {
		t.Fatal(feed, err)
	}
	moved := feed[1]
	if moved.Kind != ddbstore.KindHome || moved.ID != "ap-northeast-1" || moved.Version != 0 || moved.Change != change || moved.Stamp <= feed[2].Stamp {
		t.Errorf("the feed has %+v, want the move", feed)
	}
}

// TestHomeIsClaimedOnce: of first writers in several Regions that see one table,
// those of one Region get it, and nothing of the others is written.
func TestHomeIsClaimedOnce(t *testing.T) {
	c, _ := newConfig(t)
	var wg sync.WaitGroup
	var won [2]atomic.Int64
	for i := range 6 {
		wg.Go(func() {
			_, err := c.In(fmt.Sprint("region-", i%2)).PutPlan(context.Background(), ddbstore.Plan{Name: fmt.Sprint(i)}, change)
			if err == nil {
				won[i%2].Add(1)
			} else if !errors.Is(err, ddbstore.ErrHome) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	home, err := c.Home(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := [2]int64{3, 0}
	if home == "region-1" {
		want = [2]int64{0, 3}
	}
	if got := [2]int64{won[0].Load(), won[1].Load()}; got != want {
		t.Errorf("home is %q, and writers won %v", home, got)
	}
	if plans, err := c.Plans(t.Context()); err != nil || len(plans) != 3 {
		t.Errorf("Plans = %q, %v, want three", plans, err)
	}
}

// TestHomeMovesOnce: whoever moves the home while others do is told.
func TestHomeMovesOnce(t *testing.T) {
	c, _ := newConfig(t)
	home := c.In("region-0")
	write(t, home, ddbstore.Plan{Name: "pro"})
	var wg sync.WaitGroup
	var won atomic.Int64
	for i := range 4 {
		wg.Go(func() {
			err := home.MoveHome(context.Background(), fmt.Sprint("region-", i+1), change)
			if err == nil {
				won.Add(1)
			} else if !errors.Is(err, ddbstore.ErrHome) && !errors.Is(err, ddbstore.ErrConflict) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if won.Load() != 1 {
		t.Errorf("%d moves succeeded, want 1", won.Load())
	}
	if feed, _, err := c.Changes(t.Context(), 0, 10); err != nil || len(feed) != 2 {
		t.Errorf("Changes = %+v, %v, want one move", feed, err)
	}
}
