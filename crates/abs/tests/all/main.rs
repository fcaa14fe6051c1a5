//! Tests of the public ABS interface, in one binary so that the searches are compiled only once.

mod cases;
mod docs;
mod examples;
mod front_end;
mod generated;
mod inputs;
mod modules;
mod random;
mod searches;
mod selection;
mod timed;
mod traits;
