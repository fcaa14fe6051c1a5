//! Protocols of replicated and distributed systems, each correct and with a fault of the kind that such protocols have.
//!
//! Every file has one protocol, with its versions: `correct`, and one that is not. `docs/protocols.md` has a table of what is found.

mod abd;
mod chain;
mod clients;
mod counter;
mod leases;
mod paxos;
mod raft;
mod two_phase;
mod work_queue;

pub(super) use abd::SUBJECT as ABD;
pub(super) use chain::SUBJECT as CHAIN;
pub(super) use counter::SUBJECT as COUNTER;
pub(super) use leases::SUBJECT as LEASES;
pub(super) use paxos::SUBJECT as PAXOS;
pub(super) use raft::SUBJECT as RAFT_ELECTION;
pub(super) use two_phase::SUBJECT as TWO_PHASE_COMMIT;
pub(super) use work_queue::SUBJECT as WORK_QUEUE;

/// Imports that all protocols share.
mod prelude {
    pub(super) use super::super::prelude::{
        Actor, Addr, Cx, Hashes, Inbox, Parameter, Recipient, Settings, Subject, System, Values, body, receive,
    };
    pub(super) use std::collections::{BTreeMap, BTreeSet};
    pub(super) use std::time::Duration;
    pub(super) use whippet::{Answer, Network, Register, RegisterOp};

    /// Declares the versions of a protocol.
    pub(super) const fn versions(words: &'static [&'static str], help: &'static str) -> Parameter {
        Parameter::new("version", "correct", Values::OneOf(words), help)
    }

    /// Returns `true` if the version without a fault was chosen.
    pub(super) fn is_correct(settings: &Settings) -> bool {
        settings.get("version") == Some("correct")
    }
}
