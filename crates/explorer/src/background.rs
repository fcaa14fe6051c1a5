//! The search that runs while a person walks.

use crate::tree::{Tree, add};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use whippet_model::{Machine, Program, Verdict};
use whippet_search::{ExecutionObserver, Observer, Options, Progress, explore};

/// A search, running or done.
#[derive(Debug, Default)]
pub(crate) struct Background {
    stop: AtomicBool,
    state: Mutex<State>,
    pub(crate) tree: Mutex<Tree>,
}

#[derive(Debug, Default)]
struct State {
    progress: Option<Progress>,
    result: Option<Result<Arc<Verdict>, String>>,
}

/// The observer of the search.
#[derive(Clone, Debug)]
struct Watching(Arc<Background>);

impl Background {
    /// Starts a search in a thread of its own.
    pub(crate) fn start<P: Program + Send + 'static>(program: Arc<P>, options: Options) -> Arc<Background> {
        let background = Arc::new(Background::default());
        let watching = Watching(background.clone());
        let work = move || {
            let result = explore(program, &options, &watching);
            lock(&watching.0.state).result = Some(result.map(Arc::new).map_err(|error| error.to_string()));
        };
        if let Err(error) = std::thread::Builder::new().name("whippet explorer".into()).spawn(work) {
            lock(&background.state).result = Some(Err(error.to_string()));
        }
        background
    }

    /// Asks the search to stop.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Returns the verdict, if the search has ended with one.
    pub(crate) fn verdict(&self) -> Option<Arc<Verdict>> {
        lock(&self.state).result.as_ref()?.as_ref().ok().cloned()
    }

    /// Returns the progress and the findings as JSON, with the tree if the reader knows fewer nodes.
    pub(crate) fn report(&self, known: usize) -> Value {
        let state = lock(&self.state);
        let tree = lock(&self.tree);
        let (kept, all) = tree.executions();
        let mut report = json!({
            "running": state.result.is_none(),
            "executions": all,
            "kept": kept,
            "findings": [],
        });
        if let Some(progress) = &state.progress {
            report["depth"] = json!(progress.depth);
            report["seconds"] = json!(progress.elapsed.as_secs_f64());
            report["rate"] = json!(all as f64 / progress.elapsed.as_secs_f64().max(0.001));
            report["estimate"] = json!(progress.estimate.map(|estimate| estimate.total));
        }
        match &state.result {
            None => {
                let met = tree.met().into_iter().map(|met| json!({ "kind": met.kind, "message": met.message }));
                report["findings"] = met.collect();
            }
            Some(Err(error)) => report["error"] = json!(error),
            Some(Ok(verdict)) => {
                let all = verdict.findings.iter().chain(&verdict.warnings).enumerate().map(|(k, finding)| {
                    json!({
                        "kind": finding.kind, "message": finding.message, "place": finding.place,
                        "steps": finding.schedule.decisions.len(), "executions": finding.executions,
                        "warning": k >= verdict.findings.len(),
                    })
                });
                report["findings"] = all.collect();
                report["executions"] = json!(verdict.counters.executions);
                report["seconds"] = json!(verdict.time.as_secs_f64());
                report["rate"] = json!(verdict.counters.executions as f64 / verdict.time.as_secs_f64().max(0.001));
                report["complete"] = json!(verdict.complete && !verdict.may_miss);
                report["limits"] = verdict.limits.iter().map(ToString::to_string).collect();
                report["notes"] = json!(verdict.notes);
                report["estimate"] = json!(verdict.estimate.map(|estimate| estimate.total));
            }
        }
        report["nodes"] = json!(tree.nodes().len());
        if tree.nodes().len() != known {
            report["tree"] = json!(tree.nodes());
        }
        report
    }
}

impl Observer for Watching {
    fn progress(&self, progress: &Progress) {
        lock(&self.0.state).progress = Some(*progress);
    }

    fn interrupted(&self) -> bool {
        self.0.stop.load(Ordering::Relaxed)
    }

    fn executions(&self) -> Option<Arc<dyn ExecutionObserver>> {
        Some(Arc::new(self.clone()))
    }
}

impl ExecutionObserver for Watching {
    fn completed(&self, machine: &mut dyn Machine, refinements: u64) {
        add(&self.0.tree, machine, refinements);
    }
}

/// Locks a mutex. The data stays usable if a thread panicked: it is only read for display.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
