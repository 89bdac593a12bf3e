package plan

import (
	"net/netip"
	"regexp"
	"strings"
	"testing"
)

func mustTemplate(t testing.TB, text string) Template {
	t.Helper()
	tmpl, err := ParseTemplate(text)
	if err != nil {
		t.Fatal(err)
	}
	return tmpl
}

// headers returns the Header function of one header.
func headers(name, value string) func(string) string {
	return func(n string) string {
		if n == name {
			return value
		}
		return ""
	}
}

func TestBucketKey(t *testing.T) {
	acme := Subject{
		Tenant:   "acme",
		IP:       netip.MustParseAddr("2001:db8:1:2:3::4"),
		Method:   "POST",
		Resource: "/v1/users/{id}",
		Header:   headers("x-user", "u 7:|%"),
	}
	for _, tt := range []struct {
		key  string
		s    Subject
		want string
	}{
		{"{tenant}", acme, "api|acme"},
		{"{ip}", acme, "api|ip=2001:db8:1:2::/64"},
		{"{ip}", Subject{IP: netip.MustParseAddr("::ffff:192.0.2.7")}, "api|ip=192.0.2.7"},
		{"{tenant}:{route}", acme, "api|acme:route=/v1/users/{id}"},
		{"{method}:{tenant}", acme, "api|method=POST:acme"},
		{"{tenant}:{header.X-User}", acme, "api|acme:header.x-user=u%207%3A%7C%25"},
		{"everybody", acme, "api|=everybody"},
		{"{tenant}:user:{ip}", acme, "api|acme:=user:ip=2001:db8:1:2::/64"},

		{"{tenant}:{ip}:{method}:{route}:{header.x-user}", Subject{}, "api|!:ip=!:method=!:route=!:header.x-user=!"},
		{"{header.x-user}", Subject{Header: headers("x-other", "u")}, "api|header.x-user=!"},
		{"{header.x-user}", Subject{Header: headers("x-user", "!")}, "api|header.x-user=%21"},
		{"{header.x-user}", Subject{Header: headers("x-user", "#")}, "api|header.x-user=%23"},
		{"{tenant}", Subject{Tenant: "ip=192.0.2.7"}, "api|ip%3D192.0.2.7"},
		{"{header.x-user}", Subject{Header: headers("x-user", "~}{/\"$ ")}, "api|header.x-user=~}{/\"$%20"},
		{"{header.x-user}", Subject{Header: headers("x-user", "ü\x00\xff")}, "api|header.x-user=%C3%BC%00%FF"},
		{"{tenant}", Subject{Tenant: strings.Repeat("a", 64)}, "api|" + strings.Repeat("a", 64)},
		{"{tenant}", Subject{Tenant: strings.Repeat("a", 65)}, "api|#Y1NhxIu56rFBmOduqKt_GkFoXWrWKqkUbTAdTxfrCuA"},
	} {
		l := &Limit{Name: "api", Key: mustTemplate(t, tt.key)}
		if got := l.BucketKey(tt.s); got != tt.want {
			t.Errorf("%s gives %s, want %s", tt.key, got, tt.want)
		}
	}
}

