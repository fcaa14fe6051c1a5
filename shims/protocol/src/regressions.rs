//! Schedules of failures that are kept in the user's package, to be re-run before every later search.
//!
//! They are in the directory `whippet-regressions` of the package, one file per schedule, and are meant to be committed.
//! A file is named after the test binary, the test and its own content, so that nothing is ever overwritten.

use crate::{OFF, Settings};
use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use whippet_model::{Decides, Schedule, Verdict};
use whippet_report::{create_directory, write_file};
use whippet_search::{ReplayError, Replayed};

/// The name of the directory in a package.
const DIRECTORY: &str = "whippet-regressions";

/// The longest schedule that is kept. Longer ones show endless executions.
const MOST_STEPS: usize = 2_000;

/// The kept schedules of one test.
///
/// ```
/// use whippet_model::Schedule;
/// use whippet_protocol::Regressions;
/// let directory = std::env::temp_dir().join(format!("whippet-kept-{}", std::process::id()));
/// let kept = Regressions::new(&directory, "bank", "two_customers");
/// let file = kept.keep(&Schedule::new("two_customers", Default::default(), vec![])).unwrap().unwrap();
/// assert!(file.file_name().unwrap().to_str().unwrap().starts_with("bank.two_customers-"));
/// assert_eq!(kept.read().len(), 1);
/// std::fs::remove_dir_all(directory).unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct Regressions {
    directory: PathBuf,
    stem: String,
}

/// A kept schedule: its file, and the reason if it cannot be read.
#[derive(Debug)]
pub struct KeptSchedule {
    /// The file.
    pub file: PathBuf,
    /// The schedule.
    pub schedule: Result<Schedule, String>,
}

/// The result of re-running a kept schedule.
///
/// ```
/// use whippet_protocol::{Regression, RegressionState};
/// let regression = Regression { file: "a.json".into(), state: RegressionState::Fixed, reason: String::new() };
/// assert_eq!(regression.to_string(), "a.json: fixed: this schedule no longer fails");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Regression {
    /// The file.
    pub file: PathBuf,
    /// The result.
    pub state: RegressionState,
    /// The reason, for schedules that could not be re-run.
    pub reason: String,
}

/// The state of a kept schedule.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RegressionState {
    /// It still leads to a failure.
    Fails,
    /// It no longer does.
    Fixed,
    /// It does not fit the program any more.
    Outdated,
    /// It is no schedule, or one of another version.
    Damaged,
}

impl Regression {
    /// Describes the result in one line.
    fn text(&self) -> String {
        let name =
            |path: Option<&Path>| path.and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned();
        let file = Path::new(&name(self.file.parent())).join(name(Some(&self.file)));
        let file = file.display();
        match self.state {
            RegressionState::Fails => format!("{file}: this schedule still fails"),
            RegressionState::Fixed => format!("{file}: fixed: this schedule no longer fails"),
            RegressionState::Outdated => {
                format!("{file}: outdated, delete it: {}", self.reason)
            }
            RegressionState::Damaged => format!("{file}: cannot be used, delete it: {}", self.reason),
        }
    }
}

impl std::fmt::Display for Regression {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text())
    }
}

impl Regressions {
    /// Returns the kept schedules of a test in this directory. `binary` is the name of the test binary.
    #[must_use]
    pub fn new(directory: &Path, binary: &str, test: &str) -> Regressions {
        let plain = |text: &str| -> String {
            text.replace("::", "-")
                .chars()
                .map(|c| if c.is_alphanumeric() || c == '_' || c == '-' { c } else { '~' })
                .collect()
        };
        Regressions { directory: directory.into(), stem: format!("{}.{}", plain(binary), plain(test)) }
    }

    /// Returns the kept schedules of a test of this process, or `None` if they are switched off or if cargo did not
    /// start this process, so that the directory of the package is not known.
    #[must_use]
    pub fn of_this_process(settings: &Settings, test: &str) -> Option<Regressions> {
        let package = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR")?);
        let program = std::env::current_exe().ok()?;
        Some(Regressions::new(&Regressions::directory(settings, &package)?, &binary_name(&program), test))
    }

    /// Returns the directory for a package, or `None` if regressions are switched off.
    ///
    /// ```
    /// use whippet_protocol::{Regressions, Settings};
    /// let off = Settings { regressions: Some("off".into()), ..Settings::default() };
    /// assert_eq!(Regressions::directory(&off, "bank".as_ref()), None);
    /// let usual = Regressions::directory(&Settings::default(), "bank".as_ref());
    /// assert_eq!(usual.unwrap(), std::path::Path::new("bank/whippet-regressions"));
    /// ```
    #[must_use]
    pub fn directory(settings: &Settings, package: &Path) -> Option<PathBuf> {
        match settings.regressions.as_deref() {
            Some(OFF) => None,
            Some(directory) => Some(package.join(directory)),
            None => Some(package.join(DIRECTORY)),
        }
    }

