package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"weir/internal/operator"
	"weir/pkg/ddbstore"
)

func newKey() *cobra.Command {
	var o operation
	cmd := group("key", "Create, import, rotate and revoke API keys",
		`A key identifies a tenant. It is printed once, when it is made; what is stored is
its SHA-256 and its last four characters, to tell keys apart. Who loses a key
gets another: weir key rotate.`,
		`  weir key create acme --label "build server" --expires 90d
  weir key list acme
  weir key rotate acme --last-four 7Hq2 --grace 24h
  weir key revoke acme --last-four 7Hq2 --reason "leaked"`,
		newKeyCreate(&o), newKeyImport(&o), newKeyList(&o), newKeyRotate(&o), newKeyRevoke(&o))
	o.addTo(cmd)
	return cmd
}

// keyFlags say what a new key is to be.
type keyFlags struct {
	label   string
	expires string
	env     string
}

func (f *keyFlags) addTo(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.label, "label", "", "`TEXT` to know the key by")
	fl.StringVar(&f.expires, "expires", "", "when it ends: `WHEN` is a span such as 90d, or a time in RFC 3339; default never")
	fl.StringVar(&f.env, "env", "", "`ENVIRONMENT` that the key names, such as live or test: up to 16 of a-z and 0-9")
}

// parse returns the key to make for a tenant.
func (f *keyFlags) parse(tenant string, now int64) (operator.NewKey, error) {
	k := operator.NewKey{Tenant: tenant, Env: f.env, Label: f.label}
	if err := operator.CheckLabel(f.label); err != nil {
		return k, fmt.Errorf("--label: %w", err)
	}
	if err := operator.CheckEnv(f.env); err != nil {
		return k, fmt.Errorf("--env %q: want up to 16 of a-z and 0-9, such as live or test", f.env)
	}
	var err error
	k.Expires, err = parseExpiry(f.expires, now)
	return k, err
}

// parseExpiry parses a span from now on, or a time; "" is never.
func parseExpiry(s string, now int64) (int64, error) {
	if s == "" {
		return 0, nil
	}
	if d, err := operator.ParseSpan(s); err == nil {
		return now + int64(d), nil
	}
	at, err := operator.ParseWhen(s, now)
	if err != nil {
		return 0, fmt.Errorf("--expires %q: want a span such as 90d, or a time to come such as 2027-01-31T00:00:00Z", s)
	}
	return at, nil
}

// keyJSON is a key in results. Only create and rotate have the key itself, once.
type keyJSON struct {
	Tenant   string           `json:"tenant"`
	Key      string           `json:"key,omitempty"`
	ID       string           `json:"id"` // the beginning of its SHA-256
	LastFour string           `json:"lastFour"`
	Label    string           `json:"label"`
	Status   string           `json:"status"`
	Created  operator.Instant `json:"created"`
	Expires  operator.Instant `json:"expires"` // null is never
	Version  int64            `json:"version"`
	By       string           `json:"by"`
}

func keyResult(c ddbstore.Credential, now int64) keyJSON {
	return keyJSON{
		Tenant: c.Tenant, ID: operator.KeyID(c), LastFour: c.LastFour, Label: c.Label, Status: string(operator.StatusOf(c, now)),
		Created: operator.Instant(c.Created), Expires: operator.Instant(c.Expires), Version: c.Version, By: c.Change.Author,
	}
}

func newKeyCreate(o *operation) *cobra.Command {
	var (
		f changing
		k keyFlags
	)
	cmd := &cobra.Command{
		Use:   "create TENANT",
		Short: "Make a key for a tenant and print it, once",
		Long: `Make a key for a tenant. The key is the only thing on standard output, and is
never to be had again: Weir keeps its SHA-256. It works as soon as it is printed;
a process that was asked for it before takes up to ten seconds more.`,
		Example: `  weir key create acme --label "build server" --expires 90d
  weir key create acme --env live > key.txt`,
		Args:              takes(1, 1, "the id of a tenant"),
		ValidArgsFunction: o.complete(1, tenantIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkTenantID(args[0]); err != nil {
				return err
			}
			key, err := k.parse(args[0], time.Now().UnixNano())
			if err != nil {
				return err
			}
			return o.run(cmd, func(ctx context.Context, s *session) error { return s.keyCreate(ctx, key, f) })
		},
	}
	f.addTo(cmd.Flags())
	k.addTo(cmd)
	return cmd
}

func (s *session) keyCreate(ctx context.Context, k operator.NewKey, f changing) error {
	c, err := s.home(ctx)
	if err != nil {
		return err
	}
	if err := operator.TenantExists(ctx, c, k.Tenant); err != nil {
		return err
	}
	ch, err := s.change(ctx, f, "key create")
	if err != nil {
		return err
	}
	key, stored, err := operator.CreateKey(ctx, c, ch, rand.Reader, k)
	if err != nil {
		return err
	}
	return s.newKeyResult(key, stored)
}

