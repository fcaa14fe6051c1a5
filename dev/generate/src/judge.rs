//! Comparison of all searches on one program.
//!
//! First the exhaustive search is compared with the [`reference`](crate::reference()) interpreter, then every other
//! search with the exhaustive one. The comparison covers the traces, their final states, the problems and the
//! counterexamples.

use crate::{Guarantee, Log, Setting, reference, watch};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use whippet_model::{Finding, FindingKind, Limits, Verdict};
use whippet_search::toy::{Action, Delivery, Program};
use whippet_search::{Reduction, SearchError, explore};

/// The maximal size of programs that are compared; larger ones are skipped.
///
/// ```
/// use whippet_generate::{Setting, Size, judge};
/// use whippet_search::toy::Program;
/// // Three messages in any order: six executions.
/// let crowd = Program::new(1).main(0, 1).main(0, 2).main(0, 3);
/// let size = |executions| Size { executions, steps: 10 };
/// assert!(judge(&crowd, &Setting::all(), size(5)).unwrap().is_none(), "too large");
/// assert!(judge(&crowd, &Setting::all(), size(6)).unwrap().is_some());
/// ```
#[derive(Copy, Clone, Debug)]
pub struct Size {
    /// Maximal number of executions of the exhaustive search.
    pub executions: u64,
    /// Maximal number of steps of one execution.
    pub steps: usize,
}

impl Default for Size {
    fn default() -> Size {
        Size { executions: 2_000, steps: 40 }
    }
}

/// The result of a search, and a log of the executions that it completed.
///
/// ```
/// use whippet_generate::{Setting, answer};
/// use whippet_search::{Reduction, toy::Program};
/// let crowd = Program::new(1).main(0, 1).main(0, 2).main(0, 3);
/// let answer = answer(&crowd, &Setting::of(Reduction::Optimal), None).unwrap().unwrap();
/// assert_eq!(answer.verdict.counters.executions, answer.log.traces.len() as u64);
/// ```
#[derive(Clone, Debug)]
pub struct Answer {
    /// The verdict.
    pub verdict: Verdict,
    /// The completed executions.
    pub log: Log,
}

/// An incorrect result of a search.
///
/// ```
/// use whippet_generate::{Failure, Setting};
/// use whippet_search::Reduction;
/// let failure = Failure { program: None, setting: Setting::of(Reduction::Dcute), what: "a trace is missed".into() };
/// assert!(failure.to_string().contains("a trace is missed"));
/// ```
#[derive(Clone, Debug)]
pub struct Failure {
    /// The program, if it is one of the toy language.
    pub program: Option<Program>,
    /// The search.
    pub setting: Setting,
    /// A description of the error.
    pub what: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.setting, self.what)
    }
}

/// Summary of the searches of one program.
///
/// ```
/// use whippet_generate::{Setting, Size, judge};
/// use whippet_search::toy::Program;
/// let crowd = Program::new(1).main(0, 1).main(0, 2);
/// let mut judged = judge(&crowd, &Setting::all(), Size::default()).unwrap().unwrap();
/// assert_eq!((judged.traces, judged.executions), (2, 2));
/// judged.add(judged.clone());
/// assert_eq!(judged.traces, 4);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Judged {
    /// Number of traces.
    pub traces: usize,
    /// Number of executions of the exhaustive search.
    pub executions: u64,
    /// Number of other searches that were compared.
    pub searches: usize,
    /// The searches that missed something, among those that may do so as published.
    pub misses: Vec<Setting>,
}

impl Judged {
    /// Adds the summary of the same program under another order of delivery.
    pub fn add(&mut self, other: Judged) {
        self.traces += other.traces;
        self.executions += other.executions;
        self.searches += other.searches;
        self.misses.extend(other.misses);
    }
}

