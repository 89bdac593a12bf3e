package ddbstore

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Attributes of more than one value. An empty one reads as none.

func (d *decoder) members(name string) item {
	switch v := d.it[name].(type) {
	case nil:
	case *types.AttributeValueMemberM:
		return v.Value
	default:
		d.fail(name, v)
	}
	return nil
}

func (d *decoder) elements(name string, v types.AttributeValue) []types.AttributeValue {
	switch v := v.(type) {
	case nil:
	case *types.AttributeValueMemberL:
		return v.Value
	default:
		d.fail(name, v)
	}
	return nil
}

// numbers decodes a map of numbers.
func (d *decoder) numbers(name string) map[string]int64 {
	var numbers map[string]int64
	for key, v := range d.members(name) {
		if numbers == nil {
			numbers = make(map[string]int64)
		}
		numbers[key] = d.int(name, v)
	}
	return numbers
}

// texts decodes a list of texts.
func (d *decoder) texts(name string) []string {
	var texts []string
	for _, v := range d.elements(name, d.it[name]) {
		s, ok := v.(*types.AttributeValueMemberS)
		if !ok {
			d.fail(name, v)
			return nil
		}
		texts = append(texts, s.Value)
	}
	return texts
}

// triples decodes a map of lists of three numbers.
func (d *decoder) triples(name string) map[string][3]int64 {
	triples := make(map[string][3]int64)
	for key, v := range d.members(name) {
		l := d.elements(name, v)
		if len(l) != 3 {
			d.fail(name, v)
			return nil
		}
		triples[key] = [3]int64{d.int(name, l[0]), d.int(name, l[1]), d.int(name, l[2])}
	}
	return triples
}

// suffix decodes what follows a prefix that the text must have.
func (d *decoder) suffix(name, prefix string) string {
	rest, ok := strings.CutPrefix(d.text(name), prefix)
	if !ok {
		d.fail(name, d.it[name])
	}
	return rest
}
