package main

import (
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"

	"weir/internal/plan"
	"weir/pkg/bucket"
)

// greeting is what `weir dev` prints when it is ready: where it listens, which
// the first line says in a form for programs, and what to try.
type greeting struct {
	base      string // http://HOST:PORT
	plansFile string
	template  string
	buckets   string // where they are
	plans     *plan.File
	keyHeader string
}

// maxShown bounds the tenants that are suggested.
const maxShown = 5

func (g greeting) write(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "listening on %s\n\n", g.base)
	fmt.Fprintf(&b, "plans     %s: %d plans, %d tenants\n", g.plansFile, len(g.plans.Plans), len(g.plans.Tenants))
	fmt.Fprintf(&b, "template  %s\n", g.template)
	fmt.Fprintf(&b, "buckets   %s\n\n", g.buckets)
	fmt.Fprintf(&b, "Try:\n")
	shown := 0
	for _, t := range g.plans.Tenants {
		if len(t.Keys) == 0 {
			continue
		}
		if shown++; shown > maxShown {
			break
		}
		g.tenant(&b, t)
	}
	g.anybody(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// tenant suggests requests of one tenant.
func (g greeting) tenant(b *strings.Builder, t plan.Tenant) {
	header := "-H " + quote(g.keyHeader+": "+t.Keys[0]) + " "
	if t.Suspended {
		g.suggest(b, fmt.Sprintf("%s is suspended: 429, with a code that says so", t.ID), "curl -i "+header+g.url())
		return
	}
	g.suggest(b, fmt.Sprintf("%s, plan %s: 200", t.ID, t.Plan), "curl -i "+header+g.url())
	if l, ok := tightest(g.plans.Plans[t.Plan]); ok {
		g.suggest(b, fmt.Sprintf("more at once than the %d of its limit %s: 429", l.Bucket.Burst()/l.Cost, l.Name), g.flood(header, l.Bucket))
	}
}

// anybody suggests requests of clients that are no tenant's.
func (g greeting) anybody(b *strings.Builder) {
	if g.plans.Anonymous == "" {
		g.suggest(b, "no key: 401", "curl -i "+g.url())
	} else {
		g.suggest(b, fmt.Sprintf("no key, plan %s: 200, limited by address", g.plans.Anonymous), "curl -i "+g.url())
	}
	g.suggest(b, "a key that nobody has: 401", "curl -i -H "+quote(g.keyHeader+": nobody")+" "+g.url())
}

func (g greeting) suggest(b *strings.Builder, what, command string) {
	fmt.Fprintf(b, "\n  # %s\n  %s\n", what, command)
}

// maxFlood bounds the requests a suggestion sends.
const maxFlood = 2000

// floodSize is enough to empty a bucket and see it refuse, even if sending takes
// a few seconds.
func floodSize(l bucket.Limit) int64 {
	return 2*l.Burst() + int64(3*l.Rate().PerSecond()) + 5
}

// flood returns a command that sends more requests than l lets pass and counts
// the answers by status.
func (g greeting) flood(header string, l bucket.Limit) string {
	return fmt.Sprintf(`seq %d | xargs -P 8 -I{} curl -s -o /dev/null -w '%%{http_code}\n' %s%s | sort | uniq -c`, floodSize(l), header, g.url())
}

// url is where to send requests: for an address that means every interface, the
// loopback one.
func (g greeting) url() string {
	u, err := url.Parse(g.base)
	if err != nil {
		return g.base
	}
	if ip := net.ParseIP(u.Hostname()); ip != nil && ip.IsUnspecified() {
		u.Host = net.JoinHostPort("localhost", u.Port())
	}
	return u.String() + "/v1/things"
}

// tightest returns the limit that requests by hand use up first, if one can be
// used up that way.
func tightest(p *plan.Plan) (limit *plan.Limit, ok bool) {
	for _, l := range p.Matching("GET", "/{proxy+}") {
		if l.Bucket.IsUnlimited() || l.Bucket.IsZero() || l.Cost == 0 || floodSize(l.Bucket) > maxFlood {
			continue
		}
		if limit == nil || floodSize(l.Bucket) < floodSize(limit.Bucket) {
			limit = l
		}
	}
	return limit, limit != nil
}

// quote returns s as one word of a POSIX shell.
func quote(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
