//! The subjects, one file per program or family, with a description at the head of each file.
//!
//! Actors are created and messages are sent in the same order as in the originals, because the orders of search
//! depend on it. Programs for ActorFoundry are written with handlers, as their originals are. Those for Scala have explicit
//! receive, except where the tables compare states: a suspended body is compared by everything that it has received, and
//! the originals are by their variables, so these programs have handlers too.

mod chameneos;
mod driver;
mod fib;
mod futures;
mod helloworld;
mod java_random;
mod le_erlang;
mod leader;
mod philosophers;
mod pi;
mod pipesort;
mod producers;
mod protocols;
mod registry;
mod regsim;
mod scalawiki;
mod server;
mod shortpath;
mod spinsort;
mod treesort;

use crate::registry::Subject;

/// All subjects, small ones first.
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
    le_erlang::SUBJECT,
    futures::DATAPROC,
    futures::DEADLOCK,
    futures::DATARACE,
    protocols::TWO_PHASE_COMMIT,
    protocols::RAFT_ELECTION,
    protocols::ABD,
    protocols::PAXOS,
    protocols::CHAIN,
    protocols::COUNTER,
    protocols::WORK_QUEUE,
    protocols::LEASES,
];

/// Imports and parameters shared by the programs.
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
