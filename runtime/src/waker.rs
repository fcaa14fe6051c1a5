//! The wakers of tasks: two numbers in one word, so that creating, cloning and dropping a waker needs no memory.

use crate::execution;
use std::task::{RawWaker, RawWakerVTable, Waker};

/// The number of bits that hold the task's number; the others hold that of the execution.
const TASK: u32 = usize::BITS / 3;

/// Creates a waker for task `number` of execution `id`.
pub(crate) fn waker(id: u64, number: u32) -> Waker {
    assert!(u64::from(number) < 1 << TASK, "whippet: an execution has more tasks than can be told apart");
    // SAFETY: the table below uses the word as a number and never dereferences it.
    unsafe { Waker::from_raw(RawWaker::new(std::ptr::without_provenance(word(id, number)), &TABLE)) }
}

/// Returns `true` if this is the waker of task `number` of execution `id`.
pub(crate) fn is_of_task(waker: &Waker, id: u64, number: u32) -> bool {
    std::ptr::eq(waker.vtable(), &TABLE) && waker.data().addr() == word(id, number)
}

/// Returns the word of [`waker`].
fn word(id: u64, number: u32) -> usize {
    // The truncation of the execution's number is harmless: it takes more executions than any run has to repeat a
    // value.
    (id as usize) << TASK | number as usize
}

/// Returns `true` if `word` is made by [`waker`] from this execution's number.
fn is_of(word: usize, id: u64) -> bool {
    word >> TASK == (id as usize) << TASK >> TASK
}

static TABLE: RawWakerVTable = RawWakerVTable::new(|word| RawWaker::new(word, &TABLE), wake, wake, |_| ());

fn wake(word: *const ()) {
    let word = word.addr();
    execution::woken(|id| is_of(word, id), (word & ((1 << TASK) - 1)) as u32);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_wake_the_same_task() {
        let (one, other, later) = (waker(7, 3), waker(7, 4), waker(8, 3));
        assert!(one.will_wake(&one.clone()) && !one.will_wake(&other) && !one.will_wake(&later));
        assert!(is_of_task(&one, 7, 3) && !is_of_task(&one, 7, 4) && !is_of_task(Waker::noop(), 7, 3));
        assert!(is_of(one.data().addr(), 7) && !is_of(one.data().addr(), 8));
    }
}
