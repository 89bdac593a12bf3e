package observability

import (
	"encoding/json"

	"weir/infra/config"
	"weir/internal/telemetry/metric"
)

// Dashboard is rows of widgets.
type Dashboard [][]widget

// widget is one graph.
type widget struct {
	title, region string
	lines         []line
	stacked       bool
	unit          string // of the left axis
}

// line is one metric in a graph, or an expression over those before it.
type line struct {
	series
	label      string
	region     string // "" for the widget's
	expression string
	id         string
	hidden     bool
}

// Of 24 columns that a dashboard has; heights are in rows.
const (
	columns = 24
	height  = 6
)

// body returns the dashboard as CloudWatch wants it. JSON objects of Go are sorted,
// so the same dashboard is the same text.
func (d Dashboard) body() string {
	widgets := []map[string]any{}
	for y, row := range d {
		for x, w := range row {
			width := columns / len(row)
			widgets = append(widgets, map[string]any{
				"type": "metric", "x": x * width, "y": y * height, "width": width, "height": height, "properties": w.properties(),
			})
		}
	}
	text, err := json.Marshal(map[string]any{"widgets": widgets})
	if err != nil {
		panic(err) // strings and numbers
	}
	return string(text)
}

func (w widget) properties() map[string]any {
	var metrics [][]any
	for _, l := range w.lines {
		options := map[string]any{}
		for k, v := range map[string]string{"label": l.label, "region": l.region, "id": l.id, "expression": l.expression, "stat": l.statistic} {
			if v != "" {
				options[k] = v
			}
		}
		if l.hidden {
			options["visible"] = false
		}
		var m []any
		if l.expression == "" {
			m = append(m, l.namespace, l.name)
			for _, d := range l.dimensions {
				m = append(m, d)
			}
		}
		metrics = append(metrics, append(m, options))
	}
	p := map[string]any{"title": w.title, "region": w.region, "view": "timeSeries", "stacked": w.stacked, "period": 60, "metrics": metrics}
	if w.unit != "" {
		p["yAxis"] = map[string]any{"left": map[string]any{"label": w.unit, "showUnits": false, "min": 0}}
	}
	return p
}

// refusedShare returns the lines that make the share of refused requests of a Region.
func refusedShare(c *config.Config, region, label, id string) []line {
	all, refused := of(c, metric.Decisions, region), of(c, metric.Decisions, region, string(metric.Outcome), metric.Refused)
	return []line{
		{series: all, id: "a" + id, region: region, hidden: true},
		{series: refused, id: "r" + id, region: region, hidden: true},
		{expression: "100 * FILL(r" + id + ", 0) / a" + id, label: label, id: "s" + id},
	}
}

