// Package config reads weir.yaml: what is deployed, where, and which optional
// parts come along. It knows YAML and AWS's geography, and nothing of the CDK.
//
// Everything wrong with a file is reported at once, one line each, with the line
// it is on and what to write instead.
package config

import "time"

// Config is a checked weir.yaml.
type Config struct {
	Name      string // of the deployment: the first part of every name in it
	Account   string
	Partition string   // "aws", "aws-cn" or "aws-us-gov", as the Regions say
	Regions   []Region // the first is the primary one

	Tables        Tables
	Strict        *Strict // nil: no table for strict limits
	API           API
	Authorizer    Authorizer
	Reconciler    Function
	Logs          Logs
	Domain        *Domain // nil: the APIs keep the names that API Gateway gives them
	Observability Observability
	Resilience    Resilience
}

// Region is one Region of the deployment.
type Region struct {
	Name        string
	Drained     bool        // DNS sends nobody there; everything else stays
	Concurrency Concurrency // of the authorizer; that of Config.Authorizer if not set here
}

// Tables says how the two global tables are kept.
type Tables struct {
	Protect bool // deletion protection, and kept when their stack is deleted
}

// Strict is the multi-Region strongly consistent table.
type Strict struct {
	Witness string // Region of the witness; "" with three replicas
}

// Kind is the kind of API in front of the authorizer.
type Kind string

// The kinds. No API is for those who attach Weir to their own.
const (
	REST Kind = "rest" // answers 429 itself
	HTTP Kind = "http" // cannot: see OverLimit
	None Kind = "none"
)

// OverLimit is what an HTTP API does with a request that is over a limit.
type OverLimit string

// The ways, as in WEIR_HTTP_OVER_LIMIT.
const (
	Deny OverLimit = "deny" // 403
	Flag OverLimit = "flag" // the backend sees limited=true and answers 429
)

// API is the API that each Region serves.
type API struct {
	Kind          Kind
	Stage         string
	Backend       string    // URL that requests are passed to; "" for an echo of the decision
	OverLimit     OverLimit // HTTP only
	KeyHeader     string
	AnonymousPlan string // "" refuses requests without a credential
	CORSOrigin    string
	LogsRole      bool // set the account's role by which API Gateway writes logs
}

// Concurrency of a function; 0 is not set.
type Concurrency struct {
	Reserved    int
	Provisioned int
}

// Function is what can be said of any function.
type Function struct {
	Memory      int // MiB
	Timeout     time.Duration
	Concurrency Concurrency
}

// Authorizer is the function on the request path.
type Authorizer struct {
	Function
	StoreTimeout time.Duration
	Processes    int
}

// Logs is what is logged, and for how long.
type Logs struct {
	Level     string
	Retention int // days
}

// Domain is the name that clients use in every Region.
type Domain struct {
	Name         string
	ZoneID       string
	ZoneName     string
	Certificates map[string]string // ARN by Region; a Region without one gets its own
	HealthKey    string            // name of the SSM parameter with the health checks' API key
}

// Observability says who hears of trouble.
type Observability struct {
	Alarms     bool
	Dashboards bool
	Emails     []string
	Lag        time.Duration // of replication, above which an alarm is raised
}

// Resilience is what bad days are tried out with.
type Resilience struct {
	Experiment bool
	Pause      time.Duration // for which the experiment stops replication
}

// Primary returns the Region in whose stack the tables are.
func (c *Config) Primary() Region { return c.Regions[0] }

// RegionNames returns the names of all Regions, in the order of the file.
func (c *Config) RegionNames() []string {
	names := make([]string, len(c.Regions))
	for i, r := range c.Regions {
		names[i] = r.Name
	}
	return names
}

// BucketsTable, ConfigTable and StrictTable name the tables, in every Region.
func (c *Config) BucketsTable() string { return c.Name + "-buckets" }
func (c *Config) ConfigTable() string  { return c.Name + "-config" }
func (c *Config) StrictTable() string  { return c.Name + "-strict" }

// AuthorizerName and ReconcilerName name the functions, in every Region.
func (c *Config) AuthorizerName() string { return c.Name + "-authorizer" }
func (c *Config) ReconcilerName() string { return c.Name + "-reconciler" }

// ConcurrencyIn returns the concurrency of the authorizer in a Region.
func (c *Config) ConcurrencyIn(r Region) Concurrency {
	n := c.Authorizer.Concurrency
	if r.Concurrency.Reserved != 0 {
		n.Reserved = r.Concurrency.Reserved
	}
	if r.Concurrency.Provisioned != 0 {
		n.Provisioned = r.Concurrency.Provisioned
	}
	return n
}

// DefaultName is the name of a deployment whose file has none.
const DefaultName = "weir"

// Namespace returns that of the deployment's metrics in CloudWatch: the usual one,
// or one below it if the deployment has another name than the usual.
func (c *Config) Namespace(usual string) string {
	if c.Name == DefaultName {
		return usual
	}
	return usual + "/" + c.Name
}

// ARN returns the ARN of something in a Region: ARN("eu-west-1", "dynamodb", "table/x").
func (c *Config) ARN(region, service, resource string) string {
	return "arn:" + c.Partition + ":" + service + ":" + region + ":" + c.Account + ":" + resource
}

// TableARN returns the ARN of a table's replica in a Region.
func (c *Config) TableARN(region, table string) string {
	return c.ARN(region, "dynamodb", "table/"+table)
}
