//! The user's workspace, built against the stand-in without touching it.

use crate::arguments::Search;
use crate::graph::{Graph, Package};
use crate::shadow::{self, Instead};
use crate::sources::{self, Layout};
use crate::{hook, memory, settings};
use serde_json::Value;
use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::hash::{Hash, Hasher};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The version of the stand-in: above every real one.
const VERSION: &str = "1.999.0";

pub(crate) struct Project {
    /// What belongs to whippet, below the user's target directory.
    pub(crate) home: PathBuf,
    /// Who is hooked.
    pub(crate) hooked: BTreeSet<String>,
    pub(crate) graph: Graph,
    /// What is to be known besides the verdicts.
    pub(crate) notes: Vec<String>,
    root: PathBuf,
    target: PathBuf,
    shadow: PathBuf,
    /// Where the chosen manifest is, seen from the root.
    inside: PathBuf,
    layout: Layout,
    /// `cargo metadata` of the user's own packages.
    metadata: Value,
    /// Cargo's own arguments, as far as they are for building.
    arguments: Vec<String>,
    own: Vec<String>,
    /// Copies of packages, in the place of those of the registry.
    patches: BTreeMap<String, PathBuf>,
    // Two at a time would take each other's shadow away. Held until the end.
    _lock: fs::File,
}

/// A test executable.
pub(crate) struct Binary {
    pub(crate) file: PathBuf,
    /// "src/lib.rs", "tests/bank.rs".
    pub(crate) source: String,
    /// Where its tests run.
    pub(crate) directory: PathBuf,
    /// The package it belongs to, as cargo names it.
    pub(crate) package: String,
    /// How its tests are searched.
    pub(crate) search: Search,
    /// What a command that replays a schedule has to be told.
    pub(crate) options: String,
}

/// What a build came to.
enum Built {
    Done(Vec<Binary>),
    /// It failed; what the compiler said.
    Failed(String),
}

fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// The value of an argument of cargo's, in either spelling.
fn value_of(arguments: &[String], name: &str) -> Option<String> {
    let with = format!("{name}=");
    arguments.iter().enumerate().find_map(|(k, argument)| {
        if argument == name { arguments.get(k + 1).cloned() } else { argument.strip_prefix(&with).map(Into::into) }
    })
}

