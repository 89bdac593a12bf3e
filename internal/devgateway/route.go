package devgateway

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// route is one resource of the API, e.g. /v1/users/{id}/follow.
type route struct {
	resource string
	id       string
	segments []string
}

// routes is the API's resources, the most specific ones first.
type routes []route

// newRoutes returns the table of the given resource templates, to which / and
// /{proxy+} are added. A template that ends in * (a prefix, as plans may have
// it) stands for everything below it.
func newRoutes(resources []string) (routes, error) {
	all := []string{"/", "/{proxy+}"}
	for _, r := range resources {
		prefix, isPrefix := strings.CutSuffix(r, "*")
		if !isPrefix {
			all = append(all, r)
			continue
		}
		prefix = strings.TrimSuffix(prefix, "/")
		all = append(all, prefix+"/{proxy+}")
		if prefix != "" {
			all = append(all, prefix)
		}
	}
	slices.Sort(all)
	var table routes
	for _, resource := range slices.Compact(all) {
		r, err := newRoute(resource)
		if err != nil {
			return nil, err
		}
		table = append(table, r)
	}
	slices.SortStableFunc(table, moreSpecific)
	return table, nil
}

func newRoute(resource string) (route, error) {
	if !strings.HasPrefix(resource, "/") {
		return route{}, fmt.Errorf("resource %q: must begin with /", resource)
	}
	segments := split(resource)
	for i, s := range segments {
		switch {
		case !strings.ContainsAny(s, "{}"):
		case len(s) < 3 || s[0] != '{' || s[len(s)-1] != '}' || strings.ContainsAny(s[1:len(s)-1], "{}"):
			return route{}, fmt.Errorf("resource %q: a variable is a whole path segment, e.g. {id}", resource)
		case strings.HasSuffix(s, "+}") && i != len(segments)-1:
			return route{}, fmt.Errorf("resource %q: %s must come last", resource, s)
		}
	}
	sum := sha256.Sum256([]byte(resource))
	return route{resource: resource, id: hex.EncodeToString(sum[:3]), segments: segments}, nil
}

// split returns the path's segments; empty ones do not count.
func split(path string) []string {
	return slices.DeleteFunc(strings.Split(path, "/"), func(s string) bool { return s == "" })
}

// rank orders the kinds of segments: literal, {variable}, {greedy+}, nothing.
func (r route) rank(i int) int {
	switch {
	case i >= len(r.segments):
		return 3
	case strings.HasSuffix(r.segments[i], "+}"):
		return 2
	case strings.HasPrefix(r.segments[i], "{"):
		return 1
	}
	return 0
}

// moreSpecific orders routes so that the first one that matches is the right one.
func moreSpecific(a, b route) int {
	for i := range max(len(a.segments), len(b.segments)) {
		if d := a.rank(i) - b.rank(i); d != 0 {
			return d
		}
	}
	return 0
}

// match finds the route of an escaped path and the path's parameters.
func (t routes) match(path string) (route, map[string]string, bool) {
	segments := split(path)
	for _, r := range t {
		if params, ok := r.match(segments); ok {
			return r, params, true
		}
	}
	return route{}, nil, false
}

func (r route) match(path []string) (map[string]string, bool) {
	params := map[string]string{}
	for i, s := range r.segments {
		if i >= len(path) {
			return nil, false
		}
		name, isVariable := strings.CutPrefix(s, "{")
		name = strings.TrimSuffix(name, "}")
		greedy, isGreedy := strings.CutSuffix(name, "+")
		switch {
		case isVariable && isGreedy:
			params[greedy] = unescape(strings.Join(path[i:], "/"))
			return params, true
		case isVariable:
			params[name] = unescape(path[i])
		case s != path[i]:
			return nil, false
		}
	}
	return params, len(path) == len(r.segments)
}

func unescape(s string) string {
	if u, err := url.PathUnescape(s); err == nil {
		return u
	}
	return s
}
