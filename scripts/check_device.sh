#!/usr/bin/env bash
# Everything that a new device should go through, in one go of about five minutes on 16 cores:
#
#     scripts/check_device.sh [FOLDER]
#
# Logs, figures and a summary are left in FOLDER (default: device-check). What checks results runs side by
# side; what measures time runs afterwards, by itself. Figures of the elementary functions are taken into
# the documentation with `python scripts/measure_mathematics.py --merge FOLDER/*.json`.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=${1:-device-check}
python=${PYTHON:-python3}
seconds=${VYRE_CHECK_SECONDS:-170} # for the part that checks
programs=${VYRE_CHECK_PROGRAMS:-3000}
workers=8
mkdir -p "$out"
: > "$out/summary.txt"
VYRE_WGPU_CACHE_DIR=$(mktemp -d)
export VYRE_WGPU_CACHE_DIR
trap 'rm -rf "$VYRE_WGPU_CACHE_DIR"' EXIT
pytest=("$python" -m pytest -q -p no:cacheprovider -o faulthandler_timeout=0)

# In the background: a name, and a command whose output goes into a log of that name.
check() {
    local name=$1
    shift
    (
        began=$SECONDS
        timeout -k 5 "$seconds" "$@" > "$out/$name.log" 2>&1
        echo "$name: status $?, $((SECONDS - began)) s" >> "$out/summary.txt"
    ) &
}

"$python" -m vyre_wgpu info | head -20
check all-inputs "$python" scripts/measure_mathematics.py --exhaustive \
    --seconds $((seconds - 25)) --out "$out/all-inputs.json"
check random-300 "${pytest[@]}" tests/fuzz/test_random_programs.py -k 300
for ((worker = 1; worker <= workers; worker++)); do
    check "random-$worker" env VYRE_TEST_FUZZ_PROGRAMS=$((programs / workers)) \
        VYRE_TEST_FUZZ_SEED="5$worker" "${pytest[@]}" tests/fuzz/test_random_programs.py -m slow
done
check wgsl "${pytest[@]}" tests/wgsl --deselect tests/wgsl/test_operations.py
check operations "${pytest[@]}" tests/wgsl/test_operations.py
check mathematics "${pytest[@]}" tests/mathematics tests/ir/test_random.py tests/fuzz/test_found.py
check dispatch "${pytest[@]}" tests/pipeline tests/runtime tests/buffer tests/backends
check programs "${pytest[@]}" tests/programs
if "$python" -c 'import wgpu.backends.wgpu_native, wgpudawn' 2> /dev/null; then
    check second-compiler "$python" scripts/second_compiler.py --adapter tests/wgsl/golden/*.wgsl
fi
wait
sort "$out/summary.txt"
grep -hE '^(FAILED|ERROR) ' "$out"/*.log || true

timeout 60 "$python" scripts/measure_mathematics.py --speed --seconds 40 --out "$out/speed.json" \
    2>&1 | tee "$out/speed.log" | tail -40
timeout 60 "$python" benchmarks/dispatch.py 2>&1 | tee "$out/benchmark.log" | tail -40
! grep -qv 'status 0,' "$out/summary.txt"
