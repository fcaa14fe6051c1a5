//! Tests that do not end as tests do: none of them may pass. `dev/faults.sh` runs each of them.

use std::sync::atomic::{AtomicU32, Ordering};
use tokio::sync::mpsc;

/// Runs two tasks that send to a third, which calls `fault` if the second one comes first.
async fn in_one_order(fault: fn()) {
    let (tx, mut rx) = mpsc::channel(2);
    for n in 1..=2 {
        let tx = tx.clone();
        tokio::spawn(async move { tx.send(n).await });
    }
    let receiver = tokio::spawn(async move {
        if rx.recv().await == Some(2) {
            fault();
        }
    });
    receiver.await.unwrap();
}

#[tokio::test]
async fn exits() {
    in_one_order(|| std::process::exit(0)).await;
}

#[tokio::test]
async fn exits_with_a_failure() {
    in_one_order(|| std::process::exit(3)).await;
}

#[tokio::test]
async fn exits_in_every_order() {
    std::process::exit(0);
}

#[test]
fn exits_without_tokio() {
    std::process::exit(0);
}

#[test]
fn exits_in_one_order_only() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async { std::process::exit(0) });
}

#[tokio::test]
async fn aborts() {
    in_one_order(|| std::process::abort()).await;
}

#[tokio::test]
async fn overflows_its_stack() {
    #[expect(unconditional_recursion, reason = "the test overflows its stack")]
    fn deeper(n: u64) -> u64 {
        let values = std::hint::black_box([n; 64]);
        deeper(values[7] + 1) + values[3]
    }
    in_one_order(|| assert!(deeper(0) > 0)).await;
}

#[tokio::test]
async fn panics_while_it_panics() {
    struct Guard;
    impl Drop for Guard {
        fn drop(&mut self) {
            panic!("the destructor panics");
        }
    }
    in_one_order(|| {
        let _guard = Guard;
        panic!("the task panics");
    })
    .await;
}

#[tokio::test]
async fn is_killed() {
    in_one_order(|| {
        let me = std::process::id().to_string();
        std::process::Command::new("kill").args(["-KILL", &me]).status().unwrap();
        std::thread::sleep(std::time::Duration::from_secs(60));
    })
    .await;
}

/// Tells `faults.sh` the id of this process.
fn write_id() {
    if let Some(file) = std::env::var_os("PID_FILE")
        && !std::fs::exists(&file).unwrap()
    {
        std::fs::write(file, std::process::id().to_string()).unwrap();
    }
}

static EXECUTIONS: AtomicU32 = AtomicU32::new(0);

/// The static changes a value and nothing that is done.
#[tokio::test]
async fn depends_on_a_static() {
    let count = EXECUTIONS.fetch_add(1, Ordering::Relaxed);
    in_one_order(|| {}).await;
    assert_eq!(count, 0, "this is not the first execution");
}

/// A finding that is real beside one that is not.
#[tokio::test]
async fn fails_and_depends_on_a_static() {
    let count = EXECUTIONS.fetch_add(1, Ordering::Relaxed);
    in_one_order(|| panic!("the second came first")).await;
    assert_eq!(count, 0, "this is not the first execution");
}

/// Fails in a few of very many orders, which the search needs long to go through.
#[tokio::test]
async fn fails_early_and_goes_on() {
    write_id();
    let (tx, mut rx) = mpsc::channel(9);
    for n in 0..9 {
        let tx = tx.clone();
        tokio::spawn(async move { tx.send(n).await });
    }
    drop(tx);
    let mut order = Vec::new();
    while let Some(n) = rx.recv().await {
        order.push(n);
    }
    assert!(order[7] < order[8], "the last two came in the wrong order");
}

#[tokio::test]
async fn passes() {
    in_one_order(|| {}).await;
}

#[tokio::test]
async fn spins() {
    loop {
        tokio::task::yield_now().await;
    }
}
