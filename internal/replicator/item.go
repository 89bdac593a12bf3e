package replicator

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// item is what is known of one item in one Region.
type item struct {
	applying sync.Mutex // one write is applied at a time

	// Guarded by Replicator.mu.
	version int64
	image   map[string]types.AttributeValue // nil if there is none
	echoes  []change                        // made by the replicator, not seen in the stream yet
	busy    bool                            // a write is being applied, and may come to something or not
	held    []change                        // from the stream, until that is known
}

// change is a record of a stream: a write and what it replaced.
type change struct {
	write
	old map[string]types.AttributeValue
}

func (reg *region) item(w write) *item {
	it := reg.items[w.item]
	if it == nil {
		it = &item{}
		reg.items[w.item] = it
	}
	return it
}

// isEcho reports whether c, from the Region's stream, is a write that the
// replicator made, and not one of the Region's own.
func (it *item) isEcho(c change) bool {
	i := slices.IndexFunc(it.echoes, c.same)
	if i < 0 {
		return false
	}
	it.echoes = slices.Delete(it.echoes, i, i+1)
	return true
}

// same reports whether two changes are from the same to the same.
func (c change) same(d change) bool {
	return reflect.DeepEqual(c.image, d.image) && reflect.DeepEqual(c.old, d.old)
}

// unchanged returns the condition that an item is as in an image.
func unchanged(key, image map[string]types.AttributeValue) (expr string, names map[string]string, values map[string]types.AttributeValue) {
	names = map[string]string{}
	if image == nil {
		for name := range key { // one attribute of the key tells
			names["#k"] = name
			return "attribute_not_exists(#k)", names, nil
		}
	}
	values = map[string]types.AttributeValue{}
	var terms []string
	for i, name := range slices.Sorted(maps.Keys(image)) {
		n, v := fmt.Sprintf("#n%d", i), fmt.Sprintf(":v%d", i)
		names[n], values[v] = name, image[name]
		terms = append(terms, n+" = "+v)
	}
	return strings.Join(terms, " AND "), names, values
}

// text is a key as a string that no other key has.
func text(key map[string]types.AttributeValue) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(key)) {
		switch v := key[name].(type) {
		case *types.AttributeValueMemberS:
			fmt.Fprintf(&b, "%q=%q ", name, v.Value)
		case *types.AttributeValueMemberN:
			fmt.Fprintf(&b, "%q=%s ", name, v.Value)
		case *types.AttributeValueMemberB:
			fmt.Fprintf(&b, "%q=%x ", name, v.Value)
		}
	}
	return b.String()
}
