//! Detects shared memory that the shim does not see.
//!
//! Tasks may share more than tokio's types: the atomics, locks and threads of `std`, and types that other crates build
//! on them. Unless the crates that use these are hooked, the operations are not events, and orders that differ only in
//! them are not distinguished: the verdict "ok" does not cover them. Therefore the sources of all packages that run in
//! the tests are scanned, and the packages that use such memory are listed with the verdict.

use crate::graph::{Graph, Package};
use crate::paths::paths;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use whippet_protocol::Reason;

/// Items of `std::sync` that only hold a value or cannot be changed.
const HARMLESS: [&str; 9] =
    ["Arc", "Weak", "PoisonError", "LockResult", "TryLockError", "TryLockResult", "Exclusive", "self", "Ordering"];

/// Items of `std::thread` that create threads or make one wait.
const THREADS: [&str; 9] = ["spawn", "scope", "Builder", "sleep", "park", "park_timeout", "yield_now", "self", "*"];

/// Crates that provide shared memory.
const CRATES: [&str; 17] = [
    "arc-swap",
    "async-channel",
    "async-lock",
    "atomic_refcell",
    "concurrent-queue",
    "crossbeam",
    "crossbeam-channel",
    "crossbeam-queue",
    "crossbeam-utils",
    "dashmap",
    "event-listener",
    "flume",
    "once_cell",
    "papaya",
    "parking_lot",
    "scc",
    "spin",
];

/// A package that uses such memory.
#[derive(Clone, Debug)]
pub(crate) struct User {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) own: bool,
    /// The uses, such as `AtomicU8 (src/lib.rs:12)`.
    pub(crate) uses: Vec<String>,
    /// `true` if the package may have tasks of its own.
    pub(crate) tasks: bool,
}

impl User {
    /// Returns the package with the first places where it uses such memory.
    fn places(&self) -> String {
        let more = self.uses.len().saturating_sub(TOLD);
        let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
        let uses = self.uses.iter().take(TOLD).cloned().collect::<Vec<_>>().join(", ");
        format!("{} {}: {uses}{rest}", self.name, self.version)
    }
}

/// Memory that tasks share and that the search does not see.
#[derive(Debug, Default)]
pub(crate) struct Unseen {
    /// The packages with tasks that use it, and those that these call.
    tasks: Vec<User>,
    below: Vec<User>,
    /// The registry packages that a test without a verdict may have stumbled over: those that the user's own sources name, and below
    /// them. Hooking these is worth a try.
    suspects: BTreeSet<String>,
}

impl Unseen {
    /// Returns the memory of all packages that are not hooked. `reached` has the names of the packages that the user's own sources name,
    /// and of all below them.
    pub(crate) fn new(users: &[User], hooked: &BTreeSet<String>, reached: &BTreeSet<String>) -> Unseen {
        let unseen = users.iter().filter(|user| !hooked.contains(&user.name)).cloned();
        let (tasks, below): (Vec<User>, Vec<User>) = unseen.partition(|user| user.tasks);
        let suspected = tasks.iter().chain(&below).filter(|user| {
            !user.own
                && reached.contains(&user.name)
                && !INERT.contains(&user.name.as_str())
                && !OF_STD.contains(&user.name.as_str())
        });
        let suspects = suspected.map(|user| user.name.clone()).collect();
        Unseen { tasks, below, suspects }
    }

    /// Returns the packages that a test without a verdict may have stumbled over.
    pub(crate) fn suspects(&self) -> Vec<String> {
        self.suspects.iter().cloned().collect()
    }

    /// Returns `true` if packages with tasks use such memory.
    pub(crate) fn is_any(&self) -> bool {
        !self.tasks.is_empty()
    }

    /// Returns the addition to the line of a test that passes with one execution: it may be one order of many.
    pub(crate) fn in_line(&self) -> String {
        let names: Vec<&str> = self.tasks.iter().map(|user| user.name.as_str()).take(TOLD).collect();
        let more = if self.tasks.len() > TOLD { " …" } else { "" };
        format!(", without the orders of what tasks share in {}{more}", names.join(", "))
    }

