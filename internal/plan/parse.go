package plan

import (
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"

	"weir/internal/identity"
)

// Bounds of a file.
const (
	MaxFileSize = 1 << 20 // bytes
	MaxPlans    = 1000
	MaxTenants  = 20_000
	MaxLimits   = 32  // of a plan; every one that matches is charged per request
	MaxKeys     = 100 // of a tenant
)

// The fields that each mapping may have. The JSON Schema has the same; a test
// says so.
var (
	fileFields           = []string{"plans", "tenants", "anonymous", "badCredentials"}
	planFields           = []string{"description", "mode", "hold", "limits"}
	limitFields          = []string{"name", "description", "match", "key", "rate", "burst", "cost", "consistency", "onPartition", "hold", "mode", "onError", "initial"}
	matchFields          = []string{"method", "resource"}
	tenantFields         = []string{"id", "plan", "suspended", "keys", "mode", "hold", "limits"}
	badCredentialsFields = []string{"rate", "burst"}
)

// laterFields are refused by name rather than as unknown: Weir is to have them,
// and a plan that counts on one must not be served without it.
var laterFields = []string{
	"kind", "priority", "soft", "limit", "period", "candidate", "adaptive", "overrides",
}

// Parse parses the plans file called name; the name is for errors only. It is
// strict: what it does not know, it refuses. An error is an ErrorList, of
// everything that is wrong.
func Parse(name string, data []byte) (*File, error) {
	d := &decoder{file: name}
	f := &File{Plans: map[string]*Plan{}, BadCredentials: DefaultBadCredentials()}
	if root := d.document(data); root != nil {
		d.parseFile(root, f)
	}
	if err := d.errs.err(); err != nil {
		return nil, err
	}
	f.Warnings = d.warnings
	return f, nil
}

// ParsePlan parses the body of the plan called name, in YAML or JSON, as
// Plan.MarshalJSON writes it. The caller sets Ver, Stamp, Carry and Next. An error
// is an ErrorList.
func ParsePlan(name string, data []byte) (*Plan, error) {
	d := &decoder{file: "plan " + name}
	p := &Plan{Name: name}
	if root := d.document(data); root != nil {
		d.parsePlan(root, p)
	}
	if err := d.errs.err(); err != nil {
		return nil, err
	}
	return p, nil
}

func (d *decoder) parseFile(root *yaml.Node, f *File) {
	fields := d.object(root, "the file", fileFields)
	if n := fields["plans"]; n != nil {
		d.parsePlans(n, f)
	} else if len(d.errs) == 0 {
		d.errorf(root, "no plans: want a mapping called plans, of plan names to plans")
	}
	if n := fields["tenants"]; n != nil {
		d.parseTenants(n, f)
	}
	if n := fields["anonymous"]; n != nil {
		d.parseAnonymous(n, f)
	}
	if n := fields["badCredentials"]; n != nil {
		d.parseBadCredentials(n, f)
	}
}

func (d *decoder) parsePlans(n *yaml.Node, f *File) {
	ps := d.pairs(n, "plans")
	switch {
	case len(ps) == 0:
		if len(d.errs) == 0 {
			d.errorf(n, "plans is empty: want at least one plan")
		}
	case len(ps) > MaxPlans:
		d.errorf(n, "%d plans: at most %d", len(ps), MaxPlans)
		return
	}
	for _, pr := range ps {
		if d.full() {
			return
		}
		if name, ok := d.name(pr.key, "plan name"); ok {
			p := &Plan{Name: name}
			f.Plans[name] = p // even if it has errors, so that who names it need not be told
			d.parsePlan(pr.value, p)
		}
	}
}

func (d *decoder) parseAnonymous(n *yaml.Node, f *File) {
	name, ok := d.text(n, "anonymous")
	if !ok || !d.knownPlan(n, "anonymous", name, f) {
		return
	}
	f.Anonymous = name
	for _, l := range f.Plans[name].Limits {
		if l.Key.uses(tenant) {
			d.errorf(n, "plan %s is for requests without a credential, but its limit %s is keyed by {tenant}: all of them would share one bucket; write key: \"{ip}\", or a plan of its own", quote(name), quote(l.Name))
		}
	}
}

