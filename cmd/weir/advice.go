package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"weir/internal/operator"
	"weir/pkg/ddbstore"
)

// advise adds to the error of a command what to do next.
func (d *deployment) advise(err error) error {
	var (
		home    *ddbstore.HomeError
		noTable *types.ResourceNotFoundException
		api     smithy.APIError
	)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled):
		return interrupted(err)
	case errors.Is(err, ddbstore.ErrConflict):
		return fmt.Errorf("%w\nNothing was changed. Look at what is there now, and run the command again if it is still right", err)
	case errors.As(err, &home):
		return refusal{fmt.Errorf("%w\nNothing was changed. Run the command again; if %s is lost, name another home first: weir home move REGION", err, home.Home)}
	case errors.As(err, &noTable):
		return fmt.Errorf("%w\nIs %s the right table, and %s the right Region? They are --config-table, --buckets-table and --region", short(err), d.names.config, d.region)
	case errors.As(err, &api) && denied(api):
		return fmt.Errorf("%w\nYour credentials may not do this: they need %s on it. docs/cli.md has what each command needs", short(err), missing(err, api))
	case errors.As(err, &api) && badCredentials(api):
		return fmt.Errorf("%w\nThe credentials are not valid, or not any more: log in again, or check AWS_PROFILE", short(err))
	case errors.Is(err, ddbstore.ErrThrottled):
		return fmt.Errorf("%w\nDynamoDB is busy: try again in a moment", short(err))
	case errors.Is(err, ddbstore.ErrUnavailable) && d.local:
		return fmt.Errorf("%w\nIs a local DynamoDB running at %s?", short(err), *d.aws.BaseEndpoint)
	case errors.Is(err, ddbstore.ErrUnavailable):
		return fmt.Errorf("%w\nIs the network there? In another Region the tables are the same: --region", short(err))
	}
	return err
}

// interrupted is what became of a command that was told to stop. Where it writes
// it says itself how far it got: everywhere else it has only looked.
func interrupted(err error) error {
	var (
		told    interruption
		stopped *operator.InterruptedError
	)
	if errors.As(err, &told) || errors.As(err, &stopped) {
		return err
	}
	return interruption{errors.New("interrupted; nothing was changed")}
}

func denied(err smithy.APIError) bool { return err.ErrorCode() == "AccessDeniedException" }

func badCredentials(err smithy.APIError) bool {
	switch err.ErrorCode() {
	case "UnrecognizedClientException", "InvalidSignatureException", "ExpiredTokenException", "ExpiredToken", "MissingAuthenticationTokenException", "IncompleteSignature":
		return true
	}
	return false
}

// action is how the text of a denial names it.
var action = regexp.MustCompile(`\bdynamodb:[A-Za-z]+\b`)

// missing returns the IAM action that a denied call would have needed.
func missing(err error, api smithy.APIError) string {
	if a := action.FindString(api.ErrorMessage()); a != "" {
		return a
	}
	var op *smithy.OperationError
	if !errors.As(err, &op) {
		return "the DynamoDB actions of the command"
	}
	if op.Operation() == "TransactWriteItems" { // has no action of its own
		return "dynamodb:PutItem, dynamodb:UpdateItem, dynamodb:DeleteItem and dynamodb:ConditionCheckItem"
	}
	return "dynamodb:" + op.Operation()
}

// sdkText is the SDK's part of an error up to what really happened: operation,
// retries, status and request id.
var sdkText = regexp.MustCompile(`: operation error DynamoDB: (\w+), .*?(request send failed, Post "[^"]*": |RequestID: [^,]+, (api error )?)`)

// short is err with less of the SDK's part of its text.
func short(err error) error {
	text := sdkText.ReplaceAllString(err.Error(), ": $1: ")
	return shortened{text, err}
}

type shortened struct {
	text string
	err  error
}

func (s shortened) Error() string { return s.text }
func (s shortened) Unwrap() error { return s.err }
