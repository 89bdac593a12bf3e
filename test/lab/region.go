package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"

	"weir/internal/testbootstrap"
)

// event is what API Gateway sends for a request of the tenant.
//
//go:embed event.json
var event []byte

// region is one Region: its authorizers, and what they say to the store.
type region struct {
	index     int
	name      string
	functions []*testbootstrap.Function
	store     *counter
	queue     chan *request
	down      atomic.Bool // its name no longer leads to it
}

func (l *lab) startRegion(index int, name, bootstrap string) (*region, error) {
	store, err := newCounter(l.engine.Endpoint())
	if err != nil {
		return nil, err
	}
	l.onClose(store.close)
	r := &region{index: index, name: name, store: store, queue: make(chan *request, 10_000)}
	for range l.o.processes {
		f, err := testbootstrap.Launch(bootstrap,
			"AWS_REGION="+name,
			"AWS_ENDPOINT_URL_DYNAMODB="+store.endpoint,
			"WEIR_BUCKETS_TABLE="+bucketsTable,
			"WEIR_CONFIG_TABLE="+configTable,
			"WEIR_REGIONS="+strings.Join(regionNames, ","),
			"WEIR_STORE_TIMEOUT="+storeTimeout.String(),
			"WEIR_LOG_LEVEL=warn",
		)
		if err != nil {
			return nil, err
		}
		l.onClose(f.Stop)
		r.functions = append(r.functions, f)
	}
	return r, nil
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