/// Runs one search of a program. Returns `None` if the program is too large.
///
/// ```
/// use whippet_generate::{Setting, answer};
/// use whippet_search::{Reduction, toy::Program};
/// let pair = Program::new(2).main(0, 1).main(1, 1);
/// let executions = |reduction| answer(&pair, &Setting::of(reduction), None).unwrap().unwrap().verdict.counters.executions;
/// assert_eq!((executions(Reduction::Exhaustive), executions(Reduction::Optimal)), (2, 1));
/// ```
pub fn answer<P>(program: &P, setting: &Setting, size: Option<Size>) -> Result<Option<Answer>, Failure>
where
    P: whippet_model::Program + Clone + Send + 'static,
{
    let fail = |what: String| Failure { program: None, setting: *setting, what };
    let mut options = setting.options();
    options.limits = Limits::default().with_findings(usize::MAX);
    if let Some(size) = size {
        options.limits.steps = size.steps;
        options.limits.executions = Some(size.executions);
    }
    let (watched, log) = watch(program.clone());
    let verdict = catch_unwind(AssertUnwindSafe(|| explore(Arc::new(watched), &options, &())))
        .map_err(|panic| fail(format!("panics: {}", words(&*panic))))?
        .map_err(|error| fail(format!("gives no verdict: {}", told(&error))))?;
    if !verdict.complete {
        return if size.is_some() { Ok(None) } else { Err(fail("is not complete".into())) };
    }
    Ok(Some(Answer { verdict, log: log.so_far() }))
}

fn told(error: &SearchError) -> String {
    error.to_string()
}

fn words(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("with something that is no text").into()
}

/// Compares searches of a program with the exhaustive search, and that one with the reference. Returns `None` if the
/// program is too large.
///
/// ```
/// use whippet_generate::{Setting, Size, draw, judge};
/// let judged = judge(&draw(42), &Setting::all(), Size::default());
/// assert!(judged.is_ok(), "no search misses anything");
/// ```
pub fn judge(program: &Program, settings: &[Setting], size: Size) -> Result<Option<Judged>, Failure> {
    judge_searches(program, settings, size).map_err(|f| Failure { program: Some(program.clone()), ..f })
}

fn judge_searches(program: &Program, settings: &[Setting], size: Size) -> Result<Option<Judged>, Failure> {
    let exhaustive = Setting::of(Reduction::Exhaustive);
    let Some(all) = answer(program, &exhaustive, Some(size))? else { return Ok(None) };
    let fail = |what: String| Failure { program: None, setting: exhaustive, what };
    against_reference(program, &all, size).map_err(fail)?;
    let mut judged =
        Judged { traces: all.log.traces.len(), executions: all.verdict.counters.executions, ..Judged::default() };
    for setting in settings.iter().filter(|setting| setting.suits(program.granularity)) {
        let answer = answer(program, setting, None)?.expect("there was no limit");
        judged.searches += 1;
        let more = || match setting.guarantee() {
            Guarantee::Ends => same_states(program, &all, &answer),
            _ => compare_stories(&all, &answer),
        };
        match compare(&all, &answer, setting).and_then(|()| more()) {
            Ok(()) => {}
            Err(_) if setting.guarantee() == Guarantee::Some => judged.misses.push(*setting),
            Err(what) => return Err(Failure { program: None, setting: *setting, what }),
        }
    }
    Ok(Some(judged))
}

