//! Tests of published crates: see `tests`.
