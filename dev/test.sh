#!/bin/sh
# Tests the packages that are not members of the workspace: the shim of tokio, the same small programs on the real tokio, the
# shim against a reference model, and unmodified libraries on the shim; then all of it together, as a user has it.
# More on libraries, which takes longer: libraries/full.sh.
set -eu
cd "$(dirname "$0")"
(cd ../shims/tokio && cargo test --quiet)
(cd conformance && cargo test --quiet)
(cd tokio-reference && cargo test --quiet)
(cd tokio-judge && cargo test --quiet)
(cd libraries && cargo test --quiet)
./as_a_user.sh
