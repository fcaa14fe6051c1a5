//! The services of the driver to every search: counts, findings with counterexamples, limits, replay.

use std::sync::Arc;
use std::time::Duration;
use whippet_model::{
    ActorNo, Choice, Executed, Explain, FindingKind, LimitHit, Limits, Machine, MachineConfig, MachineError, Name,
    Pending, Problem, Profile, Step, StepDescription, Touch, Verdict, capabilities,
};
use whippet_search::toy::{Action, Delivery, Program, Target, Toy};
use whippet_search::{Options, Reduction, SearchError, explore, replay};

fn exhaustive() -> Options {
    Options::new(Reduction::Exhaustive)
}

fn check(program: &Program, options: &Options) -> Verdict {
    explore(Arc::new(program.clone()), options, &()).unwrap()
}

/// The server of the papers. Tags: set 1, get 2, shutdown 3; the client calls `get` twice.
fn server() -> Program {
    use Action::{Call, Send, Stop};
    let server = Target::Actor(0);
    Program::new(2).main(1, 0).on(1, 0, [Send(server, 1), Call(server, 2), Call(server, 2), Send(server, 3)]).on(
        0,
        3,
        [Stop],
    )
}

#[test]
fn the_server_has_6_executions_and_26_transitions() {
    let verdict = check(&server(), &exhaustive());
    assert_eq!((verdict.counters.executions, verdict.counters.transitions), (6, 26));
    assert!(verdict.complete && verdict.findings.is_empty() && verdict.limits.is_empty());
    assert_eq!(verdict.warnings.len(), 1, "`set` after `shutdown`");
    assert_eq!(verdict.warnings[0].executions, 1);
    let strict = check(&server(), &exhaustive().with_undeliverable_is_error(true));
    assert_eq!((strict.findings.len(), strict.warnings.len()), (1, 0));
    let fifo = check(&server().delivery(Delivery::Fifo), &exhaustive());
    assert_eq!(fifo.counters.executions, 1);
}

#[test]
fn causal_delivery_is_stronger_than_fifo() {
    use Action::Send;
    // A0 sends to A2 and then to A1, which sends to A2.
    let relay = Program::new(3).main(0, 0).on(0, 0, [Send(Target::Actor(2), 1), Send(Target::Actor(1), 1)]).on(
        1,
        1,
        [Send(Target::Actor(2), 2)],
    );
    let executions = |d| check(&relay.clone().delivery(d), &exhaustive()).counters.executions;
    assert_eq!([Delivery::Unordered, Delivery::Fifo, Delivery::Causal].map(executions), [3, 3, 2]);
}

#[test]
fn a_choice_is_explored_for_every_value() {
    let program = Program::new(1).main(0, 0).on(0, 0, [Action::Choose(2), Action::Choose(3)]);
    let verdict = check(&program, &exhaustive());
    assert_eq!((verdict.counters.executions, verdict.counters.transitions), (6, 6));
}

/// A0 fails if t2, which A1 sends, arrives before t1. A2 is irrelevant.
fn racy() -> Program {
    Program::new(3)
        .main(2, 9)
        .main(0, 1)
        .main(1, 0)
        .on(0, 1, [Action::Set(1)])
        .on(1, 0, [Action::Send(Target::Actor(0), 2)])
        .when(0, 2, 0, [Action::Fail])
}

#[test]
fn a_story_has_no_step_that_does_not_matter_and_replays() {
    let verdict = check(&racy(), &exhaustive());
    let [finding] = &verdict.findings[..] else { panic!("one finding, not {:?}", verdict.findings) };
    assert_eq!(finding.kind, FindingKind::Assertion);
    let counterexample: Vec<String> = finding.counterexample.iter().map(ToString::to_string).collect();
    assert_eq!(counterexample, ["A1 receives Tag(0) from main", "A0 receives Tag(2) from A1"]);
    assert_eq!(finding.executions, 3, "t9 may come anywhere; t1 finds A0 stopped");
    let replayed = replay(&racy(), &finding.schedule).unwrap();
    assert_eq!(replayed.trace, finding.counterexample);
    assert_eq!(replayed.problems[0].key, finding.key);
}

