package authorizer

import (
	"reflect"
	"testing"
)

func TestHeaders(t *testing.T) {
	type single = map[string]string
	type multi = map[string][]string
	tests := []struct {
		name   string
		single single
		multi  multi
		want   multi
	}{
		{"none", nil, nil, multi{}},
		{"single values", single{"X-Api-Key": "a", "accept": "*/*"}, nil, multi{"x-api-key": {"a"}, "accept": {"*/*"}}},
		{"multi wins", single{"X-Api-Key": "b"}, multi{"X-Api-Key": {"a", "b"}}, multi{"x-api-key": {"a", "b"}}},
		{"multi wins in another casing", single{"x-api-key": "b"}, multi{"X-Api-Key": {"b"}}, multi{"x-api-key": {"b"}}},
		{"what multi lacks", single{"Host": "h"}, multi{"X-Api-Key": {"a"}}, multi{"x-api-key": {"a"}, "host": {"h"}}},
		{"three casings", nil, multi{"X-Api-Key": {"b"}, "x-api-key": {"c"}, "X-API-KEY": {"a"}}, multi{"x-api-key": {"a", "b", "c"}}},
		{"two casings, single", single{"X-Api-Key": "a", "x-api-key": "b"}, nil, multi{"x-api-key": {"a", "b"}}},
		{"no values", nil, multi{"X-Api-Key": {}}, multi{"x-api-key": {}}},
		{"Kelvin sign in multi", nil, multi{"X-Api-\u212aey": {"a"}}, multi{"x-api-\u212aey": {"a"}}},
		{"Kelvin sign", single{"x-api-\u212aey": "a"}, nil, multi{"x-api-\u212aey": {"a"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := headers(tt.single, tt.multi); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
