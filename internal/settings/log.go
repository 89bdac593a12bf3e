package settings

import (
	"io"
	"log/slog"

	"github.com/aws/aws-lambda-go/lambdacontext"
)

// Logger returns a logger of JSON lines, under the keys by which Lambda knows
// their level and time.
func (s Settings) Logger(w io.Writer) *slog.Logger {
	return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{
		Level:       s.LogLevel,
		ReplaceAttr: lambdacontext.ReplaceAttr,
	}))
}
