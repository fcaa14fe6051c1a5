//! The numbers of executions of small programs, named by their shape.

use crate::common::explore;
use tokio::sync::{mpsc, oneshot};
use whippet_search::Reduction;

async fn clients(k: usize) -> String {
    let (tx, mut rx) = mpsc::unbounded_channel::<(usize, Option<oneshot::Sender<String>>)>();
    let server = tokio::spawn(async move {
        let mut log = String::new();
        while let Some((n, reply)) = rx.recv().await {
            match reply {
                None => log += &n.to_string(),
                Some(reply) => reply.send(log.clone()).unwrap(),
            }
        }
    });
    let tasks: Vec<_> = (0..k)
        .map(|n| {
            let tx = tx.clone();
            tokio::spawn(async move { tx.send((n, None)).unwrap() })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let (reply, answer) = oneshot::channel();
    tx.send((0, Some(reply))).unwrap();
    let log = answer.await.unwrap();
    drop(tx);
    server.await.unwrap();
    log
}

#[test]
fn clients_to_one_server_is_factorial() {
    for (k, factorial) in [(1, 1), (2, 2), (3, 6), (4, 24), (5, 120), (6, 720)] {
        let (verdict, seen) = explore(Reduction::Optimal, move || clients(k));
        assert_eq!((verdict.counters.executions, verdict.counters.blocked), (factorial, 0), "k = {k}");
        assert_eq!(seen.len() as u64, factorial);
        assert!(verdict.complete && verdict.findings.is_empty(), "{verdict:?}");
    }
}
