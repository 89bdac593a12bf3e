package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"weir/pkg/bucket"
)

const maxAlarm = 512 // characters of an alarm's name or ARN

var (
	rolloutFields = []string{"body", "carry", "from", "share", "tenants", "steps", "every", "stepAt", "alarm", "paused"}
	canaryFields  = []string{"share", "tenants", "steps", "every", "stepAt", "alarm", "paused"}
)

// rolloutBody is a rollout as it is written.
type rolloutBody struct {
	Body    body     `json:"body"`
	Carry   string   `json:"carry"`
	From    string   `json:"from,omitempty"`
	Share   string   `json:"share,omitempty"`
	Tenants []string `json:"tenants,omitempty"`
	Steps   []string `json:"steps,omitempty"`
	Every   string   `json:"every,omitempty"`
	StepAt  string   `json:"stepAt,omitempty"`
	Alarm   string   `json:"alarm,omitempty"`
	Paused  bool     `json:"paused,omitempty"`
}

// ParseRollout parses the rollout of the plan called name, in YAML or JSON, as
// MarshalJSON writes it; nothing is none. An error is an ErrorList.
func ParseRollout(name string, data []byte) (*Rollout, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, nil
	}
	d := &decoder{file: "rollout of plan " + name}
	r := &Rollout{Plan: &Plan{Name: name}}
	if root := d.document(data); root != nil {
		d.parseRollout(root, r)
	}
	if err := d.errs.err(); err != nil {
		return nil, err
	}
	return r, nil
}

func (d *decoder) parseRollout(n *yaml.Node, r *Rollout) {
	fields := d.object(n, "the rollout", rolloutFields)
	if n.Kind != yaml.MappingNode {
		return
	}
	if b := fields["body"]; b != nil {
		d.parsePlan(b, r.Plan)
	} else {
		d.errorf(n, "the rollout has no body: want the plan as it is to be")
	}
	r.Carry = d.parseCarry(fields["carry"], "the rollout")
	if from := fields["from"]; from != nil {
		r.From = d.parseInstant(from, "from")
		for _, name := range canaryFields {
			if f := fields[name]; f != nil {
				d.errorf(f, "%s is of a canary, and a rollout with from is for everybody at once: remove one of them", name)
			}
		}
		return
	}
	d.parseCanary(n, fields, r)
}

// parseCanary parses the fields of the canary at n.
func (d *decoder) parseCanary(n *yaml.Node, fields map[string]*yaml.Node, r *Rollout) {
	if f := fields["share"]; f != nil {
		r.Share = d.parseShare(f, "share")
	}
	if f := fields["tenants"]; f != nil {
		r.Tenants = d.parseCanaries(f)
	}
	if f := fields["steps"]; f != nil {
		r.Steps = d.parseSteps(f, r.Share)
	}
	if f := fields["alarm"]; f != nil {
		r.Alarm = d.parseAlarm(f)
	}
	if f := fields["paused"]; f != nil {
		r.Paused = d.boolean(f, "paused")
	}
	every := fields["every"]
	if every != nil {
		r.Every = d.parseEvery(every)
	}
	if f := fields["stepAt"]; f != nil {
		r.StepAt = d.parseInstant(f, "stepAt")
	}
	switch {
	case len(d.errs) > 0:
	case r.Share == 0 && len(r.Tenants) == 0 && len(r.Steps) == 0:
		d.errorf(n, "nobody would ever have it: want from, share, tenants or steps")
	case len(r.Steps) > 0 && every == nil:
		d.errorf(fields["steps"], "steps without every: say how long each lasts, such as every: 1h")
	}
}

