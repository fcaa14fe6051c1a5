//! Saving searches: `--checkpoint`, and what is saved without it.
//!
//! A search with `--checkpoint DIR` is saved in DIR every few seconds. A search without it is saved after half a minute, if the
//! current directory has a directory `target`, below that. `store.rs` is the database, `identity.rs` decides if a
//! saved search is this one.

mod identity;
mod store;

pub(crate) use identity::hash;
pub(crate) use store::SavedCommand;

use crate::args::Explore;
use crate::chosen::ChosenProgram;
use crate::error::CommandError;
use crate::output::print_note;
use identity::Identity;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use store::{Loaded, Store};
use whippet_model::{LimitHit, Verdict};
use whippet_report::grouped;
use whippet_search::{Checkpoint, Checkpoints, Options, Reduction};

/// The time after which a search is saved although nobody asked for it.
const UNASKED_AFTER: Duration = Duration::from_secs(30);

/// The directory of Cargo's output, and of searches that are saved although nobody asked for it.
const TARGET: &str = "target";
const SEARCHES: &str = "whippet/searches";

/// Saving takes at most one part in this many of the time.
const FRACTION: u32 = 20;

/// Saves one search.
#[derive(Debug)]
pub(crate) struct Keeper {
    /// The directory, if the user asked for one.
    directory: Option<PathBuf>,
    every: Duration,
    /// The identity of the search, without the executable.
    identity: Identity,
    command: SavedCommand,
    begin: Option<Checkpoint>,
    state: Mutex<KeeperState>,
}

#[derive(Debug)]
struct KeeperState {
    /// `None` as long as nothing is to be saved, and if it cannot be.
    store: Option<Store>,
    failed: bool,
    /// The time that the last save took.
    took: Duration,
}

impl Keeper {
    /// Returns `true` if searches with this reduction can be saved.
    pub(crate) fn can_save(reduction: Reduction) -> bool {
        use Reduction::{Exhaustive, Optimal, Parsimonious, Source};
        matches!(reduction, Exhaustive | Optimal | Parsimonious | Source)
    }

    /// Returns `true` if the search of a command is saved if asked for. What one method was called with, and the branches that were
    /// reached, are known to one process only.
    fn is_possible(command: &Explore, options: &Options) -> bool {
        Keeper::can_save(options.reduction) && command.program.method.is_none()
    }

    /// Prepares to save a search, and reads what was saved of it. Returns `None` if it is not to be saved.
    pub(crate) fn new(
        command: &Explore,
        line: &SavedCommand,
        target: &ChosenProgram,
        options: &Options,
    ) -> Result<Option<Arc<Keeper>>, CommandError> {
        let can_be_saved = Keeper::is_possible(command, options);
        let asked = command.checkpoint.is_some();
        let unasked = !command.no_checkpoint && Path::new(TARGET).is_dir();
        if !can_be_saved || !(asked || unasked) {
            return Ok(None);
        }
        let mut keeper = Keeper {
            directory: command.checkpoint.clone(),
            every: command.checkpoint_seconds,
            identity: Identity::of(target, options),
            command: line.clone(),
            begin: None,
            state: Mutex::new(KeeperState { store: None, failed: false, took: Duration::ZERO }),
        };
        match keeper.load() {
            Ok(()) => Ok(Some(Arc::new(keeper))),
            Err(why) if asked => Err(CommandError::Usage(why)),
            Err(why) => {
                print_note(format_args!("{why}; this search is not saved"));
                Ok(None)
            }
        }
    }

    /// Returns the identity of the search, and the directory in which it is saved.
    fn place(&self) -> Result<(Identity, PathBuf), String> {
        let identity = self.identity.clone().with_executable()?;
        let below_target = || Path::new(TARGET).join(SEARCHES).join(identity.directory_name());
        let directory = self.directory.clone().unwrap_or_else(below_target);
        Ok((identity, directory))
    }

