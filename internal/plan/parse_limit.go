package plan

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"weir/pkg/bucket"
)

const (
	maxDescription = 256 // characters
	maxResource    = 512 // bytes
)

// methods are the ones that API Gateway routes by.
var methods = []string{"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"}

func (d *decoder) parsePlan(n *yaml.Node, p *Plan) {
	what := "plan " + quote(p.Name)
	fields := d.object(n, what, planFields)
	p.Description = d.parseDescription(fields["description"], what)
	unset := Limit{Cost: 1, Mode: d.parseMode(fields["mode"], what, Enforce), Hold: d.parseHold(fields["hold"], what, 0)}
	limits := fields["limits"]
	if limits == nil {
		if n.Kind == yaml.MappingNode {
			d.errorf(n, "%s has no limits: want a list called limits; a plan without bounds has one limit with rate: unlimited", what)
		}
		return
	}
	elems := d.list(limits, "limits of "+what, MaxLimits)
	if limits.Kind == yaml.SequenceNode && len(limits.Content) == 0 {
		d.errorf(limits, "%s has no limits: want at least one; a plan without bounds has one limit with rate: unlimited", what)
	}
	seen := map[string]*yaml.Node{}
	for _, e := range elems {
		p.Limits = append(p.Limits, d.parseLimit(e, unset, seen))
	}
}

// parseLimit parses limit n, which has what it does not say from unset; seen has
// where the names of those before it are.
func (d *decoder) parseLimit(n *yaml.Node, unset Limit, seen map[string]*yaml.Node) Limit {
	l := unset
	fields := d.object(n, "a limit", limitFields)
	l.Name = d.parseLimitName(n, fields["name"], seen)
	what := "limit " + quote(l.Name)
	l.Description = d.parseDescription(fields["description"], what)
	l.Match = d.parseMatch(fields["match"], what)
	l.Key = d.parseKey(fields["key"], what)
	l.Consistency, l.Share = d.parseConsistency(fields, what)
	l.Hold = d.parseHold(fields["hold"], what, unset.Hold)
	l.Mode = d.parseMode(fields["mode"], what, unset.Mode)
	l.OnError = d.parseOnError(fields["onError"], what)
	if n.Kind != yaml.MappingNode {
		return l
	}
	b, burst, ok := d.parseBucket(n, fields, what)
	l.Bucket, l.Percent = b, burst.Percent
	if i := fields["initial"]; i != nil {
		l.Initial = d.parseTokens(i, "initial of "+what)
		d.checkInitial(i, what, &l, ok)
	}
	if c := fields["cost"]; c != nil {
		l.Cost = d.parseTokens(c, "cost of "+what)
		if ok && !b.IsUnlimited() && !b.IsZero() && l.Cost > b.Burst() {
			d.errorf(c, "%s costs %d tokens, but its bucket holds %d: no request would ever pass; raise the burst, or write rate: 0/s to refuse all", what, l.Cost, b.Burst())
		}
	}
	return l
}

// parseLimitName parses name, which may be nil, of the limit at n.
func (d *decoder) parseLimitName(n, name *yaml.Node, seen map[string]*yaml.Node) string {
	if name == nil {
		if n.Kind == yaml.MappingNode {
			d.errorf(n, "a limit has no name")
		}
		return ""
	}
	s, ok := d.name(name, "limit name")
	if !ok {
		return ""
	}
	if first := seen[s]; first != nil {
		d.errorf(name, "limit %s appears twice in the plan; first on line %d", quote(s), first.Line)
	}
	seen[s] = name
	return s
}

// parseBucket parses the rate and burst among fields, of what is at n.
func (d *decoder) parseBucket(n *yaml.Node, fields map[string]*yaml.Node, what string) (bucket.Limit, Burst, bool) {
	rateNode, burstNode := fields["rate"], fields["burst"]
	if rateNode == nil {
		if n.Kind == yaml.MappingNode {
			d.errorf(n, "%s has no rate: want one such as 100/s, or unlimited", what)
		}
		return bucket.Limit{}, Burst{}, false
	}
	rate, ok := d.rateText(rateNode, what)
	text := ""
	if burstNode != nil {
		var burstOK bool
		text, burstOK = d.countText(burstNode, "burst of "+what)
		ok = ok && burstOK
	}
	if !ok {
		return bucket.Limit{}, Burst{}, false
	}
	b, burst, atBurst, err := newBucket(rate, text)
	if err != nil {
		at := rateNode
		if atBurst && burstNode != nil {
			at = burstNode
		}
		d.errorf(at, "%s: %w", what, err)
	}
	return b, burst, err == nil
}

