package bucket

import "math"

// Global is what one Region can say of a whole bucket from the rows it sees.
type Global struct {
	TAT      int64
	Fold     *Fold // what this Region's next charge should add; nil if nothing
	Complete bool  // some row's estimate contains every spend that is visible
	Skew     int64 // how far the furthest row's clock is ahead of now, ns
}

// Merge computes the bucket's level at now from this Region's row and the other
// Regions' rows.
func Merge(l Limit, own Row, peers []Row, now, grace int64) Global {
	var buf [8]Row
	rows := append(buf[:0], own)
	g := Global{}
	for _, p := range peers {
		if p.Region == own.Region {
			continue
		}
		if d := p.At - now; d > 0 {
			p.At, p.TAT, p.Epoch.Start = now, p.TAT-d, p.Epoch.Start-d
			g.Skew = max(g.Skew, d)
		}
		rows = append(rows, p)
		for i := len(rows) - 1; i > 1 && rows[i].At < rows[i-1].At; i-- {
			rows[i], rows[i-1] = rows[i-1], rows[i]
		}
	}
	low, all := int64(math.MaxInt64), int64(math.MaxInt64)
	g.TAT = now
	for k := range rows {
		g.TAT = max(g.TAT, rows[k].TAT)
		t, complete := estimate(l, rows, k, grace)
		all = min(all, t)
		if complete {
			g.Complete = true
			low = min(low, t)
		}
	}
	if !g.Complete {
		low = all
	}
	g.TAT = max(g.TAT, low)
	g.fold(own, rows, now)
	return g
}

// estimate is the level of everything visible as row k sees it.
func estimate(l Limit, rows []Row, k int, grace int64) (int64, bool) {
	t, complete := rows[k].TAT, true
	add := func(m int) {
		x := &rows[m]
		s := rows[k].Seen[x.Region]
		if s.Born != x.Born {
			s = Seen{}
		}
		unseen := x.Spent - s.Spent
		if unseen <= 0 {
			return
		}
		old := max(0, x.Epoch.Spent-s.Spent)
		if old > 0 {
			if x.Epoch.Start-s.At <= grace {
				t = max(t, x.Epoch.Start) + l.Time(old)
			} else {
				complete = false
			}
		}
		t = max(t, x.At) + l.Time(unseen-old)
	}
	own := k != 0
	for m := 1; m < len(rows); m++ {
		if own && rows[0].At <= rows[m].At {
			add(0)
			own = false
		}
		if m != k {
			add(m)
		}
	}
	if own {
		add(0)
	}
	return t, complete
}

// fold sets g.Fold for own's next charge.
func (g *Global) fold(own Row, rows []Row, now int64) {
	delta := g.TAT - max(own.TAT, now)
	news := false
	for _, r := range rows[1:] {
		s := own.Seen[r.Region]
		if s.Born != r.Born || r.Spent > s.Spent {
			news = news || r.Spent > 0
		}
	}
	if delta <= 0 && !news {
		return
	}
	seen := make(map[string]Seen, len(rows)-1)
	for k, v := range own.Seen {
		seen[k] = v
	}
	for _, r := range rows[1:] {
		if s := seen[r.Region]; s.Born != r.Born || r.Spent > s.Spent {
			seen[r.Region] = Seen{Born: r.Born, Spent: r.Spent, At: r.At}
		}
	}
	g.Fold = &Fold{From: own.Fold, Delta: max(0, delta), Seen: seen}
}
