#!/bin/sh
# Tests the packages here that are not members of the workspace: the stand-in for tokio, the same small programs
# on the real tokio, and unmodified libraries on the stand-in; then all of it together, as a user has it.
# More on libraries, which takes longer: libraries/full.sh.
set -eu
cd "$(dirname "$0")"
(cd tokio && cargo test --quiet)
(cd conformance && cargo test --quiet)
(cd libraries && cargo test --quiet)
./as_a_user.sh
