//! Builds the tests, with `std::sync` hooked where this is requested or needed.

use crate::arguments::Search;
use crate::graph::Package;
use crate::project::Project;
use crate::replay::quote;
use crate::{hook, memory};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// The kind of targets to build.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    Tests,
    Programs,
}

/// An executable that cargo has built.
#[derive(Clone)]
pub(crate) struct Binary {
    pub(crate) file: PathBuf,
    /// The name of its target.
    pub(crate) name: String,
    /// The kind and name of its target, such as `lib` or `test-bank`.
    pub(crate) target: String,
    /// The name of its package.
    pub(crate) package_name: String,
    /// The path of its source in the package, such as `src/lib.rs` or `tests/bank.rs`.
    pub(crate) source: String,
    /// The directory of its package, in which its tests run.
    pub(crate) directory: PathBuf,
    /// The id of its package, as cargo reports it.
    pub(crate) package: String,
    /// The settings for searching its tests.
    pub(crate) search: Search,
    /// The arguments that a printed replay command must repeat, quoted for a shell.
    pub(crate) options: String,
}

/// Links to executables that stay if another run builds them anew. They are removed when this is dropped.
pub(crate) struct Kept(Vec<PathBuf>);

impl Kept {
    /// Makes each binary refer to a link of its own, beside the file that cargo has built.
    pub(crate) fn link(binaries: &mut [Binary]) -> Kept {
        let mut links = Vec::new();
        for binary in binaries {
            let mut name = binary.file.file_name().unwrap_or_default().to_os_string();
            name.push(format!("{LINK}{}", std::process::id()));
            let link = binary.file.with_file_name(name);
            remove_left_over(&link);
            // Without a link, another run may replace the file meanwhile.
            if std::fs::hard_link(&binary.file, &link).is_ok() {
                binary.file.clone_from(&link);
                links.push(link);
            }
        }
        Kept(links)
    }
}

/// The part of the name of a link before the id of the process that made it.
const LINK: &str = ".whippet-";

/// Removes the links in the directory of `link` whose processes are gone, and one of this name.
fn remove_left_over(link: &Path) {
    let _ = std::fs::remove_file(link);
    let entries = link.parent().and_then(|directory| std::fs::read_dir(directory).ok());
    for entry in entries.into_iter().flatten().flatten() {
        let name = entry.file_name();
        let id = name.to_str().and_then(|name| name.rsplit_once(LINK)).and_then(|(_, id)| id.parse().ok());
        if id.is_some_and(|id| !crate::running::is_alive(id)) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        for link in &self.0 {
            let _ = std::fs::remove_file(link);
        }
    }
}

/// The result of a build.
enum Built {
    Done(Vec<Binary>),
    /// The build failed with these compiler errors, in the targets of these names.
    Failed(String, BTreeSet<String>),
}

/// Removes the packages whose targets are among these. Returns `true` if there are any.
fn leave_out(packages: &mut Vec<Package>, targets: &BTreeSet<String>) -> bool {
    let before = packages.len();
    packages.retain(|package| !targets.contains(&package.name.replace('-', "_")));
    packages.len() < before
}

impl Project {
    /// Builds the selected targets with the requested hooks.
    ///
    /// The user's own packages are hooked by default if they use shared memory. If they do not build that way, they are
    /// built without hooks, and a note says so.
    pub(crate) fn build(&mut self, what: What) -> Result<Vec<Binary>, String> {
        let mut named = BTreeSet::new();
        let mut mine = BTreeMap::new();
        for package in self.graph.own().cloned().collect::<Vec<_>>() {
            let search = self.settings(&self.real(&package.directory).join("Cargo.toml"))?;
            named.extend(search.hooks.hook);
            let wanted = search.hooks.no_hook != Some(true) && !package.in_compiler;
            if wanted && !memory::uses(&package).is_empty() {
                mine.insert(package.name.clone(), package);
            }
        }
        let mut copies = self.chosen(&named)?;
        if mine.is_empty() && copies.is_empty() {
            return self.plain_build(what, None);
        }
        let said = loop {
            self.hook(&mine, &copies)?;
            match self.attempt(what)? {
                Built::Done(binaries) => return Ok(binaries),
                // Libraries that were only worth a try are left out if they do not build with hooks.
                Built::Failed(_, targets) if self.tries_hooks && leave_out(&mut copies, &targets) => {
                    // The commands to replay must build the same.
                    let names: Vec<&str> = copies.iter().map(|package| package.name.as_str()).collect();
                    if let Some(hooks) = self.own.last_mut() {
                        *hooks = names.join(",");
                    }
                }
                Built::Failed(said, _) => break said,
            }
        };
        if !copies.is_empty() {
            let names: Vec<&str> = copies.iter().map(|package| package.name.as_str()).collect();
            return Err(format!(
                "{said}\nthe build fails with std::sync hooked in {}: name fewer crates with --hook",
                names.join(", ")
            ));
        }
        // If the errors are not due to the hooks, the next build shows them again, and ends the run.
        eprintln!("{said}\nwarning: the build fails with std::sync hooked, so it is tried without");
        self.hook(&BTreeMap::new(), &[])?;
        let names: Vec<&str> = mine.keys().map(String::as_str).collect();
        self.plain_build(
            what,
            Some(format!("std::sync could not be hooked in {}: the build fails with hooks", names.join(", "))),
        )
    }

