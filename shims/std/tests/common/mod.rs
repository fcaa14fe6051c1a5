//! Helpers shared by the tests.

// Not every test uses all helpers.
#![allow(dead_code)]

use std::collections::BTreeSet;
use std::future::Future;
use std::sync::{Arc, Mutex as Plain};
use whippet_model::Verdict;
use whippet_runtime::{Settings, TaskProgram};
use whippet_search::{Options, Reduction};

/// Explores `body`. Returns the verdict and the set of results of all executions.
pub(crate) fn explore<F>(
    reduction: Reduction,
    body: impl Fn() -> F + Send + Sync + 'static,
) -> (Verdict, BTreeSet<String>)
where
    F: Future<Output = String> + 'static,
{
    let seen: Arc<Plain<BTreeSet<String>>> = Arc::default();
    let out = seen.clone();
    let program = TaskProgram::new("test", Settings::default(), move || {
        let (out, future) = (out.clone(), body());
        async move {
            let text = future.await;
            out.lock().unwrap().insert(text);
        }
    });
    let mut options = Options::new(reduction);
    options.limits.executions = Some(20_000);
    let verdict = program.explore(&options, &()).unwrap();
    let seen = seen.lock().unwrap().clone();
    (verdict, seen)
}

/// Asserts that both searches give exactly these outcomes, without findings.
pub(crate) fn outcomes<F>(expected: &[&str], body: impl Fn() -> F + Clone + Send + Sync + 'static)
where
    F: Future<Output = String> + 'static,
{
    for reduction in [Reduction::Exhaustive, Reduction::Optimal] {
        let (verdict, seen) = explore(reduction, body.clone());
        assert!(verdict.complete && verdict.findings.is_empty(), "{reduction}: {verdict:?}");
        let seen: Vec<&str> = seen.iter().map(String::as_str).collect();
        assert_eq!(seen, expected, "{reduction}, {} executions", verdict.counters.executions);
    }
}
