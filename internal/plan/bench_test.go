package plan

import "testing"

// BenchmarkParsePlan is what a cold authorizer pays once for its first tenant.
func BenchmarkParsePlan(b *testing.B) {
	body, err := mustParse(b, string(readFile(b, "../../examples/plans.yaml"))).Plans["pro"].MarshalJSON()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if p, err := ParsePlan("pro", body); err != nil || len(p.Limits) != 2 {
			b.Fatal(p, err)
		}
	}
}

func BenchmarkBucketKey(b *testing.B) {
	l := &Limit{Name: "api", Key: mustTemplate(b, "{tenant}:{header.x-user}")}
	s := Subject{Tenant: "acme", Header: headers("x-user", "u7")}
	b.ReportAllocs()
	for b.Loop() {
		if k := l.BucketKey(s); len(k) != len("api|acme:header.x-user=u7") {
			b.Fatal(k)
		}
	}
}
