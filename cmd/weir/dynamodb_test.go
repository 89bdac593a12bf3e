package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"weir/internal/testengine"
	"weir/pkg/ddbstore"
)

// TestDevOnDynamoDB runs `weir dev` twice on one pair of tables.
func TestDevOnDynamoDB(t *testing.T) {
	const region = "eu-north-1"
	engine := testengine.Start(t)
	dir := t.TempDir()
	plans := func(follow string) {
		write(t, dir, "p.yaml", `
plans:
  p: {limits: [{name: api, rate: 3/h}, {name: follow, match: {resource: /follow}, rate: `+follow+`}]}
tenants:
  - {id: a, plan: p, keys: [secret-of-a]}
  - {id: b, plan: p, suspended: true, keys: [secret-of-b]}
  - {id: c, plan: p, mode: shadow, keys: [secret-of-c]}
`)
	}
	start := func() (*process, func(key string) int) {
		p := startDev(t, dir, "--plans", "p.yaml", "--dynamodb-endpoint", engine.Endpoint(), "--region", region)
		return p, func(key string) int {
			r, err := client{base: p.base, key: key, http: http.DefaultClient}.get(t.Context(), "/")
			if err != nil {
				t.Fatal(err)
			}
			return r.status
		}
	}

	plans("1/h")
	first, get := start()
	got := fmt.Sprint(get("secret-of-a"), get("secret-of-a"), get("secret-of-a"), get("secret-of-a"), get("secret-of-b"), get("nobody"))
	for range 4 { // nothing is enforced
		got += fmt.Sprint(" ", get("secret-of-c"))
	}
	if got != "200 200 200 429 429 401 200 200 200 200" {
		t.Errorf("answers are %s", got)
	}
	stdout, _ := first.stop(t)
	if want := "table weir-dev-buckets in " + region + " at " + engine.Endpoint(); !strings.Contains(stdout, want) {
		t.Errorf("no %q in\n%s", want, stdout)
	}

	second, get := start()
	if got := get("secret-of-a"); got != 429 {
		t.Errorf("after a restart the bucket is full again: %d", got)
	}
	second.stop(t)
	config := ddbstore.NewConfig(engine.Client(region), devConfig)
	if p, err := config.Plan(t.Context(), "p"); err != nil || p.Version != 1 {
		t.Errorf("a plan that did not change has version %d, %v; want 1", p.Version, err)
	}
	if tn, err := config.Tenant(t.Context(), "c"); err != nil || tn.Version != 1 || tn.Overrides != `{"mode":"shadow","hold":"0s"}` {
		t.Errorf("a tenant that did not change is %+v, %v; want version 1", tn, err)
	}

	plans("2/h")
	third, get := start()
	get("secret-of-a")
	third.stop(t)
	if p, err := config.Plan(t.Context(), "p"); err != nil || p.Version != 2 {
		t.Errorf("a plan that changed has version %d, %v; want 2", p.Version, err)
	}

	items, err := engine.Client(region).Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String(devConfig)})
	if err != nil {
		t.Fatal(err)
	}
	current := 0
	for _, it := range items.Items {
		if sk, ok := it["sk"].(*types.AttributeValueMemberS); ok && sk.Value == "CURRENT" {
			current++
		}
	}
	if current != 7 { // a plan, three tenants, three credentials
		t.Errorf("%d things in the config table, want 7", current)
	}
	for _, it := range items.Items {
		for name, v := range it {
			if s := fmt.Sprintf("%+v", v); strings.Contains(s, "secret-of") {
				t.Errorf("attribute %s has a key in plain text: %s", name, s)
			}
		}
	}
}

func TestDevWithoutDynamoDB(t *testing.T) {
	for endpoint, want := range map[string]string{
		"http://127.0.0.1:1": "is a local DynamoDB running there?",
		"localhost:4566":     "want a URL",
		"127.0.0.1":          "want a URL",
	} {
		t.Run(endpoint, func(t *testing.T) {
			stdout, _, err := run(t, repository, "dev", "--dynamodb-endpoint", endpoint)
			if err == nil || !strings.Contains(err.Error(), want) || stdout != "" {
				t.Errorf("%v %q, want an error with %q", err, stdout, want)
			}
		})
	}
}
