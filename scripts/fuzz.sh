#!/usr/bin/env bash
# Fuzzes the project's Go targets one after the other, each on one worker, and prints how many executions that made, in all and a second.
#
#   scripts/fuzz.sh 60              every target for a minute
#   scripts/fuzz.sh 3600 FuzzLoad   those with this in their package or name
#
# What made a target fail is in its package's testdata/fuzz, as go test leaves it. Inputs that reach something new are not minimized:
# Go would try for a minute each, which with files of some kilobytes leaves no time for anything else.
set -euo pipefail
cd "$(dirname "$0")/.."
export GOFLAGS=-trimpath

seconds=${1:?seconds for each target}
failed=0
while IFS=: read -r file line; do
  package=$(dirname "$file")
  target=${line#func }
  target=${target%%(*}
  if [[ "$package $target" != *${2:-}* ]]; then continue; fi
  if ! out=$(go test "$package" -run '^$' -fuzz "^$target\$" -fuzztime "${seconds}s" -fuzzminimizetime 1x -parallel 1 2>&1); then
    failed=1
    printf '%s\n' "$out"
  fi
  if ! last=$(grep 'execs:' <<<"$out" | tail -n 1) || [ -z "$last" ]; then
    failed=1
    printf '%-28s %-16s did not run: %s\n' "$package" "$target" "$(tail -n 1 <<<"$out")"
    continue
  fi
  executions=$(sed -E 's/.*execs: ([0-9]+).*/\1/' <<<"$last")
  took=$(sed -E 's/.*elapsed: ([0-9hms]+),.*/\1/; s/h/*3600+/; s/m/*60+/; s/s//' <<<"$last")
  printf '%-28s %-16s %9d executions, %6d a second\n' "$package" "$target" "$executions" $((executions / ($took)))
done < <(grep -r '^func Fuzz' --include='*_test.go' .)
exit $failed
