package plan

// TenantKey returns the key of the bucket that l uses for a tenant, whatever its
// requests are like: that of a template of {tenant} and words. It reports false
// for every other template: one with {ip}, say, has as many buckets as there are
// addresses, and one of words alone has a bucket that tenants share.
func (l *Limit) TenantKey(tenant string) (string, bool) {
	if !l.Key.byTenantAlone() {
		return "", false
	}
	return l.BucketKey(Subject{Tenant: tenant}), true
}

// byTenantAlone reports whether the template has {tenant} and nothing but words
// beside it.
func (t Template) byTenantAlone() bool {
	for _, p := range t.parts {
		if p.kind != tenant && p.kind != word {
			return false
		}
	}
	return t.uses(tenant)
}
