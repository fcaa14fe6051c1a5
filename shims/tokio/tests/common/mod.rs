//! Functions that the tests share.

// Not every test uses all functions.
#![allow(dead_code)]

use std::collections::BTreeSet;
use std::future::Future;
use std::sync::{Arc, Mutex};
use whippet_model::Verdict;
use whippet_runtime::{Settings, TaskProgram};
use whippet_search::{Options, Reduction};

/// Explores `body`. Returns the verdict and the set of the values that its executions return.
pub fn explore<F>(reduction: Reduction, body: impl Fn() -> F + Send + Sync + 'static) -> (Verdict, BTreeSet<String>)
where
    F: Future<Output = String> + 'static,
{
    explore_with(reduction, Settings::default(), body)
}

/// Like [`explore`], with settings.
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
    let program = TaskProgram::new("test", settings, move || {
        let (out, future) = (out.clone(), body());
        async move {
            let text = future.await;
            out.lock().unwrap().insert(text);
        }
    });
    let mut options = Options::new(reduction);
    options.limits.executions = Some(5_000);
    let verdict = program.explore(&options, &()).unwrap();
    let seen = seen.lock().unwrap().clone();
    (verdict, seen)
}

/// Checks that the exhaustive and the optimal search give exactly these outcomes and no findings. The exhaustive search
/// merges no events.
pub fn outcomes<F>(expected: &[&str], body: impl Fn() -> F + Clone + Send + Sync + 'static)
where
    F: Future<Output = String> + 'static,
{
    for reduction in [Reduction::Exhaustive, Reduction::Optimal] {
        let settings = Settings { every_event: reduction == Reduction::Exhaustive, ..Settings::default() };
        let (verdict, seen) = explore_with(reduction, settings, body.clone());
        let seen: Vec<&str> = seen.iter().map(String::as_str).collect();
        assert!(verdict.findings.is_empty(), "{reduction}: {:?}", verdict.findings);
        if reduction == Reduction::Exhaustive && !verdict.complete {
            // Too many orders for a test: the outcomes seen must be a subset of the expected ones.
            assert!(seen.iter().all(|text| expected.contains(text)), "{seen:?}");
            continue;
        }
        assert!(verdict.complete, "{reduction}: cut short");
        assert_eq!(seen, expected, "{reduction}, {} executions", verdict.counters.executions);
        if reduction == Reduction::Optimal {
            assert_eq!(verdict.counters.blocked, 0, "an optimal search is never blocked");
        }
    }
}

/// A place for a value, with the waker of the task that waits for it. Nothing of it is seen.
#[derive(Default)]
pub struct Place(std::sync::Mutex<(Option<u32>, Option<std::task::Waker>)>);

impl Place {
    pub fn put(&self, value: u32) {
        let waker = {
            let mut place = self.0.lock().unwrap();
            place.0 = Some(value);
            place.1.take()
        };
        waker.into_iter().for_each(std::task::Waker::wake);
    }

    pub async fn take(&self) -> u32 {
        std::future::poll_fn(|cx| {
            let mut place = self.0.lock().unwrap();
            let value = place.0.take();
            place.1 = Some(cx.waker().clone());
            value.map_or(std::task::Poll::Pending, std::task::Poll::Ready)
        })
        .await
    }
}
