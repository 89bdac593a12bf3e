package plan

import (
	"fmt"
	"testing"
)

func TestParseShare(t *testing.T) {
	for text, want := range map[string]Share{"0%": 0, "0.00%": 0, "0.01%": 1, "0.1%": 10, "1%": 100, "2.5%": 250, "2.50%": 250, "12.34%": 1234, "99.99%": 9999, "100%": 10000, "100.0%": 10000} {
		if got, err := ParseShare(text); err != nil || got != want {
			t.Errorf("%s: %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "%", "5", "05%", "-1%", "+1%", "1.%", ".5%", "1.234%", "1,5%", "1 %", "100.01%", "101%", "1e1%", "1.x%", "1.5.5%", "99999999999999999999%"} {
		if got, err := ParseShare(text); err == nil {
			t.Errorf("%q is %v, want an error", text, got)
		}
	}
	for s := Share(0); s <= Everybody; s++ {
		if got, err := ParseShare(s.String()); err != nil || got != s {
			t.Fatalf("%d is written as %v and read as %d, %v", s, s, got, err)
		}
	}
}

// TestShares: a wider share contains a narrower one, and each has about the part of
// the tenants that it says. The standard deviation of a hash is up to 0.5 % of
// 10,000, so an unlucky plan may be further off than these are.
func TestShares(t *testing.T) {
	const tenants = 10_000
	for _, plan := range []string{"pro", "free", "enterprise"} {
		has := make([]bool, tenants)
		before := 0
		for s := Share(0); s <= Everybody; s += 500 {
			n := 0
			for i := range has {
				now := s.has(plan, fmt.Sprintf("org-%04d", i))
				if has[i] && !now {
					t.Fatalf("tenant %d of plan %s leaves when the share grows to %v", i, plan, s)
				}
				if has[i] = now; now {
					n++
				}
			}
			if want := tenants * int(s) / int(Everybody); n < want-tenants/100 || n > want+tenants/100 {
				t.Errorf("%v of plan %s has %d tenants of %d, want %d within 1 %%", s, plan, n, tenants, want)
			}
			if s == 0 && n != 0 || s == Everybody && n != tenants || n < before {
				t.Errorf("%v has %d tenants, after %d", s, n, before)
			}
			before = n
		}
	}
}

// TestSharesDiffer: it is not the same tenants who come first in every plan.
func TestSharesDiffer(t *testing.T) {
	both, one := 0, 0
	for i := range 10_000 {
		id := fmt.Sprint("t", i)
		a, b := Share(1000).has("pro", id), Share(1000).has("free", id)
		if a {
			one++
		}
		if a && b {
			both++
		}
	}
	if both > one/5 { // a tenth is expected
		t.Errorf("of %d tenants of pro's first 10 %%, %d are among those of free", one, both)
	}
}

func TestShareAllocatesNothing(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() { Share(50).has("pro", "acme") }); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}
