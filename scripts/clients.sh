#!/usr/bin/env bash
# Runs a program of each kind of client end to end, as docs/programs.md says that they run: one of numba-cuda, and one of the CUDA runtime,
# which gpa compiles. The clients come from the Python package index into a folder that is removed again; where that cannot be
# reached the script says so, and is done. A client of the driver, by ctypes, is among the tests (TestProgramOfPython).
set -euo pipefail
cd "$(dirname "$0")/.."

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
unset CUDA_HOME
python3 -m venv "$folder/clients"
began=$SECONDS
if ! "$folder/clients/bin/pip" install -q --disable-pip-version-check numba-cuda==0.30.4 numba==0.65.1 cuda-bindings==12.9.5 nvidia-cuda-nvrtc-cu12==12.9.86 \
  nvidia-cuda-nvcc==13.5.* nvidia-cuda-runtime==13.5.* nvidia-cuda-crt==13.5.* nvidia-nvvm==13.5.* nvidia-cuda-cccl >"$folder/output" 2>&1; then
  printf 'no client could be installed:\n'
  tail -n 3 "$folder/output"
  exit 0
fi
printf '%4d s  to install the clients\n' $((SECONDS - began))
export VIRTUAL_ENV="$folder/clients" PATH="$folder/clients/bin:$PATH" XDG_CACHE_HOME="$folder/cache"
go build -o "$folder/gpa" ./cmd/gpa

# step runs gpa, whose output has to hold a text, and says how long it took.
step() {
  local want=$1 began=$SECONDS
  shift
  if ! "$folder/gpa" "$@" >"$folder/output" 2>&1 || ! grep -qF -- "$want" "$folder/output"; then
    printf 'FAILED: gpa %s: there is no "%s"\n' "$*" "$want"
    cat "$folder/output"
    exit 1
  fi
  printf '%4d s  gpa %s\n' $((SECONDS - began)) "$*"
}

# The README's first session, and the cycles that it says the changed program takes.
session='gpa profile --top 1 -- python docs/norms.py'
"$folder/gpa" ${session#gpa } 2>/dev/null >"$folder/output"
if ! awk -v session="\$ $session" '$0 == "```" { shown = 0 } shown; $0 == session { shown = 1 }' README.md | diff - "$folder/output"; then
  printf 'FAILED: the README shows another output of %s\n' "$session"
  exit 1
fi
step "$(grep -o 'takes [0-9,]* cycles' README.md | cut -d ' ' -f 2-)" profile --try 0 -- python docs/norms_lanes.py

cd cmd/gpa/testdata/clients
step 'rounds_2 on a100' profile --try 0 --kernels 4 -- python four.py
step 'the sum is 9.095' run -- python sums.py
step 'cuda.shfl_xor_sync' profile --try 0 -- python sums.py
step 'x when tried' profile -- python sums.py
step 'captures: 1' capture --out "$folder/captures" -- python sums.py
step 'values as expected' run "$folder"/captures/*sums
step 'cuda.shfl_xor_sync' profile --try 0 "$folder"/captures/*sums
step 'nothing found' check -- python sums.py
step '1000 squares, 0 wrong' run squares.cu
step 'squares.cu:10' profile --try 0 squares.cu -- 3000
