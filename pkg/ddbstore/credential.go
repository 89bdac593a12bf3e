package ddbstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
)

// Hash is the SHA-256 of a credential. Nothing else of a credential is stored
// but its last characters, to tell people's keys apart.
type Hash = [sha256.Size]byte

// Credential is what is stored of a credential.
type Credential struct {
	Hash     Hash
	Tenant   string // id of the tenant that has it
	Label    string
	Created  int64  // ns since the Unix epoch
	Expires  int64  // ns since the Unix epoch; 0 is never
	LastFour string // the last characters, at most four
	Status   CredentialStatus
	Version  int64  // 1, 2, 3 ...
	Stamp    int64  // see Config.Write; 0 if written before there were stamps
	Change   Change // that led to this version
}

// CredentialStatus says whether a credential is good. One that is active is so
// until Credential.Expires.
type CredentialStatus string

// The statuses of credentials. When written, "" is CredentialActive.
const (
	CredentialActive  CredentialStatus = "active"
	CredentialRevoked CredentialStatus = "revoked"
	CredentialExpired CredentialStatus = "expired"
)

const (
	attrTenant   = "tenant"
	attrLabel    = "label"
	attrCreated  = "created"
	attrExpires  = "expires"
	attrLastFour = "last4"
)

// Credential returns what is stored of the credential with the hash, good or
// not. It costs half a read unit.
func (c *Config) Credential(ctx context.Context, h Hash) (Credential, error) {
	it, err := c.get(ctx, credentialKey(h), current)
	if err != nil {
		return Credential{}, fmt.Errorf("read credential: %w", err)
	}
	return credentialOf(h, it)
}

// PutCredential makes cr the version after cr.Version and returns it: Write of
// one credential.
func (c *Config) PutCredential(ctx context.Context, cr Credential, ch Change) (Credential, error) {
	if cr.Status == "" {
		cr.Status = CredentialActive
	}
	return putOne(ctx, c, ch, cr)
}

func credentialOf(h Hash, it item) (Credential, error) {
	d := decoder{it: it}
	cr := Credential{
		Hash:     h,
		Tenant:   d.text(attrTenant),
		Label:    d.text(attrLabel),
		Created:  d.number(attrCreated),
		Expires:  d.number(attrExpires),
		LastFour: d.text(attrLastFour),
		Status:   CredentialStatus(d.text(attrStatus)),
		Version:  d.number(attrVersion),
		Stamp:    d.number(attrStamp),
		Change:   d.change(),
	}
	if cr.Status == "" {
		cr.Status = CredentialActive
	}
	if d.err != nil {
		return Credential{}, fmt.Errorf("read credential: %w", d.err)
	}
	return cr, nil
}

func (cr Credential) subject() subject {
	return subject{KindCredential, hex.EncodeToString(cr.Hash[:])}
}

func (cr Credential) base() int64 { return cr.Version }

func (cr Credential) check() error {
	if cr.Hash == (Hash{}) {
		return errors.New("it needs a hash")
	}
	if err := checkID("a tenant", cr.Tenant); err != nil {
		return err
	}
	if len(cr.LastFour) > 4 {
		return fmt.Errorf("%d of its characters are too many to keep: at most four", len(cr.LastFour))
	}
	switch cr.Status {
	case "", CredentialActive, CredentialRevoked, CredentialExpired:
		return nil
	}
	return fmt.Errorf("status %q: want %q, %q or %q", cr.Status, CredentialActive, CredentialRevoked, CredentialExpired)
}

func (cr Credential) item() item {
	it := item{
		attrTenant:   text(cr.Tenant),
		attrLabel:    text(cr.Label),
		attrCreated:  num(cr.Created),
		attrExpires:  num(cr.Expires),
		attrLastFour: text(cr.LastFour),
	}
	if cr.Status != CredentialActive {
		optional(it, attrStatus, string(cr.Status))
	}
	return it
}

// listed: a credential is, with all that is known of it, in the list of its
// tenant.
func (cr Credential) listed(was item) (put []place, remove []place) {
	d := decoder{it: was}
	put = []place{{pk: tenantKey(cr.Tenant), sk: ownedKey(cr.Hash), copied: true}}
	if tenant := d.text(attrTenant); tenant != "" && tenant != cr.Tenant {
		remove = append(remove, place{pk: tenantKey(tenant), sk: ownedKey(cr.Hash)})
	}
	return put, remove
}

func (cr Credential) written(version, stamp int64, ch Change) Put {
	cr.Version, cr.Stamp, cr.Change = version, stamp, ch
	if cr.Status == "" {
		cr.Status = CredentialActive
	}
	return cr
}
