// Package settings reads what the functions are configured with: environment
// variables. It looks at all of them before it says anything, so that one start
// reports every mistake, each in a line of its own that names the variable and
// what to write in it. A variable that is set to nothing counts as not set.
//
//	WEIR_STORE            dynamodb (default) | memory, for development only
//	WEIR_BUCKETS_TABLE    name or ARN of the table of buckets; required with dynamodb
//	WEIR_CONFIG_TABLE     name or ARN of the table of plans and tenants; required with dynamodb
//	WEIR_STRICT_TABLE     name or ARN of the table of strict limits, in every one of WEIR_REGIONS; default none, see docs/plans.md
//	WEIR_ANONYMOUS_PLAN   plan of requests without a credential; default none, they are 401
//	WEIR_PLANS            path of a plans file, with memory; default plans.yaml beside the executable
//	WEIR_REGIONS          Regions that share the tables, with commas; default this one. While this one's config table fails, the
//	                      others' are read, in this order: nearest first
//	WEIR_GRACE            how long Regions may not hear each other before that counts as a cut; default 5s
//	WEIR_KEY_HEADER       request header of the API key; default x-api-key
//	WEIR_HTTP_RESPONSE    simple (default) | iam, as the HTTP API's authorizer is set up
//	WEIR_HTTP_OVER_LIMIT  deny (default) | flag, see docs/answers.md
//	WEIR_STORE_TIMEOUT    for the limits of a request; default 100ms. Finding out who calls may take ten times that
//	WEIR_PROCESSES        about how many execution environments serve in all Regions, for onError: local; default 10, see docs/plans.md
//	WEIR_LOG_LEVEL        debug | info (default) | warn | error
//	WEIR_LOG_SAMPLE       refusals that a process logs in a minute, at most; default 10, 0 for none
//	WEIR_METRICS          on (default) | off, see docs/telemetry.md
//	WEIR_METRICS_NAMESPACE, WEIR_METRICS_INTERVAL, WEIR_METRICS_TENANTS
//	                      of CloudWatch, default Weir; between lines, default 1m; listed by name, default 10
//	AWS_REGION            this Region; Lambda sets it
//
// The reconciler reads those of tables, Regions, grace and log level, and one of its own:
//
//	WEIR_PARALLEL         rows that the reconciler brings to a plan at a time; default 16
//
// Tables may be named with memory too: one template serves both. A plans file
// with dynamodb, or an anonymous plan with memory, is refused, since it would have
// no effect.
package settings

import (
	"log/slog"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"weir/internal/authorizer"
	"weir/internal/limiter"
)

// Store names where buckets and configuration are kept.
type Store string

// The stores.
const (
	DynamoDB Store = "dynamodb" // two tables; what production runs on
	Memory   Store = "memory"   // this process and a plans file; for development
)

// HTTPResponse is the form of answer an HTTP API (payload 2.0) was told to expect.
type HTTPResponse string

// The forms. A wrong one is a 500 to every client: it must say what the
// authorizer's EnableSimpleResponses says.
const (
	Simple HTTPResponse = "simple"
	IAM    HTTPResponse = "iam"
)

// OverLimit is what an HTTP API is told about a request that is over a limit.
// It has no gateway responses, so it cannot answer 429 itself.
type OverLimit string

// The ways.
const (
	Deny OverLimit = "deny" // not authorized; the client sees 403
	Flag OverLimit = "flag" // authorized with limited=true; the backend must answer 429
)

// Settings are all of them, checked.
type Settings struct {
	Store        Store
	Plans        string        // path of the plans file; Memory only
	Anonymous    string        // plan of requests without a credential, "" for none; DynamoDB only
	BucketsTable string        // DynamoDB only
	ConfigTable  string        // DynamoDB only
	StrictTable  string        // "" for none; DynamoDB only
	Region       string        // this one
	Regions      []string      // all that share the tables, this one included; at least one
	Grace        time.Duration // see bucket.Merge
	KeyHeader    string        // lower case
	HTTPResponse HTTPResponse  // for HTTP APIs with payload 2.0
	OverLimit    OverLimit     // for HTTP APIs
	StoreTimeout time.Duration // for the limits of a request
	Processes    int64         // about how many serve, in all Regions
	LogLevel     slog.Level
	Telemetry    Telemetry
}

// Defaults of optional settings.
const (
	DefaultKeyHeader    = authorizer.DefaultKeyHeader
	DefaultStoreTimeout = limiter.DefaultTimeout
	DefaultGrace        = limiter.DefaultGrace
	MinGrace            = time.Second // replication itself takes about that
	MaxGrace            = time.Hour
	DefaultProcesses    = limiter.DefaultProcesses
	MaxProcesses        = 100_000
	MaxStoreTimeout     = 5 * time.Second // API Gateway itself waits 10 s for an HTTP API's authorizer
	DefaultPlans        = "plans.yaml"    // beside the executable
	DefaultMemoryRegion = "local"         // with Memory, where there may be none
)

// Error is every problem of the environment, in a fixed order.
type Error struct {
	Problems []string // one line each
}

func (e *Error) Error() string { return strings.Join(e.Problems, "\n") }

