package directory

import "testing"

func TestLRU(t *testing.T) {
	l := newLRU[string, int](2)
	want := func(k string, v int) {
		t.Helper()
		got := 0
		if p := l.peek(k); p != nil {
			got = *p
		}
		if got != v {
			t.Errorf("%s is %d, want %d", k, got, v)
		}
		if n := l.order.Len(); n != len(l.entries) || n > 2 {
			t.Errorf("%d entries, %d of them in order, want at most 2", len(l.entries), n)
		}
	}
	l.put("a", 1)
	l.put("b", 2)
	l.put("a", 3) // a use of a
	want("a", 3)
	l.put("c", 4) // pushes out b
	want("b", 0)
	want("a", 3)
	l.get("a")
	l.peek("c")   // no use
	l.put("d", 5) // pushes out c
	want("c", 0)
	want("a", 3)
	*l.get("a") = 6
	want("a", 6)
	l.remove("a")
	l.remove("a")
	want("a", 0)
	l.put("e", 7)
	want("d", 5)
	want("e", 7)
}
