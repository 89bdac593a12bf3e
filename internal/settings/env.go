package settings

import (
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// env reads variables and collects what is wrong with them.
type env struct {
	get      func(string) string
	problems []string
}

func (e *env) problem(name, what string) {
	e.problems = append(e.problems, name+" "+what)
}

// invalid reports a value that is not what was wanted. Values are quoted: they
// are an operator's, none is a secret.
func (e *env) invalid(name, value, want string) {
	e.problem(name, fmt.Sprintf("is %q: write %s", value, want))
}

// oneOf returns the variable as one of the choices, the first if it is not set.
func oneOf[T ~string](e *env, name string, choices ...T) T {
	v := e.get(name)
	if v == "" {
		return choices[0]
	}
	if slices.Contains(choices, T(v)) {
		return T(v)
	}
	names := make([]string, len(choices))
	for i, c := range choices {
		names[i] = string(c)
	}
	e.invalid(name, v, strings.Join(names, " or "))
	return ""
}

func (e *env) matching(name string, re *regexp.Regexp, want, unset string) string {
	v := e.get(name)
	if v == "" {
		return unset
	}
	if !re.MatchString(v) {
		e.invalid(name, v, want)
	}
	return v
}

func (e *env) required(name string, re *regexp.Regexp, want string) string {
	if e.get(name) == "" {
		e.problem(name, "is not set: write "+want)
		return ""
	}
	return e.matching(name, re, want, "")
}

func (e *env) duration(name string, unset, least, most time.Duration) time.Duration {
	v := e.get(name)
	if v == "" {
		return unset
	}
	d, err := time.ParseDuration(v)
	if err != nil || d < least || d > most {
		e.invalid(name, v, fmt.Sprintf("a duration from %v to %v, such as %v", least, most, unset))
	}
	return d
}

// count returns the variable as a whole number from 1 to most.
func (e *env) count(name string, unset, most int64) int64 { return e.number(name, unset, 1, most) }

// number returns the variable as a whole number from least to most.
func (e *env) number(name string, unset, least, most int64) int64 {
	v := e.get(name)
	if v == "" {
		return unset
	}
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil || n < least || n > most {
		e.invalid(name, v, fmt.Sprintf("a whole number from %d to %d, such as %d", least, most, unset))
	}
	return n
}

func (e *env) level(name string) slog.Level {
	switch v := e.get(name); strings.ToLower(v) {
	case "debug":
		return slog.LevelDebug
	case "", "info":
		return slog.LevelInfo
	case "warn":
		return slog.LevelWarn
	case "error":
		return slog.LevelError
	default:
		e.invalid(name, v, "debug, info, warn or error")
		return slog.LevelInfo
	}
}

// regions returns the comma-separated Regions of a variable, only own if it is
// not set. They must contain own, since each Region writes the rows named after it.
func (e *env) regions(name, own string) []string {
	v := e.get(name)
	if v == "" {
		return []string{own}
	}
	var all []string
	for r := range strings.SplitSeq(v, ",") {
		r = strings.TrimSpace(r)
		switch {
		case !regionName.MatchString(r):
			e.invalid(name, v, "Regions with commas between, such as eu-west-1,us-east-1")
			return nil
		case slices.Contains(all, r):
			e.problem(name, fmt.Sprintf("names %s twice: write each Region once", r))
			return nil
		}
		all = append(all, r)
	}
	if own != "" && !slices.Contains(all, own) {
		e.problem(name, fmt.Sprintf("is %q, without this Region: add %s (AWS_REGION)", v, own))
	}
	return all
}
