package reconciler

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

const someHash = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"

// rec is a record of the stream as Lambda writes it.
func rec(pk, sk, sequence string) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"eventName":"MODIFY","eventSource":"aws:dynamodb","dynamodb":{"ApproximateCreationDateTime":1764547200,`+
		`"Keys":{"pk":{"S":%q},"sk":{"S":%q}},"NewImage":{"pk":{"S":%q},"ver":{"N":"3"}},"SequenceNumber":%q}}`, pk, sk, pk, sequence))
}

func TestRead(t *testing.T) {
	big := fmt.Sprintf(`{"dynamodb":{"Keys":{"pk":{"S":"PLAN#pro"},"sk":{"S":"CURRENT"}},"NewImage":{"body":{"S":%q},"odd":{"WHAT":[1,{"M":null}]}},"SequenceNumber":"5"}}`,
		strings.Repeat("x", 400<<10))
	tests := []struct {
		name     string
		raw      string
		want     change
		verdict  verdict
		sequence string
	}{
		{"plan", string(rec("PLAN#pro", "CURRENT", "1")), change{planChange, "pro"}, news, "1"},
		{"tenant", string(rec("TENANT#acme", "CURRENT", "2")), change{tenantChange, "acme"}, news, "2"},
		{"a tenant with marks in its id", string(rec("TENANT#a#b", "CURRENT", "2")), change{tenantChange, "a#b"}, news, "2"},
		{"credential", string(rec("CRED#"+someHash, "CURRENT", "3")), change{credentialChange, someHash}, news, "3"},
		{"heartbeat", string(rec("HEARTBEAT#us-east-1", "CURRENT", "4")), change{heartbeat, "us-east-1"}, news, "4"},
		{"400 KB, and attributes of a kind that nobody knows", big, change{planChange, "pro"}, news, "5"},
		{"a removal", `{"eventName":"REMOVE","dynamodb":{"Keys":{"pk":{"S":"TENANT#t"},"sk":{"S":"CURRENT"}},"SequenceNumber":"6"}}`, change{tenantChange, "t"}, news, "6"},
		{"history", string(rec("PLAN#pro", "V#0000000003", "7")), change{}, noNews, "7"},
		{"a kind that nobody knows", string(rec("CIRCUIT#x", "CURRENT", "8")), change{}, noNews, "8"},
		{"no kind", string(rec("META", "CURRENT", "9")), change{}, noNews, "9"},
		{"no id", string(rec("PLAN#", "CURRENT", "10")), change{}, malformed, "10"},
		{"no hash", string(rec("CRED#abc", "CURRENT", "11")), change{}, malformed, "11"},
		{"half a hash", string(rec("CRED#"+someHash[:32], "CURRENT", "11")), change{}, malformed, "11"},
		{"a hash and more", string(rec("CRED#"+someHash+"00", "CURRENT", "11")), change{}, malformed, "11"},
		{"keys that are numbers", `{"dynamodb":{"Keys":{"pk":{"N":"1"},"sk":{"N":"2"}},"SequenceNumber":"12"}}`, change{}, malformed, "12"},
		{"keys that are no attributes", `{"dynamodb":{"Keys":{"pk":"PLAN#pro","sk":7},"SequenceNumber":"13"}}`, change{}, malformed, "13"},
		{"no keys", `{"dynamodb":{"SequenceNumber":"14"}}`, change{}, malformed, "14"},
		{"nothing of a stream", `{"messageId":"x","body":"{}"}`, change{}, malformed, ""},
		{"no object", `7`, change{}, malformed, ""},
		{"a sequence number that is none", `{"dynamodb":{"Keys":{},"SequenceNumber":15}}`, change{}, malformed, ""},
	}
	for _, tt := range tests {
		r, c, v := read(json.RawMessage(tt.raw))
		if c != tt.want || v != tt.verdict || r.DynamoDB.SequenceNumber != tt.sequence {
			t.Errorf("%s: got %v, verdict %v, sequence number %q; want %v, %v, %q", tt.name, c, v, r.DynamoDB.SequenceNumber, tt.want, tt.verdict, tt.sequence)
		}
	}
}

// FuzzRead: whatever a record is, it is read or refused, and what it names exists.
func FuzzRead(f *testing.F) {
	f.Add([]byte(rec("PLAN#pro", "CURRENT", "1")))
	f.Add([]byte(rec("CRED#"+someHash, "CURRENT", "1")))
	f.Add([]byte(`{"dynamodb":{"Keys":{"pk":{"S":"TENANT#\u0000"},"sk":{"S":"CURRENT"}},"ApproximateCreationDateTime":1e300}}`))
	f.Add([]byte(`{"dynamodb":[]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		_, c, v := read(raw)
		if (v == news) != (c.kind != "" && c.id != "") {
			t.Errorf("verdict %v of %v", v, c)
		}
		if c.kind == credentialChange {
			if _, ok := hashOf(c.id); !ok {
				t.Errorf("%q is no hash", c.id)
			}
		}
	})
}
