# Tests that end their process, and runs that are cut short. Sourced by `as_a_user.sh`, whose functions it uses.

# says_not TEXT: the last run did not say so.
says_not() {
    ! grep -q -F -e "$1" "$directory/out" "$directory/err" || fail "this is said: $1"
}

# A process that ends without an answer: never "ok", and with the steps that led there.
run 1 test -p faults --no-hook -- --skip fails_early
says "test passes ... ok"
for name in exits exits_in_every_order exits_without_tokio exits_in_one_order_only is_killed depends_on_a_static spins; do
    says "test $name ... NO VERDICT"
done
for name in exits_with_a_failure aborts overflows_its_stack panics_while_it_panics fails_and_depends_on_a_static; do
    says "test $name ... FAILED"
done
says "1 passed; 5 failed; 7 without a verdict; 0 ignored"
says "no verdict: the test ended its own process, with exit code 0 (\`std::process::exit\`) in step 3"
says "crash: the test ended its own process, with exit code 3 (\`std::process::exit\`) in step 3"
says "crash: the process was ended by SIGABRT in step 3"
says "crash: the process was ended by SIGSEGV in step 3"
says "help: this is a stack overflow"
says "no verdict: the process was ended by SIGKILL in step 3"
says "  1. task 2 sends i32 to channel 1 (faults/tests/faults.rs:"
says "no verdict: livelock: from step "
says " on, an execution repeats 1 step, and goes on after 10000 steps: main continues after yielding"
says "steps 2–10,000 repeat the step before"
says_not "internal error"
schedules=$CARGO_TARGET_DIR/whippet/schedules
for name in exits exits_with_a_failure aborts overflows_its_stack panics_while_it_panics is_killed; do
    says "replay: cargo whippet replay $schedules/faults.test-faults.$name-crash.json --no-hook -p faults"
done
for name in exits_with_a_failure aborts overflows_its_stack panics_while_it_panics; do
    run 1 replay "$schedules/faults.test-faults.$name-crash.json" --no-hook -p faults
    says "crash: the "
done
run 2 replay "$schedules/faults.test-faults.exits-crash.json" --no-hook -p faults
says "no verdict: the test ended its own process, with exit code 0"

# Findings that a new process does not show are none.
run 2 test -p faults --no-hook -- --exact depends_on_a_static
says "not deterministic: «assertion: assertion \`left == right\` failed: this is not the first execution"
says "was replayed in a new process: it ends well"
says "Create such state anew in the body of the"
run 1 test -p faults --no-hook -- --exact fails_and_depends_on_a_static
says "not deterministic: «assertion: "
says "panic: called \`Result::unwrap()\` on an \`Err\` value"
says "covered: every order of the operations"
run 2 test -p faults --no-hook -- --exact depends_on_a_static exits
says_not "covered: every order"

# is_gone ID: within some seconds, no process of this id exists.
is_gone() {
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        kill -0 "$1" 2>/dev/null || return 0
        sleep 0.3
    done
    fail "process $1 still runs"
}

tells_finding() {
    grep -q -F "found in fails_early_and_goes_on, whose search goes on:" "$directory/out" && return 0
    ! has_ended $command || fail "the search ended early"
    return 1
}

