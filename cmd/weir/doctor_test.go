package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// assembly writes a folder such as the CDK writes, with one API whose authorizer is
// cached. test/e2e has the doctor look at real ones, and at what is deployed.
func assembly(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"manifest.json": `{"artifacts":{"orders":{"type":"aws:cloudformation:stack","environment":"aws://123456789012/eu-west-1","properties":{"templateFile":"orders.template.json"}}}}`,
		"orders.template.json": `{"Resources":{
			"Api":{"Type":"AWS::ApiGateway::RestApi","Properties":{"Name":"orders"}},
			"Authorizer":{"Type":"AWS::ApiGateway::Authorizer","Metadata":{"weir":{"part":"authorizer"}},"Properties":{"RestApiId":{"Ref":"Api"},"AuthorizerResultTtlInSeconds":300}}}}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func examine(t *testing.T, args ...string) (string, error) {
	t.Helper()
	root := newRoot()
	var out bytes.Buffer
	root.SetOut(&out)
	root.SetErr(&bytes.Buffer{})
	root.SetArgs(append([]string{"doctor"}, args...))
	err := root.ExecuteContext(t.Context())
	return out.String(), err
}

func TestDoctorSynth(t *testing.T) {
	out, err := examine(t, "--synth", assembly(t))
	if exitCode(err) != exitRefused || !strings.HasSuffix(err.Error(), "things are broken") {
		t.Errorf("exit code %d, %v, want %d", exitCode(err), err, exitRefused)
	}
	for _, want := range []string{
		"looked at 1 API and 0 tables in eu-west-1", "REST API orders in eu-west-1", "cached for 300 s", "Set the authorizer's TTL to 0. (authorizer-cached)", "(no-429)", "(authorizer-missing)",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks %q:\n%s", want, out)
		}
	}
}

func TestDoctorJSON(t *testing.T) {
	out, err := examine(t, "--json", "--synth", assembly(t))
	var got diagnosisJSON
	if jsonErr := json.Unmarshal([]byte(out), &got); jsonErr != nil {
		t.Fatalf("%v in %s", jsonErr, out)
	}
	if err == nil || len(got.Findings) < 3 || len(got.Regions) != 1 || got.Findings[0].Severity != "broken" {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestDoctorWithoutAnything(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"--synth", t.TempDir()}, "`make synth` makes build/cdk.out"},
		{[]string{"--config-table", "plans", "--endpoint", "http://127.0.0.1:1"}, "name it with --name"},
	} {
		if _, err := examine(t, tt.args...); err == nil || exitCode(err) != exitError || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v: got %v, want an error with %q", tt.args, err, tt.want)
		}
	}
}
