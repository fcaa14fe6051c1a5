#!/bin/sh
# What a user sees: `cargo whippet`, installed from sources that are gone, in a workspace that must not change.
# Usage: as_a_user.sh COMMAND, where COMMAND is the installed `cargo-whippet`.
set -eu
whippet=$1
here=$(cd "$(dirname "$0")" && pwd)
# Kept between runs, so that dependencies are built once.
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$here/../target}/as-a-user"
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cp -r "$here/user/." "$directory"
cd "$directory"
git init --quiet .
cargo generate-lockfile --quiet
git add --all
git -c user.name=user -c user.email=user@example.org commit --quiet --message start

fail() {
    echo "as a user: $*" >&2
    cat out err >&2
    exit 1
}

# run CODE ARGUMENTS…: `cargo whippet ARGUMENTS…` ends with this code and changes nothing.
run() {
    code=$1
    shift
    set +e
    "$whippet" whippet "$@" >out 2>err
    found=$?
    set -e
    [ "$found" = "$code" ] || fail "$* ended with $found, not with $code"
    [ -z "$(git status --porcelain | grep -v -E ' (out|err)$')" ] || fail "$* changed the user's tree"
}

# says TEXT: the last run said so, on either channel.
says() {
    grep -q -F -e "$1" out err || fail "this is not said: $1"
}

run 1 test -p bank
says "test first_come ... ok (6 executions"
says "test full_both_ways ... FAILED"
says "deadlock: nothing can happen any more, and the test is not over at bank/tests/bank.rs:"
says "test ignored ... ignored"
says "test in_one_order ... ok (one order only)"
says "test one_customer ... ok (1 execution"
says "test plain ... ok"
says "panic: overdrawn: -60 at bank/tests/bank.rs:11"
says "replay: cargo whippet replay "
says "4 passed; 2 failed; 0 without a verdict; 1 ignored"

schedule=$(sed -n 's/^ *replay: cargo whippet replay \([^ ]*two_customers-1.json\).*/\1/p' out)
run 1 replay "$schedule"
says "panic: overdrawn: -60"

run 0 test -p bank one_customer
run 2 test -p bank --limit-executions 1 -- first_come
says "test first_come ... NO VERDICT"
says "no verdict after 1 execution: the limit on executions"
run 2 test --reductoin optimal
says 'there is no option `--reductoin`; is `--reduction` meant?'
run 2 test --hook ractor -p bank
says 'nothing here depends on a crate `ractor` to hook; there are: '

run 1 test --manifest-path doors/Cargo.toml
says "test nothing_of_it ... ok"
for item in net::TcpListener::bind net::TcpStream::connect fs::read_to_string process::Command signal::ctrl_c io::stdin; do
    says "whippet's stand-in does not model tokio's $item, used at doors/"
done
says "1 passed; 1 failed; 6 without a verdict"
echo "as a user: all is well"
