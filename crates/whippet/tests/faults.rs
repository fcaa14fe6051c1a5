//! Faults of the network: exact numbers of executions, what counterexamples show, and misuse.

use whippet::prelude::*;

/// One actor sends `each` messages to every one of `sinks` actors.
fn fan_out(sinks: usize, each: u32) -> impl Fn(&mut System) + Send + Sync + 'static {
    move |sys| {
        let sinks: Vec<Recipient<u32>> = (0..sinks)
            .map(|_| {
                sys.spawn_fn(async |inbox: &mut Inbox<u32>| {
                    loop {
                        inbox.receive().await;
                    }
                })
            })
            .collect();
        sys.spawn_fn(async move |inbox: &mut Inbox<()>| {
            for &sink in &sinks {
                (0..each).for_each(|n| inbox.send(sink, n));
            }
        });
    }
}

fn executions(network: Network, body: impl Fn(&mut System) + Send + Sync + 'static) -> u64 {
    Checker::new("faults").network(network).explore(body).unwrap().counters.executions
}

/// Messages to different actors are lost independently of each other: nothing but the losses is counted.
#[test]
fn losses_multiply_nothing_else() {
    assert_eq!(executions(Network::reliable(), fan_out(4, 1)), 1);
    assert_eq!(executions(Network::lossy(1), fan_out(4, 1)), 1 + 4);
    assert_eq!(executions(Network::lossy(Network::UNLIMITED), fan_out(4, 1)), 16);
    // Two losses that share a budget are dependent: each pair counts in both orders.
    assert_eq!(executions(Network::lossy(2), fan_out(3, 1)), 1 + 3 + 3 * 2);
}

/// Both messages in both orders, or one of them alone; a copy comes anywhere after its original.
#[test]
fn one_receiver_of_two_messages() {
    assert_eq!(executions(Network::lossy(1), fan_out(1, 2)), 2 + 2);
    assert_eq!(executions(Network::duplicating(1), fan_out(1, 1)), 1 + 1);
    assert_eq!(executions(Network::duplicating(1), fan_out(1, 2)), 2 + 6);
}

/// Messages of the test, and of an actor to itself, do not use the network.
#[test]
fn local_messages_are_never_lost() {
    let local = |sys: &mut System| {
        let echo = sys.spawn_fn(async |inbox: &mut Inbox<bool>| {
            inbox.receive().await;
            inbox.send(inbox.this(), true);
            inbox.receive().await;
        });
        sys.send(echo, false);
        sys.environment(Environment::Closed);
    };
    assert_eq!(executions(Network::lossy(Network::UNLIMITED), local), 1);
}

#[derive(Clone, Debug)]
struct Get(Reply<u32>);

#[test]
fn a_lost_request_and_a_lost_reply_are_named() {
    let verdict = Checker::new("a call").network(Network::lossy(1)).explore(|sys| {
        let server = sys.spawn_fn_named("server", async |inbox: &mut Inbox<Get>| {
            let Get(reply) = inbox.receive().await;
            inbox.reply(reply, 42);
        });
        let client = sys.spawn_fn_named("client", async move |inbox: &mut Inbox<()>| {
            inbox.receive().await;
            inbox.call(server, Get).await;
        });
        sys.send(client, ());
    });
    let verdict = verdict.unwrap();
    assert_eq!(verdict.counters.executions, 3);
    let finding = &verdict.findings[0];
    assert!(finding.message.contains("(the network lost the request)"), "{}", finding.message);
    let last = finding.counterexample.last().unwrap().to_string();
    assert!(last.starts_with("the network loses Get(reply to client) from client to server"), "{last}");
}

#[test]
fn reordering_needs_an_order() {
    let error = Checker::new("no order").network(Network::reordering(1)).explore(|_sys| {}).unwrap_err().to_string();
    assert!(error.contains("choose `Delivery::Fifo` or `Delivery::Causal`"), "{error}");
}
