//! Programs of any type behind one pointer.
//!
//! A search is generic over the machine, so that its calls are inlined. Compiling all searches for one more type of
//! machine takes about ten seconds, in every crate that does it. Therefore they are compiled once, in this crate, for
//! machines in a box, and everything but the search itself (replays, explanations, walks) exists only in this form.
//! [`explore_specialized`](super::explore::explore_specialized) compiles them for one type of program.

use whippet_model::{Machine, MachineConfig, MachineError, Program};

/// A machine of any type.
pub(crate) type AnyMachine = Box<dyn Machine>;

/// A [`Program`] whose machines are boxed. All programs are such programs.
pub(crate) trait AnyProgram: Sync {
    fn machine(&self, config: &MachineConfig) -> Result<AnyMachine, MachineError>;
    fn name(&self) -> String;
    fn parameters(&self) -> Vec<(String, String)>;
    fn caveats(&self) -> Vec<String>;
    fn refinements(&self) -> u64;
}

impl<P: Program> AnyProgram for P {
    fn machine(&self, config: &MachineConfig) -> Result<AnyMachine, MachineError> {
        Ok(Box::new(Program::machine(self, config)?))
    }

    fn name(&self) -> String {
        Program::name(self)
    }

    fn parameters(&self) -> Vec<(String, String)> {
        Program::parameters(self)
    }

    fn caveats(&self) -> Vec<String> {
        Program::caveats(self)
    }

    fn refinements(&self) -> u64 {
        Program::refinements(self)
    }
}

impl Program for dyn AnyProgram + '_ {
    type Machine = AnyMachine;

    fn machine(&self, config: &MachineConfig) -> Result<AnyMachine, MachineError> {
        AnyProgram::machine(self, config)
    }

    fn name(&self) -> String {
        AnyProgram::name(self)
    }

    fn parameters(&self) -> Vec<(String, String)> {
        AnyProgram::parameters(self)
    }

    fn caveats(&self) -> Vec<String> {
        AnyProgram::caveats(self)
    }

    fn refinements(&self) -> u64 {
        AnyProgram::refinements(self)
    }
}
