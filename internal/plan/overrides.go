package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"go.yaml.in/yaml/v3"
)

// Overrides is what a tenant has besides its plan, or instead of it. Mode and Hold
// can only be more lenient than the plan's; Limits replace the plan's rates and
// bursts in either direction. The zero value changes nothing.
type Overrides struct {
	Mode   Mode
	Hold   time.Duration
	Limits map[string]LimitOverride // by the limit's name; of limits that the plan does not have they have no effect
}

var overridesFields = []string{"mode", "hold", "limits"}

// IsZero reports whether o changes nothing.
func (o Overrides) IsZero() bool { return o.Mode == 0 && o.Hold == 0 && len(o.Limits) == 0 }

// Equal reports whether o and p are the same.
func (o Overrides) Equal(p Overrides) bool {
	return o.Mode == p.Mode && o.Hold == p.Hold && maps.EqualFunc(o.Limits, p.Limits, LimitOverride.equal)
}

// Of returns the mode and the hold of l for the tenant that has o: the more
// lenient mode and the longer hold.
func (o Overrides) Of(l *Limit) (Mode, time.Duration) {
	return max(o.Mode, l.Mode), max(o.Hold, l.Hold)
}

// on returns limits with o applied: limits itself if that changes nothing.
func (o Overrides) on(limits []Limit) []Limit {
	if o.IsZero() {
		return limits
	}
	var own []Limit
	for i := range limits {
		l := limits[i]
		l.Mode, l.Hold = o.Of(&l)
		if lo, ok := o.Limits[l.Name]; ok {
			lo.apply(&l)
		}
		if was := &limits[i]; l.Mode == was.Mode && l.Hold == was.Hold && l.Bucket == was.Bucket && l.Percent == was.Percent {
			continue
		}
		if own == nil {
			own = append(own, limits...)
		}
		own[i] = l
	}
	if own == nil {
		return limits
	}
	return own
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
		o = d.parseOverrides(d.object(root, "the overrides of "+what, overridesFields), what)
	}
	if err := d.errs.err(); err != nil {
		return Overrides{}, err
	}
	return o, nil
}

// parseOverrides parses the overrides among fields, which may be those of a tenant
// in a plans file.
func (d *decoder) parseOverrides(fields map[string]*yaml.Node, what string) Overrides {
	return Overrides{
		Mode:   d.parseMode(fields["mode"], what, Enforce),
		Hold:   d.parseHold(fields["hold"], what, 0),
		Limits: d.parseLimitOverrides(fields["limits"], what),
	}
}

// MarshalJSON returns the canonical form of o: ParseOverrides reads it back as
// the same, and equal overrides have equal forms.
func (o Overrides) MarshalJSON() ([]byte, error) {
	limits := make(map[string]limitOverrideBody, len(o.Limits))
	for name, lo := range o.Limits {
		b, err := lo.body()
		if err != nil {
			return nil, fmt.Errorf("overrides of limit %s: %w", quote(name), err)
		}
		limits[name] = b
	}
	data, err := json.Marshal(struct {
		Mode   string                       `json:"mode"`
		Hold   string                       `json:"hold"`
		Limits map[string]limitOverrideBody `json:"limits,omitempty"`
	}{o.Mode.String(), formatTime(o.Hold), limits})
	if err != nil {
		return nil, fmt.Errorf("encode overrides: %w", err)
	}
	if _, err := ParseOverrides("", data); err != nil {
		return nil, err
	}
	return data, nil
}
