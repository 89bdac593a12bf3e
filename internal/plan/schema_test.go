package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

const schemaFile = "../../schema/plans.schema.json"

func compileSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	s, err := jsonschema.NewCompiler().Compile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// validate returns what the schema makes of a file in YAML.
func validate(t *testing.T, s *jsonschema.Schema, text []byte) error {
	t.Helper()
	var v any
	if err := yaml.Unmarshal(text, &v); err != nil {
		return err
	}
	data, err := json.Marshal(v)
	if err != nil {
		return err // a key that is not text
	}
	inst, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(inst)
}

// accepted are files at the edges of what Parse and the schema accept.
var accepted = []string{
	`plans: { p: { limits: [{ name: a, rate: 0/s, burst: 0, cost: 0 }] } }`,
	`plans: { p: { limits: [{ name: a, rate: unlimited, cost: 10000000 }] } }`,
	`plans: { p: { limits: [{ name: a, rate: 86400M/d, burst: 10000000 }] } }`,
	`plans: { p: { limits: [{ name: a, rate: 5k/s, burst: "2k", description: Grüße }] } }`,
	`plans: { 0.a_b-C: { description: d, limits: [{ name: 9-_.AZaz, rate: 1/m, burst: 250% }] } }`,
	`plans: { p: { limits: [{ name: a, rate: 1/h, match: {} }] } }`,
	`plans: { p: { limits: [{ name: a, rate: 1/h, onPartition: share }, { name: b, rate: 1/h, onPartition: serve, consistency: global }] } }`,
	`plans: { p: { limits: [{ name: a, rate: 1/h, consistency: strict }, { name: b, rate: unlimited, consistency: regional }] } }`,
	`plans: { p: { mode: shadow, hold: 5s, limits: [{ name: a, rate: 1/h, mode: enforce, hold: 0ms, onError: local, initial: 1 }, { name: b, rate: 1/h, mode: off, hold: 5000ms, onError: allow }] } }`,
	`plans: { p: { mode: off, limits: [{ name: a, rate: 1/h, hold: 4999ms, onError: deny, consistency: strict, initial: 0 }, { name: b, rate: 0/s, initial: 10000000 }, { name: c, rate: unlimited, initial: 7 }] } }`,
	`{plans: {p: {limits: [{name: a, rate: 1/s}]}}, tenants: [{id: a, plan: p, mode: shadow}, {id: b, plan: p, mode: "off", hold: 10ms}, {id: c, plan: p, mode: enforce, hold: 0s}]}`,
	`{plans: {p: {limits: [{name: a, rate: 1/s}]}}, tenants: [{id: a, plan: p, limits: {}}, {id: b, plan: p, limits: {a: {rate: 5k/h}, b-c.9: {burst: 1000000%}, d: {rate: unlimited, burst: 7}, e: {burst: "2k", rate: 0/s}}}]}`,
	`plans: { p: { limits: [{ name: a, rate: 1/d, match: { method: DELETE, resource: "*" } }] } }`,
	`plans: { p: { limits: [{ name: a, rate: 1/s, match: { resource: $connect } }, { name: b, rate: 1/s, match: { resource: "/{proxy+}~!" } }] } }`,
	`plans: { p: { limits: [{ name: a, rate: 1/s, match: { resource: / } }, { name: b, rate: 1/s, match: { resource: /* } }] } }`,
	`plans: { p: { limits: [{ name: a, rate: 1/s, key: "{tenant}:{ip}:{route}:{method}:{header.X-a_1}:w.-_:7:8" }] } }`,
	`{"plans": {"p": {"limits": [{"name": "a", "rate": "1/s", "key": "{ip}"}]}}, "tenants": [], "anonymous": "p", "badCredentials": {"rate": "1/s", "burst": 5}}`,
	`{plans: {p: {limits: [{name: a, rate: 1/s}]}}, tenants: [{id: ".a_-", plan: p, suspended: true, keys: ["!~"]}, {id: b, plan: p, keys: []}]}`,
}

