package plan

import (
	"bytes"
	"encoding/json"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// body is a plan as it is written. Every field that has a default is spelled
// out, so that a stored plan means the same to a version with other defaults.
type body struct {
	Description string      `json:"description,omitempty" yaml:"description,omitempty"`
	Limits      []limitBody `json:"limits" yaml:"limits"`
}

type limitBody struct {
	Name        string     `json:"name" yaml:"name"`
	Description string     `json:"description,omitempty" yaml:"description,omitempty"`
	Match       *matchBody `json:"match,omitempty" yaml:"match,omitempty"`
	Key         string     `json:"key" yaml:"key"`
	Rate        string     `json:"rate" yaml:"rate"`
	Burst       any        `json:"burst,omitempty" yaml:"burst,omitempty"` // a count or text; none if rate is unlimited
	Cost        int64      `json:"cost" yaml:"cost"`
	Consistency string     `json:"consistency" yaml:"consistency"`
	OnPartition string     `json:"onPartition,omitempty" yaml:"onPartition,omitempty"` // of a global limit
	Hold        string     `json:"hold" yaml:"hold"`
	Mode        string     `json:"mode" yaml:"mode"`
	OnError     string     `json:"onError" yaml:"onError"`
	Initial     int64      `json:"initial" yaml:"initial"`
}

type matchBody struct {
	Method   string `json:"method,omitempty" yaml:"method,omitempty"`
	Resource string `json:"resource,omitempty" yaml:"resource,omitempty"`
}

// MarshalJSON returns the plan's canonical form: ParsePlan reads it back as the
// same plan, and equal plans have equal forms. Name, Ver, Stamp, Carry and Next are
// not in it. A plan that ParsePlan would refuse is an error, so that none is ever
// stored.
func (p *Plan) MarshalJSON() ([]byte, error) {
	b, err := p.body()
	if err != nil {
		return nil, err
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(b); err != nil {
		return nil, fmt.Errorf("encode plan: %w", err)
	}
	data := bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
	if _, err := ParsePlan(p.Name, data); err != nil {
		return nil, err
	}
	return data, nil
}

// MarshalYAML returns what to write for the plan in a plans file: the same
// fields as MarshalJSON.
func (p *Plan) MarshalYAML() (any, error) { return p.body() }

var _ yaml.Marshaler = (*Plan)(nil)

func (p *Plan) body() (body, error) {
	b := body{Description: p.Description, Limits: make([]limitBody, len(p.Limits))}
	for i := range p.Limits {
		l := &p.Limits[i]
		rate, burst, err := l.written()
		if err != nil {
			return body{}, fmt.Errorf("plan %s, limit %s: %w", quote(p.Name), quote(l.Name), err)
		}
		lb := limitBody{
			Name: l.Name, Description: l.Description, Key: l.Key.String(), Rate: rate, Burst: burst, Cost: l.Cost, Consistency: l.Consistency.String(),
			Hold: formatTime(l.Hold), Mode: l.Mode.String(), OnError: l.OnError.String(), Initial: l.Initial,
		}
		if l.Match != (Match{}) {
			lb.Match = &matchBody{Method: l.Match.Method, Resource: l.Match.Resource}
		}
		switch {
		case l.Share:
			lb.OnPartition = share
		case l.Consistency == Global:
			lb.OnPartition = serve
		}
		b.Limits[i] = lb
	}
	return b, nil
}

// written returns rate and burst of l as a plan has them; the burst is nil if the
// rate is unlimited.
func (l *Limit) written() (rate string, burst any, err error) {
	r, b := l.rate(), l.burst()
	if rate, err = formatRate(r); err != nil || r.Unlimited {
		return rate, nil, err
	}
	if b.Of(r) != l.Bucket.Burst() {
		return "", nil, fmt.Errorf("a burst of %d tokens is not %d%% of %s", l.Bucket.Burst(), b.Percent, rate)
	}
	return rate, formatBurst(b), nil
}

// rate returns the rate of l as it is written.
func (l *Limit) rate() Rate { return Rate{Rate: l.Bucket.Rate(), Unlimited: l.Bucket.IsUnlimited()} }

// burst returns the burst of l as it is written.
func (l *Limit) burst() Burst {
	if l.Percent != 0 {
		return Burst{Percent: l.Percent}
	}
	return Burst{Tokens: l.Bucket.Burst()}
}
