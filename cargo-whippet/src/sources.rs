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
    Ok(Layout { key, version: version(), tokio: part("tokio"), std: part("std"), core: part("core") })
}

/// Returns the text of a file as it is written.
fn written(name: &str, text: &str) -> String {
    match name {
        "Cargo.toml" => workspace(text),
        _ if name.ends_with("/Cargo.toml") => package(text),
        _ => text.to_string(),
    }
}

/// Returns the manifest of a package without its tests and examples, which are not embedded.
fn package(text: &str) -> String {
    let mut manifest: DocumentMut = text.parse().expect("our manifest is correct");
    for table in ["test", "bench", "example", "dev-dependencies"] {
        manifest.remove(table);
    }
    manifest.to_string()
}

fn version() -> String {
    let (_, text) = FILES.iter().find(|(name, _)| *name == "shims/tokio/Cargo.toml").expect("the shim is embedded");
    let manifest: DocumentMut = text.parse().expect("our manifest is correct");
    manifest["package"]["version"].as_str().expect("it is a text").into()
}

/// Returns the manifest of the workspace, whose members are the packages that are written.
fn workspace(text: &str) -> String {
    let mut manifest: DocumentMut = text.parse().expect("our manifest is correct");
    let members = FILES.iter().filter_map(|(name, _)| name.strip_suffix("/Cargo.toml"));
    manifest["workspace"]["members"] = value(members.collect::<Array>());
    manifest["workspace"].as_table_mut().expect("it is a table").remove("exclude");
    for other in ["patch", "profile"] {
        manifest.remove(other);
    }
    manifest.to_string()
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
