package ddbstore

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Both tables have a composite primary key of two strings.
const (
	partitionKey = "pk"
	sortKey      = "sk"
)

// maxBucketKey bounds a bucket's partition key, in bytes. Keys contain what
// clients send, DynamoDB refuses one of over 2,048 bytes, and every kilobyte
// costs another write unit.
const maxBucketKey = 256

// bucketKey returns the partition key of a bucket: the key itself, or if it is
// too long its beginning and its SHA-256.
func bucketKey(key string) string {
	if len(key) <= maxBucketKey {
		return key
	}
	sum := sha256.Sum256([]byte(key))
	head := strings.ToValidUTF8(key[:maxBucketKey-1-2*sha256.Size], "")
	return head + "~" + hex.EncodeToString(sum[:])
}

func primaryKey(pk, sk string) item {
	return item{
		partitionKey: text(pk),
		sortKey:      text(sk),
	}
}
