package ddbstore_test

import (
	"encoding/hex"
	"math"
	"testing"
	"time"

	"weir/pkg/ddbstore"
)

// TestChanges pages through changes of several months.
func TestChanges(t *testing.T) {
	ctx := t.Context()
	c := ddbstore.NewConfig(client(tables(t).Endpoint()), newTable(t)).Consistent()
	if got, more, err := c.Changes(ctx, 0, 10); err != nil || more || len(got) != 0 {
		t.Fatalf("before any change: %+v, %v, %v", got, more, err)
	}
	h := ddbstore.Hash{1}
	var want []ddbstore.Changed // newest first
	change := func(at time.Time, puts ...ddbstore.Put) {
		t.Helper()
		ch := ddbstore.Change{Author: "ada", Reason: at.String(), At: at.UnixNano()}
		written, err := c.Write(ctx, ch, puts...)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range written {
			var e ddbstore.Changed
			switch w := w.(type) {
			case ddbstore.Plan:
				e = ddbstore.Changed{Kind: ddbstore.KindPlan, ID: w.Name, Version: w.Version, Stamp: w.Stamp}
			case ddbstore.Tenant:
				e = ddbstore.Changed{Kind: ddbstore.KindTenant, ID: w.ID, Version: w.Version, Stamp: w.Stamp}
			case ddbstore.Credential:
				e = ddbstore.Changed{Kind: ddbstore.KindCredential, ID: hex.EncodeToString(w.Hash[:]), Version: w.Version, Stamp: w.Stamp}
			}
			e.Change = ch
			want = append([]ddbstore.Changed{e}, want...)
		}
	}
	day := func(m time.Month, d int) time.Time { return time.Date(2026, m, d, 23, 59, 59, 999, time.UTC) }
	change(day(9, 1), ddbstore.Plan{Name: "pro#1"}, ddbstore.Tenant{ID: "acme", Plan: "pro#1", Status: ddbstore.Active}, ddbstore.Credential{Hash: h, Tenant: "acme"})
	change(day(9, 30), ddbstore.Plan{Name: "pro#1", Version: 1})
	change(day(12, 31), ddbstore.Plan{Name: "pro#1", Version: 2})
	change(day(11, 1), ddbstore.Plan{Name: "pro#1", Version: 3}) // a clock that is two months behind

	since := []int64{math.MinInt64, -1, 0, want[5].Stamp - 1, want[5].Stamp, want[2].Stamp, want[1].Stamp, want[0].Stamp, math.MaxInt64}
	for _, s := range since {
		var above []ddbstore.Changed
		for _, w := range want {
			if w.Stamp > s {
				above = append(above, w)
			}
		}
		for _, most := range []int{1, 2, 5, 6, 7, math.MaxInt} {
			got, more, err := c.Changes(ctx, s, most)
			if err != nil || len(got) != min(most, len(above)) || more != (len(above) > most) {
				t.Errorf("since %d, at most %d: %d, more %v, %v; want %d of %d", s, most, len(got), more, err, min(most, len(above)), len(above))
				continue
			}
			for i := range got {
				if got[i] != above[i] {
					t.Errorf("since %d, at most %d: entry %d is %+v, want %+v", s, most, i, got[i], above[i])
				}
			}
		}
	}
	if want[0].Stamp <= want[1].Stamp || want[1].Stamp <= want[2].Stamp || want[3].Stamp != want[5].Stamp {
		t.Errorf("stamps %+v: want later changes to have higher ones, and one change one", want)
	}
	if _, _, err := c.Changes(ctx, 0, 0); err == nil {
		t.Error("at most 0: no error")
	}
}
