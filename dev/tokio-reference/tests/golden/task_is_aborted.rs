use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::Mutex as StdMutex;
use tokio::sync::{Notify, Semaphore};
use tokio::time::Instant;

#[tokio::test(flavor = "multi_thread")]
async fn program() {
    let semaphore_0 = Arc::new(Semaphore::new(2));
    let notify_1 = Arc::new(Notify::new());
    let start = Instant::now();

    let task_1 = {
        let semaphore_0 = Arc::clone(&semaphore_0);
        let notify_1 = Arc::clone(&notify_1);
        async move {
            let guards_0 = StdMutex::new(VecDeque::new());
            let value = semaphore_0.acquire_many(2).await;
            match value {
                Ok(permit) => {
                    println!("task 1: acquire");
                    guards_0.lock().unwrap().push_back(permit);
                }
                _ => {
                    println!("task 1: acquire failed");
                }
            }
            tokio::select! {
                _ = notify_1.notified() => println!("task 1: branch 0: notified"),
                _ = tokio::task::yield_now() => println!("task 1: branch 1: yielded"),
                _ = async { drop(guards_0.lock().unwrap().pop_front()); } => println!("task 1: branch 2: done"),
            }
            semaphore_0.close();
        }
    };
    let task_0 = {
        let semaphore_0 = Arc::clone(&semaphore_0);
        async move {
            let mut join_1 = tokio::spawn(task_1);
            println!("task 0: available {:?}", semaphore_0.available_permits());
            join_1.abort();
            println!("task 0: join {:?}", (&mut join_1).await);
            println!("task 0: now {:?}", start.elapsed());
        }
    };

    let tasks = [tokio::spawn(task_0)];
    for task in tasks {
        let _ = task.await;
    }
}
