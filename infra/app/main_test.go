package app_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/aws/jsii-runtime-go"

	"weir/infra/app"
	"weir/infra/config"
)

func TestMain(m *testing.M) {
	code := m.Run()
	jsii.Close()
	for _, a := range assemblies {
		os.RemoveAll(a.dir)
	}
	os.Exit(code)
}

// assembly is what a configuration is synthesised into.
type assembly struct {
	dir       string
	config    *config.Config
	templates map[string]template // by stack
}

type template struct {
	Resources map[string]resource
}

type resource struct {
	Type           string
	Properties     map[string]any
	DependsOn      any
	DeletionPolicy string
}

var (
	mu         sync.Mutex
	assemblies = map[string]assembly{}
)

// full is the configuration that has every part, at the top of infra.
const full = "../weir.yaml"

// synthesised returns what a file is synthesised into, once for all tests.
func synthesised(t *testing.T, file string) assembly {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return synthesisedText(t, file, string(text))
}

// synthesisedText is the same for a configuration that is not in a file.
func synthesisedText(t *testing.T, name, text string) assembly {
	t.Helper()
	mu.Lock()
	defer mu.Unlock()
	if a, ok := assemblies[name]; ok {
		return a
	}
	c, err := config.Parse(filepath.Base(name), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "weir-synth-")
	if err != nil {
		t.Fatal(err)
	}
	a := assembly{dir: dir, config: c, templates: map[string]template{}}
	assemblies[name] = a
	if err := app.Synth(c, app.Options{Outdir: dir, Binaries: "testdata/bin", Nag: name == full}); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.template.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var parsed template
		if err := json.Unmarshal(text, &parsed); err != nil {
			t.Fatal(err)
		}
		a.templates[strings.TrimSuffix(filepath.Base(f), ".template.json")] = parsed
	}
	return a
}

// stack returns the template of a stack.
func (a assembly) stack(t *testing.T, name string) template {
	t.Helper()
	s, ok := a.templates[name]
	if !ok {
		t.Fatalf("there is no stack %s", name)
	}
	return s
}

// of returns the resources of a type.
func (s template) of(typ string) map[string]resource {
	found := map[string]resource{}
	for id, r := range s.Resources {
		if r.Type == typ {
			found[id] = r
		}
	}
	return found
}

// the returns the only resource of a type that has a value at a path, as
// "TableName", "weir-config".
func (s template) the(t *testing.T, typ, path string, value any) resource {
	t.Helper()
	var found []resource
	for _, r := range s.of(typ) {
		if r.at(path) == value {
			found = append(found, r)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d resources %s with %s = %v, want one", len(found), typ, path, value)
	}
	return found[0]
}

// at returns the property at a path, as "SSESpecification.SSEEnabled" or "Targets.0.Arn".
func (r resource) at(path string) any {
	var v any = r.Properties
	for key := range strings.SplitSeq(path, ".") {
		switch at := v.(type) {
		case map[string]any:
			v = at[key]
		case []any:
			if i := int(key[0] - '0'); len(key) == 1 && i >= 0 && i < len(at) {
				v = at[i]
				continue
			}
			return nil
		default:
			return nil
		}
	}
	return v
}

// expect compares properties, given as path and value in turn.
func (r resource) expect(t *testing.T, pairs ...any) {
	t.Helper()
	for i := 0; i+1 < len(pairs); i += 2 {
		path := pairs[i].(string)
		if got, want := compact(t, r.at(path)), compact(t, pairs[i+1]); got != want {
			t.Errorf("%s %s: got %s, want %s", r.Type, path, got, want)
		}
	}
}

func compact(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
