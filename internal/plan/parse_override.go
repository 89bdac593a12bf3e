package plan

import (
	"time"

	"go.yaml.in/yaml/v3"

	"weir/pkg/bucket"
)

var limitOverrideFields = []string{"rate", "burst"}

// limitOverrideBody is a LimitOverride as it is written.
type limitOverrideBody struct {
	Rate  string `json:"rate,omitempty"`
	Burst any    `json:"burst,omitempty"` // a count or text
}

// parseLimitOverrides parses n, which may be nil, as overrides of what by the
// names of limits.
func (d *decoder) parseLimitOverrides(n *yaml.Node, what string) map[string]LimitOverride {
	if n == nil {
		return nil
	}
	ps := d.pairs(n, "limits of "+what)
	if len(ps) > MaxLimits {
		d.errorf(n, "limits of %s has %d entries: at most %d", what, len(ps), MaxLimits)
		return nil
	}
	var all map[string]LimitOverride
	for _, p := range ps {
		name, ok := d.name(p.key, "limit name")
		o := d.parseLimitOverride(p.value, "limit "+quote(p.key.Value)+" of "+what)
		if !ok {
			continue
		}
		if all == nil {
			all = make(map[string]LimitOverride, len(ps))
		}
		all[name] = o
	}
	return all
}

func (d *decoder) parseLimitOverride(n *yaml.Node, what string) LimitOverride {
	var o LimitOverride
	before := len(d.errs)
	fields := d.object(n, what, limitOverrideFields)
	rate, burst := fields["rate"], fields["burst"]
	if rate == nil && burst == nil && len(d.errs) == before {
		d.errorf(n, "%s says nothing: want a rate such as 200/s, a burst such as 400 or 100%%, or both", what)
	}
	if rate != nil {
		o.Rate = d.parseOwnRate(rate, what)
	}
	if burst != nil {
		o.Burst = d.parseOwnBurst(burst, o.Rate, rate == nil, what)
	}
	if o.Rate != nil && o.Rate.Unlimited {
		o.Burst = nil // it has no effect
	}
	return o
}

// parseOwnRate parses the rate of an override, or returns nil.
func (d *decoder) parseOwnRate(n *yaml.Node, what string) *Rate {
	text, ok := d.rateText(n, what)
	if !ok {
		return nil
	}
	r, err := parseRate(text)
	if err == nil {
		_, err = bucket.NewLimit(r.Rate, 1)
	}
	if err != nil {
		d.errorf(n, "%s: %w", what, err)
		return nil
	}
	return &r
}

// parseOwnBurst parses the burst of an override, or returns nil. The rate is the
// one beside it; alone says that there is none, and then that of any plan must do.
func (d *decoder) parseOwnBurst(n *yaml.Node, rate *Rate, alone bool, what string) *Burst {
	text, ok := d.countText(n, "burst of "+what)
	if !ok {
		return nil
	}
	b, err := parseBurst(text)
	switch {
	case err != nil:
	case rate != nil && !rate.Unlimited:
		_, err = bucket.NewLimit(rate.Rate, b.Of(*rate))
	case alone && b.Percent == 0:
		_, err = bucket.NewLimit(fastest, b.Tokens)
	}
	if err != nil {
		d.errorf(n, "%s: %w", what, err)
		return nil
	}
	return &b
}

// fastest is the rate beside which every possible burst can be.
var fastest = bucket.Rate{Count: bucket.MaxPerSecond, Period: time.Second}

// body returns what is written for o.
func (o LimitOverride) body() (limitOverrideBody, error) {
	var b limitOverrideBody
	if o.Rate != nil {
		rate, err := formatRate(*o.Rate)
		if err != nil {
			return b, err
		}
		b.Rate = rate
	}
	if o.Burst != nil {
		b.Burst = formatBurst(*o.Burst)
	}
	return b, nil
}
