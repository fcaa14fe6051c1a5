//! Uses the command on a workspace, as a user does: see `dev/as_a_user.sh`.

use std::path::Path;
use std::process::Command;

#[test]
#[cfg(unix)]
fn as_a_user() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../dev/as_a_user.sh");
    let status = Command::new(script).env("CARGO_WHIPPET", env!("CARGO_BIN_EXE_cargo-whippet")).status().unwrap();
    assert!(status.success(), "see the output above");
}
