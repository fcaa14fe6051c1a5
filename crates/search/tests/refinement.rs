//! Searches that start again because the program's dependence relation was refined: the limits hold for all attempts
//! together.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use whippet_model::{LimitHit, Limits, MachineConfig, MachineError, Observed, ObservedMachine};
use whippet_search::toy::{Action, Program, Toy};
use whippet_search::{Options, SearchError, explore};

/// A program that learns something in each attempt, up to a number of lessons.
struct Learner {
    program: Program,
    lessons: u64,
    learnt: Arc<AtomicU64>,
    /// The number of complete executions of all attempts.
    executions: Arc<AtomicU64>,
}

impl Learner {
    /// Four messages to one actor, which fails and stops if the first one comes first: 1 + 3 · 3! executions.
    fn new(lessons: u64) -> Arc<Learner> {
        let program = (0..4).fold(Program::new(1), |program, tag| program.main(0, tag));
        let program = program.on(0, 1, [Action::Set(1)]).on(0, 2, [Action::Set(1)]).on(0, 3, [Action::Set(1)]);
        let program = program.when(0, 0, 0, [Action::Fail]);
        Arc::new(Learner { program, lessons, learnt: Arc::default(), executions: Arc::default() })
    }
}

impl whippet_model::Program for Learner {
    type Machine = ObservedMachine<Toy>;

    fn machine(&self, config: &MachineConfig) -> Result<ObservedMachine<Toy>, MachineError> {
        let (lessons, learnt, executions) = (self.lessons, self.learnt.clone(), self.executions.clone());
        let known = learnt.load(Ordering::Relaxed);
        let observe = move |_: &mut Toy, _| {
            executions.fetch_add(1, Ordering::Relaxed);
            if known < lessons {
                learnt.store(known + 1, Ordering::Relaxed);
            }
        };
        Observed::new(self.program.clone(), observe).machine(config)
    }

    fn name(&self) -> String {
        "learner".into()
    }

    fn parameters(&self) -> Vec<(String, String)> {
        Vec::new()
    }

    fn caveats(&self) -> Vec<String> {
        Vec::new()
    }

    fn refinements(&self) -> u64 {
        self.learnt.load(Ordering::Relaxed)
    }
}

fn search(learner: &Arc<Learner>, limits: Limits) -> Result<whippet_model::Verdict, SearchError> {
    explore(learner.clone(), &Options::default().with_limits(limits), &())
}

#[test]
fn only_the_last_attempt_counts() {
    let learner = Learner::new(3);
    let verdict = search(&learner, Limits::default()).unwrap();
    assert!(verdict.complete && verdict.limits.is_empty());
    assert_eq!((verdict.counters.executions, verdict.findings.len()), (19, 1));
    assert_eq!(verdict.findings[0].executions, 1);
    assert_eq!(learner.executions.load(Ordering::Relaxed), 4 * 19);
}

#[test]
fn the_limit_on_executions_holds_for_all_attempts_together() {
    for limit in [1, 18, 19, 20, 50, 75] {
        let learner = Learner::new(3);
        let verdict = search(&learner, Limits::default().with_executions(Some(limit))).unwrap();
        assert_eq!((verdict.complete, verdict.limits.as_slice()), (false, &[LimitHit::Executions][..]), "{limit}");
        assert_eq!(learner.executions.load(Ordering::Relaxed), limit);
    }
    let learner = Learner::new(3);
    let verdict = search(&learner, Limits::default().with_executions(Some(76))).unwrap();
    assert!(verdict.complete && verdict.limits.is_empty());
}

#[test]
fn the_limit_on_time_holds_for_all_attempts_together() {
    let learner = Learner::new(u64::MAX);
    let began = Instant::now();
    let limits = Limits::default().with_time(Some(Duration::from_millis(300)));
    let verdict = search(&learner, limits).unwrap();
    assert_eq!((verdict.complete, verdict.limits.as_slice()), (false, &[LimitHit::Time][..]));
    assert!(learner.learnt.load(Ordering::Relaxed) > 1, "there were several attempts");
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
}

#[test]
fn a_finding_survives_a_limit_in_whichever_attempt_it_was_found() {
    // The limit is hit in the first attempt, at the end of an attempt, and in a later one.
    for limit in [5, 19, 20, 21, 45] {
        let learner = Learner::new(u64::MAX);
        let verdict = search(&learner, Limits::default().with_executions(Some(limit))).unwrap();
        assert!(!verdict.complete);
        assert_eq!(verdict.findings.len(), 1, "{limit}: the finding appears again with the new refinements");
    }
}