    /// Opens the store if it exists or was asked for, and reads it.
    fn load(&mut self) -> Result<(), String> {
        if self.directory.is_none() && !Path::new(TARGET).join(SEARCHES).is_dir() {
            return Ok(());
        }
        let (identity, directory) = self.place()?;
        if self.directory.is_none() && !Store::exists(&directory) {
            return Ok(());
        }
        let mut store = Store::open(&directory)?;
        match store.load()? {
            None => store.begin(&identity, &self.command)?,
            Some(Loaded { identity: saved, checkpoint, lost }) => {
                let differences = saved.differences(&identity);
                if !differences.is_empty() {
                    let directory = directory.display();
                    return Err(format!("{directory} has the state of another search: {}", differences.join("; ")));
                }
                if let Some(lost) = lost {
                    print_note(lost);
                }
                print_note(format_args!(
                    "the search continues from {}, after {} executions in {:.1} s",
                    directory.display(),
                    grouped(checkpoint.counters().executions),
                    checkpoint.elapsed().as_secs_f64()
                ));
                self.begin = Some(checkpoint);
            }
        }
        self.lock().store = Some(store);
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, KeeperState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes a state, into a new store if there is none yet.
    fn write(&self, state: &mut KeeperState, checkpoint: &Checkpoint) -> Result<(), String> {
        if state.store.is_none() {
            let (identity, directory) = self.place()?;
            let mut store = Store::open(&directory)?;
            store.begin(&identity, &self.command)?;
            state.store = Some(store);
        }
        let start = Instant::now();
        let saved = state.store.as_mut().map_or(Ok(()), |store| store.save(checkpoint));
        state.took = start.elapsed();
        saved
    }

    /// Ends saving: removes the store if there is a verdict that will not change, and otherwise says how to continue.
    pub(crate) fn finish(&self, verdict: &Verdict) {
        let Some(store) = self.lock().store.take() else { return };
        let can_continue = [LimitHit::Interrupted, LimitHit::Time, LimitHit::Executions];
        let continues = !verdict.complete && verdict.limits.iter().any(|limit| can_continue.contains(limit));
        let has_state = store.load().is_ok_and(|loaded| loaded.is_some());
        if !continues || !has_state {
            return store.remove();
        }
        let directory = store.directory().display().to_string();
        print_note(format_args!(
            "the search is saved: `whippet resume {}`, or the same command again, continues it",
            crate::explore::quoted([&*directory])
        ));
    }
}

impl Checkpoints for Keeper {
    fn begin(&self) -> Option<Checkpoint> {
        self.begin.clone()
    }

    fn interval(&self) -> Duration {
        let state = self.lock();
        match &state.store {
            None => UNASKED_AFTER,
            Some(_) => self.every.max(state.took * FRACTION),
        }
    }

    fn save(&self, checkpoint: &Checkpoint) {
        let mut state = self.lock();
        let too_early = self.directory.is_none() && checkpoint.elapsed() < UNASKED_AFTER;
        if state.failed || too_early {
            return;
        }
        if let Err(why) = self.write(&mut state, checkpoint) {
            print_note(why);
            (state.failed, state.store) = (true, None);
        }
    }

    fn discard(&self) {
        if let Some(store) = self.lock().store.take() {
            store.remove();
        }
    }
}

/// Returns the command that began the search that is saved in this directory.
pub(crate) fn saved_command(directory: &Path) -> Result<SavedCommand, CommandError> {
    let none = || CommandError::usage(format_args!("{} has no saved search", directory.display()));
    if !Store::exists(directory) {
        return Err(none());
    }
    Store::open(directory).map_err(CommandError::Usage)?.command().ok_or_else(none)
}

/// Returns the command line of this process.
pub(crate) fn this_command() -> SavedCommand {
    let directory = std::env::current_dir().unwrap_or_default();
    SavedCommand { arguments: std::env::args().skip(1).collect(), directory }
}
