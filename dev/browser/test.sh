#!/bin/sh
# Opens the pages that Whippet writes in a real browser (Debian's chromium) and validates traces against their schema.
# Installs the browser and the test's packages where they are missing. Screenshots are left in dev/browser/shots.
set -eu
cd "$(dirname "$0")"
if ! command -v chromium >/dev/null; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        apt-get update -qq
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null
    else
        echo "the browser tests need chromium: install it, for example with 'apt-get install chromium'" >&2
        exit 1
    fi
fi
[ -d node_modules ] && [ node_modules -nt package-lock.json ] || npm ci --silent --no-audit --no-fund
(cd ../.. && cargo build --quiet -p whippet-cli -p whippet-pages && cargo build --quiet -p whippet --example inventory)
"${CARGO_TARGET_DIR:-../../target}"/debug/whippet-pages time
node --test --test-reporter=spec .
