//! Programs without branches: each process is a list of actions.
//!
//! The text form and the subjects are translated to scripts. [`Script::new`] resolves references between actions, so
//! that machines only run valid programs.

use crate::op::{Op, WaitMode};
use std::collections::BTreeMap;
use std::rc::Rc;

/// One action of a process. Actions that refer to other actions of the process count them from 0.
///
/// ```
/// use whippet_net::{Action, Script};
/// let script = Script::new(vec![vec![Action::Receive(0), Action::Wait(vec![0])]]).unwrap();
/// assert_eq!(script.processes()[0][1], Action::Wait(vec![0]));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// A local computation: `L`.
    Local,
    /// AsyncSend on a mailbox: `S0`.
    Send(usize),
    /// AsyncReceive on a mailbox: `R0`.
    Receive(usize),
    /// WaitAny on the communications of these actions: `W0,2`.
    Wait(Vec<usize>),
    /// TestAny on the communications of these actions: `T0,2`.
    Test(Vec<usize>),
    /// AsyncMutexLock of a mutex: `K0`.
    Lock(usize),
    /// MutexWait on these mutexes: `MW0,1`.
    MutexWait(Vec<usize>),
    /// MutexTest on these mutexes: `MT0,1`.
    MutexTest(Vec<usize>),
    /// MutexUnlock of a mutex: `U0`.
    Unlock(usize),
}

/// An invalid action of a script.
///
/// ```
/// use whippet_net::{Action, Script};
/// let error = Script::new(vec![vec![Action::Local, Action::Unlock(0)]]).unwrap_err();
/// assert_eq!((error.process, error.action), (0, 1));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("action {action} of process {process}: {message}")]
pub struct ScriptError {
    /// The process, counted from 0.
    pub process: usize,
    /// The action of the process, counted from 0.
    pub action: usize,
    /// A description of the error and of how to fix it.
    pub message: String,
}

/// A program without branches.
///
/// ```
/// use whippet_net::{Action::*, Script};
/// let script = Script::new(vec![vec![Receive(0), Wait(vec![0])], vec![Send(0), Wait(vec![0])]]).unwrap();
/// assert_eq!(script.to_string(), "R0 W0\nS0 W0\n");
/// let error = Script::new(vec![vec![Unlock(0)]]).unwrap_err();
/// assert!(error.message.contains("not requested"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    pub(crate) names: Vec<String>,
    pub(crate) processes: Vec<Vec<Action>>,
    pub(crate) mailboxes: Vec<String>,
    pub(crate) mutexes: Vec<String>,
}

impl Script {
    /// Creates a program of these processes. Fails if an action is invalid.
    pub fn new(processes: Vec<Vec<Action>>) -> Result<Script, ScriptError> {
        let count = |pick: fn(&Action) -> Option<usize>| {
            processes.iter().flatten().filter_map(pick).map(|n| n + 1).max().unwrap_or(0)
        };
        let mailboxes = count(|a| match a {
            Action::Send(m) | Action::Receive(m) => Some(*m),
            _ => None,
        });
        let mutexes = count(|a| match a {
            Action::Lock(x) => Some(*x),
            _ => None,
        });
        Script {
            names: (0..processes.len()).map(|p| format!("process {p}")).collect(),
            processes,
            mailboxes: (0..mailboxes).map(|m| m.to_string()).collect(),
            mutexes: (0..mutexes).map(|x| x.to_string()).collect(),
        }
        .checked()
    }

    pub(crate) fn checked(self) -> Result<Script, ScriptError> {
        for (process, actions) in self.processes.iter().enumerate() {
            resolve(actions).map_err(|(action, message)| ScriptError { process, action, message })?;
        }
        Ok(self)
    }

    /// Returns the actions of each process.
    ///
    /// ```
    /// use whippet_net::{Action, Script};
    /// let script = Script::new(vec![vec![Action::Local], vec![]]).unwrap();
    /// assert_eq!(script.processes().len(), 2);
    /// ```
    #[must_use]
    pub fn processes(&self) -> &[Vec<Action>] {
        &self.processes
    }

    pub(crate) fn ops(&self, process: usize) -> Vec<Rc<Op>> {
        let ops = resolve(&self.processes[process]).expect("a script is checked when it is made");
        ops.into_iter().map(Rc::new).collect()
    }
}

/// Translates actions to operations: references to mutexes in waits and unlocks become references to the process's
/// requests.
///
/// A process may request a mutex again before it has released it. An unlock then releases the oldest request, and a
/// wait refers to the newest.
fn resolve(actions: &[Action]) -> Result<Vec<Op>, (usize, String)> {
    let mut requests: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
    let mut ops = Vec::with_capacity(actions.len());
    for (at, action) in actions.iter().enumerate() {
        let communications = |of: &[usize]| -> Result<Vec<u32>, (usize, String)> {
            for &k in of {
                match actions[..at].get(k) {
                    Some(Action::Send(_) | Action::Receive(_)) => {}
                    Some(_) => {
                        return Err((
                            at,
                            format!("action {k} of this process is not a communication: refer to an S or an R"),
                        ));
                    }
                    None => {
                        let why = format!(
                            "a process can only wait for its own earlier actions: {k} is not among 0 to {}",
                            at.saturating_sub(1)
                        );
                        return Err((at, if at == 0 { "there is no earlier action to wait for".into() } else { why }));
                    }
                }
            }
            check_list(at, of)?;
            Ok(of.iter().map(|&k| k as u32).collect())
        };
        let held = |requests: &BTreeMap<usize, Vec<u32>>, of: &[usize]| -> Result<Vec<u32>, (usize, String)> {
            check_list(at, of)?;
            of.iter()
                .map(|x| {
                    let newest = requests.get(x).and_then(|all| all.last()).copied();
                    newest.ok_or_else(|| (at, "this process has not requested the mutex: add a K before".to_string()))
                })
                .collect()
        };
        ops.push(match action {
            Action::Local => Op::Local(None),
            Action::Send(m) => Op::Send { mailbox: *m as u32, value: None },
            Action::Receive(m) => Op::Receive { mailbox: *m as u32 },
            Action::Wait(of) => Op::Wait { of: communications(of)?, mode: WaitMode::Wait },
            Action::Test(of) => Op::Wait { of: communications(of)?, mode: WaitMode::Test },
            Action::Lock(x) => {
                requests.entry(*x).or_default().push(at as u32);
                Op::Lock { mutex: *x as u32 }
            }
            Action::MutexWait(of) => Op::MutexWait { of: held(&requests, of)?, test: false },
            Action::MutexTest(of) => Op::MutexWait { of: held(&requests, of)?, test: true },
            Action::Unlock(x) => match requests.get_mut(x) {
                Some(all) if !all.is_empty() => Op::Unlock { of: all.remove(0) },
                _ => {
                    return Err((
                        at,
                        "this process has not requested the mutex that it unlocks: add a K before".into(),
                    ));
                }
            },
        });
    }
    Ok(ops)
}

fn check_list(at: usize, of: &[usize]) -> Result<(), (usize, String)> {
    if of.is_empty() {
        return Err((at, "specify what to wait for".into()));
    }
    if let Some(k) = (1..of.len()).find(|&k| of[..k].contains(&of[k])) {
        return Err((at, format!("{} is listed twice", of[k])));
    }
    Ok(())
}
