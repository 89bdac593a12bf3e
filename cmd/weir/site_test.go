package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"weir/internal/testengine"
	"weir/pkg/bucket"
	"weir/pkg/ddbstore"
)

// site is a deployment's tables, for the commands to work on.
type site struct {
	*testing.T
	region  string
	tables  tableNames
	client  *dynamodb.Client
	config  *ddbstore.Config
	seen    bytes.Buffer // all that the commands have printed
	secrets int          // keys among it that were meant to be printed
}

var sites atomic.Int64

// newSite creates tables, and an environment in which the commands find them.
func newSite(t *testing.T) *site {
	t.Helper()
	engine := testengine.Start(t)
	n := sites.Add(1)
	s := &site{
		T: t, region: "eu-west-1", client: engine.Client("eu-west-1"),
		tables: tableNames{config: fmt.Sprintf("site-%d-config", n), buckets: fmt.Sprintf("site-%d-buckets", n), strict: fmt.Sprintf("site-%d-strict", n)},
	}
	if err := ddbstore.CreateTables(t.Context(), s.client, s.tables.buckets, s.tables.config); err != nil {
		t.Fatal(err)
	}
	if err := ddbstore.CreateStrictTable(t.Context(), s.client, s.tables.strict); err != nil {
		t.Fatal(err)
	}
	s.config = ddbstore.NewConfig(s.client, s.tables.config).In(s.region).Consistent()
	plainEnvironment(t)
	t.Setenv("WEIR_ENDPOINT", engine.Endpoint())
	t.Setenv("WEIR_CONFIG_TABLE", s.tables.config)
	t.Setenv("WEIR_BUCKETS_TABLE", s.tables.buckets)
	t.Setenv("WEIR_STRICT_TABLE", s.tables.strict)
	t.Setenv("WEIR_AUTHOR", "ada")
	t.Setenv("AWS_REGION", s.region)
	t.Chdir(t.TempDir())
	return s
}

// plainEnvironment takes away whatever of AWS and Weir the machine is set up with.
func plainEnvironment(t *testing.T) {
	t.Helper()
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("AWS_CONFIG_FILE", filepath.Join(home, "config"))
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", filepath.Join(home, "credentials"))
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	for _, name := range []string{
		"AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_REGION", "AWS_DEFAULT_REGION",
		"AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_DYNAMODB", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_WEB_IDENTITY_TOKEN_FILE",
		"WEIR_ENDPOINT", "WEIR_CONFIG_TABLE", "WEIR_BUCKETS_TABLE", "WEIR_STRICT_TABLE", "WEIR_REGIONS", "WEIR_AUTHOR",
	} {
		t.Setenv(name, "")
	}
}

// ran is what a command came to.
type ran struct {
	stdout, stderr string
	err            error
}

// weir runs the command in this process, with text on its standard input.
func (s *site) weir(stdin string, args ...string) ran {
	return s.weirIn(s.Context(), strings.NewReader(stdin), args...)
}

func (s *site) weirIn(ctx context.Context, stdin io.Reader, args ...string) ran {
	s.Helper()
	var out, errOut bytes.Buffer
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(&out)
	root.SetErr(&errOut)
	err := root.ExecuteContext(ctx)
	r := ran{out.String(), errOut.String(), err}
	fmt.Fprintf(&s.seen, "%s%s%v", r.stdout, r.stderr, err)
	return r
}

// ok runs a command that must succeed and returns its standard output.
func (s *site) ok(args ...string) string {
	s.Helper()
	r := s.weir("", args...)
	if r.err != nil {
		s.Fatalf("weir %s: %v\n%s%s", strings.Join(args, " "), r.err, r.stdout, r.stderr)
	}
	return r.stdout
}

// answer runs a command that must succeed, with --json, into v.
func (s *site) answer(v any, args ...string) {
	s.Helper()
	out := s.ok(append(args, "--json")...)
	if err := json.Unmarshal([]byte(out), v); err != nil {
		s.Fatalf("weir %s --json: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// fails runs a command that must end with an exit code, say something, and print
// no result.
func (s *site) fails(code int, want string, args ...string) ran {
	s.Helper()
	r := s.weir("", args...)
	s.failed(r, code, want, args...)
	return r
}

func (s *site) failed(r ran, code int, want string, args ...string) {
	s.Helper()
	if got := exitCode(r.err); got != code || r.err == nil || !strings.Contains(r.err.Error(), want) {
		s.Errorf("weir %s: exit code %d, %v; want %d and %q", strings.Join(args, " "), got, r.err, code, want)
	}
}

// file writes a file into the folder that commands run in.
func (s *site) file(name, text string) {
	s.Helper()
	write(s.T, ".", name, text)
}

// apply makes a plans file and applies it.
func (s *site) apply(text string) {
	s.Helper()
	s.file("plans.yaml", text)
	s.ok("plan", "apply", "plans.yaml", "--yes")
}

// items returns how many items the config table has: a write leaves some.
func (s *site) items() int {
	s.Helper()
	n := 0
	pages := dynamodb.NewScanPaginator(s.client, &dynamodb.ScanInput{TableName: &s.tables.config, ConsistentRead: aws.Bool(true)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(s.Context())
		if err != nil {
			s.Fatal(err)
		}
		n += len(page.Items)
	}
	return n
}

// charge takes tokens from a bucket now, as an authorizer of a Region would.
func (s *site) charge(store *ddbstore.Store, key string, l bucket.Limit, tokens, ver int64) bucket.Outcome {
	s.Helper()
	inc, _ := l.Charge(tokens, 0)
	out, err := store.Charge(s.Context(), key, bucket.Charge{Limit: l, Now: time.Now().UnixNano(), Tokens: tokens, Inc: inc, Ver: ver})
	if err != nil {
		s.Fatal(err)
	}
	return out
}

func perHour(t *testing.T, count, burst int64) bucket.Limit {
	t.Helper()
	l, err := bucket.NewLimit(bucket.Rate{Count: count, Period: time.Hour}, burst)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// contains fails the test for each text that is not in out.
func contains(t *testing.T, out string, texts ...string) {
	t.Helper()
	for _, want := range texts {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

// change is who makes those that are not made by a command.
var change = ddbstore.Change{Author: "grace", Reason: "to begin with", At: 1}

// engineClient returns a client for the engine's tables in another Region.
func engineClient(t *testing.T, region string) *dynamodb.Client {
	t.Helper()
	return testengine.Start(t).Client(region)
}
