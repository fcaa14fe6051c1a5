//! A directory that looks like the user's workspace but has its own lock file and manifests.
//!
//! Cargo keeps the lock file next to the workspace's manifest, and an existing lock file pins the real tokio. So cargo
//! runs in an overlay: a directory with links to the entries of the workspace, except for a few files. The overlay has
//! links into the workspace only. Dependencies with paths that lead out of it get absolute paths in a copy of their
//! manifest: see [`crate::manifest::outward`].

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The replacement in the overlay of a file or directory, which is identified by its full path.
pub(crate) enum Replacement {
    Nothing,
    /// A file with this text.
    Text(String),
}

/// Builds an overlay of the directories `roots` below `base` in the directory `overlay`, which is emptied first.
pub(crate) fn build_overlay(
    overlay: &Path,
    base: &Path,
    roots: &[PathBuf],
    replacements: &BTreeMap<PathBuf, Replacement>,
) -> Result<(), String> {
    if overlay.exists() {
        fs::remove_dir_all(overlay).map_err(|error| format!("cannot empty {}: {error}", overlay.display()))?;
    }
    roots.iter().try_for_each(|root| mirror(root, &overlay.join(root.strip_prefix(base).unwrap_or(root)), replacements))
}

fn mirror(from: &Path, to: &Path, replacements: &BTreeMap<PathBuf, Replacement>) -> Result<(), String> {
    fs::create_dir_all(to).map_err(|error| format!("cannot create {}: {error}", to.display()))?;
    let entries = fs::read_dir(from).map_err(|error| format!("cannot read {}: {error}", from.display()))?;
    for entry in entries.flatten() {
        let (path, here) = (entry.path(), to.join(entry.file_name()));
        let inside = replacements.keys().any(|other| other.starts_with(&path) && *other != path);
        match replacements.get(&path) {
            Some(Replacement::Nothing) => {}
            Some(Replacement::Text(text)) => {
                fs::write(&here, text).map_err(|error| format!("cannot write {}: {error}", here.display()))?;
                keep_time(&path, &here);
            }
            None if inside => mirror(&path, &here, replacements)?,
            None => link(&path, &here).map_err(|error| format!("cannot link {}: {error}", path.display()))?,
        }
    }
    Ok(())
}

/// Gives a copy the modification time of its original, so that cargo does not take it for changed.
fn keep_time(original: &Path, copy: &Path) {
    let time = fs::metadata(original).and_then(|data| data.modified());
    // If this fails, cargo builds again what has not changed.
    let _ = time.and_then(|time| fs::File::options().write(true).open(copy)?.set_modified(time));
}

#[cfg(unix)]
fn link(from: &Path, to: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(from, to)
}

#[cfg(windows)]
fn link(from: &Path, to: &Path) -> std::io::Result<()> {
    if from.is_dir() {
        std::os::windows::fs::symlink_dir(from, to)
    } else {
        std::os::windows::fs::symlink_file(from, to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_stay_in_the_workspace() {
        let base = std::env::temp_dir().join(format!("whippet-overlay-{}", std::process::id()));
        let (root, overlay) = (base.join("root"), base.join("root/target/overlay"));
        for file in ["Cargo.toml", "Cargo.lock", "a/Cargo.toml", "a/src/lib.rs", "b/src/lib.rs", "target/x"] {
            crate::sources::write(&root.join(file), "").unwrap();
        }
        let replacements = BTreeMap::from([
            (root.join("Cargo.lock"), Replacement::Nothing),
            (root.join("target"), Replacement::Nothing),
            (root.join("a/Cargo.toml"), Replacement::Text("changed".into())),
        ]);
        build_overlay(&overlay, &root, std::slice::from_ref(&root), &replacements).unwrap();
        build_overlay(&overlay, &root, std::slice::from_ref(&root), &replacements).unwrap();
        let mut links = Vec::new();
        let mut next = vec![overlay.clone()];
        while let Some(directory) = next.pop() {
            for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
                match fs::read_link(entry.path()) {
                    Ok(to) => links.push(to.strip_prefix(&root).unwrap().display().to_string()),
                    Err(_) if entry.path().is_dir() => next.push(entry.path()),
                    Err(_) => assert_eq!(fs::read_to_string(entry.path()).unwrap(), "changed"),
                }
            }
        }
        links.sort();
        assert_eq!(links, ["Cargo.toml", "a/src", "b"]);
        fs::remove_dir_all(base).unwrap();
    }
}
