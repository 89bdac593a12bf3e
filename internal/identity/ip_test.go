package identity

import (
	"net/netip"
	"testing"
)

func TestIPKey(t *testing.T) {
	for _, tt := range []struct{ addr, want string }{
		{"192.0.2.7", "192.0.2.7"},
		{"::ffff:192.0.2.7", "192.0.2.7"},
		{"::ffff:192.0.2.7%eth0", "192.0.2.7"},
		{"2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"},
		{"2001:db8:1:2:ffff:ffff:ffff:ffff", "2001:db8:1:2::/64"},
		{"2001:db8:1:3::", "2001:db8:1:3::/64"},
		{"2001:DB8::1", "2001:db8::/64"},
		{"fe80::1%eth0", "fe80::/64"},
		{"::1", "::/64"},
		{"::", "::/64"},
	} {
		if got := IPKey(netip.MustParseAddr(tt.addr)); got != tt.want {
			t.Errorf("IPKey(%s) = %q, want %q", tt.addr, got, tt.want)
		}
	}
	if got := IPKey(netip.Addr{}); got != "" {
		t.Errorf("IPKey(zero) = %q, want none", got)
	}
}

func TestAppendIPKeyDoesNotAllocate(t *testing.T) {
	buf := make([]byte, 0, 64)
	for _, s := range []string{"192.0.2.7", "2001:db8:1:2:3:4:5:6"} {
		a := netip.MustParseAddr(s)
		if n := testing.AllocsPerRun(100, func() { buf = AppendIPKey(buf[:0], a) }); n != 0 {
			t.Errorf("AppendIPKey(%s): %v allocations, want 0", s, n)
		}
	}
}

// Two addresses share a key exactly if they are one IPv4 address or one /64.
func FuzzIPKey(f *testing.F) {
	f.Add([]byte{192, 0, 2, 7}, []byte{192, 0, 2, 7})
	f.Add(make([]byte, 16), []byte("0123456789abcdef"))
	f.Fuzz(func(t *testing.T, x, y []byte) {
		a, aok := netip.AddrFromSlice(x)
		b, bok := netip.AddrFromSlice(y)
		if !aok || !bok {
			return
		}
		same := func(a, b netip.Addr) bool {
			a, b = a.Unmap(), b.Unmap()
			if a.Is4() || b.Is4() {
				return a == b
			}
			return [8]byte(a.AsSlice()[:8]) == [8]byte(b.AsSlice()[:8])
		}
		if got, want := IPKey(a) == IPKey(b), same(a, b); got != want {
			t.Errorf("IPKey(%v) = %q, IPKey(%v) = %q: equal is %v, want %v", a, IPKey(a), b, IPKey(b), got, want)
		}
	})
}
