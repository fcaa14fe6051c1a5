//! The workloads: the programs, their sizes, and the decisions that every tool's version of them shares.

use std::fmt;

/// A program and its size.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Workload {
    /// A master and its workers: `n`! traces.
    Pi(usize),
    /// Workers that register, and their master, which registers too: (`n` + 1)! traces.
    Registry(usize),
    /// A tree of actors: 2^i traces for i inner nodes. `fib(n)` is 1 for `n` < 3.
    Fib(u32),
    /// Two producers of `k` messages each: (2`k`)! traces, or 2`k` over `k` if messages between two actors stay in
    /// order.
    Producers { k: usize, fifo: bool, sum: bool },
    /// The election of a leader in a ring, with unordered delivery.
    Leader(usize),
    /// Three creatures and a number of meetings.
    Chameneos(usize),
}

use Workload::{Chameneos, Fib, Leader, Pi, Producers, Registry};

impl Workload {
    /// Returns all workloads, or smaller ones for a run of a few seconds.
    pub fn all(quick: bool) -> Vec<Workload> {
        let producers = |k, fifo, sum| Producers { k, fifo, sum };
        let mut all = Vec::new();
        if quick {
            all.extend([Pi(4), Pi(6), Registry(3), Registry(5), Fib(5), Fib(6), producers(3, false, false)]);
            all.extend([producers(3, true, false), producers(3, false, true), Leader(4), Chameneos(1)]);
        } else {
            all.extend([Pi(4), Pi(7), Pi(8), Pi(9), Pi(10)]);
            all.extend([3, 6, 7, 8].map(Registry));
            all.extend([5, 6, 7, 8].map(Fib));
            all.extend([producers(4, false, false), producers(4, true, false), producers(6, true, false)]);
            all.extend([producers(4, false, true), Leader(4), Chameneos(2), Chameneos(3)]);
        }
        all
    }

    /// Returns the workload with this name.
    pub fn find(name: &str) -> Option<Workload> {
        [false, true].into_iter().flat_map(Workload::all).find(|workload| workload.to_string() == name)
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Pi(workers) => write!(f, "pi({workers})"),
            Registry(workers) => write!(f, "registry({workers})"),
            Fib(n) => write!(f, "fib({n})"),
            Producers { k, fifo, sum } => {
                let (fifo, sum) = (if fifo { " fifo" } else { "" }, if sum { " sum" } else { "" });
                write!(f, "producers({k}){fifo}{sum}")
            }
            Leader(n) => write!(f, "leader({n})"),
            Chameneos(meetings) => write!(f, "chameneos({meetings})"),
        }
    }
}

/// Returns the part of π that worker `id` of `workers` computes, in units of 10⁻⁹.
pub fn part_of_pi(id: usize, workers: usize) -> i64 {
    const INTERVALS: usize = 100;
    let h = 1.0 / INTERVALS as f64;
    let heights = (id + 1..=INTERVALS).step_by(workers).map(|i| {
        let x = h * (i as f64 - 0.5);
        4.0 / (1.0 + x * x)
    });
    (h * heights.sum::<f64>() * 1e9) as i64
}

/// Returns the Fibonacci number if it needs no further requests.
pub fn small_fib(n: u32) -> Option<u64> {
    (n < 3).then_some(u64::from(n > 0))
}

/// Adds an item to those that a consumer keeps: all items, or only their sum.
pub fn keep(kept: &mut Vec<usize>, item: usize, only_sum: bool) {
    match kept.last_mut() {
        Some(sum) if only_sum => *sum += item,
        _ => kept.push(item),
    }
}

/// A message that travels around the ring.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Number {
    First(usize),
    Second(usize),
}

/// The state of a process of the ring.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Process {
    max: usize,
    active: bool,
    left: Option<usize>,
}

impl Process {
    pub fn new(id: usize) -> Process {
        Process { max: id, active: true, left: None }
    }

    /// Handles a number from the left neighbour. Returns the number to send to the right neighbour, if any.
    pub fn hear(&mut self, number: Number) -> Option<Number> {
        match number {
            _ if !self.active => Some(number),
            Number::First(heard) if heard == self.max => None,
            Number::First(heard) => {
                self.left = Some(heard);
                Some(Number::Second(heard))
            }
            Number::Second(heard) => match self.left {
                Some(left) if left > heard && left > self.max => {
                    self.max = left;
                    Some(Number::First(left))
                }
                _ => {
                    self.active = false;
                    None
                }
            },
        }
    }
}

/// The colour of a creature.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Colour {
    Blue,
    Red,
    Yellow,
}

impl Colour {
    pub const ALL: [Colour; 3] = [Colour::Blue, Colour::Red, Colour::Yellow];

    /// Returns the colour of both creatures after they have met.
    pub fn meets(self, other: Colour) -> Colour {
        if self == other {
            return self;
        }
        *Colour::ALL.iter().find(|&&third| third != self && third != other).expect("there are three colours")
    }
}
