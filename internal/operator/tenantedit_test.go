package operator

import (
	"fmt"
	"strings"
	"testing"

	"weir/pkg/ddbstore"
)

func TestTenantEdit(t *testing.T) {
	for _, tt := range []struct {
		name, overrides      string
		limits, bursts, cut  []string
		mode, hold           string
		want                 string
		plan, status         string
		wantPlan, wantStatus string
	}{
		{name: "a rate", limits: []string{"api=200/s"}, want: `{"mode":"enforce","hold":"0s","limits":{"api":{"rate":"200/s"}}}`},
		{name: "a burst keeps the rate", overrides: `{"limits":{"api":{"rate":"200/s"}}}`, bursts: []string{"api=400"},
			want: `{"mode":"enforce","hold":"0s","limits":{"api":{"rate":"200/s","burst":400}}}`},
		{name: "both, of two", limits: []string{"api=2k/s", "login=5/m"}, bursts: []string{"api=50%"},
			want: `{"mode":"enforce","hold":"0s","limits":{"api":{"rate":"2000/s","burst":"50%"},"login":{"rate":"5/m"}}}`},
		{name: "cleared", overrides: `{"limits":{"api":{"rate":"200/s"},"b":{"burst":3}}}`, cut: []string{"api"},
			want: `{"mode":"enforce","hold":"0s","limits":{"b":{"burst":3}}}`},
		{name: "the last cleared", overrides: `{"limits":{"api":{"rate":"200/s"}}}`, cut: []string{"api"}, want: ""},
		{name: "clearing what is not there", cut: []string{"api"}, want: ""},
		{name: "mode and hold", mode: "shadow", hold: "250ms", want: `{"mode":"shadow","hold":"250ms"}`},
		{name: "mode keeps the hold", overrides: `{"hold":"250ms"}`, mode: "off", want: `{"mode":"off","hold":"250ms"}`},
		{name: "back to the plan's", overrides: `{"hold":"250ms","mode":"off"}`, mode: "enforce", hold: "0s", want: ""},
		{name: "plan and status", overrides: `{"mode":"off"}`, plan: "q", status: "suspended", want: `{"mode":"off","hold":"0s"}`, wantPlan: "q", wantStatus: "suspended"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e, err := ParseTenantEdit(tt.limits, tt.bursts, tt.cut, tt.mode, tt.hold)
			if err != nil {
				t.Fatal(err)
			}
			e.Plan, e.Status = tt.plan, ddbstore.TenantStatus(tt.status)
			was := ddbstore.Tenant{ID: "acme", Plan: "p", Status: ddbstore.Active, Overrides: tt.overrides, Version: 3}
			put, parsed, err := e.Of(was)
			if err != nil {
				t.Fatal(err)
			}
			wantPlan, wantStatus := "p", "active"
			if tt.wantPlan != "" {
				wantPlan, wantStatus = tt.wantPlan, tt.wantStatus
			}
			if put.Overrides != tt.want || put.Plan != wantPlan || string(put.Status) != wantStatus || put.Version != 3 || put.ID != "acme" || put.Carry != "proportional" {
				t.Errorf("%+v, want overrides %s", put, tt.want)
			}
			if parsed.Plan != wantPlan || parsed.Overrides.IsZero() != (tt.want == "") {
				t.Errorf("parsed: %+v", parsed)
			}
			if again, _, err := e.Of(put); err != nil || again != put {
				t.Errorf("a second time it is %+v, %v; want no change", again, err)
			}
		})
	}
}

func TestTenantEditLeavesTheOldOneAlone(t *testing.T) {
	e, err := ParseTenantEdit([]string{"api=5/s"}, nil, nil, "", "")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		put, _, err := e.Of(ddbstore.Tenant{ID: fmt.Sprint(i), Plan: "p", Status: ddbstore.Active, Overrides: fmt.Sprintf(`{"limits":{"b":{"burst":%d}}}`, i+1)})
		if want := fmt.Sprintf(`"b":{"burst":%d}`, i+1); err != nil || !strings.Contains(put.Overrides, want) {
			t.Errorf("%+v, %v; want %s", put, err, want)
		}
	}
}

func TestParseTenantEditErrors(t *testing.T) {
	for _, tt := range []struct {
		limits, bursts, cut []string
		mode, hold          string
		want                string
	}{
		{limits: []string{"api"}, want: "api=200/s"},
		{limits: []string{"api="}, want: "api=200/s"},
		{limits: []string{"=5/s"}, want: "api=200/s"},
		{limits: []string{"a b=5/s"}, want: "api=200/s"},
		{bursts: []string{"api"}, want: "api=400"},
		{limits: []string{"api=fast"}, want: `limit "api"`},
		{limits: []string{"api=5/min"}, want: "did you mean 5/m"},
		{bursts: []string{"api=-1"}, want: "burst"},
		{limits: []string{"api=5/s"}, bursts: []string{"api=0"}, want: "burst"},
		{limits: []string{"api=5/s", "api=6/s"}, want: "twice"},
		{limits: []string{"api=5/s"}, cut: []string{"api"}, want: "both changed and cleared"},
		{mode: "loose", want: "mode"},
		{hold: "1h", want: "hold"},
		{hold: "250", want: "hold"},
	} {
		_, err := ParseTenantEdit(tt.limits, tt.bursts, tt.cut, tt.mode, tt.hold)
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), `tenant ""`) || strings.Contains(err.Error(), ":1:") {
			t.Errorf("%+v: %v, want %q and no position", tt, err, tt.want)
		}
	}
}
