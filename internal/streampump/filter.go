package streampump

import (
	"encoding/json"
	"fmt"
	"strings"
)

// filter is a parsed pattern: an object of objects down to lists of what a value
// may be. That is the part of the pattern language that Weir's templates use.
type filter struct {
	fields map[string]filter
	anyOf  []test // nil unless it is a leaf
}

// test is one thing that a value may be.
type test struct {
	value  string
	prefix bool
}

// parseFilter parses a pattern of FilterCriteria. What it does not know is an
// error: a test must not pass because a filter was read too generously.
func parseFilter(pattern string) (filter, error) {
	f, err := parseNode(json.RawMessage(pattern))
	if err != nil {
		return filter{}, fmt.Errorf("filter %s: %w", pattern, err)
	}
	if f.fields == nil {
		return filter{}, fmt.Errorf("filter %s: want an object", pattern)
	}
	return f, nil
}

func parseNode(raw json.RawMessage) (filter, error) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) == nil {
		f := filter{fields: map[string]filter{}}
		for name, sub := range fields {
			child, err := parseNode(sub)
			if err != nil {
				return filter{}, fmt.Errorf("%s: %w", name, err)
			}
			f.fields[name] = child
		}
		return f, nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil || len(list) == 0 {
		return filter{}, fmt.Errorf("%s is neither an object nor a list of values", raw)
	}
	f := filter{}
	for _, e := range list {
		t, err := parseTest(e)
		if err != nil {
			return filter{}, err
		}
		f.anyOf = append(f.anyOf, t)
	}
	return f, nil
}

func parseTest(raw json.RawMessage) (test, error) {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return test{value: text}, nil
	}
	var rule map[string]string
	if json.Unmarshal(raw, &rule) == nil && len(rule) == 1 {
		if p, ok := rule["prefix"]; ok {
			return test{value: p, prefix: true}, nil
		}
	}
	return test{}, fmt.Errorf("%s: this package knows strings and {\"prefix\": ...}", raw)
}

// matches reports whether a record, or a part of one, is as the filter says.
func (f filter) matches(raw json.RawMessage) bool {
	if f.fields == nil {
		var text string
		if json.Unmarshal(raw, &text) != nil {
			return false
		}
		for _, t := range f.anyOf {
			if t.prefix && strings.HasPrefix(text, t.value) || text == t.value {
				return true
			}
		}
		return false
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return false
	}
	for name, sub := range f.fields {
		value, ok := fields[name]
		if !ok || !sub.matches(value) {
			return false
		}
	}
	return true
}
