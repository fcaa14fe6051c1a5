//! The stand-in's sources, laid out where cargo can build them.

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};

include!(concat!(env!("OUT_DIR"), "/sources.rs"));

/// Writes the sources below `directory`, once per version of them; the answer is the stand-in's directory.
pub(crate) fn lay_out(directory: &Path) -> Result<PathBuf, String> {
    let mut hasher = DefaultHasher::new();
    FILES.hash(&mut hasher);
    let root = directory.join(format!("stand-in-{:016x}", hasher.finish()));
    let done = root.join(".complete");
    if !done.exists() {
        for (name, text) in FILES {
            let text = if *name == "Cargo.toml" { manifest(text) } else { (*text).to_string() };
            write(&root.join(name), &text)?;
        }
        write(&done, "")?;
    }
    Ok(root.join("adapters/tokio"))
}

/// The workspace's manifest, with only the members that are laid out.
fn manifest(text: &str) -> String {
    let lines = text.lines().map(|line| match line {
        _ if line.starts_with("members = ") => format!("members = [{MEMBERS}]"),
        _ if line.starts_with("exclude = ") => "exclude = [\"adapters/tokio\"]".to_string(),
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
