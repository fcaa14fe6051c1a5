#!/bin/sh
# Uses `cargo whippet` as a user does, in a workspace that must not change.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
target=${CARGO_TARGET_DIR:-$here/../target}
mkdir -p "$target"
target=$(cd "$target" && pwd -P)
directory=$(mktemp -d)
trap 'end' EXIT

# A hang must not stop whoever waits for this script: after half an hour, it says what it does, and fails. What runs in the
# foreground is killed, because the shell handles the signal only then.
at="the preparation"
(sleep 1800; kill -TERM $$; pkill -KILL -P $$ cargo) >/dev/null 2>&1 &
guard=$!
trap 'fail "no end in sight, at: $at"' TERM
end() {
    pkill -P $guard 2>/dev/null || :
    kill $guard 2>/dev/null || :
    rm -rf "$directory"
}

# The test of cargo-whippet says which command is meant; without it, the one of this repository is built.
if [ -z "${CARGO_WHIPPET:-}" ]; then
    cargo build --quiet --manifest-path "$here/../Cargo.toml" -p cargo-whippet --target-dir "$target"
    CARGO_WHIPPET=$target/debug/cargo-whippet
fi
PATH=$(dirname "$CARGO_WHIPPET"):$PATH
mkdir "$directory/user"

# Kept between runs, so that dependencies are built once.
export CARGO_TARGET_DIR="$target/as-a-user"
export CARGO_PROFILE_DEV_DEBUG=0
# The user's tree must not change here; `native.sh` tests what is kept of failures.
export WHIPPET_REGRESSIONS=off
cp -r "$here/user/." "$directory/user"
cd "$directory/user"
# A dependency beside the workspace.
mkdir -p "$directory/beside/src"
printf '[package]\nname = "beside"\nedition = "2024"\n[workspace]\n' >"$directory/beside/Cargo.toml"
: >"$directory/beside/src/lib.rs"
for member in bank doors; do
    cargo add --quiet --package "$member" --path "$directory/beside"
done
grep -q -F '"../../beside"' bank/Cargo.toml || { echo "as a user: the path is not relative" && exit 1; }
git init --quiet .
cargo generate-lockfile --quiet
git add --all
git -c user.name=user -c user.email=user@example.org commit --quiet --message start

fail() {
    echo "as a user: $*" >&2
    cat "$directory/out" "$directory/err" >&2
    exit 1
}

# ready TEXT COMMAND…: waits until this command succeeds, for at most two minutes; TEXT says what is awaited.
ready() {
    at=$1
    shift
    tries=0
    until "$@"; do
        tries=$((tries + 1))
        [ $tries -lt 1200 ] || fail "after two minutes still waiting for $at"
        sleep 0.1
    done
}

# finish ID: waits for the end of a command that was told to end, and sets `found` to its code.
finish() {
    at="the end of process $1"
    ready "$at" has_ended "$1"
    wait "$1" && found=0 || found=$?
}

# has_ended ID: a child of this shell has ended, though the shell may still hold its code.
has_ended() {
    case $(ps -o stat= -p "$1" 2>/dev/null) in '' | Z*) return 0 ;; *) return 1 ;; esac
}

# run CODE ARGUMENTS…: `cargo whippet ARGUMENTS…` ends with this code and changes nothing.
run() {
    code=$1
    shift
    at="cargo whippet $*"
    cargo whippet "$@" >"$directory/out" 2>"$directory/err" </dev/null && found=0 || found=$?
    [ "$found" = "$code" ] || fail "$* ended with $found, not with $code"
    [ -z "$(git status --porcelain)" ] || fail "$* changed the user's tree"
}

# says TEXT: the last run said so, on either channel.
says() {
    grep -q -F -e "$1" "$directory/out" "$directory/err" || fail "this is not said: $1"
}

# denies TEXT: the last run did not say so.
denies() {
    ! grep -q -F -e "$1" "$directory/out" "$directory/err" || fail "this is said: $1"
}

run 1 test -p bank
says "test first_come ... ok (6 executions"
says "test full_both_ways ... FAILED"
says "deadlock: all tasks are blocked before the test finished at bank/tests/bank.rs:"
says "test nine_customers ... ignored"
says "test in_one_order ... ok (one order only)"
says "test one_customer ... ok (1 execution"
says "test plain ... ok"
says "panic: overdrawn: -60 at bank/tests/bank.rs:15"
says "  needs the runtime to stall for 1 ms at step 1"
says "replay: cargo whippet replay "
says "test untidy ... ok"
says "5 passed; 2 failed; 0 without a verdict; 2 ignored"

