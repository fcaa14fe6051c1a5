//! The sources of the shim, written to a directory where cargo can build them.

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};

include!(concat!(env!("OUT_DIR"), "/sources.rs"));

/// The location of the written sources.
pub(crate) struct Layout {
    /// A hash that identifies the version of the sources.
    pub(crate) key: String,
    /// The package named tokio.
    pub(crate) tokio: PathBuf,
    /// The package that replaces `std` in hooked packages.
    pub(crate) std: PathBuf,
    /// The package that replaces `core` in hooked packages.
    pub(crate) core: PathBuf,
}

/// Writes the sources below `directory`, once per version of the sources.
pub(crate) fn lay_out(directory: &Path) -> Result<Layout, String> {
    let mut hasher = DefaultHasher::new();
    FILES.hash(&mut hasher);
    let key = format!("{:016x}", hasher.finish());
    let root = directory.join(format!("stand-in-{key}"));
    let done = root.join(".complete");
    if !done.exists() {
        for (name, text) in FILES {
            let text = if *name == "Cargo.toml" { manifest(text) } else { (*text).to_string() };
            write(&root.join(name), &text)?;
        }
        write(&done, "")?;
    }
    let part = |name: &str| root.join("shims").join(name);
    Ok(Layout { key, tokio: part("tokio"), std: part("std"), core: part("core") })
}

/// Returns the workspace's manifest with only those members that are written.
fn manifest(text: &str) -> String {
    let lines = text.lines().map(|line| match line {
        _ if line.starts_with("members = ") => format!("members = [{MEMBERS}]"),
        _ if line.starts_with("exclude = ") => "exclude = [\"shims/tokio\"]".to_string(),
        _ => line.to_string(),
    });
    lines.collect::<Vec<_>>().join("\n") + "\n"
}

pub(crate) fn write(file: &Path, text: &str) -> Result<(), String> {
    let parent = file.parent().expect("files are in directories");
    fs::create_dir_all(parent)
        .and_then(|()| fs::write(file, text))
        .map_err(|error| format!("cannot write {}: {error}", file.display()))
}
