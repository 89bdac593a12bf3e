package ddbstore

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"weir/pkg/bucket"
)

type item = map[string]types.AttributeValue

// Attributes of a row. They are short because a row's size is what is billed,
// in steps of 1 KB.
const (
	attrTAT        = "tat"
	attrSpent      = "spent"
	attrAt         = "at"
	attrEpochStart = "es"
	attrEpochSpent = "ep"
	attrBaseTAT    = "bt" // absent until the first fold
	attrBaseSpent  = "bs"
	attrSeen       = "seen" // map: Region -> list of born, spent, at
	attrFold       = "fold" // absent is 0
	attrBorn       = "born"
	attrVer        = "ver"
	attrLimit      = "lim" // count/period/burst; absent in rows written before it was there
	attrPriorBurst = "pb"  // absent until the limit changes
	attrPriorDepth = "pd"
	attrPriorAt    = "pa"
	attrPriorSpent = "ps"
	attrTTL        = "ttl" // seconds since the Unix epoch
)

// attrEpochs are the attributes of a row's last epochs, by slot.
var attrEpochs = [bucket.EpochsKept]struct{ start, spent string }{{"s0", "c0"}, {"s1", "c1"}, {"s2", "c2"}, {"s3", "c3"}}

// rowOf decodes a row. Absent attributes are zero.
func rowOf(it item) (bucket.Row, error) {
	d := decoder{it: it}
	r := bucket.Row{
		Region: d.text(sortKey),
		TAT:    d.number(attrTAT),
		Spent:  d.number(attrSpent),
		At:     d.number(attrAt),
		Epoch:  bucket.Epoch{Start: d.number(attrEpochStart), Spent: d.number(attrEpochSpent)},
		Epochs: d.epochs(),
		Seen:   d.seen(attrSeen),
		Base:   bucket.Base{TAT: d.number(attrBaseTAT), Spent: d.number(attrBaseSpent)},
		Fold:   d.number(attrFold),
		Born:   d.number(attrBorn),
		Ver:    d.number(attrVer),
		Limit:  d.limit(attrLimit),
		Prior: bucket.Prior{
			Burst: d.number(attrPriorBurst), Depth: d.number(attrPriorDepth),
			At: d.number(attrPriorAt), Spent: d.number(attrPriorSpent),
		},
	}
	return r, d.err
}

// storedRow decodes a row and when it may be removed, in s.
func storedRow(it item) (r bucket.Row, expiry int64, err error) {
	if r, err = rowOf(it); err != nil {
		return r, 0, err
	}
	d := decoder{it: it}
	return r, d.number(attrTTL), d.err
}

// limitValue encodes a limit: its count, its period in ns, and its burst.
func limitValue(l bucket.Limit) types.AttributeValue {
	if l.IsUnlimited() {
		return text(unlimited)
	}
	b := make([]byte, 0, 32)
	b = append(strconv.AppendInt(b, l.Rate().Count, 10), '/')
	b = append(strconv.AppendInt(b, int64(l.Rate().Period), 10), '/')
	return text(string(strconv.AppendInt(b, l.Burst(), 10)))
}

const unlimited = "unlimited"

// seenValue encodes what a fold has seen.
func seenValue(seen map[string]bucket.Seen) types.AttributeValue {
	m := make(item, len(seen))
	for region, s := range seen {
		m[region] = &types.AttributeValueMemberL{Value: []types.AttributeValue{num(s.Born), num(s.Spent), num(s.At)}}
	}
	return &types.AttributeValueMemberM{Value: m}
}

func num(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

// decoder reads attributes of an item and keeps the first error.
type decoder struct {
	it  item
	err error
}

func (d *decoder) number(name string) int64 { return d.int(name, d.it[name]) }

func (d *decoder) int(name string, v types.AttributeValue) int64 {
	if v == nil {
		return 0
	}
	n, ok := v.(*types.AttributeValueMemberN)
	if !ok {
		d.fail(name, v)
		return 0
	}
	i, err := strconv.ParseInt(n.Value, 10, 64)
	if err != nil {
		d.fail(name, v)
	}
	return i
}

func (d *decoder) text(name string) string {
	switch v := d.it[name].(type) {
	case nil:
		return ""
	case *types.AttributeValueMemberS:
		return v.Value
	default:
		d.fail(name, v)
		return ""
	}
}

func (d *decoder) limit(name string) bucket.Limit {
	switch s := d.text(name); s {
	case "":
		return bucket.Limit{}
	case unlimited:
		return bucket.Unlimited()
	default:
		l, ok := parseLimit(s)
		if !ok {
			d.fail(name, d.it[name])
		}
		return l
	}
}

func parseLimit(s string) (bucket.Limit, bool) {
	parts := strings.Split(s, "/")
	if len(parts) != 3 {
		return bucket.Limit{}, false
	}
	var n [3]int64
	for i, part := range parts {
		var err error
		if n[i], err = strconv.ParseInt(part, 10, 64); err != nil {
			return bucket.Limit{}, false
		}
	}
	l, err := bucket.NewLimit(bucket.Rate{Count: n[0], Period: time.Duration(n[1])}, n[2])
	return l, err == nil
}

func (d *decoder) epochs() (epochs [bucket.EpochsKept]bucket.Epoch) {
	for slot, name := range attrEpochs {
		epochs[slot] = bucket.Epoch{Start: d.number(name.start), Spent: d.number(name.spent)}
	}
	return epochs
}

func (d *decoder) seen(name string) map[string]bucket.Seen {
	v := d.it[name]
	if v == nil {
		return nil
	}
	m, ok := v.(*types.AttributeValueMemberM)
	if !ok {
		d.fail(name, v)
		return nil
	}
	seen := make(map[string]bucket.Seen, len(m.Value))
	for region, v := range m.Value {
		l, ok := v.(*types.AttributeValueMemberL)
		if !ok || len(l.Value) != 3 {
			d.fail(name, v)
			return nil
		}
		seen[region] = bucket.Seen{Born: d.int(name, l.Value[0]), Spent: d.int(name, l.Value[1]), At: d.int(name, l.Value[2])}
	}
	return seen
}

func (d *decoder) fail(name string, v types.AttributeValue) {
	if d.err == nil {
		d.err = fmt.Errorf("%w: attribute %q has a %T that is not what this version writes", ErrUnavailable, name, v)
	}
}
