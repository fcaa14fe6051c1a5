//! A hash of a whole configuration.

use crate::address::with_labels;
use crate::cell::Cell;
use crate::engine::Engine;
use whippet_model::{Comparison, MachineError, Name};

/// Actors by name (or in order of creation), what is pending as a multiset (or in order of sending).
///
/// Actors with an async body are compared by the text of what they have received, in which addresses stand under
/// their stable names.
pub(crate) fn fingerprint(engine: &Engine, cells: &[Box<dyn Cell>], how: Comparison) -> Result<u128, MachineError> {
    if cells.iter().any(|cell| cell.is_body()) {
        let names = engine.about.iter().map(|about| about.name.to_string()).collect();
        return with_labels(names, || hash(engine, cells, how));
    }
    hash(engine, cells, how)
}

fn hash(engine: &Engine, cells: &[Box<dyn Cell>], how: Comparison) -> Result<u128, MachineError> {
    if !engine.shared.is_empty() {
        let why = "programs with shared variables cannot be compared by their states: use another search";
        return Err(MachineError::Unsupported(why.to_owned()));
    }
    // Two independent sums make 128 bits: a collision would merge two different states.
    let mut sums = [0u64; 2];
    let mut add = |name: Name| {
        sums[0] = sums[0].wrapping_add(name.mixed(11).0);
        sums[1] = sums[1].wrapping_add(name.mixed(13).mixed(17).0);
    };
    for (slot, cell) in cells.iter().enumerate().skip(1) {
        let about = &engine.about[slot];
        let hash = cell.hash(engine).ok_or_else(|| no_hash(&about.kind))?;
        match how {
            Comparison::Canonical => add(about.name.mixed(hash)),
            Comparison::Ordered => add(Name(slot as u64).mixed(hash)),
        }
    }
    for (k, p) in engine.pending().enumerate() {
        let to = engine.sent[p as usize].to;
        let about = &engine.about[to as usize];
        let hash = cells[to as usize].hash_message(engine, p).ok_or_else(|| no_hash(&about.kind))?;
        match how {
            Comparison::Canonical => add(about.name.mixed(3).mixed(hash)),
            Comparison::Ordered => add(Name(k as u64).mixed(u64::from(to)).mixed(hash)),
        }
    }
    Ok(u128::from(sums[0]) << 64 | u128::from(sums[1]))
}

fn no_hash(kind: &str) -> MachineError {
    MachineError::Unsupported(format!(
        "the state of {kind} cannot be compared: derive Hash for it and its messages and add \
         `const HASHES: Hashes<Self> = Hashes::of();` to its Actor, or use another search"
    ))
}
