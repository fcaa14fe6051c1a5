//! The user's workspace, built against the shim without modifying it.

use crate::arguments::Search;
use crate::graph::Graph;
use crate::manifest;
use crate::overlay::{self, Replacement};
use crate::settings;
use crate::sources::{self, Layout};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) struct Project {
    /// Whippet's own directory, below the user's target directory.
    pub(crate) home: PathBuf,
    /// The names of the hooked packages.
    pub(crate) hooked: BTreeSet<String>,
    pub(crate) graph: Graph,
    /// Notes to print with the verdicts.
    pub(crate) notes: Vec<String>,
    pub(crate) root: PathBuf,
    target: PathBuf,
    /// The directory that contains the workspace and all its members: in general the root.
    base: PathBuf,
    /// The directory that looks like `base`.
    overlay: PathBuf,
    /// The directory of the selected manifest, relative to the root.
    inside: PathBuf,
    pub(crate) layout: Layout,
    /// The output of `cargo metadata` for the user's own packages.
    metadata: Value,
    /// The arguments for cargo that concern the build.
    pub(crate) arguments: Vec<String>,
    pub(crate) own: Vec<String>,
    /// The directories of package copies that replace packages of the registry.
    pub(crate) patches: BTreeMap<String, PathBuf>,
    /// `false` if no package depends on tokio.
    shim: bool,
    /// `true` if hooks in libraries are only tried: those that do not build with them are left out.
    pub(crate) tries_hooks: bool,
    /// Held while the overlay is used, which another run would delete.
    lock: Option<fs::File>,
}

/// The packages in which searches spend their time. They are optimized even in a debug build.
const BUSY: [&str; 6] = ["tokio", "whippet-model", "whippet-search", "whippet-runtime", "whippet-actors", "corosensei"];

fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Returns the value of one of cargo's arguments, given as `NAME VALUE` or `NAME=VALUE`.
fn value_of(arguments: &[String], name: &str) -> Option<String> {
    let with = format!("{name}=");
    arguments.iter().enumerate().find_map(|(k, argument)| {
        if argument == name { arguments.get(k + 1).cloned() } else { argument.strip_prefix(&with).map(Into::into) }
    })
}

/// Returns cargo's arguments without those that are handled here: the manifest is in the overlay, and so is the lock
/// file, which has to change.
fn for_building(arguments: &[String]) -> Vec<String> {
    let mut kept = Vec::new();
    let mut given = arguments.iter();
    while let Some(argument) = given.next() {
        match argument.as_str() {
            "--manifest-path" => drop(given.next()),
            "--frozen" => kept.push("--offline".into()),
            "--locked" | "--no-fail-fast" => {}
            path if path.starts_with("--manifest-path=") => {}
            _ => kept.push(argument.clone()),
        }
    }
    kept
}

impl Project {
    pub(crate) fn open(arguments: &[String], own: &[String]) -> Result<Project, String> {
        let mut command = cargo();
        command.args(["metadata", "--no-deps", "--format-version", "1"]);
        let given = value_of(arguments, "--manifest-path");
        if let Some(path) = &given {
            command.args(["--manifest-path", path]);
        }
        let metadata = json_of(&mut command)?;
        let path = |key: &str| PathBuf::from(metadata[key].as_str().unwrap_or_default());
        let (root, target) = (path("workspace_root"), without_dots(path("target_directory")));
        let (home, notes) = home(&target, &root);
        let here = match given {
            Some(path) => fs::canonicalize(path).map_err(|e| e.to_string())?.parent().expect("a file").to_path_buf(),
            None => std::env::current_dir().map_err(|error| error.to_string())?,
        };
        let inside = nearest_manifest(&here, &root);
        let layout = sources::lay_out(&home)?;
        let lock = alone(&home)?;
        let mut project = Project {
            base: common(&root, &members(&metadata)),
            overlay: home.join("overlay"),
            hooked: BTreeSet::new(),
            graph: Graph::default(),
            notes,
            patches: BTreeMap::new(),
            arguments: for_building(arguments),
            own: own.to_vec(),
            lock: Some(lock),
            shim: true,
            tries_hooks: false,
            home,
            root,
            target,
            inside,
            layout,
            metadata,
        };
        project.build_overlay(&BTreeSet::new())?;
        project.lock()?;
        let locked = manifest::parse(&project.in_overlay(&project.root.join("Cargo.lock")))?;
        project.shim = !manifest::locked(&locked, "tokio").is_empty();
        project.graph = Graph::new(&project.whole_metadata()?);
        if !project.shim && project.has_tokio() {
            return Err("Cargo.lock is out of date: it has no tokio; run `cargo update --workspace` first".into());
        }
        Ok(project)
    }

