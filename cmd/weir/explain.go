package main

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"weir/internal/operator"
	"weir/internal/plan"
	"weir/pkg/bucket"
)

// explainFlags say which request is asked about, and where.
type explainFlags struct {
	regions []string
	method  string
	route   string
	ip      string
	headers []string
	grace   string
}

func newExplain() *cobra.Command {
	var (
		o operation
		f explainFlags
	)
	cmd := &cobra.Command{
		Use:   "explain TENANT",
		Short: "Explain a tenant's limits: every row, every number, and what the next request gets",
		Long: `Explain why a tenant is served or refused: what limits it has and where each comes
from, what each Region has spent, what that comes to, and what the next request
would get, by the arithmetic of the authorizer. It only reads.

A limit with a bucket for each address, route or header is explained if you say
which request is meant. With --regions the rows and the configuration are read in
each Region, to see what replication has not brought yet; else in one.

A process may decide otherwise for a moment: it may hold tokens that are charged
and not spent yet ("in hand"), and expects that others spend what they have lately.`,
		Example: `  weir explain acme
  weir explain acme --method POST --route '/v1/users/{id}/follow' --header x-user-id=7
  weir explain acme --regions eu-west-1,us-east-1`,
		Args:              takes(1, 1, "the id of a tenant"),
		ValidArgsFunction: o.complete(1, tenantIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkTenantID(args[0]); err != nil {
				return err
			}
			e, grace, err := f.parse()
			if err != nil {
				return err
			}
			return o.run(cmd, func(ctx context.Context, s *session) error {
				return s.explain(ctx, args[0], e, f.regions, grace)
			})
		},
	}
	o.addTo(cmd)
	fl := cmd.Flags()
	fl.StringSliceVar(&f.regions, "regions", nil, "`REGIONS` to look in, with commas, or all that the config table is in")
	fl.StringVar(&f.method, "method", "", "`METHOD` of the request")
	fl.StringVar(&f.route, "route", "", "`ROUTE` template of the request, as API Gateway has it")
	fl.StringVar(&f.ip, "ip", "", "`ADDRESS` of the request")
	fl.StringArrayVar(&f.headers, "header", nil, "header of the request, `NAME=VALUE`; may be repeated")
	fl.StringVar(&f.grace, "grace", "", "how `LONG` Regions may not hear each other, as the functions' WEIR_GRACE; default 5s")
	return cmd
}

func (f *explainFlags) parse() (e operator.Explainer, grace int64, err error) {
	e.Subject = plan.Subject{Method: strings.ToUpper(f.method), Resource: f.route}
	e.Request = f.method != "" || f.route != ""
	if f.ip != "" {
		if e.Subject.IP, err = netip.ParseAddr(f.ip); err != nil {
			return e, 0, fmt.Errorf("--ip %q: want an IPv4 or IPv6 address", f.ip)
		}
	}
	headers := map[string]string{}
	for _, h := range f.headers {
		name, value, ok := strings.Cut(h, "=")
		if !ok || name == "" {
			return e, 0, fmt.Errorf("--header %q: want NAME=VALUE", h)
		}
		headers[strings.ToLower(name)] = value
	}
	e.Subject.Header = func(name string) string { return headers[name] }
	grace = bucket.DefaultGrace
	if f.grace != "" {
		d, err := operator.ParseSpan(f.grace)
		if err != nil {
			return e, 0, fmt.Errorf("--grace %w", err)
		}
		grace = int64(d)
	}
	return e, grace, nil
}

func (s *session) explain(ctx context.Context, tenant string, e operator.Explainer, named []string, grace int64) error {
	regions := []string{s.region}
	if len(named) > 0 {
		var err error
		if regions, err = s.regions(ctx, named); err != nil {
			return err
		}
	}
	for _, region := range regions {
		b, err := s.bucketsIn(region)
		if err != nil {
			return err
		}
		b.Grace = grace
		e.Places = append(e.Places, operator.Place{Config: s.configIn(region), Buckets: b})
	}
	e.Now = s.now()
	x, err := e.Tenant(ctx, tenant)
	if err != nil {
		return err
	}
	if !s.json {
		s.writeExplanation(x)
	}
	return s.result(x)
}