// newKeyResult prints a key that was just made.
func (s *session) newKeyResult(key string, stored ddbstore.Credential) error {
	s.note("This is the key of tenant %s%s. It is not shown again:", stored.Tenant, aboutKey(stored))
	j := keyResult(stored, s.now())
	j.Key = key
	err := s.result(j)
	if !s.json {
		_, err = fmt.Fprintln(s.out, key)
	}
	if err != nil {
		return fmt.Errorf("the key is made and could not be printed (%w), so nobody has it: end it with `weir key revoke %s --id %s`", err, stored.Tenant, operator.KeyID(stored))
	}
	return nil
}

func aboutKey(c ddbstore.Credential) string {
	text := ""
	if c.Label != "" {
		text += fmt.Sprintf(", %q", c.Label)
	}
	if c.Expires != 0 {
		text += ", until " + operator.TimeText(c.Expires)
	}
	return text
}

func newKeyList(o *operation) *cobra.Command {
	return &cobra.Command{
		Use:               "list TENANT",
		Short:             "List a tenant's keys: what they are called, never the keys",
		Long:              `List the keys of a tenant: id, last four characters, label, status and dates.`,
		Example:           `  weir key list acme`,
		Args:              takes(1, 1, "the id of a tenant"),
		ValidArgsFunction: o.complete(1, tenantIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkTenantID(args[0]); err != nil {
				return err
			}
			return o.run(cmd, func(ctx context.Context, s *session) error { return s.keyList(ctx, args[0]) })
		},
	}
}

// keyListJSON is the result of weir key list.
type keyListJSON struct {
	Tenant string    `json:"tenant"`
	Keys   []keyJSON `json:"keys"`
}

func (s *session) keyList(ctx context.Context, tenant string) error {
	c := s.config()
	keys, err := c.CredentialsOf(ctx, tenant)
	if err != nil {
		return err
	}
	if len(keys) == 0 {
		if err := operator.TenantExists(ctx, c, tenant); err != nil {
			return err
		}
		s.printf("Tenant %s has no keys: make one with `weir key create %s`.\n", tenant, tenant)
	}
	out := keyListJSON{tenant, []keyJSON{}}
	slices.SortFunc(keys, func(a, b ddbstore.Credential) int {
		return cmp.Or(cmp.Compare(a.Created, b.Created), cmp.Compare(hex.EncodeToString(a.Hash[:]), hex.EncodeToString(b.Hash[:])))
	})
	rows := [][]string{{"ID", "ENDS IN", "STATUS", "CREATED", "EXPIRES", "LABEL"}}
	for _, k := range keys {
		j := keyResult(k, s.now())
		out.Keys = append(out.Keys, j)
		rows = append(rows, []string{j.ID, orElse(j.LastFour, "-"), j.Status, j.Created.String(), j.Expires.String(), j.Label})
	}
	if len(keys) > 0 {
		s.table(rows)
	}
	return s.result(out)
}

// selecting are the flags that say which of a tenant's keys is meant.
type selecting struct{ operator.KeySelector }

func (f *selecting) addTo(cmd *cobra.Command, all bool) {
	fl := cmd.Flags()
	fl.StringVar(&f.LastFour, "last-four", "", "the key that ends in these four `CHARACTERS`")
	fl.StringVar(&f.Label, "label-is", "", "the keys with this `LABEL`")
	fl.StringVar(&f.Hash, "id", "", "the key whose `ID`, as weir key list shows it, begins so")
	if all {
		fl.BoolVar(&f.All, "all", false, "all keys of the tenant")
	}
}

func newKeyRotate(o *operation) *cobra.Command {
	var (
		f     changing
		k     keyFlags
		which selecting
		grace string
	)
	cmd := &cobra.Command{
		Use:   "rotate TENANT",
		Short: "Make a key that replaces another, which goes on for a while",
		Long: `Make a new key for a tenant and let the old one end --grace later. Both happen or
neither. The new key is the only thing on standard output; it has the label of the
old one unless you say another. If the tenant has one active key, it is that.`,
		Example: `  weir key rotate acme
  weir key rotate acme --last-four 7Hq2 --grace 24h`,
		Args:              takes(1, 1, "the id of a tenant"),
		ValidArgsFunction: o.complete(1, tenantIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkTenantID(args[0]); err != nil {
				return err
			}
			key, err := k.parse(args[0], time.Now().UnixNano())
			if err != nil {
				return err
			}
			wait, err := parseGrace(grace)
			if err != nil {
				return err
			}
			sel := which.KeySelector
			if sel == (operator.KeySelector{}) {
				sel.Only = true
			}
			if err := sel.Check(); err != nil {
				return err
			}
			return o.run(cmd, func(ctx context.Context, s *session) error { return s.keyRotate(ctx, key, sel, wait, f) })
		},
	}
	f.addTo(cmd.Flags())
	k.addTo(cmd)
	which.addTo(cmd, false)
	cmd.Flags().StringVar(&grace, "grace", "24h", "how `LONG` the old key goes on; 0s ends it at once")
	return cmd
}

