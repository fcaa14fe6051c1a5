//! Interprets a plan on the shim.

use super::plan::{Act, Leaf, Plan, Uses};
use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tokio::sync::{self, broadcast, mpsc, oneshot, watch};
use tokio::task::JoinHandle;

const SECOND: Duration = Duration::from_secs(1);

/// The log of each task's observations. Not part of the program: each task writes only to its own entry.
#[derive(Clone, Default)]
pub(crate) struct Logs(Arc<Mutex<BTreeMap<String, String>>>);

impl Logs {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, String>> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn clear(&self) {
        self.lock().clear();
    }

    fn add(&self, task: &str, text: &str) {
        *self.lock().entry(task.into()).or_default() += text;
    }

    /// Returns all logs in one line.
    pub(crate) fn text(&self) -> String {
        let lines: Vec<String> = self.lock().iter().map(|(task, text)| format!("{task}: {text}")).collect();
        lines.join(" | ")
    }
}

/// The objects that all tasks share.
#[derive(Clone)]
struct Shared {
    logs: Logs,
    weak: Option<mpsc::WeakUnboundedSender<String>>,
    lock: Arc<sync::Mutex<String>>,
    text: Arc<sync::RwLock<String>>,
    permits: Arc<sync::Semaphore>,
    notify: Arc<sync::Notify>,
    watch: Option<watch::Sender<usize>>,
    cast: Option<broadcast::Sender<String>>,
    set: Arc<sync::SetOnce<String>>,
    cell: Arc<sync::OnceCell<String>>,
    barrier: Arc<sync::Barrier>,
}

/// The objects that one task holds. Objects that no act of the plan uses are absent: dropping them would only add
/// events.
#[derive(Default)]
struct Hands {
    senders: Option<[mpsc::UnboundedSender<String>; 2]>,
    narrow: Option<mpsc::Sender<String>>,
    first: Option<mpsc::UnboundedReceiver<String>>,
    second: Option<mpsc::UnboundedReceiver<String>>,
    from_narrow: Option<mpsc::Receiver<String>>,
    answer: Option<oneshot::Sender<String>>,
    from_answer: Option<oneshot::Receiver<String>>,
    before: Option<JoinHandle<()>>,
    watched: Option<watch::Receiver<usize>>,
    heard: Option<broadcast::Receiver<String>>,
}

