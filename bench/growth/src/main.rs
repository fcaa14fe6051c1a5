//! Prints how the cost of a transition grows with the size of a program.
//!
//! Each line of the table is measured in a process of its own, which is this program again, so that peak memory is that of one
//! search alone. A search that takes little time is repeated.

#![allow(clippy::print_stdout, clippy::print_stderr)]

mod programs;

use clap::Parser;
use std::process::{Command, ExitCode};
use std::time::Duration;
use whippet::model::{Program, Verdict};
use whippet::search::{Options, Reduction, explore};
use whippet_report::Meter;

/// A program of which something grows.
struct Curve {
    name: &'static str,
    reduction: Reduction,
    /// The sizes. The cost at the last one is compared with that at the first one.
    sizes: [usize; 3],
    /// The number of executions to explore.
    executions: u64,
}

const CURVES: [Curve; 17] = [
    curve("length", Reduction::Optimal, [1_000, 10_000, 100_000], 1),
    curve("length, revisits", Reduction::Optimal, [1_000, 10_000, 100_000], 20),
    curve("length, .net", Reduction::Optimal, [500, 2_000, 5_000], 5),
    curve("length, ABS", Reduction::Optimal, [500, 2_000, 5_000], 5),
    curve("pairs, ABS", Reduction::Optimal, [50, 100, 500], 10),
    curve("pending", Reduction::Optimal, [100, 1_000, 10_000], 20),
    curve("pending, fifo", Reduction::Optimal, [100, 1_000, 10_000], 20),
    curve("actors", Reduction::Optimal, [100, 1_000, 10_000], 20),
    curve("actors that race", Reduction::Optimal, [100, 1_000, 10_000], 20),
    curve("actors, random", Reduction::Random, [100, 1_000, 10_000], 20),
    curve("actors, pct", Reduction::Pct, [100, 1_000, 10_000], 20),
    curve("actors, pos", Reduction::Pos, [100, 1_000, 10_000], 20),
    curve("state", Reduction::Optimal, [1 << 10, 1 << 15, 1 << 20], 100),
    curve("state, shared", Reduction::Optimal, [1 << 10, 1 << 15, 1 << 20], 100),
    curve("message", Reduction::Optimal, [1 << 10, 1 << 15, 1 << 20], 100),
    curve("message, shared", Reduction::Optimal, [1 << 10, 1 << 15, 1 << 20], 100),
    curve("pi", Reduction::Optimal, [5, 6, 7], u64::MAX),
];

const fn curve(name: &'static str, reduction: Reduction, sizes: [usize; 3], executions: u64) -> Curve {
    Curve { name, reduction, sizes, executions }
}

