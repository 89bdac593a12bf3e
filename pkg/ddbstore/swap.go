package ddbstore

import (
	"maps"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"weir/pkg/bucket"
)

// swap returns the write that turns row was, which exists, into row now, if it
// is still what it was. It is for changes of limit: what becomes of a level is
// beyond what an update expression can compute. Every other change of a row
// changes one of the attributes that the condition names.
func (s *Store) swap(key string, was, now bucket.Row, expiry int64) *dynamodb.UpdateItemInput {
	w := swapping{condition: []string{"attribute_exists(pk)"}, names: maps.Clone(reserved), values: item{}}
	w.found("tat", "tat", num(was.TAT), was.TAT == 0)
	w.found("spent", "spent", num(was.Spent), was.Spent == 0)
	w.found("#at", "at", num(was.At), was.At == 0)
	w.found("fold", "fold", num(was.Fold), was.Fold == 0)
	w.found("ver", "ver", num(was.Ver), was.Ver == 0)
	if was.Limit == (bucket.Limit{}) {
		w.condition = append(w.condition, "attribute_not_exists(lim)")
	} else {
		w.found("lim", "lim", limitValue(was.Limit), false)
	}

	w.set("tat", "ntat", num(now.TAT))
	w.set("spent", "nspent", num(now.Spent))
	w.set("#at", "nat", num(now.At))
	w.set("ver", "nver", num(now.Ver))
	w.set("lim", "nlim", limitValue(now.Limit))
	w.set("#ttl", "nttl", num(expiry))
	if now.Base != was.Base {
		w.set("bt", "nbt", num(now.Base.TAT))
		w.set("bs", "nbs", num(now.Base.Spent))
	}
	if now.Prior != was.Prior {
		w.set("pb", "npb", num(now.Prior.Burst))
		w.set("pd", "npd", num(now.Prior.Depth))
		w.set("pa", "npa", num(now.Prior.At))
		w.set("ps", "nps", num(now.Prior.Spent))
	}
	if now.Epoch != was.Epoch {
		slot := attrEpochs[bucket.EpochSlot(now.Epoch.Start)]
		w.names["#s"], w.names["#c"] = slot.start, slot.spent
		w.set("es, #s", "nes", num(now.Epoch.Start))
		w.set("ep, #c", "nep", num(now.Epoch.Spent))
	}
	if now.Fold != was.Fold {
		w.set("fold", "nfold", num(now.Fold))
		w.set("seen", "nseen", seenValue(now.Seen))
	}
	return s.update(key, "SET "+strings.Join(w.update, ", "), strings.Join(w.condition, " AND "), w.names, w.values)
}

// swapping is an update under construction.
type swapping struct {
	update, condition []string
	names             map[string]string
	values            item
}

// found adds the condition that an attribute is v, or absent if that is what v
// may mean.
func (w *swapping) found(attribute, value string, v types.AttributeValue, absent bool) {
	c := attribute + " = :" + value
	if absent {
		c = "(attribute_not_exists(" + attribute + ") OR " + c + ")"
	}
	w.condition, w.values[":"+value] = append(w.condition, c), v
}

// set gives attributes a value.
func (w *swapping) set(attributes, value string, v types.AttributeValue) {
	for a := range strings.SplitSeq(attributes, ", ") {
		w.update = append(w.update, a+" = :"+value)
	}
	w.values[":"+value] = v
}
