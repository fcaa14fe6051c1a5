# shellcheck shell=sh disable=SC2154
# Uses `cargo whippet` on a package with tests of actors and of tokio's tasks. Sourced by `as_a_user.sh`.
unset WHIPPET_REGRESSIONS
mkdir -p "$directory/shop/src"
cp -r "$here/shop/." "$directory/shop"
cd "$directory/shop"
: >src/lib.rs
cat >Cargo.toml <<TOML
[package]
name = "shop"
version = "0.1.0"
edition = "2024"
[dev-dependencies]
tokio = { version = "1", features = ["full"] }
whippet = { path = "$here/../crates/whippet" }
[workspace]
TOML

# shop CODE ARGUMENTS…: `cargo whippet ARGUMENTS…` ends with this code.
shop() {
    code=$1
    shift
    at="cargo whippet $*"
    cargo whippet "$@" >"$directory/out" 2>"$directory/err" </dev/null && found=0 || found=$?
    [ "$found" = "$code" ] || fail "$* ended with $found, not with $code"
}

silent() {
    ! grep -q -F -e "$1" "$directory/out" "$directory/err" || fail "this is said: $1"
}

# Both kinds in one run, and every kind of report.
shop 1 test --json --junit "$directory/junit.xml" --github
mv "$directory/out" "$directory/json"
: >"$directory/out"
grep -q '"format": "whippet tests"' "$directory/json" || fail "there is no JSON object"
grep -q '"kind": "native"' "$directory/json" || fail "there is no native test"
grep -q '"kind": "tokio"' "$directory/json" || fail "there is no tokio test"
if command -v python3 >/dev/null; then
    python3 -c 'import json, sys, xml.dom.minidom
tests = json.load(open(sys.argv[1]))
assert tests["version"] == 1 and tests["failed"] == 3 and tests["no_verdict"] == 1 and tests["passed"] == 4, tests
xml.dom.minidom.parse(sys.argv[2])' "$directory/json" "$directory/junit.xml" || fail "a report is damaged"
fi
grep -q '<testsuites name="whippet" tests="8" failures="3" errors="1"' "$directory/junit.xml" || fail "no JUnit report"
says "test enough_for_two ... ok (6 executions"
says "test never_oversold ... FAILED (6 executions"
says "test too_many_tills ... NO VERDICT (100 executions"
says "executions in total"
says "help: raise the limit for one run: WHIPPET_LIMIT_EXECUTIONS="
says "test known_to_fail ... ok"
says "test tokio_holds ... ok"
says "test tokio_oversold ... FAILED"
says "warning: nothing happens in this test: no message is sent: nothing_happens"
says "::error file=tests/shop.rs,line="
says "kept in whippet-regressions/"
for name in never_oversold tokio_oversold; do
    [ "$(find whippet-regressions -name "shop.$name-*.json" | wc -l)" = 1 ] || fail "no schedule of $name was kept"
done
[ "$(find whippet-regressions -type f | wc -l)" = 3 ] || fail "other schedules were kept"

if [ "$(uname)" = Linux ]; then
    page=$CARGO_TARGET_DIR/whippet/schedules/shop.test-shop.never_oversold.html
    grep -q '"output":\["a till sells 4"\]' "$page" || fail "the page does not show what was printed"
    grep -q '"output":\["5 apples are left"\]' "$page" || fail "the page does not show what was printed to standard error"
fi
silent "a till sells"
silent "apples are left"

# The replay of a test that names its program otherwise.
schedule=$(sed -n "s/^ *replay: cargo whippet replay \([^ ]*with_a_name_of_its_own-1.json\).*/\1/p" "$directory/err")
shop 1 replay "$schedule"
says "oversold: -1 apples left"

# On one thread, the free locks of this test are no points at which tasks switch.
shop 1 test --regressions=off -- tokio_oversold
says "  needs a runtime with several threads"
shop 0 test --regressions=off --threads one -- tokio_oversold
says "test tokio_oversold ... ok ("
says " s), would fail on a multi-thread runtime"
says "  needs a runtime with several threads"
says "would fail on a multi-thread runtime:"

# Kept schedules go first, until they are fixed.
shop 1 test
says "whippet-regressions/shop.never_oversold-"
says ": this schedule still fails"
shop 1 test --regressions=off
silent "this schedule still fails"
echo '{' >whippet-regressions/shop.enough_for_two-00000000.json
sed -i.before -e 's/>= 0, "oversold/>= -100, "oversold/' tests/shop.rs
shop 0 test --limit-executions 1000000 -- --skip known_to_fail
says "fixed: this schedule no longer fails"
says "whippet-regressions/shop.enough_for_two-00000000.json: cannot be used, delete it: this is no schedule"
sed -i.before -e 's/\[2, 4\]/[2, 3]/' tests/shop.rs
shop 0 test -- never_oversold
says ": outdated, delete it: step "
mv tests/shop.rs.before tests/shop.rs
rm -r whippet-regressions

# The environment.
export WHIPPET_LIMIT_EXECUTIONS=1
shop 2 test -- enough_for_two
says "no verdict after 1 execution: the limit on executions"
unset WHIPPET_LIMIT_EXECUTIONS
export WHIPPET_SEED=x
shop 2 test -- enough_for_two
says "WHIPPET_SEED=x is not understood: expected a number"
unset WHIPPET_SEED

serves() {
    grep -q "open http://127.0.0.1:" "$directory/err" && return 0
    ! has_ended "$server" || fail "the explorer does not start"
    return 1
}

# One test: compare, unfold, serve.
shop 0 compare enough_for_two
says "enough_for_two has 6 traces: every complete search needs at least as many executions."
says "  fifo "
shop 0 compare tokio_holds --json
says '"format": "whippet comparison"'
shop 0 unfold enough_for_two
says "digraph"
shop 0 unfold enough_for
shop 2 unfold no_such_test
says 'no test is named `no_such_test`'
for name in never_oversold tokio_oversold; do
    # The shell opens the file for the new process only after it went on here.
    : >"$directory/err"
    cargo-whippet whippet serve "$name" >"$directory/out" 2>"$directory/err" &
    server=$!
    ready "the explorer of $name" serves
    kill -INT "$server"
    finish "$server"
done