    /// Returns the places that a test without a verdict may have stumbled over, if the reason is that tasks share memory.
    pub(crate) fn explain(&self, reason: Option<Reason>) -> Option<String> {
        if reason != Some(Reason::SharedMemory) || !self.is_any() {
            return None;
        }
        let suspects = self.tasks.iter().chain(&self.below).filter(|user| self.suspects.contains(&user.name));
        let all: Vec<String> = suspects.map(|user| format!("\n  {}", user.places())).collect();
        if all.is_empty() {
            return None;
        }
        Some(format!(
            "memory that is not seen, with the first places:{}\nto see it: cargo whippet test --hook {}",
            all.concat(),
            self.suspects().join(",")
        ))
    }
}

/// Returns the packages that use such memory and run in the tests of `roots`.
pub(crate) fn users(graph: &Graph, roots: &BTreeSet<String>) -> Vec<User> {
    let running = graph.running(roots);
    // The shim of parking_lot stands for one version of it.
    let locks_are_seen = !running.iter().any(|(package, _)| package.name == "parking_lot");
    let channels: BTreeSet<&str> =
        running.iter().filter(|(package, _)| package.own).flat_map(|(package, _)| channels(package)).collect();
    let mut found: Vec<User> = running
        .into_iter()
        .filter_map(|(package, tasks)| {
            let tasks = tasks || channels.contains(package.name.as_str());
            let mut uses = uses(package);
            uses.retain(|what| !(locks_are_seen && what.starts_with("parking_lot::")));
            let (name, version) = (package.name.clone(), package.version.clone());
            (!uses.is_empty()).then_some(User { name, version, own: package.own, uses, tasks })
        })
        .collect();
    found.sort_by(|a, b| (!a.own, !a.tasks, &a.name).cmp(&(!b.own, !b.tasks, &b.name)));
    found
}

/// Crates that the standard library is built from. Their manifests name its parts, so they cannot be hooked.
const OF_STD: [&str; 8] =
    ["addr2line", "backtrace", "cfg-if", "gimli", "libm", "miniz_oxide", "object", "rustc-demangle"];

/// Crates whose atomics hold nothing that tasks exchange: counts of references, features of the processor, values that are set once.
const INERT: [&str; 14] = [
    "bytes",
    "getrandom",
    "hashbrown",
    "lazy_static",
    "log",
    "memchr",
    "once_cell",
    "parking_lot_core",
    "rand",
    "rand_core",
    "rustix",
    "slab",
    "tracing-core",
    "zerocopy",
];

/// Returns the names of the packages that the user's own sources name, and of all below them.
pub(crate) fn reached(graph: &Graph) -> BTreeSet<String> {
    let words = graph.own().flat_map(texts).filter_map(|(_, text)| paths(&text).ok()).flatten();
    let named: BTreeSet<String> = words.filter_map(|(path, _)| Some(path.first()?.replace('_', "-"))).collect();
    let all = graph.running(&BTreeSet::new()).into_iter().map(|(package, _)| package);
    let direct = all.filter(|package| package.registry && named.contains(&package.name.replace('_', "-")));
    let direct: BTreeSet<String> = direct.map(|package| package.name.clone()).collect();
    graph
        .with_dependencies(&direct)
        .into_iter()
        .filter(|package| package.registry)
        .map(|package| package.name.clone())
        .collect()
}

/// Returns the source files of a package, each as its path in the package and its text.
fn texts(package: &Package) -> impl Iterator<Item = (String, String)> {
    let places = if package.own { vec!["src", "tests", "examples"] } else { vec!["src"] };
    let files = places.into_iter().flat_map(|place| sources(&package.directory.join(place)));
    files.filter_map(|file| {
        let place = file.strip_prefix(&package.directory).unwrap_or(&file).display().to_string();
        Some((place, fs::read_to_string(&file).ok()?))
    })
}

/// Channels of other crates: the beginning of their paths, and their packages. Tasks of a crate that uses them talk through
/// these packages, although they do not depend on tokio.
const CHANNELS: [(&[&str], &str); 7] = [
    (&["flume"], "flume"),
    (&["async_channel"], "async-channel"),
    (&["kanal"], "kanal"),
    (&["crossbeam_channel"], "crossbeam-channel"),
    (&["crossbeam", "channel"], "crossbeam-channel"),
    (&["futures", "channel"], "futures-channel"),
    (&["futures_channel"], "futures-channel"),
];

