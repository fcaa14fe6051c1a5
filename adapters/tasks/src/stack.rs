//! Stacks of tasks, kept for the next ones.
//!
//! Stacks begin at the ends of pages. If all did so, what a task uses of its stack would compete with what all others use
//! for the same few lines of the processor's cache. So each begins a little lower than the one made before.

use corosensei::stack::{DefaultStack, StackPointer};
use std::cell::{Cell, RefCell};

/// By how much, and when to begin anew: together a page.
const SHIFT: usize = 576;
const SHIFTS: usize = 7;

thread_local! {
    static SPARE: RefCell<Vec<Stack>> = const { RefCell::new(Vec::new()) };
    static MADE: Cell<usize> = const { Cell::new(0) };
}

/// The stack of a task.
pub(crate) struct Stack {
    whole: DefaultStack,
    shift: usize,
}

impl Stack {
    /// One that is not in use.
    pub(crate) fn take() -> Stack {
        SPARE.with_borrow_mut(Vec::pop).unwrap_or_else(|| {
            let made = MADE.replace(MADE.get() + 1);
            Stack { whole: DefaultStack::default(), shift: made % SHIFTS * SHIFT }
        })
    }

    /// It is not in use any more.
    pub(crate) fn give_back(self) {
        SPARE.with_borrow_mut(|spare| spare.push(self));
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
