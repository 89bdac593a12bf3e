package ddbstore

import (
	"context"
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// beaten is a client whose transactions always lose to others, and whose caller
// has given up when the answer comes.
type beaten struct {
	configAPI
	calls  int
	giveUp context.CancelFunc
}

func (b *beaten) TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	b.calls++
	b.giveUp()
	return nil, &types.TransactionCanceledException{CancellationReasons: []types.CancellationReason{
		{Code: aws.String("None")}, {Code: aws.String("TransactionConflict")},
	}}
}

func TestTransactEndsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	client := &beaten{giveUp: cancel}
	_, err := NewConfig(client, "config").PutPlan(ctx, Plan{Name: "pro"}, Change{Author: "ada"})
	if !errors.Is(err, context.Canceled) || errors.Is(err, ErrConflict) || client.calls != 1 {
		t.Errorf("%v after %d calls, want that of the context after one", err, client.calls)
	}
}
