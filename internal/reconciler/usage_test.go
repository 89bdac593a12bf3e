package reconciler

import (
	"testing"
	"time"

	"weir/pkg/bucket"
	"weir/pkg/ddbstore"
)

func TestMonths(t *testing.T) {
	at := func(s string) int64 {
		t.Helper()
		v, err := time.Parse(time.RFC3339Nano, s)
		if err != nil {
			t.Fatal(err)
		}
		return v.UnixNano()
	}
	for _, tt := range []struct{ now, month, before string }{
		{"2026-12-01T00:00:00Z", "2026-12", "2026-11"},
		{"2026-11-30T23:59:59.999999999Z", "2026-11", "2026-10"},
		{"2027-01-31T12:00:00Z", "2027-01", "2026-12"},
		{"2024-03-31T12:00:00Z", "2024-03", "2024-02"},
		{"2026-12-01T00:30:00+01:00", "2026-11", "2026-10"}, // months are UTC's
	} {
		month := monthOf(at(tt.now))
		if month != tt.month || monthBefore(month) != tt.before {
			t.Errorf("%s: %s after %s, want %s after %s", tt.now, month, monthBefore(month), tt.month, tt.before)
		}
		if end := endOf(month); monthOf(end-1) != month || monthBefore(monthOf(end)) != month {
			t.Errorf("%s ends at %v", month, time.Unix(0, end).UTC())
		}
	}
}

func TestCount(t *testing.T) {
	row := func(born, spent int64) bucket.Row { return bucket.Row{Born: born, Spent: spent} }
	tests := []struct {
		name string
		was  ddbstore.Used
		row  bucket.Row
		want ddbstore.Used
	}{
		{"never counted", ddbstore.Used{}, row(7, 40), ddbstore.Used{Tokens: 40, Born: 7, Spent: 40}},
		{"more since", ddbstore.Used{Tokens: 90, Born: 7, Spent: 40}, row(7, 45), ddbstore.Used{Tokens: 95, Born: 7, Spent: 45}},
		{"nothing since", ddbstore.Used{Tokens: 90, Born: 7, Spent: 40}, row(7, 40), ddbstore.Used{Tokens: 90, Born: 7, Spent: 40}},
		{"tokens were returned", ddbstore.Used{Tokens: 90, Born: 7, Spent: 40}, row(7, 38), ddbstore.Used{Tokens: 88, Born: 7, Spent: 38}},
		{"expired and came back", ddbstore.Used{Tokens: 90, Born: 7, Spent: 40}, row(8, 3), ddbstore.Used{Tokens: 93, Born: 8, Spent: 3}},
		{"an old reading", ddbstore.Used{Tokens: 93, Born: 8, Spent: 3}, row(7, 40), ddbstore.Used{Tokens: 93, Born: 8, Spent: 3}},
	}
	for _, tt := range tests {
		if got := count(tt.was, tt.row); got != tt.want {
			t.Errorf("%s: got %+v, want %+v", tt.name, got, tt.want)
		}
	}
}
