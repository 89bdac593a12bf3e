package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"weir/internal/identity"
	"weir/pkg/ddbstore"
)

// keySite has tenants acme and hooli.
func keySite(t *testing.T) *site {
	t.Helper()
	s := newSite(t)
	s.apply(twoPlans)
	s.ok("tenant", "create", "acme", "--plan", "pro")
	s.ok("tenant", "create", "hooli", "--plan", "pro")
	return s
}

// create makes a key by the command and returns it.
func (s *site) create(args ...string) string {
	s.Helper()
	out := s.ok(append([]string{"key"}, args...)...)
	key := strings.TrimSuffix(out, "\n")
	if identity.Mistyped(key) || !identity.Issued(key) {
		s.Fatalf("standard output is %q, want the key and nothing else", out)
	}
	return key
}

// credential returns what is stored of a key.
func (s *site) credential(key string) ddbstore.Credential {
	s.Helper()
	c, err := s.config.Credential(s.Context(), sha256.Sum256([]byte(key)))
	if err != nil {
		s.Fatal(err)
	}
	return c
}

func TestKeyLifecycle(t *testing.T) {
	s := keySite(t)
	first := s.create("create", "acme", "--label", "build server", "--expires", "90d", "--env", "live")
	if !strings.HasPrefix(first, "weir_live_") {
		t.Errorf("%s is not of live", first[:10])
	}
	c := s.credential(first)
	if days := time.Duration(c.Expires-c.Created).Hours() / 24; days < 89.9 || days > 90.1 || c.Tenant != "acme" || c.Label != "build server" ||
		c.LastFour != first[len(first)-4:] || c.Change.Author != "ada" || c.Status != ddbstore.CredentialActive {
		t.Errorf("%+v, %v days", c, days)
	}
	contains(t, s.ok("key", "list", "acme"), first[len(first)-4:], "active", "build server")

	second := s.create("rotate", "acme", "--grace", "2h")
	old, new := s.credential(first), s.credential(second)
	if in := time.Duration(old.Expires - new.Created); in < time.Hour || in > 3*time.Hour || new.Label != "build server" || new.Expires != 0 || old.Stamp != new.Stamp {
		t.Errorf("the old one ends in %v: %+v\nnew: %+v", in, old, new)
	}
	s.fails(2, "2 active keys; say which with --id", "key", "rotate", "acme")
	third := s.create("rotate", "acme", "--last-four", second[len(second)-4:], "--grace", "0s", "--label", "laptop")
	contains(t, s.ok("key", "list", "acme"), "expired", "laptop")

	contains(t, s.ok("key", "revoke", "acme", "--label-is", "laptop", "--reason", "leaked"), "1 key of tenant acme revoked")
	if c := s.credential(third); c.Status != ddbstore.CredentialRevoked || c.Change.Reason != "leaked" {
		t.Errorf("%+v", c)
	}
	s.fails(2, "no active key", "key", "revoke", "acme", "--label-is", "laptop")
	id := hex.EncodeToString(c.Hash[:])
	s.ok("key", "revoke", "acme", "--id", id[:8])
	contains(t, s.ok("key", "list", "acme"), id[:12]+"  "+c.LastFour+"     revoked")

	for range 3 {
		s.create("create", "hooli")
	}
	s.failed(s.weir("n\n", "key", "revoke", "hooli", "--all"), 2, "nothing was changed", "revoke")
	contains(t, s.ok("key", "revoke", "hooli", "--all", "--yes"), "3 keys of tenant hooli revoked")
	s.once(first, second, third)
}

// once fails the test unless each key was printed once, and is nowhere in the
// config table.
func (s *site) once(keys ...string) {
	s.Helper()
	for _, key := range keys {
		if n := strings.Count(s.seen.String(), key); n != 1 {
			s.Errorf("a key was printed %d times, want once", n)
		}
	}
	s.absent(keys...)
}

// absent fails the test if the config table has any of the keys.
func (s *site) absent(keys ...string) {
	s.Helper()
	out, err := s.client.Scan(s.Context(), &dynamodb.ScanInput{TableName: &s.tables.config, ConsistentRead: aws.Bool(true)})
	if err != nil {
		s.Fatal(err)
	}
	if out.LastEvaluatedKey != nil {
		s.Fatal("the table is too large for this test")
	}
	for _, it := range out.Items {
		text := ""
		for name, v := range it {
			text += fmt.Sprintf("%s=%+v ", name, v)
		}
		for _, key := range keys {
			if strings.Contains(text, key) {
				s.Errorf("a key is stored: %s", text)
			}
		}
	}
}