#[test]
fn a_schedule_that_does_not_fit_says_so() {
    let schedule = check(&racy(), &exhaustive()).findings[0].schedule.clone();
    let mut other = schedule.clone();
    other.program = "bank".into();
    let error = replay(&racy(), &other).unwrap_err().to_string();
    assert_eq!(error, "the schedule is for `bank`, not for `toy`");
    let mut backwards = schedule;
    backwards.decisions.reverse();
    let error = replay(&racy(), &backwards).unwrap_err().to_string();
    assert!(error.contains("step 1") && error.contains("nothing of this name is pending"), "{error}");
}

#[test]
fn a_deadlock_is_found() {
    use Action::Call;
    let program = Program::new(2).main(0, 0).main(1, 0).on(0, 0, [Call(Target::Actor(1), 1)]).on(
        1,
        0,
        [Call(Target::Actor(0), 1)],
    );
    let verdict = check(&program, &exhaustive());
    assert_eq!(verdict.findings.iter().map(|f| f.kind).collect::<Vec<_>>(), [FindingKind::Deadlock]);
    assert_eq!(verdict.findings[0].counterexample.len(), 2);
}

#[test]
fn the_first_bug_ends_the_search() {
    let verdict = check(&racy(), &exhaustive().with_first_bug(true));
    assert_eq!((verdict.findings.len(), verdict.complete), (1, false));
    assert_eq!(verdict.limits, [LimitHit::FirstBug]);
}

#[test]
fn a_limit_on_executions_is_exact_and_no_limit_when_everything_is_covered() {
    let limited = |most| {
        let limits = Limits::default().with_executions(Some(most));
        check(&server(), &exhaustive().with_limits(limits))
    };
    let four = limited(4);
    assert_eq!((four.counters.executions, four.complete), (4, false));
    assert_eq!(four.limits, [LimitHit::Executions]);
    assert!(four.estimate.unwrap().total > 4.0);
    let six = limited(6);
    assert_eq!((six.counters.executions, six.complete), (6, true));
    assert!(six.limits.is_empty());
}

#[test]
fn an_endless_execution_is_a_finding() {
    let program = Program::new(1).main(0, 0).on(0, 0, [Action::Send(Target::Me, 0)]);
    let limits = Limits::default().with_steps(50);
    let verdict = check(&program, &exhaustive().with_limits(limits));
    assert_eq!((verdict.counters.executions, verdict.counters.transitions), (1, 50));
    assert_eq!((verdict.findings[0].kind, verdict.findings[0].counterexample.len()), (FindingKind::Limit, 50));
    assert_eq!((verdict.limits.as_slice(), verdict.complete), (&[LimitHit::Steps][..], false));
}

#[test]
fn time_is_limited() {
    let program = (0..40).fold(Program::new(40), |p, k| p.main(k, 0));
    let limits = Limits::default().with_time(Some(Duration::from_millis(50)));
    let verdict = check(&program, &exhaustive().with_limits(limits));
    assert_eq!((verdict.limits.as_slice(), verdict.complete), (&[LimitHit::Time][..], false));
    assert!(verdict.counters.transitions > 0 && verdict.time < Duration::from_secs(5));
}

/// A program of two messages to two actors, with handlers that the test supplies.
struct Odd {
    handler: fn(u32) -> Result<Name, MachineError>,
}

struct OddMachine {
    inner: Toy,
    handler: fn(u32) -> Result<Name, MachineError>,
    events: Vec<Name>,
}

impl whippet_model::Program for Odd {
    type Machine = OddMachine;

    fn machine(&self, config: &MachineConfig) -> Result<OddMachine, MachineError> {
        let inner = Program::new(2).main(0, 0).main(1, 1).machine(config)?;
        Ok(OddMachine { inner, handler: self.handler, events: Vec::new() })
    }

