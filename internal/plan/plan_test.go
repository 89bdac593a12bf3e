package plan

import (
	"strings"
	"testing"
)

func TestMatches(t *testing.T) {
	for _, tt := range []struct {
		match            Match
		method, resource string
		want             bool
	}{
		{Match{}, "GET", "/v1/users", true},
		{Match{}, "", "$connect", true},
		{Match{Method: "POST"}, "POST", "/x", true},
		{Match{Method: "POST"}, "GET", "/x", false},
		{Match{Method: "POST"}, "", "$connect", false},
		{Match{Resource: "/v1/users/{id}"}, "GET", "/v1/users/{id}", true},
		{Match{Resource: "/v1/users/{id}"}, "GET", "/v1/users/{id}/follow", false},
		{Match{Resource: "/v1/users/{id}"}, "GET", "/v1/users/7", false},
		{Match{Resource: "/v1/*"}, "GET", "/v1/users/{id}", true},
		{Match{Resource: "/v1/*"}, "GET", "/v1/", true},
		{Match{Resource: "/v1/*"}, "GET", "/v1", false},
		{Match{Resource: "/v1/*"}, "GET", "/v10", false},
		{Match{Resource: "/v1*"}, "GET", "/v10", true},
		{Match{Resource: "*"}, "GET", "/anything", true},
		{Match{Resource: "$connect"}, "", "$connect", true},
		{Match{Method: "POST", Resource: "/a"}, "POST", "/b", false},
		{Match{Method: "POST", Resource: "/a"}, "GET", "/a", false},
		{Match{Method: "POST", Resource: "/a"}, "POST", "/a", true},
	} {
		if got := tt.match.Matches(tt.method, tt.resource); got != tt.want {
			t.Errorf("%+v matches %q %q: %v, want %v", tt.match, tt.method, tt.resource, got, tt.want)
		}
	}
}

func TestMatching(t *testing.T) {
	p := &Plan{Limits: []Limit{
		{Name: "all"},
		{Name: "post", Match: Match{Method: "POST"}},
		{Name: "users", Match: Match{Resource: "/users*"}},
	}}
	names := func(ls []*Limit) string {
		var s []string
		for _, l := range ls {
			s = append(s, l.Name)
		}
		return strings.Join(s, " ")
	}
	for _, tt := range []struct{ method, resource, want string }{
		{"GET", "/", "all"},
		{"POST", "/", "all post"},
		{"POST", "/users", "all post users"},
		{"GET", "/users/{id}", "all users"},
	} {
		if got := names(p.Matching(tt.method, tt.resource)); got != tt.want {
			t.Errorf("Matching(%s, %s) = %s, want %s", tt.method, tt.resource, got, tt.want)
		}
	}
	if got := p.Matching("GET", "/")[0]; got != &p.Limits[0] {
		t.Error("Matching returns a copy, want the plan's own limit")
	}
	buf := make([]*Limit, 0, 4)
	if n := testing.AllocsPerRun(100, func() { buf = p.AppendMatching(buf[:0], "POST", "/users") }); n != 0 {
		t.Errorf("AppendMatching: %v allocations, want 0", n)
	}
}

func TestDefaultBadCredentialsIsPossible(t *testing.T) {
	if l := DefaultBadCredentials(); l.Bucket.IsZero() || l.Bucket.Burst() != 60 {
		t.Errorf("DefaultBadCredentials = %+v, want 60 a minute", l)
	}
}
