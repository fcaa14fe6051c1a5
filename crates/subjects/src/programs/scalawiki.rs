//! The inventory of the ScalaWiki, in which the Basset study found an atomicity violation.
//!
//! A client, whose body creates the server, adds items to an inventory, reads it several times for a computation, and
//! then shuts the server down. An item may arrive at any time, even between two reads that should agree. The source
//! is no longer public: the order of additions and reads here is the one that gives all published counts.

use super::prelude::*;

pub(crate) const SUBJECT: Subject = Subject {
    name: "scalawiki",
    about: "a client reads an inventory several times while its own additions are still pending",
    parameters: &[Parameter::new(
        "assert",
        "false",
        Values::Flag,
        "the client asserts that reads agree if nothing was added between them",
    )],
    reconstructed: Some("from the description; its counts are the published ones"),
    body: |settings| {
        let assert = settings.flag("assert");
        body(move |sys| {
            sys.spawn_fn_named("client", async move |inbox: &mut Inbox<()>| client(inbox, assert).await);
        })
    },
};

#[derive(Clone, Debug)]
enum InventoryMsg {
    /// An item: its price and quantity.
    Add(u32, u32),
    List(Reply<Vec<(u32, u32)>>),
    Shutdown,
}

async fn inventory(inbox: &mut Inbox<InventoryMsg>) {
    let mut items = Vec::new();
    loop {
        match inbox.receive().await {
            InventoryMsg::Add(price, quantity) => items.push((price, quantity)),
            InventoryMsg::List(reply) => inbox.reply(reply, items.clone()),
            InventoryMsg::Shutdown => break,
        }
    }
}

async fn client(inbox: &mut Inbox<()>, assert: bool) {
    let inventory = inbox.spawn_fn_named("inventory", inventory);
    for (added, reads) in [(1, 2), (2, 6)] {
        for item in 0..added {
            inbox.send(inventory, InventoryMsg::Add(10 + item, 1));
        }
        let first = inbox.call(inventory, InventoryMsg::List).await;
        for _ in 1..reads {
            let again = inbox.call(inventory, InventoryMsg::List).await;
            assert!(!assert || first == again, "two reads disagree: {first:?}, then {again:?}");
        }
    }
    inbox.send(inventory, InventoryMsg::Shutdown);
}
