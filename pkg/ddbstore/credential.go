package ddbstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// Hash is the SHA-256 of a credential. Nothing else of a credential is stored
// but its last characters, to tell people's keys apart.
type Hash = [sha256.Size]byte

// Credential is what is stored of a credential. One that is revoked expires.
type Credential struct {
	Hash     Hash
	Tenant   string // id of the tenant that has it
	Label    string
	Created  int64  // ns since the Unix epoch
	Expires  int64  // ns since the Unix epoch; 0 is never
	LastFour string // the last characters, at most four
	Version  int64
	Change   Change // that led to this version
}

const (
	attrTenant   = "tenant"
	attrLabel    = "label"
	attrCreated  = "created"
	attrExpires  = "expires"
	attrLastFour = "last4"
)

func credentialKey(h Hash) string { return "CRED#" + hex.EncodeToString(h[:]) }

// Credential returns what is stored of the credential with the hash, expired or
// not. It costs half a read unit.
func (c *Config) Credential(ctx context.Context, h Hash) (Credential, error) {
	it, err := c.get(ctx, credentialKey(h))
	if err != nil {
		return Credential{}, fmt.Errorf("read credential: %w", err)
	}
	d := decoder{it: it}
	cr := Credential{
		Hash:     h,
		Tenant:   d.text(attrTenant),
		Label:    d.text(attrLabel),
		Created:  d.number(attrCreated),
		Expires:  d.number(attrExpires),
		LastFour: d.text(attrLastFour),
	}
	cr.Version, cr.Change = d.change()
	if d.err != nil {
		return Credential{}, fmt.Errorf("read credential: %w", d.err)
	}
	return cr, nil
}

// PutCredential makes cr the version after cr.Version and returns it.
func (c *Config) PutCredential(ctx context.Context, cr Credential, ch Change) (Credential, error) {
	switch {
	case cr.Hash == Hash{}:
		return Credential{}, fmt.Errorf("write credential: it needs a hash")
	case cr.Tenant == "":
		return Credential{}, fmt.Errorf("write credential: it needs a tenant")
	case len(cr.LastFour) > 4:
		return Credential{}, fmt.Errorf("write credential: %d of its characters are too many to keep: at most four", len(cr.LastFour))
	}
	version, err := c.put(ctx, credentialKey(cr.Hash), item{
		attrTenant:   text(cr.Tenant),
		attrLabel:    text(cr.Label),
		attrCreated:  num(cr.Created),
		attrExpires:  num(cr.Expires),
		attrLastFour: text(cr.LastFour),
	}, cr.Version, ch)
	if err != nil {
		return Credential{}, fmt.Errorf("write credential: %w", err)
	}
	cr.Version, cr.Change = version, ch
	return cr, nil
}