    fn name(&self) -> String {
        "odd".into()
    }

    fn parameters(&self) -> Vec<(String, String)> {
        Vec::new()
    }

    fn caveats(&self) -> Vec<String> {
        Vec::new()
    }

    fn refinements(&self) -> u64 {
        0
    }
}

impl Machine for OddMachine {
    capabilities!();

    fn profile(&self) -> &Profile {
        self.inner.profile()
    }
    fn depth(&self) -> usize {
        self.inner.depth()
    }
    fn enabled(&mut self, out: &mut Vec<Choice>) -> Result<(), MachineError> {
        self.inner.enabled(out)
    }
    fn execute(&mut self, choice: Choice) -> Result<Executed, MachineError> {
        self.events.truncate(self.inner.depth());
        self.events.push((self.handler)(choice.what.0)?);
        self.inner.execute(choice)
    }
    fn rewind(&mut self, depth: usize) {
        self.inner.rewind(depth);
    }
    fn thread(&self, what: Pending) -> Name {
        self.inner.thread(what)
    }
    fn actor(&self, what: Pending) -> ActorNo {
        self.inner.actor(what)
    }
    fn find(&self, thread: Name) -> Option<Pending> {
        self.inner.find(thread)
    }
    fn pending(&self, out: &mut Vec<Pending>) {
        self.inner.pending(out);
    }
    fn step(&self, at: usize) -> Step {
        Step { event: self.events[at], ..self.inner.step(at) }
    }
    fn causes(&self, at: usize, out: &mut Vec<usize>) {
        self.inner.causes(at, out);
    }
    fn sent(&self, at: usize) -> std::ops::Range<u32> {
        self.inner.sent(at)
    }
    fn touches(&self, at: usize) -> &[Touch] {
        self.inner.touches(at)
    }
    fn actors(&self) -> usize {
        self.inner.actors()
    }
}

impl Explain for OddMachine {
    fn problems(&self) -> usize {
        0
    }
    fn problem(&self, _: usize) -> Option<Problem> {
        None
    }
    fn data_races(&self, _: &mut Vec<Problem>) {}
    fn final_problems(&mut self, _: &mut Vec<Problem>) -> Result<(), MachineError> {
        Ok(())
    }
    fn describe(&mut self, at: usize) -> StepDescription {
        self.inner.describe(at)
    }
    fn handler_runs(&self) -> u64 {
        self.inner.handler_runs()
    }
}

#[test]
fn a_handler_that_does_not_end_is_a_finding() {
    let handler = |what| {
        if what == 1 {
            std::thread::sleep(Duration::from_secs(3600));
        }
        Ok(Name::ROOT.child(what))
    };
    let limits = Limits::default().with_handler(Duration::from_millis(60));
    let verdict = explore(Arc::new(Odd { handler }), &exhaustive().with_limits(limits), &()).unwrap();
    assert_eq!((verdict.limits.as_slice(), verdict.complete), (&[LimitHit::Handler][..], false));
    let [finding] = &verdict.findings[..] else { panic!("one finding") };
    assert_eq!(finding.kind, FindingKind::Limit);
    assert_eq!(finding.counterexample[0].actor, "A0");
    assert_eq!(finding.schedule.decisions.len(), 2);
    assert!(finding.message.starts_with("actor 1 did not return from step 2"), "{}", finding.message);
}

#[test]
fn a_program_that_differs_the_second_time_is_not_deterministic() {
    use std::sync::atomic::{AtomicU32, Ordering};
    static CALLS: AtomicU32 = AtomicU32::new(0);
    let handler = |_| Ok(Name::ROOT.child(CALLS.fetch_add(1, Ordering::Relaxed)));
    let error = explore(Arc::new(Odd { handler }), &exhaustive(), &()).unwrap_err();
    assert!(matches!(error, SearchError::Program(MachineError::Nondeterministic(_))), "{error}");
    assert!(error.to_string().contains("usual causes"));
}
