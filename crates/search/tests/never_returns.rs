//! User code that never returns, in every place where a search may run it: each search ends within the limit, with a
//! verdict that names the place.

use std::sync::Arc;
use std::time::{Duration, Instant};
use whippet_actors::{Actor, ActorProgram, Cx, Hashes, Inbox, System};
use whippet_model::{FindingKind, LimitHit, Limits, Verdict};
use whippet_search::{Options, Reduction, SearchError, explore};

const LIMIT: Duration = Duration::from_millis(100);

/// The time within which a search must end. Detection takes little more than the limit, even on a busy computer.
const PATIENCE: Duration = Duration::from_secs(30);

fn never_returns() -> bool {
    loop {
        std::thread::sleep(Duration::from_secs(3600));
    }
}

/// The place of the code that does not return.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
enum Place {
    Handler,
    Accepts,
    Check,
}

/// An actor that receives a 1 and then a 2.
#[derive(Clone, Debug, Hash)]
struct Endless {
    place: Place,
    received: u8,
}

impl Actor for Endless {
    type Msg = u8;
    const HASHES: Hashes<Self> = Hashes::of();

    async fn handle(&mut self, msg: u8, cx: &mut Cx<Self>) {
        self.received = msg;
        match msg {
            1 => cx.send(cx.this(), 2),
            _ if self.place == Place::Handler => assert!(never_returns()),
            _ => {}
        }
    }

    fn accepts(&self, msg: &u8) -> bool {
        *msg == 1 || self.place != Place::Accepts || never_returns()
    }
}

fn endless(sys: &mut System, place: Place) {
    let actor = sys.spawn(Endless { place, received: 0 });
    sys.send(actor, 1);
    sys.always(actor, move |actor| assert!(place != Place::Check || actor.received < 2 || never_returns()));
}

/// Runs every search of the program.
fn check_all(body: fn(&mut System), check: impl Fn(Reduction, Result<Verdict, SearchError>)) {
    for &reduction in Reduction::ALL {
        let limits = Limits::default().with_handler(LIMIT);
        let options = Options::new(reduction).with_limits(limits);
        let began = Instant::now();
        let verdict = explore(Arc::new(ActorProgram::new("endless", body)), &options, &());
        assert!(began.elapsed() < PATIENCE, "{reduction} took {:?}", began.elapsed());
        check(reduction, verdict);
    }
}

/// Checks that every search reports the code that does not return as a finding.
fn finds(body: fn(&mut System), message: &str) {
    check_all(body, |reduction, verdict| {
        let verdict = verdict.unwrap_or_else(|error| panic!("{reduction}: {error}"));
        assert!(!verdict.complete, "{reduction}");
        assert!(verdict.limits.contains(&LimitHit::Handler), "{reduction}: {:?}", verdict.limits);
        let found = verdict.findings.iter().find(|finding| finding.kind == FindingKind::Limit);
        let found = found.unwrap_or_else(|| panic!("{reduction}: {:?}", verdict.findings));
        assert!(found.message.starts_with(message), "{reduction}: {}", found.message);
    });
}

#[test]
fn a_handler() {
    finds(
        |sys| endless(sys, Place::Handler),
        "endless did not return from step 2, in which it receives 2 from endless, within 100ms",
    );
}

#[test]
fn a_constraint() {
    finds(
        |sys| endless(sys, Place::Accepts),
        "after step 1, `accepts` or a receive filter did not return within 100ms",
    );
}

#[test]
fn a_receive_filter() {
    fn body(sys: &mut System) {
        let picky = sys.spawn_fn(async |inbox: &mut Inbox<u8>| {
            inbox.receive_if(|&msg| msg == 1).await;
            inbox.receive_if(|_| never_returns()).await;
        });
        sys.send(picky, 1);
        sys.send(picky, 2);
    }
    finds(body, "after step 1, `accepts` or a receive filter did not return within 100ms");
}

#[test]
fn a_check_after_a_step() {
    finds(
        |sys| endless(sys, Place::Check),
        "endless did not return from step 2, in which it receives 2 from endless, within 100ms",
    );
}

#[test]
fn a_check_at_the_end() {
    fn body(sys: &mut System) {
        let actor = sys.spawn(Endless { place: Place::Check, received: 0 });
        sys.send(actor, 1);
        sys.at_end(actor, |_| assert!(never_returns()));
    }
    finds(body, "after step 2, the checks at the end did not return within 100ms");
}

#[test]
fn the_setup() {
    check_all(
        |_sys| assert!(never_returns()),
        |reduction, verdict| {
            let error = verdict.expect_err("there is no initial configuration").to_string();
            assert!(error.starts_with("the setup of the program did not return within 100ms"), "{reduction}: {error}");
        },
    );
}

#[test]
fn a_destructor() {
    #[derive(Clone, Debug, Hash)]
    struct Stubborn(u8);
    impl Actor for Stubborn {
        type Msg = u8;
        const HASHES: Hashes<Self> = Hashes::of();
        async fn handle(&mut self, msg: u8, _: &mut Cx<Self>) {
            self.0 += msg;
        }
    }
    impl Drop for Stubborn {
        fn drop(&mut self) {
            assert!(self.0 != 3 || never_returns());
        }
    }
    // Two messages to one actor, so that the search has to go back.
    let program = ActorProgram::new("stubborn", |sys| {
        let actor = sys.spawn(Stubborn(0));
        sys.send(actor, 1);
        sys.send(actor, 2);
    });
    let limits = Limits::default().with_handler(LIMIT);
    let began = Instant::now();
    let result = explore(Arc::new(program), &Options::default().with_limits(limits), &());
    assert!(began.elapsed() < PATIENCE);
    let text = result.map_or_else(|error| error.to_string(), |verdict| verdict.findings[0].message.clone());
    assert!(text.contains("did not return within 100ms"), "{text}");
}

#[test]
fn an_order_that_is_tried_only_to_explain_a_finding() {
    // The actor fails if 1 comes first, and does not return if 2 comes first. Only the first order is searched.
    #[derive(Clone, Debug, Hash)]
    struct Once(u8);
    impl Actor for Once {
        type Msg = u8;
        const HASHES: Hashes<Self> = Hashes::of();
        async fn handle(&mut self, msg: u8, _: &mut Cx<Self>) {
            assert!(msg == 1 || self.0 > 0 || never_returns());
            self.0 = msg;
            assert_ne!(msg, 2, "two");
        }
    }
    let program = ActorProgram::new("once", |sys| {
        let actor = sys.spawn(Once(0));
        sys.send(actor, 1);
        sys.send(actor, 2);
    });
    let limits = Limits::default().with_handler(LIMIT);
    let options = Options::default().with_limits(limits).with_first_bug(true);
    let verdict = explore(Arc::new(program), &options, &()).unwrap();
    assert_eq!(verdict.limits, [LimitHit::FirstBug]);
    assert!(verdict.findings[0].message.contains("two"), "{}", verdict.findings[0].message);
}
