//! The store of a saved search: a database of one file, in which a transaction is written as a whole or not at all.
//!
//! It holds the identity of the search, the command that began it, and its two newest states. A state replaces
//! the one before the last, so the size of the store follows the size of what is open. Each state has a checksum: if the newest
//! one is damaged, the one before it is used.

use super::identity::{Identity, hash};
use redb::{Database, DatabaseError, ReadableDatabase, ReadableTable, StorageError, TableDefinition};
use serde::{Deserialize, Serialize};
use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};
use whippet_search::Checkpoint;

/// The file in the directory of a search.
const FILE: &str = "search.redb";

/// The name of the file until it is a database: a process that is killed while it creates one leaves something else.
const NEW_FILE: &str = "search.new";

/// What a store says about itself, by the names below.
const ABOUT: TableDefinition<'_, &str, &str> = TableDefinition::new("about");
const IDENTITY: &str = "identity";
const COMMAND: &str = "command";

/// The states with their checksums, by number.
const STATES: TableDefinition<'_, u64, (&str, &str)> = TableDefinition::new("states");

/// The command that began a search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SavedCommand {
    /// The arguments, without the name of the executable.
    pub(crate) arguments: Vec<String>,
    /// The directory in which it was called.
    pub(crate) directory: PathBuf,
}

/// An open store.
#[derive(Debug)]
pub(super) struct Store {
    database: Database,
    directory: PathBuf,
    next: u64,
}

/// What was read from a store.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) identity: Identity,
    pub(super) checkpoint: Checkpoint,
    /// What was lost because the store is damaged.
    pub(super) lost: Option<String>,
}

impl Store {
    /// Returns `true` if a directory has a store.
    pub(super) fn exists(directory: &Path) -> bool {
        directory.join(FILE).is_file()
    }

    /// Opens the store in this directory, which is created if it does not exist.
    pub(super) fn open(directory: &Path) -> Result<Store, String> {
        let fails = |why: &dyn Display| format!("cannot save the search in {}: {why}", directory.display());
        fs::create_dir_all(directory).map_err(|why| fails(&why))?;
        let database = open_or_create(directory).map_err(|error| match error {
            DatabaseError::DatabaseAlreadyOpen => {
                format!("another search is being saved in {}", directory.display())
            }
            error if is_damage(&error) => format!(
                "the search saved in {} is damaged and cannot be continued ({error}): remove the directory to begin anew",
                directory.display()
            ),
            error => fails(&error),
        })?;
        let mut store = Store { database, directory: directory.to_path_buf(), next: 0 };
        store.next = store.numbers().map_err(|why| fails(&why))?.last().map_or(0, |last| last + 1);
        Ok(store)
    }

    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns the numbers of the states, in order.
    fn numbers(&self) -> Result<Vec<u64>, redb::Error> {
        let write = self.database.begin_write()?;
        let numbers = {
            write.open_table(ABOUT)?;
            let states = write.open_table(STATES)?;
            states.iter()?.map(|state| Ok(state?.0.value())).collect::<Result<_, redb::Error>>()?
        };
        write.commit()?;
        Ok(numbers)
    }

    /// Begins to save a search: forgets everything that the store contains.
    pub(super) fn begin(&mut self, identity: &Identity, command: &SavedCommand) -> Result<(), String> {
        self.begin_inner(identity, command).map_err(|why| self.cannot_write(&why))
    }

    fn begin_inner(&mut self, identity: &Identity, command: &SavedCommand) -> Result<(), redb::Error> {
        let write = self.database.begin_write()?;
        {
            write.open_table(STATES)?.retain(|_, _| false)?;
            let mut about = write.open_table(ABOUT)?;
            about.insert(IDENTITY, &*json(identity))?;
            about.insert(COMMAND, &*json(command))?;
        }
        Ok(write.commit()?)
    }

    /// Saves a state. When this returns, the state survives the process and a loss of power.
    pub(super) fn save(&mut self, checkpoint: &Checkpoint) -> Result<(), String> {
        self.save_inner(checkpoint).map_err(|why| self.cannot_write(&why))
    }

    fn save_inner(&mut self, checkpoint: &Checkpoint) -> Result<(), redb::Error> {
        let text = checkpoint.to_json();
        let (sum, next) = (hash(&text), self.next);
        let write = self.database.begin_write()?;
        {
            let mut states = write.open_table(STATES)?;
            states.insert(next, (&*sum, &*text))?;
            states.retain(|number, _| number + 1 >= next)?;
        }
        write.commit()?;
        self.next += 1;
        Ok(())
    }

    fn cannot_write(&self, why: &dyn Display) -> String {
        format!("cannot save the search in {}: {why}", self.directory.display())
    }

    /// Reads the newest state that is not damaged. Returns `None` if nothing has been saved yet.
    pub(super) fn load(&self) -> Result<Option<Loaded>, String> {
        let damaged = |why: &dyn Display| {
            format!(
                "the search saved in {} cannot be continued: {why}. Remove the directory to begin anew",
                self.directory.display()
            )
        };
        let Some(identity) = self.about(IDENTITY).map_err(|why| damaged(&why))? else { return Ok(None) };
        let identity = serde_json::from_str(&identity).map_err(|why| damaged(&why))?;
        let states = self.states().map_err(|why| damaged(&why))?;
        let mut lost: Option<String> = None;
        for (sum, text) in states.iter().rev() {
            let read = match hash(text) == *sum {
                true => Checkpoint::from_json(text).map_err(|error| error.to_string()),
                false => Err("its checksum is wrong".to_string()),
            };
            match read {
                Ok(checkpoint) => {
                    let lost = lost.map(|why| {
                        format!(
                            "the newest state in {} is damaged ({why}); the search continues from the state before it",
                            self.directory.display()
                        )
                    });
                    return Ok(Some(Loaded { identity, checkpoint, lost }));
                }
                Err(why) => lost = Some(why),
            }
        }
        lost.map_or(Ok(None), |why| Err(damaged(&why)))
    }