    fn plain_build(&mut self, what: What, note: Option<String>) -> Result<Vec<Binary>, String> {
        self.notes.extend(note);
        match self.attempt(what)? {
            Built::Done(binaries) => Ok(binaries),
            Built::Failed(said, _) => Err(format!("{said}\nthe build against the shim of tokio failed")),
        }
    }

    /// Returns the registry packages that these names select.
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
                    "cannot hook `{name}`: no package here depends on it; the dependencies are: {}",
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
        let manifests = mine.values().map(|package| self.real(&package.directory).join("Cargo.toml")).collect();
        self.patches.clear();
        for package in copies {
            self.patches.insert(package.name.clone(), hook::copy(package, &self.home, &self.layout)?);
        }
        self.hooked = mine.keys().chain(self.patches.keys()).cloned().collect();
        self.build_overlay(&manifests)?;
        self.lock()
    }

    fn attempt(&self, what: What) -> Result<Built, String> {
        let mut command = match what {
            What::Tests => {
                let mut command = self.cargo("test");
                command.arg("--no-run");
                command
            }
            What::Programs => self.cargo("build"),
        };
        let colour = std::io::stderr().is_terminal();
        let format = if colour { "json,json-diagnostic-rendered-ansi" } else { "json" };
        command.args(["--message-format", format]);
        command.arg("--manifest-path").arg(self.manifest());
        command.arg("--target-dir").arg(self.home.join("build"));
        command.args(&self.arguments);
        let output = command.stderr(Stdio::inherit()).output().map_err(|error| format!("cannot run cargo: {error}"))?;
        let messages: Vec<Value> = String::from_utf8_lossy(&output.stdout)
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect();
        if !output.status.success() {
            let errors = || messages.iter().filter(|message| message["message"]["level"] == "error");
            let texts: Vec<&str> = errors().filter_map(|message| message["message"]["rendered"].as_str()).collect();
            let targets = errors().filter_map(|message| message["target"]["name"].as_str().map(Into::into));
            return Ok(Built::Failed(texts.join("\n"), targets.collect()));
        }
        let binaries: Result<Vec<Binary>, String> =
            messages.iter().filter_map(|message| self.binary(what, message)).collect();
        let mut binaries = binaries?;
        // Cargo reports the binaries in any order.
        binaries.sort_by(|a, b| (&a.directory, &a.source).cmp(&(&b.directory, &b.source)));
        Ok(Built::Done(binaries))
    }

    fn binary(&self, what: What, message: &Value) -> Option<Result<Binary, String>> {
        let wanted = message["profile"]["test"] == (what == What::Tests);
        let file = message["executable"].as_str().filter(|_| wanted)?;
        let name = message["target"]["name"].as_str()?.to_string();
        let manifest = self.real(Path::new(message["manifest_path"].as_str()?));
        let directory = manifest.parent()?.to_path_buf();
        let source = self.real(Path::new(message["target"]["src_path"].as_str()?));
        let package = message["package_id"].as_str()?.to_string();
        let kind = message["target"]["kind"][0].as_str()?;
        let target =
            if ["bin", "test", "example", "bench"].contains(&kind) { format!("{kind}-{name}") } else { "lib".into() };
        let package_name = self.package_name(&manifest);
        Some(self.settings(&manifest).map(|search| Binary {
            file: file.into(),
            name,
            target,
            package_name,
            source: source.strip_prefix(&directory).unwrap_or(&source).display().to_string(),
            directory,
            package,
            search,
            options:
                self.own.iter().chain(&self.arguments).map(|word| quote(word.as_ref())).collect::<Vec<_>>().join(" "),
        }))
    }
}
