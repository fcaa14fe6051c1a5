//! How many executions a CPU-second gives: `cargo run --release --example speed [ROUNDS] [LIBRARY]`.
//!
//! Clients play ping-pong with one server: ten messages in all by two clients or by five, or twenty. The search is
//! `optimal`, with one worker.

use libraries::ping_pong;
use std::future::Future;
use whippet_search::Options;
use whippet_tasks::{Settings, Tasks};

fn measure<F: Future<Output = String> + 'static>(
    name: &str,
    body: fn(&'static [usize]) -> F,
    pings: &'static [usize],
    rounds: u32,
) {
    let (mut executions, mut transitions, mut runs) = (0, 0, 0);
    let meter = whippet_report::Meter::start();
    for _ in 0..rounds {
        let program = Tasks::new(name, Settings::default(), move || async move { drop(body(pings).await) });
        let verdict = program.explore(&Options::default(), &()).expect("the program is fine");
        assert!(verdict.complete && verdict.findings.is_empty(), "{verdict:?}");
        executions += verdict.counters.executions;
        transitions += verdict.counters.transitions;
        runs += verdict.counters.handler_runs;
    }
    let seconds = meter.read().cpu_seconds;
    let per_second = executions as f64 / seconds;
    println!(
        "{name:8} {pings:?}: {executions} executions ({} steps each, {runs} runs), {per_second:.0} per CPU-second",
        transitions / executions
    );
}

fn main() {
    let rounds = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(1);
    let library = std::env::args().nth(2).unwrap_or_default();
    let only = std::env::args().nth(3).and_then(|n| n.parse::<usize>().ok());
    for pings in [&[3_usize, 2] as &[usize], &[1; 5], &[5, 5]] {
        if only.is_some_and(|n| n != pings.len() * 10 + pings[0]) { continue }
        if "tokio".starts_with(&library) {
            measure("tokio", ping_pong::plain, pings, 4 * rounds);
        }
        if "ractor".starts_with(&library) {
            measure("ractor", ping_pong::on_ractor::play, pings, rounds);
        }
    }
}
