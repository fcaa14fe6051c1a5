//! Descriptions of steps and problems for the reader.

use super::TaskMachine;
use crate::ending::{stuck, unseen_panics, untaken, waits_for_a_thread};
use crate::object::{Place, is_glue, place_text};
use crate::task::{self, State};
use whippet_model::{Access, Explain, FindingKind, Machine, MachineError, Problem, StepDescription, TraceTouch};

/// The salt of the keys of panics that are more than the expected ones of their place.
const ONE_MORE: u64 = 0x4f4e_454d_4f52_4501;

impl TaskMachine {
    /// Returns the objects that the operations of a step are about. An access is a read if the step only reads.
    fn touched_objects(&self, at: usize) -> Vec<TraceTouch> {
        let reads = Machine::touches(self, at).iter().all(|touch| touch.access == Access::Read);
        let access = if reads { Access::Read } else { Access::Write };
        let told = &self.told[self.part(at, self.told.len(), |kept| kept.told)];
        let actions = std::iter::once(&self.steps[at].action).chain(told.iter().map(|(_, action)| action));
        let mut objects: Vec<String> =
            actions.filter_map(|action| action.object.map(|object| object.to_string())).collect();
        objects.sort();
        objects.dedup();
        objects.into_iter().map(|object| TraceTouch { object, access, place: None }).collect()
    }
}

impl Explain for TaskMachine {
    fn problems(&self) -> usize {
        self.problems
    }

    fn problem(&self, at: usize) -> Option<Problem> {
        self.within_budget(self.steps[at].problem.as_deref()?.clone())
    }

    fn data_races(&self, _: &mut Vec<Problem>) {}

    fn final_problems(&mut self, out: &mut Vec<Problem>) -> Result<(), MachineError> {
        self.catch_up()?;
        let from = out.len();
        let x = self.live.as_mut().expect("it has caught up").get_mut();
        let tasks = x.tasks.iter().map(|task| &**task);
        let waiting: Vec<&task::Task> = tasks.filter(|task| !matches!(task.state, State::Done)).collect();
        if !x.ending.main_done {
            if let Some(text) = waits_for_a_thread(x, &waiting) {
                return Err(MachineError::UnseenThreads(text));
            }
            out.push(stuck(x, &waiting, FindingKind::Deadlock, "all tasks are blocked before the test finished"));
        } else if self.shared.settings.left_behind && !waiting.is_empty() {
            out.push(stuck(x, &waiting, FindingKind::Environment, "tasks are still blocked when the test ends"));
        }
        untaken(x, out);
        // As many panics of a place are expected as a plain run has there. One more is not.
        let mut expected = self.shared.settings.expected_panics.clone();
        out.extend(unseen_panics(x).map(|mut problem| {
            if let Some(at) = expected.iter().position(|key| *key == problem.key) {
                expected.swap_remove(at);
                problem.warning = true;
                problem.message =
                    format!("a task panics in a plain run, too, and the test passes: {}", problem.message);
            } else if self.shared.settings.expected_panics.contains(&problem.key) {
                problem.key = problem.key.mixed(ONE_MORE);
                problem.message += ": one more panic than in a plain run";
            }
            problem
        }));
        let found: Vec<Problem> = out.drain(from..).collect();
        if !found.is_empty() {
            self.log_trace();
        }
        out.extend(found.into_iter().filter_map(|problem| self.within_budget(problem)));
        Ok(())
    }

    fn describe(&mut self, at: usize) -> StepDescription {
        let step = &self.steps[at];
        let task = &self.tasks[step.choice.what.0 as usize];
        let new = &self.tasks[self.part(at, self.tasks.len(), |kept| kept.tasks)];
        let told = &self.told[self.part(at, self.told.len(), |kept| kept.told)];
        let spawns = new.iter().map(|task| format!("spawns {} ({})", task.label, place_text(task.place)));
        let merged = told.iter().map(|(number, action)| {
            let who = if *number == step.choice.what.0 {
                String::new()
            } else {
                format!("{} ", self.tasks[*number as usize].label)
            };
            let place = origin(action.place).map_or(String::new(), |place| format!(" {place}"));
            format!("{who}{action}{place}")
        });
        StepDescription::new(task.label.to_string(), step.action.to_string())
            .with_origin(origin(step.action.place))
            .with_kind(step.action.event_kind())
            .with_message(step.action.message())
            .with_place(origin(step.action.place).map(|_| place_text(step.action.place)))
            .with_effects(spawns.chain(merged).collect())
            .with_touches(self.touched_objects(at))
            .with_created_at(origin(task.place).map(|_| place_text(task.place)))
    }

    fn handler_runs(&self) -> u64 {
        self.executions
    }
}

/// Returns the source location of an operation, if it is a line of the program.
fn origin(place: Place) -> Option<String> {
    (!is_glue(place)).then(|| format!("({})", place_text(place)))
}
