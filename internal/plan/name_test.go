package plan

import "testing"

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"", "abc", 3},
		{"abc", "", 3},
		{"rate", "rate", 0},
		{"rte", "rate", 1},
		{"raate", "rate", 1},
		{"rote", "rate", 1},
		{"xrate", "rate", 1},
		{"kitten", "sitting", 3},
		{"abcd", "dcba", 4},
	} {
		if got := distance(tt.a, tt.b); got != tt.want {
			t.Errorf("distance(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

func TestDidYouMean(t *testing.T) {
	known := []string{"name", "rate", "burst", "resource"}
	for s, want := range map[string]string{
		"rte":      "; did you mean rate?",
		"BURST":    "; did you mean burst?",
		"resorces": "; did you mean resource?",
		"nmae":     "", // two changes are too many for four letters
		"colour":   "",
		"":         "",
	} {
		if got := didYouMean(s, known); got != want {
			t.Errorf("didYouMean(%q) = %q, want %q", s, got, want)
		}
	}
}
