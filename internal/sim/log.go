package sim

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
)

// ReadLog reads recorded traffic: a request a line, "SECONDS REGION", seconds
// since the first or since the Unix epoch, Regions counted from 1 and 1 if left
// out. Empty lines and lines that begin with # are skipped; the order of lines
// does not matter. Errors name the line.
func ReadLog(r io.Reader) ([]LogEntry, error) {
	var out []LogEntry
	first := math.Inf(1)
	var at []float64
	scan := bufio.NewScanner(r)
	for n := 1; scan.Scan(); n++ {
		fields := strings.Fields(strings.ReplaceAll(scan.Text(), ",", " "))
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		t, err := strconv.ParseFloat(fields[0], 64)
		if err != nil || math.IsInf(t, 0) || math.IsNaN(t) || t < 0 {
			return nil, fmt.Errorf("line %d: %q is no time in seconds", n, fields[0])
		}
		region := 1
		if len(fields) > 1 {
			if region, err = strconv.Atoi(fields[1]); err != nil || region < 1 {
				return nil, fmt.Errorf("line %d: %q is no Region: count from 1", n, fields[1])
			}
		}
		if len(out) == maxArrivals {
			return nil, fmt.Errorf("line %d: more than %d requests", n, maxArrivals)
		}
		first = min(first, t)
		at = append(at, t)
		out = append(out, LogEntry{Region: region - 1})
	}
	if err := scan.Err(); err != nil {
		return nil, err
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no requests in it: want lines like \"12.5 1\"")
	}
	for i := range out {
		s := (at[i] - first) * float64(time.Second)
		if s > float64(24*time.Hour) {
			return nil, fmt.Errorf("spans more than 24 hours")
		}
		out[i].At = time.Duration(s)
	}
	return out, nil
}
