package doctor

import (
	"fmt"
	"strings"
)

// Source is an event source mapping of the reconciler.
type Source struct {
	ARN       string // of the stream; "" if it is only known when deployed, and comes from Table
	Table     string // whose stream it is; "" if ARN says
	Region    string // in which the stream is
	Enabled   bool
	State     string // "" or as Lambda says
	Partial   bool   // reports partial batch failures
	Bisect    bool
	Filter    string // its patterns
	OnFailure bool   // what is given up on goes somewhere
	Result    string // of the last batch, "" if not known
}

func (c *check) sources(p Part) {
	where := fmt.Sprintf("reconciler %s in %s", p.Reconciler.Name, p.Region)
	table := p.Reconciler.Env["WEIR_CONFIG_TABLE"]
	var found *Source
	for i, s := range p.Sources {
		if s.Table == table || strings.Contains(s.ARN, ":table/"+tableName(table)+"/stream/") {
			found = &p.Sources[i]
		}
	}
	if found == nil {
		c.broken("source-missing", where, "it does not read the stream of config table "+table+": plan changes reach rows only when the next request comes, or the sweep.", "Deploy the Region's stack.")
		return
	}
	s := *found
	switch {
	case strings.HasSuffix(s.ARN, "/stream/*"):
		c.broken("source-wildcard", where, "its event source is "+s.ARN+", which is no stream.", "Look the replica's stream up: infra/regional does.")
	case s.Region != p.Region:
		c.broken("source-region", where, "it reads the stream of the replica in "+s.Region+": a Region that loses the other loses its plan changes.", "Read the stream of this Region's own replica.")
	}
	if !s.Enabled || s.State == "Disabled" || s.State == "Disabling" {
		c.broken("source-disabled", where, "its event source mapping is disabled.", "Enable it.")
	}
	if strings.Contains(s.Result, "PROBLEM") || strings.Contains(s.Result, "FAILED") {
		c.risky("source-failing", where, "the last batch: "+s.Result+".", "The function's log says which record, and why.")
	}
	if !s.Partial {
		c.broken("source-partial", where, "it reports the records that failed, and the mapping does not look at that: failures would be lost.", "Set FunctionResponseTypes to ReportBatchItemFailures.")
	}
	if !strings.Contains(s.Filter, "CURRENT") {
		c.risky("source-filter", where, "the mapping has no filter for sk = CURRENT: every write of the reconcilers calls it again.", "Add the filter.")
	}
	if !s.Bisect {
		c.risky("source-bisect", where, "a batch that fails is not split: one bad record holds up all others.", "Set BisectBatchOnFunctionError.")
	}
	if !s.OnFailure {
		c.risky("source-failures", where, "changes that are given up on are gone.", "Give the mapping an on-failure destination.")
	}
}
