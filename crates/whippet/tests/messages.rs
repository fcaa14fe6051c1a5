//! Golden tests of the messages that users see when something is wrong with a test.

use expect_test::{Expect, expect};
use std::time::Duration;
use whippet::prelude::*;

/// Compares the text of a failure, without paths of this machine and numbers of lines.
fn check(checker: Checker, body: impl Fn(&mut System) + Send + Sync + 'static, wanted: Expect) {
    let text = checker.try_check(body).unwrap_err().to_string();
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("look at it: ")).collect();
    let text = without_lines(&lines.join("\n").replace(&*target(), "target"));
    wanted.assert_eq(&format!("{}\n", text.trim_end()));
}

/// Replaces the numbers of lines of this file.
fn without_lines(text: &str) -> String {
    let mut parts = text.split("messages.rs:");
    let mut text = parts.next().unwrap_or_default().to_string();
    for part in parts {
        text += "messages.rs:LINE";
        text += part.trim_start_matches(|c: char| c.is_ascii_digit());
    }
    text
}

/// Returns the target directory, as it appears in links.
fn target() -> String {
    let program = std::env::current_exe().unwrap();
    program.ancestors().nth(3).unwrap().display().to_string()
}

/// An actor that stops before the message that a check expects.
#[test]
fn something_that_did_not_happen() {
    #[derive(Clone, Debug, Default)]
    struct Log {
        lines: u32,
    }
    impl Actor for Log {
        type Msg = u32;
        fn accepts(&self, line: &u32) -> bool {
            *line < 10
        }
        async fn handle(&mut self, _line: u32, _cx: &mut Cx<Self>) {
            self.lines += 1;
        }
    }
    check(
        Checker::new("refused"),
        |sys| {
            let log = sys.spawn(Log::default());
            sys.send(log, 10);
            sys.at_end(log, |log| assert_eq!(log.lines, 1, "nothing logged"));
        },
        expect![[r#"
            assertion: at the end: assertion `left == right` failed: nothing logged at crates/whippet/tests/messages.rs:LINE
              left: 0
             right: 1
            10 from the test is never received: log never accepts it (sent crates/whippet/tests/messages.rs:LINE)
              replay: WHIPPET_REPLAY=target/whippet/refused.json cargo test messages::something_that_did_not_happen

            1 finding in 1 execution
        "#]],
    );
}

/// The counterexample of a check on an actor to which nothing happened shows where its message was lost.
#[test]
fn a_message_to_a_stopped_actor_on_the_way() {
    #[derive(Clone, Debug, Default)]
    struct Screen {
        shown: u32,
    }
    impl Actor for Screen {
        type Msg = u32;
        async fn handle(&mut self, n: u32, _cx: &mut Cx<Self>) {
            self.shown += n;
        }
    }
    check(
        Checker::new("on the way").delivery(Delivery::Fifo),
        |sys| {
            let screen = sys.spawn(Screen::default());
            let relay = sys.spawn_fn_named("relay", async move |inbox: &mut Inbox<u32>| {
                let n = inbox.receive().await;
                if n > 0 {
                    inbox.send(screen, n);
                }
            });
            sys.send(relay, 0);
            sys.send(relay, 5);
            sys.at_end(screen, |screen| assert_eq!(screen.shown, 5, "not shown"));
        },
        expect![[r#"
            assertion: at the end: assertion `left == right` failed: not shown at crates/whippet/tests/messages.rs:LINE
              left: 0
             right: 5
            5 from the test is never received: relay has stopped (sent crates/whippet/tests/messages.rs:LINE)
              1. relay receives 0 from the test (sent crates/whippet/tests/messages.rs:LINE)
                 stops
              replay: WHIPPET_REPLAY=target/whippet/on-the-way.json cargo test messages::a_message_to_a_stopped_actor_on_the_way

            1 finding in 1 execution
        "#]],
    );
}

#[test]
fn a_reply_that_is_sent_twice() {
    #[derive(Clone, Debug)]
    struct Eager;
    impl Actor for Eager {
        type Msg = Reply<u8>;
        async fn handle(&mut self, reply: Reply<u8>, cx: &mut Cx<Self>) {
            cx.reply(reply, 1);
            cx.reply(reply, 2);
        }
    }
    check(
        Checker::new("twice").delivery(Delivery::Fifo).undeliverable_is_error(),
        |sys| {
            let eager = sys.spawn(Eager);
            let client = sys.spawn_fn_named("client", async move |inbox: &mut Inbox<()>| {
                inbox.receive().await;
                inbox.call(eager, |reply| reply).await;
                inbox.receive().await;
            });
            sys.send(client, ());
        },
        expect![[r#"
            undeliverable: 1 from eager is never received: client already got a reply to this call: it is answered twice at crates/whippet/tests/messages.rs:LINE
              1. client receives () from the test (sent crates/whippet/tests/messages.rs:LINE)
                 sends reply to client to eager
                 waits for the reply of eager
              2. eager receives reply to client from client (sent crates/whippet/tests/messages.rs:LINE)
                 replies 1 to client
                 replies 2 to client
              3. client gets the reply 2 from eager (sent crates/whippet/tests/messages.rs:LINE)
              replay: WHIPPET_REPLAY=target/whippet/twice.json cargo test messages::a_reply_that_is_sent_twice

            undeliverable: 2 from eager is never received: client already got a reply to this call: it is answered twice at crates/whippet/tests/messages.rs:LINE
              1. client receives () from the test (sent crates/whippet/tests/messages.rs:LINE)
                 sends reply to client to eager
                 waits for the reply of eager
              2. eager receives reply to client from client (sent crates/whippet/tests/messages.rs:LINE)
                 replies 1 to client
                 replies 2 to client
              3. client gets the reply 1 from eager (sent crates/whippet/tests/messages.rs:LINE)
              replay: WHIPPET_REPLAY=target/whippet/twice-2.json cargo test messages::a_reply_that_is_sent_twice

            2 findings in 2 executions
        "#]],
    );
}

#[test]
fn a_future_from_outside() {
    check(
        Checker::new("outside"),
        |sys| {
            let sleeper = sys.spawn_fn_named("sleeper", async |inbox: &mut Inbox<&str>| {
                inbox.receive().await;
                std::future::pending::<()>().await;
            });
            sys.send(sleeper, "go");
        },
        expect![[r#"
            an actor awaits a future from outside of Whippet; actors can only wait for messages, calls, promises and locks (in step 1, in which sleeper receives "go", sent crates/whippet/tests/messages.rs:LINE)
        "#]],
    );
}

#[test]
fn a_handler_that_does_not_end() {
    check(
        Checker::new("busy").limit_handler(Duration::from_millis(100)),
        |sys| {
            let miner = sys.spawn_fn_named("miner", async |inbox: &mut Inbox<&str>| {
                inbox.receive().await;
                std::thread::sleep(Duration::from_secs(3600));
            });
            sys.send(miner, "dig");
        },
        expect![[r#"
            limit: miner did not return from step 1, in which it receives "dig" from the test, within 100ms: its code may be an endless loop
              1. miner receives "dig" from the test: this step does not end
              replay: WHIPPET_REPLAY=target/whippet/busy.json cargo test messages::a_handler_that_does_not_end

            1 finding in 0 executions
        "#]],
    );
}

#[test]
fn an_address_of_another_execution() {
    static KEPT: std::sync::Mutex<Option<Recipient<u8>>> = std::sync::Mutex::new(None);
    check(
        Checker::new("stale"),
        |sys| {
            let sink = sys.spawn_fn(async |inbox: &mut Inbox<u8>| {
                inbox.receive().await;
            });
            let spawner = sys.spawn_fn_named("spawner", async move |inbox: &mut Inbox<u8>| {
                let n = inbox.receive().await;
                let known = *KEPT.lock().unwrap();
                if let Some(known) = known {
                    inbox.send(known, n);
                }
                let child = inbox.spawn_fn(async |inbox: &mut Inbox<u8>| {
                    inbox.receive().await;
                });
                KEPT.lock().unwrap().get_or_insert(child);
                inbox.send(sink, n);
            });
            sys.send(spawner, 1);
            sys.send(spawner, 2);
        },
        expect![[r#"
            crates/whippet/tests/messages.rs:LINE: the address of an actor that does not exist here: it was kept from another execution or another test; keep addresses only in actors and messages, and create the actors in the body of the test (in step 1, in which spawner receives 2, sent crates/whippet/tests/messages.rs:LINE)
        "#]],
    );
}

#[test]
fn more_workers_than_are_useful() {
    let verdict = Checker::new("many").jobs(100_000).explore(|sys| {
        let sink = sys.spawn_fn(async |inbox: &mut Inbox<u8>| {
            loop {
                inbox.receive().await;
            }
        });
        (0..4).for_each(|n| sys.send(sink, n));
    });
    let verdict = verdict.unwrap();
    assert_eq!((verdict.counters.executions, verdict.notes.join("")), (24, "256 workers: 100000 are too many".into()));
}

/// The command is one that a shell and cargo understand, with the name by which the test harness knows the test. Paths
/// that need it are quoted, which `whippet_report::quoted` tests.
#[test]
fn the_replay_command_names_the_test() {
    check(
        Checker::new("my test: 8/9"),
        |sys| {
            let reader =
                sys.spawn_fn_named("reader", async |inbox: &mut Inbox<u8>| assert_eq!(inbox.receive().await, 1));
            sys.send(reader, 2);
        },
        expect![[r#"
            assertion: assertion `left == right` failed at crates/whippet/tests/messages.rs:LINE
              left: 2
             right: 1
              1. reader receives 2 from the test (sent crates/whippet/tests/messages.rs:LINE)
                 panics: assertion `left == right` failed
                   left: 2
                  right: 1
              replay: WHIPPET_REPLAY=target/whippet/my-test--8-9.json cargo test messages::the_replay_command_names_the_test

            1 finding in 1 execution
        "#]],
    );
    let listed = std::process::Command::new(std::env::current_exe().unwrap()).arg("--list").output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    assert!(listed.lines().any(|line| line == "messages::the_replay_command_names_the_test: test"), "{listed}");
}

#[test]
fn no_verdict_gives_an_estimate_and_advice() {
    #[derive(Clone, Debug, Default)]
    struct Till(u32);
    impl Actor for Till {
        type Msg = u32;
        async fn handle(&mut self, n: u32, _cx: &mut Cx<Self>) {
            self.0 += n;
        }
    }
    check(
        Checker::new("too many").limit_executions(200).jobs(1),
        |sys| {
            let tills = vec![sys.spawn(Till(0)), sys.spawn(Till(0))];
            for (k, &till) in tills.iter().enumerate() {
                sys.send(till, k as u32);
                sys.send(till, 2);
                sys.send(till, 3);
            }
            sys.always(tills, |tills| assert!(tills.iter().map(|till| till.0).sum::<u32>() < 100));
        },
        expect![[r#"
            no verdict after 200 executions: the limit on executions
            there are about 710 ± 520 executions in total
            help: the check `always` at crates/whippet/tests/messages.rs:LINE makes all steps of 2 actors dependent on each other: let it see only the part of each state that it needs (`Addr::only`), check one actor at a time, or at the end (`at_end`), or use the reduction `stateful`
            help: raise the limit for one run: WHIPPET_LIMIT_EXECUTIONS=… overrides the one of the test
            help: if different orders often lead to the same states, the reduction `stateful` explores each state once
            help: if messages between two actors cannot overtake each other, `Delivery::Fifo` has fewer orders
            help: use fewer actors or messages; or look for errors only: the reduction `pos` samples, and with `partial_is_enough` a test passes if nothing was found
        "#]],
    );
}

/// An endless execution is folded.
#[test]
fn a_livelock_is_folded() {
    check(
        Checker::new("for ever").limit_steps(1_000),
        |sys| {
            let echo = sys.spawn_fn_named("echo", async |inbox: &mut Inbox<u8>| {
                loop {
                    let n = inbox.receive().await;
                    let me = inbox.this();
                    inbox.send(me, n);
                }
            });
            sys.send(echo, 1);
        },
        expect![[r#"
            limit: an execution goes on after 1000 steps: it may be endless, or the limit on steps too low
                 1. echo receives 1 from the test (sent crates/whippet/tests/messages.rs:LINE)
                    sends 1 to echo
                 …  steps 2–1,000 repeat the step before
              replay: WHIPPET_REPLAY=target/whippet/for-ever.json cargo test messages::a_livelock_is_folded

            1 finding in 1 execution
        "#]],
    );
}

/// Tests that pass, of which most have a warning.
mod passing {
    use whippet::prelude::*;

    #[whippet::test]
    fn nothing_happens(_sys: &mut System) {}

    #[whippet::test]
    fn one_order(sys: &mut System) {
        let sink = sys.spawn_fn(async |inbox: &mut Inbox<u8>| assert_eq!(inbox.receive().await, 1));
        sys.send(sink, 1);
    }

    #[whippet::test]
    fn two_orders(sys: &mut System) {
        let door =
            sys.spawn_fn_named("door", async |inbox: &mut Inbox<&str>| while inbox.receive().await != "close" {});
        sys.send(door, "knock");
        sys.send(door, "close");
    }
}

/// A test that passes says what it has covered, and what is doubtful about it.
#[test]
fn what_a_passing_test_says() {
    let this = std::env::current_exe().unwrap();
    let words = ["messages::passing", "--nocapture", "--test-threads=1"];
    let output = std::process::Command::new(this).args(words).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let lines = text.lines().filter(|line| ["whippet: ", "warning: "].iter().any(|start| line.contains(start)));
    let lines: Vec<&str> = lines.map(|line| line.split(" ... ").last().unwrap_or(line)).collect();
    expect![[r#"
        whippet: messages::passing::nothing_happens: every order was covered, in 1 execution
        warning: nothing happens in this test: no message is sent
        whippet: messages::passing::one_order: every order was covered, in 1 execution
        warning: only one order is possible: nothing in this test is concurrent
        whippet: messages::passing::two_orders: every order was covered, in 2 executions; 1 warning
        warning: undeliverable: "knock" from the test is never received: door has stopped at crates/whippet/tests/messages.rs:LINE
    "#]]
    .assert_eq(&format!("{}\n", without_lines(&lines.join("\n"))));
}
