//! Random actor programs, and searches compared on them.
