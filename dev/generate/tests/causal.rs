//! Causal delivery of random scripts, compared with an independent computation of happens-before.
//!
//! A script sends numbers to one actor, starts other scripts as new actors, and asks others to start by a message. The
//! actor can receive the numbers in exactly those orders in which every number comes after all those whose sending
//! happens before its own.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use whippet_actors::{Actor, ActorProgram, Addr, Cx, Delivery, Inbox, Recipient, System};
use whippet_generate::{Random, Sample, Setting, answer};
use whippet_search::Reduction;

/// The largest number of acts of a program; larger ones are skipped.
const MOST_ACTS: usize = 8;

/// One act of a script.
#[derive(Clone, Debug)]
enum Act {
    /// Sends a number.
    Send(usize),
    /// Creates an actor that executes a script as it begins.
    Start(Vec<Act>),
    /// Creates an actor that executes a script when it receives a message, and sends that message.
    Ask(Vec<Act>),
}

/// Draws a script and numbers its sends.
fn draw(random: &mut Random, sends: &mut usize, depth: usize) -> Vec<Act> {
    let acts = 1 + random.below(4);
    let act = |_| match random.weighted(&[4, 3 * depth, 2 * depth]) {
        0 => {
            *sends += 1;
            Act::Send(*sends - 1)
        }
        1 => Act::Start(draw(random, sends, depth - 1)),
        _ => Act::Ask(draw(random, sends, depth - 1)),
    };
    (0..acts).map(act).collect()
}

fn acts(script: &[Act]) -> usize {
    let act = |act: &Act| match act {
        Act::Send(_) => 1,
        Act::Start(script) | Act::Ask(script) => 1 + acts(script),
    };
    script.iter().map(act).sum()
}

// ---- the scripts as actors ----------------------------------------------------------------------

/// The actor to which the numbers are sent.
#[derive(Clone, Debug, Default)]
struct Sink(Vec<usize>);

impl Actor for Sink {
    type Msg = usize;

    async fn handle(&mut self, n: usize, _cx: &mut Cx<Self>) {
        self.0.push(n);
    }
}

/// The operations that both the test and actors provide.
trait Hands {
    fn send(&mut self, to: Addr<Sink>, n: usize);
    fn create(&mut self, sink: Addr<Sink>, script: Vec<Act>, asked: bool) -> Recipient<()>;
    fn ask(&mut self, actor: Recipient<()>);
}

macro_rules! hands {
    ($type:ty) => {
        impl Hands for $type {
            fn send(&mut self, to: Addr<Sink>, n: usize) {
                <$type>::send(self, to, n);
            }
            fn create(&mut self, sink: Addr<Sink>, script: Vec<Act>, asked: bool) -> Recipient<()> {
                self.spawn_fn(body(sink, script, asked))
            }
            fn ask(&mut self, actor: Recipient<()>) {
                <$type>::send(self, actor, ());
            }
        }
    };
}

hands!(System);
hands!(Inbox<()>);

fn body(sink: Addr<Sink>, script: Vec<Act>, asked: bool) -> impl AsyncFn(&mut Inbox<()>) + 'static {
    async move |inbox: &mut Inbox<()>| {
        if asked {
            inbox.receive().await;
        }
        execute(inbox, sink, &script);
    }
}

fn execute(hands: &mut impl Hands, sink: Addr<Sink>, script: &[Act]) {
    for act in script {
        match act {
            Act::Send(n) => hands.send(sink, *n),
            Act::Start(script) => {
                hands.create(sink, script.clone(), false);
            }
            Act::Ask(script) => {
                let actor = hands.create(sink, script.clone(), true);
                hands.ask(actor);
            }
        }
    }
}

/// Returns the orders in which the sink receives the numbers.
fn seen(script: &[Act], reduction: Reduction) -> BTreeSet<Vec<usize>> {
    let (script, orders) = (script.to_vec(), Arc::new(Mutex::new(BTreeSet::new())));
    let result = orders.clone();
    let test = ActorProgram::new("causal", move |system: &mut System| {
        let sink = system.spawn(Sink::default());
        execute(system, sink, &script);
        let orders = orders.clone();
        system.at_end(sink, move |sink| {
            orders.lock().unwrap().insert(sink.0.clone());
        });
    });
    let done = answer(&test.delivery(Delivery::Causal), &Setting::of(reduction), None);
    done.unwrap_or_else(|failure| panic!("{failure}")).expect("there was no limit");
    let seen = result.lock().unwrap();
    seen.clone()
}

// ---- the expected orders ------------------------------------------------------------------------

/// Adds, for each number that a script sends, the numbers sent before it. `known` contains those sent before the script
/// begins.
fn relate(script: &[Act], mut known: BTreeSet<usize>, before: &mut Vec<(usize, BTreeSet<usize>)>) {
    for act in script {
        match act {
            Act::Send(n) => {
                before.push((*n, known.clone()));
                known.insert(*n);
            }
            // A script knows what was sent before it was started or asked, and its actions are unknown to its creator.
            Act::Start(script) | Act::Ask(script) => relate(script, known.clone(), before),
        }
    }
}

/// Returns all orders that begin with `order` and in which every number comes after those sent before it.
fn expected(before: &[(usize, BTreeSet<usize>)], order: &[usize]) -> BTreeSet<Vec<usize>> {
    if order.len() == before.len() {
        return [order.to_vec()].into();
    }
    let can_be = |(n, past): &&(usize, BTreeSet<usize>)| !order.contains(n) && past.iter().all(|n| order.contains(n));
    let next = before.iter().filter(can_be);
    next.flat_map(|(n, _)| expected(before, &[order, &[*n]].concat())).collect()
}

fn check(test: &str, sample: Sample) -> String {
    let (mut programs, mut orders) = (0, 0);
    for seed in sample.seed..sample.seed.wrapping_add(sample.programs) {
        let (mut random, mut before) = (Random::new(seed), Vec::new());
        let mut script = draw(&mut random, &mut 0, 2);
        if acts(&script) > MOST_ACTS {
            continue;
        }
        // In half of the programs the script is executed by a step instead of the test.
        if random.chance(50) {
            script = vec![Act::Ask(script)];
        }
        relate(&script, BTreeSet::new(), &mut before);
        let expected = expected(&before, &[]);
        for reduction in [Reduction::Exhaustive, Reduction::Dcute, Reduction::Source, Reduction::Optimal] {
            assert_eq!(
                seen(&script, reduction),
                expected,
                "{reduction}: {script:?}\n\
                 See it again: WHIPPET_SEED={seed} WHIPPET_PROGRAMS=1 cargo test -p whippet-generate {test}"
            );
        }
        (programs, orders) = (programs + 1, orders + expected.len());
    }
    format!("seeds from {}: {programs} programs with {orders} orders", sample.seed)
}

#[test]
fn a_fixed_sample_of_causal_scripts() {
    println!("{}", check("a_fixed_sample_of_causal_scripts", Sample::from_environment(1, 600)));
}

#[test]
fn a_fresh_sample_of_causal_scripts() {
    let sample = Sample::from_environment(Sample::fresh_seed(), 300);
    println!("{}", check("a_fresh_sample_of_causal_scripts", sample));
}
