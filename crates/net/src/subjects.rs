//! The programs of Table 1 of the paper.
//!
//! MPI operations are translated as follows: a blocking send is `S` and `W`, a blocking receive is `R` and `W`, a
//! Waitall is one `W` per request in order, and receives from any source use one mailbox per receiver.

use crate::net::Net;
use crate::script::{Action, Script};
use crate::text;

/// A program of the paper.
///
/// ```
/// for subject in whippet_net::subjects() {
///     let program = subject.program(None);
///     assert!(program.is_ok(), "{}: {}", subject.name, subject.description);
/// }
/// ```
#[derive(Copy, Clone, Debug)]
pub struct NetSubject {
    /// The name, as used on the command line.
    pub name: &'static str,
    /// A description in one line.
    pub description: &'static str,
    /// The range of the parameter `n`, the number of processes, if the program has that parameter.
    pub processes: Option<ProcessCount>,
    make: fn(usize) -> Script,
}

/// The parameter `n` of a subject.
///
/// ```
/// let subjects = whippet_net::subjects();
/// let rmq = subjects.iter().find(|subject| subject.name == "rmq-receiving").unwrap();
/// let processes = rmq.processes.as_ref().unwrap();
/// assert!(processes.min <= processes.default);
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ProcessCount {
    /// The smallest sensible number of processes.
    pub min: usize,
    /// The default, which is the smallest number of processes in the paper's table.
    pub default: usize,
}

impl NetSubject {
    /// Returns the program, with `n` processes if it has that parameter.
    ///
    /// ```
    /// let subjects = whippet_net::subjects();
    /// let rmq = subjects.iter().find(|s| s.name == "rmq-receiving").unwrap();
    /// assert!(rmq.program(Some(4)).is_ok());
    /// assert!(rmq.program(Some(1)).unwrap_err().contains("between 2 and 64"));
    /// ```
    pub fn program(&self, n: Option<usize>) -> Result<Net, String> {
        match (self.processes, n) {
            (None, None) => Ok(Net::script(self.name, (self.make)(0))),
            (None, Some(_)) => Err(format!("`{}` takes no parameter `n`", self.name)),
            (Some(processes), n) => {
                let n = n.unwrap_or(processes.default);
                if n < processes.min || n > MAX_PROCESSES {
                    let min = processes.min;
                    return Err(format!("`{}`: n must be between {min} and {MAX_PROCESSES}", self.name));
                }
                Ok(Net::script(self.name, (self.make)(n)).with_parameter("n", n))
            }
        }
    }
}

/// The maximum number of processes; larger programs take too long to explore.
const MAX_PROCESSES: usize = 64;

macro_rules! fixed {
    ($name:literal, $description:literal, $text:literal) => {
        NetSubject {
            name: $name,
            description: $description,
            processes: None,
            make: |_| text::parse($text).expect("a built-in program is valid").0,
        }
    };
}

/// Returns the programs of Table 1.
///
/// ```
/// let names: Vec<&str> = whippet_net::subjects().iter().map(|subject| subject.name).collect();
/// assert!(names.contains(&"rmq-receiving"), "{names:?}");
/// ```
#[must_use]
pub fn subjects() -> Vec<NetSubject> {
    vec![
        fixed!("wait-deadlock", "two processes that both receive before they send", "R0 W0 S1 W2\nR1 W0 S0 W2"),
        fixed!(
            "complex-deadlock",
            "a ring of receives behind a send that succeeds",
            "S2 W0 R0 W2 S1 W4\nR1 W0 S0 W2\nR2 W0"
        ),
        fixed!(
            "waitall-deadlock",
            "a Waitall for a message that is sent too late",
            "R0 R0 W0 W1 S1 W4\nS0 S2 W0 W1 R1 W4 S0 W6\nR2 W0"
        ),
        fixed!(
            "no-error-wait-any_src",
            "a receive from any source, begun early and waited for late; a third process does nothing",
            "R0 S1 W1 W0\nR1 W0 S0 W2\nidle:"
        ),
        fixed!(
            "any_src-can-deadlock3",
            "a receive from any source that takes the wrong message in one of two traces",
            "R0 W0 S1 W2 R0 W4\nS0 W0 R1 W2\nS0 W0"
        ),
        fixed!(
            "dtg",
            "a dependence between sends that only some order shows",
            "R0 W0 S4 W2 R0 W4\nS0 W0 S3 W2\nR2 W0 S0 W2\nR3 W0 R4 W2\nS2 W0"
        ),
        NetSubject {
            name: "rmq-receiving",
            description: "one process receives a message from each of n - 1 others, from any source",
            processes: Some(ProcessCount { min: 2, default: 4 }),
            make: rmq,
        },
        NetSubject {
            name: "master-worker",
            description: "a master gives a job to each of n - 1 workers and takes the results from any source",
            processes: Some(ProcessCount { min: 2, default: 3 }),
            make: master_worker,
        },
    ]
}

fn rmq(n: usize) -> Script {
    let receiver = (0..n - 1).flat_map(|k| [Action::Receive(0), Action::Wait(vec![2 * k])]).collect();
    let senders = (1..n).map(|_| vec![Action::Send(0), Action::Wait(vec![0])]);
    Script::new([receiver].into_iter().chain(senders).collect()).expect("a built-in program is valid")
}

fn master_worker(n: usize) -> Script {
    let workers = n - 1;
    let mut master: Vec<Action> = (1..=workers).map(Action::Send).collect();
    master.extend((0..workers).map(|k| Action::Wait(vec![k])));
    for _ in 0..workers {
        let receive = master.len();
        master.extend([Action::Receive(0), Action::Wait(vec![receive])]);
    }
    let worker =
        |j| vec![Action::Receive(j), Action::Wait(vec![0]), Action::Local, Action::Send(0), Action::Wait(vec![3])];
    Script::new([master].into_iter().chain((1..=workers).map(worker)).collect()).expect("a built-in program is valid")
}
