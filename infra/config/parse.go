package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"go.yaml.in/yaml/v3"
)

// Load reads and checks a file. The error is Errors, or says why it cannot be read.
func Load(path string) (*Config, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the configuration: %w", err)
	}
	return Parse(filepath.Base(path), text)
}

// Parse checks the text of a file; name is for errors, which are Errors.
func Parse(name string, text []byte) (*Config, error) {
	r := &reader{file: name}
	root, err := document(text)
	if err != nil {
		return nil, Errors{{File: name, Line: yamlLine(err), Err: err}}
	}
	c, at := defaults(), marks{"": root}
	r.read(c, root, at)
	if len(r.errs) == 0 {
		r.check(c, at)
	}
	if err := r.errs.err(); err != nil {
		return nil, err
	}
	return c, nil
}

// marks remembers where things are that can only be judged together.
type marks map[string]*yaml.Node

// node returns the place of the first of the things that the file has.
func (m marks) node(what ...string) *yaml.Node {
	for _, w := range what {
		if n := m[w]; n != nil {
			return n
		}
	}
	return m[""]
}

func defaults() *Config {
	return &Config{
		Name:   DefaultName,
		Tables: Tables{Protect: true},
		API:    API{Kind: REST, Stage: "v1", KeyHeader: "x-api-key", CORSOrigin: "*", LogsRole: true},
		Authorizer: Authorizer{
			Function:     Function{Memory: 512, Timeout: 3 * time.Second},
			StoreTimeout: 100 * time.Millisecond,
			Processes:    10,
		},
		Reconciler:    Function{Memory: 512, Timeout: 5 * time.Minute},
		Logs:          Logs{Level: "info", Retention: 14},
		Observability: Observability{Alarms: true, Dashboards: true, Lag: 2 * time.Second},
		Resilience:    Resilience{Pause: 5 * time.Minute},
	}
}

