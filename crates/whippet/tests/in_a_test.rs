//! Tests of Whippet as tests use it: the attribute, the text of a failure, the saved schedule and its replay.

use std::process::Command;
use whippet::prelude::*;

#[derive(Clone, Debug, Default)]
struct Account {
    balance: i64,
}

#[derive(Clone, Debug)]
enum Msg {
    Deposit(i64),
    Withdraw(i64),
}

impl Actor for Account {
    type Msg = Msg;

    async fn handle(&mut self, msg: Msg, _cx: &mut Cx<Self>) {
        match msg {
            Msg::Deposit(sum) => self.balance += sum,
            Msg::Withdraw(sum) => self.balance -= sum,
        }
    }
}

fn overdrawn(sys: &mut System) {
    let account = sys.spawn(Account::default());
    sys.send(account, Msg::Deposit(10));
    sys.send(account, Msg::Withdraw(5));
    sys.always(account, |a| assert!(a.balance >= 0, "overdrawn: {}", a.balance));
}

#[whippet::test]
fn sums_are_kept(sys: &mut System) {
    let account = sys.spawn(Account::default());
    sys.send(account, Msg::Deposit(10));
    sys.send(account, Msg::Withdraw(5));
    sys.at_end(account, |a| assert_eq!(a.balance, 5));
}

#[whippet::test(delivery = Delivery::Fifo, jobs = 1)]
fn in_order_it_is_never_overdrawn(sys: &mut System) {
    overdrawn(sys);
}

/// The test that is replayed below: it passes as long as the bug is found.
#[test]
fn the_bug() {
    let replaying = std::env::var_os("WHIPPET_REPLAY").is_some();
    let text = Checker::new("the_bug").try_check(overdrawn).unwrap_err().to_string();
    assert!(text.starts_with("assertion: always: overdrawn: -5 at "), "{text}");
    assert!(text.contains("1. account receives Withdraw(5) from the test"), "{text}");
    assert!(text.contains("[balance: 0 → -5]"), "{text}");
    assert!(!text.contains("Deposit"), "the deposit does not matter: {text}");
    assert_eq!(text.contains("replay: WHIPPET_REPLAY="), !replaying, "{text}");
}

#[test]
fn the_printed_command_replays() {
    let text = Checker::new("the_bug").try_check(overdrawn).unwrap_err().to_string();
    let file = text.split("WHIPPET_REPLAY=").nth(1).and_then(|rest| rest.split(' ').next()).unwrap();
    let run = |file: &str| {
        let this = std::env::current_exe().unwrap();
        Command::new(this).args(["--exact", "the_bug"]).env("WHIPPET_REPLAY", file).output().unwrap()
    };
    let output = run(file);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    let damaged = std::env::temp_dir().join(format!("whippet-damaged-{}.json", std::process::id()));
    std::fs::write(&damaged, "{ \"format\": \"whippet schedule\",\n  \"version\": 1 }").unwrap();
    let output = run(damaged.to_str().unwrap());
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    std::fs::remove_file(&damaged).unwrap();
    assert!(!output.status.success() && said.contains("damaged") && said.contains("line 2"), "{said}");
}

#[test]
fn a_deadlock_names_the_cycle() {
    #[derive(Clone, Debug)]
    enum Ask {
        Start(Addr<Friend>),
        Question(Reply<()>),
    }
    #[derive(Clone, Debug)]
    struct Friend;
    impl Actor for Friend {
        type Msg = Ask;
        async fn handle(&mut self, msg: Ask, cx: &mut Cx<Self>) {
            match msg {
                Ask::Start(other) => cx.call(other, Ask::Question).await,
                Ask::Question(reply) => cx.reply(reply, ()),
            }
        }
    }
    let verdict = Checker::new("friends")
        .explore(|sys| {
            let (a, b) = (sys.spawn(Friend), sys.spawn(Friend));
            sys.send(a, Ask::Start(b));
            sys.send(b, Ask::Start(a));
        })
        .unwrap();
    let [finding] = &verdict.findings[..] else { panic!("one deadlock: {:?}", verdict.findings) };
    assert_eq!(finding.kind, whippet::model::FindingKind::Deadlock);
    assert!(
        finding.message.starts_with("a cycle of actors that wait for each other: friend 1 waits for friend 2"),
        "{}",
        finding.message
    );
    assert_eq!(finding.counterexample.len(), 2);
}

