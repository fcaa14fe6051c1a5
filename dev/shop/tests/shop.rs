//! Tests of both kinds: of actors, and of tokio's tasks. `dev/native.sh` runs them as a user does.

use std::sync::Arc;
use whippet::prelude::*;

const APPLES: i32 = 5;

#[derive(Clone, Debug)]
struct Warehouse {
    apples: i32,
}

#[derive(Clone, Debug)]
enum Stock {
    HowMany(Reply<i32>),
    Take(i32),
}

impl Actor for Warehouse {
    type Msg = Stock;

    async fn handle(&mut self, msg: Stock, cx: &mut Cx<Self>) {
        match msg {
            Stock::HowMany(reply) => cx.reply(reply, self.apples),
            Stock::Take(n) => self.apples -= n,
        }
    }
}

#[derive(Clone, Debug)]
struct Till {
    warehouse: Addr<Warehouse>,
}

#[derive(Clone, Debug)]
struct Sell(i32);

impl Actor for Till {
    type Msg = Sell;

    async fn handle(&mut self, Sell(n): Sell, cx: &mut Cx<Self>) {
        println!("a till sells {n}");
        let left = cx.call(self.warehouse, Stock::HowMany).await;
        eprintln!("{left} apples are left");
        if left >= n {
            cx.send(self.warehouse, Stock::Take(n));
        }
    }
}

fn shop(sys: &mut System, sales: &[i32]) {
    let warehouse = sys.spawn(Warehouse { apples: APPLES });
    for &n in sales {
        let till = sys.spawn(Till { warehouse });
        sys.send(till, Sell(n));
    }
    sys.always(warehouse, |w| assert!(w.apples >= 0, "oversold: {} apples left", w.apples));
}

#[whippet::test]
fn never_oversold(sys: &mut System) {
    shop(sys, &[2, 4]);
}

#[whippet::test]
fn enough_for_two(sys: &mut System) {
    shop(sys, &[1, 2]);
}

#[whippet::test(limit_executions = 100)]
fn too_many_tills(sys: &mut System) {
    shop(sys, &[1, 1, 1, 1, 1]);
}

#[whippet::test]
fn nothing_happens(_sys: &mut System) {}

#[whippet::test]
#[should_panic(expected = "oversold")]
fn known_to_fail(sys: &mut System) {
    shop(sys, &[2, 4]);
}

#[test]
fn with_a_name_of_its_own() {
    Checker::new("2 sales: 3/3").check(|sys| shop(sys, &[3, 3]));
}

// A free lock is no point at which one thread switches.
#[tokio::test(flavor = "multi_thread")]
async fn tokio_oversold() {
    let apples = Arc::new(tokio::sync::Mutex::new(APPLES));
    let sales = [2, 4].map(|n| {
        let apples = apples.clone();
        tokio::spawn(async move {
            let left = *apples.lock().await;
            if left >= n {
                *apples.lock().await -= n;
            }
        })
    });
    for sale in sales {
        sale.await.unwrap();
    }
    assert!(*apples.lock().await >= 0, "oversold");
}

#[tokio::test]
async fn tokio_holds() {
    let (sender, receiver) = tokio::sync::oneshot::channel();
    tokio::spawn(async move { sender.send(APPLES).unwrap() });
    assert_eq!(receiver.await.unwrap(), APPLES);
}
