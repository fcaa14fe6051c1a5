//! Tests of processes that are async functions.

use std::sync::Arc;
use whippet_model::{FindingKind, Verdict};
use whippet_net::{Net, NetBuilder, create, step, test_any, wait_all, wait_any};
use whippet_search::{Options, Reduction, SearchError, explore};

pub(crate) fn with(net: &Net, reduction: Reduction) -> Result<Verdict, SearchError> {
    explore(Arc::new(net.clone()), &Options::new(reduction), &())
}

/// Checks that all searches agree, and returns one verdict.
pub(crate) fn check(net: &Net, traces: u64) -> Verdict {
    let verdict = with(net, Reduction::Udpor).unwrap();
    let all = [Reduction::Udpor, Reduction::Optimal, Reduction::Source].map(|r| with(net, r).unwrap());
    let exhaustive = with(net, Reduction::Exhaustive).unwrap();
    for other in &all {
        assert_eq!(other.counters.executions, traces);
        assert_eq!(other.counters.blocked, 0);
        let keys = |v: &Verdict| v.findings.iter().map(|f| (f.kind, f.key)).collect::<std::collections::BTreeSet<_>>();
        assert_eq!(keys(other), keys(&exhaustive));
    }
    verdict
}

fn net(set_up: impl Fn(&mut NetBuilder) + Send + Sync + 'static) -> Net {
    Net::new("test", set_up)
}

#[test]
fn payload_is_captured_at_send() {
    let net = net(|net| {
        let (a, b) = (net.mailbox::<Vec<u8>>("a"), net.mailbox::<Vec<u8>>("b"));
        net.process("sender", async move || {
            let mut buffer = vec![1];
            let sending = a.send_async(buffer.clone()).await;
            buffer[0] = 2;
            b.send(buffer).await;
            sending.wait().await;
        });
        net.process("receiver", async move || {
            let (first, second) = (a.receive_async().await, b.receive_async().await);
            wait_all(&[&second, &first]).await;
            assert_eq!((first.value(), second.value()), (vec![1], vec![2]));
        });
    });
    assert!(check(&net, 1).findings.is_empty());
}

#[test]
fn wait_any_returns_each_completed_index() {
    // The receiver takes one of two messages and ignores the other: there are 2 traces, and an assertion fails in one.
    let net = net(|net| {
        let (a, b) = (net.mailbox::<u32>("a"), net.mailbox::<u32>("b"));
        net.process("one", async move || {
            a.send_async(1).await;
        });
        net.process("two", async move || {
            b.send_async(2).await;
        });
        net.process("receiver", async move || {
            let (x, y) = (a.receive_async().await, b.receive_async().await);
            let value = match wait_any(&[&x, &y]).await {
                0 => x.value(),
                _ => y.value(),
            };
            assert_eq!(value, 1, "the second came first");
        });
    });
    let verdict = check(&net, 2);
    assert_eq!(verdict.findings.len(), 1);
    assert_eq!(verdict.findings[0].kind, FindingKind::Panic);
    assert!(verdict.findings[0].message.contains("the second came first"), "{}", verdict.findings[0].message);
    assert!(verdict.findings[0].place.as_ref().unwrap().contains("processes.rs"));
}

#[test]
fn test_any_and_mutex_test_branch() {
    let net = net(|net| {
        let a = net.mailbox::<u32>("a");
        let log = net.mutex("log");
        net.process("sender", async move || {
            let request = log.lock().await;
            step("writes").await;
            request.unlock().await;
            a.send(7).await;
        });
        net.process("poller", async move || {
            let receiving = a.receive_async().await;
            if test_any(&[&receiving]).await.is_none() {
                let request = log.lock_async().await;
                if !request.test().await {
                    request.wait().await;
                }
                request.unlock().await;
            }
            assert_eq!(receiving.wait().await, 7);
        });
    });
    let traces = with(&net, Reduction::Udpor).unwrap().counters.executions;
    assert!(traces > 3);
    assert!(check(&net, traces).findings.is_empty());
}

#[test]
fn processes_create_processes() {
    let net = net(|net| {
        let done = net.mailbox::<u32>("done");
        net.process("parent", async move || {
            for k in 0..2 {
                create(format!("child {k}"), async move || done.send(k).await).await;
            }
            assert_eq!(done.receive().await + done.receive().await, 1);
        });
    });
    assert!(check(&net, 2).findings.is_empty());
}

#[test]
fn misuse_is_reported_as_error() {
    let foreign = net(|net| {
        let (a, b) = (net.mailbox::<whippet_net::Sending>("a"), net.mailbox::<u32>("b"));
        net.process("one", async move || a.send(b.send_async(1).await).await);
        net.process("two", async move || a.receive().await.wait().await);
    });
    let error = with(&foreign, Reduction::Udpor).unwrap_err().to_string();
    assert!(error.contains("of another process"), "{error}");
    let unlock = net(|net| {
        let (a, mutex) = (net.mailbox::<whippet_net::LockRequest>("a"), net.mutex("m"));
        net.process("one", async move || a.send(mutex.lock().await).await);
        net.process("two", async move || a.receive().await.unlock().await);
    });
    let error = with(&unlock, Reduction::Udpor).unwrap_err().to_string();
    assert!(error.contains("that another process requested"), "{error}");
    let awaits = net(|net| net.process("one", async || std::future::pending().await));
    let error = with(&awaits, Reduction::Udpor).unwrap_err().to_string();
    assert!(error.contains("not an operation of Whippet"), "{error}");
}

#[test]
fn deadlock_message_lists_waiters_and_objects() {
    let net = Net::parse("wait-deadlock", "R0 W0 S1 W2\nR1 W0 S0 W2\n").unwrap();
    let message = &check(&net, 1).findings[0].message;
    assert_eq!(
        message,
        "no process can continue\n  \
         process 0 waits for its receive on mailbox 0 (action 0); process 1 would send there later (action 2)\n  \
         process 1 waits for its receive on mailbox 1 (action 0); process 0 would send there later (action 2)"
    );
    let net = Net::parse("mutexes", "K0 MW0 K1 MW1\nK1 MW1 K0 MW0\n").unwrap();
    let verdict = with(&net, Reduction::Udpor).unwrap();
    let deadlock = verdict.findings.iter().find(|f| f.message.contains("process 0 waits for mutex 1")).unwrap();
    assert!(deadlock.message.contains("which process 1 holds"), "{}", deadlock.message);
}

#[test]
fn child_panic_is_kept_when_parent_panics_later() {
    let net = net(|net| {
        net.process("parent", async || {
            create("child", async || panic!("the child panics")).await;
            step("goes on").await;
            panic!("the parent panics");
        });
    });
    let mut messages: Vec<_> = check(&net, 1).findings.into_iter().map(|finding| finding.message).collect();
    messages.sort_unstable();
    assert_eq!(messages, ["the child panics", "the parent panics"]);
}

#[test]
fn child_and_parent_panic_in_one_step() {
    let net = net(|net| {
        net.process("parent", async || {
            create("child", async || panic!("the child panics")).await;
            panic!("the parent panics");
        });
    });
    let messages: Vec<_> = check(&net, 1).findings.into_iter().map(|finding| finding.message).collect();
    assert_eq!(messages, ["the parent panics; the child panics"]);
}
