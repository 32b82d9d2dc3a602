#!/usr/bin/env bash
# Does what the README says as somebody does who has just found gpa: in an empty home folder, from a clone to the advice on a
# kernel's own cubin, and says how long each step takes. Every session of the README has to print what the README shows.
#
#   scripts/newuser.sh                 with empty caches: modules are downloaded, everything is compiled
#   scripts/newuser.sh --shared-cache  with the caches of whoever runs it
set -euo pipefail

repository=$(cd "$(dirname "$0")/.." && pwd)
home=$(mktemp -d)
trap 'chmod -R u+w "$home"; rm -rf "$home"' EXIT
keep=(PATH="$PATH" HOME="$home" TMPDIR="${TMPDIR:-/tmp}")
for name in GOPROXY GOSUMDB HTTP_PROXY HTTPS_PROXY NO_PROXY SSL_CERT_FILE; do
  if [ -n "${!name:-}" ]; then keep+=("$name=${!name}"); fi
done
if [ "${1:-}" = --shared-cache ]; then
  # The flags are part of what a compiled package is found by.
  keep+=(GOMODCACHE="$(go env GOMODCACHE)" GOCACHE="$(go env GOCACHE)" GOFLAGS="${GOFLAGS:-}")
fi

# fresh runs a command with nothing of this session's environment but what a machine needs to reach the network.
fresh() { env -i "${keep[@]}" "$@"; }

# step runs a command in the clone and says how long it took; its output is shown where it fails.
step() {
  local began=$SECONDS
  if ! (cd "$home/gpa" 2>/dev/null || cd "$home"; fresh "$@") >"$home/output" 2>&1; then
    printf 'FAILED: %s\n' "$*"
    cat "$home/output"
    exit 1
  fi
  printf '%4d s  %s\n' $((SECONDS - began)) "$*"
}

printf '[safe]\n\tdirectory = *\n' >"$home/.gitconfig" # the repository may be another user's
step git clone -q "$repository" gpa
step go run ./cmd/gpa profile vecadd
step go install ./cmd/gpa
keep[0]="PATH=$home/go/bin:$PATH"

# atmost fails where something takes more bytes than it may.
atmost() {
  printf '%8d kB  %s\n' $(($2 / 1000)) "$1"
  if [ "$2" -gt "$3" ]; then
    printf 'FAILED: %s takes %d bytes, more than %d\n' "$1" "$2" "$3"
    exit 1
  fi
}
atmost "the tree" "$(fresh git -C "$home/gpa" ls-tree -r -l HEAD | awk '{ sum += $4 } END { print sum }')" 40000000
# 19 MB of it are the server that sweeps hand out their tasks by (NATS JetStream), 4 MB what speaks to S3 (minio-go); 16 MB are debug
# information, without which (go install -ldflags='-s -w') it has 41 MB; 1.5 MB are kernels and other embedded files.
atmost "the program" "$(wc -c <"$home/go/bin/gpa")" 57900000

# The sessions of the README: lines from "$ gpa" to the end of the block.
sessions=0
while IFS= read -r line; do
  if [ "$line" = '```' ] && [ -n "${command:-}" ]; then
    began=$SECONDS
    (cd "$home/gpa" && fresh bash -c "$command") >"$home/got" 2>"$home/messages" || [ $? = 1 ] # gpa check finds errors: status 1
    if ! diff "$home/shown" "$home/got"; then
      printf 'FAILED: %s prints what the README does not show\n' "$command"
      cat "$home/messages"
      exit 1
    fi
    printf '%4d s  %s\n' $((SECONDS - began)) "$command"
    command=
    sessions=$((sessions + 1))
  elif [[ $line == '$ gpa '* && $line != *' -- '* ]]; then # scripts/clients.sh has the programs
    command=${line#'$ '}
    : >"$home/shown"
  elif [ -n "${command:-}" ]; then
    printf '%s\n' "$line" >>"$home/shown"
  fi
done <"$home/gpa/README.md"
[ "$sessions" -gt 0 ]

# The rest of the README's commands, on a cubin of one's own in a folder of its own.
mkdir "$home/mine"
cp "$home/gpa/kernels/basic/saxpy/saxpy.cu" "$home/mine/"
gunzip -c "$home/gpa/kernels/basic/saxpy/saxpy.sm_70.cubin.gz" >"$home/mine/saxpy.cubin"
arguments=(--grid 128 --block 256 --arg i32:32768 --arg f32:2 --arg 'f32[32768]:uniform(0,1)' --arg 'f32[32768]:fill(1)')
mine="$home/mine/saxpy.cubin"
step gpa profile "$mine" "${arguments[@]}" --out "$home/before" --html "$home/before.html"
step gpa profile "$mine" "${arguments[@]}" --out "$home/after"
step gpa check "$mine" "${arguments[@]}"
step gpa report "$home/before" --html "$home/again.html"
step gpa compare "$home/before" "$home/after" --min-speedup 0.98 --markdown
step gpa pprof -disasm=saxpy "$home/before"
step gpa pprof -peek=. -addresses "$home/before/blame.pb.gz"
step go tool pprof -top -diff_base "$home/before/profile.pb.gz" "$home/after/profile.pb.gz"
step gpa disasm "$mine" --lines
step gpa arch v100
step gpa completion bash
printf '%4d s  in all, %d sessions of the README as shown\n' "$SECONDS" "$sessions"
