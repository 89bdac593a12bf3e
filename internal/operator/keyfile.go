package operator

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"weir/internal/identity"
	"weir/pkg/ddbstore"
)

// Bounds of a file of keys.
const (
	MaxImport    = 100_000 // keys
	maxKeyLine   = 4096    // bytes
	maxKeyErrors = 100     // that are told
	maxLabel     = 100     // bytes
)

// lastFourFrom is the length of the shortest key whose last four characters may be
// kept: of a shorter one they would give too much away.
const lastFourFrom = 16

// Format says what the lines of a file of keys hold.
type Format int

// The formats.
const (
	Unsaid Format = iota // keys, unless all look like hashes; then that is an error
	Plain                // API keys
	Hashed               // SHA-256 of API keys, in hex
)

// Imported is a key as it is to be stored. The key itself is forgotten.
type Imported struct {
	Line     int
	Hash     ddbstore.Hash
	LastFour string
	Label    string
}

// LineError is what is wrong with a line of a file of keys. It shows nothing of
// the line.
type LineError struct {
	File string
	Line int
	Err  error
}

// Error returns "file:line: what is wrong".
func (e *LineError) Error() string { return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err) }

// Unwrap returns e.Err.
func (e *LineError) Unwrap() error { return e.Err }

// ReadKeys reads a file of keys: one a line, and after it, if there is more, a
// label. Empty lines and those that begin with # are skipped. Errors are
// LineErrors, joined; none shows a key.
func ReadKeys(r io.Reader, name string, format Format) ([]Imported, error) {
	k := keyReader{name: name, format: format, lines: map[ddbstore.Hash]int{}}
	s := bufio.NewScanner(r)
	s.Buffer(nil, maxKeyLine)
	for s.Scan() && len(k.errs) < maxKeyErrors && len(k.keys) <= MaxImport {
		k.line++
		k.read(strings.TrimSpace(strings.TrimPrefix(s.Text(), "\ufeff")))
	}
	switch err := s.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		k.line++
		k.fail("longer than %d bytes: want a key and a label", maxKeyLine)
	case err != nil:
		return nil, fmt.Errorf("read keys: %w", err)
	case len(k.keys) > MaxImport:
		k.fail("more than %d keys: import them in parts", MaxImport)
	case len(k.keys) == 0 && len(k.errs) == 0:
		return nil, fmt.Errorf("%s has no keys: want one a line", name)
	case format == Unsaid && len(k.errs) == 0 && k.hashes == len(k.keys):
		return nil, fmt.Errorf("%s: every key looks like a SHA-256: say --hashed if that is what they are, --plain if they are the keys themselves", name)
	}
	if len(k.errs) > 0 {
		return nil, errors.Join(k.errs...)
	}
	return k.keys, nil
}

// keyReader collects the keys of a file and what is wrong with it.
type keyReader struct {
	name   string
	format Format
	line   int
	keys   []Imported
	hashes int // how many look like hashes
	lines  map[ddbstore.Hash]int
	errs   []error
}

func (k *keyReader) fail(format string, args ...any) {
	k.errs = append(k.errs, &LineError{k.name, k.line, fmt.Errorf(format, args...)})
}

func (k *keyReader) read(text string) {
	if text == "" || text[0] == '#' {
		return
	}
	key, label := text, ""
	if i := strings.IndexAny(text, " \t"); i > 0 {
		key, label = text[:i], strings.TrimSpace(text[i:])
	}
	in := Imported{Line: k.line, Label: label}
	sum, isHash := parseHash(key)
	if isHash {
		k.hashes++
	}
	switch {
	case CheckLabel(label) != nil:
		k.fail("%w", CheckLabel(label))
		return
	case k.format == Hashed && !isHash:
		k.fail("not a SHA-256: want 64 hex digits")
		return
	case k.format == Hashed:
		in.Hash = sum
	case !identity.ValidKey(key):
		k.fail("not a key: want 1 to %d visible ASCII characters", identity.MaxKeyLen)
		return
	case identity.Mistyped(key):
		k.fail("begins as the keys that Weir issues and has another checksum: it is mistyped or cut off, and would be refused")
		return
	default:
		in.Hash, in.LastFour = sha256.Sum256([]byte(key)), lastFour(key)
	}
	if first, twice := k.lines[in.Hash]; twice {
		k.fail("the same key as on line %d", first)
		return
	}
	k.lines[in.Hash] = k.line
	k.keys = append(k.keys, in)
}

// CheckLabel returns why a label cannot be one. It is to be read by people: short,
// and without control characters.
func CheckLabel(label string) error {
	if len(label) > maxLabel {
		return fmt.Errorf("a label of %d bytes: at most %d", len(label), maxLabel)
	}
	for _, r := range label {
		if r < ' ' || r == 0x7f || r == '\ufffd' {
			return errors.New("a label with control characters, or not in UTF-8")
		}
	}
	if HasKey(label) {
		return errors.New("a label with an API key in it: labels are no secrets")
	}
	return nil
}

// issuedKey is what keys that Weir issues look like: docs/keys.md.
var issuedKey = regexp.MustCompile(`weir_([a-z0-9]{1,16}_)?[0-9A-Za-z]{28}`)

// HasKey reports whether there is something in text that looks like a key that
// Weir issues.
func HasKey(text string) bool { return issuedKey.MatchString(text) }

// WithoutKeys returns text with everything that looks like such a key taken out.
func WithoutKeys(text string) string { return issuedKey.ReplaceAllString(text, "weir_***") }

// lastFour returns what may be kept of a key.
func lastFour(key string) string {
	if len(key) < lastFourFrom {
		return ""
	}
	return key[len(key)-4:]
}

func parseHash(s string) (h ddbstore.Hash, ok bool) {
	if len(s) != hex.EncodedLen(len(h)) {
		return h, false
	}
	n, err := hex.Decode(h[:], []byte(s))
	return h, err == nil && n == len(h)
}
