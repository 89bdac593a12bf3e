package authorizer

import (
	"os"
	"strings"
	"testing"
)

// TestDocsDefineEveryKeyAndCode: docs/answers.md is the contract that gateway
// responses and backends are written against.
func TestDocsDefineEveryKeyAndCode(t *testing.T) {
	text, err := os.ReadFile("../../docs/answers.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range contextKeys {
		if !strings.Contains(string(text), "\n| `"+key+"` |") {
			t.Errorf("docs/answers.md has no line for the key %s", key)
		}
	}
	for _, c := range allCodes {
		if !strings.Contains(string(text), "\n| `"+string(c)+"` |") {
			t.Errorf("docs/answers.md has no line for the code %s", c)
		}
	}
}
