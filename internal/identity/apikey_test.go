package identity

import (
	"errors"
	"strings"
	"testing"
)

func TestAPIKey(t *testing.T) {
	long := strings.Repeat("k", MaxKeyLen)
	for _, tt := range []struct {
		name   string
		header string
		values []string
		want   string
		err    error
	}{
		{name: "one", values: []string{"acme-dev-key-1"}, want: "acme-dev-key-1"},
		{name: "none", values: nil},
		{name: "empty", values: []string{""}},
		{name: "blank", values: []string{" \t"}},
		{name: "header name in any case", header: "X-Api-Key", values: []string{"k"}, want: "k"},
		{name: "surrounded by whitespace", values: []string{" k\t"}, want: "k"},
		{name: "every visible character", values: []string{`!"#$%&'()*+,-./09:;<=>?@AZ[\]^_az{|}~`}, want: `!"#$%&'()*+,-./09:;<=>?@AZ[\]^_az{|}~`},
		{name: "longest", values: []string{long}, want: long},
		{name: "too long", values: []string{long + "k"}, err: ErrMalformedKey},
		{name: "space inside", values: []string{"a b"}, err: ErrMalformedKey},
		{name: "control character", values: []string{"a\x00b"}, err: ErrMalformedKey},
		{name: "delete", values: []string{"a\x7f"}, err: ErrMalformedKey},
		{name: "not ASCII", values: []string{"schlüssel"}, err: ErrMalformedKey},
		{name: "twice", values: []string{"a", "b"}, err: ErrDuplicateKey},
		{name: "twice the same", values: []string{"a", "a"}, err: ErrDuplicateKey},
		{name: "twice, one empty", values: []string{"", "a"}, err: ErrDuplicateKey},
	} {
		t.Run(tt.name, func(t *testing.T) {
			header := tt.header
			if header == "" {
				header = "x-api-key"
			}
			got, err := APIKey(map[string][]string{"x-api-key": tt.values, "other": {"x"}}, header)
			if got != tt.want || !errors.Is(err, tt.err) {
				t.Errorf("APIKey(%q) = %q, %v; want %q, %v", tt.values, got, err, tt.want, tt.err)
			}
		})
	}
}

func TestAPIKeyWithoutHeaders(t *testing.T) {
	if got, err := APIKey(nil, "x-api-key"); got != "" || err != nil {
		t.Errorf("APIKey(nil) = %q, %v; want none", got, err)
	}
}

func FuzzAPIKey(f *testing.F) {
	f.Add("acme-dev-key-1")
	f.Add(" a\tb ")
	f.Add("\xff\x00")
	f.Fuzz(func(t *testing.T, value string) {
		got, err := APIKey(map[string][]string{"x-api-key": {value}}, "x-api-key")
		if err != nil && got != "" {
			t.Errorf("APIKey(%q) = %q with error %v", value, got, err)
		}
		if got != "" && (!ValidKey(got) || !strings.Contains(value, got)) {
			t.Errorf("APIKey(%q) = %q, which is not a key in it", value, got)
		}
	})
}