func (s *session) writeExplanation(x *operator.Explanation) {
	status := x.Status
	if status != "active" {
		status = s.paint(red, status)
	}
	s.printf("%s  %s, plan %s, at %v\n", s.paint(bold, "tenant "+x.Tenant), status, x.Plan, x.At)
	if x.Rollout != "" {
		s.printf("the plan has %s; the tenant %s\n", x.Rollout, map[bool]string{true: "has it", false: "does not have it yet"}[x.Reached])
	}
	for i, k := range x.Config {
		if i > 0 && (k.PlanVersion != x.Config[0].PlanVersion || k.TenantVersion != x.Config[0].TenantVersion) {
			s.printf("%s\n", s.paint(yellow, fmt.Sprintf("%s has plan version %d and tenant version %d, %s has %d and %d",
				k.Region, k.PlanVersion, k.TenantVersion, x.Config[0].Region, x.Config[0].PlanVersion, x.Config[0].TenantVersion)))
		}
	}
	for _, w := range x.Warnings {
		s.printf("%s\n", s.paint(yellow, "warning: "+w))
	}
	for i := range x.Limits {
		s.writeLimit(&x.Limits[i], x)
	}
	s.printf("\n%s\n", s.paint(bold, "the next request"))
	for _, a := range x.Next {
		why := a.Why
		if a.Limit != "" {
			why = "limit " + a.Limit + ": " + why
		}
		s.printf("  in %s %s: %s\n", a.Region, s.outcome(a.Outcome), why)
	}
	s.printf("\n%s\n", s.paint(bold, "last changes"))
	for _, p := range x.History {
		s.printf("  %v  %s %s version %d, by %s: %s\n", p.At, p.What, p.ID, p.Version, p.Author, p.Reason)
	}
}

func (s *session) outcome(o operator.Outcome) string {
	return s.paint(map[operator.Outcome]colour{operator.Passes: green, operator.Held: yellow, operator.Refused: red}[o], string(o))
}

func (s *session) writeLimit(b *operator.Bucket, x *operator.Explanation) {
	head := fmt.Sprintf("limit %s: %s, burst %d", b.Limit, b.Rate, b.Burst)
	if b.Rate == "unlimited" {
		head = fmt.Sprintf("limit %s: unlimited", b.Limit)
	}
	if b.Match != "" {
		head += ", for " + b.Match
	}
	for _, f := range [][2]string{{b.Mode, "enforce"}, {b.Consistency, "global"}} {
		if f[0] != f[1] {
			head += ", " + f[0]
		}
	}
	if b.Hold != "0s" {
		head += ", hold " + b.Hold
	}
	s.printf("\n%s\n", s.paint(bold, head))
	s.printf("  from    %s\n", sourcesText(b))
	if b.Missing != "" {
		s.printf("  bucket  %s\n", b.Missing)
	}
	for _, v := range b.Views {
		if b.Missing == "" {
			s.writeView(b, v, len(b.Views) > 1, x.At)
		}
	}
}

// sourcesText names each source once.
func sourcesText(b *operator.Bucket) string {
	fields := []string{"rate", "burst"}
	if b.Mode != "enforce" {
		fields = append(fields, "mode")
	}
	if b.Hold != "0s" {
		fields = append(fields, "hold")
	}
	same := true
	parts := make([]string, len(fields))
	for i, f := range fields {
		same = same && b.From[f] == b.From[fields[0]]
		parts[i] = f + ": " + b.From[f]
	}
	if same {
		return b.From[fields[0]]
	}
	return strings.Join(parts, "; ")
}

func (s *session) writeView(b *operator.Bucket, v operator.View, several bool, now operator.Instant) {
	where := ""
	if several {
		where = " in " + v.Region
	}
	s.printf("  bucket  %s%s\n", b.Bucket, where)
	for _, r := range v.Rows {
		limit := ""
		if r.Limit != "" {
			limit = " under " + r.Limit
		}
		s.printf("    %-16s %d used%s, spends %s, last charge %s ago, %s\n", r.Region, r.Used, limit, operator.SpendText(r.Spend), ago(r.At, now), operator.VersionText(r.Version))
	}
	if len(v.Rows) == 0 {
		s.printf("    no rows: nothing was charged lately, the bucket is full\n")
	}
	s.printf("    together %d of %d used, %d left", v.Used, b.Burst, v.Remaining)
	if v.Spend > 0 {
		s.printf("; %s are spent at present", operator.SpendText(v.Spend))
	}
	if v.InHand > 0 {
		s.printf("; up to %d of the used may be in processes' hands", v.InHand)
	}
	s.printf("\n")
	if v.Unseen > 0 {
		s.printf("    %d tokens spent elsewhere are not in this Region's row yet; its next charge takes them in\n", v.Unseen)
	}
	if !v.Complete {
		s.printf("    %s\n", s.paint(yellow, "the Regions did not hear each other for longer than --grace: older spend is forgiven"))
	}
	if v.Skew > 1 {
		s.printf("    %s\n", s.paint(yellow, fmt.Sprintf("a Region's clock is %.1f s ahead", v.Skew)))
	}
	for _, n := range v.Notes {
		s.printf("    note: %s\n", n)
	}
	s.printf("    next     %s: %s\n", s.outcome(v.Next.Outcome), v.Next.Why)
}

// ago returns how long before now something was.
func ago(at, now operator.Instant) string {
	d := time.Duration(now - at)
	switch {
	case at == 0:
		return "never"
	case d < 0:
		return "0s"
	case d < 10*time.Second:
		return d.Truncate(10 * time.Millisecond).String()
	}
	return d.Truncate(time.Second).String()
}
