//! The tests of ABS as its users see it, in one binary: the searches are compiled once for all of them.

mod docs;
mod examples;
mod front_end;
mod generated;
mod modules;
mod random;
mod searches;
mod selection;