func TestSchemaAgreesWithParser(t *testing.T) {
	s := compileSchema(t)
	for _, text := range accepted {
		if _, err := Parse("f", []byte(text)); err != nil {
			t.Errorf("%s\nparser: %v", text, err)
		}
		if err := validate(t, s, []byte(text)); err != nil {
			t.Errorf("%s\nschema: %v", text, err)
		}
	}
	for _, tt := range refusals {
		err := validate(t, s, []byte(tt.text))
		if err == nil && !tt.blind {
			t.Errorf("%s: the schema accepts what the parser refuses", tt.name)
		}
		if _, told := errors.AsType[*jsonschema.ValidationError](err); told && tt.blind {
			t.Errorf("%s: the schema can tell: %v", tt.name, err)
		}
	}
}

// Each line of a refusal that stands for one limit or tenant must be refused by
// the schema by itself, so that no mistake hides behind another.
func TestSchemaRefusesEachMistake(t *testing.T) {
	s := compileSchema(t)
	for _, tt := range refusals {
		if tt.blind {
			continue
		}
		for _, line := range strings.Split(tt.text, "\n") {
			elem, ok := strings.CutPrefix(strings.TrimSpace(line), "- {")
			if !ok {
				continue
			}
			text := "plans: { p: { limits: [{" + elem + "] } }"
			if strings.HasPrefix(line, "  - ") { // a tenant
				text = "plans: { p: { limits: [{ name: a, rate: 1/s }] } }\ntenants: [{" + elem + "]"
			}
			_, parserErr := Parse("f", []byte(text))
			schemaErr := validate(t, s, []byte(text))
			if (parserErr == nil) != (schemaErr == nil) && !strings.Contains(errText(parserErr), "names plan") {
				t.Errorf("%s\nparser: %v\nschema: %v", text, parserErr, schemaErr)
			}
		}
	}
}

func TestSchemaAcceptsExamples(t *testing.T) {
	s := compileSchema(t)
	names, err := filepath.Glob("../../examples/*.yaml")
	if err != nil || len(names) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	for _, name := range names {
		data := readFile(t, name)
		if err := validate(t, s, data); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if want := "# yaml-language-server: $schema=../schema/plans.schema.json\n"; !strings.HasPrefix(string(data), want) {
			t.Errorf("%s does not begin with %q, which tells editors its schema", name, want)
		}
	}
}

// properties is the part of a schema object that names fields.
type properties struct {
	Properties map[string]json.RawMessage `json:"properties"`
	Defs       map[string]properties      `json:"$defs"`
}

func TestSchemaHasTheParsersFields(t *testing.T) {
	var s properties
	if err := json.Unmarshal(readFile(t, schemaFile), &s); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		schema properties
		parser []string
	}{
		{"file", s, fileFields},
		{"plan", s.Defs["plan"], planFields},
		{"limit", s.Defs["limit"], limitFields},
		{"match", s.Defs["match"], matchFields},
		{"tenant", s.Defs["tenant"], tenantFields},
		{"limitOverride", s.Defs["limitOverride"], limitOverrideFields},
		{"badCredentials", s.Defs["badCredentials"], badCredentialsFields},
	} {
		got, want := slices.Sorted(maps.Keys(tt.schema.Properties)), slices.Sorted(slices.Values(tt.parser))
		if !slices.Equal(got, want) {
			t.Errorf("%s: the schema has %v, the parser %v", tt.name, got, want)
		}
	}
}

// Every field that the parser knows must be explained in docs/plans.md.
func TestDocsNameEveryField(t *testing.T) {
	docs := string(readFile(t, "../../docs/plans.md"))
	for _, f := range slices.Concat(fileFields, planFields, limitFields, matchFields, tenantFields, limitOverrideFields, rolloutFields, badCredentialsFields) {
		if !strings.Contains(docs, "`"+f+"` |") && !strings.Contains(docs, "."+f+"` |") {
			t.Errorf("docs/plans.md has no row for %s", f)
		}
	}
}
