//! Copies of packages that use Whippet's `std` and `core`.
//!
//! If the manifest of a package declares a dependency named `std`, that crate is used wherever the source says `std::`.
//! So the source stays unchanged. The copy has two more dependencies: crates of Whippet that re-export the real `std`
//! and `core`, except for the types of `std::sync`, whose operations are events. The user's own packages need no copy:
//! the overlay has another manifest for them.

use crate::graph::Package;
use crate::manifest;
use crate::sources::{Layout, write};
use std::fs;
use std::path::{Path, PathBuf};

/// Copies a package from the registry, once per version of the shim. Returns the directory of the copy.
pub(crate) fn copy(package: &Package, home: &Path, layout: &Layout) -> Result<PathBuf, String> {
    // Counterexamples shorten paths below `registry/src`: they omit everything up to there.
    let place = home.join("hooked/registry/src").join(&layout.key);
    let (name, done) = (format!("{}-{}", package.name, package.version), ".whippet-complete");
    let to = place.join(&name);
    if to.join(done).exists() {
        return Ok(to);
    }
    copy_all(&package.directory, &to).map_err(|error| format!("cannot copy {name}: {error}"))?;
    let file = to.join("Cargo.toml");
    let mut manifest = manifest::parse(&file)?;
    manifest::hook(&mut manifest, layout);
    write(&file, &manifest.to_string())?;
    write(&to.join(done), "")?;
    Ok(to)
}

fn copy_all(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (path, there) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy_all(&path, &there)?;
        } else {
            fs::write(&there, fs::read(&path)?)?;
        }
    }
    Ok(())
}
