package app_test

import (
	"maps"
	"slices"
	"testing"
)

func replicaRegions(r resource) []string {
	var names []string
	list, _ := r.at("Replicas").([]any)
	for _, e := range list {
		names = append(names, e.(map[string]any)["Region"].(string))
	}
	slices.Sort(names)
	return names
}

func TestTables(t *testing.T) {
	a := synthesised(t, full)
	s := a.stack(t, "data")
	all := slices.Sorted(slices.Values(a.config.RegionNames()))
	for name, ttl := range map[string]any{
		"weir-buckets": map[string]any{"AttributeName": "ttl", "Enabled": true},
		"weir-config":  nil,
	} {
		table := s.the(t, "AWS::DynamoDB::GlobalTable", "TableName", name)
		table.expect(t,
			"KeySchema", []any{map[string]any{"AttributeName": "pk", "KeyType": "HASH"}, map[string]any{"AttributeName": "sk", "KeyType": "RANGE"}},
			"AttributeDefinitions", []any{map[string]any{"AttributeName": "pk", "AttributeType": "S"}, map[string]any{"AttributeName": "sk", "AttributeType": "S"}},
			"BillingMode", "PAY_PER_REQUEST",
			"SSESpecification.SSEEnabled", true,
			"StreamSpecification.StreamViewType", "NEW_AND_OLD_IMAGES",
			"TimeToLiveSpecification", ttl,
			"MultiRegionConsistency", nil)
		if got := replicaRegions(table); !slices.Equal(got, all) {
			t.Errorf("%s: replicas in %v, want %v", name, got, all)
		}
		if table.DeletionPolicy != "Retain" {
			t.Errorf("%s: DeletionPolicy %s, want Retain", name, table.DeletionPolicy)
		}
		for _, r := range table.at("Replicas").([]any) {
			replica := r.(map[string]any)
			if replica["DeletionProtectionEnabled"] != true {
				t.Errorf("%s in %v can be deleted", name, replica["Region"])
			}
			if recovery := replica["PointInTimeRecoverySpecification"] != nil; recovery != (name == "weir-config") {
				t.Errorf("%s in %v: point-in-time recovery %v", name, replica["Region"], recovery)
			}
		}
	}
	if n := len(s.of("AWS::DynamoDB::GlobalTable")); n != 2 {
		t.Errorf("%d tables without strict, want 2", n)
	}
}

func TestStrictTable(t *testing.T) {
	three := synthesised(t, "../examples/three-regions.yaml").stack(t, "data").the(t, "AWS::DynamoDB::GlobalTable", "TableName", "weir-strict")
	three.expect(t, "MultiRegionConsistency", "STRONG", "TimeToLiveSpecification", nil, "GlobalTableWitnesses", nil)
	if got := replicaRegions(three); len(got) != 3 {
		t.Errorf("replicas in %v, want three", got)
	}
	two := synthesised(t, "../examples/two-regions.yaml").stack(t, "data").the(t, "AWS::DynamoDB::GlobalTable", "TableName", "weir-strict")
	two.expect(t, "MultiRegionConsistency", "STRONG", "TimeToLiveSpecification", nil, "GlobalTableWitnesses", []any{map[string]any{"Region": "eu-west-3"}})
	if got := replicaRegions(two); len(got) != 2 {
		t.Errorf("replicas in %v, want two", got)
	}
}

// TestThrowAway: tables of a stack that is not protected go with it.
func TestThrowAway(t *testing.T) {
	s := synthesisedText(t, "throw-away", least+"tables: { protect: false }\n").stack(t, "data")
	for _, table := range s.of("AWS::DynamoDB::GlobalTable") {
		if table.DeletionPolicy != "Delete" || table.at("Replicas.0.DeletionProtectionEnabled") == true {
			t.Errorf("%v is kept", table.at("TableName"))
		}
	}
}

const least = "account: '123456789012'\nregions: [eu-west-1]\n"

func TestStacks(t *testing.T) {
	for file, want := range map[string][]string{
		full:                           {"ap-southeast-2", "ap-southeast-2-observability", "data", "eu-west-1", "eu-west-1-observability", "global", "resilience", "us-east-1", "us-east-1-observability"},
		"../examples/one-region.yaml":  {"data", "eu-west-1", "eu-west-1-observability"},
		"../examples/two-regions.yaml": {"data", "eu-central-1", "eu-central-1-observability", "eu-west-1", "eu-west-1-observability", "global"},
	} {
		if got := slices.Sorted(maps.Keys(synthesised(t, file).templates)); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", file, got, want)
		}
	}
}
