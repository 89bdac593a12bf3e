package devgateway

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
)

// newRequestID returns a random (version 4) UUID.
func newRequestID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// newExtendedID returns something of the form of x-amz-apigw-id.
func newExtendedID() string {
	var b [11]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand
	return base64.RawURLEncoding.EncodeToString(b[:]) + "="
}
