//! The flags that select a program and its semantics.

use super::parse::{range, setting};
use clap::{Args, ValueEnum, ValueHint};
use std::ops::RangeInclusive;

/// The program, and its settings.
#[derive(Clone, Debug, Args)]
pub(crate) struct ProgramArgs {
    /// A built-in program (see `whippet list`), a file that ends in .abs or .net, or a directory of .abs files.
    #[arg(value_name = "SUBJECT|FILE", value_hint = ValueHint::FilePath)]
    pub(crate) program: String,

    /// Further .abs files of the same program, and directories that contain some.
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<String>,

    /// Set a parameter of the program; may be given several times.
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = setting)]
    pub(crate) settings: Vec<(String, String)>,

    /// The order in which messages may arrive [default: set by the program, usually unordered].
    #[arg(long, value_name = "DELIVERY", value_enum)]
    pub(crate) delivery: Option<DeliveryArg>,

    /// The condition that the end of an execution must satisfy [default: set by the program, usually open].
    #[arg(long, value_name = "ENVIRONMENT", value_enum)]
    pub(crate) environment: Option<EnvironmentArg>,

    /// The rule by which two tasks of one actor conflict [default: fields, where they are known].
    #[arg(long, alias = "tasks", value_name = "RULE", value_enum)]
    pub(crate) conflicts: Option<ConflictsArg>,

    /// Explore one method of an .abs program: an object of the class is created and the method called, with arguments
    /// that the search chooses. The main block is ignored.
    #[arg(long, value_name = "CLASS.METHOD")]
    pub(crate) method: Option<String>,

    /// The numbers that are arguments [default: -1..2].
    #[arg(long, value_name = "FIRST..LAST", value_parser = range, requires = "method", allow_hyphen_values = true)]
    pub(crate) ints: Option<RangeInclusive<i64>>,

    /// The depth of data and objects that are arguments: the length of lists, for example [default: 2].
    #[arg(long, value_name = "N", requires = "method")]
    pub(crate) depth: Option<u32>,

    /// Write an ABS program that calls the method with every input that was explored, and asserts the results found.
    #[arg(long, value_name = "FILE", requires = "method", value_hint = ValueHint::FilePath)]
    pub(crate) cases: Option<std::path::PathBuf>,

    /// The dependence relation of programs of mailboxes and mutexes [default: ranked].
    #[arg(long, value_name = "RELATION", value_enum)]
    pub(crate) relation: Option<RelationArg>,
}

/// The dependence relation of programs of mailboxes and mutexes.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RelationArg {
    /// By the ranks of sends, receives and locks: misses nothing.
    Ranked,
    /// By the published theorems as printed, for comparison: may miss final states and deadlocks if a wait or test is
    /// for several communications. Not for udpor.
    Paper,
}

/// The rule by which two tasks of one actor conflict.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ConflictsArg {
    /// Only if one writes a field that the other touches: misses nothing.
    Fields,
    /// Always: misses nothing, takes longer.
    Actors,
    /// Always, but a task marked as independent of an earlier one is skipped until a dependent task runs: may miss
    /// orders if other actors can still send to the selected actor, or if tasks block.
    Marks,
    /// Like marks, but a mark lasts only until the next task, as printed in the paper: may miss the same orders.
    MarksLiteral,
}

/// The order in which messages arrive.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DeliveryArg {
    /// Any order.
    Unordered,
    /// The order of sending, for each pair of sender and receiver.
    Fifo,
    /// An order that respects causality.
    Causal,
}

/// The condition that the end of an execution must satisfy.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EnvironmentArg {
    /// Actors may still be waiting for messages; only an actor blocked in a call is an error.
    Open,
    /// Every actor must have stopped.
    Closed,
}