    /// Reads the kept schedules, in the order of their names.
    #[must_use]
    pub fn read(&self) -> Vec<KeptSchedule> {
        let mut files: Vec<PathBuf> = std::fs::read_dir(&self.directory)
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path())
            .filter(|file| self.is_mine(file))
            .collect();
        files.sort();
        files.into_iter().map(|file| KeptSchedule { schedule: read(&file), file }).collect()
    }

    /// Returns `true` if a file is named `STEM-XXXXXXXX.json`.
    fn is_mine(&self, file: &Path) -> bool {
        let name = file.file_name().and_then(OsStr::to_str).unwrap_or_default();
        let rest = name.strip_prefix(&self.stem).and_then(|rest| rest.strip_prefix('-'));
        let hash = rest.and_then(|rest| rest.strip_suffix(".json"));
        hash.is_some_and(|hash| hash.len() == 8 && hash.chars().all(|c| c.is_ascii_hexdigit()))
    }

    /// Keeps a schedule, unless it is too long. Returns its file, which may have been there before.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn keep(&self, schedule: &Schedule) -> io::Result<Option<PathBuf>> {
        if schedule.decisions.len() > MOST_STEPS {
            return Ok(None);
        }
        let text = schedule.to_json();
        let file = self.directory.join(format!("{}-{:08x}.json", self.stem, hash(&text)));
        if !file.exists() {
            create_directory(&self.directory)?;
            write_file(&file, &text)?;
        }
        Ok(Some(file))
    }
}

/// The results of re-running the kept schedules of a test.
#[derive(Debug, Default)]
pub struct Rerun {
    /// The result of each schedule. Those after the first one that still fails are not re-run.
    pub regressions: Vec<Regression>,
    /// The findings of the schedule that still fails.
    pub failing: Option<Verdict>,
}

impl Regressions {
    /// Re-runs the kept schedules, up to the first one that still fails, which is explained. `warnings` says whether
    /// warnings are failures.
    #[must_use]
    pub fn rerun(
        &self,
        warnings: bool,
        replay: &dyn Fn(&Schedule) -> Result<Replayed, ReplayError>,
        explain: &dyn Fn(&Schedule) -> Option<Decides>,
    ) -> Rerun {
        let mut rerun = Rerun::default();
        for KeptSchedule { file, schedule } in self.read() {
            let (state, reason, findings) = match schedule {
                Err(reason) => (RegressionState::Damaged, reason, Vec::new()),
                Ok(schedule) => match replay(&schedule) {
                    Err(error) => (RegressionState::Outdated, error.to_string(), Vec::new()),
                    Ok(replayed) => match replayed.findings(&schedule, warnings) {
                        findings if findings.is_empty() => (RegressionState::Fixed, String::new(), findings),
                        mut findings => {
                            let decides = explain(&schedule);
                            findings.iter_mut().for_each(|finding| finding.decides.clone_from(&decides));
                            (RegressionState::Fails, String::new(), findings)
                        }
                    },
                },
            };
            rerun.regressions.push(Regression { file, state, reason });
            if state == RegressionState::Fails {
                let mut verdict = Verdict::default();
                verdict.findings = findings;
                verdict.counters.executions = rerun.regressions.len() as u64;
                rerun.failing = Some(verdict);
                break;
            }
        }
        rerun
    }
}

fn read(file: &Path) -> Result<Schedule, String> {
    let text = std::fs::read_to_string(file).map_err(|error| error.to_string())?;
    Schedule::from_json(&text).map_err(|error| error.to_string())
}

/// Returns the name of the target that an executable was built from: cargo adds a hash to it, and `cargo whippet` the
/// number of a process.
fn binary_name(program: &Path) -> String {
    let name = program.file_name().and_then(OsStr::to_str).unwrap_or_default();
    let name = name.split('.').next().unwrap_or_default();
    let is_hash = |end: &str| end.len() == 16 && end.chars().all(|c| c.is_ascii_hexdigit());
    name.rsplit_once('-').filter(|(_, end)| is_hash(end)).map_or(name, |(name, _)| name).to_string()
}

/// Returns the FNV-1a hash of a text, which is the same on every machine.
fn hash(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binaries_are_named_after_their_targets() {
        let name = |file: &str| binary_name(Path::new(file));
        assert_eq!(name("target/debug/deps/bank-0123456789abcdef"), "bank");
        assert_eq!(name("target/debug/deps/bank-0123456789abcdef.whippet-77"), "bank");
        assert_eq!(name("target/debug/bank.exe"), "bank");
        assert_eq!(name("target/debug/examples/two-banks"), "two-banks");
    }

    #[test]
    fn only_files_of_the_test_are_read() {
        let directory = std::env::temp_dir().join(format!("whippet-regressions-{}", std::process::id()));
        let of = |test: &str| Regressions::new(&directory, "bank", test);
        let schedule = |program: &str| Schedule::new(program, Default::default(), vec![]);
        of("two").keep(&schedule("two")).unwrap();
        of("two").keep(&schedule("two")).unwrap();
        of("two-more").keep(&schedule("two-more")).unwrap();
        std::fs::write(directory.join("bank.two-00000000.json"), "{").unwrap();
        let read = of("two").read();
        assert_eq!(read.len(), 2, "{read:?}");
        assert!(read[0].schedule.as_ref().unwrap_err().contains("no schedule, or a damaged one"));
        assert_eq!(read[1].schedule.as_ref().unwrap().program, "two");
        std::fs::remove_dir_all(directory).unwrap();
    }
}
