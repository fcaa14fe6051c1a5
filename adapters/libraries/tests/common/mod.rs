//! What the tests share.

use std::collections::BTreeSet;
use std::future::Future;
use std::sync::{Arc, Mutex};
use whippet_model::Verdict;
use whippet_search::{Options, Reduction};
use whippet_tasks::{Settings, Tasks};

/// Explores a body; what it returns, per execution, is collected.
pub fn explore<F>(reduction: Reduction, body: impl Fn() -> F + Send + Sync + 'static) -> (Verdict, BTreeSet<String>)
where
    F: Future<Output = String> + 'static,
{
    explore_with(reduction, Settings::default(), body)
}

/// The same with settings.
pub fn explore_with<F>(
    reduction: Reduction,
    settings: Settings,
    body: impl Fn() -> F + Send + Sync + 'static,
) -> (Verdict, BTreeSet<String>)
where
    F: Future<Output = String> + 'static,
{
    let seen: Arc<Mutex<BTreeSet<String>>> = Arc::default();
    let out = seen.clone();
    let program = Tasks::new("test", settings, move || {
        let (out, future) = (out.clone(), body());
        async move {
            let text = future.await;
            out.lock().unwrap().insert(text);
        }
    });
    let mut options = Options { reduction, ..Options::default() };
    options.limits.executions = Some(5_000);
    let verdict = program.explore(&options, &()).unwrap();
    let seen = seen.lock().unwrap().clone();
    (verdict, seen)
}
