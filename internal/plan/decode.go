package plan

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"
)

// decoder walks the nodes of one document and collects what is wrong with them.
//
// The walk is bounded whatever anchors and aliases do: the form it follows is a
// few levels deep, every list in it has a longest length, and a mapping holds
// known fields once each, or else errors, of which maxErrors end the walk.
type decoder struct {
	file     string
	errs     ErrorList
	warnings ErrorList
}

// full reports whether so many errors were found that the rest is not read.
func (d *decoder) full() bool { return len(d.errs) > maxErrors }

// errorf reports an error at n.
func (d *decoder) errorf(n *yaml.Node, format string, args ...any) {
	d.errorAt(n.Line, n.Column, fmt.Errorf(format, args...))
}

func (d *decoder) errorAt(line, column int, err error) {
	switch {
	case d.full():
		return
	case len(d.errs) == maxErrors:
		err = fmt.Errorf("too many errors; the rest of the file was not read")
	}
	d.errs = append(d.errs, &Error{File: d.file, Line: max(line, 1), Column: max(column, 1), Err: err})
}

// warnf reports something at n that is allowed and probably not meant.
func (d *decoder) warnf(n *yaml.Node, format string, args ...any) {
	if len(d.warnings) < maxErrors {
		d.warnings = append(d.warnings, &Error{File: d.file, Line: n.Line, Column: n.Column, Err: fmt.Errorf(format, args...)})
	}
}

// pair is a key and its value.
type pair struct{ key, value *yaml.Node }

// pairs returns the pairs of mapping n that have a usable key. What says what n
// is, in messages.
func (d *decoder) pairs(n *yaml.Node, what string) []pair {
	n = resolve(n)
	if n.Kind != yaml.MappingNode {
		d.errorf(n, "%s is %s: want a mapping", what, kindOf(n))
		return nil
	}
	seen := make(map[string]*yaml.Node, len(n.Content)/2)
	var ps []pair
	for i := 0; i+1 < len(n.Content) && !d.full(); i += 2 {
		k := resolve(n.Content[i])
		switch first := seen[k.Value]; {
		case k.Kind == yaml.ScalarNode && k.ShortTag() == "!!merge":
			d.errorf(k, "merge key << is not supported: repeat the fields, or give the whole value an anchor")
		case k.Kind != yaml.ScalarNode || k.ShortTag() != "!!str":
			d.errorf(k, "a key of %s is %s: want text%s", what, kindOf(k), quotesHelp(k))
		case first != nil:
			d.errorf(k, "%s appears twice in %s; first on line %d", quote(k.Value), what, first.Line)
		default:
			seen[k.Value] = k
			ps = append(ps, pair{k, resolve(n.Content[i+1])})
		}
	}
	return ps
}

// object returns the fields of mapping n by name; any but the known ones are
// errors.
func (d *decoder) object(n *yaml.Node, what string, known []string) map[string]*yaml.Node {
	fields := make(map[string]*yaml.Node, len(known))
	for _, p := range d.pairs(n, what) {
		switch name := p.key.Value; {
		case slices.Contains(known, name):
			fields[name] = p.value
		case slices.Contains(laterFields, name):
			d.errorf(p.key, "%s is not supported by this version; remove it", name)
		default:
			d.errorf(p.key, "unknown field %s in %s%s", quote(name), what, orOneOf(name, known))
		}
	}
	return fields
}

// list returns the elements of list n, at most most of them.
func (d *decoder) list(n *yaml.Node, what string, most int) []*yaml.Node {
	switch {
	case n.Kind != yaml.SequenceNode:
		d.errorf(n, "%s is %s: want a list", what, kindOf(n))
		return nil
	case len(n.Content) > most:
		d.errorf(n, "%s has %d entries: at most %d", what, len(n.Content), most)
		return nil
	}
	elems := make([]*yaml.Node, len(n.Content))
	for i, e := range n.Content {
		elems[i] = resolve(e)
	}
	return elems
}

// text returns the text of n, which must not be of another type.
func (d *decoder) text(n *yaml.Node, what string) (string, bool) {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" {
		return n.Value, true
	}
	d.errorf(n, "%s is %s: want text%s", what, kindOf(n), quotesHelp(n))
	return "", false
}

// quotesHelp returns advice for a scalar that YAML takes for a number or the like.
func quotesHelp(n *yaml.Node) string {
	if n.Kind == yaml.ScalarNode {
		switch n.ShortTag() {
		case "!!int", "!!float", "!!bool", "!!timestamp":
			return "; put it in quotes"
		}
	}
	return ""
}

// name returns the text of n, which must be the name of something.
func (d *decoder) name(n *yaml.Node, what string) (string, bool) {
	s, ok := d.text(n, what)
	if ok && (!validName(s) || s[0] == '.' || s[0] == '_' || s[0] == '-') {
		d.errorf(n, "%s %s: want 1 to %d letters, digits, '.', '_' and '-', the first a letter or digit", what, quote(s), MaxName)
		return "", false
	}
	return s, ok
}

// resolve returns the node that n stands for.
func resolve(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias // never an alias itself
	}
	return n
}

// kindOf says what kind of value n is, for messages; it does not show the value.
func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	switch tag := n.ShortTag(); tag {
	case "!!str":
		return "text"
	case "!!int", "!!float":
		return "a number"
	case "!!bool":
		return "true or false"
	case "!!null":
		return "empty"
	case "!!timestamp":
		return "a date"
	case "!!merge":
		return "a merge key"
	default:
		return "a value tagged " + quote(tag)
	}
}
