package limiter

import "errors"

// Errors of a Store, matched with errors.Is. Each means that the store could not
// tell: what then becomes of the request is the limit's own policy.
var (
	// ErrThrottled: the store answered that it serves no more calls just now.
	// Nothing was written. Another try at once makes it worse.
	ErrThrottled = errors.New("store throttles")

	// ErrUnavailable: no usable answer came. Unless the connection was refused
	// the write may have been done all the same, so a Charge must not be repeated
	// on the strength of this error.
	ErrUnavailable = errors.New("store unavailable")

	// ErrConflict: others changed the item under every attempt. Nothing was
	// written; trying again is safe and likely to succeed.
	ErrConflict = errors.New("store conflict")
)
