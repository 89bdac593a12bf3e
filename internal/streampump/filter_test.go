package streampump

import (
	"encoding/json"
	"testing"
)

func TestFilter(t *testing.T) {
	const current = `{"eventName":["INSERT","MODIFY"],"dynamodb":{"Keys":{"pk":{"S":[{"prefix":"PLAN#"},{"prefix":"TENANT#"}]},"sk":{"S":["CURRENT"]}}}}`
	f, err := parseFilter(current)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		record string
		want   bool
	}{
		{`{"eventName":"MODIFY","dynamodb":{"Keys":{"pk":{"S":"PLAN#pro"},"sk":{"S":"CURRENT"}}}}`, true},
		{`{"eventName":"INSERT","dynamodb":{"Keys":{"pk":{"S":"TENANT#t"},"sk":{"S":"CURRENT"}},"NewImage":{}}}`, true},
		{`{"eventName":"REMOVE","dynamodb":{"Keys":{"pk":{"S":"PLAN#pro"},"sk":{"S":"CURRENT"}}}}`, false},
		{`{"eventName":"MODIFY","dynamodb":{"Keys":{"pk":{"S":"PLAN#pro"},"sk":{"S":"V#0000000001"}}}}`, false},
		{`{"eventName":"MODIFY","dynamodb":{"Keys":{"pk":{"S":"JOB#x"},"sk":{"S":"CURRENT"}}}}`, false},
		{`{"eventName":"MODIFY","dynamodb":{"Keys":{"pk":{"N":"1"},"sk":{"S":"CURRENT"}}}}`, false},
		{`{"eventName":"MODIFY"}`, false},
		{`7`, false},
	}
	for _, tt := range tests {
		if got := f.matches(json.RawMessage(tt.record)); got != tt.want {
			t.Errorf("%s: got %v", tt.record, got)
		}
	}
	for _, pattern := range []string{"", "[]", "{", `{"a":[]}`, `{"a":"x"}`, `{"a":[{"anything-but":"x"}]}`, `{"a":[{"prefix":1}]}`, `["x"]`} {
		if _, err := parseFilter(pattern); err == nil {
			t.Errorf("filter %s was taken", pattern)
		}
	}
}
