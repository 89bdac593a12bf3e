package main

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"weir/internal/testengine"
	"weir/pkg/ddbstore"
)

// TestConnectionErrors: whatever stands between the command and the tables, the
// message says what to do. None of this leaves the machine.
func TestConnectionErrors(t *testing.T) {
	endpoint := testengine.Start(t).Endpoint()
	away := strings.Replace(endpoint, "127.0.0.1", "weir.invalid", 1)
	for _, tt := range []struct {
		name string
		env  map[string]string
		args string
		want []string
	}{
		{"no Region", nil, "", []string{"which Region?", "--region", "AWS_REGION"}},
		{"no credentials", map[string]string{"AWS_REGION": "eu-west-1"}, "", []string{"no usable AWS credentials", "AWS_PROFILE", "aws sso login", "--endpoint"}},
		{"no credentials for another machine", map[string]string{"AWS_REGION": "eu-west-1", "WEIR_ENDPOINT": away}, "", []string{"no usable AWS credentials"}},
		{"no such profile", map[string]string{"AWS_REGION": "eu-west-1"}, "--profile nobody", []string{"nobody"}},
		{"no table named", map[string]string{"AWS_REGION": "eu-west-1", "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"}, "", []string{"--config-table", "WEIR_CONFIG_TABLE", "ConfigTableName"}},
		{"no table there", map[string]string{"WEIR_ENDPOINT": endpoint}, "--config-table gone --region eu-central-1", []string{`"gone"`, "--config-table", "eu-central-1", "--region"}},
		{"nobody there", map[string]string{"WEIR_ENDPOINT": "http://127.0.0.1:1"}, "", []string{"Is a local DynamoDB running at http://127.0.0.1:1?"}},
		{"no URL", map[string]string{"WEIR_ENDPOINT": "127.0.0.1:4566"}, "", []string{"want a URL"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			plainEnvironment(t)
			for name, value := range tt.env {
				t.Setenv(name, value)
			}
			s := &site{T: t}
			r := s.fails(1, tt.want[0], append([]string{"plan", "show"}, strings.Fields(tt.args)...)...)
			contains(t, r.err.Error(), tt.want...)
			if r.stdout != "" || strings.Count(r.err.Error(), "\n") > 2 || strings.Contains(r.err.Error(), "RequestID") {
				t.Errorf("%q\n%q", r.stdout, r.err)
			}
		})
	}
}

// TestTheTablesOfWeirDev: an endpoint on this machine is enough for what weir dev has made.
func TestTheTablesOfWeirDev(t *testing.T) {
	engine := testengine.Start(t)
	if err := ddbstore.CreateTables(t.Context(), engine.Client("us-east-1"), devBuckets, devConfig); err != nil {
		t.Fatal(err)
	}
	plainEnvironment(t)
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	s := &site{T: t}
	s.ok("plan", "show", "--endpoint", engine.Endpoint())
}

// TestAnswersOfAWS: what AWS says when something is missing, with what to do.
func TestAnswersOfAWS(t *testing.T) {
	s := newSite(t)
	s.apply(twoPlans)
	s.ok("tenant", "create", "acme", "--plan", "pro")
	proxy := testengine.Start(t).Proxy(t)
	t.Setenv("WEIR_ENDPOINT", proxy.Endpoint())
	refuse := func(code, message string) testengine.Fault {
		return testengine.Answer(http.StatusBadRequest, `{"__type":"com.amazon.coral.service#`+code+`","message":"`+message+`"}`)
	}
	for _, tt := range []struct {
		name  string
		fault testengine.Fault
		args  string
		want  []string
	}{
		{"denied, and told what", refuse("AccessDeniedException", "User: arn:aws:iam::123456789012:user/ada is not authorized to perform: dynamodb:Query on resource: x because no identity-based policy allows it"),
			"plan show", []string{"they need dynamodb:Query on it", "docs/cli.md"}},
		{"denied", refuse("AccessDeniedException", "no"), "tenant create x --plan pro", []string{"they need dynamodb:GetItem on it"}},
		{"denied in a transaction", only("TransactWriteItems", refuse("AccessDeniedException", "no")), "key create acme", []string{"dynamodb:PutItem, dynamodb:UpdateItem, dynamodb:DeleteItem and dynamodb:ConditionCheckItem"}},
		{"expired", refuse("ExpiredTokenException", "The security token included in the request is expired"), "plan show", []string{"log in again", "AWS_PROFILE"}},
		{"wrong", refuse("UnrecognizedClientException", "The security token included in the request is invalid."), "explain acme", []string{"not valid"}},
		{"busy", testengine.Throttle, "plan show", []string{"try again in a moment"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			proxy.Set(tt.fault)
			defer proxy.Set(nil)
			r := s.fails(1, "", strings.Fields(tt.args)...)
			contains(t, r.err.Error(), tt.want...)
			if r.stdout != "" {
				t.Errorf("it printed %q", r.stdout)
			}
		})
	}
}

// only is a fault of one operation.
func only(operation string, f testengine.Fault) testengine.Fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if strings.HasSuffix(r.Header.Get("X-Amz-Target"), "."+operation) {
			f(w, r, next)
			return
		}
		next.ServeHTTP(w, r)
	}
}

