package e2e_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/apigateway"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/lambda"

	"weir/internal/testengine"
)

// synthesise writes the templates of configuration and returns their folder.
func (w *world) synthesise(t *testing.T) string {
	t.Helper()
	out := filepath.Join(w.dir, "cdk.out")
	w.run(t, ".", "make", "build", "ARCH="+w.arch)
	infra := w.build(t, "infra", ".", "infra")
	t.Setenv("JSII_NODE", strings.TrimSpace(w.run(t, ".", "scripts/cdk-node.sh")))
	w.run(t, "infra", infra, "-config", w.write(t, "weir.yaml", configuration), "-out", out, "-binaries", filepath.Join(w.root, "build", w.arch))
	return out
}

// deploy deploys stacks, after those they depend on, and returns the URLs of their
// APIs.
func (w *world) deploy(t *testing.T, out string, stacks ...string) map[string]string {
	t.Helper()
	file := filepath.Join(w.dir, "outputs.json")
	args := append([]string{"deploy"}, stacks...)
	w.run(t, ".", w.tool("cdk"), append(args, "--app", out, "--require-approval", "never", "--progress", "events", "--outputs-file", file)...)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var outputs map[string]map[string]string
	if err := json.Unmarshal(text, &outputs); err != nil {
		t.Fatal(err)
	}
	urls := map[string]string{}
	for stack, o := range outputs {
		urls[strings.TrimPrefix(stack, "weir-")] = o["ApiUrl"]
	}
	return urls
}

// tables are those of a deployment.
type tables struct{ config, buckets string }

// operate runs `weir` on a deployment's tables and returns what it prints.
func (w *world) operate(t *testing.T, on tables, args ...string) string {
	t.Helper()
	return strings.TrimSpace(w.run(t, ".", w.weir, append(args, "--region", regions[0], "--config-table", on.config, "--buckets-table", on.buckets)...))
}

// limits returns the limits of a bucket's rows, by the Region that writes them, as
// a Region's replica has them.
func (w *world) limits(t *testing.T, region, table, bucket string) map[string]string {
	t.Helper()
	out, err := w.Client(region).Query(t.Context(), &dynamodb.QueryInput{
		TableName: &table, ConsistentRead: aws.Bool(true), KeyConditionExpression: aws.String("pk = :pk"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":pk": &types.AttributeValueMemberS{Value: bucket}},
	})
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, item := range out.Items {
		sk, _ := item["sk"].(*types.AttributeValueMemberS)
		limit, _ := item["lim"].(*types.AttributeValueMemberS)
		if sk != nil && limit != nil {
			found[sk.Value] = limit.Value
		}
	}
	return found
}

// expectLeft checks which tables are left in a Region, and that no function, event
// source or API is.
func (w *world) expectLeft(t *testing.T, region string, tables ...string) {
	t.Helper()
	ctx, fn, gateway := t.Context(), w.lambda(region), w.apigateway(region)
	if out, err := w.Client(region).ListTables(ctx, &dynamodb.ListTablesInput{}); err != nil || !slices.Equal(out.TableNames, tables) {
		t.Errorf("%s: tables left: %v, %v, want %v", region, out.TableNames, err, tables)
	}
	if out, err := fn.ListFunctions(ctx, &lambda.ListFunctionsInput{}); err != nil || len(out.Functions) > 0 {
		t.Errorf("%s: functions left: %v, %v", region, out, err)
	}
	if out, err := fn.ListEventSourceMappings(ctx, &lambda.ListEventSourceMappingsInput{}); err != nil || len(out.EventSourceMappings) > 0 {
		t.Errorf("%s: event sources left: %v, %v", region, out, err)
	}
	if out, err := gateway.GetRestApis(ctx, &apigateway.GetRestApisInput{}); err != nil || len(out.Items) > 0 {
		t.Errorf("%s: APIs left: %v, %v", region, out, err)
	}
}

// parameter writes a parameter of the Parameter Store.
func (w *world) parameter(t *testing.T, region, name, value string) {
	t.Helper()
	body := fmt.Sprintf(`{"Name":%q,"Value":%q,"Type":"String"}`, name, value)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.Endpoint(), strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-amz-json-1.1")
	req.Header.Set("X-Amz-Target", "AmazonSSM.PutParameter")
	key, err := testengine.Credentials.Retrieve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(body))
	if err := v4.NewSigner().SignHTTP(t.Context(), key, req, hex.EncodeToString(sum[:]), "ssm", region, time.Now()); err != nil {
		t.Fatal(err)
	}
	if got := do(t, req); got.status != http.StatusOK {
		t.Fatalf("%s in %s: %d %s", name, region, got.status, got.body)
	}
}