var (
	regionName = regexp.MustCompile(`^[a-z]{2}(-[a-z]+)+-[0-9]{1,2}$`)
	tableName  = regexp.MustCompile(`^([A-Za-z0-9_.-]{3,255}|arn:[a-z0-9-]+:dynamodb:[a-z0-9-]+:[0-9]{12}:table/[A-Za-z0-9_.-]{3,255})$`)
	planName   = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)
	headerName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]{0,63}$`)
)

// FromEnv reads the settings from getenv, which is os.Getenv outside tests.
// executable is the path of the running program. The error is an *Error.
func FromEnv(getenv func(string) string, executable string) (Settings, error) {
	e := env{get: getenv}
	s := Settings{
		Store:        oneOf(&e, "WEIR_STORE", DynamoDB, Memory),
		KeyHeader:    strings.ToLower(e.matching("WEIR_KEY_HEADER", headerName, "the name of a request header, such as x-api-key", DefaultKeyHeader)),
		HTTPResponse: oneOf(&e, "WEIR_HTTP_RESPONSE", Simple, IAM),
		OverLimit:    oneOf(&e, "WEIR_HTTP_OVER_LIMIT", Deny, Flag),
		StoreTimeout: e.duration("WEIR_STORE_TIMEOUT", DefaultStoreTimeout, time.Millisecond, MaxStoreTimeout),
		Grace:        e.duration("WEIR_GRACE", DefaultGrace, MinGrace, MaxGrace),
		Processes:    e.count("WEIR_PROCESSES", DefaultProcesses, MaxProcesses),
		LogLevel:     e.level("WEIR_LOG_LEVEL"),
		Telemetry:    e.telemetry(),
		Region:       e.matching("AWS_REGION", regionName, "the Region, such as eu-west-1; Lambda sets it", ""),
	}
	s.Regions = e.regions("WEIR_REGIONS", s.Region)
	switch s.Store {
	case DynamoDB:
		e.dynamoDB(&s)
	case Memory:
		e.memory(&s, executable)
	}
	if len(e.problems) > 0 {
		return Settings{}, &Error{Problems: e.problems}
	}
	return s, nil
}

func (e *env) dynamoDB(s *Settings) {
	e.tables(s)
	s.Anonymous = e.matching("WEIR_ANONYMOUS_PLAN", planName, "the name of a plan, 1 to 64 of A-Z a-z 0-9 . _ -, or nothing", "")
	if e.get("WEIR_PLANS") != "" {
		e.problem("WEIR_PLANS", "is set, but WEIR_STORE=dynamodb reads plans from the config table: unset it, or set WEIR_STORE=memory")
	}
}

// tables reads which tables there are, and requires the Region they are in.
func (e *env) tables(s *Settings) {
	const want = "the name of a DynamoDB table, 3 to 255 of A-Z a-z 0-9 _ . -, or its ARN"
	s.BucketsTable = e.required("WEIR_BUCKETS_TABLE", tableName, want)
	s.ConfigTable = e.required("WEIR_CONFIG_TABLE", tableName, want)
	if s.BucketsTable != "" && s.BucketsTable == s.ConfigTable {
		e.problem("WEIR_CONFIG_TABLE", "is the same table as WEIR_BUCKETS_TABLE: buckets and configuration need a table each")
	}
	s.StrictTable = e.matching("WEIR_STRICT_TABLE", tableName, want+", or nothing", "")
	if s.StrictTable != "" && (s.StrictTable == s.BucketsTable || s.StrictTable == s.ConfigTable) {
		e.problem("WEIR_STRICT_TABLE", "is the same table as another: strict limits need one of their own, strongly consistent across Regions")
	}
	if e.get("AWS_REGION") == "" {
		e.problem("AWS_REGION", "is not set: write the Region of the tables, such as eu-west-1 (Lambda sets it)")
	}
}

// memory lets table names be: the same template serves both stores.
func (e *env) memory(s *Settings, executable string) {
	s.Plans = e.get("WEIR_PLANS")
	if s.Plans == "" {
		s.Plans = filepath.Join(filepath.Dir(executable), DefaultPlans)
	}
	if e.get("WEIR_ANONYMOUS_PLAN") != "" {
		e.problem("WEIR_ANONYMOUS_PLAN", "is set, but with WEIR_STORE=memory the plans file says it: unset it, and write `anonymous` there")
	}
	if len(s.Regions) > 1 {
		e.problem("WEIR_REGIONS", "names more than one Region, but WEIR_STORE=memory keeps buckets in this process alone: name one, or set WEIR_STORE=dynamodb")
	}
	if s.Region == "" {
		s.Region, s.Regions = DefaultMemoryRegion, []string{DefaultMemoryRegion}
	}
	if InLambda(e.get) {
		e.problem("WEIR_STORE", "is memory in a deployed function, where every process would limit alone: set it to dynamodb")
	}
}

// ConfigTableIn returns the config table of another of the Regions: the same name
// or, if it is named by ARN, that of the replica there.
func (s Settings) ConfigTableIn(region string) string {
	part := strings.SplitN(s.ConfigTable, ":", 5) // arn, partition, service, Region, the rest
	if len(part) < 5 {
		return s.ConfigTable
	}
	part[3] = region
	return strings.Join(part, ":")
}
