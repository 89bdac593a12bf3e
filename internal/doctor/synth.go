package doctor

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Synthesised reads a folder that the CDK has synthesised into, such as
// build/cdk.out.
func Synthesised(dir string) (Deployment, error) {
	templates, err := readAssembly(dir)
	if err != nil {
		return Deployment{}, err
	}
	var d Deployment
	roles := map[string]string{}
	for _, t := range templates {
		p := t.part()
		if p.Authorizer == nil && p.Reconciler == nil && len(p.APIs) == 0 {
			continue
		}
		d.Parts = append(d.Parts, p)
		d.Regions = append(d.Regions, t.Region)
		for variable, role := range map[string]string{"WEIR_BUCKETS_TABLE": BucketsTable, "WEIR_CONFIG_TABLE": ConfigTable, "WEIR_STRICT_TABLE": StrictTable} {
			if p.Authorizer != nil && p.Authorizer.Env[variable] != "" {
				roles[tableName(p.Authorizer.Env[variable])] = role
			}
		}
	}
	if len(d.Parts) == 0 {
		return Deployment{}, fmt.Errorf("no part of Weir is in the templates of %s: `make synth` writes build/cdk.out", dir)
	}
	for _, t := range templates {
		d.Tables = append(d.Tables, t.tables(roles)...)
	}
	for _, name := range slices.Sorted(maps.Keys(roles)) {
		if !slices.ContainsFunc(d.Tables, func(t Table) bool { return t.Name == name }) {
			d.Tables = append(d.Tables, Table{Name: name, Role: roles[name], Region: d.Regions[0], Missing: true})
		}
	}
	return d, nil
}

// readAssembly reads the templates of a cloud assembly, and the Regions of their
// stacks.
func readAssembly(dir string) ([]*Template, error) {
	text, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s is no folder that the CDK has synthesised into: `make synth` makes build/cdk.out (%w)", dir, err)
	} else if err != nil {
		return nil, err
	}
	var manifest struct {
		Artifacts map[string]struct {
			Type        string
			Environment string
			Properties  struct{ TemplateFile string }
		}
	}
	if err := json.Unmarshal(text, &manifest); err != nil {
		return nil, fmt.Errorf("read manifest.json: %w", err)
	}
	var all []*Template
	for _, id := range slices.Sorted(maps.Keys(manifest.Artifacts)) {
		a := manifest.Artifacts[id]
		if a.Type != "aws:cloudformation:stack" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, a.Properties.TemplateFile))
		if err != nil {
			return nil, err
		}
		region := a.Environment[strings.LastIndex(a.Environment, "/")+1:] // aws://account/region
		t, err := ParseTemplate(region, text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.Properties.TemplateFile, err)
		}
		all = append(all, t)
	}
	return all, nil
}

func unmarshal(text string, to any) error { return json.Unmarshal([]byte(text), to) }