// knownPlan reports whether the file has the plan that what names at n.
func (d *decoder) knownPlan(n *yaml.Node, what, name string, f *File) bool {
	if f.Plans[name] != nil {
		return true
	}
	d.errorf(n, "%s names plan %s, which the file does not have%s", what, quote(name), orOneOf(name, slices.Sorted(maps.Keys(f.Plans))))
	return false
}

func (d *decoder) parseBadCredentials(n *yaml.Node, f *File) {
	fields := d.object(n, "badCredentials", badCredentialsFields)
	if b, _, ok := d.parseBucket(n, fields, "badCredentials"); ok {
		f.BadCredentials = badCredentials(b)
	}
}

func (d *decoder) parseTenants(n *yaml.Node, f *File) {
	ids, keys := map[string]*yaml.Node{}, map[string]string{}
	for _, e := range d.list(n, "tenants", MaxTenants) {
		if d.full() {
			return
		}
		f.Tenants = append(f.Tenants, d.parseTenant(e, f, ids, keys))
	}
}

// parseTenant parses tenant n; ids and keys are of those before it.
func (d *decoder) parseTenant(n *yaml.Node, f *File, ids map[string]*yaml.Node, keys map[string]string) Tenant {
	var t Tenant
	fields := d.object(n, "a tenant", tenantFields)
	if n.Kind != yaml.MappingNode {
		return t
	}
	t.ID = d.parseTenantID(n, fields["id"], ids)
	what := "tenant " + quote(t.ID)
	if p := fields["plan"]; p == nil {
		d.errorf(n, "%s has no plan: want the name of one", what)
	} else if name, ok := d.text(p, "plan of "+what); ok && d.knownPlan(p, what, name, f) {
		t.Plan = name
	}
	if s := fields["suspended"]; s != nil {
		t.Suspended = d.boolean(s, "suspended of "+what)
	}
	if k := fields["keys"]; k != nil {
		t.Keys = d.parseKeys(k, what, keys)
	}
	t.Overrides = d.parseOverrides(fields, what)
	if p := f.Plans[t.Plan]; p != nil && fields["limits"] != nil {
		for _, w := range t.Overrides.Warnings(p) {
			d.warnf(fields["limits"], "%s: %s", what, w)
		}
	}
	return t
}

// parseTenantID parses n, the id of tenant e.
func (d *decoder) parseTenantID(e, n *yaml.Node, ids map[string]*yaml.Node) string {
	if n == nil {
		d.errorf(e, "a tenant has no id")
		return ""
	}
	id, ok := d.text(n, "tenant id")
	switch {
	case !ok:
		return ""
	case !validName(id):
		d.errorf(n, "tenant id %s: want 1 to %d letters, digits, '.', '_' and '-'", quote(id), MaxName)
	case ids[id] != nil:
		d.errorf(n, "tenant %s appears twice; first on line %d", quote(id), ids[id].Line)
	default:
		ids[id] = n
	}
	return id
}

// parseKeys parses the API keys of the tenant called what; owners has who has
// those before them. Messages never show a key.
func (d *decoder) parseKeys(n *yaml.Node, what string, owners map[string]string) []string {
	var keys []string
	for _, e := range d.list(n, "keys of "+what, MaxKeys) {
		key, ok := d.text(e, "a key of "+what)
		switch owner, taken := owners[key]; {
		case !ok:
		case !identity.ValidKey(key):
			d.errorf(e, "a key of %s is not 1 to %d visible ASCII characters", what, identity.MaxKeyLen)
		case identity.Mistyped(key):
			d.errorf(e, "a key of %s begins as those that Weir issues and has another checksum: it is mistyped, and would be refused", what)
		case taken && owner == what:
			d.errorf(e, "%s has this key twice", what)
		case taken:
			d.errorf(e, "%s has a key that %s has too: a key identifies one tenant", what, owner)
		default:
			owners[key] = what
			keys = append(keys, key)
		}
	}
	return keys
}
