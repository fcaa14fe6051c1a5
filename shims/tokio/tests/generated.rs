//! Random programs of tasks, channels, locks, selects and timers: a search with one execution per trace finds all
//! outcomes that an exhaustive search finds.

use crate::common::explore;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Mutex, Notify, mpsc, oneshot};
use whippet_search::Reduction;

/// A small random number generator. The programs must be the same on all machines.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % n
    }
}

#[derive(Clone, Debug)]
enum Act {
    /// Send to an unbounded queue.
    Send(usize),
    /// Send to a bounded queue of one place.
    Push,
    /// Take from the task's own queue.
    Take,
    /// Try to take from the task's own queue.
    Try,
    /// Wait for either of the task's two queues, with a biased select that polls the first one first.
    Biased,
    /// Wait for either of the two queues, with an unbiased select.
    Either,
    /// Add to a text under a lock.
    Lock,
    /// Try the lock.
    TryLock,
    /// Take from the task's own queue, with a timeout.
    Timed,
    Sleep,
    NotifyOne,
    Notified,
    Yield,
}

type Plan = Arc<Vec<Vec<Act>>>;

fn plan(seed: u64) -> Plan {
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    for _ in 0..8 {
        random.below(2);
    }
    let tasks = 2;
    // A program uses only a few kinds of acts, so that they interact.
    let kinds: Vec<u64> = (0..3 + random.below(2)).map(|_| random.below(14)).collect();
    let act = |random: &mut Random| match kinds[random.below(kinds.len() as u64) as usize] {
        0 | 1 => Act::Send(random.below(2) as usize),
        2 => Act::Push,
        3 => Act::Take,
        4 => Act::Try,
        5 => Act::Biased,
        6 => Act::Either,
        7 => Act::Lock,
        8 => Act::TryLock,
        9 => Act::Timed,
        10 => Act::Sleep,
        11 => Act::NotifyOne,
        12 => Act::Notified,
        _ => Act::Yield,
    };
    Arc::new((0..tasks).map(|_| (0..1 + random.below(2)).map(|_| act(&mut random)).collect()).collect())
}

/// The objects that all tasks of a program share. The first task receives from queues 0 and 1.
#[derive(Clone)]
struct Shared {
    queues: [mpsc::UnboundedSender<String>; 2],
    narrow: mpsc::Sender<String>,
    lock: Arc<Mutex<String>>,
    notify: Arc<Notify>,
}

async fn task(
    me: usize,
    acts: Vec<Act>,
    shared: Shared,
    mut own: Option<[mpsc::UnboundedReceiver<String>; 2]>,
) -> String {
    let mut log = String::new();
    let (_keep, never) = oneshot::channel::<()>();
    tokio::pin!(never);
    for (k, act) in acts.iter().enumerate() {
        let name = format!("{me}{k}");
        match (act, &mut own) {
            (Act::Send(queue), _) => log += if shared.queues[*queue].send(name).is_ok() { "s" } else { "x" },
            (Act::Push, _) => log += if shared.narrow.send(name).await.is_ok() { "p" } else { "x" },
            (Act::Take, Some([a, _])) => log += &a.recv().await.unwrap_or_default(),
            (Act::Try, Some([a, _])) => log += &a.try_recv().unwrap_or("-".into()),
            (Act::Biased, Some([a, b])) => {
                log += &tokio::select! {
                    biased;
                    x = a.recv() => format!("a{x:?}"),
                    x = b.recv() => format!("b{x:?}"),
                };
            }
            (Act::Either, Some([a, b])) => {
                log += &tokio::select! {
                    x = a.recv() => format!("a{x:?}"),
                    x = b.recv() => format!("b{x:?}"),
                };
            }
            (Act::Timed, Some([a, _])) => {
                log += &match tokio::time::timeout(Duration::from_secs(1), a.recv()).await {
                    Ok(x) => format!("{x:?}"),
                    Err(_) => "late".into(),
                };
            }
            (Act::Lock, _) => {
                let mut text = shared.lock.lock().await;
                *text += &name;
                log += &format!("l{}", text.len());
            }
            (Act::TryLock, _) => log += if shared.lock.try_lock().is_ok() { "t" } else { "f" },
            (Act::Sleep, _) => tokio::time::sleep(Duration::from_secs(1)).await,
            (Act::NotifyOne, _) => shared.notify.notify_one(),
            (Act::Notified, _) => shared.notify.notified().await,
            (Act::Yield, _) => tokio::task::yield_now().await,
            _ => {}
        }
    }
    log
}

async fn program(plan: Plan) -> String {
    let (a, from_a) = mpsc::unbounded_channel();
    let (b, from_b) = mpsc::unbounded_channel();
    let (narrow, mut from_narrow) = mpsc::channel(1);
    let shared = Shared { queues: [a, b], narrow, lock: Arc::default(), notify: Arc::default() };
    let mut own = Some([from_a, from_b]);
    let tasks: Vec<_> = plan
        .iter()
        .enumerate()
        .map(|(me, acts)| tokio::spawn(task(me, acts.clone(), shared.clone(), own.take())))
        .collect();
    let lock = shared.lock.clone();
    drop(shared);
    let mut order = String::new();
    while let Some(name) = from_narrow.recv().await {
        order += &name;
    }
    let mut logs = Vec::new();
    for task in tasks {
        logs.push(task.await.unwrap());
    }
    let text = lock.lock().await.clone();
    format!("{logs:?} {order} {text}")
}

/// Compares the outcomes of both searches. Returns `false` if the program is too large for an exhaustive search.
fn agrees(seed: u64) -> bool {
    let plan = plan(seed);
    let run = |reduction| {
        let plan = plan.clone();
        explore(reduction, move || program(plan.clone()))
    };
    let (optimal, few) = run(Reduction::Optimal);
    if !optimal.complete || optimal.counters.executions > 60 {
        return false;
    }
    let (parts, once) = run(Reduction::Parsimonious);
    let counters = |verdict: &whippet_model::Verdict| verdict.counters;
    assert!(parts.complete, "seed {seed}: {plan:?}");
    assert_eq!(once, few, "seed {seed}: {plan:?}: {:?}", counters(&parts));
    assert_eq!(
        counters(&parts).executions,
        optimal.counters.executions,
        "seed {seed}: {plan:?}: {:?}",
        counters(&parts)
    );
    let (exhaustive, all) = run(Reduction::Exhaustive);
    if !exhaustive.complete {
        return false;
    }
    assert_eq!(few, all, "seed {seed}: {plan:?}: optimal {:?}", optimal.counters);
    let kinds = |verdict: &whippet_model::Verdict| {
        verdict.findings.iter().map(|f| f.kind).collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(kinds(&optimal), kinds(&exhaustive), "seed {seed}: {plan:?}");
    true
}

#[test]
fn one_execution_per_trace_sees_every_outcome() {
    let programs = std::env::var("WHIPPET_GENERATED").ok().and_then(|n| n.parse().ok()).unwrap_or(200);
    let first: u64 = std::env::var("WHIPPET_FIRST").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    let compared = (first..first + programs).filter(|&seed| agrees(seed)).count() as u64;
    println!("{compared} of {programs} programs compared");
    assert!(compared * 5 > programs, "too few programs are small enough: {compared} of {programs}");
}
