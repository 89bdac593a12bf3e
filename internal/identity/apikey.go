// Package identity reads from a request what identifies its caller: an API key,
// or the address it came from.
package identity

import (
	"errors"
	"strings"
)

// MaxKeyLen is the length of the longest API key that is looked at.
const MaxKeyLen = 256

// Errors of APIKey. Neither carries any part of the key.
var (
	ErrDuplicateKey = errors.New("identity: the API key header was sent more than once")
	ErrMalformedKey = errors.New("identity: the API key is not 1 to 256 visible ASCII characters")
)

// APIKey returns the API key in the header name, or "" if there is none. The
// keys of headers are in lower case, as request.Request has them.
//
// A header sent twice is refused with ErrDuplicateKey, even with equal values:
// whoever reads only one of them could be shown a different key from the one
// that is charged. A value that cannot be a key is ErrMalformedKey, and need
// not be looked up.
func APIKey(headers map[string][]string, name string) (string, error) {
	values := headers[strings.ToLower(name)]
	switch len(values) {
	case 0:
		return "", nil
	case 1:
	default:
		return "", ErrDuplicateKey
	}
	key := strings.Trim(values[0], " \t") // optional whitespace is no part of a field value
	if key == "" {
		return "", nil
	}
	if !ValidKey(key) {
		return "", ErrMalformedKey
	}
	return key, nil
}

// ValidKey reports whether key has the form of an API key: 1 to MaxKeyLen
// visible ASCII characters.
func ValidKey(key string) bool {
	if key == "" || len(key) > MaxKeyLen {
		return false
	}
	for i := range len(key) {
		if key[i] <= ' ' || key[i] > '~' {
			return false
		}
	}
	return true
}
