//! A shadow of the user's workspace: links to everything in and around it, except for a few files.
//!
//! Cargo keeps the lock file next to the workspace's manifest, and an existing lock file pins the real tokio. So cargo
//! runs in a directory that looks like the workspace and has its own lock file. The path of this directory below the
//! shadow equals the path of the workspace below the root of the file system, and everything around it is linked too.
//! So dependencies with paths like `../../other` still resolve to the same packages.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// The replacement in the shadow of a file or directory, which is identified by its full path.
pub(crate) enum Instead {
    Nothing,
    /// A link to another file.
    File(PathBuf),
}

/// Builds the shadow below `around`, which is emptied first. Returns the path of `root` in the shadow.
pub(crate) fn cast(around: &Path, root: &Path, instead: &BTreeMap<PathBuf, Instead>) -> Result<PathBuf, String> {
    if around.exists() {
        fs::remove_dir_all(around).map_err(|error| format!("cannot renew {}: {error}", around.display()))?;
    }
    let top: PathBuf = root.components().take_while(|part| !matches!(part, Component::Normal(_))).collect();
    mirror(&top, around, root, instead)?;
    Ok(around.join(root.strip_prefix(&top).unwrap_or(root)))
}

fn mirror(from: &Path, to: &Path, root: &Path, instead: &BTreeMap<PathBuf, Instead>) -> Result<(), String> {
    fs::create_dir_all(to).map_err(|error| format!("cannot make {}: {error}", to.display()))?;
    // The build cannot need a directory that is not readable.
    let Ok(entries) = fs::read_dir(from) else { return Ok(()) };
    for entry in entries.flatten() {
        let (path, here) = (entry.path(), to.join(entry.file_name()));
        let inside = instead.keys().any(|other| other.starts_with(&path) && *other != path);
        match instead.get(&path) {
            Some(Instead::Nothing) => {}
            Some(Instead::File(other)) => link(other, &here)?,
            None if inside || root.starts_with(&path) => mirror(&path, &here, root, instead)?,
            None => link(&path, &here)?,
        }
    }
    Ok(())
}

fn link(from: &Path, to: &Path) -> Result<(), String> {
    link_here(from, to).map_err(|error| format!("cannot make a link to {}: {error}", from.display()))
}

#[cfg(unix)]
fn link_here(from: &Path, to: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(from, to)
}

#[cfg(windows)]
fn link_here(from: &Path, to: &Path) -> std::io::Result<()> {
    if from.is_dir() {
        std::os::windows::fs::symlink_dir(from, to)
    } else {
        std::os::windows::fs::symlink_file(from, to)
    }
}
