//! Writes the reports that the browser tests open, or serves one of the programs.
//!
//! ```text
//! pages write DIR       writes NAME.html and the trace of the first finding in all formats
//! pages serve NAME      serves a program in the explorer
//! pages time            measures how long a report of 1,000 events takes
//! ```

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "it is a command")]

mod programs;

use std::path::Path;
use std::process::ExitCode;
use whippet_model::{DebugValue, StateChange, Trace, TraceActor, TraceEvent, Verdict};
use whippet_report::{Meter, TraceFile, TraceFormat, html, html_of_verdict, read_source};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let result = match &words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["write", directory] => write(Path::new(directory)),
        ["serve", name] => serve(name),
        ["time"] => time(),
        _ => Err("usage: pages write DIR | pages serve NAME | pages time".into()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

/// Writes the reports of all programs.
fn write(directory: &Path) -> Result<(), String> {
    let save = |file: String, text: String| std::fs::write(directory.join(file), text).map_err(|why| why.to_string());
    for (name, subject) in programs::all() {
        let verdict = subject.verdict().map_err(|why| format!("{name}: {why}"))?;
        let page = html_of_verdict(&format!("Whippet: {name}"), &verdict, &[]);
        save(format!("{name}.html"), page.ok_or_else(|| format!("{name}: nothing was found"))?)?;
        let trace = first_trace(&verdict);
        for (ending, format) in [
            ("json", TraceFormat::Json),
            ("shiviz", TraceFormat::Shiviz),
            ("dot", TraceFormat::Dot),
            ("mmd", TraceFormat::Mermaid),
            ("trace", TraceFormat::Chrome),
        ] {
            save(format!("{name}.{ending}"), format.write(&trace))?;
        }
    }
    Ok(())
}

fn first_trace(verdict: &Verdict) -> TraceFile {
    let trace = match (verdict.findings.first(), verdict.warnings.first()) {
        (Some(finding), _) => TraceFile::of_finding(finding),
        (None, Some(warning)) => TraceFile::of_finding(warning).as_warning(),
        (None, None) => unreachable!("something was found"),
    };
    trace.with_sources(read_source)
}

/// Serves a program until the process is ended.
fn serve(name: &str) -> Result<(), String> {
    let known = programs::all().into_iter().find(|(known, _)| *known == name);
    let (name, subject) = known.ok_or_else(|| format!("there is no program `{name}`"))?;
    let server = subject.serve(name)?;
    println!("open {}", server.address());
    loop {
        std::thread::park();
    }
}

/// Measures the report of an invented trace with 1,000 events, and fails if it takes too long or is too large.
fn time() -> Result<(), String> {
    let file = |events: usize| TraceFile::of_execution(&whippet_model::Schedule::default(), invented(events), None);
    for events in [1_000, 10_000] {
        let trace = file(events);
        let rounds = 5;
        // CPU time: other processes do not count.
        let meter = Meter::start();
        let mut bytes = 0;
        for _ in 0..rounds {
            let file = trace.clone().with_sources(read_source);
            bytes = html("time", "", &[file]).len();
        }
        let milliseconds = meter.read().cpu_seconds * 1e3 / f64::from(rounds);
        println!("{events} events: {milliseconds:.1} ms, {} KB", bytes / 1000);
        if events == 1_000 && (milliseconds >= 100.0 || bytes >= 1_000_000) {
            return Err("a report of 1,000 events must take less than 100 ms and 1 MB".into());
        }
    }
    Ok(())
}

/// Returns a trace of actors that pass messages around, with states, sources and causes.
fn invented(events: usize) -> Trace {
    const ACTORS: usize = 20;
    let mut trace = Trace::default();
    trace.actors = (0..ACTORS).map(|k| TraceActor::named(format!("worker {k}"))).collect();
    let state =
        |k: usize| DebugValue::parse(&format!("Worker {{ done: {k}, log: [\"a{k}\", \"b{k}\"], next: Some({k}) }}"));
    for k in 0..events {
        let mut event = TraceEvent {
            name: format!("{k:016x}"),
            actor: (k * 7 % ACTORS) as u32,
            text: format!("receives Work {{ item: {k}, weight: 0.5 }}"),
            place: Some(format!("crates/report/src/html.rs:{}", 10 + k % 80)),
            ..TraceEvent::default()
        };
        if k > 0 {
            event.causes = vec![k as u32 - 1];
            event.sent_by = Some(k as u32 - 1);
            event.from = Some(((k - 1) * 7 % ACTORS) as u32);
        }
        event.state = Some(StateChange { before: state(k), after: state(k + 1) });
        event.changes = state(k).changes(&state(k + 1));
        trace.events.push(event);
    }
    trace.fold();
    trace
}
