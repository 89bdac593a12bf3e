package operator

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"weir/internal/identity"
	"weir/pkg/ddbstore"
)

// KeyStatus says what becomes of requests with a key.
type KeyStatus string

// The statuses.
const (
	KeyActive  KeyStatus = "active"
	KeyRevoked KeyStatus = "revoked"
	KeyExpired KeyStatus = "expired"
)

// StatusOf returns the status of a key at a time, in ns since the Unix epoch.
func StatusOf(c ddbstore.Credential, now int64) KeyStatus {
	switch {
	case c.Status == ddbstore.CredentialRevoked:
		return KeyRevoked
	case c.Status == ddbstore.CredentialExpired, c.Expires != 0 && c.Expires <= now:
		return KeyExpired
	}
	return KeyActive
}

// KeyID returns what a key is called: the beginning of its hash, in hex.
func KeyID(c ddbstore.Credential) string { return hex.EncodeToString(c.Hash[:6]) }

// NewKey says what key to make.
type NewKey struct {
	Tenant  string
	Env     string // see identity.NewKey
	Label   string
	Expires int64 // ns since the Unix epoch; 0 is never
}

// make returns a new key, and what is to be stored of it.
func (k NewKey) make(random io.Reader, now int64) (string, ddbstore.Credential, error) {
	key, err := identity.NewKey(random, k.Env)
	if err != nil {
		return "", ddbstore.Credential{}, err
	}
	return key, ddbstore.Credential{
		Hash: sha256.Sum256([]byte(key)), Tenant: k.Tenant, Label: k.Label,
		Created: now, Expires: k.Expires, LastFour: lastFour(key), Status: ddbstore.CredentialActive,
	}, nil
}

// CreateKey makes a key and stores its hash. The key is returned and nowhere else.
func CreateKey(ctx context.Context, c *ddbstore.Config, ch ddbstore.Change, random io.Reader, k NewKey) (string, ddbstore.Credential, error) {
	key, cr, err := k.make(random, ch.At)
	if err != nil {
		return "", cr, err
	}
	written, err := Together[ddbstore.Credential](ctx, c, ch, cr)
	if err != nil {
		return "", cr, err
	}
	return key, written[0], nil
}

// RotateKey makes a key that replaces another, which ends grace later, or as soon
// as it would have anyway. Both are stored together or neither is.
func RotateKey(ctx context.Context, c *ddbstore.Config, ch ddbstore.Change, random io.Reader, old ddbstore.Credential, k NewKey, grace time.Duration) (key string, stored, ending ddbstore.Credential, err error) {
	key, cr, err := k.make(random, ch.At)
	if err != nil {
		return "", cr, old, err
	}
	if end := ch.At + int64(grace); old.Expires == 0 || old.Expires > end {
		old.Expires = end
	}
	written, err := Together[ddbstore.Credential](ctx, c, ch, cr, old)
	if err != nil {
		return "", cr, old, err
	}
	return key, written[0], written[1], nil
}

// KeySelector says which keys of a tenant are meant. One field is set.
type KeySelector struct {
	LastFour string
	Label    string
	Hash     string // its beginning, in hex, at least 4 digits
	All      bool
	Only     bool // the one that there is
}

// Check returns why s selects nothing.
func (s KeySelector) Check() error {
	n := 0
	for _, set := range []bool{s.LastFour != "", s.Label != "", s.Hash != "", s.All, s.Only} {
		if set {
			n++
		}
	}
	switch {
	case n == 0:
		return errors.New("which key? Say it with --last-four, --label-is, --id or --all; `weir key list` shows them")
	case n > 1:
		return errors.New("say which key in one way only: --last-four, --label-is, --id or --all")
	case s.LastFour != "" && len(s.LastFour) != 4:
		return errors.New("--last-four wants the last four characters of the key, and no more")
	case s.Hash != "" && (len(s.Hash) < 4 || strings.Trim(s.Hash, "0123456789abcdef") != ""):
		return errors.New("--id wants the first hex digits of the key's SHA-256, as `weir key list` shows them, at least four")
	}
	return nil
}

// Select returns the active keys that are meant, of those of one tenant. It is
// refused if none is, or if more than one is where one is named.
func (s KeySelector) Select(keys []ddbstore.Credential, now int64) ([]ddbstore.Credential, error) {
	var chosen []ddbstore.Credential
	for _, k := range keys {
		if StatusOf(k, now) == KeyActive && s.means(k) {
			chosen = append(chosen, k)
		}
	}
	switch {
	case len(chosen) == 0:
		return nil, fmt.Errorf("%w: no active key%s; `weir key list` shows all", ErrRefused, s.which())
	case len(chosen) > 1 && !s.All && s.Label == "":
		ids := make([]string, len(chosen))
		for i, k := range chosen {
			ids[i] = KeyID(k)
		}
		slices.Sort(ids)
		return nil, fmt.Errorf("%w: %d active keys%s; say which with --id: %s", ErrRefused, len(chosen), s.which(), strings.Join(ids, ", "))
	}
	return chosen, nil
}

func (s KeySelector) means(k ddbstore.Credential) bool {
	switch {
	case s.All, s.Only:
		return true
	case s.LastFour != "":
		return k.LastFour == s.LastFour
	case s.Label != "":
		return k.Label == s.Label
	}
	return strings.HasPrefix(hex.EncodeToString(k.Hash[:]), s.Hash)
}

func (s KeySelector) which() string {
	switch {
	case s.LastFour != "":
		return " that ends in " + s.LastFour
	case s.Label != "":
		return fmt.Sprintf(" with the label %q", s.Label)
	case s.Hash != "":
		return " whose hash begins with " + s.Hash
	}
	return ""
}
