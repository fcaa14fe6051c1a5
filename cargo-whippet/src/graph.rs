//! The dependency graph of the tests, as `cargo metadata` reports it.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

#[derive(Clone, Debug)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) directory: PathBuf,
    /// `true` for a member of the user's workspace.
    pub(crate) own: bool,
    /// `true` for a package from the registry.
    pub(crate) registry: bool,
    /// `true` for a procedural macro: its code runs in the compiler, not in tests.
    pub(crate) in_compiler: bool,
    needs: Vec<String>,
}

#[derive(Debug, Default)]
pub(crate) struct Graph {
    packages: BTreeMap<String, Package>,
}

impl Package {
    /// Returns `true` for the shims, which stand for the packages of their names.
    fn is_shim(&self) -> bool {
        self.name == "tokio" || self.name == "parking_lot" && !self.registry
    }
}

impl Graph {
    pub(crate) fn new(metadata: &Value) -> Graph {
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
        let own: BTreeSet<String> = list(&metadata["workspace_members"]).iter().map(text).collect();
        let nodes = list(&metadata["resolve"]["nodes"]);
        let needs: BTreeMap<String, Vec<String>> = nodes.iter().map(|node| (text(&node["id"]), edges(node))).collect();
        let packages = list(&metadata["packages"]).into_iter().map(|package| {
            let id = text(&package["id"]);
            let kinds = list(&package["targets"]).into_iter().flat_map(|target| list(&target["kind"]));
            let manifest = PathBuf::from(text(&package["manifest_path"]));
            let known = Package {
                name: text(&package["name"]),
                version: text(&package["version"]),
                directory: manifest.parent().map_or_else(PathBuf::new, Path::to_path_buf),
                own: own.contains(&id),
                registry: text(&package["source"]).starts_with("registry+"),
                in_compiler: kinds.into_iter().any(|kind| kind == "proc-macro"),
                needs: needs.get(&id).cloned().unwrap_or_default(),
            };
            (id, known)
        });
        Graph { packages: packages.collect() }
    }

    pub(crate) fn named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Package> {
        self.packages.values().filter(move |package| package.name == name)
    }

    /// Returns the user's own packages.
    pub(crate) fn own(&self) -> impl Iterator<Item = &Package> {
        self.packages.values().filter(|package| package.own)
    }

    /// Returns the packages that run in the tests of `roots` (of all workspace members if `roots` is empty), except
    /// tokio and packages that only tokio needs. The flag is `true` if the package depends on tokio, directly or
    /// indirectly: such a package may have tasks.
    pub(crate) fn running(&self, roots: &BTreeSet<String>) -> Vec<(&Package, bool)> {
        let mut next: Vec<&String> = self
            .packages
            .iter()
            .filter(|(id, package)| if roots.is_empty() { package.own } else { roots.contains(*id) })
            .map(|(id, _)| id)
            .collect();
        let mut reached = BTreeSet::new();
        while let Some(id) = next.pop() {
            let Some(package) = self.packages.get(id) else { continue };
            if !package.is_shim() && !package.in_compiler && reached.insert(id) {
                next.extend(&package.needs);
            }
        }
        reached.iter().map(|id| (&self.packages[*id], self.has_tokio_below(id))).collect()
    }

    /// Returns the packages of these names and all that they need.
    pub(crate) fn with_dependencies(&self, names: &BTreeSet<String>) -> Vec<&Package> {
        let named = self.packages.iter().filter(|(_, package)| names.contains(&package.name));
        let mut next: Vec<&String> = named.map(|(id, _)| id).collect();
        let mut reached = BTreeSet::new();
        while let Some(id) = next.pop() {
            let Some(package) = self.packages.get(id) else { continue };
            if !package.is_shim() && !package.in_compiler && reached.insert(id) {
                next.extend(&package.needs);
            }
        }
        reached.iter().map(|id| &self.packages[*id]).collect()
    }

    fn has_tokio_below(&self, id: &str) -> bool {
        let (mut next, mut seen) = (vec![id], BTreeSet::new());
        while let Some(id) = next.pop() {
            let Some(package) = self.packages.get(id) else { continue };
            if package.name == "tokio" {
                return true;
            }
            if seen.insert(id) {
                next.extend(package.needs.iter().map(String::as_str));
            }
        }
        false
    }
}

/// Returns the ids of the packages that a package needs at run time.
fn edges(node: &Value) -> Vec<String> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let runs = |dep: &Value| list(&dep["dep_kinds"]).iter().any(|kind| kind["kind"] != "build");
    list(&node["deps"])
        .iter()
        .filter(|dep| runs(dep))
        .filter_map(|dep| Some(dep["pkg"].as_str()?.to_string()))
        .collect()
}
