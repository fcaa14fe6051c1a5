//! Explains a schedule that fails by the nearest execution that passes, outside of a search.

use crate::driver::control::{Control, PathStep};
use crate::driver::erased::AnyProgram;
use crate::driver::replay::GuidedMachine;
use crate::driver::{threads, why};
use crate::options::Options;
use std::sync::Arc;
use std::time::Duration;
use whippet_model::{Decides, Limits, Machine, MachineConfig, Program, Schedule};

/// The time after which no explanation is waited for: other orders may run into code that does not return.
const PATIENCE: Duration = Duration::from_secs(3);

/// Executes a schedule that fails, and then other orders of its steps, to find the decision that matters: the nearest
/// execution that passes. Returns `None` if there is no such execution among those that are tried, or if the schedule
/// does not fail.
///
/// ```
/// use std::sync::Arc;
/// use whippet_actors::{ActorProgram, Inbox};
/// use whippet_search::{Options, explain, explore};
/// let test = Arc::new(ActorProgram::new("picky", |sys| {
///     let picky = sys.spawn_fn(async |inbox: &mut Inbox<u8>| assert_eq!(inbox.receive().await, 1));
///     sys.send(picky, 1);
///     sys.send(picky, 2);
/// }));
/// let verdict = explore(test.clone(), &Options::default(), &()).unwrap();
/// let finding = &verdict.findings[0];
/// assert_eq!(explain(test, &finding.schedule), finding.decides);
/// ```
#[must_use]
pub fn explain<P: Program + Send + 'static>(program: Arc<P>, schedule: &Schedule) -> Option<Decides> {
    explain_any(program, schedule)
}

fn explain_any(program: Arc<dyn AnyProgram + Send>, schedule: &Schedule) -> Option<Decides> {
    let schedule = schedule.clone();
    let work = move || explanation(&*program, &schedule);
    threads::start(&Options::default(), work).recv_timeout(PATIENCE).ok()?.ok()?
}

fn explanation(program: &dyn AnyProgram, schedule: &Schedule) -> Option<Decides> {
    let control = Control::new(&Limits::default());
    let mut walk = GuidedMachine::new(program, &MachineConfig::default(), control.explaining_worker()).ok()?;
    let mut path = Vec::with_capacity(schedule.decisions.len());
    for decision in &schedule.decisions {
        let (thread, branch) = (decision.thread, decision.branch);
        walk.step(thread, branch).ok()?.ok()?;
        path.push(PathStep { event: walk.machine().step(path.len()).event, thread, branch });
    }
    let described = walk.describe_steps();
    if walk.problems().ok()?.iter().all(|problem| problem.warning) {
        return None;
    }
    why::decides(program, &control, &path, &described).ok()?
}
