package config

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const least = "account: '123456789012'\nregions: [eu-west-1]\n"

func TestParseLeast(t *testing.T) {
	c, err := Parse("weir.yaml", []byte(least))
	if err != nil {
		t.Fatal(err)
	}
	if c.Name != "weir" || c.Account != "123456789012" || c.Partition != "aws" || c.Primary().Name != "eu-west-1" {
		t.Errorf("got %+v", c)
	}
	if !c.Tables.Protect || c.API.Kind != REST || c.Authorizer.Timeout != 3*time.Second || c.Strict != nil || c.Domain != nil {
		t.Errorf("defaults: got %+v", c)
	}
	if got, want := c.TableARN("us-east-1", c.ConfigTable()), "arn:aws:dynamodb:us-east-1:123456789012:table/weir-config"; got != want {
		t.Errorf("TableARN = %s, want %s", got, want)
	}
}

func TestExamples(t *testing.T) {
	files, err := filepath.Glob("../examples/*.yaml")
	if err != nil || len(files) < 3 {
		t.Fatalf("examples: %v, %v", files, err)
	}
	for _, f := range append(files, "../weir.yaml") {
		if _, err := Load(f); err != nil {
			t.Errorf("%v", err)
		}
	}
}

func TestConcurrencyIn(t *testing.T) {
	c, err := Parse("weir.yaml", []byte(`account: "123456789012"
authorizer: { reservedConcurrency: 100, provisionedConcurrency: 5 }
regions:
  - eu-west-1
  - { name: us-east-1, reservedConcurrency: 300 }
`))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []Concurrency{{100, 5}, {300, 5}} {
		if got := c.ConcurrencyIn(c.Regions[i]); got != want {
			t.Errorf("%s: got %+v, want %+v", c.Regions[i].Name, got, want)
		}
	}
}

func TestNearest(t *testing.T) {
	got := Nearest("eu-central-1", []string{"us-east-1", "ap-southeast-2", "eu-central-1", "eu-west-1"})
	if want := []string{"eu-central-1", "eu-west-1", "us-east-1", "ap-southeast-2"}; !slices.Equal(got, want) {
		t.Errorf("Nearest = %v, want %v", got, want)
	}
}

// domain is the least a domain needs.
const domain = "domain: { name: api.example.com, zone: { id: Z0123456789, name: example.com }, healthKey: /weir/key }\n"

