package bucket

// fold returns what the next charge of own, the first row, must add so that its
// TAT becomes tat, and how many tokens own has not seen. The Fold is nil if there
// is nothing to add.
func fold(views []view, tat, now int64) (f *Fold, unseen int64) {
	own, peers := &views[0], views[1:]
	news := 0
	for i := range peers {
		v := &peers[i]
		if n, _, _ := v.unseen(own.Seen[v.Region]); n > 0 {
			news++
			unseen = add(unseen, n)
		}
	}
	delta := tat - max(own.TAT, now)
	if delta <= 0 && news == 0 || stale(own, peers) {
		return nil, unseen
	}
	f = &Fold{From: own.Fold, Delta: max(0, delta), Seen: own.Seen}
	if news > 0 {
		f.Seen = make(map[string]Seen, len(own.Seen)+news)
		for region, s := range own.Seen {
			f.Seen[region] = s
		}
		for i := range peers {
			v := &peers[i]
			if n, _, _ := v.unseen(own.Seen[v.Region]); n > 0 {
				f.Seen[v.Region] = Seen{Born: v.Born, Spent: v.Spent, At: v.At}
			}
		}
	}
	return f, unseen
}

// stale reports whether a peer has seen more of own's spend than own holds: own
// is an older state of the row. What it lacks is in the peer's TAT and would be
// added to the row's a second time.
func stale(own *view, peers []view) bool {
	for i := range peers {
		s := peers[i].Seen[own.Region]
		if s.Born > own.Born || s.Born == own.Born && s.Spent > own.Spent {
			return true
		}
	}
	return false
}
