package operator

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"weir/internal/plan"
)

// Kind says how a plan or a limit differs.
type Kind string

// The kinds.
const (
	Same    Kind = "same"
	Added   Kind = "added"
	Changed Kind = "changed"
	Removed Kind = "removed"
)

// PlanDiff is how a plan differs from another version of it. Fields have the
// names and values of a plans file, with every default spelled out.
type PlanDiff struct {
	Plan   string      `json:"plan"`
	Kind   Kind        `json:"kind"`
	Fields []FieldDiff `json:"fields,omitempty"` // of the plan itself
	Limits []LimitDiff `json:"limits,omitempty"` // those that differ
}

// LimitDiff is how one limit of a plan differs.
type LimitDiff struct {
	Limit  string      `json:"limit"`
	Kind   Kind        `json:"kind"`
	Fields []FieldDiff `json:"fields,omitempty"` // those that differ; all of an added or removed limit
	Fresh  bool        `json:"fresh,omitempty"`  // its buckets are others from now on, and start full
}

// FieldDiff is a field that differs; a side that does not have it is "". A burst
// that is written as a percentage has the tokens it comes to behind it: 100% (50).
type FieldDiff struct {
	Field string `json:"field"`
	From  string `json:"from"`
	To    string `json:"to"`
}

// Diff compares two versions of a plan by meaning: the order of fields, defaults
// that are written or not, and 1k for 1000 make no difference. Either may be nil.
// The error is that of a plan that cannot be written down.
func Diff(from, to *plan.Plan) (PlanDiff, error) {
	a, err := flatten(from)
	if err != nil {
		return PlanDiff{}, err
	}
	b, err := flatten(to)
	if err != nil {
		return PlanDiff{}, err
	}
	d := PlanDiff{Kind: Changed}
	switch {
	case from == nil && to == nil:
		return PlanDiff{}, errors.New("compare plans: there is none")
	case from == nil:
		d.Plan, d.Kind = to.Name, Added
	case to == nil:
		d.Plan, d.Kind = from.Name, Removed
	default:
		d.Plan = to.Name
	}
	d.Fields = compare(a.fields, b.fields)
	for _, l := range b.limits {
		if ld := diffLimit(a.limit(l.name), &l); ld.Kind != Same {
			d.Limits = append(d.Limits, ld)
		}
	}
	for _, l := range a.limits {
		if b.limit(l.name) == nil {
			d.Limits = append(d.Limits, diffLimit(&l, nil))
		}
	}
	if from != nil && to != nil {
		if x, y := a.order(b), b.order(a); x != y {
			d.Fields = append(d.Fields, FieldDiff{Field: "order of limits", From: x, To: y})
		}
		if len(d.Fields) == 0 && len(d.Limits) == 0 {
			d.Kind = Same
		}
	}
	return d, nil
}

// diffLimit compares two versions of a limit, of which one may be nil.
func diffLimit(from, to *flatLimit) LimitDiff {
	switch {
	case from == nil:
		return LimitDiff{Limit: to.name, Kind: Added, Fields: compare(nil, to.fields)}
	case to == nil:
		return LimitDiff{Limit: from.name, Kind: Removed, Fields: compare(from.fields, nil)}
	}
	d := LimitDiff{Limit: to.name, Kind: Changed, Fields: compare(from.fields, to.fields)}
	if len(d.Fields) == 0 {
		d.Kind = Same
	}
	for _, f := range d.Fields {
		strict := plan.Strict.String()
		d.Fresh = d.Fresh || f.Field == "key" || f.Field == "consistency" && (f.From == strict || f.To == strict)
	}
	return d
}

// compare returns the fields that differ, in their order.
func compare(from, to []field) []FieldDiff {
	var ds []FieldDiff
	for _, f := range to {
		if was := find(from, f.name); was != f.value {
			ds = append(ds, FieldDiff{Field: f.name, From: was, To: f.value})
		}
	}
	for _, f := range from {
		if !slices.ContainsFunc(to, func(g field) bool { return g.name == f.name }) {
			ds = append(ds, FieldDiff{Field: f.name, From: f.value})
		}
	}
	return ds
}

// field is a field of a plan's canonical form; one inside another is "outer.inner".
type field struct{ name, value string }

func find(fields []field, name string) string {
	for _, f := range fields {
		if f.name == name {
			return f.value
		}
	}
	return ""
}

// flatPlan is a plan's canonical form, taken apart.
type flatPlan struct {
	fields []field
	limits []flatLimit
}

type flatLimit struct {
	name   string
	fields []field
}

func (p flatPlan) limit(name string) *flatLimit {
	for i := range p.limits {
		if p.limits[i].name == name {
			return &p.limits[i]
		}
	}
	return nil
}

// order returns the names of p's limits that q has too, in p's order.
func (p flatPlan) order(q flatPlan) string {
	var names []string
	for _, l := range p.limits {
		if q.limit(l.name) != nil {
			names = append(names, l.name)
		}
	}
	return strings.Join(names, ", ")
}

// flatten takes a plan's canonical form apart; so no field can be forgotten here
// that a plan gets later. It relies on the form, which is a test of package plan.
func flatten(p *plan.Plan) (flatPlan, error) {
	if p == nil {
		return flatPlan{}, nil
	}
	data, err := p.MarshalJSON()
	if err != nil {
		return flatPlan{}, fmt.Errorf("compare plan %s: %w", p.Name, err)
	}
	var limits struct{ Limits []json.RawMessage }
	if err := json.Unmarshal(data, &limits); err != nil {
		return flatPlan{}, fmt.Errorf("compare plan %s: %w", p.Name, err)
	}
	f := flatPlan{fields: slices.DeleteFunc(fieldsOf(data, ""), func(f field) bool { return f.name == "limits" })}
	for i, raw := range limits.Limits {
		l := flatLimit{fields: fieldsOf(raw, "")}
		for j := range l.fields {
			if f := &l.fields[j]; f.name == "burst" && strings.HasSuffix(f.value, "%") { // what that comes to is what counts
				f.value = fmt.Sprintf("%s (%d)", f.value, p.Limits[i].Bucket.Burst())
			}
		}
		l.name = find(l.fields, "name")
		l.fields = slices.DeleteFunc(l.fields, func(f field) bool { return f.name == "name" })
		f.limits = append(f.limits, l)
	}
	return f, nil
}

// fieldsOf returns the fields of a JSON object in the order they are written.
func fieldsOf(object []byte, prefix string) []field {
	dec := json.NewDecoder(bytes.NewReader(object))
	_, _ = dec.Token() // {
	var fields []field
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return fields // was valid a moment ago
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return fields
		}
		full := prefix + fmt.Sprint(name)
		if raw[0] == '{' {
			fields = append(fields, fieldsOf(raw, full+".")...)
			continue
		}
		var s string
		if json.Unmarshal(raw, &s) != nil {
			s = string(raw)
		}
		fields = append(fields, field{full, s})
	}
	return fields
}
