package doctor

import (
	"slices"
	"strings"
	"time"
)

// roleOf returns the part that a function has: "authorizer", "reconciler" or "".
func roleOf(fn resource) string {
	has := func(v string) bool { return at(fn.Properties, "Environment", "Variables", v) != nil }
	switch {
	case has("WEIR_CONFIG_TABLE") && has("WEIR_KEY_HEADER"):
		return "authorizer"
	case has("WEIR_CONFIG_TABLE"):
		return "reconciler"
	default:
		return ""
	}
}

func (t *Template) environment(fn resource) map[string]string {
	variables, _ := at(fn.Properties, "Environment", "Variables").(map[string]any)
	env := map[string]string{}
	for k, v := range variables {
		env[k] = t.text(v)
	}
	return env
}

// part returns what the template has of a Region's part.
func (t *Template) part() Part {
	p := Part{Region: t.Region, APIs: t.APIs()}
	for id, r := range t.of("AWS::Lambda::Function") {
		f := t.function(id, r)
		switch roleOf(r) {
		case "authorizer":
			p.Authorizer = &f
		case "reconciler":
			p.Reconciler = &f
			p.Sources = t.sources(id)
		}
	}
	return p
}

func (t *Template) function(id string, r resource) Function {
	f := Function{
		Name:    t.text(r.Properties["FunctionName"]),
		Timeout: 3 * time.Second, // Lambda's default
		Tracing: t.text(at(r.Properties, "TracingConfig", "Mode")) == "Active",
		Env:     t.environment(r),
		Allowed: t.grants(t.ref(r.Properties["Role"])),
	}
	if f.Name == "" {
		f.Name = id
	}
	if s, ok := number(r.Properties["Timeout"]); ok {
		f.Timeout = time.Duration(s) * time.Second
	}
	if n, ok := number(r.Properties["ReservedConcurrentExecutions"]); ok {
		f.Reserved = &n
	}
	return f
}

// grants returns what the policies of a role allow.
func (t *Template) grants(role string) []Grant {
	var all []Grant
	add := func(document any) {
		statements, _ := at(document, "Statement").([]any)
		for _, s := range statements {
			if t.text(at(s, "Effect")) != "Allow" {
				continue
			}
			for _, action := range t.texts(at(s, "Action")) {
				for _, resource := range t.texts(at(s, "Resource")) {
					all = append(all, Grant{action, resource})
				}
			}
		}
	}
	for _, p := range t.of("AWS::IAM::Policy", "AWS::IAM::ManagedPolicy") {
		if slices.Contains(t.texts(p.Properties["Roles"]), "${"+role+"}") {
			add(p.Properties["PolicyDocument"])
		}
	}
	inline, _ := t.resources[role].Properties["Policies"].([]any)
	for _, p := range inline {
		add(at(p, "PolicyDocument"))
	}
	return all
}

// sources returns the event source mappings of a function.
func (t *Template) sources(fn string) []Source {
	var all []Source
	for _, m := range t.of("AWS::Lambda::EventSourceMapping") {
		if t.ref(m.Properties["FunctionName"]) != fn {
			continue
		}
		s := Source{
			ARN:       t.text(m.Properties["EventSourceArn"]),
			Enabled:   m.Properties["Enabled"] == nil || isTrue(m.Properties["Enabled"]),
			Partial:   slices.Contains(t.texts(m.Properties["FunctionResponseTypes"]), "ReportBatchItemFailures"),
			Bisect:    isTrue(m.Properties["BisectBatchOnFunctionError"]),
			OnFailure: at(m.Properties, "DestinationConfig", "OnFailure", "Destination") != nil,
		}
		filters, _ := at(m.Properties, "FilterCriteria", "Filters").([]any)
		for _, f := range filters {
			s.Filter += t.text(at(f, "Pattern"))
		}
		if part := strings.Split(s.ARN, ":"); len(part) > 3 && part[0] == "arn" {
			s.Region = part[3]
		} else {
			s.Table, s.Region = t.lookedUp(s.ARN)
		}
		all = append(all, s)
	}
	return all
}

// lookedUp returns the table whose stream a custom resource looks up while the
// stack is deployed, and in which Region it looks.
func (t *Template) lookedUp(reference string) (table, region string) {
	r, ok := t.resources[t.ref(reference)]
	if !ok || r.Type != "Custom::AWS" {
		return "", ""
	}
	var call struct {
		Action, Region string
		Parameters     struct{ TableName string }
	}
	if unmarshal(t.text(r.Properties["Create"]), &call) != nil || call.Action != "describeTable" {
		return "", ""
	}
	if call.Region == "" {
		call.Region = t.Region
	}
	return call.Parameters.TableName, call.Region
}

// tables returns the tables of a template. roles names their parts.
func (t *Template) tables(roles map[string]string) []Table {
	var all []Table
	for _, r := range t.of("AWS::DynamoDB::GlobalTable", "AWS::DynamoDB::Table") {
		name := t.text(r.Properties["TableName"])
		role, ok := roles[name]
		if !ok {
			continue
		}
		all = append(all, t.table(r, Table{Name: name, Role: role, Region: t.Region}))
	}
	return all
}

func (t *Template) table(r resource, table Table) Table {
	types := map[string]string{}
	attributes, _ := r.Properties["AttributeDefinitions"].([]any)
	for _, a := range attributes {
		types[t.text(at(a, "AttributeName"))] = t.text(at(a, "AttributeType"))
	}
	var keys []string
	schema, _ := r.Properties["KeySchema"].([]any)
	for _, k := range schema {
		name := t.text(at(k, "AttributeName"))
		keys = append(keys, name+" "+types[name])
	}
	table.Keys = strings.Join(keys, ", ")
	if isTrue(at(r.Properties, "TimeToLiveSpecification", "Enabled")) {
		table.TTL = t.text(at(r.Properties, "TimeToLiveSpecification", "AttributeName"))
	}
	table.Stream = t.text(at(r.Properties, "StreamSpecification", "StreamViewType"))
	table.Strong = t.text(r.Properties["MultiRegionConsistency"]) == "STRONG"
	table.Protected, table.Recovery = isTrue(r.Properties["DeletionProtectionEnabled"]), isTrue(at(r.Properties, "PointInTimeRecoverySpecification", "PointInTimeRecoveryEnabled"))
	replicas, _ := r.Properties["Replicas"].([]any)
	for i, replica := range replicas {
		table.Replicas = append(table.Replicas, t.text(at(replica, "Region")))
		protected, recovery := isTrue(at(replica, "DeletionProtectionEnabled")), isTrue(at(replica, "PointInTimeRecoverySpecification", "PointInTimeRecoveryEnabled"))
		table.Protected = protected && (i == 0 || table.Protected) // each has its own
		table.Recovery = recovery && (i == 0 || table.Recovery)
	}
	return table
}