// TestMistakes: each is one line, with its place and what to do.
func TestMistakes(t *testing.T) {
	const acct = "account: '123456789012'\n"
	for _, tt := range []struct{ name, text, want string }{
		{"unknown Region", acct + "regions:\n  - eu-west-1\n  - eu-wst-2\n", "weir.yaml:4: an entry of regions is \"eu-wst-2\", which is no Region that Weir knows; did you mean eu-west-2?"},
		{"a Region like none", acct + "regions: [mars-north-1]\n", "weir.yaml:2: an entry of regions is \"mars-north-1\", which is no Region that Weir knows"},
		{"duplicate", acct + "regions:\n  - eu-west-1\n  - us-east-1\n  - eu-west-1\n", "weir.yaml:5: eu-west-1 is listed twice, first on line 3: remove one"},
		{"no Region", acct, "weir.yaml:1: regions is missing: list at least one, the primary one first"},
		{"two partitions", acct + "regions: [eu-west-1, cn-north-1]\n", "weir.yaml:2: cn-north-1 is in partition aws-cn and eu-west-1 in aws: tables cannot span them; make a deployment for each"},
		{"no account", "regions: [eu-west-1]\n", "weir.yaml:1: account is missing: write the 12 digits of the AWS account, in quotes"},
		{"account as a number", "account: 123456789012\nregions: [eu-west-1]\n", "weir.yaml:1: account is a number: put its 12 digits in quotes"},
		{"strict in one Region", least + "strict: true\n", "weir.yaml:3: strict needs three Regions, or two and a witness; in one Region every limit is exact without it: remove strict"},
		{"strict in two", acct + "regions: [eu-west-1, eu-west-2]\nstrict: true\n", "weir.yaml:3: strict with two regions needs a third as witness: write strict: {witness: ...}, a Region of the same set"},
		{"strict in four", acct + "regions: [eu-west-1, eu-west-2, eu-west-3, eu-central-1]\nstrict: true\n", "weir.yaml:3: strict needs exactly three Regions, these are 4: keep such limits in a deployment of their own"},
		{"strict across sets", acct + "regions: [eu-west-1, us-east-1, ap-southeast-2]\nstrict: true\n", "weir.yaml:3: strict needs all Regions in one set, and eu-west-1, us-east-1, ap-southeast-2 are not: Asia Pacific is "},
		{"witness of another set", acct + "regions: [eu-west-1, eu-west-2]\nstrict: { witness: us-east-1 }\n", "weir.yaml:3: strict needs all Regions in one set, and eu-west-1, eu-west-2, us-east-1 are not: "},
		{"witness is a Region", acct + "regions: [eu-west-1, eu-west-2]\nstrict:\n  witness: eu-west-2\n", "weir.yaml:4: strict.witness eu-west-2 is one of the regions: a witness holds no replica; name another Region of the same set"},
		{"witness of three", acct + "regions: [us-east-1, us-east-2, us-west-2]\nstrict: { witness: eu-west-2 }\n", "weir.yaml:3: strict.witness is for two regions; three have a replica each: remove it"},
		{"no zone", least + "domain: { name: api.example.com, healthKey: /weir/key }\n", "weir.yaml:3: domain api.example.com has no hosted zone: write zone: {id: Z..., name: ...}, the public zone in Route 53 that holds it"},
		{"half a zone", least + "domain:\n  name: api.example.com\n  healthKey: k\n  zone: { name: example.com }\n", "weir.yaml:6: domain api.example.com has no hosted zone: "},
		{"another's zone", least + "domain: { name: api.example.org, zone: { id: Z0123456789, name: example.com }, healthKey: k }\n", "weir.yaml:3: domain.name api.example.org is not in zone example.com"},
		{"no health key", least + "domain: { name: api.example.com, zone: { id: Z0123456789, name: example.com } }\n", "weir.yaml:3: domain.healthKey is missing: "},
		{"certificate elsewhere", least + "domain:\n  name: a.example.com\n  zone: { id: Z0123456789, name: example.com }\n  healthKey: k\n  certificates:\n    eu-west-1: arn:aws:acm:us-east-1:123456789012:certificate/x\n", "weir.yaml:8: domain.certificates.eu-west-1 is in another Region: a regional domain needs one of its own Region"},
		{"http and 429", least + "api:\n  kind: http\n  backend: https://b.example.com\n", "weir.yaml:4: api.kind http cannot answer 429 itself: write overLimit: deny for 403, or flag for a backend that answers 429 when it sees limited=true"},
		{"http without backend", least + "api: { kind: http, overLimit: deny }\n", "weir.yaml:3: api.kind http has no answer of its own: write the URL of the backend"},
		{"http and domain", least + domain + "api: { kind: http, overLimit: deny, backend: 'https://b.example.com' }\n", "weir.yaml:3: domain needs api.kind rest: an HTTP API has no route by which a health check could see the whole path work"},
		{"overLimit of rest", least + "api: { overLimit: flag }\n", "weir.yaml:3: api.overLimit is for kind http; a REST API answers 429 itself: remove it"},
		{"reserved 0", least + "authorizer: { reservedConcurrency: 0 }\n", "weir.yaml:3: authorizer.reservedConcurrency is 0: a function that may not run answers every request with 500; remove it for no limit"},
		{"more provisioned than reserved", acct + "authorizer: { reservedConcurrency: 10 }\nregions:\n  - { name: eu-west-1, provisionedConcurrency: 20 }\n", "weir.yaml:4: eu-west-1: 20 provisioned of 10 reserved environments: reserve at least as many as are provisioned"},
		{"timeout", least + "authorizer: { storeTimeout: 400ms }\n", "weir.yaml:3: authorizer.timeout 3s is shorter than the 4s in which a caller may be looked up (10 times storeTimeout): what runs into it is a 500"},
		{"drained without DNS", acct + "regions: [{ name: eu-west-1, drained: true }, us-east-1]\n", "weir.yaml:2: eu-west-1 is drained, but without a domain there is no DNS to drain it from: remove drained"},
		{"all drained", acct + domain + "regions: [{ name: eu-west-1, drained: true }]\n", "weir.yaml:3: every Region is drained: nobody would be served"},
		{"experiment in one Region", least + "resilience:\n  experiment: true\n", "weir.yaml:4: resilience.experiment pauses replication between Regions: with one Region there is none"},
		{"experiment without alarms", acct + "regions: [eu-west-1, us-east-1]\nobservability: { alarms: false }\nresilience: { experiment: true }\n", "weir.yaml:4: resilience.experiment needs observability.alarms: an alarm is what stops it"},
		{"DNS in China", acct + "regions: [cn-north-1]\n" + domain, "weir.yaml:3: domain needs Route 53's health checks and latency records, which partition aws-cn has not: "},
		{"unknown field", least + "reigons: []\n", "weir.yaml:3: \"reigons\" is no field of the file; did you mean regions?"},
		{"field twice", least + "regions: [us-east-1]\n", "weir.yaml:3: \"regions\" appears twice in the file, first on line 2: remove one"},
		{"empty field", least + "api:\n", "weir.yaml:3: api of the file has no value: give it one or remove it"},
		{"wrong type", least + "tables: { protect: maybe }\n", "weir.yaml:3: tables.protect is \"maybe\": want true or false"},
		{"duration", least + "observability: { lag: 2 }\n", "weir.yaml:3: observability.lag is \"2\": want a duration from 100ms to 1h0m0s in steps of 1ms, such as 2s"},
		{"retention", least + "logs: { retention: 15 }\n", "weir.yaml:3: logs.retention (days) is \"15\": want one of 1 3 5 7 14 "},
		{"not YAML", "a: b\n c: d\n", "weir.yaml:2: yaml: line 2: "},
		{"empty", "# nothing\n", "weir.yaml:1: the file is empty: "},
		{"two documents", least + "---\n" + least, "weir.yaml:1: there is more than one document: "},
		{"not a mapping", "- a\n", "weir.yaml:1: the file: want a mapping of account, api, "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse("weir.yaml", []byte(tt.text))
			if err == nil {
				t.Fatalf("no error, want %s", tt.want)
			}
			if got := err.Error(); strings.Contains(got, "\n") || !strings.HasPrefix(got, tt.want) {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// TestAllMistakes: everything wrong is said at once, in the order of the file.
func TestAllMistakes(t *testing.T) {
	_, err := Parse("weir.yaml", []byte("regions: [nowhere, eu-west-1]\nlogs: { level: loud }\nname: 7\n"))
	var all Errors
	if !errors.As(err, &all) || len(all) != 3 || all[0].Line != 1 || all[1].Line != 2 || all[2].Line != 3 {
		t.Errorf("got %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(least))
	f.Add([]byte("a: &a [*a]\n"))
	for _, name := range []string{"../weir.yaml", "../examples/two-regions.yaml", "../examples/three-regions.yaml"} {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := Parse("weir.yaml", text)
		var all Errors
		if (c == nil) == (err == nil) || err != nil && !errors.As(err, &all) {
			t.Errorf("Parse = %v, %v", c, err)
		}
	})
}
