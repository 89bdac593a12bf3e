package config

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// place is where a Region is, in degrees, and in which partition.
type place struct {
	lat, lon  float64
	partition string
}

// places are the Regions that have what Weir needs. Their coordinates are those
// of the city or state after which AWS names them: enough to tell near from far.
var places = map[string]place{
	"af-south-1":     {-33.9, 18.4, "aws"},
	"ap-east-1":      {22.3, 114.2, "aws"},
	"ap-east-2":      {25.0, 121.5, "aws"},
	"ap-northeast-1": {35.7, 139.7, "aws"},
	"ap-northeast-2": {37.6, 127.0, "aws"},
	"ap-northeast-3": {34.7, 135.5, "aws"},
	"ap-south-1":     {19.1, 72.9, "aws"},
	"ap-south-2":     {17.4, 78.5, "aws"},
	"ap-southeast-1": {1.4, 103.8, "aws"},
	"ap-southeast-2": {-33.9, 151.2, "aws"},
	"ap-southeast-3": {-6.2, 106.8, "aws"},
	"ap-southeast-4": {-37.8, 145.0, "aws"},
	"ap-southeast-5": {3.1, 101.7, "aws"},
	"ap-southeast-6": {-36.8, 174.8, "aws"},
	"ap-southeast-7": {13.8, 100.5, "aws"},
	"ca-central-1":   {45.5, -73.6, "aws"},
	"ca-west-1":      {51.0, -114.1, "aws"},
	"eu-central-1":   {50.1, 8.7, "aws"},
	"eu-central-2":   {47.4, 8.5, "aws"},
	"eu-north-1":     {59.3, 18.1, "aws"},
	"eu-south-1":     {45.5, 9.2, "aws"},
	"eu-south-2":     {41.6, -0.9, "aws"},
	"eu-west-1":      {53.3, -6.3, "aws"},
	"eu-west-2":      {51.5, -0.1, "aws"},
	"eu-west-3":      {48.9, 2.4, "aws"},
	"il-central-1":   {32.1, 34.8, "aws"},
	"me-central-1":   {25.2, 55.3, "aws"},
	"me-south-1":     {26.1, 50.6, "aws"},
	"mx-central-1":   {20.6, -100.4, "aws"},
	"sa-east-1":      {-23.6, -46.6, "aws"},
	"us-east-1":      {38.9, -77.4, "aws"},
	"us-east-2":      {40.0, -83.0, "aws"},
	"us-west-1":      {37.4, -121.9, "aws"},
	"us-west-2":      {45.8, -119.7, "aws"},
	"cn-north-1":     {39.9, 116.4, "aws-cn"},
	"cn-northwest-1": {37.5, 105.2, "aws-cn"},
	"us-gov-east-1":  {40.0, -83.0, "aws-us-gov"},
	"us-gov-west-1":  {45.8, -119.7, "aws-us-gov"},
}

// strictSets are the sets of Regions within which a table can be strongly
// consistent. A set of other Regions is refused by AWS and by the CDK.
var strictSets = map[string][]string{
	"US":           {"us-east-1", "us-east-2", "us-west-2"},
	"Europe":       {"eu-west-1", "eu-west-2", "eu-west-3", "eu-central-1"},
	"Asia Pacific": {"ap-northeast-1", "ap-northeast-2", "ap-northeast-3"},
}

// strictSet returns the name of the set that has all of the Regions.
func strictSet(regions []string) (name string, ok bool) {
	for _, name := range slices.Sorted(maps.Keys(strictSets)) {
		in := func(r string) bool { return slices.Contains(strictSets[name], r) }
		if !slices.ContainsFunc(regions, func(r string) bool { return !in(r) }) {
			return name, true
		}
	}
	return "", false
}

// Nearest returns the Regions, own first and the others by distance from it: the
// order in which a function looks for a replica that answers.
func Nearest(own string, regions []string) []string {
	sorted := slices.Clone(regions)
	slices.SortStableFunc(sorted, func(a, b string) int {
		return cmp.Compare(distance(own, a), distance(own, b))
	})
	return sorted
}

// distance returns the angle between two Regions, seen from the centre of the Earth.
func distance(a, b string) float64 {
	if a == b {
		return -1
	}
	rad := func(deg float64) float64 { return deg * math.Pi / 180 }
	p, q := places[a], places[b]
	return math.Acos(min(1, math.Sin(rad(p.lat))*math.Sin(rad(q.lat))+
		math.Cos(rad(p.lat))*math.Cos(rad(q.lat))*math.Cos(rad(p.lon-q.lon))))
}

// closest returns the word most like s, if one is but a slip away.
func closest(s string, words []string) (word string, ok bool) {
	best := 3
	for _, w := range words {
		if d := edits(s, w); d < best {
			word, best = w, d
		}
	}
	return word, word != ""
}

// edits returns the Levenshtein distance of two words.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			above := row[j+1]
			if a[i] != b[j] {
				diagonal = 1 + min(diagonal, above, row[j])
			}
			diagonal, row[j+1] = above, diagonal
		}
	}
	return row[len(b)]
}
