package operator

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"weir/internal/plan"
	"weir/pkg/bucket"
	"weir/pkg/ddbstore"
)

// TenantEdit says what to change about a tenant; what is not set stays.
type TenantEdit struct {
	Plan   string
	Status ddbstore.TenantStatus
	Limits map[string]plan.LimitOverride // rate and burst on their own: what is nil stays
	Clear  []string                      // limits whose overrides end
	Mode   *plan.Mode
	Hold   *Hold
	Carry  bucket.Carry
}

// Hold is how long a tenant's requests may be held, as it is written.
type Hold string

// IsZero reports whether e changes nothing.
func (e TenantEdit) IsZero() bool {
	return e.Plan == "" && e.Status == "" && len(e.Limits) == 0 && len(e.Clear) == 0 && e.Mode == nil && e.Hold == nil
}

// ParseTenantEdit builds the edit of what is written in flags: rates and bursts as
// LIMIT=RATE and LIMIT=TOKENS, and a mode and a hold, "" to leave them.
func ParseTenantEdit(rates, bursts, clear []string, mode, hold string) (TenantEdit, error) {
	e := TenantEdit{Clear: clear}
	type fields struct {
		Rate  string `json:"rate,omitempty"`
		Burst string `json:"burst,omitempty"`
	}
	limits := map[string]fields{}
	add := func(flag, text string, set func(*fields, string) bool) error {
		name, value, ok := strings.Cut(text, "=")
		if !ok || value == "" || !plan.ValidName(name) {
			return fmt.Errorf("--%s %q: want the name of a limit, =, and a value, such as %s", flag, text, map[string]string{"limit": "api=200/s", "burst": "api=400"}[flag])
		}
		if slices.Contains(clear, name) {
			return fmt.Errorf("limit %s is both changed and cleared", name)
		}
		f := limits[name]
		if !set(&f, value) {
			return fmt.Errorf("--%s %s is there twice", flag, name)
		}
		limits[name] = f
		return nil
	}
	var errs []error
	for _, s := range rates {
		errs = append(errs, add("limit", s, func(f *fields, v string) bool { f.Rate, v = v, f.Rate; return v == "" }))
	}
	for _, s := range bursts {
		errs = append(errs, add("burst", s, func(f *fields, v string) bool { f.Burst, v = v, f.Burst; return v == "" }))
	}
	if err := errors.Join(errs...); err != nil {
		return e, err
	}
	doc := map[string]any{}
	if len(limits) > 0 {
		doc["limits"] = limits
	}
	if mode != "" {
		doc["mode"] = mode
	}
	if hold != "" {
		doc["hold"] = hold
	}
	data, err := json.Marshal(doc)
	if err != nil {
		return e, err
	}
	o, err := plan.ParseOverrides("", data) // the parser of the table: what it refuses is not written
	if err != nil {
		return e, flagError(err)
	}
	e.Limits = o.Limits
	if mode != "" {
		e.Mode = &o.Mode
	}
	if hold != "" {
		h := Hold(hold)
		e.Hold = &h
	}
	return e, nil
}

// flagError returns the errors of a parsed document as those of flags, which have
// no lines and columns.
func flagError(err error) error {
	var list plan.ErrorList
	if !errors.As(err, &list) {
		return err
	}
	texts := make([]string, len(list))
	for i, e := range list {
		texts[i] = strings.ReplaceAll(e.Err.Error(), ` of tenant ""`, "")
	}
	return errors.New(strings.Join(texts, "\n"))
}

// Of returns the tenant with e applied, and the parsed form of that. Nothing else
// about the tenant is changed.
func (e TenantEdit) Of(s ddbstore.Tenant) (ddbstore.Tenant, plan.Tenant, error) {
	t, err := TenantOf(s)
	if err != nil {
		return s, t, err
	}
	s.Carry = e.Carry.String()
	if e.Plan != "" {
		s.Plan = e.Plan
	}
	if e.Status != "" {
		s.Status = e.Status
	}
	o := t.Overrides
	o.Limits = maps.Clone(o.Limits)
	for _, name := range e.Clear {
		delete(o.Limits, name)
	}
	for name, lo := range e.Limits {
		if o.Limits == nil {
			o.Limits = map[string]plan.LimitOverride{}
		}
		now := o.Limits[name]
		if lo.Rate != nil {
			now.Rate = lo.Rate
		}
		if lo.Burst != nil {
			now.Burst = lo.Burst
		}
		o.Limits[name] = now
	}
	if e.Mode != nil {
		o.Mode = *e.Mode
	}
	if e.Hold != nil {
		held, err := plan.ParseOverrides(s.ID, fmt.Appendf(nil, "hold: %q", string(*e.Hold)))
		if err != nil {
			return s, t, err
		}
		o.Hold = held.Hold
	}
	s.Overrides = ""
	if !o.IsZero() {
		data, err := o.MarshalJSON()
		if err != nil {
			return s, t, fmt.Errorf("tenant %s: %w", s.ID, err)
		}
		s.Overrides = string(data)
	}
	t, err = TenantOf(s)
	return s, t, err
}