schedule=$(sed -n 's/^ *replay: cargo whippet replay \([^ ]*bank.test-bank.two_customers-1.json\).*/\1/p' "$directory/out")
run 1 replay "$schedule"
says "panic: overdrawn: -60"
# The overdraft needs a stall of one millisecond.
run 0 test -p bank --test bank --regressions=off --stall 999us -- two_customers
run 1 test -p bank --test bank --regressions=off --stall 1ms -- two_customers
run 2 test -p bank --stall 5
says "expected a duration with a unit, such as 100ms, 1.5s or unlimited"
if command -v gdb >/dev/null; then
    run 0 replay "$schedule" --debug
else
    run 2 replay "$schedule" --debug
fi
says "WHIPPET_SESSION="
says "\"replay\":\"$schedule\""

# Options, and their former names.
run 0 test -p bank one_customer
run 1 test -p bank --leaked-tasks untidy
says "tasks are still blocked when the test ends"
run 1 test -p bank --unreceived untidy
says "a message sent to channel 1 is never received"
run 0 test -p bank --preempt-everywhere one_customer
run 1 test -p bank --left-behind --untaken --deep untidy
run 0 test -p bank --no-merge one_customer

# Limits, on the command line and in a manifest.
run 2 test -p bank --limit-executions 1 -- first_come
says "test first_come ... NO VERDICT"
says "no verdict after 1 execution: the limit on executions"
run 2 test -p bank -- --ignored nine_customers
# The limit is 1,000. One execution was spent before the search refined its dependence relation and began again.
says "no verdict after 999 executions: the limit on executions"

# Ctrl-C: what is known so far.
cargo-whippet whippet test -p bank --limit-executions 1000000000 -- --ignored nine_customers \
    >"$directory/out" 2>"$directory/err" &
command=$!
makes_progress() {
    [ -n "$(find "$CARGO_TARGET_DIR/whippet" -name '*.nine_customers.progress' -size +0)" ]
}
ready "the progress of nine_customers" makes_progress
kill -INT $command
finish $command
[ "$found" = 2 ] || fail "an interrupted run ended with $found, not with 2"
says ": an interruption"

# A second Ctrl-C: nothing keeps running.
export PID_FILE="$directory/child"
cargo-whippet whippet test -p doors -- --ignored does_not_stop >"$directory/out" 2>"$directory/err" &
command=$!
ready "the process of does_not_stop" [ -s "$PID_FILE" ]
kill -INT $command
sleep 0.3
kill -INT $command
finish $command
[ "$found" = 130 ] || fail "a run that was interrupted twice ended with $found, not with 130"
! kill -0 "$(cat "$PID_FILE")" 2>/dev/null || fail "a test still runs after the second Ctrl-C"

# The overlay has links into the workspace only.
overlay=$CARGO_TARGET_DIR/whippet/overlay
[ -L "$overlay/bank/src" ] || fail "there is no overlay"
find "$overlay" -type l -exec readlink {} + | grep -v -F "$directory/user/" && fail "the overlay has links to other places"

# Misuse.
run 2 test --reductoin optimal
says 'there is no option `--reductoin`; did you mean `--reduction`?'
run 2 test --hook ractor -p bank
says 'cannot hook `ractor`: no package here depends on it; the dependencies are: '
run 2 replay nowhere.json
says 'cannot read nowhere.json'
run 2 run
says 'there is no program here: select one with --bin or --example'

# What is not modelled, and threads, which are tasks.
run 1 test --manifest-path doors/Cargo.toml
for name in nothing_of_it thread scope park time_of_the_system hash_map; do
    says "test $name ... ok"
done
says "main is blocked waiting to be unparked at parking 1 (doors/tests/doors.rs:"
[ "$(uname -s)" != Linux ] || denies "reads the real clock"
for item in net::TcpListener::bind net::TcpStream::connect fs::read_to_string process::Command::status signal::ctrl_c io::stdin; do
    says "whippet's shim does not model tokio's $item, used at doors/"
done
says "6 passed; 1 failed; 6 without a verdict"
run 2 test --manifest-path doors/Cargo.toml --no-hook thread
says "whippet does not model threads of the operating system"
says "it sends i32 to oneshot 1 at doors/tests/doors.rs:"
. "$here/faults.sh"
. "$here/native.sh"
echo "as a user: ok"
