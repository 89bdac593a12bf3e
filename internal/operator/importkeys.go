package operator

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"weir/internal/identity"
	"weir/pkg/ddbstore"
)

// DraftImport returns what is to be written to store keys of a file for a tenant,
// and how many are there already. A key that somebody else has, or that was ended,
// is an error that names the line: a key identifies one tenant, and one that was
// revoked stays so.
func DraftImport(ctx context.Context, c *ddbstore.Config, tenant, file string, keys []Imported, expires, now int64, progress func(looked, of int)) (puts []ddbstore.Put, already int, err error) {
	wrong, fresh := make([]error, len(keys)), make([]bool, len(keys))
	err = each(ctx, len(keys), progress, func(ctx context.Context, i int) error {
		is, err := c.Credential(ctx, keys[i].Hash)
		switch {
		case errors.Is(err, ddbstore.ErrNotFound):
			fresh[i] = true
		case err != nil:
			return err
		case is.Tenant != tenant:
			wrong[i] = &LineError{file, keys[i].Line, fmt.Errorf("tenant %s has this key: a key identifies one tenant", is.Tenant)}
		case StatusOf(is, now) != KeyActive:
			wrong[i] = &LineError{file, keys[i].Line, fmt.Errorf("this key is %s, and stays so", StatusOf(is, now))}
		}
		return nil
	})
	if err = errors.Join(append([]error{err}, wrong...)...); err != nil {
		return nil, 0, err
	}
	for i, k := range keys {
		if !fresh[i] {
			already++
			continue
		}
		puts = append(puts, ddbstore.Credential{
			Hash: k.Hash, Tenant: tenant, Label: k.Label, Created: now, Expires: expires,
			LastFour: k.LastFour, Status: ddbstore.CredentialActive,
		})
	}
	return puts, already, nil
}

// TenantExists returns nil if there is a tenant of that id.
func TenantExists(ctx context.Context, c *ddbstore.Config, id string) error {
	_, err := c.Tenant(ctx, id)
	if errors.Is(err, ddbstore.ErrNotFound) {
		return fmt.Errorf("there is no tenant %q; make it with `weir tenant create`", id)
	}
	return err
}

// CheckEnv returns why a key cannot name an environment.
func CheckEnv(env string) error {
	_, err := identity.NewKey(bytes.NewReader(make([]byte, 64)), env)
	return err
}
