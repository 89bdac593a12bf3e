package doctor

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Template is a CloudFormation template in JSON, and the Region of its stack.
type Template struct {
	Region    string
	resources map[string]resource
}

type resource struct {
	Type       string
	Properties map[string]any
	Metadata   map[string]any
	DependsOn  any // a string, or several
}

// ParseTemplate reads a template.
func ParseTemplate(region string, text []byte) (*Template, error) {
	var t struct{ Resources map[string]resource }
	if err := json.Unmarshal(text, &t); err != nil {
		return nil, fmt.Errorf("read template: %w", err)
	}
	return &Template{Region: region, resources: t.Resources}, nil
}

// of yields the resources of a type, in the order of their names.
func (t *Template) of(types ...string) func(func(string, resource) bool) {
	return func(yield func(string, resource) bool) {
		for _, id := range slices.Sorted(maps.Keys(t.resources)) {
			if r := t.resources[id]; slices.Contains(types, r.Type) && !yield(id, r) {
				return
			}
		}
	}
}

// text renders a value: a reference to resource X is ${X}, to an attribute ${X.A}.
func (t *Template) text(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case map[string]any:
		if len(v) != 1 {
			return ""
		}
		for name, arg := range v {
			return t.intrinsic(name, arg)
		}
	}
	return fmt.Sprint(v)
}

func (t *Template) intrinsic(name string, arg any) string {
	list, _ := arg.([]any)
	switch {
	case name == "Ref":
		switch arg {
		case "AWS::Region":
			return t.Region
		case "AWS::Partition":
			return "aws"
		default:
			return "${" + t.text(arg) + "}"
		}
	case name == "Fn::GetAtt" && len(list) == 2:
		return "${" + t.text(list[0]) + "." + t.text(list[1]) + "}"
	case name == "Fn::GetAtt":
		return "${" + t.text(arg) + "}"
	case name == "Fn::Sub" && len(list) == 0:
		return t.text(arg)
	case name == "Fn::Join" && len(list) == 2:
		var parts []string
		all, _ := list[1].([]any)
		for _, p := range all {
			parts = append(parts, t.text(p))
		}
		return strings.Join(parts, t.text(list[0]))
	default:
		return "${" + name + "}"
	}
}

// ref returns the logical id that a value refers to, "" if it is none.
func (t *Template) ref(v any) string {
	s, ok := strings.CutPrefix(t.text(v), "${")
	if !ok || !strings.HasSuffix(s, "}") {
		return ""
	}
	id, _, _ := strings.Cut(strings.TrimSuffix(s, "}"), ".")
	return id
}

// texts renders a value that may be one or a list.
func (t *Template) texts(v any) []string {
	list, ok := v.([]any)
	if !ok {
		if v == nil {
			return nil
		}
		return []string{t.text(v)}
	}
	var all []string
	for _, e := range list {
		all = append(all, t.text(e))
	}
	return all
}

// at returns the value at a path of keys, nil if there is none.
func at(v any, path ...string) any {
	for _, key := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[key]
	}
	return v
}

// number returns a number, written as one or as text.
func number(v any) (int, bool) {
	switch v := v.(type) {
	case float64:
		return int(v), true
	case string:
		var n int
		_, err := fmt.Sscanf(v, "%d", &n)
		return n, err == nil
	default:
		return 0, false
	}
}

// isTrue reports whether a value is true, written as a boolean or as text.
func isTrue(v any) bool { return v == true || v == "true" }