/// Checks that the exhaustive search and the reference find the same traces, with the same final states and the same
/// kinds of problems.
fn against_reference(program: &Program, all: &Answer, size: Size) -> Result<(), String> {
    sane(&all.log)?;
    let known = reference(program, size.executions as usize, size.steps)
        .ok_or("the reference finds more executions or longer ones")?;
    if known.len() != all.log.traces.len() {
        return Err(format!("{} traces, but the reference finds {}", all.log.traces.len(), known.len()));
    }
    let (mut states, mut texts) = (BTreeMap::new(), BTreeMap::new());
    for (trace, end) in &known {
        let seen = all.log.traces.get(trace).ok_or("a trace of the reference is missing")?;
        if states.entry(seen.state).or_insert(&end.state) != &&end.state {
            return Err(format!("different ends have the same fingerprint: {} and {}", end.state, states[&seen.state]));
        }
        // With other orders of delivery, a configuration contains more than the reference's description of it.
        let plain = program.delivery == Delivery::Unordered;
        if plain && texts.entry(&end.state).or_insert(seen.state) != &seen.state {
            return Err(format!("one end has two fingerprints: {}", end.state));
        }
    }
    let sound: Vec<_> = known.values().filter(|end| end.failed == 0).collect();
    let expected = [
        (FindingKind::Assertion, known.values().any(|end| end.failed > 0)),
        (FindingKind::Deadlock, sound.iter().any(|end| end.waiting > 0)),
        (FindingKind::Undeliverable, sound.iter().any(|end| end.left > 0)),
    ];
    let found: BTreeSet<FindingKind> =
        all.verdict.findings.iter().chain(&all.verdict.warnings).map(|f| f.kind).collect();
    match expected.into_iter().find(|&(kind, expected)| found.contains(&kind) != expected) {
        Some((kind, true)) => Err(format!("a problem of kind {kind} is missing")),
        Some((kind, false)) => Err(format!("a problem of kind {kind} is made up")),
        None => Ok(()),
    }
}

/// Checks properties that every search must have.
fn sane(log: &Log) -> Result<(), String> {
    if let Some(what) = &log.contradiction {
        return Err(what.clone());
    }
    let keys: BTreeSet<u64> = log.traces.values().map(|seen| seen.key).collect();
    if keys.len() == log.traces.len() { Ok(()) } else { Err("the clocks give two traces one key".into()) }
}

/// Compares a search with the exhaustive one.
///
/// ```
/// use whippet_generate::{Setting, answer, compare};
/// use whippet_search::{Reduction, toy::Program};
/// let run = |program: &Program, reduction| answer(program, &Setting::of(reduction), None).unwrap().unwrap();
/// let crowd = Program::new(1).main(0, 1).main(0, 2);
/// let all = run(&crowd, Reduction::Exhaustive);
/// let setting = Setting::of(Reduction::Optimal);
/// assert!(compare(&all, &run(&crowd, Reduction::Optimal), &setting).is_ok());
/// let other = run(&Program::new(1).main(0, 1), Reduction::Optimal);
/// assert!(compare(&all, &other, &setting).is_err(), "of another program");
/// ```
pub fn compare(all: &Answer, answer: &Answer, setting: &Setting) -> Result<(), String> {
    sane(&answer.log)?;
    let promise = setting.guarantee();
    if promise == Guarantee::Ends {
        return same_ends(all, answer);
    }
    let count = &answer.verdict.counters;
    same_traces(&all.log, &answer.log)?;
    let once = matches!(promise, Guarantee::Once | Guarantee::EachOnce)
        || setting.reduction == Reduction::Source
        || setting.sleep;
    let most = answer.log.traces.values().map(|seen| seen.times).max().unwrap_or(0);
    if once && most > 1 {
        return Err(format!("a trace is explored {most} times"));
    }
    if promise == Guarantee::Once && count.blocked > 0 {
        return Err(format!("{} executions are blocked", count.blocked));
    }
    same_problems(&all.verdict.findings, &answer.verdict.findings)?;
    same_problems(&all.verdict.warnings, &answer.verdict.warnings)
}

/// Compares the final states and the kinds of problems of a stateful search. Such a search identifies messages of
/// equal content, whatever their names. Anything named after a message then has one of several names, so the keys of
/// problems cannot be compared.
fn same_ends(all: &Answer, answer: &Answer) -> Result<(), String> {
    let (wanted, found) = (states(&all.log), states(&answer.log));
    if !found.is_subset(&wanted) {
        return Err("a final state that cannot be".into());
    }
    let kinds = |findings: &[Finding]| findings.iter().map(|f| f.kind).collect::<BTreeSet<_>>();
    for (wanted, found) in
        [(&all.verdict.findings, &answer.verdict.findings), (&all.verdict.warnings, &answer.verdict.warnings)]
    {
        if kinds(wanted) != kinds(found) {
            return Err(format!("problems of the kinds {:?}, not {:?}", kinds(found), kinds(wanted)));
        }
    }
    Ok(())
}

