use bank::{account, withdraw};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::sleep;

#[tokio::test]
async fn two_customers() {
    let (tx, rx) = mpsc::channel(8);
    let account = tokio::spawn(account(rx));
    tokio::spawn(withdraw(tx.clone(), 80));
    // The other customer comes a little later.
    sleep(Duration::from_millis(1)).await;
    tokio::spawn(withdraw(tx, 80));
    let balance = account.await.unwrap();
    assert!(balance >= 0, "overdrawn: {balance}");
}

#[tokio::test]
async fn one_customer() {
    let (tx, rx) = mpsc::channel(8);
    let account = tokio::spawn(account(rx));
    withdraw(tx, 80).await;
    assert_eq!(account.await.unwrap(), 20);
}

#[tokio::test]
async fn full_both_ways() {
    let (to_b, mut from_a) = mpsc::channel(1);
    let (to_a, mut from_b) = mpsc::channel(1);
    let b = tokio::spawn(async move {
        for n in 0..3 {
            to_a.send(n).await.unwrap();
        }
        while from_a.recv().await.is_some() {}
    });
    for n in 0..3 {
        to_b.send(n).await.unwrap();
    }
    drop(to_b);
    while from_b.recv().await.is_some() {}
    b.await.unwrap();
}

#[tokio::test]
async fn first_come() {
    let (tx, mut rx) = mpsc::unbounded_channel();
    for n in 0..3 {
        let tx = tx.clone();
        tokio::spawn(async move { tx.send(n).unwrap() });
    }
    drop(tx);
    let mut sum = 0;
    while let Some(n) = rx.recv().await {
        sum += n;
    }
    assert_eq!(sum, 3);
}

#[test]
fn in_one_order() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    assert_eq!(runtime.block_on(async { tokio::spawn(async { 5 }).await.unwrap() }), 5);
}

#[test]
fn plain() {
    assert_eq!(1 + 1, 2);
}

#[tokio::test]
#[ignore = "not today"]
async fn ignored() {}

/// A test with 9! orders, long enough to show progress and to be interrupted.
#[tokio::test]
#[ignore = "takes long"]
async fn nine_customers() {
    let (tx, mut rx) = mpsc::unbounded_channel();
    for n in 0..9 {
        let tx = tx.clone();
        tokio::spawn(async move { tx.send(n).unwrap() });
    }
    drop(tx);
    while rx.recv().await.is_some() {}
}

/// Leftover messages and tasks are findings only on request.
#[tokio::test]
async fn untidy() {
    let (tx, mut rx) = mpsc::unbounded_channel();
    tx.send(1).unwrap();
    tx.send(2).unwrap();
    assert_eq!(rx.recv().await, Some(1));
    tokio::spawn(std::future::pending::<()>());
}