    /// Returns `true` if a package of the workspace depends on tokio.
    pub(crate) fn has_tokio(&self) -> bool {
        self.graph.named("tokio").next().is_some()
    }

    pub(crate) fn manifest(&self) -> PathBuf {
        self.in_overlay(&self.root.join(&self.inside).join("Cargo.toml"))
    }

    /// Builds the overlay, in which the packages with these manifests are hooked.
    pub(crate) fn build_overlay(&self, hooked: &BTreeSet<PathBuf>) -> Result<(), String> {
        let members = members(&self.metadata);
        let mut roots = vec![self.root.clone()];
        roots.extend(members.iter().filter(|member| !member.starts_with(&self.root)).cloned());
        let mut replacements = BTreeMap::from([
            (self.root.join("Cargo.lock"), Replacement::Nothing),
            (self.target.clone(), Replacement::Nothing),
        ]);
        let mut next: Vec<PathBuf> = members.into_iter().chain([self.root.clone()]).collect();
        let mut seen = BTreeSet::new();
        while let Some(directory) = next.pop() {
            let file = directory.join("Cargo.toml");
            if !seen.insert(directory.clone()) || !file.exists() {
                continue;
            }
            let mut text = manifest::parse(&file)?;
            let (inside, mut changed) = manifest::outward(&mut text, &directory, &roots);
            next.extend(inside);
            if hooked.contains(&file) {
                manifest::hook(&mut text, &self.layout);
                changed = true;
            }
            if changed {
                replacements.insert(file, Replacement::Text(text.to_string()));
            }
        }
        overlay::build_overlay(&self.overlay, &self.base, &roots, &replacements)
    }

    pub(crate) fn cargo(&self, what: &str) -> Command {
        let mut command = cargo();
        command.arg(what);
        let shims = [("tokio", &self.layout.tokio), ("parking_lot", &self.layout.parking_lot)];
        let is_used = |name| self.shim && (name == "tokio" || self.uses_parking_lot());
        let shims = shims.into_iter().filter(|(name, _)| is_used(*name));
        let shims = shims.map(|(name, path)| (name.to_string(), path.clone()));
        for (name, path) in self.patches.iter().map(|(name, path)| (name.clone(), path.clone())).chain(shims) {
            let path = toml_edit::Value::from(path.display().to_string());
            command.arg("--config").arg(format!("patch.crates-io.{name}.path={path}"));
        }
        if ["test", "build"].contains(&what) {
            for name in BUSY {
                command.arg("--config").arg(format!("profile.dev.package.{name}.opt-level=3"));
            }
        } else if self.arguments.iter().any(|argument| argument == "--offline") {
            command.arg("--offline");
        }
        command
    }

    /// Returns the output of `cargo metadata` for all packages, with the shim in place.
    fn whole_metadata(&self) -> Result<Value, String> {
        let mut command = self.cargo("metadata");
        command.args(["--format-version", "1", "--manifest-path"]).arg(self.manifest());
        if let Some(host) = host() {
            command.args(["--filter-platform", &host]);
        }
        for (k, argument) in self.arguments.iter().enumerate() {
            match argument.as_str() {
                "--all-features" | "--no-default-features" => drop(command.arg(argument)),
                "-F" | "--features" => drop(command.arg("--features").args(self.arguments.get(k + 1))),
                with if with.starts_with("--features=") => drop(command.arg(with)),
                _ => {}
            }
        }
        json_of(&mut command)
    }

    /// Returns the settings of one of the user's packages.
    pub(crate) fn settings(&self, manifest: &Path) -> Result<Search, String> {
        let packages = self.metadata["packages"].as_array();
        let known = packages
            .into_iter()
            .flatten()
            .find(|package| package["manifest_path"].as_str().is_some_and(|path| Path::new(path) == manifest));
        let package = known.map_or(&Value::Null, |package| &package["metadata"]);
        settings::merged(&self.metadata["metadata"], package, &self.own)
    }

    /// Returns `true` unless the settings of one of the user's packages forbid hooks.
    pub(crate) fn may_hook(&self) -> bool {
        self.graph.own().all(|package| {
            let settings = self.settings(&self.real(&package.directory).join("Cargo.toml"));
            settings.is_ok_and(|settings| settings.hooks.no_hook != Some(true))
        })
    }

