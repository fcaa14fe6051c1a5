//! The handles that one task holds, in the order in which they are dropped.

use super::tokio::sync::futures::OwnedNotified;
use super::tokio::sync::{OwnedMutexGuard, OwnedRwLockReadGuard, OwnedRwLockWriteGuard, OwnedSemaphorePermit};
use super::tokio::sync::{broadcast, mpsc, oneshot, watch};
use super::tokio::task::{JoinHandle, JoinSet};
use super::tokio::time::Interval;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio_reference::{Leaf, ObjectId, Op, Program, TaskId, Value};

/// A receiver of any channel.
pub enum Receiver {
    Bounded(mpsc::Receiver<Value>),
    Unbounded(mpsc::UnboundedReceiver<Value>),
    Oneshot(oneshot::Receiver<Value>),
    Broadcast(broadcast::Receiver<Value>),
    Watch(watch::Receiver<Value>),
}

/// A sender of any channel but a oneshot.
pub enum Sender {
    Bounded(mpsc::Sender<Value>),
    Unbounded(mpsc::UnboundedSender<Value>),
    Broadcast(broadcast::Sender<Value>),
    Watch(watch::Sender<Value>),
}

/// A weak sender.
pub enum Weak {
    Bounded(mpsc::WeakSender<Value>),
    Unbounded(mpsc::WeakUnboundedSender<Value>),
}

/// Something that a task holds until it releases it.
#[expect(dead_code, reason = "most are only dropped")]
pub enum Guard {
    Permits(OwnedSemaphorePermit),
    Mutex(OwnedMutexGuard<Vec<Value>>),
    Read(OwnedRwLockReadGuard<Vec<Value>>),
    Write(OwnedRwLockWriteGuard<Vec<Value>>),
    Reserved(mpsc::OwnedPermit<Value>),
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A place for a handle: empty once it is dropped or used up, and while a leaf has borrowed it.
#[derive(Debug)]
pub struct Slot<T> {
    value: Mutex<Option<T>>,
    is_borrowed: AtomicBool,
}

impl<T> Default for Slot<T> {
    fn default() -> Slot<T> {
        Slot::new(None)
    }
}

impl<T> Slot<T> {
    pub fn new(value: Option<T>) -> Slot<T> {
        Slot { value: Mutex::new(value), is_borrowed: AtomicBool::new(false) }
    }

    /// Takes the handle for good.
    pub fn take(&self) -> Option<T> {
        lock(&self.value).take()
    }

    pub fn put(&self, value: T) {
        *lock(&self.value) = Some(value);
    }

    /// Borrows the handle for a leaf.
    pub fn borrow(&self) -> Option<Loan<'_, T>> {
        let value = self.take()?;
        self.is_borrowed.store(true, Ordering::Relaxed);
        Some(Loan { slot: self, value: Some(value) })
    }

    /// Tells if a leaf has borrowed the handle.
    pub fn is_borrowed(&self) -> bool {
        self.is_borrowed.load(Ordering::Relaxed)
    }
}

impl<T> Slot<Arc<T>> {
    /// Shares the handle with a leaf or an operation.
    pub fn share(&self) -> Option<Arc<T>> {
        lock(&self.value).clone()
    }

    /// Takes the handle for good unless a leaf shares it.
    pub fn take_unshared(&self) -> Option<T> {
        let mut slot = lock(&self.value);
        let (taken, back) = match slot.take().map(Arc::try_unwrap) {
            Some(Ok(value)) => (Some(value), None),
            Some(Err(shared)) => (None, Some(shared)),
            None => (None, None),
        };
        *slot = back;
        taken
    }
}

/// A borrowed handle, given back when this is dropped.
#[derive(Debug)]
pub struct Loan<'a, T> {
    slot: &'a Slot<T>,
    value: Option<T>,
}

impl<T> Loan<'_, T> {
    pub fn get(&mut self) -> &mut T {
        self.value.as_mut().expect("it is used up by value only")
    }

    /// Uses the handle up.
    pub fn consume(mut self) -> Option<T> {
        self.value.take()
    }
}

impl<T> Drop for Loan<'_, T> {
    fn drop(&mut self) {
        self.slot.is_borrowed.store(false, Ordering::Relaxed);
        if let Some(value) = self.value.take() {
            self.slot.put(value);
        }
    }
}

/// The ends of one channel that a task holds.
#[derive(Default)]
pub struct Ends {
    pub receiver: Slot<Receiver>,
    pub sender: Slot<Arc<Sender>>,
    pub reply: Slot<oneshot::Sender<Value>>,
    pub weak: Option<Weak>,
}

type Armed = Slot<Pin<Box<OwnedNotified>>>;

/// The handles of one task; the fields are in the order of their drops.
pub struct Hands {
    pub interval: Slot<Interval>,
    pub has_interval: AtomicBool,
    armed: Vec<Armed>,
    guards: Mutex<Vec<(ObjectId, Guard)>>,
    pub ends: Vec<Ends>,
    pub set: Slot<JoinSet<TaskId>>,
    pub handles: Vec<Slot<JoinHandle<TaskId>>>,
}

impl Hands {
    /// Makes the hands of a task of this program, without the ends of channels.
    pub fn new(program: &Program, ops: &[Op]) -> Hands {
        let set = ops.iter().any(op_uses_set).then(JoinSet::new);
        Hands {
            interval: Slot::default(),
            has_interval: AtomicBool::new(false),
            armed: program.objects.iter().map(|_| Slot::default()).collect(),
            guards: Mutex::default(),
            ends: Vec::new(),
            set: Slot::new(set),
            handles: program.tasks.iter().map(|_| Slot::default()).collect(),
        }
    }

    /// Gives the place of the armed `Notified` of an object.
    pub fn armed(&self, object: ObjectId) -> &Armed {
        &self.armed[object]
    }

    /// Keeps a guard.
    pub fn keep(&self, object: ObjectId, guard: Guard) {
        lock(&self.guards).push((object, guard));
    }

    /// Takes the oldest guard of an object that is of a kind.
    pub fn oldest(&self, object: ObjectId, is_wanted: impl Fn(&Guard) -> bool) -> Option<Guard> {
        let mut guards = lock(&self.guards);
        let at = guards.iter().position(|(of, guard)| *of == object && is_wanted(guard))?;
        Some(guards.remove(at).1)
    }
}

fn op_uses_set(op: &Op) -> bool {
    match op {
        Op::SpawnIn(_) | Op::TryJoinNext | Op::AbortAll | Op::DropSet => true,
        Op::Await(leaf) => leaf_uses_set(leaf),
        Op::Select { branches, .. } | Op::JoinAll(branches) => branches.iter().any(leaf_uses_set),
        _ => false,
    }
}

fn leaf_uses_set(leaf: &Leaf) -> bool {
    match leaf {
        Leaf::JoinNext => true,
        Leaf::Now(op) => op_uses_set(op),
        Leaf::Then(op, leaf) => op_uses_set(op) || leaf_uses_set(leaf),
        Leaf::Within(_, leaf) => leaf_uses_set(leaf),
        _ => false,
    }
}
