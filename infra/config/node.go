package config

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// reader walks the nodes of a file and collects what is wrong with them.
type reader struct {
	file string
	errs Errors
}

func (r *reader) errorf(n *yaml.Node, format string, args ...any) {
	r.errs = append(r.errs, &Error{File: r.file, Line: max(n.Line, 1), Err: fmt.Errorf(format, args...)})
}

// fields says what to do with each field of a mapping.
type fields map[string]func(*yaml.Node)

// object hands the fields of mapping n to those who know them; others are errors.
func (r *reader) object(n *yaml.Node, what string, known fields) {
	if n.Kind != yaml.MappingNode {
		r.errorf(n, "%s: want a mapping of %s", what, names(known))
		return
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		read, ok := known[key.Value]
		switch first := seen[key.Value]; {
		case first != 0:
			r.errorf(key, "%q appears twice in %s, first on line %d: remove one", key.Value, what, first)
		case !ok:
			r.errorf(key, "%q is no field of %s%s", key.Value, what, suggestion(key.Value, slices.Sorted(maps.Keys(known)), "it has "))
		case value.Kind == yaml.AliasNode:
			r.errorf(value, "%s of %s is an alias: write the value", key.Value, what)
		case value.Tag == "!!null":
			r.errorf(key, "%s of %s has no value: give it one or remove it", key.Value, what)
		default:
			read(value)
		}
		seen[key.Value] = key.Line
	}
}

// list returns the elements of list n.
func (r *reader) list(n *yaml.Node, what string) []*yaml.Node {
	if n.Kind != yaml.SequenceNode {
		r.errorf(n, "%s: want a list", what)
		return nil
	}
	return n.Content
}

// text reads text that matches re; want describes what that is.
func (r *reader) text(to *string, what string, re *regexp.Regexp, want string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		if n.Kind != yaml.ScalarNode || !re.MatchString(n.Value) {
			r.errorf(n, "%s is %s: want %s", what, shown(n), want)
			return
		}
		*to = n.Value
	}
}

// choice reads one of a few words.
func choice[T ~string](r *reader, to *T, what string, words ...T) func(*yaml.Node) {
	return func(n *yaml.Node) {
		if n.Kind == yaml.ScalarNode && slices.Contains(words, T(n.Value)) {
			*to = T(n.Value)
			return
		}
		all := make([]string, len(words))
		for i, w := range words {
			all[i] = string(w)
		}
		r.errorf(n, "%s is %s: want %s", what, shown(n), strings.Join(all, " or "))
	}
}

func (r *reader) boolean(to *bool, what string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		if n.Tag != "!!bool" || n.Decode(to) != nil {
			r.errorf(n, "%s is %s: want true or false", what, shown(n))
		}
	}
}

// count reads a whole number from least to most.
func (r *reader) count(to *int, what string, least, most int) func(*yaml.Node) {
	return func(n *yaml.Node) {
		v, err := strconv.Atoi(n.Value)
		if n.Kind != yaml.ScalarNode || err != nil || v < least || v > most {
			r.errorf(n, "%s is %s: want a whole number from %d to %d", what, shown(n), least, most)
			return
		}
		*to = v
	}
}

// oneOf reads one of a few whole numbers.
func (r *reader) oneOf(to *int, what string, values []int) func(*yaml.Node) {
	return func(n *yaml.Node) {
		v, err := strconv.Atoi(n.Value)
		if n.Kind != yaml.ScalarNode || err != nil || !slices.Contains(values, v) {
			r.errorf(n, "%s is %s: want one of %s", what, shown(n), strings.Trim(fmt.Sprint(values), "[]"))
			return
		}
		*to = v
	}
}

// duration reads whole milliseconds from least to most.
func (r *reader) duration(to *time.Duration, what string, unit, least, most time.Duration) func(*yaml.Node) {
	return func(n *yaml.Node) {
		d, err := time.ParseDuration(n.Value)
		if n.Kind != yaml.ScalarNode || err != nil || d < least || d > most || d%unit != 0 {
			r.errorf(n, "%s is %s: want a duration from %v to %v in steps of %v, such as %v", what, shown(n), least, most, unit, *to)
			return
		}
		*to = d
	}
}

// shown returns what n is, for messages.
func shown(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	default:
		return strconv.Quote(n.Value)
	}
}

func names(f fields) string { return strings.Join(slices.Sorted(maps.Keys(f)), ", ") }

// suggestion returns "; did you mean x?", or all the words after otherwise.
func suggestion(s string, words []string, otherwise string) string {
	if w, ok := closest(s, words); ok {
		return fmt.Sprintf("; did you mean %s?", w)
	}
	return ": " + otherwise + strings.Join(words, ", ")
}