func parseGrace(s string) (time.Duration, error) {
	if s == "0" || s == "0s" {
		return 0, nil
	}
	d, err := operator.ParseSpan(s)
	if err != nil {
		return 0, fmt.Errorf("--grace %w", err)
	}
	return d, nil
}

func (s *session) keyRotate(ctx context.Context, k operator.NewKey, which operator.KeySelector, grace time.Duration, f changing) error {
	c, err := s.home(ctx)
	if err != nil {
		return err
	}
	old, err := s.selectKeys(ctx, c, k.Tenant, which)
	if err != nil {
		return err
	}
	if len(old) > 1 {
		return refusal{fmt.Errorf("%s have this label: say which with --id", count(len(old), "active key"))}
	}
	ch, err := s.change(ctx, f, "key rotate")
	if err != nil {
		return err
	}
	k.Label = orElse(k.Label, old[0].Label)
	key, stored, ending, err := operator.RotateKey(ctx, c, ch, rand.Reader, old[0], k, grace)
	if err != nil {
		return err
	}
	s.note("The old key, %s%s, goes on until %s.", operator.KeyID(ending), endsIn(ending), operator.TimeText(ending.Expires))
	return s.newKeyResult(key, stored)
}

func endsIn(c ddbstore.Credential) string {
	if c.LastFour == "" {
		return ""
	}
	return ", which ends in " + c.LastFour
}

func (s *session) selectKeys(ctx context.Context, c *ddbstore.Config, tenant string, which operator.KeySelector) ([]ddbstore.Credential, error) {
	keys, err := c.CredentialsOf(ctx, tenant)
	if err == nil && len(keys) == 0 {
		err = operator.TenantExists(ctx, c, tenant)
	}
	if err != nil {
		return nil, err
	}
	return which.Select(keys, s.now())
}

func newKeyRevoke(o *operation) *cobra.Command {
	var (
		f     changing
		which selecting
	)
	cmd := &cobra.Command{
		Use:   "revoke TENANT",
		Short: "End keys of a tenant at once, for good",
		Long: `End keys of a tenant: requests with them get 401 within seconds, in every Region.
A key that is revoked stays so. For more than one it asks first.`,
		Example: `  weir key revoke acme --last-four 7Hq2 --reason "leaked"
  weir key revoke acme --all --yes`,
		Args:              takes(1, 1, "the id of a tenant"),
		ValidArgsFunction: o.complete(1, tenantIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := errors.Join(checkTenantID(args[0]), which.Check()); err != nil {
				return err
			}
			return o.run(cmd, func(ctx context.Context, s *session) error { return s.keyRevoke(ctx, args[0], which.KeySelector, f) })
		},
	}
	f.addTo(cmd.Flags())
	which.addTo(cmd, true)
	return cmd
}

func (s *session) keyRevoke(ctx context.Context, tenant string, which operator.KeySelector, f changing) error {
	c, err := s.home(ctx)
	if err != nil {
		return err
	}
	keys, err := s.selectKeys(ctx, c, tenant, which)
	if err != nil {
		return err
	}
	if len(keys) > 1 && !f.yes {
		for _, k := range keys {
			s.note("  %s  %s  %s", operator.KeyID(k), orElse(k.LastFour, "-"), k.Label)
		}
		if err := s.confirm(ctx, fmt.Sprintf("Revoke these %s of tenant %s?", count(len(keys), "key"), tenant)); err != nil {
			return err
		}
	}
	ch, err := s.change(ctx, f, "key revoke")
	if err != nil {
		return err
	}
	puts := make([]ddbstore.Put, len(keys))
	for i, k := range keys {
		k.Status = ddbstore.CredentialRevoked
		puts[i] = k
	}
	written, left, err := operator.Bulk{Config: c, Change: ch, Now: s.now}.Write(ctx, puts)
	return s.keysWritten(keysJSON{Tenant: tenant}, "revoked", written, left, err)
}

// keysJSON is the result of weir key revoke and import.
type keysJSON struct {
	Tenant  string          `json:"tenant"`
	Keys    []keyJSON       `json:"keys"` // that were written
	Already int             `json:"already"`
	Left    []operator.Left `json:"left"`
}

// keysWritten completes a result by what became of keys that were written, and
// prints it.
func (s *session) keysWritten(out keysJSON, what string, written []ddbstore.Put, left []operator.Left, err error) error {
	out.Keys, out.Left = []keyJSON{}, append([]operator.Left{}, left...)
	for _, p := range written {
		out.Keys = append(out.Keys, keyResult(p.(ddbstore.Credential), s.now()))
	}
	s.printf("%s of tenant %s %s\n", count(len(written), "key"), out.Tenant, what)
	if err == nil && len(left) > 0 {
		err = refusal{fmt.Errorf("%s changed by somebody else meanwhile, and left alone: run the command again", count(len(left), "key"))}
	}
	return errors.Join(err, s.result(out))
}
