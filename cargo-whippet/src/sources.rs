//! The sources of the shim, written to a directory where cargo can build them.

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use toml_edit::{Array, DocumentMut, value};

include!(concat!(env!("OUT_DIR"), "/sources.rs"));

/// The location of the written sources.
pub(crate) struct Layout {
    /// A hash that identifies the version of the sources.
    pub(crate) key: String,
    /// The version of the package named tokio. It is higher than every version of the real one.
    pub(crate) version: String,
    /// The package named tokio.
    pub(crate) tokio: PathBuf,
    /// The package named parking_lot, and its version, which is higher than every version of the real one.
    pub(crate) parking_lot: PathBuf,
    pub(crate) parking_lot_version: String,
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
    let root = directory.join(format!("shim-{key}"));
    let done = root.join(".complete");
    if !done.exists() {
        for (name, text) in FILES {
            write(&root.join(name), &written(name, text))?;
        }
        write(&done, "")?;
    }
    let part = |name: &str| root.join("shims").join(name);
    Ok(Layout {
        key,
        version: version("shims/tokio/Cargo.toml"),
        tokio: part("tokio"),
        parking_lot: part("parking_lot"),
        parking_lot_version: version("shims/parking_lot/Cargo.toml"),
        std: part("std"),
        core: part("core"),
    })
}

/// Returns the text of a file as it is written.
fn written(name: &str, text: &str) -> String {
    match name {
        "Cargo.toml" => workspace(text),
        _ if name.ends_with("/Cargo.toml") => package(text),
        _ => text.to_string(),
    }
}

/// Features that users' packages often ask for, of packages that the shim depends on too. Cargo builds a package once with
/// the features of all who depend on it, and everything above it anew if these change. So the shim asks for them itself,
/// and is built once for packages with different dependencies.
const COMMON_FEATURES: [(&str, &[&str]); 5] = [
    ("libc", &["extra_traits"]),
    ("serde", &["alloc", "derive", "rc"]),
    ("serde_json", &["alloc", "raw_value"]),
    ("smallvec", &["const_generics", "const_new", "union", "write"]),
    ("syn", &["extra-traits", "fold", "full", "visit", "visit-mut"]),
];

/// Packages below those that the shim depends on, with the same purpose.
const COMMON_PACKAGES: [(&str, &str); 2] = [("memchr", "2"), ("scopeguard", "1")];

/// Returns the manifest of a package without its tests and examples, which are not embedded.
fn package(text: &str) -> String {
    let mut manifest: DocumentMut = text.parse().expect("our manifest is correct");
    if manifest["package"]["name"].as_str() == Some("whippet-model") {
        for (name, version) in COMMON_PACKAGES {
            manifest["dependencies"][name] = value(version);
        }
    }
    for table in ["test", "bench", "example", "dev-dependencies"] {
        manifest.remove(table);
    }
    manifest.to_string()
}

/// Returns the version in an embedded manifest.
fn version(manifest: &str) -> String {
    let (_, text) = FILES.iter().find(|(name, _)| *name == manifest).expect("the shims are embedded");
    let manifest: DocumentMut = text.parse().expect("our manifest is correct");
    manifest["package"]["version"].as_str().expect("it is a text").into()
}

/// Returns the manifest of the workspace, whose members are the packages that are written.
fn workspace(text: &str) -> String {
    let mut manifest: DocumentMut = text.parse().expect("our manifest is correct");
    let members = FILES.iter().filter_map(|(name, _)| name.strip_suffix("/Cargo.toml"));
    manifest["workspace"]["members"] = value(members.collect::<Array>());
    manifest["workspace"].as_table_mut().expect("it is a table").remove("exclude");
    // A user's package may depend on `whippet` by a path. Cargo tells packages with paths apart by name and version alone.
    let version = manifest["workspace"]["package"]["version"].as_str().expect("it is a text").to_string();
    manifest["workspace"]["package"]["version"] = value(format!("{version}+shim"));
    for (name, features) in COMMON_FEATURES {
        let dependency = &mut manifest["workspace"]["dependencies"][name];
        if let Some(version) = dependency.as_str().map(str::to_string) {
            *dependency = value(toml_edit::InlineTable::from_iter([("version", version)]));
        }
        dependency["features"] = value(features.iter().copied().collect::<Array>());
    }
    for other in ["patch", "profile"] {
        manifest.remove(other);
    }
    manifest.to_string()
}

/// Returns a number that identifies a text.
pub(crate) fn hash_of(text: &str) -> u32 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish() as u32
}

pub(crate) fn write(file: &Path, text: &str) -> Result<(), String> {
    let parent = file.parent().expect("files are in directories");
    fs::create_dir_all(parent)
        .and_then(|()| fs::write(file, text))
        .map_err(|error| format!("cannot write {}: {error}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifests_name_no_files_that_are_not_embedded() {
        for (name, text) in FILES.iter().filter(|(name, _)| name.ends_with("/Cargo.toml")) {
            let text = written(name, text);
            assert!(!text.contains("[[") && !text.contains("dev-dependencies"), "{name}:\n{text}");
        }
    }

    #[test]
    fn all_that_the_shim_needs_is_embedded() {
        let manifests: Vec<(&str, DocumentMut)> = FILES
            .iter()
            .filter_map(|(name, text)| Some((name.strip_suffix("/Cargo.toml")?, text.parse().unwrap())))
            .collect();
        let names: Vec<&str> =
            manifests.iter().map(|(_, manifest)| manifest["package"]["name"].as_str().unwrap()).collect();
        for (place, manifest) in &manifests {
            let needs = manifest["dependencies"].as_table().unwrap();
            for (need, _) in needs.iter().filter(|(need, _)| need.starts_with("whippet")) {
                assert!(names.contains(&need), "{place} needs {need}, which is not in `embedded`");
            }
        }
        assert!(names.contains(&"tokio") && names.contains(&"whippet-std") && names.contains(&"whippet-core"));
    }
}
