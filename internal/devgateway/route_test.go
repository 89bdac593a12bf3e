package devgateway

import (
	"maps"
	"testing"
)

func TestRoutes(t *testing.T) {
	table, err := newRoutes([]string{
		"/v1/users/{id}", "/v1/users/me", "/v1/users/{id}/follow", "/v1/{kind}/7", "/files/{path+}", "/admin/*", "/v1/users/me", "/v1/~me", "/v1/{kind}", "/files/{zone}",
	})
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		path, want string
		params     map[string]string
	}{
		{"", "/", nil},
		{"/", "/", nil},
		{"/v1/users/me", "/v1/users/me", nil},
		{"/v1/users/me/", "/v1/users/me", nil},
		{"//v1//users/me", "/v1/users/me", nil},
		{"/v1/users/7", "/v1/users/{id}", map[string]string{"id": "7"}},
		{"/v1/things/7", "/v1/{kind}/7", map[string]string{"kind": "things"}},
		{"/v1/users/a%2Fb", "/v1/users/{id}", map[string]string{"id": "a/b"}},
		{"/v1/users/7/follow", "/v1/users/{id}/follow", map[string]string{"id": "7"}},
		{"/v1/users/7/block", "/{proxy+}", map[string]string{"proxy": "v1/users/7/block"}},
		{"/v1/~me", "/v1/~me", nil},
		{"/files/a", "/files/{zone}", map[string]string{"zone": "a"}},
		{"/files/a/b", "/files/{path+}", map[string]string{"path": "a/b"}},
		{"/files", "/{proxy+}", map[string]string{"proxy": "files"}},
		{"/admin", "/admin", nil},
		{"/admin/x/y", "/admin/{proxy+}", map[string]string{"proxy": "x/y"}},
		{"/%zz", "/{proxy+}", map[string]string{"proxy": "%zz"}},
	}
	for _, tt := range tests {
		got, params, ok := table.match(tt.path)
		if !ok || got.resource != tt.want || !maps.Equal(params, tt.params) {
			t.Errorf("match(%q) = %q %v %v, want %q %v", tt.path, got.resource, params, ok, tt.want, tt.params)
		}
	}
}

func TestRoutesBad(t *testing.T) {
	for _, r := range []string{"users", "/a{b}", "/{}", "/{a+}/b", "/{a}{b}", "/{a"} {
		if _, err := newRoutes([]string{r}); err == nil {
			t.Errorf("newRoutes(%q) accepted", r)
		}
	}
}
