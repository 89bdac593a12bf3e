package telemetry

import (
	"strconv"
	"time"

	"weir/internal/telemetry/metric"
)

// The embedded metric format: one JSON document a line, whose member _aws says
// which of the other members are metrics and which are dimensions. Numbers that
// are many go as {"Values":[...],"Counts":[...]}, which CloudWatch makes
// percentiles of; AWS's own agent and collector write them so.
//
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html

// label is a dimension's value.
type label struct {
	name  metric.Dimension
	value string
}

// document is one line: metrics of the same dimensions.
type document struct {
	at       int64 // ns since the Unix epoch
	sets     [][]metric.Dimension
	labels   []label // of all dimensions in sets but Region
	readings []reading
}

// emf writes documents.
type emf struct {
	namespace, region string
	buf               []byte
}

func (e *emf) write(d document) {
	b := append(e.buf, `{"_aws":{"Timestamp":`...)
	b = strconv.AppendInt(b, d.at/int64(time.Millisecond), 10)
	b = append(b, `,"CloudWatchMetrics":[{"Namespace":`...)
	b = appendString(b, e.namespace)
	b = append(b, `,"Dimensions":[`...)
	for i, set := range d.sets {
		b = comma(b, i)
		b = append(b, '[')
		for k, name := range set {
			b = appendString(comma(b, k), string(name))
		}
		b = append(b, ']')
	}
	b = append(b, `],"Metrics":[`...)
	for i, r := range d.readings {
		b = append(comma(b, i), `{"Name":`...)
		b = appendString(b, r.metric.Name)
		b = append(b, `,"Unit":`...)
		b = append(appendString(b, string(r.metric.Unit)), '}')
	}
	b = append(b, `]}]}`...)
	b = appendMember(b, string(metric.Region))
	b = appendString(b, e.region)
	for _, l := range d.labels {
		b = appendMember(b, string(l.name))
		b = appendString(b, clean(l.value))
	}
	for _, r := range d.readings {
		b = appendMember(b, r.metric.Name)
		b = r.append(b)
	}
	e.buf = append(b, '}', '\n')
}

func (r *reading) append(b []byte) []byte {
	switch {
	case r.values != nil:
		return r.values.append(b)
	case len(r.n) == 1:
		return strconv.AppendInt(b, r.n[0], 10)
	}
	b = append(b, '[')
	for i, n := range r.n {
		b = strconv.AppendInt(comma(b, i), n, 10)
	}
	return append(b, ']')
}

func (v *values) append(b []byte) []byte {
	b = append(b, `{"Values":[`...)
	k := 0
	for i, n := range v.counts {
		if n > 0 {
			b = strconv.AppendInt(comma(b, k), v.value(i), 10)
			k++
		}
	}
	b = append(b, `],"Counts":[`...)
	k = 0
	for _, n := range v.counts {
		if n > 0 {
			b = strconv.AppendUint(comma(b, k), n, 10)
			k++
		}
	}
	b = append(b, `],"Max":`...)
	b = strconv.AppendInt(b, v.max, 10)
	b = append(b, `,"Min":`...)
	b = strconv.AppendInt(b, v.min, 10)
	b = append(b, `,"Count":`...)
	b = strconv.AppendUint(b, v.n, 10)
	b = append(b, `,"Sum":`...)
	b = strconv.AppendInt(b, v.sum, 10)
	return append(b, '}')
}

func comma(b []byte, i int) []byte {
	if i > 0 {
		return append(b, ',')
	}
	return b
}

func appendMember(b []byte, name string) []byte {
	return append(appendString(append(b, ','), name), ':')
}

// appendString appends a string of printable ASCII without quotes and backslashes,
// as clean returns them.
func appendString(b []byte, s string) []byte {
	return append(append(append(b, '"'), s...), '"')
}
