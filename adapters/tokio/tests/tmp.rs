mod common;
use common::explore_with;
use std::time::Duration;
use tokio::sync::{SetOnce, mpsc};
use std::sync::Arc;
use tokio::time::timeout;
use whippet_search::Reduction;
use whippet_tasks::Settings;

#[test]
fn tmp() {
    for reduction in [Reduction::Optimal, Reduction::Source, Reduction::Exhaustive] {
    let settings = Settings { timers: u64::MAX, every_event: true, ..Settings::default() };
    let (verdict, seen) = explore_with(reduction, settings.clone(), || async {
        let (tx, mut rx) = mpsc::channel::<i32>(1);
        let t = tokio::spawn(async move {
            timeout(Duration::from_secs(1), tx.closed()).await.is_ok()
        });
        rx.close();
        t.abort();
        format!("{:?}", t.await.map_err(|_| ()))
    });
    println!("{reduction} {:?} {:?}", verdict.counters, seen);
    let (verdict, seen) = explore_with(reduction, settings, || async {
        let (tx, mut rx) = mpsc::channel::<i32>(1);
        let set = Arc::new(SetOnce::new());
        let other = set.clone();
        let t = tokio::spawn(async move {
            let closed = tx.is_closed();
            other.set(1).unwrap();
            closed
        });
        let rx = std::sync::Mutex::new(rx);
        let mut guard = rx.try_lock().unwrap();
        let taken = tokio::select! {
            _ = std::future::pending::<()>() => "0",
            () = async { guard.close() } => "1",
            _ = set.wait() => "2",
        };
        format!("{taken} {:?}", t.await.unwrap())
    });
    println!("{reduction} {:?} {:?}", verdict.counters, seen);
    }
}