    /// Returns the name of the user's package with this manifest.
    pub(crate) fn package_name(&self, manifest: &Path) -> String {
        let packages = self.metadata["packages"].as_array().into_iter().flatten();
        let mut known = packages
            .filter(|package| package["manifest_path"].as_str().is_some_and(|path| Path::new(path) == manifest));
        let name = known.next().and_then(|package| package["name"].as_str());
        name.map_or_else(|| "package".into(), Into::into)
    }

    /// Lets other runs build in this workspace. The overlay must not be used any more.
    pub(crate) fn release(&mut self) {
        self.lock = None;
    }

    /// Maps a path in the overlay to the user's tree.
    pub(crate) fn real(&self, path: &Path) -> PathBuf {
        path.strip_prefix(&self.overlay).map_or_else(|_| path.to_path_buf(), |inside| self.base.join(inside))
    }

    /// Maps a path in the user's tree to the overlay.
    pub(crate) fn in_overlay(&self, path: &Path) -> PathBuf {
        path.strip_prefix(&self.base).map_or_else(|_| path.to_path_buf(), |inside| self.overlay.join(inside))
    }
}

/// Returns a path without `..`, which `CARGO_TARGET_DIR` may contain: cargo names the packages in the overlay by paths without
/// them.
fn without_dots(path: PathBuf) -> PathBuf {
    if !path.components().any(|part| part == std::path::Component::ParentDir) {
        return path;
    }
    // A path that cannot be created is reported where it is used.
    let _ = fs::create_dir_all(&path);
    fs::canonicalize(&path).unwrap_or(path)
}

/// Returns Whippet's own directory: in the target directory or, if that cannot be written, among temporary files. Then a
/// note says so.
fn home(target: &Path, root: &Path) -> (PathBuf, Vec<String>) {
    let home = target.join("whippet");
    let probe = home.join(format!(".probe-{}", std::process::id()));
    let Err(error) = fs::create_dir_all(&home).and_then(|()| fs::write(&probe, "")) else {
        let _ = fs::remove_file(&probe);
        return (home, Vec::new());
    };
    let name: String = root.display().to_string().chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).collect();
    let other = std::env::temp_dir().join(format!("whippet{name}"));
    let note = format!("{} cannot be written ({error}), so {} is used", home.display(), other.display());
    (other, vec![note])
}

/// Returns the directories of the members of a workspace.
fn members(metadata: &Value) -> Vec<PathBuf> {
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let manifests = packages.filter_map(|package| package["manifest_path"].as_str());
    manifests.filter_map(|manifest| Some(Path::new(manifest).parent()?.to_path_buf())).collect()
}

/// Returns the nearest directory that contains the root of a workspace and all its members.
fn common(root: &Path, members: &[PathBuf]) -> PathBuf {
    let contains_all = |base: &&Path| members.iter().all(|member| member.starts_with(base));
    root.ancestors().find(contains_all).unwrap_or(root).to_path_buf()
}

/// Waits until no other `cargo whippet` works in this workspace.
fn alone(home: &Path) -> Result<fs::File, String> {
    let file = home.join("lock");
    let lock = fs::File::create(&file).map_err(|error| format!("cannot write {}: {error}", file.display()))?;
    if lock.try_lock().is_err() {
        eprintln!("    Blocking waiting for another `cargo whippet` in this workspace");
        lock.lock().map_err(|error| format!("cannot lock {}: {error}", file.display()))?;
    }
    Ok(lock)
}

/// Returns the platform for which cargo builds by default.
fn host() -> Option<String> {
    let output = cargo().arg("-vV").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().find_map(|line| line.strip_prefix("host: ")).map(Into::into)
}

fn json_of(command: &mut Command) -> Result<Value, String> {
    let output = command.output().map_err(|error| format!("cannot run cargo: {error}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim_start_matches("error: ").trim().to_string());
    }
    serde_json::from_slice(&output.stdout).map_err(|error| format!("the output of cargo is not understood: {error}"))
}

/// Returns the directory of the nearest manifest at or above `here`, relative to `root`.
fn nearest_manifest(here: &Path, root: &Path) -> PathBuf {
    let mut above = here.ancestors().take_while(|path| path.starts_with(root));
    let found = above.find(|path| path.join("Cargo.toml").exists()).unwrap_or(root);
    found.strip_prefix(root).unwrap_or(Path::new("")).to_path_buf()
}
