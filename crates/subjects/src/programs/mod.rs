//! The subjects, one file per program or family. Each is told at the head of its file.
//!
//! Actors are created, and messages sent, in the order of the originals: the searches' orders depend on it.
//! Programs for ActorFoundry are written with handlers, those for Scala with explicit receive, as their originals were.

mod chameneos;
mod driver;
mod fib;
mod futures;
mod helloworld;
mod java_random;
mod le_erlang;
mod leader;
mod minesweeper;
mod philosophers;
mod pi;
mod pipesort;
mod producers;
mod registry;
mod regsim;
mod scalawiki;
mod server;
mod shortpath;
mod spinsort;
mod treesort;

use crate::registry::Subject;

/// All of them, the small ones first.
pub(crate) const ALL: &[Subject] = &[
    helloworld::SUBJECT,
    server::SUBJECT,
    registry::SUBJECT,
    producers::SUBJECT,
    pi::SUBJECT,
    fib::SUBJECT,
    philosophers::PHILOSOPHERS,
    philosophers::DININGPHIL,
    treesort::QUICKSORT,
    treesort::MERGESORT,
    pipesort::SUBJECT,
    spinsort::SUBJECT,
    chameneos::SUBJECT,
    leader::SUBJECT,
    shortpath::SUBJECT,
    regsim::SUBJECT,
    regsim::TWO_LEVELS,
    scalawiki::SUBJECT,
    minesweeper::SUBJECT,
    le_erlang::SUBJECT,
    futures::DATAPROC,
    futures::DEADLOCK,
    futures::DATARACE,
];

/// What every program uses.
mod prelude {
    pub(crate) use crate::registry::{Body, Subject, body};
    pub(crate) use crate::settings::{Parameter, Settings, Values};
    pub(crate) use whippet::{Actor, Addr, Cx, Hashes, Inbox, Recipient, Reply, System, receive};

    /// The library that the original was written for.
    pub(crate) const VARIANT: Parameter = Parameter::new(
        "variant",
        "actorfoundry",
        Values::OneOf(&["actorfoundry", "scala"]),
        "the library of the original: handlers, or explicit receive",
    );
}