var (
	nameForm    = regexp.MustCompile(`^[a-z][a-z0-9-]{0,22}[a-z0-9]$`)
	accountForm = regexp.MustCompile(`^[0-9]{12}$`)
	stageForm   = regexp.MustCompile(`^[A-Za-z0-9_]{1,64}$`)
	urlForm     = regexp.MustCompile(`^https?://[A-Za-z0-9.-]+(:[0-9]{1,5})?(/[A-Za-z0-9._~/-]*)?$`)
	headerForm  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]{0,63}$`)
	planForm    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
	originForm  = regexp.MustCompile(`^(\*|https?://[A-Za-z0-9.-]+(:[0-9]{1,5})?)$`)
	domainForm  = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$`)
	zoneForm    = regexp.MustCompile(`^Z[A-Z0-9]{5,31}$`)
	paramForm   = regexp.MustCompile(`^/?[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)*$`)
	certForm    = regexp.MustCompile(`^arn:aws[a-z-]*:acm:[a-z0-9-]+:[0-9]{12}:certificate/[A-Za-z0-9-]+$`)
	emailForm   = regexp.MustCompile(`^[^@\s]+@[^@\s]+\.[^@\s]+$`)
)

// retentions are the days that CloudWatch Logs knows, up to a year.
var retentions = []int{1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365}

// read takes every field into c, each checked by itself.
func (r *reader) read(c *Config, root *yaml.Node, at marks) {
	mark := func(what string, read func(*yaml.Node)) func(*yaml.Node) {
		return func(n *yaml.Node) { at[what] = n; read(n) }
	}
	r.object(root, "the file", fields{
		"name": mark("name", r.text(&c.Name, "name", nameForm, "2 to 24 of a-z 0-9 -, the first a letter")),
		"account": mark("account", func(n *yaml.Node) {
			if n.Tag == "!!int" { // a leading zero would be lost, and the next account may have one
				r.errorf(n, "account is a number: put its 12 digits in quotes")
				return
			}
			r.text(&c.Account, "account", accountForm, "the 12 digits of an AWS account, in quotes")(n)
		}),
		"regions": mark("regions", func(n *yaml.Node) { r.regions(c, n, at) }),
		"tables": func(n *yaml.Node) {
			r.object(n, "tables", fields{"protect": r.boolean(&c.Tables.Protect, "tables.protect")})
		},
		"strict": mark("strict", func(n *yaml.Node) {
			c.Strict = &Strict{}
			if n.Tag == "!!bool" && n.Value == "true" {
				return
			}
			r.object(n, "strict", fields{"witness": mark("witness", func(n *yaml.Node) { c.Strict.Witness = n.Value })})
		}),
		"api": mark("api", func(n *yaml.Node) { r.api(c, n, mark) }),
		"authorizer": mark("authorizer", func(n *yaml.Node) {
			a := &c.Authorizer
			r.object(n, "authorizer", fields{
				"memory":                 r.count(&a.Memory, "authorizer.memory", 128, 10240),
				"timeout":                r.duration(&a.Timeout, "authorizer.timeout", time.Second, time.Second, 10*time.Second),
				"storeTimeout":           r.duration(&a.StoreTimeout, "authorizer.storeTimeout", time.Millisecond, 10*time.Millisecond, 5*time.Second),
				"processes":              r.count(&a.Processes, "authorizer.processes", 1, 100_000),
				"reservedConcurrency":    mark("reserved", r.concurrency(&a.Concurrency.Reserved, "authorizer.reservedConcurrency")),
				"provisionedConcurrency": mark("provisioned", r.concurrency(&a.Concurrency.Provisioned, "authorizer.provisionedConcurrency")),
			})
		}),
		"reconciler": func(n *yaml.Node) {
			r.object(n, "reconciler", fields{
				"memory":              r.count(&c.Reconciler.Memory, "reconciler.memory", 128, 10240),
				"reservedConcurrency": r.concurrency(&c.Reconciler.Concurrency.Reserved, "reconciler.reservedConcurrency"),
			})
		},
		"logs": func(n *yaml.Node) {
			r.object(n, "logs", fields{
				"level":     choice(r, &c.Logs.Level, "logs.level", "debug", "info", "warn", "error"),
				"retention": r.oneOf(&c.Logs.Retention, "logs.retention (days)", retentions),
			})
		},
		"domain": mark("domain", func(n *yaml.Node) { r.domain(c, n, mark) }),
		"observability": func(n *yaml.Node) {
			o := &c.Observability
			r.object(n, "observability", fields{
				"alarms":     mark("alarms", r.boolean(&o.Alarms, "observability.alarms")),
				"dashboards": r.boolean(&o.Dashboards, "observability.dashboards"),
				"lag":        r.duration(&o.Lag, "observability.lag", time.Millisecond, 100*time.Millisecond, time.Hour),
				"emails": func(n *yaml.Node) {
					for _, e := range r.list(n, "observability.emails") {
						var address string
						r.text(&address, "an entry of observability.emails", emailForm, "an address, such as oncall@example.com")(e)
						o.Emails = append(o.Emails, address)
					}
				},
			})
		},
		"resilience": func(n *yaml.Node) {
			r.object(n, "resilience", fields{
				"experiment": mark("experiment", r.boolean(&c.Resilience.Experiment, "resilience.experiment")),
				"pause":      r.duration(&c.Resilience.Pause, "resilience.pause", time.Minute, time.Minute, 2*time.Hour),
			})
		},
	})
}

// regions reads the list of Regions: names, or mappings with a name.
func (r *reader) regions(c *Config, n *yaml.Node, at marks) {
	for _, e := range r.list(n, "regions") {
		region, name := Region{}, e
		if e.Kind == yaml.MappingNode {
			name = nil
			r.object(e, "a Region", fields{
				"name":                   func(n *yaml.Node) { name = n },
				"drained":                r.boolean(&region.Drained, "drained"),
				"reservedConcurrency":    r.concurrency(&region.Concurrency.Reserved, "reservedConcurrency"),
				"provisionedConcurrency": r.concurrency(&region.Concurrency.Provisioned, "provisionedConcurrency"),
			})
			if name == nil {
				r.errorf(e, "an entry of regions has no name: write name: eu-west-1")
				continue
			}
		}
		if r.region(name, "an entry of regions") {
			region.Name = name.Value
			at["region "+strconv.Itoa(len(c.Regions))] = name
			c.Regions = append(c.Regions, region)
		}
	}
}

// region checks the name of a Region.
func (r *reader) region(n *yaml.Node, what string) bool {
	if n.Kind == yaml.ScalarNode {
		if _, ok := places[n.Value]; ok {
			return true
		}
	}
	hint := ""
	if w, ok := closest(n.Value, regionNames()); ok {
		hint = fmt.Sprintf("; did you mean %s?", w)
	}
	r.errorf(n, "%s is %s, which is no Region that Weir knows%s", what, shown(n), hint)
	return false
}

func (r *reader) concurrency(to *int, what string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		if n.Value == "0" {
			r.errorf(n, "%s is 0: a function that may not run answers every request with 500; remove it for no limit", what)
			return
		}
		r.count(to, what, 1, 100_000)(n)
	}
}

func (r *reader) api(c *Config, n *yaml.Node, mark func(string, func(*yaml.Node)) func(*yaml.Node)) {
	a := &c.API
	r.object(n, "api", fields{
		"kind":          mark("kind", choice(r, &a.Kind, "api.kind", REST, HTTP, None)),
		"stage":         r.text(&a.Stage, "api.stage", stageForm, "1 to 64 of A-Z a-z 0-9 _"),
		"backend":       mark("backend", r.text(&a.Backend, "api.backend", urlForm, "a URL, such as https://origin.example.com")),
		"overLimit":     mark("overLimit", choice(r, &a.OverLimit, "api.overLimit", Deny, Flag)),
		"keyHeader":     r.text(&a.KeyHeader, "api.keyHeader", headerForm, "the name of a request header, such as x-api-key"),
		"anonymousPlan": r.text(&a.AnonymousPlan, "api.anonymousPlan", planForm, "the name of a plan, 1 to 64 of A-Z a-z 0-9 . _ -"),
		"corsOrigin":    r.text(&a.CORSOrigin, "api.corsOrigin", originForm, "* or an origin, such as https://app.example.com"),
		"logsRole":      r.boolean(&a.LogsRole, "api.logsRole"),
	})
}

func (r *reader) domain(c *Config, n *yaml.Node, mark func(string, func(*yaml.Node)) func(*yaml.Node)) {
	d := &Domain{Certificates: map[string]string{}}
	c.Domain = d
	r.object(n, "domain", fields{
		"name": mark("domain.name", r.text(&d.Name, "domain.name", domainForm, "a name in lower case, such as api.example.com")),
		"zone": mark("zone", func(n *yaml.Node) {
			r.object(n, "domain.zone", fields{
				"id":   mark("zone.id", r.text(&d.ZoneID, "domain.zone.id", zoneForm, "the id of a hosted zone, such as Z0123456789ABCDEFGHIJ")),
				"name": mark("zone.name", r.text(&d.ZoneName, "domain.zone.name", domainForm, "the name of the hosted zone, such as example.com")),
			})
		}),
		"healthKey": mark("healthKey", r.text(&d.HealthKey, "domain.healthKey", paramForm, "the name of an SSM parameter, such as /weir/health-key")),
		"certificates": func(n *yaml.Node) {
			if n.Kind != yaml.MappingNode {
				r.errorf(n, "domain.certificates: want a mapping of Regions to ARNs")
				return
			}
			for i := 0; i+1 < len(n.Content); i += 2 {
				var arn string
				region := n.Content[i]
				r.text(&arn, "domain.certificates."+region.Value, certForm, "the ARN of a certificate in that Region")(n.Content[i+1])
				d.Certificates[region.Value] = arn
				mark("certificate "+region.Value, func(*yaml.Node) {})(region)
			}
		},
	})
}

// document returns the only document's top node.
func document(text []byte) (*yaml.Node, error) {
	d := yaml.NewDecoder(bytes.NewReader(text))
	var doc, second yaml.Node
	switch err := d.Decode(&doc); {
	case errors.Is(err, io.EOF) || err == nil && len(doc.Content) == 0:
		return nil, errors.New("the file is empty: infra/examples has some to start from")
	case err != nil:
		return nil, err
	}
	if err := d.Decode(&second); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more than one document: a file is one deployment")
	}
	return doc.Content[0], nil
}

var yamlAt = regexp.MustCompile(`line ([0-9]+)`)

// yamlLine returns the line that a YAML error speaks of.
func yamlLine(err error) int {
	if m := yamlAt.FindStringSubmatch(err.Error()); m != nil {
		n, _ := strconv.Atoi(m[1]) // digits
		return n
	}
	return 1
}
