//! A shadow of the user's workspace: links to everything in it, and to everything around it, but for a few files.
//!
//! Cargo keeps the lock file beside the workspace's manifest, and an existing one pins the real tokio. So cargo works in
//! a directory that looks like the workspace and has its own lock file. It stands at the same place below the
//! shadow as the workspace below the root of the file system, with links to all that is around: dependencies with paths
//! like `../../other` lead where they led before.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// What stands in the shadow in the place of a file or directory, which is named by its full path.
pub(crate) enum Instead {
    Nothing,
    /// A link to another file.
    File(PathBuf),
}

/// Makes the shadow below `around`, which is emptied; the answer is where `root` is in it.
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
    // What cannot be read cannot be needed either.
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