// rateText returns the text of a rate. A bare number is the likeliest mistake
// and gets an answer of its own.
func (d *decoder) rateText(n *yaml.Node, what string) (string, bool) {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!int" {
		d.errorf(n, "rate of %s is a bare number: say per what, such as %s/s", what, n.Value)
		return "", false
	}
	return d.text(n, "rate of "+what)
}

// countText returns the text of a count, which may be a number or text.
func (d *decoder) countText(n *yaml.Node, what string) (string, bool) {
	if n.Kind == yaml.ScalarNode && n.Value != "" {
		switch n.ShortTag() {
		case "!!int", "!!str":
			return n.Value, true
		}
	}
	d.errorf(n, "%s is %s: want a number of tokens, or a percentage such as 100%%", what, kindOf(n))
	return "", false
}

// checkInitial checks the first tokens of l, which stand at n; bounded says that
// l has a bucket to compare them with.
func (d *decoder) checkInitial(n *yaml.Node, what string, l *Limit, bounded bool) {
	switch {
	case l.Initial > 0 && l.Consistency == Strict:
		d.errorf(n, "initial of %s: first tokens are charged after they are spent, which is not strict; remove it, or write consistency: global", what)
	case bounded && !l.Bucket.IsUnlimited() && !l.Bucket.IsZero() && l.Initial > l.Bucket.Burst():
		d.errorf(n, "initial of %s is %d tokens, but its bucket holds %d", what, l.Initial, l.Bucket.Burst())
	}
}

// parseTokens parses a whole number of tokens.
func (d *decoder) parseTokens(n *yaml.Node, what string) int64 {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!int" {
		if c, ok := parseDigits(n.Value); ok && c <= bucket.MaxBurst {
			return c
		}
	}
	d.errorf(n, "%s: want a whole number from 0 to %d", what, int64(bucket.MaxBurst))
	return 0
}

func (d *decoder) parseKey(n *yaml.Node, what string) Template {
	if n == nil {
		return byTenant
	}
	if n.Kind == yaml.MappingNode { // what YAML makes of key: {tenant}
		d.errorf(n, "key of %s is a mapping: put it in quotes, such as \"{tenant}\"", what)
		return byTenant
	}
	text, ok := d.text(n, "key of "+what)
	if !ok {
		return byTenant
	}
	t, err := ParseTemplate(text)
	if err != nil {
		d.errorf(n, "%s: %w", what, err)
	}
	return t
}

func (d *decoder) parseMatch(n *yaml.Node, what string) Match {
	var m Match
	if n == nil {
		return m
	}
	fields := d.object(n, "match of "+what, matchFields)
	if f := fields["method"]; f != nil {
		s, ok := d.text(f, "method of "+what)
		switch {
		case !ok:
		case slices.Contains(methods, s):
			m.Method = s
		case strings.EqualFold(s, "ANY") || s == "*":
			d.errorf(f, "method %s: leave method out to match every method", quote(s))
		default:
			d.errorf(f, "method %s of %s%s", quote(s), what, orOneOf(s, methods))
		}
	}
	if f := fields["resource"]; f != nil {
		if s, ok := d.text(f, "resource of "+what); ok {
			if why := badResource(s); why != "" {
				d.errorf(f, "resource %s of %s: %s", quote(s), what, why)
			}
			m.Resource = s
		}
	}
	return m
}

// badResource says what is wrong with a resource, or "".
func badResource(s string) string {
	verb, _, spaced := strings.Cut(s, " ")
	switch {
	case spaced && slices.Contains(methods, strings.ToUpper(verb)):
		return "write the method as method: " + strings.ToUpper(verb)
	case s != "*" && !strings.HasPrefix(s, "/") && !strings.HasPrefix(s, "$"):
		return "want a route template that begins with '/', such as /v1/users/{id}, or $connect or $default"
	case strings.Contains(strings.TrimSuffix(s, "*"), "*"):
		return "'*' may only stand at the end, where it matches every route that begins so"
	case len(s) > maxResource:
		return "too long"
	case strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' }):
		return "want visible ASCII characters without spaces"
	}
	return ""
}

func (d *decoder) parseDescription(n *yaml.Node, what string) string {
	if n == nil {
		return ""
	}
	s, ok := d.text(n, "description of "+what)
	if !ok {
		return ""
	}
	s = strings.TrimSpace(s) // a block scalar ends in a newline
	if utf8.RuneCountInString(s) > maxDescription || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		d.errorf(n, "description of %s: want one line of up to %d printable characters", what, maxDescription)
	}
	return s
}

func (d *decoder) boolean(n *yaml.Node, what string) bool {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!bool" {
		return n.Value == "true" || n.Value == "True" || n.Value == "TRUE"
	}
	d.errorf(n, "%s is %s: want true or false", what, kindOf(n))
	return false
}
