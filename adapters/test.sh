#!/bin/sh
# Tests the packages here that are not members of the workspace: the stand-in for tokio, the same small programs
# on the real tokio, and unmodified libraries on the stand-in.
set -eu
cd "$(dirname "$0")"
(cd tokio && cargo test --quiet)
(cd conformance && cargo test --quiet)
(cd libraries && cargo test --quiet)
