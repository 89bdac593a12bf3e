package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"weir/internal/operator"
)

func newKeyImport(o *operation) *cobra.Command {
	var (
		f             changing
		plain, hashed bool
		label         string
		expires       string
	)
	cmd := &cobra.Command{
		Use:   "import TENANT FILE",
		Short: "Take over keys that a tenant has already",
		Long: `Store the SHA-256 of keys that a tenant has already. The file has one key a line
and after it, if there is more, a label; - is standard input. With --hashed the
lines have the SHA-256 of keys, in hex, and the keys need not be seen here.

Nothing is stored if any line is wrong. A key that begins as those of Weir does
and is mistyped is refused: requests with it would be, too. No key is printed.`,
		Example: `  weir key import acme keys.txt --label "from the old gateway"
  sha256sum-of-keys | weir key import acme - --hashed`,
		Args:              takes(2, 2, "the id of a tenant and a file of keys"),
		ValidArgsFunction: o.complete(1, tenantIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkTenantID(args[0]); err != nil {
				return err
			}
			format := operator.Unsaid
			switch {
			case plain && hashed:
				return errors.New("--plain or --hashed, not both")
			case plain:
				format = operator.Plain
			case hashed:
				format = operator.Hashed
			}
			if err := operator.CheckLabel(label); err != nil {
				return fmt.Errorf("--label: %w", err)
			}
			ends, err := parseExpiry(expires, time.Now().UnixNano())
			if err != nil {
				return err
			}
			file, name, err := openFile(cmd, args[1], "keys")
			if err != nil {
				return err
			}
			keys, err := operator.ReadKeys(file, name, format)
			_ = file.Close()
			if err != nil {
				return err
			}
			for i := range keys {
				keys[i].Label = orElse(keys[i].Label, label)
			}
			return o.run(cmd, func(ctx context.Context, s *session) error {
				return s.keyImport(ctx, args[0], name, keys, ends, f)
			})
		},
	}
	f.addTo(cmd.Flags())
	fl := cmd.Flags()
	fl.BoolVar(&plain, "plain", false, "the lines are keys, whatever they look like")
	fl.BoolVar(&hashed, "hashed", false, "the lines are the SHA-256 of keys, in hex")
	fl.StringVar(&label, "label", "", "`TEXT` to know those by that have no label of their own")
	fl.StringVar(&expires, "expires", "", "when they end: `WHEN` is a span such as 90d, or a time in RFC 3339; default never")
	return cmd
}

func (s *session) keyImport(ctx context.Context, tenant, name string, keys []operator.Imported, expires int64, f changing) error {
	c, err := s.home(ctx)
	if err != nil {
		return err
	}
	if err := operator.TenantExists(ctx, c, tenant); err != nil {
		return err
	}
	line := s.progress()
	puts, already, err := operator.DraftImport(ctx, c, tenant, name, keys, expires, s.now(), func(looked, of int) {
		line.show("looked at %s of %s", thousands(looked), count(of, "key"))
	})
	line.end()
	if err != nil {
		return err
	}
	if already > 0 {
		s.note("%s there already, and skipped.", count(already, "key"))
	}
	if len(puts) == 0 {
		return s.result(keysJSON{Tenant: tenant, Keys: []keyJSON{}, Already: already, Left: []operator.Left{}})
	}
	ch, err := s.change(ctx, f, "key import")
	if err != nil {
		return err
	}
	bulk := operator.Bulk{Config: c, Change: ch, Now: s.now, Progress: func(done, of int) {
		line.show("%s of %s", thousands(done), count(of, "key"))
	}}
	written, left, err := bulk.Write(ctx, puts)
	line.end()
	var stopped *operator.InterruptedError
	if errors.As(err, &stopped) {
		err = interruption{fmt.Errorf("%w: run the same command again for the rest, it skips those that are there", err)}
	}
	return s.keysWritten(keysJSON{Tenant: tenant, Already: already}, "imported", written, left, err)
}
