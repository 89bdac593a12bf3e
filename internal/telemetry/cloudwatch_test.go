package telemetry

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"weir/internal/telemetry/metric"
)

// cloudWatch does with lines what CloudWatch does: it takes the metrics out of
// them, for every set of dimensions. It also checks what the specification asks
// for: the published schema (testdata/emf.schema.json) and what is only in its text.
type cloudWatch struct {
	t      testing.TB
	schema *jsonschema.Schema
	valid  map[string]bool // what of lines was found good

	mu     sync.Mutex
	writes [][]byte
	lines  int
	bytes  int
	data   map[string]*datum // by name and dimensions, as key makes them
	at     []int64           // timestamps, ms
}

type datum struct {
	sum      float64
	samples  int64
	min, max float64
	metric   string
}

func newCloudWatch(t testing.TB) *cloudWatch {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft7)
	s, err := c.Compile("testdata/emf.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return &cloudWatch{t: t, schema: s, valid: make(map[string]bool), data: make(map[string]*datum)}
}

// Write takes what a Recorder writes; it is looked at by read.
func (c *cloudWatch) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writes = append(c.writes, bytes.Clone(p))
	return len(p), nil
}

// read takes the metrics out of everything written until now.
func (c *cloudWatch) read() *cloudWatch {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range c.writes {
		if !bytes.HasSuffix(w, []byte("\n")) {
			c.t.Errorf("a write does not end a line: %s", w)
		}
		for line := range bytes.Lines(w) {
			c.line(bytes.TrimSuffix(line, []byte("\n")))
		}
	}
	c.writes = nil
	return c
}

func (c *cloudWatch) line(line []byte) {
	c.t.Helper()
	c.lines++
	c.bytes += len(line) + 1
	var root map[string]json.RawMessage
	var meta struct {
		Timestamp         int64
		CloudWatchMetrics []struct {
			Namespace  string
			Dimensions [][]string
			Metrics    []struct{ Name, Unit string }
		}
	}
	if err := json.Unmarshal(line, &root); err != nil {
		c.t.Fatal(err)
	}
	if err := json.Unmarshal(root["_aws"], &meta); err != nil {
		c.t.Fatal(err)
	}
	c.validate(root["_aws"], meta.Timestamp, line)
	c.at = append(c.at, meta.Timestamp)
	used := map[string]bool{"_aws": true}
	for _, d := range meta.CloudWatchMetrics {
		if n := len(d.Metrics); n == 0 || n > 100 {
			c.t.Fatalf("%d metrics in a line\n%s", n, line)
		}
		for _, m := range d.Metrics {
			used[m.Name] = true
			for _, set := range d.Dimensions {
				for _, name := range set {
					used[name] = true
				}
				c.add(m.Name, key(m.Name, c.dimensions(root, set, line)), root[m.Name], line)
			}
		}
	}
	for name := range root {
		if !used[name] {
			c.t.Errorf("%s is no metric and no dimension\n%s", name, line)
		}
	}
}

// validate checks a line against the schema, which has a say in _aws only: what was
// found good before, but for its time, need not be looked at again.
func (c *cloudWatch) validate(meta []byte, at int64, line []byte) {
	c.t.Helper()
	timeless := strings.Replace(string(meta), fmt.Sprintf(`"Timestamp":%d,`, at), "", 1)
	if c.valid[timeless] {
		return
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(line))
	if err != nil {
		c.t.Fatalf("not JSON: %v\n%s", err, line)
	}
	if err := c.schema.Validate(doc); err != nil {
		c.t.Fatalf("not in the embedded metric format: %v\n%s", err, line)
	}
	c.valid[timeless] = true
}