/// Returns the packages with channels that a package uses.
fn channels(package: &Package) -> BTreeSet<&'static str> {
    texts(package).filter_map(|(_, text)| paths(&text).ok()).flatten().filter_map(|(path, _)| channel(&path)).collect()
}

/// Returns the package with channels to which a path refers, if any.
fn channel(path: &[String]) -> Option<&'static str> {
    let begins = |with: &[&str]| with.len() <= path.len() && with.iter().zip(path).all(|(word, part)| word == part);
    CHANNELS.iter().find(|(with, _)| begins(with)).map(|(_, package)| *package)
}

/// Returns the shared memory that a package uses, each kind with the place of its first use.
pub(crate) fn uses(package: &Package) -> Vec<String> {
    let mut found: Vec<(String, String)> = Vec::new();
    for (place, text) in texts(package) {
        let Ok(paths) = paths(&text) else {
            // It may use anything.
            found.push(("a file that is not valid Rust".into(), format!("{place}:1")));
            continue;
        };
        for (path, line) in paths {
            if let Some(what) = shared(&path)
                && !found.iter().any(|(known, _)| *known == what)
            {
                found.push((what, format!("{place}:{line}")));
            }
        }
    }
    found.into_iter().map(|(what, place)| format!("{what} ({place})")).collect()
}

/// `true` if the clocks of the system show virtual time to tasks: where the shim of tokio has its module `system`.
const CLOCKS_ARE_VIRTUAL: bool =
    cfg!(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64", not(target_feature = "crt-static")));

/// Returns the first place in each of the user's own packages that run in the tests of `roots` where a clock is read that
/// does not follow the virtual time of tokio tests.
pub(crate) fn clocks(graph: &Graph, roots: &BTreeSet<String>, has_tokio: bool) -> Vec<String> {
    if !has_tokio || CLOCKS_ARE_VIRTUAL {
        return Vec::new();
    }
    let own = graph.running(roots).into_iter().map(|(package, _)| package).filter(|package| package.own);
    own.filter_map(|package| Some(format!("{}: {}", package.name, clock(package)?))).collect()
}

/// Returns the first place where a package reads the real clock.
fn clock(package: &Package) -> Option<String> {
    texts(package).find_map(|(place, text)| {
        let all = paths(&text).unwrap_or_default();
        let is_real =
            |what: &str| all.iter().any(|(path, _)| path.starts_with(&["std", "time", what].map(String::from)));
        all.iter().find_map(|(path, line)| match path.as_slice() {
            [.., what, now] if now == "now" && (what == "Instant" || what == "SystemTime") && is_real(what) => {
                Some(format!("std::time::{what}::now ({place}:{line})"))
            }
            _ => None,
        })
    })
}

/// Returns the name of the shared memory to which a path refers, if any.
fn shared(path: &[String]) -> Option<String> {
    let words: Vec<&str> = path.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["std" | "core" | "alloc", "sync", "atomic", what, ..] if what.starts_with("Atomic") => Some((*what).into()),
        // The module may be used under its name.
        ["std" | "core", "sync", "atomic"] | ["std" | "core", "sync", "atomic", "*" | "self"] => Some("atomics".into()),
        ["std" | "core", "sync", "atomic", ..] => None,
        ["std", "sync", "mpsc", ..] => Some("std::sync::mpsc".into()),
        ["std", "sync", "*"] => Some("std::sync".into()),
        ["std", "sync", what, ..] if !HARMLESS.contains(what) && !what.ends_with("Guard") => {
            Some(format!("std::sync::{what}"))
        }
        ["std", "thread"] => Some("std::thread".into()),
        ["std", "thread", what, ..] if THREADS.contains(what) => Some("std::thread".into()),
        [name, what, ..] if CRATES.contains(&name.replace('_', "-").as_str()) || CRATES.contains(name) => {
            (what.starts_with(char::is_uppercase) || *what == "*").then(|| format!("{name}::{what}"))
        }
        _ => None,
    }
}

