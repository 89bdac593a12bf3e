package config

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

func regionNames() []string { return slices.Sorted(maps.Keys(places)) }

// check judges what can only be judged together.
func (r *reader) check(c *Config, at marks) {
	if c.Account == "" {
		r.errorf(at.node("account"), "account is missing: write the 12 digits of the AWS account, in quotes")
	}
	r.checkRegions(c, at)
	if c.Strict != nil && len(c.Regions) > 0 {
		r.checkStrict(c, at)
	}
	r.checkAPI(c, at)
	if c.Domain != nil {
		r.checkDomain(c, at)
	}
	for i, region := range c.Regions {
		if n := c.ConcurrencyIn(region); n.Reserved > 0 && n.Provisioned > n.Reserved {
			r.errorf(at.node("region "+strconv.Itoa(i), "provisioned"),
				"%s: %d provisioned of %d reserved environments: reserve at least as many as are provisioned", region.Name, n.Provisioned, n.Reserved)
		}
	}
	if longest := c.Authorizer.StoreTimeout * 10; longest > c.Authorizer.Timeout {
		r.errorf(at.node("authorizer"), "authorizer.timeout %v is shorter than the %v in which a caller may be looked up (10 times storeTimeout): what runs into it is a 500",
			c.Authorizer.Timeout, longest)
	}
	if c.Resilience.Experiment {
		switch {
		case len(c.Regions) < 2:
			r.errorf(at.node("experiment"), "resilience.experiment pauses replication between Regions: with one Region there is none")
		case !c.Observability.Alarms:
			r.errorf(at.node("experiment"), "resilience.experiment needs observability.alarms: an alarm is what stops it")
		}
	}
}

func (r *reader) checkRegions(c *Config, at marks) {
	if len(c.Regions) == 0 {
		r.errorf(at.node("regions"), "regions is missing: list at least one, the primary one first")
		return
	}
	c.Partition = places[c.Regions[0].Name].partition
	seen := map[string]int{}
	for i, region := range c.Regions {
		n := at.node("region " + strconv.Itoa(i))
		if first := seen[region.Name]; first != 0 {
			r.errorf(n, "%s is listed twice, first on line %d: remove one", region.Name, first)
		}
		seen[region.Name] = n.Line
		if p := places[region.Name].partition; p != c.Partition {
			r.errorf(n, "%s is in partition %s and %s in %s: tables cannot span them; make a deployment for each",
				region.Name, p, c.Regions[0].Name, c.Partition)
		}
	}
	drained := func(region Region) bool { return region.Drained }
	if !slices.ContainsFunc(c.Regions, func(region Region) bool { return !region.Drained }) {
		r.errorf(at.node("regions"), "every Region is drained: nobody would be served")
	}
	if i := slices.IndexFunc(c.Regions, drained); i >= 0 && c.Domain == nil {
		r.errorf(at.node("region "+strconv.Itoa(i)), "%s is drained, but without a domain there is no DNS to drain it from: remove drained", c.Regions[i].Name)
	}
}

// checkStrict refuses what DynamoDB would: a multi-Region strongly consistent
// table has exactly three Regions of one set, one of which may be a witness.
func (r *reader) checkStrict(c *Config, at marks) {
	n, regions, witness := at.node("strict"), c.RegionNames(), c.Strict.Witness
	if witness != "" {
		if !r.region(at.node("witness"), "strict.witness") {
			return
		}
		if slices.Contains(regions, witness) {
			r.errorf(at.node("witness"), "strict.witness %s is one of the regions: a witness holds no replica; name another Region of the same set", witness)
			return
		}
	}
	switch {
	case len(regions) == 1:
		r.errorf(n, "strict needs three Regions, or two and a witness; in one Region every limit is exact without it: remove strict")
		return
	case len(regions) == 2 && witness == "":
		r.errorf(n, "strict with two regions needs a third as witness: write strict: {witness: ...}, a Region of the same set")
		return
	case len(regions) == 3 && witness != "":
		r.errorf(at.node("witness"), "strict.witness is for two regions; three have a replica each: remove it")
		return
	case len(regions) > 3:
		r.errorf(n, "strict needs exactly three Regions, these are %d: keep such limits in a deployment of their own", len(regions))
		return
	}
	all := regions
	if witness != "" {
		all = append(slices.Clone(regions), witness)
	}
	if _, ok := strictSet(all); !ok {
		r.errorf(n, "strict needs all Regions in one set, and %s are not: %s", strings.Join(all, ", "), sets())
	}
}

// sets lists the sets of Regions in which a table can be strongly consistent.
func sets() string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(strictSets)) {
		all = append(all, fmt.Sprintf("%s is %s", name, strings.Join(strictSets[name], ", ")))
	}
	return strings.Join(all, "; ")
}

func (r *reader) checkAPI(c *Config, at marks) {
	switch c.API.Kind {
	case HTTP:
		if c.API.OverLimit == "" {
			r.errorf(at.node("kind"), "api.kind http cannot answer 429 itself: write overLimit: deny for 403, or flag for a backend that answers 429 when it sees limited=true")
		}
		if c.API.Backend == "" {
			r.errorf(at.node("kind"), "api.kind http has no answer of its own: write the URL of the backend")
		}
		if c.Domain != nil {
			r.errorf(at.node("domain"), "domain needs api.kind rest: an HTTP API has no route by which a health check could see the whole path work")
		}
	case None:
		if c.Domain != nil {
			r.errorf(at.node("domain"), "domain needs an API in each Region, and api.kind is none: the domain of your own API stays with it")
		}
		fallthrough
	case REST:
		if c.API.OverLimit != "" && c.API.Kind == REST {
			r.errorf(at.node("overLimit"), "api.overLimit is for kind http; a REST API answers 429 itself: remove it")
		}
	}
}

func (r *reader) checkDomain(c *Config, at marks) {
	d := c.Domain
	switch {
	case c.Partition != "" && c.Partition != "aws":
		r.errorf(at.node("domain"), "domain needs Route 53's health checks and latency records, which partition %s has not: remove it, and point DNS at each Region's API yourself", c.Partition)
	case d.Name == "":
		r.errorf(at.node("domain"), "domain.name is missing: write the name that clients use, such as api.example.com")
	case d.ZoneID == "" || d.ZoneName == "":
		r.errorf(at.node("zone", "domain"), "domain %s has no hosted zone: write zone: {id: Z..., name: ...}, the public zone in Route 53 that holds it", d.Name)
	case d.Name != d.ZoneName && !strings.HasSuffix(d.Name, "."+d.ZoneName):
		r.errorf(at.node("domain.name"), "domain.name %s is not in zone %s", d.Name, d.ZoneName)
	case d.HealthKey == "":
		r.errorf(at.node("domain"), "domain.healthKey is missing: write the name of the SSM parameter with the API key of the health checks (docs/operations.md, Health)")
	}
	for region, arn := range d.Certificates {
		switch n := at.node("certificate " + region); {
		case !slices.Contains(c.RegionNames(), region):
			r.errorf(n, "domain.certificates names %q, which is not one of the regions", region)
		case !strings.Contains(arn, ":acm:"+region+":"):
			r.errorf(n, "domain.certificates.%s is in another Region: a regional domain needs one of its own Region", region)
		}
	}
}