func TestKeyJSON(t *testing.T) {
	s := keySite(t)
	var made, rotated keyJSON
	s.answer(&made, "key", "create", "acme", "--label", "x", "--expires", "2099-01-01T00:00:00Z")
	if identity.Mistyped(made.Key) || made.Tenant != "acme" || made.ID != fmt.Sprintf("%x", sha256.Sum256([]byte(made.Key)))[:12] || made.Status != "active" || made.Expires.String() != "2099-01-01 00:00:00Z" {
		t.Errorf("%+v", made)
	}
	s.answer(&rotated, "key", "rotate", "acme")
	var list struct{ Keys []keyJSON }
	s.answer(&list, "key", "list", "acme")
	if len(list.Keys) != 2 || list.Keys[0].ID != made.ID || list.Keys[1].ID != rotated.ID || list.Keys[0].Key+list.Keys[1].Key != "" {
		t.Errorf("%+v", list)
	}
	s.once(made.Key, rotated.Key)
}

func TestKeyImport(t *testing.T) {
	s := keySite(t)
	old := s.create("create", "acme")
	s.file("keys.txt", "# from the old gateway\nlegacy-key-of-acme-0001 mobile\nlegacy-key-of-acme-0002\nshort\n"+old+"\n")
	r := s.weir("", "key", "import", "acme", "keys.txt", "--label", "old gateway")
	if r.err != nil || !strings.Contains(r.stdout, "3 keys of tenant acme imported") || !strings.Contains(r.stderr, "1 key there already") {
		t.Fatalf("%+v", r)
	}
	for key, want := range map[string][2]string{"legacy-key-of-acme-0001": {"mobile", "0001"}, "legacy-key-of-acme-0002": {"old gateway", "0002"}, "short": {"old gateway", ""}} {
		if c := s.credential(key); c.Label != want[0] || c.LastFour != want[1] || c.Tenant != "acme" {
			t.Errorf("%+v, want %v", c, want)
		}
	}
	hashed := fmt.Sprintf("%x a label\n", sha256.Sum256([]byte("never-seen-here")))
	if r := s.weir(hashed, "key", "import", "hooli", "-", "--hashed", "--expires", "1d"); r.err != nil {
		t.Fatal(r.err)
	}
	if c := s.credential("never-seen-here"); c.Tenant != "hooli" || c.Label != "a label" || c.Expires == 0 {
		t.Errorf("%+v", c)
	}
	s.ok("key", "revoke", "acme", "--last-four", "0001")

	before := s.items()
	typo := "weir_live_5kQz0RfW2mXc8TnYb1LdHs2PFW5X"
	s.file("typo.txt", "good-key-number-one\n"+typo+"\n")
	s.file("taken.txt", "good-key-number-one\nnever-seen-here\n")
	s.file("revoked.txt", "legacy-key-of-acme-0001\n")
	s.file("hashes.txt", hashed)
	for _, tt := range []struct{ want, args string }{
		{"typo.txt:2: begins as the keys that Weir issues", "acme typo.txt"},
		{"taken.txt:2: tenant hooli has this key", "acme taken.txt"},
		{"revoked.txt:1: this key is revoked, and stays so", "acme revoked.txt"},
		{"--hashed if that is what they are", "acme hashes.txt"},
		{"not both", "acme hashes.txt --plain --hashed"},
		{"there is no file gone.txt", "acme gone.txt"},
		{"there is no tenant \"gone\"", "gone keys.txt"},
		{"needs the id of a tenant and a file", "acme"},
		{"--expires", "acme keys.txt --expires soon"},
	} {
		s.fails(1, tt.want, append([]string{"key", "import"}, strings.Fields(tt.args)...)...)
	}
	if after := s.items(); after != before {
		t.Errorf("%d items became %d: something was written", before, after)
	}
	s.once(old)
	for _, key := range []string{"legacy-key-of-acme-0001", "legacy-key-of-acme-0002", "never-seen-here", "good-key-number-one", typo} {
		if strings.Contains(s.seen.String(), key) {
			t.Errorf("%s was printed", key)
		}
		s.absent(key)
	}
}