# search: begins a search that finds something and goes on for long, and waits until the finding is told.
search() {
    rm -f "$PID_FILE" "$schedules"/*fails_early_and_goes_on*
    # The shell opens the file for the new process only after it went on here.
    : >"$directory/out"
    cargo-whippet whippet test -p faults --limit-seconds 600 -- fails_early_and_goes_on \
        >"$directory/out" 2>"$directory/err" &
    command=$!
    ready "the first finding" tells_finding
    says "panic: the last two came in the wrong order at faults/tests/faults.rs:"
}

for signal in INT TERM HUP; do
    search
    kill -$signal $command
    finish $command
    [ "$found" = 1 ] || fail "after SIG$signal, the run ended with $found, not with 1"
    says "test fails_early_and_goes_on ... FAILED"
    says "0 passed; 1 failed; 0 without a verdict; 0 ignored"
    is_gone "$(cat "$PID_FILE")"
done

# If this process is killed, the test ends, and the finding is on disk.
search
kill -KILL $command
finish $command
is_gone "$(cat "$PID_FILE")"
left=$CARGO_TARGET_DIR/whippet/run-$command
[ -d "$left" ] || fail "a killed run leaves its directory"
run 1 replay "$schedules/faults.test-faults.fails_early_and_goes_on-1.json" -p faults
says "panic: the last two came in the wrong order"
[ ! -d "$left" ] || fail "the directory of a killed run stays"

# A test that does not stop on request is killed.
rm -f "$PID_FILE"
cargo-whippet whippet test -p doors -- --ignored does_not_stop >"$directory/out" 2>"$directory/err" &
command=$!
ready "the process of does_not_stop" [ -s "$PID_FILE" ]
kill -TERM $command
finish $command
[ "$found" = 2 ] || fail "a run with a test that does not stop ended with $found, not with 2"
says "test does_not_stop ... NO VERDICT"
says "its process did not stop on request and was killed"
is_gone "$(cat "$PID_FILE")"

# A full disk: the answer of a test takes another way.
binary=$(find "$CARGO_TARGET_DIR/whippet/build/debug/deps" -name 'faults-*' -type f -perm -u+x -printf '%T@ %p\n' | sort -n | tail -1 | cut -d' ' -f2)
if [ -c /dev/full ]; then
    files='"reply":"/dev/full","progress":"/dev/full","stop":"/nowhere/stop","found":"/dev/full","journal":"/dev/full","attempt":"/dev/full","schedules":"/dev/null/none","stem":"full"'
    version=$(sed -n 's/^pub const VERSION: u32 = \([0-9]*\);$/\1/p' "$here/../shims/protocol/src/message.rs")
    session="{\"version\":$version,\"message\":{\"settings\":{},\"work\":\"Search\",\"report\":false,\"replay\":null,\"leave_out_last\":false,\"parent\":null,\"files\":{$files},\"replay_options\":\"\"}}"
    TMPDIR=/dev/null/none WHIPPET_SESSION=$session "$binary" --exact fails_and_depends_on_a_static --nocapture \
        >"$directory/out" 2>"$directory/err" && fail "the test passed"
    says "whippet reply: {\"version\":$version,"
    says "the second came first"
    says "replay: the schedule could not be saved: "
    # Output that nobody takes.
    cargo whippet test -p faults -- --exact fails_and_depends_on_a_static >/dev/full 2>"$directory/err" && found=0 || found=$?
    : >"$directory/out"
    [ "$found" = 1 ] || fail "without room for its output, the run ended with $found, not with 1"
fi
if [ "$(id -u)" = 0 ] && mkdir "$directory/small" && mount -t tmpfs -o size=4k none "$directory/small" 2>/dev/null; then
    # No room for schedules: they go to the directory for temporary files.
    head -c 4096 /dev/zero >"$directory/small/filler" || true
    mv "$schedules" "$schedules.away"
    ln -s "$directory/small" "$schedules"
    mkdir "$directory/temporary"
    TMPDIR=$directory/temporary run 1 test -p faults -- --exact fails_and_depends_on_a_static
    says "replay: cargo whippet replay $directory/temporary/faults.test-faults.fails_and_depends_on_a_static-1.json -p faults"
    [ "$(ls "$directory/small")" = filler ] || fail "an empty file stays on the full disk"
    rm "$schedules"
    mv "$schedules.away" "$schedules"
    umount "$directory/small"
fi

# A target directory that cannot be written: what was built before is used through the directory for temporary files.
: >"$directory/file"
mkdir "$directory/elsewhere"
ln -s "$CARGO_TARGET_DIR/whippet" "$directory/elsewhere/whippet$(pwd -P | tr -c '[:alnum:]\n' -)"
TMPDIR=$directory/elsewhere CARGO_TARGET_DIR=$directory/file/target run 1 test -p faults -- --exact fails_and_depends_on_a_static
says "note: $directory/file/target/whippet cannot be written"
says "test fails_and_depends_on_a_static ... FAILED"