#[test]
fn nondeterminism_is_told() {
    use std::sync::atomic::{AtomicU32, Ordering};
    static TIME: AtomicU32 = AtomicU32::new(0);
    #[derive(Clone, Debug)]
    struct Clock(u32);
    impl Actor for Clock {
        type Msg = u32;
        async fn handle(&mut self, n: u32, cx: &mut Cx<Self>) {
            self.0 = TIME.fetch_add(1, Ordering::Relaxed);
            if self.0 < 3 {
                cx.send(cx.this(), n);
            }
        }
    }
    let error = Checker::new("clock")
        .explore(|sys| {
            let clock = sys.spawn(Clock(0));
            sys.send(clock, 1);
        })
        .unwrap_err();
    assert!(error.to_string().contains("your program is not deterministic"), "{error}");
    assert!(error.to_string().contains("usual causes"), "{error}");
}

/// Actors that share an `Rc` do not compile: see the documentation of `Actor`. Other shared memory is found by running an execution twice.
#[test]
fn shared_memory_is_named() {
    use std::sync::{Arc, Mutex};
    #[derive(Clone, Debug)]
    struct Bidder {
        highest: Arc<Mutex<u32>>,
        won: bool,
    }
    impl Actor for Bidder {
        type Msg = u32;
        async fn handle(&mut self, bid: u32, _cx: &mut Cx<Self>) {
            let mut highest = self.highest.lock().unwrap();
            self.won = bid > *highest;
            *highest = bid.max(*highest);
        }
    }
    let error = whippet::explore(|sys| {
        let highest = Arc::new(Mutex::new(0));
        for bid in [10, 20] {
            let bidder = sys.spawn(Bidder { highest: highest.clone(), won: false });
            sys.send(bidder, bid);
        }
    });
    let error = error.unwrap_err().to_string();
    assert!(error.contains("bidder 1, step 1"), "{error}");
    assert!(error.contains("bidder 1 shares memory with another actor"), "{error}");
}

/// The order of a `std` hash map differs from run to run; where no actor depends on it, that is no error.
#[test]
#[allow(clippy::disallowed_types)]
fn a_hash_map_in_a_state_is_no_difference() {
    #[derive(Clone, Debug, Default)]
    struct Registry(std::collections::HashMap<u32, String>);
    impl Actor for Registry {
        type Msg = u32;
        async fn handle(&mut self, n: u32, _cx: &mut Cx<Self>) {
            self.0 = (0..n).map(|k| (k, format!("name {k}"))).collect();
        }
    }
    whippet::check(|sys| {
        let registry = sys.spawn(Registry::default());
        sys.send(registry, 20);
    });
}

#[whippet::test]
fn a_test_may_return_a_result(sys: &mut System) -> Result<(), std::num::ParseIntError> {
    let account = sys.spawn(Account::default());
    sys.send(account, Msg::Deposit("10".parse()?));
    sys.at_end(account, |account| assert_eq!(account.balance, 10));
    Ok(())
}

#[test]
fn an_error_that_a_test_returns_is_a_finding() {
    let verdict = whippet::explore(|sys| {
        let account = sys.spawn(Account::default());
        sys.send(account, Msg::Deposit("ten".parse()?));
        Ok::<(), std::num::ParseIntError>(())
    });
    let verdict = verdict.unwrap();
    let [finding] = &verdict.findings[..] else { panic!("one finding: {:?}", verdict.findings) };
    assert_eq!(finding.kind, whippet::FindingKind::Assertion);
    assert_eq!(finding.message, "the test returned an error: ParseIntError { kind: InvalidDigit }");
    assert!(finding.counterexample.is_empty());
}

/// `impl Future` is the trait of the standard library where the prelude is imported.
#[test]
fn the_prelude_leaves_future_alone() {
    #[allow(clippy::manual_async_fn)]
    fn doubled(n: u32) -> impl Future<Output = u32> {
        async move { 2 * n }
    }
    whippet::check(|sys| {
        sys.spawn_fn(async |_inbox: &mut Inbox<()>| assert_eq!(doubled(3).await, 6));
    });
}

