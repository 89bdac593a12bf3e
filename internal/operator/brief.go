package operator

import (
	"strings"
	"sync"

	"weir/internal/plan"
)

// Brief returns an added or removed limit in a line: its rate, burst and key, and
// of the rest what is not the default.
func (d LimitDiff) Brief() string {
	var parts []string
	for _, f := range d.Fields {
		v := f.To
		if d.Kind == Removed {
			v = f.From
		}
		switch f.Field {
		case "rate":
			parts = append(parts, v)
		case "burst", "key":
			parts = append(parts, f.Field+" "+v)
		default:
			if v != defaults()[f.Field] {
				parts = append(parts, f.Field+" "+v)
			}
		}
	}
	return strings.Join(parts, ", ")
}

// defaults are the fields of a limit that says nothing but its rate.
var defaults = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	p, err := plan.ParsePlan("p", []byte("limits: [{name: l, rate: 1/s}]"))
	if err != nil {
		return all // not possible; then all is shown
	}
	f, err := flatten(p)
	if err != nil {
		return all
	}
	for _, l := range f.limits[0].fields {
		all[l.name] = l.value
	}
	return all
})
