package reconciler

import (
	"encoding/hex"
	"encoding/json"
	"strings"

	"weir/pkg/ddbstore"
)

// kind is what a change is about.
type kind string

const (
	planChange       kind = "plan"
	tenantChange     kind = "tenant"
	credentialChange kind = "credential"
	heartbeat        kind = "heartbeat"
)

// kinds are the partition keys that matter, by what they begin with.
var kinds = map[string]kind{
	"PLAN":      planChange,
	"TENANT":    tenantChange,
	"CRED":      credentialChange,
	"HEARTBEAT": heartbeat,
}

// currentKey is the sort key of what holds now. Nothing else is news.
const currentKey = "CURRENT"

// change says what has changed, not to what: whoever handles it looks that up. So
// it does not matter how often a change is reported, nor in which order.
type change struct {
	kind kind
	id   string
}

// record is as much of a record of the stream as the reconciler reads. The images
// are left alone: they may have 400 KB, and be of any version of this program.
type record struct {
	DynamoDB struct {
		Keys map[string]struct {
			S *string `json:"S"`
		} `json:"Keys"`
		SequenceNumber string  `json:"SequenceNumber"`
		Created        float64 `json:"ApproximateCreationDateTime"` // s since the Unix epoch
	} `json:"dynamodb"`
}

// verdict is what a record came to.
type verdict int

const (
	news      verdict = iota // it says that something changed
	noNews                   // it is well formed, and none of the reconciler's business
	malformed                // nobody can say what it is about
)

// read reads a record. The sequence number is "" if it has none.
func read(raw json.RawMessage) (r record, c change, v verdict) {
	if err := json.Unmarshal(raw, &r); err != nil {
		return record{DynamoDB: sequenceOf(raw).DynamoDB}, change{}, malformed
	}
	pk, sk := r.DynamoDB.Keys["pk"].S, r.DynamoDB.Keys["sk"].S
	if pk == nil || sk == nil {
		return r, change{}, malformed
	}
	if *sk != currentKey {
		return r, change{}, noNews
	}
	prefix, id, ok := strings.Cut(*pk, "#")
	k, known := kinds[prefix]
	switch {
	case !ok || !known:
		return r, change{}, noNews
	case id == "", k == credentialChange && !isHash(id):
		return r, change{}, malformed
	}
	return r, change{kind: k, id: id}, news
}

// sequenceOf reads the sequence number alone, of a record that cannot be read as
// a whole: with it the record can be reported and given up by itself.
func sequenceOf(raw json.RawMessage) (r record) {
	var outer struct {
		DynamoDB json.RawMessage `json:"dynamodb"`
	}
	var inner struct{ SequenceNumber string }
	if json.Unmarshal(raw, &outer) == nil && json.Unmarshal(outer.DynamoDB, &inner) == nil {
		r.DynamoDB.SequenceNumber = inner.SequenceNumber
	}
	return r
}

func isHash(id string) bool {
	_, ok := hashOf(id)
	return ok
}

func hashOf(id string) (h ddbstore.Hash, ok bool) {
	n, err := hex.Decode(h[:], []byte(id[:min(len(id), 2*len(h))]))
	return h, err == nil && n == len(h) && len(id) == 2*len(h)
}
