//! What the real tokio does is among what the stand-in can do.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use whippet_search::Options;
use whippet_tasks::{Settings, Tasks};

#[test]
fn the_real_outcome_is_among_the_explored_ones() {
    let runtime = real::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let mut differences = Vec::new();
    for ((name, ours), (_, theirs)) in conformance::on_stand_in::all().into_iter().zip(conformance::on_real::all()) {
        let seen: Arc<Mutex<BTreeSet<String>>> = Arc::default();
        let out = seen.clone();
        let program = Tasks::new(name, Settings::default(), move || {
            let out = out.clone();
            async move {
                let text = ours().await;
                out.lock().unwrap().insert(text);
            }
        });
        let verdict = program.explore(&Options::default(), &()).unwrap();
        assert!(verdict.findings.is_empty() && verdict.complete, "{name}: {:?}", verdict.findings);
        let seen = seen.lock().unwrap();
        for _ in 0..20 {
            let text = runtime.block_on(async { real::spawn(theirs()).await.unwrap() });
            if !seen.contains(&text) {
                differences.push(format!("{name}: the real tokio gives «{text}», the stand-in only {seen:?}"));
                break;
            }
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}
