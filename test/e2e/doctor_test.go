package e2e_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/apigateway"
	"github.com/aws/aws-sdk-go-v2/service/apigateway/types"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
)

// accepted is what is risky about the deployment on purpose: its configuration
// leaves tables without deletion protection.
const accepted = "table-protection"

// examine has `weir doctor` look at the deployment, as it is and with faults.
func (w *world) examine(t *testing.T) {
	for _, r := range regions { // sooner than the schedule does
		if _, err := w.invoke(t.Context(), r, "weir-reconciler", []byte(`{"source":"weir.schedule"}`)); err != nil {
			t.Fatal(err)
		}
	}
	found := w.doctor(t)
	if len(found["broken"]) > 0 {
		t.Errorf("broken: %v", found["broken"])
	}
	for rule, where := range found["risky"] {
		if rule != accepted {
			t.Errorf("risky: %s: %s", rule, where)
		}
	}
	// Somebody takes away the 429, and the function's environments, by hand.
	w.forget429(t, regions[1])
	w.reserve(t, regions[0], "weir-authorizer", 0)
	broken := slices.Sorted(maps.Keys(w.doctor(t)["broken"]))
	if want := []string{"no-429", "reserved-0"}; !slices.Equal(broken, want) {
		t.Errorf("broken: %v, want %v", broken, want)
	}
}

// doctor returns what `weir doctor` finds: by severity the rules, and of what.
func (w *world) doctor(t *testing.T) map[string]map[string]string {
	t.Helper()
	// With an endpoint it does without the metrics of replication, which the emulator has not.
	text, err := w.try(t, ".", w.weir, "doctor", "--json", "--endpoint", w.Endpoint(), "--region", regions[0], "--open", "/health",
		"--config-table", "weir-config", "--buckets-table", "weir-buckets")
	var found struct {
		Regions  []string
		Findings []struct{ Severity, Rule, Where, What string }
	}
	if jsonErr := json.Unmarshal([]byte(text), &found); jsonErr != nil {
		t.Fatal(err, jsonErr)
	}
	if !slices.Equal(slices.Sorted(slices.Values(found.Regions)), regions) {
		t.Errorf("Regions that were looked at: %v", found.Regions)
	}
	rules := map[string]map[string]string{}
	for _, f := range found.Findings {
		if rules[f.Severity] == nil {
			rules[f.Severity] = map[string]string{}
		}
		rules[f.Severity][f.Rule] = f.Where + ": " + f.What
	}
	return rules
}

// reserve sets a function's reserved concurrency.
func (w *world) reserve(t *testing.T, region, name string, n int32) {
	t.Helper()
	_, err := w.lambda(region).PutFunctionConcurrency(t.Context(), &lambda.PutFunctionConcurrencyInput{FunctionName: &name, ReservedConcurrentExecutions: &n})
	if err != nil {
		t.Fatal(err)
	}
}

// forget429 takes the 429 away from the REST APIs of a Region.
func (w *world) forget429(t *testing.T, region string) {
	t.Helper()
	client := w.apigateway(region)
	apis, err := client.GetRestApis(t.Context(), &apigateway.GetRestApisInput{})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range apis.Items {
		if _, err := client.DeleteGatewayResponse(t.Context(), &apigateway.DeleteGatewayResponseInput{
			RestApiId: a.Id, ResponseType: types.GatewayResponseTypeAccessDenied,
		}); err != nil {
			t.Fatal(err)
		}
	}
}
