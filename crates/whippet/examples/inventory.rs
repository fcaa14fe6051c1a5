//! A shop that sells more than it has, in one of several message orders.
//!
//! A till asks the warehouse how much is left and, if that is enough, takes it. Between the question and the taking,
//! the other till may have asked as well. Ordinary tests pass; Whippet shows the order that breaks.
//!
//! Run it: `cargo run -p whippet --example inventory`

#![allow(clippy::print_stdout)]

use whippet::prelude::*;

#[derive(Clone, Debug)]
enum Stock {
    HowMany(Reply<u32>),
    Take(u32),
}

#[derive(Clone, Debug)]
struct Warehouse {
    apples: i64,
}

impl Actor for Warehouse {
    type Msg = Stock;

    async fn handle(&mut self, msg: Stock, cx: &mut Cx<Self>) {
        match msg {
            Stock::HowMany(reply) => cx.reply(reply, self.apples.max(0) as u32),
            Stock::Take(n) => self.apples -= i64::from(n),
        }
    }
}

#[derive(Clone, Debug)]
struct Sell(u32);

#[derive(Clone, Debug)]
struct Till {
    warehouse: Addr<Warehouse>,
}

impl Actor for Till {
    type Msg = Sell;

    async fn handle(&mut self, Sell(n): Sell, cx: &mut Cx<Self>) {
        let left = cx.call(self.warehouse, Stock::HowMany).await;
        if left >= n {
            cx.send(self.warehouse, Stock::Take(n));
        }
    }
}

fn never_oversold(sys: &mut System) {
    let warehouse = sys.spawn(Warehouse { apples: 5 });
    for n in [2, 4] {
        let till = sys.spawn(Till { warehouse });
        sys.send(till, Sell(n));
    }
    sys.always(warehouse, |w| assert!(w.apples >= 0, "oversold: {} apples left", w.apples));
}

fn main() -> std::process::ExitCode {
    // In a test this is `#[whippet::test] fn never_oversold(sys: &mut System) { … }`.
    match Checker::new("never_oversold").try_check(never_oversold) {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(failure) => {
            println!("{failure}");
            std::process::ExitCode::FAILURE
        }
    }
}