/// Compares the numbers of final states, unless the program creates actors, which are named after messages.
pub(crate) fn same_states(program: &Program, all: &Answer, answer: &Answer) -> Result<(), String> {
    let creates = program.rules.iter().flat_map(|rule| &rule.actions).any(|a| matches!(a, Action::Create(_)));
    let (wanted, found) = (states(&all.log).len(), states(&answer.log).len());
    if creates || wanted == found { Ok(()) } else { Err(format!("{found} final states, not {wanted}")) }
}

fn states(log: &Log) -> BTreeSet<Option<u128>> {
    log.traces.values().map(|seen| seen.state).collect()
}

fn same_traces(all: &Log, log: &Log) -> Result<(), String> {
    if let Some(missing) = all.traces.keys().find(|trace| !log.traces.contains_key(trace)) {
        let count = all.traces.keys().filter(|trace| !log.traces.contains_key(trace)).count();
        return Err(format!("{count} of {} traces are missing, such as {missing:?}", all.traces.len()));
    }
    for (trace, seen) in &log.traces {
        let known = all.traces.get(trace).ok_or_else(|| format!("a trace that cannot be: {trace:?}"))?;
        if (known.state, known.key) != (seen.state, seen.key) {
            return Err(format!("another end of the trace {trace:?}"));
        }
    }
    Ok(())
}

fn same_problems(all: &[Finding], found: &[Finding]) -> Result<(), String> {
    let keys = |findings: &[Finding]| findings.iter().map(|f| (f.kind, f.key)).collect::<BTreeSet<_>>();
    let (wanted, seen) = (keys(all), keys(found));
    if let Some((kind, _)) = wanted.difference(&seen).next() {
        return Err(format!("a problem of kind {kind} is missing"));
    }
    if let Some((kind, _)) = seen.difference(&wanted).next() {
        return Err(format!("a problem of kind {kind} is made up"));
    }
    Ok(())
}

/// Compares the counterexamples of the problems, which must not depend on the search.
///
/// ```
/// use whippet_generate::{Setting, answer, compare_stories};
/// use whippet_search::{Reduction, toy::{Action, Program}};
/// let run = |reduction| {
///     let program = Program::new(1).main(0, 1).on(0, 1, [Action::Fail]);
///     answer(&program, &Setting::of(reduction), None).unwrap().unwrap()
/// };
/// assert!(compare_stories(&run(Reduction::Exhaustive), &run(Reduction::Optimal)).is_ok());
/// ```
pub fn compare_stories(all: &Answer, answer: &Answer) -> Result<(), String> {
    let story = |f: &Finding| f.schedule.decisions.iter().map(|d| (d.thread, d.branch)).collect::<Vec<_>>();
    let told = |f: &Finding| f.schedule.decisions.iter().map(|d| d.text.clone()).collect::<Vec<_>>().join(", ");
    let problems = |answer: &Answer| answer.verdict.findings.iter().chain(&answer.verdict.warnings).cloned().collect();
    let found: Vec<Finding> = problems(answer);
    let wanted: Vec<Finding> = problems(all);
    for one in &wanted {
        let other = found.iter().find(|other| (other.kind, other.key) == (one.kind, one.key));
        if let Some(other) = other.filter(|other| story(other) != story(one)) {
            let (kind, what) = (one.kind, &one.message);
            return Err(format!(
                "the story of a problem differs ({kind}: {what}): {}; not: {}",
                told(other),
                told(one)
            ));
        }
    }
    Ok(())
}
