//! The user's workspace, built against the stand-in without touching it.
//!
//! Cargo keeps the lock file beside the workspace's manifest, and an existing one pins the real tokio. So tests are built
//! in a shadow: a directory of links to everything in the workspace but the lock file, of which it has a copy.

use crate::sources;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The version of the stand-in: above every real one.
const VERSION: &str = "1.999.0";

pub(crate) struct Project {
    /// What belongs to whippet, below the user's target directory.
    pub(crate) home: PathBuf,
    shadow: PathBuf,
    manifest: PathBuf,
    pub(crate) packages: Vec<Value>,
    stand_in: PathBuf,
}

/// A test executable.
pub(crate) struct Binary {
    pub(crate) file: PathBuf,
    /// "src/lib.rs", "tests/bank.rs".
    pub(crate) source: String,
    /// Where its tests run.
    pub(crate) directory: PathBuf,
    /// The package's `[package.metadata.whippet]`.
    pub(crate) metadata: Value,
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

impl Project {
    pub(crate) fn open(arguments: &[String]) -> Result<Project, String> {
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
        let stand_in = sources::lay_out(&home)?;
        let shadow = shadow(&home, &root, &target)?;
        let manifest = shadow.join(inside).join("Cargo.toml");
        let packages = metadata["packages"].as_array().cloned().unwrap_or_default();
        let project = Project { home, shadow, manifest, packages, stand_in };
        project.lock(&root)?;
        Ok(project)
    }

    fn cargo(&self, what: &str) -> Command {
        let mut command = cargo();
        command.arg(what).current_dir(&self.shadow);
        command.arg("--config").arg(format!("patch.crates-io.tokio.path={:?}", self.stand_in.display().to_string()));
        command
    }

