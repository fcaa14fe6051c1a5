//! Timers and crashes: exact numbers of executions, what counterexamples show, and misuse.

use std::time::Duration;
use whippet::{Durable, prelude::*};

#[derive(Clone, Debug, Hash, PartialEq)]
enum Msg {
    Start,
    Tick(u32),
    Stop,
}

/// Sets timers of these lengths at its start, and collects those that fire until it is stopped.
#[derive(Clone, Debug, Hash)]
struct Clock {
    lengths: Vec<u64>,
    fired: Vec<u32>,
}

impl Actor for Clock {
    type Msg = Msg;
    const HASHES: Hashes<Self> = Hashes::of();

    async fn handle(&mut self, msg: Msg, cx: &mut Cx<Self>) {
        match msg {
            Msg::Start => {
                for (k, &length) in self.lengths.iter().enumerate() {
                    cx.set_timer(Duration::from_millis(length), Msg::Tick(k as u32));
                }
            }
            Msg::Tick(k) => self.fired.push(k),
            Msg::Stop => cx.cancel_timers(|msg| matches!(msg, Msg::Tick(_))),
        }
    }

    fn after_crash(&self, cx: &mut Cx<Self>) -> Option<Clock> {
        cx.send(cx.this(), Msg::Stop);
        Some(Clock { fired: vec![99], ..self.clone() })
    }
}

fn clock(lengths: &'static [u64], more: impl Fn(&mut System, Addr<Clock>) + Send + Sync + 'static) -> Vec<String> {
    let body = move |sys: &mut System| {
        let clock = sys.spawn(Clock { lengths: lengths.to_vec(), fired: vec![] });
        sys.send(clock, Msg::Start);
        sys.finish_setup();
        more(sys, clock);
        sys.outcome(clock, |clock| clock.fired.clone());
    };
    let body = std::sync::Arc::new(body);
    let results = [Reduction::Exhaustive, Reduction::Optimal, Reduction::Stateful, Reduction::Udpor].map(|reduction| {
        let body = body.clone();
        let verdict = Checker::new("clock").reduction(reduction).explore(move |sys| body(sys)).unwrap();
        assert!(verdict.findings.is_empty() && verdict.warnings.is_empty(), "{reduction}: {:?}", verdict.warnings);
        let mut results: Vec<String> = verdict.outcomes.into_iter().map(|outcome| outcome.message).collect();
        results.sort();
        results
    });
    assert!(results.iter().all(|other| *other == results[0]), "{results:?}");
    results.into_iter().next().unwrap()
}

#[test]
fn a_timer_that_was_set_first_for_no_longer_fires_first() {
    assert_eq!(clock(&[1, 2, 2], |_, _| {}), ["[0, 1, 2]"]);
    assert_eq!(clock(&[2, 1], |_, _| {}), ["[0, 1]", "[1, 0]"]);
    assert_eq!(clock(&[2, 1, 3], |_, _| {}), ["[0, 1, 2]", "[1, 0, 2]"]);
}

#[test]
fn a_cancelled_timer_never_fires() {
    let stopped = clock(&[1, 2], |sys, clock| sys.send(clock, Msg::Stop));
    assert_eq!(stopped, ["[0, 1]", "[0]", "[]"]);
}

#[test]
fn a_crash_cancels_timers_and_loses_what_is_not_kept() {
    let crashed = clock(&[1, 2], |sys, clock| sys.crashes(clock, 1));
    assert_eq!(crashed, ["[0, 1]", "[99]"]);
}

/// Two actors that receive one message each. A crash comes before or after it, or not at all.
#[test]
fn crashes_of_a_budget_depend_on_each_other_only() {
    let executions = |most: u32, apart: bool| {
        let checker = Checker::new("crashes");
        let verdict = checker.explore(move |sys| {
            let clocks = [(); 2].map(|()| sys.spawn(Clock { lengths: vec![], fired: vec![] }));
            if apart {
                clocks.into_iter().for_each(|clock| sys.crashes(clock, most));
            } else {
                sys.crashes(clocks.to_vec(), most);
            }
        });
        verdict.unwrap().counters.executions
    };
    assert_eq!(executions(0, false), 1);
    assert_eq!(executions(1, false), 3, "none, one or the other");
    assert_eq!(executions(1, true), 4, "each of them or not");
}

#[test]
fn the_counterexample_names_timers_and_crashes() {
    let failure = Checker::new("clock")
        .try_check(|sys| {
            let clock = sys.spawn(Clock { lengths: vec![5], fired: vec![] });
            sys.send(clock, Msg::Start);
            sys.crashes(clock, 1);
            sys.always(clock, |clock| assert_ne!(clock.fired, [99, 0]));
        })
        .unwrap_err()
        .to_string();
    for text in
        ["clock crashes", "restarts", "sets a timer: Tick(0) after 5ms", "clock receives Tick(0) from its timer (set "]
    {
        assert!(failure.contains(text), "{text}: {failure}");
    }
    assert!(!failure.contains("does not crash"), "{failure}");
}

/// A log that is synced only if told to.
#[derive(Clone, Debug, Hash)]
struct Disk(Durable<Vec<u32>>);

impl Actor for Disk {
    type Msg = u32;
    const HASHES: Hashes<Self> = Hashes::of();

    async fn handle(&mut self, n: u32, _cx: &mut Cx<Self>) {
        self.0.push(n);
        if n == 2 {
            self.0.sync();
        }
    }

    fn after_crash(&self, cx: &mut Cx<Self>) -> Option<Disk> {
        Some(Disk(self.0.recover(cx)))
    }
}

#[test]
fn what_is_not_synced_may_be_lost() {
    for reduction in [Reduction::Exhaustive, Reduction::Optimal, Reduction::Stateful] {
        let checker = Checker::new("disk").reduction(reduction).delivery(Delivery::Fifo);
        let verdict = checker.explore(|sys| {
            let disk = sys.spawn(Disk(Durable::default()));
            (1..=3).for_each(|n| sys.send(disk, n));
            sys.crashes(disk, 1);
            sys.outcome(disk, |disk| disk.0.to_vec());
        });
        let mut results: Vec<String> = verdict.unwrap().outcomes.into_iter().map(|outcome| outcome.message).collect();
        results.sort();
        assert_eq!(results, ["[1, 2, 3]", "[1, 2]", "[2, 3]"], "{reduction}");
    }
}

#[test]
fn misuse_says_what_to_do() {
    #[derive(Clone, Debug, Default)]
    struct Fields(Tracked<u32>);
    impl Actor for Fields {
        type Msg = ();
        const FIELDS: bool = true;
        async fn handle(&mut self, _msg: (), cx: &mut Cx<Self>) {
            *self.0 += 1;
            cx.set_timer(Duration::from_secs(1), ());
        }
    }
    let error = Checker::new("fields").try_check(|sys| {
        let fields = sys.spawn(Fields::default());
        sys.send(fields, ());
    });
    let error = error.unwrap_err().to_string();
    assert!(error.contains("an actor with tracked fields cannot set timers"), "{error}");
}