    /// Returns the command that began the search.
    pub(super) fn command(&self) -> Option<SavedCommand> {
        serde_json::from_str(&self.about(COMMAND).ok()??).ok()
    }

    fn about(&self, name: &str) -> Result<Option<String>, redb::Error> {
        let about = self.database.begin_read()?.open_table(ABOUT)?;
        Ok(about.get(name)?.map(|value| value.value().to_string()))
    }

    fn states(&self) -> Result<Vec<(String, String)>, redb::Error> {
        let states = self.database.begin_read()?.open_table(STATES)?;
        let copy = |(sum, text): (&str, &str)| (sum.to_string(), text.to_string());
        states.iter()?.map(|state| Ok(copy(state?.1.value()))).collect()
    }

    /// Removes the store, and its directory if nothing else is in it.
    pub(super) fn remove(self) {
        let Store { database, directory, .. } = self;
        drop(database);
        // A file that cannot be removed is found by the next search, which refuses it or ends at once.
        let _ = fs::remove_file(directory.join(FILE));
        let _ = fs::remove_dir(&directory);
    }
}

/// Opens the database in a directory, or creates it.
fn open_or_create(directory: &Path) -> Result<Database, DatabaseError> {
    let (file, new) = (directory.join(FILE), directory.join(NEW_FILE));
    if file.exists() {
        return Database::create(file);
    }
    let database = match Database::create(&new) {
        Err(error) if is_damage(&error) => {
            fs::remove_file(&new)?;
            Database::create(&new)?
        }
        created => created?,
    };
    fs::rename(new, file)?;
    Ok(database)
}

/// Returns `true` if a database cannot be opened because of its contents.
fn is_damage(error: &DatabaseError) -> bool {
    match error {
        DatabaseError::Storage(StorageError::Corrupted(_)) | DatabaseError::UpgradeRequired(_) => true,
        DatabaseError::Storage(StorageError::Io(why)) => {
            matches!(why.kind(), std::io::ErrorKind::InvalidData | std::io::ErrorKind::UnexpectedEof)
        }
        _ => false,
    }
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("all keys are strings")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a state after this number of executions, in which nothing is open.
    fn state(executions: u64) -> Checkpoint {
        let text = format!(
            r#"{{"version": 1, "counters": {{"executions": {executions}, "blocked": 0, "transitions": 0, "handler_runs": 0,
            "depth": 0, "problems": 0}}, "weights": {{"part": 0.0, "inverses": 0.0}}, "elapsed": {{"secs": 1, "nanos": 0}},
            "found": [], "dropped": [], "notes": [], "may_miss": false, "too_long": false,
            "open": {{"parts": {{"steps": [], "parts": []}}}}}}"#
        );
        Checkpoint::from_json(&text).expect("it is complete")
    }

    fn directory(test: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("whippet-{test}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        path
    }

    /// Begins to save a search with these numbers of executions.
    fn saved(directory: &Path, executions: &[u64]) -> Store {
        let mut store = Store::open(directory).unwrap();
        let identity = serde_json::from_str(r#"[["program", "pi"]]"#).unwrap();
        let command = SavedCommand { arguments: vec!["explore".into(), "pi".into()], directory: "/".into() };
        store.begin(&identity, &command).unwrap();
        executions.iter().for_each(|&executions| store.save(&state(executions)).unwrap());
        store
    }

    fn executions(loaded: &Loaded) -> u64 {
        loaded.checkpoint.counters().executions
    }

    #[test]
    fn the_newest_state_is_loaded_and_two_are_kept() {
        let directory = directory("newest");
        drop(saved(&directory, &[1, 2, 3]));
        let store = Store::open(&directory).unwrap();
        assert_eq!(store.command().unwrap().arguments, ["explore", "pi"]);
        assert_eq!((store.next, store.states().unwrap().len()), (3, 2));
        let loaded = store.load().unwrap().unwrap();
        assert_eq!((executions(&loaded), loaded.lost), (3, None));
        assert!(Store::open(&directory).unwrap_err().contains("another search is being saved in"));
        store.remove();
        assert!(!directory.exists());
    }

    #[test]
    fn a_database_that_was_not_finished_is_created_again() {
        let directory = directory("unfinished");
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join(NEW_FILE), [0; 4096]).unwrap();
        let store = saved(&directory, &[7]);
        assert_eq!(executions(&store.load().unwrap().unwrap()), 7);
        assert!(Store::exists(&directory) && !directory.join(NEW_FILE).exists());
        store.remove();
    }

    #[test]
    fn the_state_before_a_damaged_one_is_loaded() {
        let directory = directory("damaged");
        let store = saved(&directory, &[1, 2]);
        let damage = |number: u64| {
            let write = store.database.begin_write().unwrap();
            write.open_table(STATES).unwrap().insert(number, ("0123456789abcdef", "{}")).unwrap();
            write.commit().unwrap();
        };
        damage(1);
        let loaded = store.load().unwrap().unwrap();
        assert_eq!(executions(&loaded), 1);
        assert!(loaded.lost.unwrap().contains("its checksum is wrong); the search continues from the state before it"));
        damage(0);
        assert!(store.load().unwrap_err().contains("cannot be continued: its checksum is wrong"));
        store.remove();
    }
}