/// Cargo's arguments without what is taken care of here: the manifest is in the shadow, and so is the lock file, which
/// has to change.
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
        let (root, target) = (path("workspace_root"), path("target_directory"));
        let home = target.join("whippet");
        let here = match given {
            Some(path) => fs::canonicalize(path).map_err(|e| e.to_string())?.parent().expect("a file").to_path_buf(),
            None => std::env::current_dir().map_err(|error| error.to_string())?,
        };
        let inside = nearest_manifest(&here, &root);
        let layout = sources::lay_out(&home)?;
        let lock = alone(&home)?;
        let mut project = Project {
            shadow: PathBuf::new(),
            hooked: BTreeSet::new(),
            graph: Graph::default(),
            notes: Vec::new(),
            patches: BTreeMap::new(),
            arguments: for_building(arguments),
            own: own.to_vec(),
            _lock: lock,
            home,
            root,
            target,
            inside,
            layout,
            metadata,
        };
        project.cast(&BTreeMap::new())?;
        project.lock()?;
        project.graph = Graph::new(&project.whole_metadata()?);
        Ok(project)
    }

    fn manifest(&self) -> PathBuf {
        self.shadow.join(&self.inside).join("Cargo.toml")
    }

    /// Makes the shadow, with these manifests in the place of the user's.
    fn cast(&mut self, manifests: &BTreeMap<PathBuf, PathBuf>) -> Result<(), String> {
        let mut instead = BTreeMap::from([(self.root.join("Cargo.lock"), Instead::Nothing)]);
        if self.target.starts_with(&self.root) {
            instead.insert(self.target.clone(), Instead::Nothing);
        }
        instead.extend(manifests.iter().map(|(from, to)| (from.clone(), Instead::File(to.clone()))));
        self.shadow = shadow::cast(&self.home.join("shadow"), &self.root, &instead)?;
        Ok(())
    }

    fn cargo(&self, what: &str) -> Command {
        let mut command = cargo();
        command.arg(what);
        let stand_in = ("tokio".to_string(), self.layout.tokio.clone());
        for (name, path) in self.patches.iter().map(|(name, path)| (name.clone(), path.clone())).chain([stand_in]) {
            command.arg("--config").arg(format!("patch.crates-io.{name}.path={:?}", path.display().to_string()));
        }
        if self.arguments.iter().any(|argument| argument == "--offline") && what != "test" {
            command.arg("--offline");
        }
        command
    }

    /// Makes the lock file's copy use the stand-in. That takes a while, so the result is kept.
    fn lock(&self) -> Result<(), String> {
        let (from, to) = (self.root.join("Cargo.lock"), self.shadow.join("Cargo.lock"));
        let (kept, key_file) = (self.home.join("Cargo.lock"), self.home.join("Cargo.lock.key"));
        let key = {
            let mut hasher = DefaultHasher::new();
            (fs::read(&from).ok(), &self.layout.key, &self.root).hash(&mut hasher);
            format!("{:016x}", hasher.finish())
        };
        if fs::read_to_string(&key_file).is_ok_and(|known| known == key) && fs::copy(&kept, &to).is_ok() {
            return Ok(());
        }
        self.lock_anew(&from, &to)?;
        // Without it, this is only done again the next time.
        let _ = fs::copy(&to, &kept).and_then(|_| fs::write(&key_file, key));
        Ok(())
    }

    fn lock_anew(&self, from: &Path, to: &Path) -> Result<(), String> {
        if from.exists() {
            fs::copy(from, to).map_err(|error| format!("cannot copy {}: {error}", from.display()))?;
        } else {
            let mut command = self.cargo("generate-lockfile");
            command.arg("--manifest-path").arg(self.manifest());
            if !command.stderr(Stdio::inherit()).status().is_ok_and(|status| status.success()) {
                return Err("cargo could not resolve the dependencies".into());
            }
        }
        let text = fs::read_to_string(to).map_err(|error| error.to_string())?;
        let versions = locked(&text, "tokio");
        let Some(real) = versions.iter().find(|version| version.starts_with("1.")) else {
            return Err("nothing here depends on tokio 1: there is nothing to explore".into());
        };
        if real == VERSION {
            return Ok(());
        }
        let output = self
            .cargo("update")
            .arg("--manifest-path")
            .arg(self.manifest())
            .args(["-p", &format!("tokio@{real}"), "--precise", VERSION])
            .output()
            .map_err(|error| format!("cannot run cargo: {error}"))?;
        if output.status.success() {
            return Ok(());
        }
        Err(format!(
            "cargo cannot put the stand-in in the place of tokio {real}:\n{}",
            String::from_utf8_lossy(&output.stderr)
        ))
    }

    /// `cargo metadata` of everything, with the stand-in in place.
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

    /// The settings of one of the user's packages.
    fn settings(&self, manifest: &Path) -> Result<Search, String> {
        let packages = self.metadata["packages"].as_array();
        let known = packages
            .into_iter()
            .flatten()
            .find(|package| package["manifest_path"].as_str().is_some_and(|path| Path::new(path) == manifest));
        let package = known.map_or(&Value::Null, |package| &package["metadata"]);
        settings::merged(&self.metadata["metadata"], package, &self.own)
    }

    /// Where something of the shadow is in the user's tree.
    fn real(&self, path: &Path) -> PathBuf {
        path.strip_prefix(&self.shadow).map_or_else(|_| path.to_path_buf(), |inside| self.root.join(inside))
    }

    /// Builds the tests, with the hooks that were asked for.
    pub(crate) fn build(&mut self) -> Result<Vec<Binary>, String> {
        let mut named = BTreeSet::new();
        let mut mine = BTreeMap::new();
        for package in self.graph.own().cloned().collect::<Vec<_>>() {
            let search = self.settings(&self.real(&package.directory).join("Cargo.toml"))?;
            named.extend(search.hook);
            let wanted = search.no_hook != Some(true) && !package.in_compiler;
            if wanted && self.layout.std.exists() && !memory::uses(&package).is_empty() {
                mine.insert(package.name.clone(), package);
            }
        }
        let copies = self.chosen(&named)?;
        if mine.is_empty() && copies.is_empty() {
            return self.plain_build(None);
        }
        self.hook(&mine, &copies)?;
        let said = match self.attempt()? {
            Built::Done(binaries) => return Ok(binaries),
            Built::Failed(said) => said,
        };
        if !copies.is_empty() {
            let names: Vec<&str> = copies.iter().map(|package| package.name.as_str()).collect();
            return Err(format!(
                "{said}\nwith std::sync hooked in {}, the tests do not build: name fewer crates with --hook",
                names.join(", ")
            ));
        }
        self.hook(&BTreeMap::new(), &[])?;
        let names: Vec<&str> = mine.keys().map(String::as_str).collect();
        self.plain_build(Some(format!("std::sync could not be hooked in {}: it does not build so", names.join(", "))))
    }

    fn plain_build(&mut self, note: Option<String>) -> Result<Vec<Binary>, String> {
        self.notes.extend(note);
        match self.attempt()? {
            Built::Done(binaries) => Ok(binaries),
            Built::Failed(said) => Err(format!("{said}\nthe tests do not build against the stand-in for tokio")),
        }
    }

    /// The packages that these names stand for.
    fn chosen(&self, names: &BTreeSet<String>) -> Result<Vec<Package>, String> {
        let running = self.graph.running(&BTreeSet::new());
        let mut chosen = Vec::new();
        for name in names.iter().filter(|name| *name != "all") {
            let before = chosen.len();
            chosen.extend(self.graph.named(name).filter(|package| package.registry && !package.in_compiler).cloned());
            if chosen.len() == before && !self.graph.named(name).any(|package| package.own) {
                let known: BTreeSet<&str> = running.iter().map(|(package, _)| package.name.as_str()).collect();
                let known: Vec<&str> = known.into_iter().collect();
                return Err(format!(
                    "nothing here depends on a crate `{name}` to hook; there are: {}",
                    known.join(", ")
                ));
            }
        }
        if names.contains("all") {
            let users = running.iter().filter(|(package, tasks)| *tasks && package.registry);
            chosen.extend(
                users.map(|(package, _)| (*package).clone()).filter(|package| !memory::uses(package).is_empty()),
            );
        }
        Ok(chosen)
    }

    fn hook(&mut self, mine: &BTreeMap<String, Package>, copies: &[Package]) -> Result<(), String> {
        let mut manifests = BTreeMap::new();
        for package in mine.values() {
            let real = self.real(&package.directory);
            manifests.insert(real.join("Cargo.toml"), hook::own(package, &real, &self.home, &self.layout)?);
        }
        self.patches.clear();
        for package in copies {
            self.patches.insert(package.name.clone(), hook::copy(package, &self.home, &self.layout)?);
        }
        self.hooked = mine.keys().chain(self.patches.keys()).cloned().collect();
        self.cast(&manifests)?;
        self.lock()
    }

    fn attempt(&self) -> Result<Built, String> {
        let mut command = self.cargo("test");
        let colour = std::io::stderr().is_terminal();
        let format = if colour { "json,json-diagnostic-rendered-ansi" } else { "json" };
        command.args(["--no-run", "--message-format", format]);
        command.arg("--manifest-path").arg(self.manifest());
        command.arg("--target-dir").arg(self.home.join("build"));
        command.args(&self.arguments);
        let output = command.stderr(Stdio::inherit()).output().map_err(|error| format!("cannot run cargo: {error}"))?;
        let messages: Vec<Value> = String::from_utf8_lossy(&output.stdout)
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect();
        if !output.status.success() {
            let errors = messages.iter().filter(|message| message["message"]["level"] == "error");
            let texts = errors.filter_map(|message| message["message"]["rendered"].as_str());
            return Ok(Built::Failed(texts.collect::<Vec<_>>().join("\n")));
        }
        let binaries: Result<Vec<Binary>, String> =
            messages.iter().filter_map(|message| self.binary(message)).collect();
        binaries.map(Built::Done)
    }

    fn binary(&self, message: &Value) -> Option<Result<Binary, String>> {
        let file = message["executable"].as_str().filter(|_| message["profile"]["test"] == true)?;
        let manifest = self.real(Path::new(message["manifest_path"].as_str()?));
        let directory = manifest.parent()?.to_path_buf();
        let source = self.real(Path::new(message["target"]["src_path"].as_str()?));
        let package = message["package_id"].as_str()?.to_string();
        Some(self.settings(&manifest).map(|search| Binary {
            file: file.into(),
            source: source.strip_prefix(&directory).unwrap_or(&source).display().to_string(),
            directory,
            package,
            search,
            options: self.own.iter().chain(&self.arguments).map(|word| format!(" {word}")).collect(),
        }))
    }
}

