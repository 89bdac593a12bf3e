package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// Overrides is what a tenant has besides its plan. It can only be more lenient
// than the plan; the zero value changes nothing.
type Overrides struct {
	Mode Mode
	Hold time.Duration
}

var overridesFields = []string{"mode", "hold"}

// Of returns the mode and the hold of l for the tenant that has o: the more
// lenient mode and the longer hold.
func (o Overrides) Of(l *Limit) (Mode, time.Duration) {
	return max(o.Mode, l.Mode), max(o.Hold, l.Hold)
}

// ParseOverrides parses the overrides of a tenant as the config table has them:
// YAML or JSON, as MarshalJSON writes them, or nothing. An error is an ErrorList.
func ParseOverrides(tenant string, data []byte) (Overrides, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return Overrides{}, nil
	}
	d := &decoder{file: "overrides of tenant " + tenant}
	var o Overrides
	if root := d.document(data); root != nil {
		what := "tenant " + quote(tenant)
		fields := d.object(root, "the overrides of "+what, overridesFields)
		o.Mode = d.parseMode(fields["mode"], what, Enforce)
		o.Hold = d.parseHold(fields["hold"], what, 0)
	}
	if err := d.errs.err(); err != nil {
		return Overrides{}, err
	}
	return o, nil
}

// MarshalJSON returns the canonical form of o: ParseOverrides reads it back as
// the same, and equal overrides have equal forms.
func (o Overrides) MarshalJSON() ([]byte, error) {
	data, err := json.Marshal(struct {
		Mode string `json:"mode"`
		Hold string `json:"hold"`
	}{o.Mode.String(), formatTime(o.Hold)})
	if err != nil {
		return nil, fmt.Errorf("encode overrides: %w", err)
	}
	if _, err := ParseOverrides("", data); err != nil {
		return nil, err
	}
	return data, nil
}
