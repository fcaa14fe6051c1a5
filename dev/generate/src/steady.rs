//! Checks of the guarantees that a machine gives to searches: rewinding and repeating a step changes nothing, and an
//! execution can be reproduced on a new machine.

use crate::{Size, Trace};
use whippet_model::{
    Branch, Choice, Clocks, Executed, Machine, MachineError, Name, Pending, Program, StateComparison, Step,
    StepDescription, Touch,
};

/// The amount of checking done.
///
/// ```
/// use whippet_generate::{Size, steady};
/// use whippet_search::toy::Program;
/// let tried = steady(&Program::new(1).main(0, 1).main(0, 2), Size::default()).unwrap().unwrap();
/// assert_eq!(tried.replays, 2);
/// ```
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Tried {
    /// Steps that were executed twice.
    pub steps: u64,
    /// Executions that were replayed on a new machine.
    pub replays: u64,
}

/// Executes every step of a program twice, and replays every execution on a new machine by the names of its threads.
/// Returns `None` if the program is too large.
///
/// ```
/// use whippet_generate::{Size, draw, steady};
/// assert!(steady(&draw(42), Size::default()).is_ok(), "taking steps back and again changes nothing");
/// ```
pub fn steady<P: Program>(program: &P, size: Size) -> Result<Option<Tried>, String> {
    let mut machine = program.machine(&Default::default()).map_err(|error| error.to_string())?;
    let mut walk = Walk { program, size, tried: Tried::default(), path: Vec::new() };
    Ok(walk.all(&mut machine)?.then_some(walk.tried))
}

/// All observable data of a configuration.
#[derive(Clone, Debug, PartialEq)]
struct View {
    enabled: Vec<Choice>,
    error: Option<MachineError>,
    pending: Vec<(Pending, Name)>,
    actors: usize,
    problems: usize,
    states: [Option<Result<u128, MachineError>>; 2],
}

fn view<M: Machine>(machine: &mut M) -> View {
    let (mut enabled, mut pending) = (Vec::new(), Vec::new());
    let error = machine.enabled(&mut enabled).err();
    machine.pending(&mut pending);
    let pending = pending.into_iter().map(|p| (p, machine.thread(p))).collect();
    let states = [StateComparison::Canonical, StateComparison::Ordered]
        .map(|comparison| machine.fingerprint().map(|it| it.of_configuration(comparison)));
    View { enabled, error, pending, actors: machine.actors(), problems: machine.problems(), states }
}

/// All observable data of the newest step.
#[derive(Clone, Debug, PartialEq)]
struct Newest {
    step: Step,
    text: StepDescription,
    causes: Vec<usize>,
    sent: std::ops::Range<u32>,
    touches: Vec<Touch>,
    next: Option<Branch>,
    problem: Option<whippet_model::Problem>,
}

fn newest<M: Machine>(machine: &mut M, executed: Executed) -> Newest {
    let at = machine.depth() - 1;
    let mut causes = Vec::new();
    machine.causes(at, &mut causes);
    Newest {
        step: machine.step(at),
        text: machine.describe(at),
        causes,
        sent: machine.sent(at),
        touches: machine.touches(at).to_vec(),
        next: executed.next_branch,
        problem: machine.problem(at),
    }
}

struct Walk<'a, P> {
    program: &'a P,
    size: Size,
    tried: Tried,
    /// The names and branches of the steps taken.
    path: Vec<(Name, Branch)>,
}

impl<P: Program> Walk<'_, P> {
    /// Checks everything from this configuration on. Returns `false` if the program is too large.
    fn all(&mut self, machine: &mut P::Machine) -> Result<bool, String> {
        let here = view(machine);
        if here.enabled.is_empty() {
            self.replay(machine, &here)?;
            return Ok(self.tried.replays <= self.size.executions);
        }
        let depth = machine.depth();
        if depth == self.size.steps {
            return Ok(false);
        }
        for &choice in &here.enabled {
            let mut choice = choice;
            loop {
                let next = self.twice(machine, choice)?;
                let done = self.all(machine)?;
                machine.rewind(depth);
                self.path.truncate(depth);
                same("a configuration after going back", &here, &view(machine))?;
                if !done {
                    return Ok(false);
                }
                match next {
                    Some(branch) => choice.branch = branch,
                    None => break,
                }
            }
        }
        Ok(true)
    }

    /// Executes a step, rewinds it, and executes it again.
    fn twice(&mut self, machine: &mut P::Machine, choice: Choice) -> Result<Option<Branch>, String> {
        let depth = machine.depth();
        let told = |error: MachineError| error.to_string();
        let executed = machine.execute(choice).map_err(told)?;
        let (first, after) = (newest(machine, executed), view(machine));
        machine.rewind(depth);
        let executed = machine.execute(choice).map_err(told)?;
        same("a step", &first, &newest(machine, executed))?;
        same("the configuration after a step", &after, &view(machine))?;
        self.tried.steps += 1;
        self.path.push((first.step.thread, choice.branch));
        Ok(first.next)
    }

    /// Executes the same decisions on a new machine.
    fn replay(&mut self, machine: &mut P::Machine, here: &View) -> Result<(), String> {
        self.tried.replays += 1;
        let mut other = self.program.machine(&Default::default()).map_err(|error| error.to_string())?;
        for &(thread, branch) in &self.path {
            let what = other.find(thread).ok_or("a replayed execution lacks a message")?;
            other.execute(Choice { what, branch }).map_err(|error| error.to_string())?;
        }
        same("a replayed configuration", here, &view(&mut other))?;
        same("a replayed trace", &Trace::of(machine), &Trace::of(&other))?;
        let key = |machine: &P::Machine| {
            let mut clocks = Clocks::new();
            clocks.follow(machine);
            clocks.key()
        };
        same("the key of a replayed trace", &key(machine), &key(&other))
    }
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, first: &T, second: &T) -> Result<(), String> {
    if first == second { Ok(()) } else { Err(format!("{what} differs:\n  {first:?}\n  {second:?}")) }
}
