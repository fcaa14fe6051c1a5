//! All tests of the package in one binary, so that generic code is compiled once for all of them.

mod causal;
mod declared;
mod faulty;
mod mixed;
mod native;
mod resumed;
mod searches;
