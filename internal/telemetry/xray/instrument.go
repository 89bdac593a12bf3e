package xray

import (
	"context"
	"errors"

	"github.com/aws/aws-xray-sdk-go/v2/instrumentation/awsv2"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// Instrument has the clients that are made with these options trace their calls,
// with the SDK's own instrumentation, if they are made for a sampled request. It
// returns an error if it does not know that instrumentation any more.
func Instrument(options *[]func(*middleware.Stack) error) error {
	// The instrumentation is looked up in a stack of nobody's.
	var its []func(*middleware.Stack) error
	awsv2.AWSV2Instrumentor(&its)
	probe := middleware.NewStack("probe", smithyhttp.NewStackRequest)
	for _, add := range its {
		if err := add(probe); err != nil {
			return err
		}
	}
	begin, ok1 := probe.Initialize.Get("XRayInitializeMiddlewareAfter")
	answer, ok2 := probe.Deserialize.Get("XRayDeserializeMiddleware")
	if !ok1 || !ok2 || len(its) != 2 {
		return errors.New("x-ray: the SDK's instrumentation of AWS clients has changed: see instrument.go")
	}
	*options = append(*options, func(s *middleware.Stack) error {
		return errors.Join(
			s.Initialize.Add(ifTraced{begin}, middleware.After),
			s.Deserialize.Add(answer, middleware.Before), // does nothing if begin did nothing
		)
	})
	return nil
}

// ifTraced leaves a middleware out where nothing is traced.
type ifTraced struct {
	middleware.InitializeMiddleware
}

func (m ifTraced) HandleInitialize(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
	if !traced(ctx) {
		return next.HandleInitialize(ctx, in)
	}
	return m.InitializeMiddleware.HandleInitialize(ctx, in, next)
}