fn sources(directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let mut entries: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    entries.sort();
    let all = entries.into_iter().flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] });
    all.filter(|path| path.extension().is_some_and(|end| end == "rs")).collect()
}

/// The number of uses listed per package.
const TOLD: usize = 3;

/// Returns the note about these packages for the verdict, if one is needed. Hooked packages are left out, because the
/// shim sees their memory.
pub(crate) fn note(
    Unseen { tasks, below, .. }: &Unseen,
    hooked: &BTreeSet<String>,
    random: u64,
    (covered, explored): (usize, usize),
) -> Option<String> {
    if tasks.is_empty() || explored == 0 {
        return None;
    }
    let beside = match random {
        0 => String::new(),
        n => format!(
            "\nIn addition, {} random executions of each test were run; they are a sample.",
            whippet_report::grouped(n)
        ),
    };
    let mut text = format!(
        "{}not covered: memory that tasks share in other ways; orders that differ only there are not distinguished{beside}",
        covered_line(hooked, covered, explored)
    );
    for user in tasks {
        text += &format!("\n  {}", user.places());
    }
    if !below.is_empty() {
        text += &format!("\n  and, called by these: {}", words(below.iter().map(|user| &user.name)));
    }
    let names: Vec<&str> = tasks.iter().map(|user| user.name.as_str()).collect();
    Some(text + &format!("\nto cover it: cargo whippet test --hook {}", names.join(",")))
}

/// Returns the line on what the tests with a verdict cover.
fn covered_line(hooked: &BTreeSet<String>, covered: usize, explored: usize) -> String {
    let tests = match covered {
        0 => return String::new(),
        all if all == explored => String::new(),
        some => format!(" in {some} of {explored} tests, which were searched to the end"),
    };
    let hooked =
        if hooked.is_empty() { String::new() } else { format!(", and on std::sync in {}", words(hooked.iter())) };
    format!("covered{tests}: every order of the operations of tasks on tokio's types{hooked}\n")
}

fn words<'a>(names: impl Iterator<Item = &'a String>) -> String {
    names.cloned().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> Vec<String> {
        text.split("::").map(Into::into).collect()
    }

    #[test]
    fn channels_of_other_crates_are_known_by_their_paths() {
        for (text, package) in [
            ("flume::bounded", Some("flume")),
            ("futures::channel::mpsc::unbounded", Some("futures-channel")),
            ("futures::stream::StreamExt", None),
            ("crossbeam::channel", Some("crossbeam-channel")),
            ("tokio::sync::mpsc", None),
        ] {
            assert_eq!(channel(&path(text)), package, "{text}");
        }
    }

    #[test]
    fn a_module_of_atomics_is_shared_memory() {
        for text in ["core::sync::atomic", "std::sync::atomic::self", "std::sync::atomic::*"] {
            assert_eq!(shared(&path(text)).as_deref(), Some("atomics"), "{text}");
        }
        assert_eq!(shared(&path("std::sync::atomic::Ordering")), None);
    }

    #[test]
    fn what_is_not_seen_is_named() {
        let user = |name: &str, tasks| User {
            name: name.into(),
            version: "1.0.0".into(),
            own: false,
            uses: vec!["std::sync::Mutex (src/lib.rs:7)".into()],
            tasks,
        };
        let users = [user("bytes", true), user("criterion", true), user("flume", true), user("spin", false)];
        let reached = ["bytes", "flume", "spin"].map(String::from).into();
        let unseen = Unseen::new(&users, &BTreeSet::new(), &reached);
        assert_eq!(unseen.in_line(), ", without the orders of what tasks share in bytes, criterion, flume");
        assert_eq!(unseen.explain(Some(Reason::Threads)), None);
        let text = unseen.explain(Some(Reason::SharedMemory)).unwrap();
        let expected = "\
memory that is not seen, with the first places:
  flume 1.0.0: std::sync::Mutex (src/lib.rs:7)
  spin 1.0.0: std::sync::Mutex (src/lib.rs:7)
to see it: cargo whippet test --hook flume,spin";
        assert_eq!(text, expected);
        let hooked = ["bytes", "criterion", "flume"].map(String::from).into();
        assert!(!Unseen::new(&users, &hooked, &reached).is_any());
    }
}