    /// Makes the lock file's copy use the stand-in.
    fn lock(&self, root: &Path) -> Result<(), String> {
        let (from, to) = (root.join("Cargo.lock"), self.shadow.join("Cargo.lock"));
        if from.exists() {
            fs::copy(&from, &to).map_err(|error| format!("cannot copy {}: {error}", from.display()))?;
        } else {
            let done = self.cargo("generate-lockfile").stderr(Stdio::inherit()).status();
            if !done.is_ok_and(|status| status.success()) {
                return Err("cargo could not resolve the dependencies".into());
            }
        }
        let text = fs::read_to_string(&to).map_err(|error| error.to_string())?;
        let versions = locked(&text, "tokio");
        let Some(real) = versions.iter().find(|version| version.starts_with("1.")) else {
            return Err("nothing here depends on tokio 1: there is nothing to explore".into());
        };
        if real == VERSION {
            return Ok(());
        }
        let output = self
            .cargo("update")
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

    /// Builds the tests.
    pub(crate) fn build(&self, arguments: &[String]) -> Result<Vec<Binary>, String> {
        let mut command = self.cargo("test");
        command.args(["--no-run", "--message-format=json-render-diagnostics"]);
        command.arg("--manifest-path").arg(&self.manifest);
        command.arg("--target-dir").arg(self.home.join("build"));
        let mut skip = false;
        for argument in arguments {
            let path = argument == "--manifest-path";
            if !skip && !path && !argument.starts_with("--manifest-path=") {
                command.arg(argument);
            }
            skip = path;
        }
        let output = command.stderr(Stdio::inherit()).output().map_err(|error| format!("cannot run cargo: {error}"))?;
        if !output.status.success() {
            return Err("the tests do not build against the stand-in: see above".into());
        }
        Ok(String::from_utf8_lossy(&output.stdout).lines().filter_map(|line| self.binary(line)).collect())
    }

    fn binary(&self, line: &str) -> Option<Binary> {
        let message: Value = serde_json::from_str(line).ok()?;
        let file = message["executable"].as_str().filter(|_| message["profile"]["test"] == true)?;
        let package = Path::new(message["manifest_path"].as_str()?).parent()?;
        let source = Path::new(message["target"]["src_path"].as_str()?);
        let inside = package.strip_prefix(&self.shadow).unwrap_or(package);
        let known = self.packages.iter().find(|known| {
            known["manifest_path"].as_str().is_some_and(|path| Path::new(path).ends_with(inside.join("Cargo.toml")))
        });
        Some(Binary {
            file: file.into(),
            source: source.strip_prefix(package).unwrap_or(source).display().to_string(),
            directory: package.to_path_buf(),
            metadata: known.map_or(Value::Null, |package| package["metadata"]["whippet"].clone()),
        })
    }

    /// Everything that the tests are built from: name and directory of each package that uses tokio, the user's own first.
    pub(crate) fn users_of_tokio(&self) -> Vec<(String, PathBuf)> {
        let mut command = self.cargo("metadata");
        command.args(["--format-version", "1", "--manifest-path"]).arg(&self.manifest);
        let Ok(metadata) = json_of(&mut command) else { return Vec::new() };
        let packages = metadata["packages"].as_array().cloned().unwrap_or_default();
        let uses = |package: &Value| {
            package["dependencies"].as_array().is_some_and(|list| list.iter().any(|dep| dep["name"] == "tokio"))
        };
        let reached = reached(&metadata["resolve"]);
        let mut found: Vec<(bool, String, PathBuf)> = packages
            .iter()
            .filter(|package| uses(package) && package["id"].as_str().is_some_and(|id| reached.contains(id)))
            .filter_map(|package| {
                let directory = Path::new(package["manifest_path"].as_str()?).parent()?.to_path_buf();
                Some((!package["source"].is_null(), package["name"].as_str()?.to_string(), directory))
            })
            .collect();
        found.sort();
        found.into_iter().map(|(_, name, directory)| (name, directory)).collect()
    }
}

/// The packages that the chosen one is built from; all of them where a whole workspace is chosen.
fn reached(resolve: &Value) -> BTreeSet<String> {
    let nodes = resolve["nodes"].as_array().cloned().unwrap_or_default();
    let id = |node: &Value| node["id"].as_str().unwrap_or_default().to_string();
    let Some(root) = resolve["root"].as_str() else { return nodes.iter().map(id).collect() };
    let (mut reached, mut next) = (BTreeSet::new(), vec![root.to_string()]);
    while let Some(package) = next.pop() {
        if reached.insert(package.clone())
            && let Some(node) = nodes.iter().find(|node| node["id"] == package.as_str())
        {
            let needs = node["dependencies"].as_array().into_iter().flatten();
            next.extend(needs.filter_map(Value::as_str).map(Into::into));
        }
    }
    reached
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

/// Makes the shadow of `root`. Its neighbours get links too, for dependencies with a path like `../other`.
fn shadow(home: &Path, root: &Path, target: &Path) -> Result<PathBuf, String> {
    let around = home.join("shadow");
    if around.exists() {
        fs::remove_dir_all(&around).map_err(|error| format!("cannot renew {}: {error}", around.display()))?;
    }
    let name = root.file_name().map_or_else(|| "root".into(), PathBuf::from);
    let shadow = around.join(&name);
    fs::create_dir_all(&shadow).map_err(|error| format!("cannot make {}: {error}", shadow.display()))?;
    if let Some(parent) = root.parent() {
        link_all(parent, &around, |path| path == root)?;
    }
    link_all(root, &shadow, |path| path == target || path.ends_with("Cargo.lock"))?;
    Ok(shadow)
}

fn link_all(from: &Path, to: &Path, skip: impl Fn(&Path) -> bool) -> Result<(), String> {
    let Ok(entries) = fs::read_dir(from) else { return Ok(()) };
    for entry in entries.flatten().filter(|entry| !skip(&entry.path())) {
        link(&entry.path(), &to.join(entry.file_name()))
            .map_err(|error| format!("cannot make a link to {}: {error}", entry.path().display()))?;
    }
    Ok(())
}

#[cfg(unix)]
fn link(from: &Path, to: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(from, to)
}

#[cfg(windows)]
fn link(from: &Path, to: &Path) -> std::io::Result<()> {
    if from.is_dir() {
        std::os::windows::fs::symlink_dir(from, to)
    } else {
        std::os::windows::fs::symlink_file(from, to)
    }
}
