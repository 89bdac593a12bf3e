package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/cobra"

	"weir/internal/operator"
	"weir/internal/testengine"
)

func readDocs(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(repository + "/docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// operatorCommands returns the commands that work on a deployment, as they are
// called.
func operatorCommands() []string {
	var paths []string
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		if len(c.Commands()) == 0 && c.InheritedFlags().Lookup("config-table") != nil || c.LocalFlags().Lookup("config-table") != nil && !c.HasSubCommands() {
			paths = append(paths, c.CommandPath())
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newRoot())
	return paths
}

// permission is a line of the table of permissions.
var permission = regexp.MustCompile("(?m)^\\| `(weir [a-z ]+)` \\| (.*) \\|$")

// documentedActions returns what docs/cli.md says that each command may need.
func documentedActions(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, m := range permission.FindAllStringSubmatch(readDocs(t), -1) {
		all[m[1]] = m[2]
	}
	return all
}

// TestEveryCommandIsDocumented: with the permissions that it needs.
func TestEveryCommandIsDocumented(t *testing.T) {
	documented, commands := documentedActions(t), operatorCommands()
	if len(commands) < 20 {
		t.Fatalf("only %d commands were found: %v", len(commands), commands)
	}
	for _, path := range commands {
		if documented[path] == "" {
			t.Errorf("docs/cli.md does not say what %s needs", path)
		}
	}
	for path := range documented {
		if !slices.Contains(commands, path) {
			t.Errorf("docs/cli.md speaks of %s, which there is not", path)
		}
	}
	for _, c := range newRoot().Commands() {
		for _, sub := range append([]*cobra.Command{c}, c.Commands()...) {
			if sub.Name() != "help" && sub.Name() != "completion" && (sub.Short == "" || sub.Long == "" && sub.Name() != "version") {
				t.Errorf("%s has no help", sub.CommandPath())
			}
		}
	}
}

// calls is which actions were needed on which table.
type calls struct {
	mu   sync.Mutex
	seen map[string]bool
}

// record notes the action of each call, of a transaction those of its parts, as
// "table action".
func (c *calls) record(w http.ResponseWriter, r *http.Request, next http.Handler) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	_, action, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	var in struct {
		TableName     string
		TransactItems []map[string]struct{ TableName string }
	}
	if err := json.Unmarshal(body, &in); err == nil {
		c.mu.Lock()
		if action != "TransactWriteItems" {
			c.seen[in.TableName+" "+action] = true
		}
		for _, item := range in.TransactItems {
			for kind, part := range item {
				c.seen[part.TableName+" "+map[string]string{"Put": "PutItem", "Update": "UpdateItem", "Delete": "DeleteItem", "ConditionCheck": "ConditionCheckItem"}[kind]] = true
			}
		}
		c.mu.Unlock()
	}
	next.ServeHTTP(w, r)
}

// TestPermissionsAreAsDocumented runs every command and looks at what it calls:
// nothing that docs/cli.md does not name, and all that it names without a
// condition.
func TestPermissionsAreAsDocumented(t *testing.T) {
	documented := documentedActions(t) // before the site goes to another folder
	s := newSite(t)
	s.apply(`plans: {pro: {limits: [{name: api, rate: 9/h}, {name: otp, rate: 9/h, consistency: strict}]}, free: {limits: [{name: api, rate: 1/h}]}}`)
	s.ok("tenant", "create", "acme", "--plan", "pro")
	s.ok("tenant", "create", "hooli", "--plan", "pro")
	s.file("next.yaml", `plans: {pro: {limits: [{name: api, rate: 8/h}, {name: otp, rate: 8/h, consistency: strict}]}}`)
	s.file("keys", "imported-key\n")
	s.ok("key", "create", "acme")
	proxy := testengine.Start(t).Proxy(t)
	t.Setenv("WEIR_ENDPOINT", proxy.Endpoint())

	unseen := map[string][]string{} // by command, what none of its runs has needed
	for _, run := range []struct{ command, args string }{
		{"plan diff", "next.yaml"},
		{"plan apply", "next.yaml --yes --canary 50%,100%"},
		{"plan rollout", "pro"},
		{"plan rollout", "pro abort --yes"},
		{"plan apply", "next.yaml --yes"},
		{"plan rollback", "pro --yes"},
		{"plan show", ""},
		{"plan show", "pro"},
		{"plan history", "pro"},
		{"tenant create", "initech --plan pro"},
		{"tenant show", "acme"},
		{"tenant list", ""},
		{"tenant list", "--on pro"},
		{"tenant set", "acme hooli --limit api=3/h --limit otp=3/h --yes"},
		{"tenant set", "acme --plan free"},
		{"tenant set", "--all-on free --plan pro"},
		{"tenant suspend", "--all-on pro --yes"},
		{"tenant resume", "--all-on pro --yes"},
		{"key create", "hooli"},
		{"key import", "acme keys"},
		{"key list", "acme"},
		{"key list", "initech"},
		{"key rotate", "hooli"},
		{"key revoke", "acme --all --yes"},
		{"explain", "acme --regions all"},
		{"usage", ""},
		{"usage", "acme"},
		{"home show", ""},
		{"home move", "us-east-1 --yes"},
	} {
		c := &calls{seen: map[string]bool{}}
		proxy.Set(c.record)
		s.ok(append(strings.Fields(run.command), strings.Fields(run.args)...)...)
		proxy.Set(nil)
		on, _, _ := strings.Cut(documented["weir "+run.command], "; ")
		for seen := range c.seen {
			table, action, _ := strings.Cut(seen, " ")
			doc := documented["weir "+run.command]
			if table != s.tables.config && !strings.Contains(doc, action+" on buckets and strict") || !strings.Contains(doc, action) {
				t.Errorf("weir %s %s: %s on %s is not documented: %s", run.command, run.args, action, table, doc)
			}
			on = strings.ReplaceAll(on, action, "")
		}
		unseen[run.command] = append(unseen[run.command], on)
	}
	for command, rest := range unseen {
		for _, action := range []string{"GetItem", "PutItem", "DeleteItem", "ConditionCheckItem"} {
			if !slices.ContainsFunc(rest, func(on string) bool { return !strings.Contains(on, action) }) {
				t.Errorf("weir %s is said to need %s, and was not seen to: %q", command, action, rest)
			}
		}
	}
}

// results are the results of the commands, by the line of docs/cli.md that
// describes them.
var results = map[string]any{
	"`plan diff`": diffJSON{}, "`plan apply`": applyJSON{}, "`plan rollback`": rollbackJSON{}, "`plan rollout`": rolloutJSON{},
	"`plan history`": historyJSON{}, "`plan show`": plansJSON{}, "`plan show PLAN`": planJSON{},
	"`tenant create`": tenantJSON{}, "`tenant show`": tenantShowJSON{}, "`tenant list`": tenantsJSON{}, "`tenant set`, `suspend`, `resume`": setJSON{},
	"`key create`, `rotate`": keyJSON{}, "`key list`": keyListJSON{}, "`key import`, `revoke`": keysJSON{},
	"`explain`": operator.Explanation{}, "`usage`": usageJSON{}, "`home show`, `move`": homeJSON{},
	"`doctor`": diagnosisJSON{},
}

// TestResultsAreDocumented: every field of every result is named in docs/cli.md, and
// the shape of the results is that of the golden file: fields are added to it,
// never renamed or removed.
func TestResultsAreDocumented(t *testing.T) {
	_, section, ok := strings.Cut(readDocs(t), "## Results as JSON")
	if !ok {
		t.Fatal("docs/cli.md has no section on results")
	}
	var shape strings.Builder
	for _, command := range slices.Sorted(func(yield func(string) bool) {
		for c := range results {
			if !yield(c) {
				return
			}
		}
	}) {
		if !strings.Contains(section, "\n| "+command+" |") {
			t.Errorf("no line for %s", command)
		}
		for _, path := range shapeOf(reflect.TypeOf(results[command]), "") {
			shape.WriteString(strings.ReplaceAll(command, "`", "") + ": " + path + "\n")
			name, _, _ := strings.Cut(path, " ")
			name = strings.TrimSuffix(name[strings.LastIndex(name, ".")+1:], "[]")
			if !strings.Contains(section, "`"+name+"`") {
				t.Errorf("%s: field %s is not documented", command, path)
			}
		}
	}
	const golden = "testdata/results.golden"
	if os.Getenv("UPDATE_GOLDEN") == "1" {
		if err := os.WriteFile(golden, []byte(shape.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if shape.String() != string(want) {
		t.Errorf("the shape of results has changed; if only by new fields, run with UPDATE_GOLDEN=1 and look at the difference.\n%s", shape.String())
	}
}

// shapeOf returns the fields of a result, "path type" each.
func shapeOf(t reflect.Type, prefix string) []string {
	switch {
	case t.Implements(reflect.TypeFor[json.Marshaler]()) || reflect.PointerTo(t).Implements(reflect.TypeFor[json.Marshaler]()):
		if t == reflect.TypeFor[operator.Instant]() {
			return []string{prefix + " time"}
		}
		return []string{prefix + " object"} // as it is stored
	case t.Kind() == reflect.Pointer:
		return shapeOf(t.Elem(), prefix)
	case t.Kind() == reflect.Slice:
		return shapeOf(t.Elem(), prefix+"[]")
	case t.Kind() != reflect.Struct:
		return []string{prefix + " " + t.String()}
	}
	var all []string
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			all = append(all, shapeOf(f.Type, prefix)...)
		case f.IsExported():
			path := name
			if prefix != "" {
				path = prefix + "." + name
			}
			all = append(all, shapeOf(f.Type, path)...)
		}
	}
	return all
}

// TestDocumentedFlags: a flag that docs/cli.md names is one of some command.
func TestDocumentedFlags(t *testing.T) {
	have := map[string]bool{"--help": true}
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		for _, line := range strings.Split(c.Flags().FlagUsages()+c.PersistentFlags().FlagUsages(), "\n") {
			have[regexp.MustCompile(`--[a-z-]+`).FindString(line)] = true
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newRoot())
	for _, flag := range regexp.MustCompile(`--[a-z][a-z-]+`).FindAllString(readDocs(t), -1) {
		if !have[flag] {
			t.Errorf("docs/cli.md names %s, which no command has", flag)
		}
	}
}
