//! Edits and reads manifests and lock files.

use crate::sources::Layout;
use std::path::{Component, Path, PathBuf};
use toml_edit::{DocumentMut, Item, TableLike, Value, value};

/// The tables of a manifest that list dependencies.
const DEPENDENCIES: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];

/// The tables of a manifest that describe targets, whose `path` may lead out of the package.
const TARGETS: [&str; 5] = ["lib", "bin", "example", "test", "bench"];

pub(crate) fn parse(file: &Path) -> Result<DocumentMut, String> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
    text.parse().map_err(|error| format!("{}: {error}", file.display()))
}

/// Adds the dependencies that replace `std` and `core` in a hooked package.
pub(crate) fn hook(manifest: &mut DocumentMut, layout: &Layout) {
    for (name, package, path) in [("std", "whippet-std", &layout.std), ("core", "whippet-core", &layout.core)] {
        let mut dependency = toml_edit::InlineTable::new();
        dependency.insert("package", package.into());
        dependency.insert("path", path.display().to_string().into());
        manifest["dependencies"][name] = value(dependency);
    }
}

/// Makes the paths in the manifest of the package in `directory` absolute that lead out of all `roots`. Returns the
/// directories of the dependencies that are in one of them, and `true` if a path has changed.
pub(crate) fn outward(manifest: &mut DocumentMut, directory: &Path, roots: &[PathBuf]) -> (Vec<PathBuf>, bool) {
    let mut paths = Paths { directory, roots, inside: Vec::new(), changed: false };
    for table in DEPENDENCIES {
        paths.dependencies(manifest.get_mut(table));
    }
    for (_, target) in tables(manifest.get_mut("target")) {
        for table in DEPENDENCIES {
            paths.dependencies(target.get_mut(table));
        }
    }
    paths.dependencies(manifest.get_mut("workspace").and_then(|workspace| workspace.get_mut("dependencies")));
    for (_, registry) in tables(manifest.get_mut("patch")) {
        paths.dependencies(Some(registry));
    }
    paths.dependencies(manifest.get_mut("replace"));
    for name in TARGETS {
        match manifest.get_mut(name) {
            Some(Item::ArrayOfTables(targets)) => targets.iter_mut().for_each(|target| drop(paths.one(target, "path"))),
            Some(target) => drop(target.as_table_like_mut().and_then(|target| paths.one(target, "path"))),
            None => {}
        }
    }
    if let Some(package) = manifest.get_mut("package").and_then(Item::as_table_like_mut) {
        paths.one(package, "build");
    }
    (paths.inside, paths.changed)
}

fn tables(item: Option<&mut Item>) -> impl Iterator<Item = (String, &mut Item)> {
    let table = item.and_then(Item::as_table_like_mut);
    table.into_iter().flat_map(|table| table.iter_mut().map(|(key, item)| (key.to_string(), item)))
}

struct Paths<'a> {
    directory: &'a Path,
    roots: &'a [PathBuf],
    inside: Vec<PathBuf>,
    changed: bool,
}

impl Paths<'_> {
    fn dependencies(&mut self, table: Option<&mut Item>) {
        for (_, dependency) in tables(table) {
            let inside = dependency.as_table_like_mut().and_then(|dependency| self.one(dependency, "path"));
            self.inside.extend(inside);
        }
    }

    /// Makes one path absolute if it leads out of the roots. Returns it if it does not.
    fn one(&mut self, table: &mut dyn TableLike, key: &str) -> Option<PathBuf> {
        let value = table.get_mut(key)?.as_value_mut()?;
        let path = normal(&self.directory.join(value.as_str()?));
        if self.roots.iter().any(|root| path.starts_with(root)) {
            return Some(path);
        }
        let absolute = Value::from(path.display().to_string());
        self.changed |= value.as_str() != absolute.as_str();
        *value = absolute;
        None
    }
}

/// Resolves `.` and `..` as cargo does: in the text of the path.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(normal.pop()),
            other => normal.push(other),
        }
    }
    normal
}

/// Returns the versions of a package in a lock file.
pub(crate) fn locked(lock: &DocumentMut, name: &str) -> Vec<String> {
    let packages = lock.get("package").and_then(Item::as_array_of_tables);
    let text = |package: &toml_edit::Table, key: &str| package.get(key).and_then(Item::as_str).map(String::from);
    let named = packages.into_iter().flatten().filter(|package| text(package, "name").as_deref() == Some(name));
    named.filter_map(|package| text(package, "version")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_lead_out_become_absolute() {
        let text = "\
[package]
name = \"a\" # the name stays
build = \"../../gen.rs\"
[dependencies]
b = { path = \"../b\" }
c = { version = \"1\", path = \"../../c\" }
d.workspace = true
[target.'cfg(unix)'.dev-dependencies.e]
path = \"../../e\"
[patch.crates-io]
f = { path = \"../../f\" }
[[test]]
path = \"tests/all.rs\"
[[test]]
path = \"../../shared.rs\"
";
        let mut manifest: DocumentMut = text.parse().unwrap();
        let roots = [PathBuf::from("/w/root")];
        let (inside, changed) = outward(&mut manifest, Path::new("/w/root/a"), &roots);
        assert_eq!((inside, changed), (vec![PathBuf::from("/w/root/b")], true));
        let wanted = ["gen.rs", "c", "e", "f", "shared.rs"]
            .iter()
            .fold(text.to_string(), |text, name| text.replace(&format!("../../{name}"), &format!("/w/{name}")));
        assert_eq!(manifest.to_string(), wanted);
        assert!(!outward(&mut manifest, Path::new("/w/root/a"), &roots).1);
    }

    #[test]
    fn hooks_are_added_to_any_table_of_dependencies() {
        let path = |name: &str| PathBuf::from("/shim").join(name);
        let layout = Layout {
            key: String::new(),
            version: String::new(),
            tokio: path("tokio"),
            parking_lot: path("parking_lot"),
            parking_lot_version: String::new(),
            std: path("std"),
            core: path("core"),
        };
        for text in
            ["", "[dependencies]\na = \"1\"\n", "dependencies = { a = \"1\" }\n", "[dependencies.a]\nversion = \"1\"\n"]
        {
            let mut manifest: DocumentMut = text.parse().unwrap();
            hook(&mut manifest, &layout);
            let manifest: DocumentMut = manifest.to_string().parse().unwrap();
            assert_eq!(manifest["dependencies"]["std"]["path"].as_str(), Some("/shim/std"), "{text}");
            assert_eq!(manifest["dependencies"]["core"]["package"].as_str(), Some("whippet-core"), "{text}");
            assert_eq!(manifest["dependencies"].get("a").is_some(), !text.is_empty(), "{text}");
        }
    }

    #[test]
    fn versions_in_a_lock_file() {
        let lock = "[[package]]\nname = \"tokio\"\nversion = \"1.2.3\"\n[[package]]\nname = \"tokio-util\"\nversion = \"0.7.0\"\n";
        assert_eq!(locked(&lock.parse().unwrap(), "tokio"), ["1.2.3"]);
    }
}
