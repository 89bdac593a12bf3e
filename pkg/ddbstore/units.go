package ddbstore

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// writeUnits returns what one write of the item costs: a unit per KB, rounded
// up, and one for an item that does not exist.
func writeUnits(it item) float64 {
	return float64(max(1, (sizeOf(it)+1023)/1024))
}

// sizeOf returns the size of an item as DynamoDB counts it, in bytes: names and
// values, a number at half a byte per digit and one more.
func sizeOf(it item) int {
	size := 0
	for name, v := range it {
		size += len(name) + sizeOfValue(v)
	}
	return size
}

func sizeOfValue(v types.AttributeValue) int {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return len(v.Value)
	case *types.AttributeValueMemberN:
		digits := strings.TrimRight(strings.TrimPrefix(v.Value, "-"), "0")
		return (len(digits)+1)/2 + 1 + (len(v.Value) - len(strings.TrimPrefix(v.Value, "-")))
	case *types.AttributeValueMemberL:
		size := 3
		for _, e := range v.Value {
			size += 1 + sizeOfValue(e)
		}
		return size
	case *types.AttributeValueMemberM:
		return 3 + len(v.Value) + sizeOf(v.Value)
	}
	return 1
}
