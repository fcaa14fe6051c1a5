#!/bin/sh
# Counts the instructions per transition of `whippet explore pi --set workers=7 --jobs 1` with valgrind. The number does
# not depend on the load of the machine. A second run on a smaller pi is subtracted, so that start and output do not
# count. Compares with baseline.txt and fails if more than 3 % above it. `--record` writes the number to baseline.txt.
set -eu
cd "$(dirname "$0")"
baseline=baseline.txt
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

command -v valgrind >/dev/null || { echo "valgrind is not installed" >&2; exit 2; }
cargo build --release --quiet --manifest-path ../Cargo.toml -p whippet-cli
whippet=${CARGO_TARGET_DIR:-../target}/release/whippet

# Prints instructions and transitions of one search.
count() {
    valgrind --tool=callgrind --callgrind-out-file="$scratch/callgrind" \
        "$whippet" explore pi --set workers="$1" --jobs 1 --json >"$scratch/report" 2>"$scratch/log"
    instructions=$(sed -n 's/^totals: *\([0-9]*\).*/\1/p' "$scratch/callgrind")
    transitions=$(sed -n 's/.*"transitions": *\([0-9]*\).*/\1/p' "$scratch/report" | head -n 1)
    echo "$instructions $transitions"
}

small=$(count 4)
large=$(count 7)
now=$(echo "$small $large" | awk '{ printf "%.1f", ($3 - $1) / ($4 - $2) }')
echo "pi(7): $large (instructions, transitions); pi(4): $small"
echo "instructions per transition: $now"

if [ "${1:-}" = --record ]; then
    echo "$now" >"$baseline"
    echo "recorded in $baseline"
    exit 0
fi
awk -v now="$now" '{
    printf "recorded: %s (now %+.1f %%)\n", $1, (now / $1 - 1) * 100
    exit now > $1 * 1.03
}' "$baseline"
