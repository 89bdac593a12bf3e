package authorizer

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"weir/internal/directory"
	"weir/internal/limiter"
	"weir/internal/memstore"
	"weir/internal/plan"
)

var update = flag.Bool("update", false, "write testdata/*.golden anew")

// exampleHandler serves examples/plans.yaml, as `weir dev` and WEIR_STORE=memory do.
func exampleHandler(t testing.TB, http HTTPStyle) *Handler {
	t.Helper()
	const path = "../../examples/plans.yaml"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := plan.Parse(path, text)
	if err != nil {
		t.Fatal(err)
	}
	d, err := directory.NewStatic(f)
	if err != nil {
		t.Fatal(err)
	}
	return New(d, limiter.New(memstore.New("test"), limiter.Options{}), Options{
		HTTP:           http,
		BadCredentials: &f.BadCredentials,
		Now:            func() int64 { return t0 },
		Log:            slog.New(slog.DiscardHandler),
	})
}

// TestEvents answers every event of eventNames, each on a Handler that has seen
// nothing before, and compares with testdata/NAME.golden. Those of HTTP APIs
// with payload 2.0 have a second golden, NAME.iam.golden, for the other form.
func TestEvents(t *testing.T) {
	var want []string
	for _, name := range eventNames(t) {
		want = append(want, name+".golden")
		t.Run(name, func(t *testing.T) {
			compareGolden(t, name, answerText(t, exampleHandler(t, HTTPStyle{}), readEvent(t, name)))
		})
		if strings.HasPrefix(name, "apigw-v2-custom-authorizer-v2-request") {
			want = append(want, name+".iam.golden")
			t.Run(name+".iam", func(t *testing.T) {
				compareGolden(t, name+".iam", answerText(t, exampleHandler(t, HTTPStyle{IAM: true}), readEvent(t, name)))
			})
		}
	}
	goldens, err := filepath.Glob("testdata/*.golden")
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range goldens {
		if !slices.Contains(want, filepath.Base(g)) {
			t.Errorf("%s belongs to no event", g)
		}
	}
}

// answerText is an answer as a golden file has it: indented JSON, or the error.
func answerText(t testing.TB, h *Handler, event json.RawMessage) []byte {
	t.Helper()
	raw, err := h.Handle(context.Background(), event)
	if err != nil {
		return []byte("error: " + err.Error() + "\n")
	}
	checkAnswer(t, raw)
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		t.Fatal(err)
	}
	b.WriteByte('\n')
	return b.Bytes()
}

func compareGolden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (run the test with -update)", err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("answer differs from %s\ngot  %s\nwant %s", path, got, want)
	}
}