func (c *cloudWatch) dimensions(root map[string]json.RawMessage, set []string, line []byte) map[string]string {
	c.t.Helper()
	values := make(map[string]string)
	for _, name := range set {
		var v string
		if err := json.Unmarshal(root[name], &v); err != nil || v == "" || len(v) > 1024 || strings.HasPrefix(v, ":") || strings.TrimSpace(v) == "" {
			c.t.Fatalf("dimension %s is %s\n%s", name, root[name], line)
		}
		for _, b := range []byte(v) {
			if b < ' ' || b > '~' {
				c.t.Fatalf("dimension %s is not printable ASCII: %q", name, v)
			}
		}
		values[name] = v
	}
	return values
}

// add adds a value: a number, an array of them, or values with counts.
func (c *cloudWatch) add(name, key string, raw json.RawMessage, line []byte) {
	c.t.Helper()
	var numbers []float64
	var counts []int64
	var one float64
	var many struct {
		Values        []float64
		Counts        []int64
		Max, Min, Sum *float64
		Count         *int64
	}
	switch {
	case json.Unmarshal(raw, &one) == nil:
		numbers = []float64{one}
	case json.Unmarshal(raw, &numbers) == nil:
	case json.Unmarshal(raw, &many) == nil && len(many.Values) == len(many.Counts) && many.Max != nil && many.Min != nil && many.Sum != nil && many.Count != nil:
		numbers, counts = many.Values, many.Counts
		if !slices.IsSorted(numbers) || numbers[0] < *many.Min || numbers[len(numbers)-1] > *many.Max {
			c.t.Fatalf("%s: values beyond Min and Max, or in no order\n%s", name, line)
		}
	default:
		c.t.Fatalf("%s is %s\n%s", name, raw, line)
	}
	if len(numbers) == 0 || len(numbers) > 100 {
		c.t.Fatalf("%s has %d values\n%s", name, len(numbers), line)
	}
	d := c.data[key]
	if d == nil {
		d = &datum{metric: name, min: numbers[0], max: numbers[0]}
		c.data[key] = d
	}
	for i, v := range numbers {
		n := int64(1)
		if counts != nil {
			n = counts[i]
		}
		d.sum += v * float64(n)
		d.samples += n
		d.min, d.max = min(d.min, v), max(d.max, v)
	}
}

// key names a metric with dimensions.
func key(name string, dimensions map[string]string) string {
	var b strings.Builder
	b.WriteString(name)
	for _, d := range slices.Sorted(maps.Keys(dimensions)) {
		if d != string(metric.Region) {
			fmt.Fprintf(&b, " %s=%s", d, dimensions[d])
		}
	}
	return b.String()
}

// sum returns the sum of a metric, whose dimensions besides Region are pairs of
// name and value.
func (c *cloudWatch) sum(name string, pairs ...string) int64 {
	return int64(c.get(name, pairs...).sum)
}

func (c *cloudWatch) get(name string, pairs ...string) datum {
	dimensions := make(map[string]string)
	for i := 0; i < len(pairs); i += 2 {
		dimensions[pairs[i]] = pairs[i+1]
	}
	if d := c.data[key(name, dimensions)]; d != nil {
		return *d
	}
	return datum{}
}

// by returns the sums of a metric by the values of its dimensions, which are named.
func (c *cloudWatch) by(name string, dimensions ...string) map[string]int64 {
	sums := make(map[string]int64)
	for k, d := range c.data {
		fields := strings.Split(k, " ")
		if d.metric != name || len(fields) != len(dimensions)+1 {
			continue
		}
		have := make(map[string]string)
		for _, f := range fields[1:] {
			n, v, _ := strings.Cut(f, "=")
			have[n] = v
		}
		var values []string
		for _, n := range dimensions {
			if v, ok := have[n]; ok {
				values = append(values, v)
			}
		}
		if len(values) == len(dimensions) {
			sums[strings.Join(values, " ")] += int64(d.sum)
		}
	}
	return sums
}

const (
	second = int64(time.Second)
	minute = int64(time.Minute)
	t0     = int64(1_796_072_400_000_000_000) // a whole minute
)
