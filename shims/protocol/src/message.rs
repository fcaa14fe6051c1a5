//! The form in which all messages are written: JSON with a version.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The version of the messages. It changes whenever one of them changes.
pub const VERSION: u32 = 5;

/// The reason for which a message cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The other side has another version.
    #[error(
        "`cargo whippet` and the version of Whippet in this build do not fit together (version {found} of their messages, \
         expected {VERSION}): install the command again with `cargo install cargo-whippet`, update the crate `whippet`, \
         and remove any patch of tokio"
    )]
    Version {
        /// The version of the message.
        found: u32,
    },
    /// The message is not JSON of the expected form.
    #[error("a message between `cargo whippet` and a test is damaged: {0}")]
    Damaged(#[from] serde_json::Error),
    /// The file cannot be written.
    #[error("cannot write {file}: {error}")]
    Write {
        /// The file.
        file: PathBuf,
        /// The error of the operating system.
        error: std::io::Error,
    },
    /// An environment variable has a value that its setting cannot have.
    #[error("{variable}={value} is not understood: {reason}")]
    Variable {
        /// The variable.
        variable: String,
        /// Its value.
        value: String,
        /// The problem with the value.
        reason: String,
    },
}

/// A message as it is written: with its version.
#[derive(Serialize, Deserialize)]
struct Envelope<T> {
    version: u32,
    message: T,
}

pub(crate) fn encode<T: Serialize>(message: &T) -> String {
    serde_json::to_string(&Envelope { version: VERSION, message }).expect("the messages have no maps with other keys")
}

pub(crate) fn decode<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
    // The version comes first: a message of another version may have another form.
    let envelope: Envelope<Value> = serde_json::from_str(text)?;
    match envelope.version {
        VERSION => Ok(serde_json::from_value(envelope.message)?),
        found => Err(Error::Version { found }),
    }
}

pub(crate) fn write<T: Serialize>(file: &Path, message: &T) -> Result<(), Error> {
    whippet_report::write_file(file, &encode(message)).map_err(|error| Error::Write { file: file.into(), error })
}
