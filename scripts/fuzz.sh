#!/usr/bin/env bash
# Runs every fuzz target of the root module, one after the other, each for a bounded time.
#
# Input: $1, time per target in Go's notation (default 10s).
set -euo pipefail
cd "$(dirname "$0")/.."

fuzztime=${1:-10s}
ran=0

while read -r package; do
  # `go test -list` builds the test binary, so look for a target in the source first.
  dir=$(go list -f '{{.Dir}}' "$package")
  grep -qs '^func Fuzz' "$dir"/*_test.go || continue
  while read -r target; do
    echo "== $package $target ($fuzztime)"
    go test -run '^$' -fuzz "^$target\$" -fuzztime "$fuzztime" "$package"
    ran=$((ran + 1))
  done < <(go test -list '^Fuzz' "$package" | grep '^Fuzz')
done < <(go list ./...)

if ((ran == 0)); then
  echo "fuzz: no target found" >&2
  exit 1
fi
echo "fuzz: $ran targets, $fuzztime each"
