//! Tests of the output of user code, which is part of the trace of a finding.

use whippet::model::{add_output, captures_output};
use whippet::prelude::*;

#[test]
fn each_step_has_its_output() {
    #[derive(Clone, Debug, Default)]
    struct Account {
        balance: i64,
    }
    impl Actor for Account {
        type Msg = i64;
        async fn handle(&mut self, sum: i64, _cx: &mut Cx<Self>) {
            add_output(format!("balance {}", self.balance));
            self.balance += sum;
            assert!(self.balance >= -1, "overdrawn");
        }
    }
    let verdict = whippet::explore(|sys| {
        let account = sys.spawn(Account::default());
        sys.send(account, -1);
        sys.send(account, -2);
    });
    let verdict = verdict.unwrap();
    let events = &verdict.findings[0].trace.events;
    let output: Vec<&[String]> = events.iter().map(|event| &event.output[..]).collect();
    assert!(output.iter().all(|lines| lines.len() == 1), "{output:?}");
    assert_eq!(output[0], ["balance 0"]);
    assert!(!captures_output(), "only while a finding is shown");
}

/// Code before an `await` runs once for the trace, although a search runs it again.
#[test]
fn a_handler_that_waits_prints_once() {
    #[derive(Clone, Debug)]
    struct Server;
    impl Actor for Server {
        type Msg = Reply<u8>;
        async fn handle(&mut self, reply: Reply<u8>, cx: &mut Cx<Self>) {
            cx.reply(reply, 7);
        }
    }
    let verdict = whippet::explore(|sys| {
        let server = sys.spawn(Server);
        let client = sys.spawn_fn(async move |inbox: &mut Inbox<u8>| {
            let n = inbox.receive().await;
            add_output(format!("asks {n}"));
            let answer = inbox.call(server, |reply| reply).await;
            add_output(format!("answer {answer}"));
            assert_eq!(n, 7);
        });
        sys.send(client, 1);
        sys.send(client, 7);
    });
    let verdict = verdict.unwrap();
    let output: Vec<String> = verdict.findings[0].trace.events.iter().flat_map(|event| event.output.clone()).collect();
    assert_eq!(output, ["asks 1", "answer 7"]);
}

/// The same for a handler that calls, which begins again when the reply arrives.
#[test]
fn a_handler_that_calls_prints_once() {
    struct Farewell;
    impl Drop for Farewell {
        fn drop(&mut self) {
            add_output("left");
        }
    }
    #[derive(Clone, Debug)]
    struct Server;
    impl Actor for Server {
        type Msg = Reply<u8>;
        async fn handle(&mut self, reply: Reply<u8>, cx: &mut Cx<Self>) {
            cx.reply(reply, 7);
        }
    }
    #[derive(Clone, Debug)]
    struct Client(Addr<Server>);
    impl Actor for Client {
        type Msg = u8;
        async fn handle(&mut self, n: u8, cx: &mut Cx<Self>) {
            let _farewell = Farewell;
            for k in 0..2 {
                add_output(format!("asks {k}"));
                let answer = cx.call(self.0, |reply| reply).await;
                add_output(format!("answer {answer}"));
            }
            assert_eq!(n, 7);
        }
    }
    let verdict = whippet::explore(|sys| {
        let server = sys.spawn(Server);
        let client = sys.spawn(Client(server));
        sys.send(client, 1);
    });
    let verdict = verdict.unwrap();
    let output: Vec<Vec<String>> = verdict.findings[0].trace.events.iter().map(|event| event.output.clone()).collect();
    let wanted: [&[&str]; 5] = [&["asks 0"], &[], &["answer 7", "asks 1"], &[], &["answer 7", "left"]];
    assert_eq!(output, wanted);
}

#[cfg(feature = "log")]
#[test]
fn what_is_logged_is_captured() {
    let failure = Checker::new("logged").try_check(|sys| {
        let reader = sys.spawn_fn(async |inbox: &mut Inbox<u8>| {
            let n = inbox.receive().await;
            log::warn!("got {n}");
            assert_eq!(n, 1);
        });
        sys.send(reader, 2);
    });
    let failure = failure.unwrap_err().to_string();
    let page = failure.lines().find_map(|line| line.trim().strip_prefix("look at it: ")).unwrap();
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("\"output\":[\"WARN all::output: got 2\"]"), "the page shows what was logged");
}

#[cfg(feature = "tracing")]
#[test]
fn what_is_traced_is_captured() {
    let failure = Checker::new("traced").try_check(|sys| {
        let reader = sys.spawn_fn(async |inbox: &mut Inbox<u8>| {
            let n = inbox.receive().await;
            tracing::info!(n, "got");
            assert_eq!(n, 1);
        });
        sys.send(reader, 2);
    });
    let failure = failure.unwrap_err().to_string();
    let page = failure.lines().find_map(|line| line.trim().strip_prefix("look at it: ")).unwrap();
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("\"output\":[\"INFO all::output: got n=2\"]"), "the page shows what was logged");
}
