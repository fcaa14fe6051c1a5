//! The driver: everything that searches share.
//!
//! [`explore`] is the whole process from a program to a verdict. [`run`] moves one machine for a search, within the
//! limits of [`control`] and under a [`watchdog`]: only [`guarded`] runs user code. [`parallel`] divides a search among
//! workers, into [`parts`]; [`checkpoint`] saves it. [`findings`] collects problems, [`confirm`] replays each of them on a new machine,
//! [`outcomes`] judges the results that a program declares, [`trace`] turns an
//! execution into data, [`why`] finds the nearest execution that passes, [`mod@replay`] executes a recorded
//! schedule, and [`walker`] moves a machine as a person wishes. [`journal`] records the current path where a crash
//! cannot erase it.

pub(crate) mod checkpoint;
pub(crate) mod confirm;
pub(crate) mod control;
pub(crate) mod erased;
pub(crate) mod explain;
pub(crate) mod explore;
pub(crate) mod findings;
pub(crate) mod guarded;
pub(crate) mod journal;
pub(crate) mod outcomes;
pub(crate) mod parallel;
pub(crate) mod parts;
pub(crate) mod replay;
pub(crate) mod run;
pub(crate) mod threads;
pub(crate) mod trace;
pub(crate) mod walker;
pub(crate) mod watchdog;
pub(crate) mod weights;
pub(crate) mod why;