func TestBucketKeyOfZeroTemplateIsTheTenant(t *testing.T) {
	if got, want := (&Limit{Name: "api"}).BucketKey(Subject{Tenant: "acme"}), "api|acme"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Templates that differ, under one limit name, must not let one subject into
// another's bucket.
func TestBucketKeysOfDifferentTemplates(t *testing.T) {
	addr := netip.MustParseAddr("192.0.2.7")
	for _, tt := range []struct {
		a, b   string
		sa, sb Subject
	}{
		{"{tenant}", "{ip}", Subject{Tenant: "192.0.2.7"}, Subject{IP: addr}},
		{"{tenant}", "acme", Subject{Tenant: "acme"}, Subject{}},
		{"{tenant}", "{method}", Subject{Tenant: "GET"}, Subject{Method: "GET"}},
		{"{tenant}:{method}", "{method}:{tenant}", Subject{Tenant: "GET", Method: "GET"}, Subject{Tenant: "GET", Method: "GET"}},
		{"{header.a}", "{header.b}", Subject{Header: headers("a", "x")}, Subject{Header: headers("b", "x")}},
		{"{tenant}", "{tenant}:x", Subject{Tenant: "a:=x"}, Subject{Tenant: "a"}},
	} {
		ka := (&Limit{Name: "api", Key: mustTemplate(t, tt.a)}).BucketKey(tt.sa)
		kb := (&Limit{Name: "api", Key: mustTemplate(t, tt.b)}).BucketKey(tt.sb)
		if ka == kb {
			t.Errorf("%s and %s both give %s", tt.a, tt.b, ka)
		}
	}
}

func TestBucketKeyOfLongExpansion(t *testing.T) {
	l := &Limit{Name: strings.Repeat("n", MaxName), Key: mustTemplate(t, "{tenant}:{header.a}:{header.b}:{header.c}")}
	key := func(tenant, c string) string {
		return l.BucketKey(Subject{Tenant: tenant, Header: func(n string) string {
			if n == "c" {
				return c
			}
			return strings.Repeat(n, 10_000)
		}})
	}
	a := key("acme", "x")
	if len(a) >= 256 {
		t.Errorf("key of %d bytes, want less than 256", len(a))
	}
	if a == key("acme", "y") || a == key("acm", "x") {
		t.Error("long keys that differ in one value collide")
	}
	if a != key("acme", "x") {
		t.Error("one subject has two keys")
	}
	// A tenant whose id spells a long expansion must not get that expansion's hash.
	h := strings.Repeat("h", 62)
	long := mustTemplate(t, "{tenant}:{header.a"+h+"}:{header.b"+h+"}:{header.c"+h+"}")
	text := "x:header.a" + h + "=!:header.b" + h + "=!:header.c" + h + "=!"
	got, forged := string(long.Expand(nil, Subject{Tenant: "x"})), string(Template{}.Expand(nil, Subject{Tenant: text}))
	if !strings.HasPrefix(got, "##") || got == forged {
		t.Errorf("got %s and, forged, %s; want different hashes", got, forged)
	}
}

func TestExpandDoesNotAllocate(t *testing.T) {
	tmpl := mustTemplate(t, "{tenant}:{ip}:{method}:{route}:{header.x-user}")
	l := &Limit{Name: "api", Key: tmpl}
	for _, user := range []string{"u7", strings.Repeat("long", 1000)} {
		s := Subject{
			Tenant:   "acme",
			IP:       netip.MustParseAddr("2001:db8::1"),
			Method:   "GET",
			Resource: "/v1/users/{id}",
			Header:   headers("x-user", user),
		}
		buf := make([]byte, 0, 8192)
		if n := testing.AllocsPerRun(100, func() { buf = tmpl.Expand(buf[:0], s) }); n != 0 {
			t.Errorf("Expand, value of %d bytes: %v allocations, want 0", len(user), n)
		}
		if n := testing.AllocsPerRun(100, func() { l.BucketKey(s) }); n != 1 && len(user) < maxValue {
			t.Errorf("BucketKey: %v allocations, want only the string", n)
		}
	}
}

// FuzzExpand checks that an expansion is bounded, is made of visible ASCII, and
// tells subjects apart exactly when their values differ.
func FuzzExpand(f *testing.F) {
	f.Add("{tenant}:{header.x}", "a", "b", "a", "b:c")
	f.Add("{tenant}:{header.x}", "a:b", "c", "a", "b:c")
	f.Add("{tenant}:w:{header.x}", "a", "", "a", "!")
	f.Add("{header.x}:{method}", "GET", "a%3Ab", "GET", "a:b")
	f.Add("{route}:{tenant}", "/a", "x=y", "/a=x", "y")
	f.Add("{tenant}", strings.Repeat("x", 65), "", strings.Repeat("x", 66), "")
	visible := regexp.MustCompile(`^[!-~]+$`)
	f.Fuzz(func(t *testing.T, text, a1, a2, b1, b2 string) {
		tmpl, err := ParseTemplate(text)
		if err != nil {
			return
		}
		if again := mustTemplate(t, tmpl.String()); again.String() != tmpl.String() {
			t.Fatalf("%q is read back as %q", tmpl, again)
		}
		// The first value fills {tenant}, {method} and {route}, the second headers.
		subject := func(v1, v2 string) Subject {
			return Subject{Tenant: v1, Method: v1, Resource: v1, Header: func(string) string { return v2 }}
		}
		var uses1, uses2 bool
		for _, p := range tmpl.parts {
			uses1 = uses1 || p.kind == tenant || p.kind == method || p.kind == route
			uses2 = uses2 || p.kind == header
		}
		ka := string(tmpl.Expand(nil, subject(a1, a2)))
		kb := string(tmpl.Expand(nil, subject(b1, b2)))
		differ := uses1 && a1 != b1 || uses2 && a2 != b2
		if differ == (ka == kb) {
			t.Errorf("%s: (%q, %q) gives %s, (%q, %q) gives %s", tmpl, a1, a2, ka, b1, b2, kb)
		}
		if len(ka) > maxExpansion || !visible.MatchString(ka) {
			t.Errorf("%s: (%q, %q) gives %q", tmpl, a1, a2, ka)
		}
	})
}

func TestPerTenant(t *testing.T) {
	for text, want := range map[string]bool{"{tenant}": true, "{ip}:{tenant}": true, "{tenant}:{header.x}": true, "{ip}": false, "all": false, "{header.tenant}": false} {
		if got := (&Limit{Name: "a", Key: mustTemplate(t, text)}).PerTenant(); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
	if !(&Limit{Name: "a"}).PerTenant() {
		t.Error("a limit without a key is the tenant's")
	}
}
