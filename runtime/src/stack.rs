//! The stacks of tasks, which are reused.
//!
//! Stacks begin at page boundaries. Without a shift, the parts that tasks use would all map to the same few lines of
//! the processor's cache. Therefore each stack begins a little lower than the previous one.

use corosensei::stack::{DefaultStack, StackPointer};
use std::cell::Cell;

/// The shift of each stack relative to the previous one, and the number of shifts: together less than a page.
const SHIFT: usize = 576;
const SHIFTS: usize = 7;

thread_local! {
    static SPARE: Cell<Vec<Stack>> = const { Cell::new(Vec::new()) };
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

/// The stacks that no task of an execution uses. Afterwards they are available to the next execution on this thread.
pub(crate) struct Stacks(Vec<Stack>);

impl Stacks {
    /// Returns the stacks that no execution uses.
    pub(crate) fn spare() -> Stacks {
        Stacks(SPARE.take())
    }

    /// Returns an unused stack.
    pub(crate) fn take(&mut self) -> Stack {
        self.0.pop().unwrap_or_else(Stack::new)
    }

    /// Stores a stack that is no longer in use.
    pub(crate) fn give_back(&mut self, stack: Stack) {
        self.0.push(stack);
    }
}

impl Drop for Stacks {
    fn drop(&mut self) {
        // Fails on a thread that ends, which needs none.
        let _ = SPARE.try_with(|spare| {
            self.0.append(&mut spare.take());
            spare.set(std::mem::take(&mut self.0));
        });
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
