//! The stacks of tasks, which are reused.
//!
//! Stacks begin at page boundaries. Without a shift, the parts that tasks use would all map to the same few lines of
//! the processor's cache. Therefore each stack begins a little lower than the previous one.

use corosensei::stack::{DefaultStack, StackPointer};
use std::cell::{Cell, RefCell};

/// The shift of each stack relative to the previous one, and the number of shifts: together less than a page.
const SHIFT: usize = 576;
const SHIFTS: usize = 7;

thread_local! {
    /// Stacks that no execution on this thread uses.
    static SPARE: RefCell<Vec<Stack>> = const { RefCell::new(Vec::new()) };
    static MADE: Cell<usize> = const { Cell::new(0) };
}

/// The stack of a task.
pub(crate) struct Stack {
    whole: DefaultStack,
    shift: usize,
}

impl Stack {
    fn new() -> Stack {
        let made = MADE.replace(MADE.get() + 1);
        Stack { whole: DefaultStack::default(), shift: made % SHIFTS * SHIFT }
    }
}

/// The stacks of an execution that none of its tasks uses. Afterwards they are available to the next execution on this
/// thread.
#[derive(Default)]
pub(crate) struct Stacks(Vec<Stack>);

impl Stacks {
    /// Returns an unused stack. Spare ones are taken as they are needed: an execution that took all of them would leave
    /// none to another one beside it, and each search would make new ones.
    pub(crate) fn take(&mut self) -> Stack {
        let spare = || SPARE.with(|spare| spare.borrow_mut().pop());
        self.0.pop().or_else(spare).unwrap_or_else(Stack::new)
    }

    /// Stores a stack that is no longer in use.
    pub(crate) fn give_back(&mut self, stack: Stack) {
        self.0.push(stack);
    }
}

impl Drop for Stacks {
    fn drop(&mut self) {
        // Fails on a thread that ends, which needs none.
        let _ = SPARE.try_with(|spare| spare.borrow_mut().append(&mut self.0));
    }
}

// SAFETY: this is the whole stack with its guard page, except for less than a page at the base; shifts keep the
// alignment.
unsafe impl corosensei::stack::Stack for Stack {
    fn base(&self) -> StackPointer {
        StackPointer::new(self.whole.base().get() - self.shift).expect("a stack is not at the end of memory")
    }

    fn limit(&self) -> StackPointer {
        self.whole.limit()
    }

    #[cfg(windows)]
    fn teb_fields(&self) -> corosensei::stack::StackTebFields {
        self.whole.teb_fields()
    }

    #[cfg(windows)]
    fn update_teb_fields(&mut self, stack_limit: usize, guaranteed_stack_bytes: usize) {
        self.whole.update_teb_fields(stack_limit, guaranteed_stack_bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn executions_beside_each_other_share_the_spare_stacks() {
        for _ in 0..5 {
            let (mut one, mut other) = (Stacks::default(), Stacks::default());
            for stacks in [&mut one, &mut other] {
                let stack = stacks.take();
                stacks.give_back(stack);
            }
        }
        assert_eq!((MADE.get(), SPARE.with(|spare| spare.borrow().len())), (2, 2));
    }
}
