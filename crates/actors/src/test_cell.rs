//! The cell of the test itself, which receives no messages.

use crate::cell::{ActorCell, ActorStatus, StepError};
use crate::engine::Engine;
use std::any::Any;
use whippet_model::Branch;

/// The cell of the test; see the module documentation.
pub(crate) struct TestCell {
    status: ActorStatus,
}

impl Default for TestCell {
    fn default() -> TestCell {
        TestCell { status: ActorStatus::Stopped }
    }
}

impl ActorCell for TestCell {
    fn begin(&mut self) -> Result<(), StepError> {
        Ok(())
    }

    fn deliver(&mut self, _what: u32, _branch: Branch) -> Result<(), StepError> {
        unreachable!("the test receives nothing")
    }

    fn undo(&mut self) {
        unreachable!("the test takes no steps")
    }

    fn commit(&mut self) {}

    fn position(&self) -> usize {
        0
    }

    fn status(&self, _position: usize) -> &ActorStatus {
        &self.status
    }

    fn accepts(&self, _position: usize, _engine: &Engine, _what: u32) -> bool {
        false
    }

    fn hash(&self, _engine: &Engine) -> Option<u64> {
        Some(0)
    }

    fn hash_message(&self, _engine: &Engine, _what: u32) -> Option<u64> {
        None
    }

    fn view(&self, _position: usize) -> Option<&dyn Any> {
        None
    }

    fn show(&self, _position: usize) -> Option<String> {
        None
    }

    fn show_message(&self, _engine: &Engine, _what: u32) -> String {
        String::new()
    }

    fn runs(&self) -> u64 {
        0
    }
}
