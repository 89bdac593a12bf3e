package devgateway

import (
	"fmt"
	"iter"
	"strings"

	"go.yaml.in/yaml/v3"
)

// nodeError is a fault at a line of a YAML document.
type nodeError struct {
	line int
	err  error
}

func (e *nodeError) Error() string { return e.err.Error() }
func (e *nodeError) Unwrap() error { return e.err }

func errorAt(n *yaml.Node, format string, args ...any) error {
	return &nodeError{line: n.Line, err: fmt.Errorf(format, args...)}
}

// child follows keys from mapping to mapping; nil if one is not there.
func child(n *yaml.Node, keys ...string) *yaml.Node {
	for _, k := range keys {
		var next *yaml.Node
		for key, value := range pairs(n) {
			if key.Value == k {
				next = value
			}
		}
		if next == nil {
			return nil
		}
		n = next
	}
	return n
}

// pairs yields the keys and values of a mapping, in order; none of anything else.
func pairs(n *yaml.Node) iter.Seq2[*yaml.Node, *yaml.Node] {
	return func(yield func(k, v *yaml.Node) bool) {
		if n == nil || n.Kind != yaml.MappingNode {
			return
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			if !yield(n.Content[i], follow(n.Content[i+1])) {
				return
			}
		}
	}
}

// follow resolves a YAML alias.
func follow(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias // never an alias itself
	}
	return n
}

// isText reports whether n is plain text and not a function such as !Sub, whose
// value only CloudFormation knows.
func isText(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && (n.Tag == "" || strings.HasPrefix(n.Tag, "!!"))
}

// scalar returns the text of n, "" if it has none.
func scalar(n *yaml.Node) string {
	if n == nil || !isText(n) {
		return ""
	}
	return n.Value
}

// describe names n in an error.
func describe(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.ScalarNode && isText(n):
		return fmt.Sprintf("%q", n.Value)
	case n.Kind == yaml.ScalarNode:
		return fmt.Sprintf("%s %s (CloudFormation functions are not evaluated)", n.Tag, n.Value)
	case n.Kind == yaml.SequenceNode:
		return "a list"
	}
	return "a mapping"
}
