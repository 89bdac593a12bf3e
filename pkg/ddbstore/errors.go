package ddbstore

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"weir/internal/limiter"
)

// Errors, matched with errors.Is. Every error of this package that comes from a
// call to DynamoDB wraps one of these or the error of the context. The first
// three are those of the limiter's Store interface.
var (
	// ErrThrottled: DynamoDB serves no more calls just now; nothing was written.
	// The text names the throttling reasons, which tell a hot bucket
	// (KeyRangeThroughputExceeded) from a table or account limit.
	ErrThrottled = limiter.ErrThrottled

	// ErrUnavailable: no usable answer: connection refused or lost, timeout,
	// server error, missing table, missing permission. A write may have been done.
	ErrUnavailable = limiter.ErrUnavailable

	// ErrConflict: the item was changed by somebody else; nothing was written.
	// A charge may be tried again as it is. A change of configuration must first
	// be rebased on the version that is there now.
	ErrConflict = limiter.ErrConflict

	// ErrNotFound: there is no such plan, tenant or credential.
	ErrNotFound = errors.New("not found")
)

// classify maps an error of a call on a table to this package's errors. The one
// error it knows nothing of is a failed condition, which is an answer.
func classify(ctx context.Context, table string, err error) error {
	var (
		throttling  *types.ThrottlingException
		provisioned *types.ProvisionedThroughputExceededException
		requests    *types.RequestLimitExceeded
		noTable     *types.ResourceNotFoundException
		api         smithy.APIError
	)
	switch {
	case errors.As(err, &throttling):
		return throttled(throttling.ThrottlingReasons, err)
	case errors.As(err, &provisioned):
		return throttled(provisioned.ThrottlingReasons, err)
	case errors.As(err, &requests):
		return throttled(requests.ThrottlingReasons, err)
	case errors.As(err, &noTable):
		return fmt.Errorf("%w: there is no table %q here: check its name and the Region, or create it: %w", ErrUnavailable, table, err)
	case errors.As(err, &api):
		return classifyCode(table, api.ErrorCode(), err)
	case ctx.Err() != nil:
		return fmt.Errorf("table %q: %w", table, ctx.Err())
	}
	// Not wrapped: net/http's own timeouts say that they are the context's.
	return fmt.Errorf("%w: table %q: %v", ErrUnavailable, table, err) //nolint:errorlint // see above
}

// classifyCode maps the error codes that have no type of their own, or whose
// type says nothing more.
func classifyCode(table, code string, err error) error {
	switch code {
	case "ReplicatedWriteConflictException", // another Region is writing the item (strong consistency only)
		"TransactionConflictException": // a transaction is
		return fmt.Errorf("%w: %w", ErrConflict, err)
	case "AccessDeniedException":
		return fmt.Errorf("%w: the role may not do this on table %q: %w", ErrUnavailable, table, err)
	}
	if _, ok := retry.DefaultThrottleErrorCodes[code]; ok {
		return throttled(nil, err)
	}
	return fmt.Errorf("%w: table %q: %w", ErrUnavailable, table, err)
}

func throttled(reasons []types.ThrottlingReason, err error) error {
	var names []string
	for _, r := range reasons {
		if r.Reason != nil {
			names = append(names, *r.Reason)
		}
	}
	if names == nil {
		return fmt.Errorf("%w: %w", ErrThrottled, err)
	}
	return fmt.Errorf("%w (%s): %w", ErrThrottled, strings.Join(names, ", "), err)
}