/// The object of its task that a leaf uses. Each object is used by one leaf at a time.
enum Hand<'a> {
    Nothing,
    Unbounded(&'a mut mpsc::UnboundedReceiver<String>),
    Narrow(&'a mut mpsc::Receiver<String>),
    Answer(&'a mut Option<oneshot::Receiver<String>>),
    Unwanted(&'a mut oneshot::Sender<String>),
    Join(&'a mut Option<JoinHandle<()>>),
    Watched(&'a mut watch::Receiver<usize>),
    Heard(&'a mut broadcast::Receiver<String>),
    /// The task does not hold the object, or another leaf uses it.
    Empty,
}

impl Hands {
    fn hands(&mut self, leaves: &[Leaf]) -> Vec<Hand<'_>> {
        let mut first = self.first.as_mut();
        let mut second = self.second.as_mut();
        let mut narrow = self.from_narrow.as_mut();
        let mut answer = Some(&mut self.from_answer);
        let mut unwanted = self.answer.as_mut();
        let mut join = Some(&mut self.before);
        let mut watched = self.watched.as_mut();
        let mut heard = self.heard.as_mut();
        let give = |leaf: &Leaf| match leaf {
            Leaf::First | Leaf::Many => first.take().map(Hand::Unbounded),
            Leaf::Second => second.take().map(Hand::Unbounded),
            Leaf::Narrow => narrow.take().map(Hand::Narrow),
            Leaf::Answer => answer.take().map(Hand::Answer),
            Leaf::Unwanted => unwanted.take().map(Hand::Unwanted),
            Leaf::Join => join.take().map(Hand::Join),
            Leaf::Changed => watched.take().map(Hand::Watched),
            Leaf::Heard => heard.take().map(Hand::Heard),
            _ => Some(Hand::Nothing),
        };
        leaves.iter().map(give).map(|hand| hand.unwrap_or(Hand::Empty)).collect()
    }
}

type Future<'a> = Pin<Box<dyn std::future::Future<Output = String> + Send + 'a>>;

/// The shared objects that a leaf uses; cheap to clone.
#[derive(Clone)]
struct Reach {
    shared: Shared,
    senders: Option<[mpsc::UnboundedSender<String>; 2]>,
    narrow: Option<mpsc::Sender<String>>,
    /// The text that the leaf sends or writes.
    name: String,
}

/// Waits for a leaf and returns the observed text.
fn wait<'a>(leaf: Leaf, hand: Hand<'a>, reach: &'a Reach) -> Future<'a> {
    let Reach { shared, name, .. } = reach;
    Box::pin(async move {
        match (leaf, hand) {
            (Leaf::Many, Hand::Unbounded(rx)) => {
                let mut all = Vec::new();
                rx.recv_many(&mut all, 2).await;
                all.join("+")
            }
            (_, Hand::Unbounded(rx)) => rx.recv().await.unwrap_or("none".into()),
            (_, Hand::Narrow(rx)) => rx.recv().await.unwrap_or("none".into()),
            (_, Hand::Answer(slot)) => match slot {
                Some(rx) => {
                    let text = rx.await.unwrap_or("gone".into());
                    *slot = None;
                    text
                }
                None => "-".into(),
            },
            (_, Hand::Unwanted(tx)) => {
                tx.closed().await;
                "unwanted".into()
            }
            (_, Hand::Join(slot)) => match slot {
                Some(handle) => {
                    let text = if handle.await.is_ok() { "joined" } else { "cancelled" };
                    *slot = None;
                    text.into()
                }
                None => "-".into(),
            },
            (_, Hand::Watched(rx)) => match rx.changed().await {
                Ok(()) => format!("value{}", *rx.borrow_and_update()),
                Err(_) => "unwatched".into(),
            },
            (_, Hand::Heard(rx)) => rx.recv().await.unwrap_or_else(|error| format!("{error:?}")),
            (_, Hand::Empty) => "-".into(),
            (Leaf::Push, _) => match &reach.narrow {
                Some(tx) => if tx.send(name.clone()).await.is_ok() { "pushed" } else { "refused" }.into(),
                None => "-".into(),
            },
            (Leaf::Reserve, _) => match &reach.narrow {
                Some(tx) => match tx.reserve().await {
                    Ok(permit) => {
                        permit.send(name.clone());
                        "reserved".into()
                    }
                    Err(_) => "refused".into(),
                },
                None => "-".into(),
            },
            (Leaf::Closed, _) => match &reach.senders {
                Some([first, _]) => {
                    first.closed().await;
                    "closed".into()
                }
                None => "-".into(),
            },
            (Leaf::Lock, _) => {
                let mut text = shared.lock.lock().await;
                *text += name;
                text.clone()
            }
            (Leaf::Read, _) => format!("r{}", *shared.text.read().await),
            (Leaf::Write, _) => {
                let mut text = shared.text.write().await;
                *text += name;
                text.clone()
            }
            (Leaf::Acquire, _) => if shared.permits.acquire().await.is_ok() { "permit" } else { "shut" }.into(),
            (Leaf::AcquireTwo, _) => {
                if shared.permits.acquire_many(2).await.is_ok() { "permits" } else { "shut" }.into()
            }
            (Leaf::Notified, _) => {
                shared.notify.notified().await;
                "told".into()
            }
            (Leaf::Set, _) => shared.set.wait().await.clone(),
            (Leaf::Cell, _) => {
                let make = || async {
                    tokio::task::yield_now().await;
                    name.clone()
                };
                shared.cell.get_or_init(make).await.clone()
            }
            (Leaf::Sleep, _) => {
                tokio::time::sleep(SECOND).await;
                "slept".into()
            }
            (Leaf::SleepLong, _) => {
                tokio::time::sleep(2 * SECOND).await;
                "slept long".into()
            }
            (Leaf::Barrier, _) => if shared.barrier.wait().await.is_leader() { "leads" } else { "follows" }.into(),
            _ => {
                tokio::task::yield_now().await;
                "yielded".into()
            }
        }
    })
}

/// Performs an act and returns the observed text.
fn act<'a>(act: &'a Act, hands: &'a mut Hands, shared: &'a Shared, name: String) -> Future<'a> {
    Box::pin(async move {
        let reach =
            Reach { shared: shared.clone(), senders: hands.senders.clone(), narrow: hands.narrow.clone(), name };
        match act {
            Act::Wait(leaf) => {
                let hand = hands.hands(&[*leaf]).remove(0);
                wait(*leaf, hand, &reach).await
            }
            Act::Select { biased, first, second } => {
                let mut both = hands.hands(&[*first, *second]).into_iter();
                let (Some(one), Some(two)) = (both.next(), both.next()) else { unreachable!("two were asked for") };
                let (one, two) = (wait(*first, one, &reach), wait(*second, two, &reach));
                if *biased {
                    tokio::select! { biased; text = one => format!("1{text}"), text = two => format!("2{text}") }
                } else {
                    tokio::select! { text = one => format!("1{text}"), text = two => format!("2{text}") }
                }
            }
            Act::Join(first, second) => {
                let mut both = hands.hands(&[*first, *second]).into_iter();
                let (Some(one), Some(two)) = (both.next(), both.next()) else { unreachable!("two were asked for") };
                let (one, two) = tokio::join!(wait(*first, one, &reach), wait(*second, two, &reach));
                format!("{one}&{two}")
            }
            Act::Timeout(leaf) => {
                let hand = hands.hands(&[*leaf]).remove(0);
                tokio::time::timeout(SECOND, wait(*leaf, hand, &reach)).await.unwrap_or("late".into())
            }
            Act::Locked(inner) => {
                let guard = shared.lock.lock().await;
                let text = self::act(inner, hands, shared, reach.name.clone() + "l").await;
                drop(guard);
                text
            }
            Act::Armed(inner) => {
                let waits = shared.notify.notified();
                let text = self::act(inner, hands, shared, reach.name.clone() + "a").await;
                waits.await;
                text + " told"
            }
            Act::Spawn(inner) => {
                let (inner, shared, name) = ((**inner).clone(), shared.clone(), reach.name.clone() + "s");
                let mut hands = hands.shared();
                tokio::spawn(async move {
                    let text = self::act(&inner, &mut hands, &shared, name.clone()).await;
                    shared.logs.add(&name, &text);
                });
                "spawned".into()
            }
            other => at_once(other, hands, &reach),
        }
    })
}

/// Performs an act that does not wait, and returns the observed text.
fn at_once(act: &Act, hands: &mut Hands, reach: &Reach) -> String {
    let Reach { shared, senders, narrow, name } = reach;
    let yes = |sent: bool| if sent { "sent" } else { "refused" }.to_string();
    match act {
        Act::Send(k) => senders.as_ref().map_or("-".into(), |both| yes(both[*k].send(name.clone()).is_ok())),
        Act::WeakSend => match shared.weak.as_ref().and_then(mpsc::WeakUnboundedSender::upgrade) {
            Some(tx) => yes(tx.send(name.clone()).is_ok()),
            None => "too late".into(),
        },
        Act::TryPush => narrow.as_ref().map_or("-".into(), |tx| match tx.try_send(name.clone()) {
            Ok(()) => "sent".into(),
            Err(mpsc::error::TrySendError::Full(_)) => "full".into(),
            Err(mpsc::error::TrySendError::Closed(_)) => "refused".into(),
        }),
        Act::Answer => hands.answer.take().map_or("-".into(), |tx| yes(tx.send(name.clone()).is_ok())),
        Act::NotifyOne => {
            shared.notify.notify_one();
            String::new()
        }
        Act::NotifyAll => {
            shared.notify.notify_waiters();
            String::new()
        }
        Act::Publish => {
            let mut old = 0;
            let watch = shared.watch.as_ref().expect("the plan uses it");
            watch.send_modify(|value| {
                old = *value;
                *value = *value * 10 + name.len();
            });
            format!("was{old}")
        }
        Act::Cast => shared
            .cast
            .as_ref()
            .expect("the plan uses it")
            .send(name.clone())
            .map_or("nobody".into(), |heard| format!("to{heard}")),
        Act::SetOnce => yes(shared.set.set(name.clone()).is_ok()),
        Act::Release => {
            shared.permits.add_permits(1);
            String::new()
        }
        Act::TryRecv => {
            hands.first.as_mut().map_or("-".into(), |rx| rx.try_recv().unwrap_or_else(|e| format!("{e:?}")))
        }
        Act::TryAnswer => {
            hands.from_answer.as_mut().map_or("-".into(), |rx| rx.try_recv().unwrap_or_else(|e| format!("{e:?}")))
        }
        Act::TryLock => if shared.lock.try_lock().is_ok() { "free" } else { "busy" }.into(),
        Act::TryAcquire => if shared.permits.try_acquire().is_ok() { "free" } else { "busy" }.into(),
        Act::TryCell => shared.cell.get().cloned().unwrap_or("unset".into()),
        Act::IsClosed => senders.as_ref().map_or("-".into(), |both| both[0].is_closed().to_string()),
        Act::IsEmpty => hands.first.as_ref().map_or("-".into(), |rx| rx.is_empty().to_string()),
        Act::Capacity => narrow.as_ref().map_or("-".into(), |tx| tx.capacity().to_string()),
        Act::IsFinished => hands.before.as_ref().map_or("-".into(), |handle| handle.is_finished().to_string()),
        Act::HasChanged => {
            hands.watched.as_ref().map_or("-".into(), |rx| rx.has_changed().unwrap_or(false).to_string())
        }
        Act::CloseFirst => {
            if let Some(rx) = &mut hands.first {
                rx.close();
            }
            String::new()
        }
        Act::DropFirst => {
            hands.first = None;
            String::new()
        }
        Act::DropSenders => {
            (hands.senders, hands.narrow) = (None, None);
            String::new()
        }
        Act::DropAnswer => {
            (hands.answer, hands.from_answer) = (None, None);
            String::new()
        }
        Act::Abort => {
            if let Some(handle) = &hands.before {
                handle.abort();
            }
            String::new()
        }
        _ => unreachable!("acts that wait are done elsewhere"),
    }
}

impl Hands {
    /// Returns the objects for a spawned task: only those that can be cloned.
    fn shared(&self) -> Hands {
        Hands { senders: self.senders.clone(), narrow: self.narrow.clone(), ..Hands::default() }
    }
}

/// The ends of all channels that the plan uses, grouped by the task that holds them.
struct Ends {
    senders: Option<[mpsc::UnboundedSender<String>; 2]>,
    narrow: Option<mpsc::Sender<String>>,
    first: Hands,
    second: Hands,
}

fn ends(uses: &Uses) -> Ends {
    let mut ends = Ends { senders: None, narrow: None, first: Hands::default(), second: Hands::default() };
    if uses.unbounded {
        let (a, from_a) = mpsc::unbounded_channel();
        let (b, from_b) = mpsc::unbounded_channel();
        (ends.first.first, ends.first.second) = (Some(from_a), Some(from_b));
        ends.senders = Some([a, b]);
    }
    if uses.narrow {
        let (narrow, from_narrow) = mpsc::channel(1);
        (ends.narrow, ends.second.from_narrow) = (Some(narrow), Some(from_narrow));
    }
    if uses.answer {
        let (answer, from_answer) = oneshot::channel();
        (ends.first.answer, ends.second.from_answer) = (Some(answer), Some(from_answer));
    }
    ends
}

/// Runs the whole program.
pub(crate) async fn program(plan: Arc<Plan>, logs: Logs) {
    logs.clear();
    let uses = plan.uses();
    let Ends { senders, narrow, first, second } = ends(&uses);
    let shared = Shared {
        logs: logs.clone(),
        weak: senders.as_ref().map(|[a, _]| a.downgrade()),
        lock: Arc::default(),
        text: Arc::default(),
        permits: Arc::new(sync::Semaphore::new(1)),
        notify: Arc::default(),
        watch: uses.watch.then(|| watch::Sender::new(1)),
        cast: uses.cast.then(|| broadcast::Sender::new(2)),
        set: Arc::default(),
        cell: Arc::default(),
        barrier: Arc::new(sync::Barrier::new(2)),
    };
    let mut before = None;
    let mut hands = [first, second].into_iter();
    for (me, acts) in plan.0.iter().cloned().enumerate() {
        let mut hands = hands.next().unwrap_or_default();
        (hands.senders, hands.narrow) = (senders.clone(), narrow.clone());
        if uses.handles {
            hands.before = before.take();
        }
        hands.watched = shared.watch.as_ref().map(watch::Sender::subscribe);
        hands.heard = shared.cast.as_ref().map(broadcast::Sender::subscribe);
        let shared = shared.clone();
        before = Some(tokio::spawn(async move {
            let me = me.to_string();
            for (k, what) in acts.iter().enumerate() {
                let text = act(what, &mut hands, &shared, format!("{me}{k}")).await;
                shared.logs.add(&me, &format!("{text};"));
            }
            shared.logs.add(&me, "done");
        }));
    }
    drop((senders, narrow, shared));
    if let Some(last) = before {
        logs.add("main", if last.await.is_ok() { "well" } else { "cancelled" });
    }
}
