//! What a test declares by its attribute, and what follows from it; macros that do not depend on the name of the package.

use tokio::runtime::{Handle, RuntimeFlavor};

/// The shim under another name, as a package may rename it.
mod renamed {
    pub use tokio::*;
}

#[tokio::test]
async fn one_thread_by_default() {
    assert_eq!(Handle::current().runtime_flavor(), RuntimeFlavor::CurrentThread);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_threads() {
    assert_eq!(Handle::current().runtime_flavor(), RuntimeFlavor::MultiThread);
}

#[renamed::test(flavor = "current_thread", start_paused = true, crate = "crate::attributes::renamed")]
async fn another_name() {
    let (tx, rx) = renamed::sync::oneshot::channel();
    tx.send(1).unwrap();
    let got = renamed::select! {
        got = rx => got.unwrap(),
        () = renamed::time::sleep(std::time::Duration::from_secs(1)) => 0,
    };
    assert_eq!((got, 2, Ok::<_, ()>((3,))), (1, renamed::join!(async { 2 }).0, renamed::try_join!(async { Ok(3) })));
}

#[test]
fn a_runtime_has_the_flavor_it_was_built_with() {
    let one = tokio::runtime::Builder::new_current_thread().build().unwrap();
    assert_eq!(one.handle().runtime_flavor(), RuntimeFlavor::CurrentThread);
    let flavor = one.block_on(async { Handle::current().runtime_flavor() });
    assert_eq!(flavor, RuntimeFlavor::CurrentThread);
    let several = tokio::runtime::Runtime::new().unwrap();
    assert_eq!(several.handle().runtime_flavor(), RuntimeFlavor::MultiThread);
}

/// The body cannot be called again, so that nothing can be learnt about it.
#[test]
fn a_branch_acts_at_once_in_a_body_that_runs_once() {
    let taken = tokio::runtime::Runtime::new().unwrap().block_on(async {
        let (tx, mut rx) = tokio::sync::mpsc::unbounded_channel();
        tx.send(1).unwrap();
        tokio::select! {
            value = rx.recv() => value,
            () = async {} => None,
        }
    });
    assert!(matches!(taken, Some(1) | None));
}

/// Temporary values in a branch live as long as with tokio's macro.
#[tokio::test]
async fn a_branch_borrows_a_temporary_value() {
    struct Five(u32);
    impl Five {
        async fn get(&mut self) -> u32 {
            self.0
        }
    }
    let got = tokio::select! { got = Box::pin(Five(5).get_later()) => got };
    assert_eq!(got, 5);

    impl Five {
        async fn get_later(mut self) -> u32 {
            self.get().await
        }
    }
    let mut waits = std::pin::pin!(async { 6 });
    let got = tokio::select! { got = &mut { waits.as_mut() } => got };
    assert_eq!(got, 6);
}

/// A task panics in every run, and the test passes all the same.
#[tokio::test]
async fn a_panic_that_is_expected_is_no_failure() {
    tokio::spawn(async { panic!("expected") });
    let other = tokio::spawn(async {});
    tokio::task::yield_now().await;
    other.await.unwrap();
}

/// A task panics in some orders only.
#[tokio::test]
#[should_panic(expected = "came second")]
async fn a_panic_in_some_orders_is_a_failure() {
    let (tx, mut rx) = tokio::sync::mpsc::channel(2);
    for number in 0..2 {
        let tx = tx.clone();
        tokio::spawn(async move { tx.send(number).await.unwrap() });
    }
    let task = tokio::spawn(async move {
        assert_eq!(rx.recv().await, Some(0), "came second");
    });
    while !task.is_finished() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
#[should_panic(expected = "Cannot block the current thread from within a runtime")]
async fn a_task_must_not_block() {
    drop(tokio::sync::Mutex::new(()).blocking_lock());
}

#[tokio::test]
#[should_panic(expected = "Cannot start a runtime from within a runtime")]
async fn a_task_must_not_start_a_runtime() {
    Handle::current().block_on(async {});
}

#[tokio::test]
#[should_panic(expected = "can call blocking only when running on the multi-threaded runtime")]
async fn one_thread_has_no_other_to_go_on() {
    tokio::task::block_in_place(|| {});
}

#[tokio::test(flavor = "multi_thread")]
async fn threads_of_their_own_may_block() {
    let mutex = std::sync::Arc::new(tokio::sync::Mutex::new(1));
    assert_eq!(tokio::task::block_in_place(|| *mutex.blocking_lock()), 1);
    let handle = Handle::current();
    let task = tokio::task::spawn_blocking(move || *mutex.blocking_lock() + handle.block_on(async { 1 }));
    assert_eq!(task.await.unwrap(), 2);
}

#[tokio::test(flavor = "multi_thread")]
#[should_panic(expected = "Cannot block the current thread")]
async fn what_a_blocking_task_drives_must_not_block() {
    let handle = Handle::current();
    let work = move || handle.block_on(async { drop(tokio::sync::Mutex::new(()).blocking_lock()) });
    tokio::task::spawn_blocking(work).await.unwrap();
}
