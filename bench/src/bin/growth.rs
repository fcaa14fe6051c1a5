//! Prints how the cost of a transition grows with the length of an execution.
//!
//! Without arguments, runs itself once for each line of the table, so that peak memory is that of one search alone.

use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::time::{Duration, Instant};
use whippet::ActorProgram;
use whippet::model::Program;
use whippet::prelude::*;
use whippet::search::{Options, explore};

/// The programs, the lengths of their executions, and the number of executions to explore.
const LINES: [(&str, &[usize], u64); 3] = [
    ("ball", &[1_000, 10_000, 100_000], 1),
    ("ball, disturbed", &[1_000, 10_000, 100_000], 20),
    ("mailbox", &[500, 1_000, 2_000, 5_000], 5),
];

/// An actor that returns a ball, and ignores everything else.
#[derive(Clone, Debug, Hash)]
struct Player {
    left: usize,
    partner: Option<Addr<Player>>,
}

#[derive(Clone, Debug, Hash)]
enum Play {
    Partner(Addr<Player>),
    Ball,
    Noise,
}

impl Actor for Player {
    type Msg = Play;

    async fn handle(&mut self, msg: Play, cx: &mut Cx<Self>) {
        match msg {
            Play::Partner(partner) => self.partner = Some(partner),
            Play::Noise => {}
            Play::Ball if self.left == 0 => {}
            Play::Ball => {
                self.left -= 1;
                self.partner.iter().for_each(|&partner| cx.send(partner, Play::Ball));
            }
        }
    }
}

fn ball(steps: usize, disturbed: bool) -> ActorProgram {
    ActorProgram::new("ball", move |sys| {
        let first = sys.spawn(Player { left: steps / 2, partner: None });
        let second = sys.spawn(Player { left: steps / 2, partner: Some(first) });
        sys.send(first, Play::Partner(second));
        sys.send(second, Play::Ball);
        if disturbed {
            sys.send(first, Play::Noise);
        }
    })
}

fn mailbox(steps: usize) -> whippet_net::Net {
    let (sends, receives) = ("S0 W0 ".repeat(steps / 8), "R0 W0 ".repeat(steps / 4));
    let text = format!("a: {sends}\nb: {sends}\nc: {receives}");
    whippet_net::Net::parse("mailbox", &text).expect("the program is correct")
}

fn measure<P: Program + Send + 'static>(program: P, executions: u64) {
    let mut options = Options::default();
    options.limits = options.limits.with_steps(10_000_000).with_executions(executions);
    options.limits.handler = Duration::from_secs(600);
    let start = Instant::now();
    let verdict = explore(Arc::new(program), &options, &()).expect("the search runs");
    let transitions = verdict.counters.transitions;
    let each = start.elapsed().as_secs_f64() * 1e6 / transitions as f64;
    println!("{:>10} {transitions:>12} {each:>14.3} {:>10.1}", verdict.counters.depth, peak_mebibytes());
}

/// Returns the peak memory of this process, or 0 where the system does not tell it.
fn peak_mebibytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes: f64 = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0.0);
    kibibytes / 1024.0
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [name, steps, executions] = arguments.as_slice() {
        let (steps, executions) = (steps.parse().expect("a number"), executions.parse().expect("a number"));
        match name.as_str() {
            "mailbox" => measure(mailbox(steps), executions),
            _ => measure(ball(steps, name == "ball, disturbed"), executions),
        }
        return ExitCode::SUCCESS;
    }
    println!("{:<16} {:>10} {:>12} {:>14} {:>10}", "program", "steps", "transitions", "µs/transition", "peak MiB");
    let this = std::env::current_exe().expect("this program has a path");
    for (name, lengths, executions) in LINES {
        for steps in lengths {
            let output = Command::new(&this).args([name, &steps.to_string(), &executions.to_string()]).output();
            let output = output.expect("this program can be run again");
            if !output.status.success() {
                eprintln!("{name} with {steps} steps: {}", String::from_utf8_lossy(&output.stderr));
                return ExitCode::FAILURE;
            }
            print!("{name:<16} {}", String::from_utf8_lossy(&output.stdout));
        }
    }
    ExitCode::SUCCESS
}
