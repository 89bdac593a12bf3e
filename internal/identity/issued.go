package identity

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
)

// A key that Weir issues is
//
//	weir_[ENV_]RANDOM CHECK
//
// without the space: 22 random characters and 6 of a checksum over all before
// them, both of 0-9, A-Z and a-z. So garbage and typing errors are recognised
// without looking anything up, and scanners of source code find keys that leaked:
//
//	\bweir_([a-z0-9]{1,16}_)?[0-9A-Za-z]{28}\b
//
// The checksum is no secret and proves nothing: anybody can make a key that
// passes, and then it is unknown.
const (
	issuedPrefix = "weir_"
	randomLen    = 22 // the fewest characters that hold 128 bits
	checkLen     = 6  // enough for a CRC-32
	maxEnvLen    = 16

	base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// ErrEnv is returned by NewKey for a name that cannot stand in a key.
var ErrEnv = errors.New("identity: the environment of a key is not up to 16 of a-z and 0-9")

// NewKey returns a new key for an environment such as "live" or "test", or for
// none if env is "". It reads random from r, in production crypto/rand.Reader.
// The error is ErrEnv or wraps that of r.
func NewKey(r io.Reader, env string) (string, error) {
	if env != "" && !validEnv(env) {
		return "", ErrEnv
	}
	key := make([]byte, 0, len(issuedPrefix)+len(env)+1+randomLen+checkLen)
	key = append(key, issuedPrefix...)
	if env != "" {
		key = append(append(key, env...), '_')
	}
	for body := len(key); len(key) < body+randomLen; {
		var buf [32]byte
		if _, err := io.ReadFull(r, buf[:]); err != nil {
			return "", fmt.Errorf("make API key: %w", err)
		}
		for _, b := range buf {
			// 248 is the largest multiple of 62: above it some would be likelier.
			if b < 248 && len(key) < body+randomLen {
				key = append(key, base62[b%62])
			}
		}
	}
	return string(appendCheck(key, string(key))), nil
}

// Issued reports whether key claims to be one that Weir issues: it begins as
// those do. No other key may begin so, see Mistyped.
func Issued(key string) bool { return strings.HasPrefix(key, issuedPrefix) }

// Mistyped reports whether key claims to be one that Weir issues and is not:
// mistyped, cut off or made up. Nobody has such a key, so it need not be looked
// up, and none may be imported. About other keys, whatever their form, Mistyped
// says nothing: it is false.
func Mistyped(key string) bool {
	if !Issued(key) {
		return false
	}
	env, body, found := strings.Cut(key[len(issuedPrefix):], "_")
	if !found {
		env, body = "", env
	} else if !validEnv(env) {
		return true
	}
	if len(body) != randomLen+checkLen {
		return true
	}
	for i := range randomLen {
		if !alphanumeric(body[i]) {
			return true
		}
	}
	var check [checkLen]byte
	covered := key[:len(key)-checkLen]
	return string(appendCheck(check[:0], covered)) != key[len(covered):]
}

// appendCheck appends the checksum of s: its CRC-32 (IEEE) in base 62.
func appendCheck(dst []byte, s string) []byte {
	sum := ^uint32(0)
	for i := range len(s) { // crc32.ChecksumIEEE of a string allocates
		sum = crc32.IEEETable[byte(sum)^s[i]] ^ sum>>8
	}
	sum = ^sum
	for range checkLen {
		dst = append(dst, '0')
	}
	for i := len(dst) - 1; sum > 0; i-- {
		dst[i] = base62[sum%62]
		sum /= 62
	}
	return dst
}

func validEnv(s string) bool {
	if s == "" || len(s) > maxEnvLen {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

func alphanumeric(c byte) bool {
	return '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
}
