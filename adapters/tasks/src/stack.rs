//! Stacks of tasks, kept for the next ones.
//!
//! Stacks begin at the ends of pages. If all did so, what a task uses of its stack would compete with what all others use
//! for the same few lines of the processor's cache. So each begins a little lower than the one made before.

use corosensei::stack::{DefaultStack, StackPointer};
use std::cell::Cell;

/// By how much, and when to begin anew: together a page.
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

/// Stacks that no task of an execution uses. After it they are there for the next one on this thread.
pub(crate) struct Stacks(Vec<Stack>);

impl Stacks {
    /// Those that no execution uses.
    pub(crate) fn spare() -> Stacks {
        Stacks(SPARE.take())
    }

    /// One that is not in use.
    pub(crate) fn take(&mut self) -> Stack {
        self.0.pop().unwrap_or_else(Stack::new)
    }

    /// It is not in use any more.
    pub(crate) fn give_back(&mut self, stack: Stack) {
        self.0.push(stack);
    }
}

impl Drop for Stacks {
    fn drop(&mut self) {
        // A thread that ends needs none.
        let _ = SPARE.try_with(|spare| {
            self.0.append(&mut spare.take());
            spare.set(std::mem::take(&mut self.0));
        });
    }
}

// The whole stack with its guard page, but for less than a page at the base; shifts keep the alignment.
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
