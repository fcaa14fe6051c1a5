//! The outcome of one execution of a program.

use std::fmt;

/// The end of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum End {
    /// No operation spawned it.
    NotSpawned,
    Finished,
    Cancelled,
    Panicked,
    /// It was spawned and had not ended when no task could go on.
    Blocked,
}

/// The end of a task and the entries of its log.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskOutcome {
    pub end: End,
    pub log: Vec<String>,
}

/// The end and the log of every task of a program, in the order of its tasks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Outcome {
    pub tasks: Vec<TaskOutcome>,
}

impl fmt::Display for End {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            End::NotSpawned => "not spawned",
            End::Finished => "finished",
            End::Cancelled => "cancelled",
            End::Panicked => "panicked",
            End::Blocked => "blocked",
        })
    }
}

impl fmt::Display for TaskOutcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "[{}]", self.log.join(" "))?;
        if self.end == End::Finished { Ok(()) } else { write!(formatter, " {}", self.end) }
    }
}

/// Writes the tasks' logs in order, each with its end unless it finished: `0[sent] 1[none] blocked`.
impl fmt::Display for Outcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, task) in self.tasks.iter().enumerate() {
            if number > 0 {
                formatter.write_str("  ")?;
            }
            write!(formatter, "{number}{task}")?;
        }
        Ok(())
    }
}
