package plan

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"
)

// Consistency says among whom a limit is one.
type Consistency int

// The consistencies. A plan that does not say has Global.
const (
	Global   Consistency = iota // all Regions, each from its own table: what others spend is seen a little later
	Regional                    // each Region by itself
	Strict                      // all Regions, exactly: a table that is strongly consistent across them
)

// As they are written, in the order of the constants.
var consistencies = []string{"global", "regional", "strict"}

func (c Consistency) String() string {
	if c < 0 || int(c) >= len(consistencies) {
		return fmt.Sprintf("Consistency(%d)", int(c))
	}
	return consistencies[c]
}

// What a global limit does while other Regions cannot be heard.
const (
	serve = "serve" // admit as ever, and make up for it afterwards
	share = "share" // admit this Region's share
)

// parseConsistency parses the consistency and onPartition among fields.
func (d *decoder) parseConsistency(fields map[string]*yaml.Node, what string) (c Consistency, shares bool) {
	if n := fields["consistency"]; n != nil {
		c = Consistency(max(0, d.choice(n, "consistency of "+what, consistencies)))
	}
	if n := fields["onPartition"]; n != nil {
		shares = d.choice(n, "onPartition of "+what, []string{serve, share}) == 1
		if c != Global {
			d.errorf(n, "onPartition of %s: a %s limit has nothing to share; remove it, or write consistency: global", what, c)
		}
	}
	return c, shares
}

// choice returns which of the words n is, or -1 if it is none.
func (d *decoder) choice(n *yaml.Node, what string, words []string) int {
	s, ok := d.text(n, what)
	if !ok {
		return -1
	}
	i := slices.Index(words, s)
	if i < 0 {
		d.errorf(n, "%s is %s%s", what, quote(s), orOneOf(s, words))
	}
	return i
}
