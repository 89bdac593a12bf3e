package telemetry

import (
	"net/netip"
	"time"

	"weir/internal/telemetry/metric"
)

// Decision is the answer to one event, as it is counted. Names are those of the
// configuration.
type Decision struct {
	Now  int64         // when the event came, ns since the Unix epoch
	Took time.Duration // until it was answered, without Held
	Held time.Duration // that the request waited for its token

	Tenant string // id; "" or "-" if it is not known
	Plan   string // name; the same
	Limit  string // name of the tightest; the same
	Reason Reason
	Source Source
	Blind  bool // some limit could not be checked

	Shadows []string // names of the limits in shadow that would have refused
}

// Detail is what the log and the trace say of a decision beside that. The last
// three are the client's.
type Detail struct {
	RequestID  string
	Scope      string // what the tightest limit counts
	RetryAfter string // seconds, as the answer says it

	Method   string
	Resource string // the template of the API, not the path
	IP       netip.Addr
}

// Reason is why an answer is what it is: the codes of docs/answers.md, and what
// has none there.
type Reason uint8

// The reasons.
const (
	OK             Reason = iota // within every limit
	Unchecked                    // let through: the store could not tell
	RateLimited                  // over a limit
	Exceeds                      // costs more than the limit ever holds
	Suspended                    // the tenant is
	Unavailable                  // what must be known could not be found out
	Unsupported                  // no authorizer event
	Unauthorized                 // no credential, or none that is good
	BadCredentials               // too many of those from one address
	reasons                      // how many there are
)

var reasonNames = [reasons]string{
	"ok", "unchecked", "rate_limited", "exceeds_limit", "tenant_suspended", "unavailable", "unsupported_event", "unauthorized", "bad_credentials",
}

func (r Reason) String() string {
	if r < reasons {
		return reasonNames[r]
	}
	return metric.Other
}

// ReasonOf returns the Reason of a code of docs/answers.md; false if it has none.
func ReasonOf(code string) (Reason, bool) {
	for r, name := range reasonNames {
		if name == code {
			return Reason(r), true //nolint:gosec // an index of the array
		}
	}
	return Unavailable, false
}

// outcome is what becomes of a request.
type outcome uint8

const (
	allowed outcome = iota
	refused
	unauthorized
	outcomes // how many there are
)

var outcomeNames = [outcomes]string{metric.Allowed, metric.Refused, metric.Unauthorized}

func (o outcome) String() string { return outcomeNames[o] }

func (r Reason) outcome() outcome {
	switch r {
	case OK, Unchecked:
		return allowed
	case Unauthorized:
		return unauthorized
	}
	return refused
}

// Allowed reports whether a request with this Reason passes.
func (r Reason) Allowed() bool { return r.outcome() == allowed }

// Source is what decided.
type Source uint8

// The sources.
const (
	None   Source = iota // no limit was asked
	Memory               // of the process
	Store                // at least one bucket was asked, and answered
	Policy               // a bucket could not be asked: the limit's onError decided
	sources
)

var sourceNames = [sources]string{metric.FromNone, metric.FromMemory, metric.FromStore, metric.FromPolicy}

func (s Source) String() string {
	if s < sources {
		return sourceNames[s]
	}
	return metric.FromNone
}
