package doctor

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
)

// Function is a Lambda function.
type Function struct {
	Name     string
	Timeout  time.Duration
	Reserved *int // nil: not set
	Tracing  bool
	Env      map[string]string
	State    string // "" or Active if it can run
	Allowed  []Grant
	NoGrants bool // its permissions were not looked at
}

// Grant is what a role is allowed. Both may have wildcards.
type Grant struct{ Action, Resource string }

// need is what a function must be allowed, and on which table.
type need struct {
	actions  []string
	variable string // names the table
	all      bool   // in every Region
}

var needs = map[string][]need{
	"authorizer": {
		{actions: []string{"dynamodb:UpdateItem", "dynamodb:GetItem", "dynamodb:Query"}, variable: "WEIR_BUCKETS_TABLE"},
		{actions: []string{"dynamodb:GetItem", "dynamodb:Query"}, variable: "WEIR_CONFIG_TABLE", all: true},
		{actions: []string{"dynamodb:UpdateItem"}, variable: "WEIR_STRICT_TABLE"},
	},
	"reconciler": {
		{actions: []string{"dynamodb:GetItem", "dynamodb:UpdateItem"}, variable: "WEIR_BUCKETS_TABLE"},
		{actions: []string{"dynamodb:GetItem", "dynamodb:Query", "dynamodb:PutItem", "dynamodb:ConditionCheckItem"}, variable: "WEIR_CONFIG_TABLE"},
		{actions: []string{"dynamodb:GetItem", "dynamodb:UpdateItem", "dynamodb:Scan", "dynamodb:DeleteItem"}, variable: "WEIR_STRICT_TABLE"},
	},
}

// lookups is by how much longer than the limits of a request finding out who calls
// may take: see functions/authorizer.
const lookups = 10

func (c *check) function(d Deployment, region, role string, f Function) {
	where := fmt.Sprintf("%s %s in %s", role, f.Name, region)
	if f.Reserved != nil && *f.Reserved == 0 {
		c.broken("reserved-0", where, "its reserved concurrency is 0: it never runs, and what waits for it is a 500.", "Remove the reservation, or raise it.")
	}
	if f.State != "" && f.State != "Active" {
		c.broken("function-state", where, "it is in state "+f.State+".", "Deploy it again; the function's configuration says why.")
	}
	if !f.Tracing {
		c.risky("tracing", where, "it is not traced.", "Turn on active tracing.")
	}
	c.environment(d, region, role, where, f)
	if role == "authorizer" {
		budget := 100 * time.Millisecond
		if v := f.Env["WEIR_STORE_TIMEOUT"]; v != "" {
			if parsed, err := time.ParseDuration(v); err == nil {
				budget = parsed
			}
		}
		if f.Timeout < lookups*budget {
			c.broken("timeout", where, fmt.Sprintf("its timeout is %v, and finding out who calls may take %v: what runs into it is a 500.", f.Timeout, lookups*budget), "Raise the timeout, or lower WEIR_STORE_TIMEOUT.")
		}
	}
	if f.NoGrants {
		c.add(Unknown, "permissions", where, "its permissions could not be looked at.", "Allow iam:SimulatePrincipalPolicy to whoever runs this.")
		return
	}
	for _, n := range needs[role] {
		if table := f.Env[n.variable]; table != "" {
			c.permissions(d, region, where, f, n, table)
		}
	}
}

func (c *check) environment(d Deployment, region, role, where string, f Function) {
	if f.Env["WEIR_STORE"] == "memory" {
		c.broken("store", where, "WEIR_STORE is memory: every process would limit alone, so it refuses to start.", "Set it to dynamodb.")
		return
	}
	for _, v := range []string{"WEIR_BUCKETS_TABLE", "WEIR_CONFIG_TABLE"} {
		if f.Env[v] == "" {
			c.broken("environment", where, v+" is not set: it does not start.", "Name the table.")
		}
	}
	regions := []string{region}
	if v := f.Env["WEIR_REGIONS"]; v != "" {
		regions = strings.Split(v, ",")
	}
	if !slices.Contains(regions, region) {
		c.broken("regions", where, "WEIR_REGIONS is "+strings.Join(regions, ",")+", without this Region: it does not start.", "Add the Region.")
	}
	for _, r := range d.Regions {
		if !slices.Contains(regions, r) {
			c.broken("regions", where, "WEIR_REGIONS lacks "+r+": what is spent there is not counted here.", "Deploy all Regions with the same list.")
		}
	}
}

func (c *check) permissions(d Deployment, region, where string, f Function, n need, table string) {
	regions := []string{region}
	if n.all {
		regions = d.Regions
	}
	for _, r := range regions {
		var missing []string
		for _, action := range n.actions {
			if !f.may(action, r, table) {
				missing = append(missing, action)
			}
		}
		if len(missing) > 0 {
			in := ""
			if r != region {
				in = " in " + r
			}
			c.broken("permissions", where, fmt.Sprintf("it may not %s on table %s%s.", strings.Join(missing, ", "), table, in), "Add it to the role's policy.")
		}
	}
}

// may reports whether the function is allowed an action on a table.
func (f Function) may(action, region, table string) bool {
	return slices.ContainsFunc(f.Allowed, func(g Grant) bool {
		if ok, err := path.Match(g.Action, action); err != nil || !ok {
			return false
		}
		if g.Resource == "*" || g.Resource == table {
			return true
		}
		part := strings.SplitN(g.Resource, ":", 6) // arn, partition, service, Region, account, table/NAME
		if len(part) != 6 || part[2] != "dynamodb" || part[3] != region && part[3] != "*" {
			return false
		}
		ok, err := path.Match(part[5], "table/"+tableName(table))
		return err == nil && ok
	})
}

// tableName returns the name of a table that may be given by ARN.
func tableName(table string) string { return table[strings.LastIndex(table, "/")+1:] }
