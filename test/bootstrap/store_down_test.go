package bootstrap_test

import (
	"strings"
	"testing"

	"weir/internal/testbootstrap"
)

// TestStoreDown: with nothing behind it the function still answers. Who calls
// cannot be found out, so it refuses, and asks to come again soon.
func TestStoreDown(t *testing.T) {
	f := testbootstrap.Start(t, bootstrap,
		"AWS_REGION="+region, "AWS_ENDPOINT_URL_DYNAMODB=http://127.0.0.1:9", // discard: nothing listens
		"WEIR_BUCKETS_TABLE=buckets", "WEIR_CONFIG_TABLE=config")
	for range 5 {
		a := decode(t, invoke(t, f, event(t, "apigw-custom-auth-request-type-request")))
		if a.effect() != "Deny" || a.Context["code"] != "unavailable" || a.Context["retryAfter"] != "1" {
			t.Errorf("got %s, %v; want a refusal to retry", a.effect(), a.Context)
		}
	}
	if log := f.Log(); !strings.Contains(log, `"level":"WARN"`) || strings.Contains(log, "acme-dev-key-1") {
		t.Errorf("want a warning without the key in the log\n%s", log)
	}
}
