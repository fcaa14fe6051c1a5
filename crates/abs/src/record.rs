//! A record of the executions of one method: the branches that were reached, and the result of each input.

use crate::code::{Code, Instr, LIBRARY};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex};

/// The ways from an instruction that were taken.
const CONTINUES: u8 = 1;
const JUMPS: u8 = 2;
const ENTERED: u8 = 4;

/// The result of one call of the method.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CaseResult {
    /// A value, as source text.
    Value(String),
    /// A value that has no source text, such as an object.
    Other,
    /// An exception, as a pattern that matches it.
    Throws(String),
}

/// The inputs of an execution, as the numbers that `random` returned, with all results of the method.
pub(crate) type Cases = BTreeMap<Vec<u32>, BTreeSet<CaseResult>>;

/// What the executions of a method had in common: which branches they reached, and what the method returned. All machines
/// of a program add to the same record.
#[derive(Debug)]
pub(crate) struct Record {
    /// The method that is called.
    pub(crate) target: u32,
    /// For each instruction of each method, the ways that were taken.
    taken: Vec<Box<[AtomicU8]>>,
    cases: Mutex<Cases>,
}

impl Record {
    pub(crate) fn new(code: &Code, target: u32) -> Arc<Record> {
        let none = |method: &crate::code::Method| method.code.iter().map(|_| AtomicU8::new(0)).collect();
        Arc::new(Record { target, taken: code.methods.iter().map(none).collect(), cases: Mutex::default() })
    }

    /// Notes that a branch was taken.
    pub(crate) fn branch(&self, method: u32, at: u32, jumps: bool) {
        self.mark(method, at, if jumps { JUMPS } else { CONTINUES });
    }

    /// Notes that a method runs.
    pub(crate) fn enter(&self, method: u32) {
        self.mark(method, 0, ENTERED);
    }

    fn mark(&self, method: u32, at: u32, way: u8) {
        let taken = &self.taken[method as usize][at as usize];
        // Most ways have been taken before, and reading is cheaper than writing.
        if taken.load(Ordering::Relaxed) & way == 0 {
            taken.fetch_or(way, Ordering::Relaxed);
        }
    }

    /// Notes an input and, once the method has ended, its result.
    pub(crate) fn case(&self, inputs: Vec<u32>, result: Option<CaseResult>) {
        let mut cases = self.cases.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        cases.entry(inputs).or_default().extend(result);
    }

    pub(crate) fn cases(&self) -> Cases {
        self.cases.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }
}

/// The branches of the methods that ran: how many of them were reached, and which were not.
///
/// Branches are those of `if`, `while`, `foreach`, `switch` and `catch`. Expressions, which include the bodies of functions,
/// are not counted.
///
/// ```
/// use whippet_abs::{AbsProgram, InputBounds};
/// let text = "module M; interface Gate { Bool opens(Int age); }
///     class Gate implements Gate { Bool opens(Int age) { Bool yes = False; if (age > 18) yes = True; return yes; } }";
/// let files = [("gate.abs".to_string(), text.to_string())];
/// let covered = |bounds: InputBounds| {
///     let program = AbsProgram::parse_method(&files, Vec::new, "Gate.opens", &bounds).unwrap();
///     whippet_search::explore(program.clone().into(), &Default::default(), &()).unwrap();
///     program.coverage().unwrap()
/// };
/// let some = covered(InputBounds::default());
/// assert_eq!((some.branches, some.missed.len()), (2, 1));
/// assert_eq!(some.missed[0].to_string(), "gate.abs:2: the condition is never true");
/// assert!(covered(InputBounds::default().with_ints(18..=19)).missed.is_empty());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Coverage {
    /// The number of branches.
    pub branches: usize,
    /// The branches that no execution reached.
    pub missed: Vec<MissedBranch>,
}

/// A branch that no execution reached: see [`Coverage`]. `Display` writes its place and what never happens.
///
/// ```
/// # use whippet_abs::{AbsProgram, InputBounds};
/// # let text = "module M; interface I { Unit m(); } class C implements I { Unit m() { if (False) skip; } }";
/// # let files = [("c.abs".to_string(), text.to_string())];
/// # let program = AbsProgram::parse_method(&files, Vec::new, "C.m", &InputBounds::default()).unwrap();
/// # whippet_search::explore(program.clone().into(), &Default::default(), &()).unwrap();
/// let missed = &program.coverage().unwrap().missed[0];
/// assert_eq!(missed.what, "the condition is never true");
/// assert_eq!(missed.place, "c.abs:1");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct MissedBranch {
    /// The file and line of the condition or pattern.
    pub place: String,
    /// What never happens there.
    pub what: &'static str,
}

impl fmt::Display for MissedBranch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}

impl Record {
    /// Returns the coverage of the methods that ran. Those of the library and the generated main block do not count.
    pub(crate) fn coverage(&self, code: &Code) -> Coverage {
        let mut missed = Vec::new();
        let mut branches = 0;
        for (method, taken) in code.methods.iter().zip(&self.taken) {
            let counts = method.class >= code.library_classes && method.class != 0;
            let Some(first) = taken.first().filter(|_| counts) else { continue };
            if first.load(Ordering::Relaxed) & ENTERED == 0 {
                continue;
            }
            for ((instr, &place), taken) in method.code.iter().zip(&method.places).zip(taken) {
                let ways: &[(u8, &str)] = match instr {
                    _ if place == LIBRARY => &[],
                    Instr::JumpUnless(..) => {
                        &[(CONTINUES, "the condition is never true"), (JUMPS, "the condition is never false")]
                    }
                    Instr::Match(..) => &[(CONTINUES, "the pattern never matches")],
                    Instr::Next(..) => &[(CONTINUES, "the loop is never entered")],
                    _ => &[],
                };
                branches += ways.len();
                let taken = taken.load(Ordering::Relaxed);
                let never = ways.iter().filter(|(way, _)| taken & way == 0);
                missed.extend(never.map(|&(_, what)| MissedBranch { place: code.source.place(place), what }));
            }
        }
        missed.sort();
        Coverage { branches, missed }
    }
}
