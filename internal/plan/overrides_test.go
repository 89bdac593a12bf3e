package plan

import (
	"encoding/json"
	"testing"
	"time"
)

// A tenant can only be better off than its plan says.
func TestOverridesAreLenient(t *testing.T) {
	for _, tt := range []struct {
		tenant, limit, want Mode
	}{
		{Enforce, Enforce, Enforce}, {Enforce, Shadow, Shadow}, {Enforce, Off, Off},
		{Shadow, Enforce, Shadow}, {Shadow, Shadow, Shadow}, {Shadow, Off, Off},
		{Off, Enforce, Off}, {Off, Shadow, Off}, {Off, Off, Off},
	} {
		if got, _ := (Overrides{Mode: tt.tenant}).Of(&Limit{Mode: tt.limit}); got != tt.want {
			t.Errorf("tenant %v, limit %v: %v, want %v", tt.tenant, tt.limit, got, tt.want)
		}
	}
	for _, tt := range []struct{ tenant, limit, want time.Duration }{{0, 1, 1}, {2, 1, 2}, {1, 2, 2}, {1, 0, 1}, {0, 0, 0}} {
		if _, got := (Overrides{Hold: tt.tenant}).Of(&Limit{Hold: tt.limit}); got != tt.want {
			t.Errorf("tenant %v, limit %v: %v, want %v", tt.tenant, tt.limit, got, tt.want)
		}
	}
}

func TestOverridesOfTenants(t *testing.T) {
	f := mustParse(t, `
plans: { p: { limits: [{ name: a, rate: 5/s }] } }
tenants:
  - { id: a, plan: p }
  - { id: b, plan: p, mode: shadow }
  - { id: c, plan: p, mode: "off", hold: 250ms }
`)
	for i, want := range []Overrides{{}, {Mode: Shadow}, {Mode: Off, Hold: 250 * time.Millisecond}} {
		if got := f.Tenants[i].Overrides; !got.Equal(want) {
			t.Errorf("tenant %s: %+v, want %+v", f.Tenants[i].ID, got, want)
		}
	}
}

func TestParseOverrides(t *testing.T) {
	for _, tt := range []struct {
		text string
		want Overrides
		err  string
	}{
		{"", Overrides{}, ""},
		{" \n", Overrides{}, ""},
		{"{}", Overrides{}, ""},
		{`{"mode":"shadow"}`, Overrides{Mode: Shadow}, ""},
		{"mode: off\nhold: 1s\n", Overrides{Mode: Off, Hold: time.Second}, ""},
		{`{"mode":"lax"}`, Overrides{}, `overrides of tenant acme:1:9: mode of tenant "acme" is "lax": want one of enforce, shadow, off`},
		{`{"hold":"1h"}`, Overrides{}, `overrides of tenant acme:1:9: hold of tenant "acme" is "1h": want a whole number of milliseconds or seconds, up to 5s, such as 250ms`},
		{`{"limit":{}}`, Overrides{}, `overrides of tenant acme:1:2: limit is not supported by this version; remove it`},
		{`{"limits":[]}`, Overrides{}, `overrides of tenant acme:1:11: limits of tenant "acme" is a list: want a mapping`},
		{`[]`, Overrides{}, `overrides of tenant acme:1:1: the overrides of tenant "acme" is a list: want a mapping`},
	} {
		got, err := ParseOverrides("acme", []byte(tt.text))
		if !got.Equal(tt.want) || errText(err) != tt.err {
			t.Errorf("%q gives %+v, %v\nwant %+v, %s", tt.text, got, err, tt.want, tt.err)
		}
	}
}

// FuzzParseOverrides checks that whatever the table has is read or refused, and
// that what is read is in bounds and survives being written.
func FuzzParseOverrides(f *testing.F) {
	for _, text := range []string{"", "{}", `{"mode":"shadow","hold":"250ms"}`, "mode: off\nhold: 5s", `{"mode":7}`, "&a [*a]", "mode: &m shadow\nhold: *m"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		o, err := ParseOverrides("t", data)
		if err != nil {
			if !o.IsZero() {
				t.Errorf("%+v beside the error %v", o, err)
			}
			return
		}
		again, err := json.Marshal(o)
		if err != nil {
			t.Fatalf("%q is read as %+v, which cannot be written: %v", data, o, err)
		}
		if got, err := ParseOverrides("t", again); err != nil || !got.Equal(o) {
			t.Errorf("%q is read as %+v, written as %s, read as %+v, %v", data, o, again, got, err)
		}
	})
}

func TestOverridesRoundTrip(t *testing.T) {
	for _, o := range []Overrides{{}, {Mode: Shadow}, {Mode: Off, Hold: MaxHold}, {Hold: 1250 * time.Millisecond}} {
		data, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := ParseOverrides("t", data); err != nil || !got.Equal(o) {
			t.Errorf("%s is read back as %+v, %v; want %+v", data, got, err, o)
		}
	}
	for _, o := range []Overrides{{Mode: 3}, {Mode: -1}, {Hold: -1}, {Hold: MaxHold + 1}, {Hold: time.Microsecond}} {
		if data, err := json.Marshal(o); err == nil {
			t.Errorf("%+v is written as %s, want an error", o, data)
		}
	}
}
