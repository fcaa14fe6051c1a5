//! Runs the built command.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The result of one run of the command.
pub(crate) struct Called {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

pub(crate) fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_whippet"));
    command.args(arguments).stdin(Stdio::null());
    command
}

pub(crate) fn called(output: Output) -> Called {
    Called {
        code: output.status.code().expect("it ended by itself"),
        out: String::from_utf8(output.stdout).expect("text"),
        err: String::from_utf8(output.stderr).expect("text"),
    }
}

pub(crate) fn whippet(arguments: &[&str]) -> Called {
    called(command(arguments).output().expect("it starts"))
}

/// Returns the object printed with `--json`, and the exit code.
pub(crate) fn json(arguments: &[&str]) -> (Value, i32) {
    let called = whippet(&[arguments, &["--json"]].concat());
    (serde_json::from_str(&called.out).unwrap_or_else(|e| panic!("{e}: {} {}", called.out, called.err)), called.code)
}

/// Creates a directory used only by this test.
pub(crate) fn directory(test: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).expect("the build's own directory can be written to");
    path
}