// regionDashboard shows one Region.
func regionDashboard(c *config.Config, r config.Region) Dashboard {
	region := r.Name
	weir := func(m metric.Metric, label string, more ...string) line {
		return line{series: of(c, m, region, more...), label: label}
	}
	with := func(l line, statistic string) line { l.statistic = statistic; return l }
	store := func(m metric.Metric) []line {
		lines := []line{
			weir(m, metric.Buckets, string(metric.Store), metric.Buckets),
			weir(m, metric.Config, string(metric.Store), metric.Config),
		}
		if c.Strict != nil {
			lines = append(lines, weir(m, metric.Strict, string(metric.Store), metric.Strict))
		}
		return lines
	}
	lambda := func(name, statistic, label, function string) line {
		return line{series: aws("Lambda", name, statistic, "FunctionName", function), label: label}
	}
	graph := func(title, unit string, lines ...line) widget {
		return widget{title: title, region: region, unit: unit, lines: lines}
	}
	outcomes := graph("Decisions", "a minute",
		weir(metric.Decisions, metric.Allowed, string(metric.Outcome), metric.Allowed),
		weir(metric.Decisions, metric.Refused, string(metric.Outcome), metric.Refused),
		weir(metric.Decisions, metric.Unauthorized, string(metric.Outcome), metric.Unauthorized))
	outcomes.stacked = true

	d := Dashboard{
		{
			outcomes,
			graph("Refused", "%", refusedShare(c, region, "refused", "1")...),
			graph("Time of a decision", "µs",
				with(weir(metric.DecisionTime, "p50"), "p50"), weir(metric.DecisionTime, "p99"),
				weir(metric.DecisionTime, "p99 from memory", string(metric.Source), metric.FromMemory),
				weir(metric.DecisionTime, "p99 from the store", string(metric.Source), metric.FromStore)),
		},
		{
			graph("Limits that could not be checked", "", weir(metric.SoftLimitMode, "soft-limit mode"), weir(metric.SoftLimitDecisions, "decisions"),
				weir(metric.UnexpectedErrors, "unexpected errors")),
			graph("Leases", "a minute", weir(metric.LeaseHits, "from memory"), weir(metric.LeaseMisses, "asked a bucket")),
			graph("Write units", "a minute", weir(metric.WriteUnits, "all"), weir(metric.RefusalWriteUnits, "for refusals")),
		},
		{
			graph("Store calls", "a minute", store(metric.StoreCalls)...),
			graph("Time of a store call, p99", "µs", store(metric.StoreTime)...),
			graph("Store calls that failed", "a minute", append(store(metric.StoreErrors), store(metric.StoreThrottles)...)...),
		},
		{
			graph("Authorizer", "a minute", lambda("Invocations", "Sum", "invocations", c.AuthorizerName()), lambda("Throttles", "Sum", "throttled: 500", c.AuthorizerName())),
			graph("Authorizers at a time", "", lambda("ConcurrentExecutions", "Maximum", "environments", c.AuthorizerName())),
			graph("API", "a minute", line{series: aws("ApiGateway", "4XXError", "Sum", "ApiName", c.Name), label: "4xx"},
				line{series: aws("ApiGateway", "5XXError", "Sum", "ApiName", c.Name), label: "5xx"}),
		},
		{
			graph("Plan changes", "ms", weir(metric.PlanChangeLatency, "until the first decision, p99"), weir(metric.ChangeToEffect, "until the last row, p99"),
				weir(metric.IteratorAge, "age of records, p99")),
			graph("Rows", "a minute", weir(metric.RowsRescaled, "rescaled"), weir(metric.RowsDrifted, "drifted"), weir(metric.RowsFailed, "failed")),
			graph("Reconciler", "a minute", lambda("Invocations", "Sum", "invocations", c.ReconcilerName()), lambda("Errors", "Sum", "errors", c.ReconcilerName())),
		},
	}
	if len(c.Regions) > 1 {
		var sent, seen []line
		for _, other := range c.RegionNames() {
			if other == region {
				continue
			}
			for _, table := range []string{c.ConfigTable(), c.BucketsTable()} {
				sent = append(sent, line{series: aws("DynamoDB", "ReplicationLatency", "Average", "TableName", table, "ReceivingRegion", other), label: table + " to " + other})
			}
			seen = append(seen, weir(metric.ReplicationLag, "from "+other, string(metric.From), other))
		}
		d = append(d, []widget{
			graph("Replication, by DynamoDB", "ms", sent...),
			graph("Replication, as seen here", "ms", seen...),
			graph("Regions cut off", "", weir(metric.RegionsCut, "not heard of"), weir(metric.ClockSkew, "clock skew, ms")),
		})
	}
	return d
}

// GlobalDashboard shows all Regions side by side.
func GlobalDashboard(c *config.Config) Dashboard {
	home := c.Primary().Name
	each := func(title, unit string, m metric.Metric) widget {
		w := widget{title: title, unit: unit, region: home}
		for _, name := range c.RegionNames() {
			w.lines = append(w.lines, line{series: of(c, m, name), label: name, region: name})
		}
		return w
	}
	refused := widget{title: "Refused", unit: "%", region: home}
	lag := widget{title: "Replication, as seen in each Region", unit: "ms", region: home}
	for i, name := range c.RegionNames() {
		refused.lines = append(refused.lines, refusedShare(c, name, name, string(rune('a'+i)))...)
		for _, other := range c.RegionNames() {
			if other != name {
				lag.lines = append(lag.lines, line{series: of(c, metric.ReplicationLag, name, string(metric.From), other), label: other + " in " + name, region: name})
			}
		}
	}
	decisions := each("Decisions", "a minute", metric.Decisions)
	decisions.stacked = true
	d := Dashboard{
		{decisions, refused, each("Time of a decision, p99", "µs", metric.DecisionTime)},
		{each("Soft-limit mode", "", metric.SoftLimitMode), each("Unexpected errors", "a minute", metric.UnexpectedErrors), each("Plan changes, p99", "ms", metric.PlanChangeLatency)},
	}
	if len(c.Regions) > 1 {
		d = append(d, []widget{lag, each("Regions cut off", "", metric.RegionsCut), each("Rows that drifted", "a minute", metric.RowsDrifted)})
	}
	return d
}
