package plan

import (
	"fmt"

	"go.yaml.in/yaml/v3"
)

// Mode says what becomes of a limit's refusals. They are in order: the later one
// is the more lenient.
type Mode int

// The modes. A plan that does not say has Enforce.
const (
	Enforce Mode = iota // they are carried out
	Shadow              // they are counted and reported, and the request passes
	Off                 // there are none: the limit is not even counted
)

// As they are written, in the order of the constants.
var modes = []string{"enforce", "shadow", "off"}

func (m Mode) String() string {
	if m < 0 || int(m) >= len(modes) {
		return fmt.Sprintf("Mode(%d)", int(m))
	}
	return modes[m]
}

// OnError says what becomes of a request while the store cannot tell.
type OnError int

// The policies. A plan that does not say has Allow.
const (
	Allow OnError = iota // it passes
	Local                // each process admits its part of the limit, by its own count
	Deny                 // it is refused
)

var onErrors = []string{"allow", "local", "deny"}

func (o OnError) String() string {
	if o < 0 || int(o) >= len(onErrors) {
		return fmt.Sprintf("OnError(%d)", int(o))
	}
	return onErrors[o]
}

// parseMode parses n, which may be nil, as the mode of what.
func (d *decoder) parseMode(n *yaml.Node, what string, unset Mode) Mode {
	if n == nil {
		return unset
	}
	return Mode(max(0, d.choice(n, "mode of "+what, modes)))
}

// parseOnError parses n, which may be nil, as what a limit does without the store.
func (d *decoder) parseOnError(n *yaml.Node, what string) OnError {
	if n == nil {
		return Allow
	}
	return OnError(max(0, d.choice(n, "onError of "+what, onErrors)))
}
