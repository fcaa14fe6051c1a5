#!/bin/sh
# Counts the instructions of a lock and an unlock with valgrind. The number does not depend on the load of the machine.
# `lock_cost calls` has clients that call a server, `lock_cost locks` clients that lock and unlock; both have the same
# traces. A smaller search is subtracted, so that start and output do not count. An ordinary delivery is one of the first
# program. A lock and an unlock are three deliveries of the second program (the request, the reply, the release) and must
# cost no more than two ordinary ones.
set -eu
cd "$(dirname "$0")"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

command -v valgrind >/dev/null || { echo "valgrind is not installed" >&2; exit 2; }
cargo build --release --quiet --manifest-path ../Cargo.toml -p whippet --example lock_cost
program=${CARGO_TARGET_DIR:-../target}/release/examples/lock_cost

# Prints instructions and transitions of one search.
count() {
    valgrind --tool=callgrind --callgrind-out-file="$scratch/callgrind" \
        "$program" "$1" 3 "$2" >"$scratch/report" 2>"$scratch/log"
    instructions=$(sed -n 's/^totals: *\([0-9]*\).*/\1/p' "$scratch/callgrind")
    echo "$instructions $(sed 's/.*, \([0-9]*\) transitions/\1/' "$scratch/report")"
}

# Instructions per transition.
each() {
    small=$(count "$1" 2)
    large=$(count "$1" 3)
    echo "$small $large" | awk '{ printf "%.1f", ($3 - $1) / ($4 - $2) }'
}

calls=$(each calls)
locks=$(each locks)
awk -v calls="$calls" -v locks="$locks" 'BEGIN {
    printf "instructions per delivery: %s with calls, %s with locks\n", calls, locks
    printf "a lock and an unlock: %.0f, two ordinary deliveries: %.0f\n", 3 * locks, 2 * calls
    exit 3 * locks > 2 * calls
}'
