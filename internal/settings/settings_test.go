package settings

import (
	"errors"
	"log/slog"
	"reflect"
	"strings"
	"testing"
	"time"
)

// environ is an environment of name=value pairs.
func environ(pairs ...string) func(string) string {
	m := map[string]string{}
	for _, p := range pairs {
		name, value, _ := strings.Cut(p, "=")
		m[name] = value
	}
	return func(name string) string { return m[name] }
}

var tables = []string{"WEIR_BUCKETS_TABLE=weir-buckets", "WEIR_CONFIG_TABLE=weir-config", "AWS_REGION=eu-west-1"}

var defaultTelemetry = Telemetry{Metrics: true, Namespace: "Weir", Interval: time.Minute, Tenants: 10, Sample: 10}

func TestFromEnvDefaults(t *testing.T) {
	got, err := FromEnv(environ(tables...), "/var/task/bootstrap")
	if err != nil {
		t.Fatal(err)
	}
	want := Settings{
		Store:        DynamoDB,
		BucketsTable: "weir-buckets",
		ConfigTable:  "weir-config",
		Region:       "eu-west-1",
		Regions:      []string{"eu-west-1"},
		Grace:        5 * time.Second,
		KeyHeader:    "x-api-key",
		HTTPResponse: Simple,
		OverLimit:    Deny,
		StoreTimeout: 100 * time.Millisecond,
		Processes:    10,
		LogLevel:     slog.LevelInfo,
		Telemetry:    defaultTelemetry,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestFromEnvEverything(t *testing.T) {
	got, err := FromEnv(environ(append(tables,
		"WEIR_STORE=dynamodb",
		"WEIR_REGIONS=us-east-1, eu-west-1,ap-southeast-2",
		"WEIR_STRICT_TABLE=weir-strict",
		"WEIR_GRACE=20s",
		"WEIR_KEY_HEADER=X-Partner-Key",
		"WEIR_ANONYMOUS_PLAN=anonymous",
		"WEIR_HTTP_RESPONSE=iam",
		"WEIR_HTTP_OVER_LIMIT=flag",
		"WEIR_STORE_TIMEOUT=250ms",
		"WEIR_PROCESSES=400",
		"WEIR_LOG_LEVEL=DEBUG",
		"WEIR_LOG_SAMPLE=100",
		"WEIR_METRICS=off",
		"WEIR_METRICS_NAMESPACE=Acme/Weir",
		"WEIR_METRICS_INTERVAL=10s",
		"WEIR_METRICS_TENANTS=0",
	)...), "")
	if err != nil {
		t.Fatal(err)
	}
	want := Settings{
		Store:        DynamoDB,
		BucketsTable: "weir-buckets",
		ConfigTable:  "weir-config",
		StrictTable:  "weir-strict",
		Region:       "eu-west-1",
		Regions:      []string{"us-east-1", "eu-west-1", "ap-southeast-2"},
		Grace:        20 * time.Second,
		Anonymous:    "anonymous",
		KeyHeader:    "x-partner-key",
		HTTPResponse: IAM,
		OverLimit:    Flag,
		StoreTimeout: 250 * time.Millisecond,
		Processes:    400,
		LogLevel:     slog.LevelDebug,
		Telemetry:    Telemetry{Namespace: "Acme/Weir", Interval: 10 * time.Second, Tenants: 0, Sample: 100},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestFromEnvMemory(t *testing.T) {
	// The tables of the shared template are not an error.
	got, err := FromEnv(environ(append(tables, "WEIR_STORE=memory", "WEIR_STRICT_TABLE=weir-strict")...), "/opt/weir/bootstrap")
	if err != nil {
		t.Fatal(err)
	}
	if got.Store != Memory || got.Plans != "/opt/weir/plans.yaml" || got.BucketsTable != "" || got.StrictTable != "" {
		t.Errorf("got %+v, want the plans beside the executable and no table", got)
	}
	got, err = FromEnv(environ("WEIR_STORE=memory", "WEIR_PLANS=my.yaml"), "/opt/weir/bootstrap")
	if err != nil || got.Plans != "my.yaml" || got.Region != "local" || !reflect.DeepEqual(got.Regions, []string{"local"}) {
		t.Errorf("WEIR_PLANS=my.yaml, no Region: got %+v, %v", got, err)
	}
}

func TestFromEnvProblems(t *testing.T) {
	tests := []struct {
		name string
		env  []string
		want []string // one line each
	}{
		{"nothing set", nil, []string{
			"WEIR_BUCKETS_TABLE is not set: write the name of a DynamoDB table, 3 to 255 of A-Z a-z 0-9 _ . -, or its ARN",
			"WEIR_CONFIG_TABLE is not set: write the name of a DynamoDB table, 3 to 255 of A-Z a-z 0-9 _ . -, or its ARN",
			"AWS_REGION is not set: write the Region of the tables, such as eu-west-1 (Lambda sets it)",
		}},
		{"all wrong", []string{
			"WEIR_STORE=redis", "WEIR_KEY_HEADER=x api key", "WEIR_HTTP_RESPONSE=Simple", "WEIR_HTTP_OVER_LIMIT=429",
			"WEIR_STORE_TIMEOUT=100", "WEIR_LOG_LEVEL=loud", "AWS_REGION=Ireland", "WEIR_REGIONS=eu-west-1;us-east-1",
		}, []string{
			`WEIR_STORE is "redis": write dynamodb or memory`,
			`WEIR_KEY_HEADER is "x api key": write the name of a request header, such as x-api-key`,
			`WEIR_HTTP_RESPONSE is "Simple": write simple or iam`,
			`WEIR_HTTP_OVER_LIMIT is "429": write deny or flag`,
			`WEIR_STORE_TIMEOUT is "100": write a duration from 1ms to 5s, such as 100ms`,
			`WEIR_LOG_LEVEL is "loud": write debug, info, warn or error`,
			`AWS_REGION is "Ireland": write the Region, such as eu-west-1; Lambda sets it`,
			`WEIR_REGIONS is "eu-west-1;us-east-1": write Regions with commas between, such as eu-west-1,us-east-1`,
		}},
		{"timeout of nothing", append(tables, "WEIR_STORE_TIMEOUT=0s"), []string{
			`WEIR_STORE_TIMEOUT is "0s": write a duration from 1ms to 5s, such as 100ms`,
		}},
		{"no process", append(tables, "WEIR_PROCESSES=0"), []string{
			`WEIR_PROCESSES is "0": write a whole number from 1 to 100000, such as 10`,
		}},
		{"half a process", append(tables, "WEIR_PROCESSES=1.5"), []string{
			`WEIR_PROCESSES is "1.5": write a whole number from 1 to 100000, such as 10`,
		}},
		{"a process too many", append(tables, "WEIR_PROCESSES=100001"), []string{
			`WEIR_PROCESSES is "100001": write a whole number from 1 to 100000, such as 10`,
		}},
		{"telemetry", append(tables, "WEIR_METRICS=yes", "WEIR_METRICS_NAMESPACE=:x", "WEIR_METRICS_INTERVAL=1h", "WEIR_METRICS_TENANTS=-1", "WEIR_LOG_SAMPLE=all"), []string{
			`WEIR_METRICS is "yes": write on or off`,
			`WEIR_METRICS_NAMESPACE is ":x": write a namespace of CloudWatch, such as Weir`,
			`WEIR_METRICS_INTERVAL is "1h": write a duration from 1s to 5m0s, such as 1m0s`,
			`WEIR_METRICS_TENANTS is "-1": write a whole number from 0 to 50, such as 10`,
			`WEIR_LOG_SAMPLE is "all": write a whole number from 0 to 10000, such as 10`,
		}},
		{"a namespace of AWS", append(tables, "WEIR_METRICS_NAMESPACE=AWS/Weir"), []string{
			`WEIR_METRICS_NAMESPACE is "AWS/Weir": write one that does not begin with AWS/, which CloudWatch keeps to itself, such as Weir`,
		}},
		{"one table for both", []string{"WEIR_BUCKETS_TABLE=weir", "WEIR_CONFIG_TABLE=weir", "AWS_REGION=eu-west-1"}, []string{
			"WEIR_CONFIG_TABLE is the same table as WEIR_BUCKETS_TABLE: buckets and configuration need a table each",
		}},
		{"one table for strict limits and buckets", append(tables, "WEIR_STRICT_TABLE=weir-buckets"), []string{
			"WEIR_STRICT_TABLE is the same table as another: strict limits need one of their own, strongly consistent across Regions",
		}},
		{"one table for strict limits and configuration", append(tables, "WEIR_STRICT_TABLE=weir-config"), []string{
			"WEIR_STRICT_TABLE is the same table as another: strict limits need one of their own, strongly consistent across Regions",
		}},
		{"a strict table that is no table, and no grace", append(tables, "WEIR_STRICT_TABLE=st", "WEIR_GRACE=10ms"), []string{
			`WEIR_GRACE is "10ms": write a duration from 1s to 1h0m0s, such as 5s`,
			`WEIR_STRICT_TABLE is "st": write the name of a DynamoDB table, 3 to 255 of A-Z a-z 0-9 _ . -, or its ARN, or nothing`,
		}},
		{"plans file with dynamodb", append(tables, "WEIR_PLANS=plans.yaml"), []string{
			"WEIR_PLANS is set, but WEIR_STORE=dynamodb reads plans from the config table: unset it, or set WEIR_STORE=memory",
		}},
		{"anonymous plan that is no name", append(tables, "WEIR_ANONYMOUS_PLAN=a b"), []string{
			`WEIR_ANONYMOUS_PLAN is "a b": write the name of a plan, 1 to 64 of A-Z a-z 0-9 . _ -, or nothing`,
		}},
		{"anonymous plan with memory", []string{"WEIR_STORE=memory", "WEIR_ANONYMOUS_PLAN=anonymous"}, []string{
			"WEIR_ANONYMOUS_PLAN is set, but with WEIR_STORE=memory the plans file says it: unset it, and write `anonymous` there",
		}},
		{"without this Region", append(tables, "WEIR_REGIONS=us-east-1,us-west-2"), []string{
			`WEIR_REGIONS is "us-east-1,us-west-2", without this Region: add eu-west-1 (AWS_REGION)`,
		}},
		{"a Region twice", append(tables, "WEIR_REGIONS=eu-west-1,eu-west-1"), []string{
			"WEIR_REGIONS names eu-west-1 twice: write each Region once",
		}},
		{"memory for two Regions", []string{"WEIR_STORE=memory", "WEIR_REGIONS=eu-west-1,us-east-1"}, []string{
			"WEIR_REGIONS names more than one Region, but WEIR_STORE=memory keeps buckets in this process alone: name one, or set WEIR_STORE=dynamodb",
		}},
		{"memory when deployed", []string{
			"WEIR_STORE=memory", "AWS_LAMBDA_RUNTIME_API=169.254.100.1:9001", "AWS_LAMBDA_LOG_STREAM_NAME=2026/11/30/[$LATEST]0123456789abcdef0123456789abcdef",
		}, []string{
			"WEIR_STORE is memory in a deployed function, where every process would limit alone: set it to dynamodb",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := FromEnv(environ(tt.env...), "/var/task/bootstrap")
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("got %+v, %v, want an *Error", s, err)
			}
			if !reflect.DeepEqual(e.Problems, tt.want) {
				t.Errorf("got\n  %s\nwant\n  %s", strings.Join(e.Problems, "\n  "), strings.Join(tt.want, "\n  "))
			}
			if !reflect.DeepEqual(s, Settings{}) {
				t.Errorf("got settings %+v beside the error", s)
			}
		})
	}
}

func TestInLambda(t *testing.T) {
	const api, stream = "AWS_LAMBDA_RUNTIME_API=127.0.0.1:9001", "AWS_LAMBDA_LOG_STREAM_NAME="
	tests := []struct {
		name string
		env  []string
		want bool
	}{
		{"a shell", nil, false},
		{"lambda", []string{api, stream + "2026/11/30/[$LATEST]0123456789abcdef0123456789abcdef"}, true},
		{"lambda, published version", []string{api, stream + "2026/11/30/[7]0123456789abcdef0123456789abcdef"}, true},
		{"no log stream at all", []string{api}, true},
		{"aws-lambda-rie", []string{api, stream + "$LATEST", "AWS_LAMBDA_FUNCTION_NAME=test_function"}, false},
		{"aws-lambda-rie, managed instances", []string{api, stream + "$LATEST", "AWS_LAMBDA_INITIALIZATION_TYPE=lambda-managed-instances"}, false},
		{"sam local", []string{api, stream + "$LATEST", "AWS_SAM_LOCAL=true"}, false},
		{"AWS_SAM_LOCAL in a deployed function", []string{api, stream + "2026/11/30/[$LATEST]00", "AWS_SAM_LOCAL=true"}, true},
	}
	for _, tt := range tests {
		if got := InLambda(environ(tt.env...)); got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestConfigTableIn(t *testing.T) {
	for name, want := range map[string]string{
		"weir-config": "weir-config",
		"arn:aws:dynamodb:eu-west-1:123456789012:table/weir-config": "arn:aws:dynamodb:us-east-1:123456789012:table/weir-config",
	} {
		if got := (Settings{ConfigTable: name}).ConfigTableIn("us-east-1"); got != want {
			t.Errorf("%s in us-east-1: got %s, want %s", name, got, want)
		}
	}
}
