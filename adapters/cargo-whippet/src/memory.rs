//! Memory that the stand-in does not see.
//!
//! Tasks may share more than tokio's types: std's atomics and locks, and what is built on them. Their operations are
//! no events, so orders that differ only in them are not told apart. Whoever uses such memory is named with the verdict.

use std::fs;
use std::path::{Path, PathBuf};

/// Words that mean shared memory.
const SHARED: [&str; 9] = [
    "sync::atomic",
    "std::sync::Mutex",
    "std::sync::RwLock",
    "std::sync::Condvar",
    "std::sync::mpsc",
    "sync::{Mutex",
    "DashMap",
    "parking_lot",
    "crossbeam",
];

/// What to say about these packages, if anything.
pub(crate) fn notes(packages: &[(String, PathBuf)]) -> Option<String> {
    let found: Vec<String> = packages
        .iter()
        .filter_map(|(name, directory)| {
            let place = first_use(&directory.join("src"))?;
            let place =
                place.0.strip_prefix(directory).map_or(place.0.clone(), Path::to_path_buf).display().to_string()
                    + &format!(":{}", place.1);
            Some(format!("  {name} ({place})"))
        })
        .collect();
    (!found.is_empty()).then(|| {
        format!(
            "note: these crates also share memory that whippet does not see; orders that differ only there are not explored:\n{}",
            found.join("\n")
        )
    })
}

fn first_use(directory: &Path) -> Option<(PathBuf, usize)> {
    let mut entries: Vec<PathBuf> = fs::read_dir(directory).ok()?.flatten().map(|entry| entry.path()).collect();
    entries.sort();
    entries.into_iter().find_map(|path| {
        if path.is_dir() {
            return first_use(&path);
        }
        let text = fs::read_to_string(&path).ok().filter(|_| path.extension().is_some_and(|end| end == "rs"))?;
        let code = |line: &str| !line.trim_start().starts_with("//") && SHARED.iter().any(|word| line.contains(word));
        text.lines().position(code).map(|line| (path, line + 1))
    })
}