#[test]
fn an_endless_handler_meets_its_limit() {
    #[derive(Clone, Debug)]
    struct Loop;
    impl Actor for Loop {
        type Msg = bool;
        async fn handle(&mut self, forever: bool, _cx: &mut Cx<Self>) {
            if forever {
                loop {
                    std::thread::sleep(std::time::Duration::from_millis(50));
                }
            }
        }
    }
    let verdict = Checker::new("loop")
        .limit_handler(std::time::Duration::from_millis(200))
        .explore(|sys| {
            let actor = sys.spawn(Loop);
            sys.send(actor, false);
            sys.send(actor, true);
        })
        .unwrap();
    assert_eq!(verdict.findings[0].kind, whippet::model::FindingKind::Limit);
    assert!(!verdict.complete);
}

#[test]
fn misuse_does_not_compile() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}

/// A body runs to its first receive when it is created: a choice made there would not belong to any execution.
#[test]
fn a_choice_in_the_set_up_is_no_verdict() {
    let error = Checker::new("early").explore(|sys| {
        sys.spawn_fn(async |inbox: &mut Inbox<()>| assert_eq!(inbox.choose(2), 0));
    });
    let error = error.unwrap_err().to_string();
    assert!(error.starts_with("choose(2) during setup, which is not explored"), "{error}");
}

/// Tests of code that does not end, in the set-up, in constraints, in checks and in a replay.
mod endless {
    use std::time::Duration;
    use whippet::model::{FindingKind, Verdict};
    use whippet::prelude::*;

    const LIMIT: Duration = Duration::from_millis(200);

    fn explore(body: fn(&mut System)) -> Result<Verdict, whippet::CheckError> {
        Checker::new("endless").limit_handler(LIMIT).explore(body)
    }

    fn sleep() -> bool {
        std::thread::sleep(Duration::from_secs(3600));
        true
    }

    #[derive(Clone, Debug)]
    struct Picky(u8);
    impl Actor for Picky {
        type Msg = u8;
        async fn handle(&mut self, msg: u8, _cx: &mut Cx<Self>) {
            self.0 = msg;
        }
        fn accepts(&self, msg: &u8) -> bool {
            *msg != 2 || sleep()
        }
    }

    #[test]
    fn the_set_up_is_no_verdict() {
        let error = explore(|_sys| assert!(sleep())).unwrap_err().to_string();
        assert!(error.starts_with("the setup of the program did not return within 200ms"), "{error}");
    }

    #[test]
    fn a_constraint_is_a_finding() {
        let verdict = explore(|sys| {
            let picky = sys.spawn(Picky(0));
            let sender = sys.spawn_fn(async move |inbox: &mut Inbox<()>| {
                inbox.receive().await;
                inbox.send(picky, 2);
            });
            sys.send(sender, ());
        })
        .unwrap();
        let finding = &verdict.findings[0];
        assert_eq!((finding.kind, finding.counterexample.len(), verdict.complete), (FindingKind::Limit, 1, false));
        assert!(
            finding.message.starts_with("after step 1, `accepts` or a receive filter did not return"),
            "{}",
            finding.message
        );
    }

    #[test]
    fn a_check_after_a_step_is_a_finding() {
        let verdict = explore(|sys| {
            let picky = sys.spawn(Picky(0));
            sys.send(picky, 1);
            sys.always(picky, |picky| assert!(picky.0 == 0 || sleep()));
        })
        .unwrap();
        assert!(
            verdict.findings[0].message.contains("its code may be an endless loop"),
            "{}",
            verdict.findings[0].message
        );
    }

    #[test]
    fn a_check_at_the_end_is_a_finding() {
        let verdict = explore(|sys| {
            let picky = sys.spawn(Picky(0));
            sys.send(picky, 1);
            sys.at_end(picky, |_| assert!(sleep()));
        })
        .unwrap();
        assert!(verdict.findings[0].message.starts_with("after step 1, the checks at the end did not return"));
    }

    #[test]
    fn a_replay_ends() {
        fn body(sys: &mut System) {
            let slow = sys.spawn_fn(async |inbox: &mut Inbox<u8>| {
                inbox.receive().await;
                sleep();
            });
            sys.send(slow, 1);
        }
        let verdict = explore(body).unwrap();
        let program = Checker::new("endless").program(body);
        let schedule = &verdict.findings[0].schedule;
        let replayed = whippet::search::replay_within(program.into(), schedule, LIMIT).unwrap();
        assert_eq!(replayed.problems[0].kind, FindingKind::Limit);
    }
}
