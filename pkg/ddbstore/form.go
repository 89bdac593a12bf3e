package ddbstore

import (
	"maps"
	"math"

	"weir/pkg/bucket"
)

// form is one of the conditional updates that a charge can be. UpdateItem has
// no max and no if, so every case of bucket.Charge.Apply is a form of its own,
// whose condition is that case. For one row, time and fold number exactly one
// form applies, or none if the bucket holds too little, or if the row is of
// another version: then see swap.
type form struct {
	busy bool // the bucket is not full: TAT lies ahead of now
	open bool // the charge opens an epoch
	any  bool // the charge has no version, and takes the row's TAT whatever its limit
	fold foldForm
}

type foldForm uint8

const (
	noFold    foldForm = iota
	firstFold          // onto a row that has never folded, or does not exist
	nextFold
)

// expression is the text of a form.
type expression struct{ update, condition string }

// expressions holds the text of every form.
var expressions = func() map[form]*expression {
	m := make(map[form]*expression)
	for _, busy := range []bool{false, true} {
		for _, open := range []bool{false, true} {
			for _, all := range []bool{false, true} {
				for fold := noFold; fold <= nextFold; fold++ {
					f := form{busy, open, all, fold}
					m[f] = f.expression()
				}
			}
		}
	}
	return m
}()

func (f form) expression() *expression {
	// What is on the right of a SET is as it was before the update.
	update := "SET spent = if_not_exists(spent, :zero) + :n, #at = :now, ver = :ver, lim = :lim, #ttl = :ttl"
	version := "ver = :ver"
	if !f.any {
		version += " AND lim = :lim"
	}
	var condition string
	if f.busy {
		update += ", tat = tat + :inc"
		condition = "tat > :now AND tat <= :most AND " + version
	} else {
		update += ", tat = :tat, born = if_not_exists(born, :now)"
		condition = "(attribute_not_exists(tat) OR (tat <= :now AND " + version + "))"
	}
	if f.open {
		update += ", es = :now, #s = :now, ep = if_not_exists(spent, :zero), #c = if_not_exists(spent, :zero)"
		condition += " AND (attribute_not_exists(es) OR es <= :edge)"
	} else {
		condition += " AND es > :edge"
	}
	if f.fold != noFold {
		update += ", fold = :fold, seen = :seen, bs = if_not_exists(spent, :zero) + :n"
		if f.busy {
			update += ", bt = tat + :inc"
		} else {
			update += ", bt = :tat"
		}
	}
	switch f.fold {
	case firstFold:
		condition += " AND (attribute_not_exists(fold) OR fold = :from)"
	case nextFold:
		condition += " AND fold = :from"
	}
	return &expression{update, condition}
}

// formOf returns the form for a charge on row r.
func formOf(c bucket.Charge, r bucket.Row, found bool) form {
	f := form{busy: r.TAT > c.Now, open: c.OpensEpoch(r, found), any: c.Ver == 0}
	if c.Fold != nil {
		f.fold = nextFold
		if c.Fold.From == 0 {
			f.fold = firstFold
		}
	}
	return f
}

// names returns the names that form f has placeholders for at the given time.
func (f form) names(now int64) map[string]string {
	if f.open {
		return openNames[bucket.EpochSlot(now)]
	}
	return reserved
}

// reserved are the attributes whose names are reserved words.
var reserved = map[string]string{"#at": attrAt, "#ttl": attrTTL}

// openNames are the names of a charge that opens an epoch, by its slot.
var openNames = func() (names [bucket.EpochsKept]map[string]string) {
	for slot, name := range attrEpochs {
		names[slot] = maps.Clone(reserved)
		names[slot]["#s"], names[slot]["#c"] = name.start, name.spent
	}
	return names
}()

// values returns the values of a charge for form f. It requires that the charge
// fits an empty bucket.
func (f form) values(c bucket.Charge) item {
	inc := c.Inc
	if c.Fold != nil {
		inc += c.Fold.Delta
	}
	v := item{
		":zero": num(0),
		":n":    num(c.Tokens),
		":now":  num(c.Now),
		":ver":  num(c.Ver),
		":lim":  limitValue(c.Limit),
		":ttl":  num(c.Expiry()),
		":edge": num(c.Now - bucket.EpochLength),
	}
	if f.busy {
		v[":inc"] = num(inc)
		v[":most"] = num(latest(c.Now, c.Room()-inc))
	} else {
		v[":tat"] = num(c.Now + inc)
	}
	if f.fold != noFold {
		v[":from"] = num(c.Fold.From)
		v[":fold"] = num(c.Fold.From + 1)
		v[":seen"] = seenValue(c.Fold.Seen)
	}
	return v
}

// latest returns now+d, saturating: an overdrawn bucket of a deep limit may reach
// beyond the end of time.
func latest(now, d int64) int64 {
	if d > math.MaxInt64-now {
		return math.MaxInt64
	}
	return now + d
}

// fits reports whether an empty bucket could take the charge.
func fits(c bucket.Charge) bool {
	room := c.Room()
	if c.Fold != nil {
		room -= c.Fold.Delta
	}
	return c.Inc <= room
}
