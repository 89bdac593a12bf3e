package ddbstore

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
)

// Page is a part of a list, in the order of the bytes of its ids.
type Page struct {
	IDs  []string
	Next string // pass it as after for the next page; "" at the end
}

// Plans returns the names of all plans. What was written before there were lists
// is missing from this and the others until it is written again.
func (c *Config) Plans(ctx context.Context) ([]string, error) {
	p, err := c.page(ctx, plansKey, "", "", math.MaxInt)
	if err != nil {
		return nil, fmt.Errorf("list plans: %w", err)
	}
	return p.IDs, nil
}

// Tenants returns tenants after the given id, at most so many.
func (c *Config) Tenants(ctx context.Context, after string, most int) (Page, error) {
	p, err := c.page(ctx, tenantsKey, "", after, most)
	if err != nil {
		return Page{}, fmt.Errorf("list tenants: %w", err)
	}
	return p, nil
}

// TenantsOn returns the tenants on a plan after the given id, at most so many.
func (c *Config) TenantsOn(ctx context.Context, plan, after string, most int) (Page, error) {
	p, err := c.page(ctx, planKey(plan), memberPrefix, after, most)
	if err != nil {
		return Page{}, fmt.Errorf("list tenants on plan %q: %w", plan, err)
	}
	return p, nil
}

// page lists the sort keys of pk that begin with prefix, without it.
func (c *Config) page(ctx context.Context, pk, prefix, after string, most int) (Page, error) {
	if err := checkMost(most); err != nil {
		return Page{}, err
	}
	s := span{pk: pk, prefix: prefix}
	if after != "" {
		s.after = prefix + after
	}
	items, next, err := c.query(ctx, s, most)
	if err != nil {
		return Page{}, err
	}
	p := Page{IDs: make([]string, len(items)), Next: strings.TrimPrefix(next, prefix)}
	for i, it := range items {
		d := decoder{it: it}
		p.IDs[i] = d.suffix(sortKey, prefix)
		if d.err != nil {
			return Page{}, d.err
		}
	}
	return p, nil
}

// CredentialsOf returns the credentials of a tenant, good or not, in no order
// that means anything. It costs half a read unit per 4 KB of them (about 15).
func (c *Config) CredentialsOf(ctx context.Context, tenant string) ([]Credential, error) {
	items, _, err := c.query(ctx, span{pk: tenantKey(tenant), prefix: ownedPrefix}, math.MaxInt)
	if err != nil {
		return nil, fmt.Errorf("list credentials of tenant %q: %w", tenant, err)
	}
	creds := make([]Credential, len(items))
	for i, it := range items {
		d := decoder{it: it}
		h, ok := ownedHash(d.text(sortKey))
		if !ok {
			d.fail(sortKey, it[sortKey])
		}
		cr, err := credentialOf(h, it)
		if err = errors.Join(d.err, err); err != nil {
			return nil, fmt.Errorf("list credentials of tenant %q: %w", tenant, err)
		}
		creds[i] = cr
	}
	return creds, nil
}
