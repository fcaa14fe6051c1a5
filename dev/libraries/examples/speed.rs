//! Measures executions per CPU-second: `cargo run --release --example speed [ROUNDS] [PROGRAM]`.
//!
//! The programs are variants of ping-pong, searched with `optimal` and one worker. Either two players exchange ten
//! messages while a third task sends one message to each of them, or clients ping one server, with ten or twenty
//! messages in total. `PROGRAM` selects the programs whose names begin with it.

use libraries::ping_pong;
use std::future::Future;
use whippet_runtime::{Settings, TaskProgram};
use whippet_search::Options;

fn measure<F: Future<Output = String> + 'static>(
    name: &str,
    body: impl Fn() -> F + Copy + Send + Sync + 'static,
    rounds: u32,
) {
    if !name.starts_with(&std::env::args().nth(2).unwrap_or_default()) {
        return;
    }
    let (mut executions, mut transitions, mut runs) = (0, 0, 0);
    let meter = whippet_report::Meter::start();
    for _ in 0..rounds {
        let program = TaskProgram::new(name, Settings::default(), move || async move { drop(body().await) });
        let verdict = program.explore(&Options::default(), &()).expect("the program is fine");
        assert!(verdict.complete && verdict.findings.is_empty(), "{verdict:?}");
        executions += verdict.counters.executions;
        transitions += verdict.counters.transitions;
        runs += verdict.counters.handler_runs;
    }
    let per_second = executions as f64 / meter.read().cpu_seconds;
    let steps = transitions / executions;
    println!("{name:22} {executions} executions ({steps} new steps each, {runs} runs), {per_second:.0} per CPU-second");
}

fn main() {
    let rounds = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(10);
    measure("tokio-players", || ping_pong::players(5), 8 * rounds);
    measure("tokio-clients [3, 2]", || ping_pong::plain(&[3, 2]), 20 * rounds);
    measure("tokio-clients [1; 5]", || ping_pong::plain(&[1; 5]), 2 * rounds);
    measure("tokio-clients [5, 5]", || ping_pong::plain(&[5, 5]), rounds);
    measure("ractor-clients [3, 2]", || ping_pong::on_ractor::play(&[3, 2]), 10 * rounds);
    measure("ractor-clients [1; 5]", || ping_pong::on_ractor::play(&[1; 5]), rounds);
    measure("ractor-clients [5, 5]", || ping_pong::on_ractor::play(&[5, 5]), rounds);
}