// TestLostAnswerOfKeyCreate: nobody is told a key of which it is not known whether
// it is stored.
func TestLostAnswerOfKeyCreate(t *testing.T) {
	s := newSite(t)
	s.apply(twoPlans)
	s.ok("tenant", "create", "acme", "--plan", "pro")
	proxy := testengine.Start(t).Proxy(t)
	t.Setenv("WEIR_ENDPOINT", proxy.Endpoint())
	proxy.Set(only("TransactWriteItems", testengine.Reset))
	if r := s.fails(1, "", "key", "create", "acme"); r.stdout != "" || strings.Contains(r.err.Error(), "weir_") {
		t.Errorf("%+v", r)
	}
}

func TestCompletion(t *testing.T) {
	s := newSite(t)
	s.apply(twoPlans)
	for _, id := range []string{"acme", "acorn", "hooli"} {
		s.ok("tenant", "create", id, "--plan", "pro")
	}
	for args, want := range map[string]string{
		"plan show ":              "free pro",
		"plan rollback p":         "pro",
		"plan rollout pro ":       "status next pause resume abort",
		"plan show pro ":          "",
		"tenant show ac":          "acme acorn",
		"tenant set acme ac":      "acorn",
		"tenant suspend h":        "hooli",
		"explain ":                "acme acorn hooli",
		"key create z":            "",
		"tenant set acme --plan ": "free pro",
		"tenant list --on f":      "free",
		"tenant set --all-on ":    "free pro",
		"usage aco":               "acorn",
		"key rotate acme ":        "",
	} {
		out := s.ok(append([]string{"__complete"}, strings.Split(args, " ")...)...)
		lines := strings.Split(strings.TrimSpace(out), "\n")
		if got := strings.Join(lines[:len(lines)-1], " "); got != want || lines[len(lines)-1] != ":4" { // 4: no file names
			t.Errorf("%q: %q, want %q", args, out, want)
		}
	}
	contains(t, s.ok("completion", "bash"), "__start_weir")
	t.Setenv("WEIR_ENDPOINT", "http://127.0.0.1:1") // nobody there: no completions, and no error
	if out := s.ok("__complete", "plan", "show", ""); out != ":4\n" {
		t.Errorf("%q", out)
	}
}

// TestExitCodes runs the command as a process.
func TestExitCodes(t *testing.T) {
	s := newSite(t)
	s.apply(twoPlans)
	s.ok("tenant", "create", "a", "--plan", "pro")
	s.ok("tenant", "create", "b", "--plan", "pro")
	s.file("next.yaml", strings.Replace(twoPlans, "100/h", "90/h", 1))
	for _, tt := range []struct {
		args string
		code int
		want string
	}{
		{"plan show", 0, ""},
		{"plan show gold", 1, "weir: there is no plan"},
		{"plan diff next.yaml --exit-code", 2, "weir: the file and the table differ"},
		{"plan apply next.yaml", 2, "--yes"},
	} {
		_, stderr, code := runProcess(t, ".", strings.Fields(tt.args)...)
		if code != tt.code || !strings.Contains(stderr, tt.want) {
			t.Errorf("weir %s: %d %q, want %d and %q", tt.args, code, stderr, tt.code, tt.want)
		}
	}
}

func TestExitCode(t *testing.T) {
	for want, err := range map[int]error{0: nil, 1: errors.New("x"), 2: refusal{errors.New("x")}, 130: interruption{errors.New("x")}} {
		if got := exitCode(err); got != want {
			t.Errorf("exitCode(%v) = %d, want %d", err, got, want)
		}
	}
	if got := exitCode(&ddbstore.ConflictError{}); got != 2 {
		t.Errorf("a conflict is %d", got)
	}
}

func TestNameOf(t *testing.T) {
	for arn, want := range map[string]string{
		"arn:aws:iam::123456789012:user/ada":                               "ada",
		"arn:aws:iam::123456789012:user/team/ops/ada":                      "ada",
		"arn:aws:sts::123456789012:assumed-role/Admin/ada@example.com":     "ada@example.com (Admin)",
		"arn:aws-cn:sts::123456789012:assumed-role/ci-deploy/GitHubAction": "GitHubAction (ci-deploy)",
		"arn:aws:iam::123456789012:root":                                   "root",
		"arn:aws:sts::123456789012:federated-user/bob":                     "federated-user/bob",
	} {
		if got := nameOf(arn); got != want {
			t.Errorf("nameOf(%s) = %s, want %s", arn, got, want)
		}
	}
}

func TestTexts(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", -1234567: "-1,234,567", 100000: "100,000"} {
		if got := thousands(n); got != want {
			t.Errorf("thousands(%d) = %s, want %s", n, got, want)
		}
	}
	if got := count(1, "tenant") + " " + count(2, "tenant"); got != "1 tenant 2 tenants" {
		t.Error(got)
	}
	if got := time.Unix(0, change.At).UTC().Year(); got != 1970 {
		t.Error(got)
	}
}
