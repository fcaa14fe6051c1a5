//! Histories of operations: exact numbers of executions, the text of a violation, and misuse.

use whippet::model::FindingKind;
use whippet::{Answer, Counter, CounterOp, History, Register, RegisterOp, Sequential, prelude::*};

/// Creates an actor that performs one read for each message, which is also its answer; a `stop` ends the operation.
fn reader(sys: &mut System, history: History<Register<u32>>) -> Recipient<u32> {
    sys.spawn_fn(async move |inbox: &mut Inbox<u32>| {
        inbox.receive().await;
        inbox.invoked(history, RegisterOp::Read);
        let value = inbox.receive().await;
        inbox.returned(history, Answer::Value(value));
    })
}

fn two_readers(history: impl Fn(&mut System) -> History<Register<u32>> + Send + Sync + 'static) -> u64 {
    let verdict = Checker::new("two readers").explore(move |sys| {
        let history = history(sys);
        for _ in 0..2 {
            let reader = reader(sys, history);
            sys.send(reader, 0);
            sys.send(reader, 0);
        }
    });
    let verdict = verdict.unwrap();
    assert!(verdict.complete && verdict.findings.is_empty());
    verdict.counters.executions
}

/// Two operations overlap, or one of them comes first. Each reader takes its two messages in two orders.
#[test]
fn only_the_order_of_an_answer_and_an_invocation_counts() {
    assert_eq!(two_readers(|sys| sys.linearizable(Register::new(0))), 2 * 2 * 3);
    assert_eq!(two_readers(|sys| sys.sequentially_consistent(Register::new(0))), 2 * 2);
}

/// A write that is acknowledged by one replica only, and reads of any replica.
fn stale(sys: &mut System, history: History<Register<u32>>) {
    #[derive(Clone, Debug, Hash)]
    enum Msg {
        Put(u32),
        Get(Reply<u32>),
    }
    #[derive(Clone, Debug, Hash)]
    struct Replica(u32);
    impl Actor for Replica {
        type Msg = Msg;
        const HASHES: Hashes<Self> = Hashes::of();
        async fn handle(&mut self, msg: Msg, cx: &mut Cx<Self>) {
            match msg {
                Msg::Put(value) => self.0 = value,
                Msg::Get(reply) => cx.reply(reply, self.0),
            }
        }
    }
    let [one, other] = [(); 2].map(|()| sys.spawn(Replica(0)));
    let reader = sys.spawn_fn_named("reader", async move |inbox: &mut Inbox<()>| {
        inbox.receive().await;
        inbox.invoked(history, RegisterOp::Read);
        let value = inbox.call(other, Msg::Get).await;
        inbox.returned(history, Answer::Value(value));
    });
    sys.spawn_fn_named("writer", async move |inbox: &mut Inbox<()>| {
        inbox.invoked(history, RegisterOp::Write(7));
        inbox.send(one, Msg::Put(7));
        inbox.send(other, Msg::Put(7));
        inbox.returned(history, Answer::Done);
        inbox.send(reader, ());
    });
}

#[test]
fn a_violation_shows_intervals_and_the_longest_order() {
    let failure = Checker::new("stale")
        .try_check(|sys| {
            let history = sys.linearizable(Register::new(0));
            stale(sys, history);
        })
        .unwrap_err()
        .to_string();
    let mut lines = failure.lines();
    let first = lines.next().unwrap();
    let wanted =
        "assertion: the history of register is not linearizable: no order of the operations gives these answers at ";
    assert!(first.starts_with(wanted), "{first}");
    let told: Vec<&str> = lines.by_ref().take(4).collect();
    let wanted = [
        "  writer  Write(7) → Done   ├─┤",
        "  reader  Read → Value(0)       ├─┤",
        "the longest order that fits: Write(7) of writer",
        "then Read of reader would return Value(7), not Value(0)",
    ];
    assert_eq!(told, wanted, "{failure}");
    assert!(failure.contains("reader gets the reply 0"), "{failure}");
}

#[test]
fn every_search_finds_the_violation() {
    for reduction in
        Reduction::ALL.iter().copied().filter(|reduction| !matches!(reduction, Reduction::Transdpor | Reduction::Dcute))
    {
        let checker = Checker::new("stale").reduction(reduction).samples(200).seed(1);
        let verdict = checker.explore(|sys| {
            let history = sys.linearizable(Register::new(0));
            stale(sys, history);
        });
        match verdict {
            Ok(verdict) => {
                let kinds: Vec<_> = verdict.findings.iter().map(|finding| finding.kind).collect();
                assert_eq!(kinds, [FindingKind::Assertion], "{reduction}");
            }
            // Bodies cannot be compared by their states.
            Err(error) => assert_eq!(reduction, Reduction::Stateful, "{error}"),
        }
    }
}

/// What is not linearizable may be sequentially consistent: nothing says that the read comes later.
#[test]
fn sequential_consistency_allows_stale_reads() {
    whippet::check(|sys| {
        let history = sys.sequentially_consistent(Register::new(0));
        stale(sys, history);
    });
}

#[test]
fn sequential_consistency_keeps_the_order_of_each_actor() {
    let failure = Checker::new("forgets")
        .try_check(|sys| {
            let history = sys.sequentially_consistent(Register::new(0));
            sys.spawn_fn(async move |inbox: &mut Inbox<()>| {
                inbox.invoked(history, RegisterOp::Write(7));
                inbox.returned(history, Answer::Done);
                inbox.invoked(history, RegisterOp::Read);
                inbox.returned(history, Answer::Value(0));
            });
        })
        .unwrap_err()
        .to_string();
    assert!(failure.contains("is not sequentially consistent"), "{failure}");
}

/// Returns the error of a program whose actor records something wrong.
fn misuse(body: impl Fn(&mut Inbox<()>, History<Counter>) + Send + Sync + Copy + 'static) -> String {
    let error = Checker::new("misuse").try_check(move |sys| {
        let history = sys.linearizable(Counter::default());
        let actor = sys.spawn_fn(async move |inbox: &mut Inbox<()>| {
            inbox.receive().await;
            body(inbox, history);
        });
        sys.send(actor, ());
    });
    error.unwrap_err().to_string()
}

#[test]
fn misuse_says_what_to_do() {
    let twice = misuse(|inbox, history| {
        inbox.invoked(history, CounterOp::Get);
        inbox.invoked(history, CounterOp::Get);
    });
    assert!(twice.contains("an actor performs one operation at a time, so let another actor"), "{twice}");
    let nothing = misuse(|inbox, history| inbox.returned(history, Answer::Done));
    assert!(nothing.contains("`returned` without an operation that was `invoked`"), "{nothing}");
    let many = misuse(|inbox, history| {
        for _ in 0..200 {
            inbox.invoked(history, CounterOp::Add(1));
            inbox.returned(history, Answer::Done);
        }
    });
    assert!(many.contains("a history has at most 128 operations"), "{many}");
}

/// A specification whose code is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Broken;

impl Sequential for Broken {
    type Op = ();
    type Ret = ();
    fn apply(&mut self, _op: &()) {
        panic!("no specification");
    }
}

#[test]
fn a_specification_that_panics_is_a_finding() {
    let failure = Checker::new("broken")
        .try_check(|sys| {
            let history = sys.linearizable(Broken);
            let actor = sys.spawn_fn(async move |inbox: &mut Inbox<()>| {
                inbox.receive().await;
                inbox.invoked(history, ());
                inbox.returned(history, ());
            });
            sys.send(actor, ());
        })
        .unwrap_err()
        .to_string();
    assert!(failure.starts_with("panic: the specification of a history panicked: no specification"), "{failure}");
}