func TestKeyBadInput(t *testing.T) {
	s := keySite(t)
	key := s.create("create", "acme")
	before := s.items()
	for _, tt := range []struct {
		code       int
		want, args string
	}{
		{1, "there is no tenant \"gone\"; make it with `weir tenant create`", "create gone"},
		{1, "cannot be the id", "create a/b"},
		{1, "needs the id", "create"},
		{1, "--expires \"soon\"", "create acme --expires soon"},
		{1, "--expires", "create acme --expires 2020-01-01T00:00:00Z"},
		{1, "--env \"Live\"", "create acme --env Live"},
		{1, "--label", "create acme --label " + strings.Repeat("l", 101)},
		{1, "there is no tenant \"gone\"", "list gone"},
		{1, "which key?", "revoke acme"},
		{1, "in one way only", "revoke acme --all --id abcd"},
		{1, "four characters", "revoke acme --last-four " + key}, // a key by mistake
		{1, "first hex digits", "revoke acme --id xyz1"},
		{1, "at least four", "revoke acme --id abc"},
		{2, "no active key that ends in ....", "revoke acme --last-four ...."},
		{1, "there is no tenant \"gone\"", "revoke gone --all"},
		{1, "--grace", "rotate acme --grace later"},
		{1, "there is no tenant \"gone\"", "rotate gone"},
		{2, "no active key", "rotate hooli --label-is x"},
	} {
		if strings.Contains(tt.args, "hooli") {
			tt.code, tt.want = 2, "no active key"
		}
		s.fails(tt.code, tt.want, append([]string{"key"}, strings.Fields(tt.args)...)...)
	}
	if after := s.items(); after != before {
		t.Errorf("%d items became %d: something was written", before, after)
	}
	s.once(key)
}

// TestKeysInOutput looks for all that looks like a key, in all that was printed.
func TestKeysInOutput(t *testing.T) {
	s := keySite(t)
	s.create("create", "acme", "--label", "weir key")
	s.create("rotate", "acme")
	for _, args := range []string{"key import acme -", "key list acme", "tenant show acme", "explain acme"} {
		s.weir("", strings.Fields(args)...)
	}
	if found := looksLikeAKey.FindAllString(s.seen.String(), -1); len(found) != 2 {
		t.Errorf("%d keys were printed, want the 2 that were made", len(found))
	}
}

var looksLikeAKey = regexp.MustCompile(`weir_([a-z0-9]{1,16}_)?[0-9A-Za-z]{28}`)

// TestKeyInTheWrongPlace: whoever gives a key where something else belongs finds it
// in no error and in no history.
func TestKeyInTheWrongPlace(t *testing.T) {
	s := keySite(t)
	key := s.create("create", "acme", "--env", "live")
	before := s.items()
	for _, args := range [][]string{
		{"key", "revoke", "acme", key},
		{"key", "revoke", key, "--all"},
		{"key", "create", key},
		{"key", "revoke", "acme", "--last-four", key},
		{"key", "revoke", "acme", "--id", key},
		{"key", "revoke", "acme", "--" + key},
		{"key", key},
		{"explain", key},
		{"tenant", "set", key, "--plan", "free"},
		{"key", "revoke", "acme", "--all", "--reason", key + " leaked"},
		{"key", "create", "acme", "--label", key},
		{"key", "create", "acme", "--author", key},
		{"tenant", "suspend", "acme", "--reason", "who had " + key},
	} {
		stdout, stderr, code := runProcess(t, ".", args...)
		if code != 1 || strings.Contains(stdout+stderr, key) || stderr == "" {
			t.Errorf("weir %s: %d %q%q", strings.ReplaceAll(strings.Join(args, " "), key, "KEY"), code, stdout, stderr)
		}
	}
	if after := s.items(); after != before {
		t.Errorf("%d items became %d", before, after)
	}
}

// TestKeyThatCannotBePrinted: a key that nobody has seen is of no use, and the
// message says how to end it.
func TestKeyThatCannotBePrinted(t *testing.T) {
	s := keySite(t)
	for _, args := range [][]string{{"key", "create", "acme"}, {"key", "create", "acme", "--json"}} {
		root := newRoot()
		root.SetArgs(args)
		root.SetOut(closedPipe{})
		root.SetErr(io.Discard)
		err := root.ExecuteContext(t.Context())
		if err == nil {
			t.Fatalf("weir %v: no error", args)
		}
		command := regexp.MustCompile("`weir (.*)`").FindStringSubmatch(err.Error())
		if command == nil || looksLikeAKey.MatchString(err.Error()) {
			t.Fatalf("%v", err)
		}
		contains(t, s.ok(strings.Fields(command[1])...), "1 key of tenant acme revoked")
	}
}

type closedPipe struct{}

func (closedPipe) Write([]byte) (int, error) { return 0, syscall.EPIPE }
