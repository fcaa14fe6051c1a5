#!/bin/sh
# What takes longer than there is time for after each change.
# The unit tests and examples of ractor and kameo, as they come from the registry, on the shim in one order:
# which tests fail must be what the table in docs/tokio.md says, no more and no less.
# Then, programs whose end is decided by memory of these libraries that tokio does not see.
# Usage: full.sh COMMAND, where COMMAND is a built `cargo-whippet`.
set -eu
command=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
# Kept between runs, so that dependencies are built once.
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$here/../../target}/full"
# Tests that look at backtraces read all of it.
export CARGO_PROFILE_DEV_DEBUG=0
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT

fail() {
    cat "$directory/out" "$directory/err"
    echo "$*"
    exit 1
}

# package NAME DROPPED…: a copy of a package of the registry without some of its dev-dependencies.
package() {
    name=$1
    shift
    manifest=$(cargo metadata --format-version 1 --manifest-path "$here/Cargo.toml" |
        grep -o "\"manifest_path\":\"[^\"]*/$name-[0-9.]*/Cargo.toml\"" | cut -d '"' -f 4)
    mkdir -p "$directory/$name"
    cp -r "$(dirname "$manifest")/." "$directory/$name"
    cd "$directory/$name"
    rm -f Cargo.lock
    awk -v dropped="$*" '
        /^\[/ {
            drop = /^\[\[(bench|test)\]\]$/
            count = split(dropped, names, " ")
            for (k = 1; k <= count; k++) drop = drop || $0 ~ ("dev-dependencies\\." names[k] "\\]$")
        }
        !drop' Cargo.toml >kept
    { cat kept && echo "[workspace]"; } >Cargo.toml
}

# stub NAME: an empty package of that name, as a dev-dependency of the package at hand.
stub() {
    mkdir -p "$directory/stubs/$1/src"
    printf '[package]\nname = "%s"\nversion = "0.0.0"\n[lib]\n%s\n[workspace]\n' "$1" "${2:-}" \
        >"$directory/stubs/$1/Cargo.toml"
    : >"$directory/stubs/$1/src/lib.rs"
    printf '[dev-dependencies.%s]\npath = "%s/stubs/%s"\n' "$1" "$directory" "$1" >>Cargo.toml
}

# tests NAME: all unit tests of the package at hand.
tests() {
    "$command" whippet test --once --lib >"$directory/out" 2>"$directory/err" || [ $? = 1 ] || cat "$directory/err"
    sed -n 's/^test \([^ ]*\) \.\.\. \(FAILED\|NO VERDICT\).*/\1/p' "$directory/out" | sort >"$directory/failed"
    sed -n "s/^| $1 | \`\([^\`]*\)\` .*/\1/p" "$here/../../docs/tokio.md" | sort >"$directory/known"
    grep "^test result: " "$directory/out" | sed "s/^test result: [^.]*/$1/" || exit 1
    diff "$directory/known" "$directory/failed" && return
    echo "the tests of $1 that fail (>) are not those that docs/tokio.md explains (<)"
    sed -n '/^failures:/,$p' "$directory/out"
    exit 1
}

# runs NAME OPTIONS…: an example of the package at hand comes to its end.
runs() {
    if ! timeout 300 "$command" whippet run --quiet --example "$@" >"$directory/out" 2>"$directory/err"; then
        fail "the example $1 does not come to its end"
    fi
    echo "example $1: ok"
}

package ractor criterion trybuild
stub criterion
stub trybuild
# The only one with something in it; its own package is not in the registry.
stub ractor_example_entry_proc "proc-macro = true"
cat >"$directory/stubs/ractor_example_entry_proc/src/lib.rs" <<'RUST'
extern crate proc_macro;
use proc_macro::TokenStream;
#[proc_macro_attribute]
pub fn ractor_example_entry(_: TokenStream, main: TokenStream) -> TokenStream {
    "#[tokio::main]".parse::<TokenStream>().unwrap().into_iter().chain(main).collect()
}
RUST
tests ractor
# Not the two for load: a hundred thousand actors, a million messages.
for file in examples/*.rs; do
    case $file in
    *whole_lotta*) ;;
    *actor_macro*) runs actor_macro --features actor-macros ;;
    *) runs "$(basename "$file" .rs)" ;;
    esac
done

package kameo criterion libp2p metrics-exporter-prometheus
tests kameo
# hooks CODE OPTIONS…: the programs in `hooks`, explored, end with this code.
hooks() {
    code=$1
    shift
    "$command" whippet test "$@" >"$directory/out" 2>"$directory/err" && found=0 || found=$?
    [ "$found" = "$code" ] || fail "the programs in \`hooks\` end with $found"
}

# says TEXT: the last run said so.
says() {
    grep -q -F -e "$1" "$directory/out" || fail "this is not said: $1"
}

cp -r "$here/hooks" "$directory"
cd "$directory/hooks"
hooks 0
says "covered: every order of the operations of tasks on tokio's types"
says "not covered: memory that tasks share in other ways"
says "  kameo 0.22.2: "
says "  ractor 0.16.5: "
says "to cover it: cargo whippet test --hook kameo,ractor"
hooks 1 --hook kameo,ractor
says "the message was refused"
says "it has begun to stop"
echo "libraries on the shim: ok"
