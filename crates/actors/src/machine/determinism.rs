//! A test for behaviour that depends on more than states and messages.
//!
//! Undoing a step restores the state of its actor, but not memory behind an `Arc<Mutex<_>>`, an atomic or a static. A
//! search then sees effects of executions that it has undone, and it does not know that steps of different actors
//! depend on each other. To find this out, one execution is run, undone, and run again: all of its steps must be the
//! same.

use super::ActorMachine;
use crate::program::ActorProgram;
use whippet_model::{Branch, Choice, Explain, Machine, MachineError, Name, Program};

/// The maximum number of steps that are compared.
const STEPS: usize = 1_000;

/// One step of the first run.
struct ObservedStep {
    thread: Name,
    branch: Branch,
    actor: u32,
    /// The description of the step.
    text: String,
    /// The actor's state after the step.
    state: Option<String>,
}

impl ActorProgram {
    /// Runs one execution, undoes it, and runs it again. Returns an error that names the actor if the second run differs
    /// from the first.
    ///
    /// ```
    /// use std::sync::{Arc, Mutex};
    /// use whippet_actors::{ActorProgram, Inbox, System};
    /// let shared = ActorProgram::new("shared memory", |system: &mut System| {
    ///     let total = Arc::new(Mutex::new(0));
    ///     let sink = system.spawn_fn(async |inbox: &mut Inbox<u32>| { inbox.receive().await; });
    ///     let adder = system.spawn_fn_named("adder", async move |inbox: &mut Inbox<u32>| {
    ///         let n = inbox.receive().await;
    ///         *total.lock().unwrap() += n;
    ///         inbox.send(sink, *total.lock().unwrap());
    ///     });
    ///     system.send(adder, 5);
    /// });
    /// let error = shared.test_determinism().unwrap_err().to_string();
    /// assert!(error.contains("adder, step 1: «sends 5 to actor» became «sends 10 to actor»"), "{error}");
    /// ```
    pub fn test_determinism(&self) -> Result<(), MachineError> {
        // Memoized steps would not be run a second time.
        let mut machine = self.clone().memo_bytes(0).machine(&Default::default())?;
        let mut enabled = Vec::new();
        let mut first = Vec::new();
        while machine.depth() < STEPS {
            enabled.clear();
            machine.enabled(&mut enabled)?;
            let Some(&choice) = enabled.first() else { break };
            machine.execute(choice)?;
            first.push(machine.observe_newest());
        }
        machine.rewind(0);
        for (at, before) in first.iter().enumerate() {
            let differs = |machine: &ActorMachine, what: &str| {
                let actor = crate::describe::labels(&machine.engine.borrow()).swap_remove(before.actor as usize);
                MachineError::Nondeterministic(format!(
                    "an execution was undone and run again, and differs: {actor}, step {}: {what}\n  likely cause: \
                     {actor} shares memory with another actor or with an earlier execution, e.g. by an `Arc<Mutex<_>>`; \
                     use messages, or variables of `System::new_shared`",
                    at + 1
                ))
            };
            enabled.clear();
            machine.enabled(&mut enabled)?;
            let Some(choice) = enabled.iter().find(|choice| machine.thread(choice.what) == before.thread) else {
                return Err(differs(&machine, &format!("«{}» cannot happen again", first_line(&before.text))));
            };
            machine.execute(Choice { what: choice.what, branch: before.branch })?;
            let after = machine.observe_newest();
            for (before, after) in
                [(Some(&before.text), Some(&after.text)), (before.state.as_ref(), after.state.as_ref())]
            {
                let (before, after) = (before.map_or("", |text| text), after.map_or("", |text| text));
                if words_of(before) != words_of(after) {
                    let (before, after) = first_difference(before, after);
                    return Err(differs(&machine, &format!("«{before}» became «{after}»")));
                }
            }
        }
        Ok(())
    }
}

impl ActorMachine {
    fn observe_newest(&mut self) -> ObservedStep {
        let at = self.records.len() - 1;
        let text = self.describe(at);
        let lines: Vec<String> = std::iter::once(text.action).chain(text.effects).collect();
        let record = &self.records[at];
        let cell = &self.cells[record.actor as usize];
        ObservedStep {
            thread: self.step(at).thread,
            branch: record.choice.branch,
            actor: record.actor,
            text: lines.join("\n"),
            state: cell.show(cell.position()),
        }
    }
}

/// Returns the words of a text in alphabetic order, so that the random order of a `std` hash map does not matter.
fn words_of(text: &str) -> Vec<&str> {
    let mut words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric() && c != '-').collect();
    words.sort_unstable();
    words
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// Returns the first pair of lines that differ.
fn first_difference<'a>(before: &'a str, after: &'a str) -> (&'a str, &'a str) {
    let (mut one, mut other) = (before.lines(), after.lines());
    loop {
        match (one.next(), other.next()) {
            (Some(a), Some(b)) if a == b => {}
            (a, b) => return (a.unwrap_or("nothing"), b.unwrap_or("nothing")),
        }
    }
}
