package authorizer

import (
	"context"
	"testing"
)

// BenchmarkHandle is a request of a busy tenant, decided from memory.
func BenchmarkHandle(b *testing.B) {
	for _, name := range []string{"apigw-custom-auth-request-type-request", "apigw-v2-custom-authorizer-v2-request"} {
		b.Run(name, func(b *testing.B) {
			h := exampleHandler(b, HTTPStyle{})
			now := t0
			h.now = func() int64 { now += 20_000_000; return now } // at half its rate
			event := readEvent(b, name)
			b.ReportAllocs()
			for b.Loop() {
				answer, err := h.Handle(context.Background(), event)
				if err != nil || !checkedAllow(answer) {
					b.Fatalf("got %s, %v", answer, err)
				}
			}
		})
	}
}

// checkedAllow looks at the start only, so as not to measure a parser.
func checkedAllow(answer []byte) bool {
	const allow = `{"principalId":"acme","policyDocument":{"Version":"2012-10-17","Statement":[{"Action":"execute-api:Invoke","Effect":"Allow"`
	const simple = `{"isAuthorized":true`
	return len(answer) > len(allow) && (string(answer[:len(allow)]) == allow || string(answer[:len(simple)]) == simple)
}