/// Measures how the cost of a transition grows with the length of executions, the number of messages and actors, and the
/// size of states and messages.
#[derive(Parser)]
struct Arguments {
    /// Measure only curves with this text in their name.
    #[arg(long)]
    only: Vec<String>,
    /// Measure only the smallest and the largest size.
    #[arg(long)]
    ends: bool,
    /// Fail if a transition at the largest size costs more than this many times one at the smallest size.
    #[arg(long, value_name = "FACTOR")]
    check: Option<f64>,
    /// Measure one size of one curve in this process, and print the numbers.
    #[arg(long, num_args = 2, value_names = ["CURVE", "SIZE"], hide = true)]
    line: Vec<String>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if let [name, size] = arguments.line.as_slice() {
        let curve = CURVES.iter().find(|curve| curve.name == name).expect("the name of a curve");
        let line = measure(curve, size.parse().expect("a number"));
        println!("{} {} {} {}", line.length, line.transitions, line.nanoseconds, line.mebibytes);
        return ExitCode::SUCCESS;
    }
    println!(
        "{:<18} {:>8} {:>10} {:>12} {:>14} {:>10}",
        "curve", "size", "length", "transitions", "ns/transition", "peak MiB"
    );
    let is_meant =
        |curve: &&Curve| arguments.only.is_empty() || arguments.only.iter().any(|only| curve.name.contains(only));
    let mut steep = Vec::new();
    for curve in CURVES.iter().filter(is_meant) {
        let sizes = if arguments.ends { vec![curve.sizes[0], curve.sizes[2]] } else { curve.sizes.to_vec() };
        let mut first = None;
        for &size in &sizes {
            let line = in_own_process(curve, size);
            let growth = line.nanoseconds / first.get_or_insert(line.clone()).nanoseconds;
            println!(
                "{:<18} {size:>8} {:>10} {:>12} {:>14.0} {:>10.1}  {growth:.2}×",
                curve.name, line.length, line.transitions, line.nanoseconds, line.mebibytes
            );
            if arguments.check.is_some_and(|most| growth > most) {
                steep.push(format!("{} at {size}: {growth:.2} times the cost at {}", curve.name, sizes[0]));
            }
        }
    }
    steep.iter().for_each(|curve| eprintln!("{curve}"));
    if steep.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The measured numbers of one size.
#[derive(Clone)]
struct Line {
    /// The length of the longest execution, and the number of transitions of one search.
    length: usize,
    transitions: u64,
    nanoseconds: f64,
    mebibytes: f64,
}

fn in_own_process(curve: &Curve, size: usize) -> Line {
    let this = std::env::current_exe().expect("this program has a path");
    let output = Command::new(&this).args(["--line", curve.name, &size.to_string()]).output();
    let output = output.expect("this program can be run again");
    let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{} with size {size}: {errors}", curve.name);
    let [length, transitions, nanoseconds, mebibytes] = text.split_whitespace().collect::<Vec<_>>()[..] else {
        panic!("{} with size {size} printed `{text}`", curve.name)
    };
    Line {
        length: length.parse().expect("a length"),
        transitions: transitions.parse().expect("a count"),
        nanoseconds: nanoseconds.parse().expect("a time"),
        mebibytes: mebibytes.parse().expect("a size"),
    }
}

/// Searches the program until enough time has passed to be measured.
fn measure(curve: &Curve, size: usize) -> Line {
    let (mut transitions, mut searches) = (0, 0);
    let meter = Meter::start();
    let verdict = loop {
        let verdict = search(curve, size);
        transitions += verdict.counters.transitions;
        searches += 1;
        if meter.read().cpu_seconds > 0.3 {
            break verdict;
        }
    };
    let usage = meter.read();
    Line {
        length: verdict.counters.depth,
        transitions: transitions / searches,
        nanoseconds: usage.cpu_seconds * 1e9 / transitions as f64,
        mebibytes: usage.peak_memory_bytes as f64 / f64::from(1 << 20),
    }
}

fn search(curve: &Curve, size: usize) -> Verdict {
    let mut options = Options::new(curve.reduction).with_samples(curve.executions.min(20));
    options.limits = options.limits.with_steps(10_000_000);
    if curve.executions < u64::MAX {
        options.limits = options.limits.with_executions(curve.executions);
    }
    options.limits.handler = Duration::from_secs(600);
    let kind = curve.name.split(',').next().unwrap_or(curve.name);
    match (kind, curve.name) {
        ("length", "length, .net") => run(programs::mailbox(size), &options),
        ("length", "length, ABS") => run(programs::two_objects(size), &options),
        ("length", name) => run(programs::ball(size, name != "length"), &options),
        ("pairs", _) => run(programs::pairs(size), &options),
        ("pending", name) => run(programs::pending(size, name == "pending, fifo"), &options),
        ("actors", _) => run(programs::actors(size), &options),
        ("actors that race", _) => run(programs::race(size), &options),
        ("state", name) => run(programs::state(size, name == "state, shared"), &options),
        ("message", name) => run(programs::message(size, name == "message, shared"), &options),
        ("pi", _) => run(programs::pi(size), &options),
        _ => unreachable!("all curves are listed"),
    }
}

fn run<P: Program + Send + 'static>(program: P, options: &Options) -> Verdict {
    explore(program.into(), options, &()).expect("the search runs")
}
