package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"strings"
	"time"
	"unicode"

	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/spf13/pflag"

	"weir/internal/operator"
	"weir/pkg/ddbstore"
)

// changing are the flags of every command that changes the configuration.
type changing struct {
	author string
	reason string
	yes    bool
}

func (c *changing) addTo(fl *pflag.FlagSet) {
	fl.StringVar(&c.author, "author", os.Getenv("WEIR_AUTHOR"), "`WHO` makes the change; default the name of your AWS identity, else of your user; env WEIR_AUTHOR")
	fl.StringVar(&c.reason, "reason", "", "`WHY`; asked for on a terminal, else what the command is")
	fl.BoolVarP(&c.yes, "yes", "y", false, "do not ask")
}

// Bounds of what is written with a change, in bytes.
const (
	maxAuthor = 200
	maxReason = 1000
)

// change returns who makes a change, why and when. unsaid is the reason if there
// is none.
func (s *session) change(ctx context.Context, f changing, unsaid string) (ddbstore.Change, error) {
	ch := ddbstore.Change{Author: f.author, Reason: f.reason, At: s.now()}
	if ch.Author == "" {
		ch.Author = s.author(ctx)
	}
	if ch.Author == "" {
		return ch, errors.New("who makes the change? Say it with --author or WEIR_AUTHOR")
	}
	if ch.Reason == "" && !f.yes && s.interactive {
		var err error
		if ch.Reason, err = s.ask(ctx, "Reason (for the history): "); err != nil {
			return ch, err
		}
	}
	ch.Reason = orElse(ch.Reason, unsaid)
	if err := printable("author", ch.Author, maxAuthor); err != nil {
		return ch, err
	}
	return ch, printable("reason", ch.Reason, maxReason)
}

// printable refuses text that would not be one line of a history.
func printable(what, text string, most int) error {
	switch {
	case len(text) > most:
		return fmt.Errorf("the %s is %d bytes long: at most %d", what, len(text), most)
	case strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }):
		return fmt.Errorf("the %s has characters that cannot be printed: want one line of text", what)
	case operator.HasKey(text):
		return fmt.Errorf("the %s has an API key in it, and is kept for good: name the key by its last four characters", what)
	}
	return nil
}

// authorTimeout is for asking AWS who the caller is.
const authorTimeout = 3 * time.Second

// author returns the name of the caller's AWS identity, or of the user of this
// machine where there is none or it cannot be told; "" if nothing can.
func (s *session) author(ctx context.Context) string {
	if s.aws.BaseEndpoint == nil { // with one there may be no STS, or another
		ctx, cancel := context.WithTimeout(ctx, authorTimeout)
		defer cancel()
		out, err := sts.NewFromConfig(s.aws).GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
		if err == nil && out.Arn != nil {
			return nameOf(*out.Arn)
		}
	}
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return os.Getenv("USER")
}

// nameOf returns the part of an identity's ARN that names a person: the user, or
// of an assumed role the session, with the role.
func nameOf(arn string) string {
	_, name, ok := strings.Cut(arn, ":user/")
	if ok {
		return name[strings.LastIndexByte(name, '/')+1:]
	}
	if _, name, ok = strings.Cut(arn, ":assumed-role/"); ok {
		if role, session, ok := strings.Cut(name, "/"); ok {
			return session + " (" + role + ")"
		}
	}
	return arn[strings.LastIndexByte(arn, ':')+1:]
}
