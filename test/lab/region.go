package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"sync/atomic"

	"weir/internal/testbootstrap"
	"weir/internal/testworld"
)

// event is what API Gateway sends for a request of the tenant.
//
//go:embed event.json
var event []byte

// region is one Region, and the requests on their way to it.
type region struct {
	*testworld.Region
	queue chan *request
	down  atomic.Bool // its name no longer leads to it
}

// verdict is an authorizer's answer.
type verdict struct {
	allowed   bool
	unchecked bool // allowed because the store could not tell
}

// call asks an authorizer about a request of the tenant.
func call(ctx context.Context, f *testbootstrap.Function) (verdict, error) {
	reply, err := f.Invoke(ctx, event)
	if err != nil {
		return verdict{}, err
	}
	if reply.Err != "" {
		return verdict{}, fmt.Errorf("the authorizer says %q", reply.Err)
	}
	var answer struct {
		PolicyDocument struct{ Statement []struct{ Effect string } }
		Context        struct{ Code string }
	}
	if err := json.Unmarshal(reply.Payload, &answer); err != nil || len(answer.PolicyDocument.Statement) != 1 {
		return verdict{}, fmt.Errorf("the authorizer says %s: %v", reply.Payload, err)
	}
	switch effect, code := answer.PolicyDocument.Statement[0].Effect, answer.Context.Code; {
	case effect == "Allow" && (code == "ok" || code == "unchecked"):
		return verdict{allowed: true, unchecked: code == "unchecked"}, nil
	case effect == "Deny" && code == "rate_limited":
		return verdict{}, nil
	default:
		return verdict{}, fmt.Errorf("the authorizer says %s, because of %q", effect, code)
	}
}