/// Waits until nobody else works here.
fn alone(home: &Path) -> Result<fs::File, String> {
    let file = home.join("lock");
    let lock = fs::File::create(&file).map_err(|error| format!("cannot write {}: {error}", file.display()))?;
    if lock.try_lock().is_err() {
        eprintln!("    Blocking waiting for another `cargo whippet` in this workspace");
        lock.lock().map_err(|error| format!("cannot lock {}: {error}", file.display()))?;
    }
    Ok(lock)
}

/// The platform that cargo builds for unless told.
fn host() -> Option<String> {
    let output = cargo().arg("-vV").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().find_map(|line| line.strip_prefix("host: ")).map(Into::into)
}

/// The versions of a package in a lock file.
fn locked(text: &str, name: &str) -> Vec<String> {
    let wanted = format!("name = \"{name}\"");
    let mut lines = text.lines();
    let mut found = Vec::new();
    while let Some(line) = lines.next() {
        if line == wanted
            && let Some(version) = lines.next().and_then(|line| line.strip_prefix("version = \""))
        {
            found.push(version.trim_end_matches('"').to_string());
        }
    }
    found
}

fn json_of(command: &mut Command) -> Result<Value, String> {
    let output = command.output().map_err(|error| format!("cannot run cargo: {error}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim_start_matches("error: ").trim().to_string());
    }
    serde_json::from_slice(&output.stdout).map_err(|error| format!("cargo's answer is not understood: {error}"))
}

/// Where the nearest manifest above `here` is, seen from `root`.
fn nearest_manifest(here: &Path, root: &Path) -> PathBuf {
    let mut above = here.ancestors().take_while(|path| path.starts_with(root));
    let found = above.find(|path| path.join("Cargo.toml").exists()).unwrap_or(root);
    found.strip_prefix(root).unwrap_or(Path::new("")).to_path_buf()
}