// parseCanaries parses the ids of tenants, and sorts them.
func (d *decoder) parseCanaries(n *yaml.Node) []string {
	var ids []string
	for _, e := range d.list(n, "tenants", MaxCanaries) {
		id, ok := d.text(e, "a tenant of the rollout")
		switch {
		case !ok:
		case !validName(id):
			d.errorf(e, "tenant id %s: want 1 to %d letters, digits, '.', '_' and '-'", quote(id), MaxName)
		case slices.Contains(ids, id):
			d.errorf(e, "tenant %s appears twice", quote(id))
		default:
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

func (d *decoder) parseSteps(n *yaml.Node, share Share) []Share {
	var steps []Share
	for _, e := range d.list(n, "steps", MaxSteps) {
		s := d.parseShare(e, "a step")
		if s <= share {
			d.errorf(e, "step %v is not wider than %v, which comes before it", s, share)
		}
		share = s
		steps = append(steps, s)
	}
	return steps
}

func (d *decoder) parseShare(n *yaml.Node, what string) Share {
	if n.Kind == yaml.ScalarNode && (n.ShortTag() == "!!int" || n.ShortTag() == "!!float") {
		d.errorf(n, "%s is a bare number: write %s%%", what, n.Value)
		return 0
	}
	text, ok := d.text(n, what)
	if !ok {
		return 0
	}
	s, err := ParseShare(text)
	if err != nil {
		d.errorf(n, "%w", err)
	}
	return s
}

func (d *decoder) parseAlarm(n *yaml.Node) string {
	s, ok := d.text(n, "alarm")
	if ok && (s == "" || utf8.RuneCountInString(s) > maxAlarm || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })) {
		d.errorf(n, "alarm: want the name or the ARN of a CloudWatch alarm, up to %d printable characters", maxAlarm)
	}
	return s
}

// parseInstant parses a time of RFC 3339.
func (d *decoder) parseInstant(n *yaml.Node, what string) int64 {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" && n.ShortTag() != "!!timestamp" {
		d.errorf(n, "%s is %s: want a time such as 2026-12-01T09:00:00Z", what, kindOf(n))
		return 0
	}
	t, err := time.Parse(time.RFC3339Nano, n.Value)
	if year := t.UTC().Year(); err != nil || year < 2000 || year >= 2200 {
		d.errorf(n, "%s is %s: want a time such as 2026-12-01T09:00:00Z, or with an offset 2026-12-01T10:00:00+01:00", what, quote(n.Value))
		return 0
	}
	return t.UnixNano()
}

func formatInstant(ns int64) string {
	if ns == 0 {
		return ""
	}
	return time.Unix(0, ns).UTC().Format(time.RFC3339Nano)
}

// spanUnits are the units of a step's length, longest first.
var spanUnits = []struct {
	name string
	unit time.Duration
}{{"d", day}, {"h", time.Hour}, {"m", time.Minute}}

func (d *decoder) parseEvery(n *yaml.Node) time.Duration {
	text, ok := d.text(n, "every")
	if !ok {
		return 0
	}
	for _, u := range spanUnits {
		number, found := strings.CutSuffix(text, u.name)
		count, isNumber := parseDigits(number)
		if found && isNumber && count <= int64(MaxEvery/u.unit) && time.Duration(count)*u.unit >= MinEvery {
			return time.Duration(count) * u.unit
		}
	}
	d.errorf(n, "every is %s: want whole minutes, hours or days, from 1m to 30d, such as 1h", quote(text))
	return 0
}

func formatEvery(every time.Duration) string {
	for _, u := range spanUnits {
		if every != 0 && every%u.unit == 0 {
			return strconv.FormatInt(int64(every/u.unit), 10) + u.name
		}
	}
	if every == 0 {
		return ""
	}
	return every.String() // which parseEvery refuses
}

// parseCarry parses n, which may be nil, as what a change of what makes of levels.
func (d *decoder) parseCarry(n *yaml.Node, what string) bucket.Carry {
	if n == nil {
		return bucket.Proportional
	}
	return bucket.Carry(max(0, d.choice(n, "carry of "+what, carries)))
}

// carries are the words for a bucket.Carry, in the order of its constants.
var carries = []string{bucket.Proportional.String(), bucket.AsIs.String(), bucket.Additive.String(), bucket.Reset.String()}

// MarshalJSON returns the canonical form of r: ParseRollout reads it back as the
// same, and equal rollouts have equal forms. One that ParseRollout would refuse is
// an error.
func (r *Rollout) MarshalJSON() ([]byte, error) {
	b, err := r.Plan.body()
	if err != nil {
		return nil, err
	}
	rb := rolloutBody{
		Body: b, Carry: r.Carry.String(), From: formatInstant(r.From), Tenants: slices.Sorted(slices.Values(r.Tenants)),
		Every: formatEvery(r.Every), StepAt: formatInstant(r.StepAt), Alarm: r.Alarm, Paused: r.Paused,
	}
	if r.Share != 0 {
		rb.Share = r.Share.String()
	}
	for _, s := range r.Steps {
		rb.Steps = append(rb.Steps, s.String())
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(rb); err != nil {
		return nil, fmt.Errorf("encode rollout: %w", err)
	}
	data := bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
	if _, err := ParseRollout(r.Plan.Name, data); err != nil {
		return nil, err
	}
	return data, nil
}
