//! Writing files whole or not at all.

use std::ffi::OsString;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::{fs, io};

/// Writes a file so that it is never seen in part: readers, a crash and a full disk leave either the former file or
/// the whole new one.
///
/// ```
/// let file = std::env::temp_dir().join(format!("whippet-write-file-{}", std::process::id()));
/// whippet_report::write_file(&file, "whole").unwrap();
/// assert_eq!(std::fs::read_to_string(&file).unwrap(), "whole");
/// std::fs::remove_file(&file).unwrap();
/// ```
///
/// # Errors
///
/// If the file cannot be written. Nothing is left of it then.
pub fn write_file(file: &Path, text: &str) -> io::Result<()> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let is_special = fs::metadata(file).is_ok_and(|data| !data.is_file());
    if is_special {
        // A device or a pipe cannot be replaced by a file.
        return fs::write(file, text);
    }
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let mut name = OsString::from(".");
    name.push(file.file_name().unwrap_or_default());
    name.push(format!(".{}-{number}.part", std::process::id()));
    let part = file.with_file_name(name);
    let written = fs::write(&part, text).and_then(|()| fs::rename(&part, file));
    if written.is_err() {
        // It need not exist.
        let _ = fs::remove_file(&part);
    }
    written
}

/// Creates a directory for files of a run, unless it exists. The directory above it must exist, so that a misspelt path
/// is an error and not a new tree of directories.
///
/// ```
/// let missing = std::env::temp_dir().join(format!("whippet-missing-{}", std::process::id()));
/// assert!(whippet_report::create_directory(&missing.join("schedules")).is_err());
/// assert!(!missing.exists());
/// ```
///
/// # Errors
///
/// If it does not exist and cannot be created.
pub fn create_directory(directory: &Path) -> io::Result<()> {
    match fs::create_dir(directory) {
        Err(_) if directory.is_dir() => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(io::Error::new(error.kind(), format!("the directory above {} does not exist", directory.display())))
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_leaves_nothing() {
        let directory = std::env::temp_dir().join(format!("whippet-write-{}", std::process::id()));
        fs::create_dir_all(directory.join("taken/inside")).unwrap();
        assert!(write_file(&directory.join("taken"), "text").is_err(), "it is a directory");
        assert!(write_file(&directory.join("missing/file"), "text").is_err());
        write_file(&directory.join("file"), "one").unwrap();
        write_file(&directory.join("file"), "two").unwrap();
        assert_eq!(fs::read_to_string(directory.join("file")).unwrap(), "two");
        let mut names: Vec<_> = fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["file", "taken"]);
        fs::remove_dir_all(&directory).unwrap();
    }
}
