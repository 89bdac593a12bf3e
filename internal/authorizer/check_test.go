package authorizer

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"weir/internal/directory"
	"weir/internal/limiter"
	"weir/internal/memstore"
	"weir/internal/plan"
)

const regionalPlans = `
plans:
  p:
    limits:
      - { name: world, rate: 1000/s, onPartition: share }
      - { name: here, rate: 1000/s, consistency: regional }
      - { name: login, rate: 7/h, consistency: strict }
tenants: [{ id: acme, plan: p, keys: [acme-key] }]
`

// spy is a Limiter that remembers what it was asked.
type spy struct {
	Limiter
	checks []limiter.Check
}

func (s *spy) Decide(ctx context.Context, now int64, checks []limiter.Check) limiter.Decision {
	s.checks = checks
	return s.Limiter.Decide(ctx, now, checks)
}

// inRegion returns a Handler of one of two Regions, and the Limiter it asks. What
// one Region writes into table the other sees at once; strict may be nil.
func inRegion(t *testing.T, name string, table *memstore.Table, strict limiter.Store, log *slog.Logger) (*Handler, *spy) {
	t.Helper()
	f, err := plan.Parse("f", []byte(regionalPlans))
	if err != nil {
		t.Fatal(err)
	}
	d, err := directory.NewStatic(f)
	if err != nil {
		t.Fatal(err)
	}
	s := &spy{Limiter: limiter.New(table.Region(name), limiter.Options{Region: name, Regions: 2, Strict: strict})}
	return New(d, s, Options{Strict: strict != nil, Now: func() int64 { return t0 }, Log: log}), s
}

func allows(t *testing.T, h *Handler) bool {
	t.Helper()
	answer, err := h.Handle(t.Context(), json.RawMessage(rest("acme-key", "192.0.2.1")))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(string(answer), `"Effect":"Allow"`)
}

func TestCheckSaysWhatThePlanSays(t *testing.T) {
	h, asked := inRegion(t, "a", memstore.NewTable(), memstore.New("*"), slog.New(slog.DiscardHandler))
	if !allows(t, h) || len(asked.checks) != 3 {
		t.Fatalf("asked %+v, want three checks that pass", asked.checks)
	}
	type said struct {
		consistency limiter.Consistency
		share       bool
	}
	for i, want := range []said{{limiter.Global, true}, {limiter.Regional, false}, {limiter.Strict, false}} {
		if c := asked.checks[i]; (said{c.Consistency, c.Share}) != want {
			t.Errorf("%s: got %+v, want %+v", c.Name, c, want)
		}
	}
}

// TestStrictIsExactAcrossRegions: two Regions whose own tables never meet share
// what the strict one holds.
func TestStrictIsExactAcrossRegions(t *testing.T) {
	strict := memstore.New("*")
	var regions []*Handler
	for _, name := range []string{"a", "b"} {
		h, _ := inRegion(t, name, memstore.NewTable(), strict, slog.New(slog.DiscardHandler))
		regions = append(regions, h)
	}
	admitted := 0
	for i := range 40 {
		if allows(t, regions[i%2]) {
			admitted++
		}
	}
	row, _ := strict.Peek("login|acme")
	if admitted != 7 || row.Spent != 7 {
		t.Errorf("%d admitted, %d spent in the strict table, want 7", admitted, row.Spent)
	}
}

// TestStrictWithoutItsTable: the limit is one of all Regions still, and the
// operator is told, once.
func TestStrictWithoutItsTable(t *testing.T) {
	var lines strings.Builder
	log := slog.New(slog.NewTextHandler(&lines, nil))
	table := memstore.NewTable()
	a, asked := inRegion(t, "a", table, nil, log)
	b, _ := inRegion(t, "b", table, nil, slog.New(slog.DiscardHandler))
	admitted := map[*Handler]int{}
	for _, h := range []*Handler{a, b} {
		for range 10 {
			if allows(t, h) {
				admitted[h]++
			}
		}
	}
	if c := asked.checks[2].Consistency; c != limiter.Global {
		t.Errorf("consistency %v, want Global", c)
	}
	if admitted[a] != 7 || admitted[b] != 0 {
		t.Errorf("%d and %d admitted, want 7 in all", admitted[a], admitted[b])
	}
	if n := strings.Count(lines.String(), "WEIR_STRICT_TABLE"); n != 1 || !strings.Contains(lines.String(), "level=WARN") || !strings.Contains(lines.String(), "limit=login") {
		t.Errorf("%d warnings, want one that names the limit:\n%s", n, lines.String())
	}
}
