//! The specifications that this crate has: register, queue, stack, set, dictionary, counter and log.

use super::Sequential;
use crate::Message;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::hash::Hash;

/// An answer of the objects of this crate.
///
/// ```
/// use whippet::{Answer, Queue, QueueOp, Sequential};
/// let mut queue = Queue::default();
/// assert_eq!(queue.apply(&QueueOp::Pop), Answer::Nothing);
/// assert_eq!(queue.apply(&QueueOp::Push(7)), Answer::Done);
/// assert_eq!(queue.apply(&QueueOp::Pop), Answer::Value(7));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Answer<T> {
    /// The operation was performed; it has no result.
    Done,
    /// The operation returned a value.
    Value(T),
    /// There was no value to return.
    Nothing,
    /// The operation was possible, or not.
    Is(bool),
}

impl<T> Answer<T> {
    fn of(value: Option<T>) -> Answer<T> {
        value.map_or(Answer::Nothing, Answer::Value)
    }
}

/// A register: it holds one value.
///
/// ```
/// use whippet::{Answer, Register, RegisterOp, Sequential};
/// let mut register = Register::new(0);
/// assert_eq!(register.apply(&RegisterOp::Write(5)), Answer::Done);
/// assert_eq!(register.apply(&RegisterOp::CompareAndSet(5, 6)), Answer::Is(true));
/// assert_eq!(register.apply(&RegisterOp::Read), Answer::Value(6));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Register<T>(T);

impl<T> Register<T> {
    /// Creates a register with this value.
    pub fn new(value: T) -> Register<T> {
        Register(value)
    }
}

/// The operations of a [`Register`].
///
/// ```
/// use whippet::{Answer, Register, RegisterOp, Sequential};
/// assert_eq!(Register::new(1).apply(&RegisterOp::CompareAndSet(5, 6)), Answer::Is(false));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RegisterOp<T> {
    /// Returns the value.
    Read,
    /// Replaces the value.
    Write(T),
    /// Replaces the value if it equals the first one by the second one; returns whether it did.
    CompareAndSet(T, T),
}

impl<T: Message + Eq + Hash> Sequential for Register<T> {
    type Op = RegisterOp<T>;
    type Ret = Answer<T>;

    fn apply(&mut self, op: &RegisterOp<T>) -> Answer<T> {
        match op {
            RegisterOp::Read => Answer::Value(self.0.clone()),
            RegisterOp::Write(value) => {
                self.0 = value.clone();
                Answer::Done
            }
            RegisterOp::CompareAndSet(expected, new) => {
                let is = self.0 == *expected;
                if is {
                    self.0 = new.clone();
                }
                Answer::Is(is)
            }
        }
    }
}

/// A queue: the first value that was pushed is the first to be popped.
///
/// ```
/// use whippet::{Answer, Queue, QueueOp, Sequential};
/// let mut queue = Queue::default();
/// (1..=2).for_each(|n| { queue.apply(&QueueOp::Push(n)); });
/// assert_eq!(queue.apply(&QueueOp::Pop), Answer::Value(1));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Queue<T>(VecDeque<T>);

impl<T> Default for Queue<T> {
    fn default() -> Queue<T> {
        Queue(VecDeque::new())
    }
}

/// The operations of a [`Queue`].
///
/// ```
/// use whippet::{Answer, Queue, QueueOp, Sequential};
/// assert_eq!(Queue::<u32>::default().apply(&QueueOp::Pop), Answer::Nothing);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum QueueOp<T> {
    /// Adds a value at the end.
    Push(T),
    /// Removes the first value.
    Pop,
}

impl<T: Message + Eq + Hash> Sequential for Queue<T> {
    type Op = QueueOp<T>;
    type Ret = Answer<T>;

    fn apply(&mut self, op: &QueueOp<T>) -> Answer<T> {
        match op {
            QueueOp::Push(value) => {
                self.0.push_back(value.clone());
                Answer::Done
            }
            QueueOp::Pop => Answer::of(self.0.pop_front()),
        }
    }
}

/// A stack: the last value that was pushed is the first to be popped.
///
/// ```
/// use whippet::{Answer, Sequential, Stack, StackOp};
/// let mut stack = Stack::default();
/// (1..=2).for_each(|n| { stack.apply(&StackOp::Push(n)); });
/// assert_eq!(stack.apply(&StackOp::Pop), Answer::Value(2));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Stack<T>(Vec<T>);

impl<T> Default for Stack<T> {
    fn default() -> Stack<T> {
        Stack(Vec::new())
    }
}

/// The operations of a [`Stack`].
///
/// ```
/// use whippet::{Answer, Sequential, Stack, StackOp};
/// assert_eq!(Stack::<u32>::default().apply(&StackOp::Pop), Answer::Nothing);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum StackOp<T> {
    /// Adds a value.
    Push(T),
    /// Removes the newest value.
    Pop,
}

impl<T: Message + Eq + Hash> Sequential for Stack<T> {
    type Op = StackOp<T>;
    type Ret = Answer<T>;

    fn apply(&mut self, op: &StackOp<T>) -> Answer<T> {
        match op {
            StackOp::Push(value) => {
                self.0.push(value.clone());
                Answer::Done
            }
            StackOp::Pop => Answer::of(self.0.pop()),
        }
    }
}

/// A set of values.
///
/// ```
/// use whippet::{Answer, Sequential, Set, SetOp};
/// let mut set = Set::default();
/// assert_eq!(set.apply(&SetOp::Insert(1)), Answer::Is(true));
/// assert_eq!(set.apply(&SetOp::Insert(1)), Answer::Is(false));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Set<T>(BTreeSet<T>);

impl<T> Default for Set<T> {
    fn default() -> Set<T> {
        Set(BTreeSet::new())
    }
}

/// The operations of a [`Set`]. Each returns [`Answer::Is`].
///
/// ```
/// use whippet::{Answer, Sequential, Set, SetOp};
/// let mut set = Set::default();
/// set.apply(&SetOp::Insert(1));
/// assert_eq!(set.apply(&SetOp::Remove(1)), Answer::Is(true));
/// assert_eq!(set.apply(&SetOp::Contains(1)), Answer::Is(false));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SetOp<T> {
    /// Adds a value; true if it was missing.
    Insert(T),
    /// Removes a value; true if it was there.
    Remove(T),
    /// Looks for a value; true if it is there.
    Contains(T),
}

impl<T: Message + Ord + Hash> Sequential for Set<T> {
    type Op = SetOp<T>;
    type Ret = Answer<T>;

    fn apply(&mut self, op: &SetOp<T>) -> Answer<T> {
        Answer::Is(match op {
            SetOp::Insert(value) => self.0.insert(value.clone()),
            SetOp::Remove(value) => self.0.remove(value),
            SetOp::Contains(value) => self.0.contains(value),
        })
    }
}

/// A dictionary: a map from keys to values.
///
/// ```
/// use whippet::{Answer, Dictionary, DictionaryOp, Sequential};
/// let mut dictionary = Dictionary::default();
/// assert_eq!(dictionary.apply(&DictionaryOp::Put("a", 1)), Answer::Done);
/// assert_eq!(dictionary.apply(&DictionaryOp::Get("a")), Answer::Value(1));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Dictionary<K, V>(BTreeMap<K, V>);

impl<K, V> Default for Dictionary<K, V> {
    fn default() -> Dictionary<K, V> {
        Dictionary(BTreeMap::new())
    }
}

/// The operations of a [`Dictionary`].
///
/// ```
/// use whippet::{Answer, Dictionary, DictionaryOp, Sequential};
/// let mut dictionary = Dictionary::<&str, u32>::default();
/// assert_eq!(dictionary.apply(&DictionaryOp::Remove("a")), Answer::Nothing);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum DictionaryOp<K, V> {
    /// Returns the value of a key.
    Get(K),
    /// Sets the value of a key.
    Put(K, V),
    /// Removes a key and returns its value.
    Remove(K),
}

impl<K: Message + Ord + Hash, V: Message + Eq + Hash> Sequential for Dictionary<K, V> {
    type Op = DictionaryOp<K, V>;
    type Ret = Answer<V>;

    fn apply(&mut self, op: &DictionaryOp<K, V>) -> Answer<V> {
        match op {
            DictionaryOp::Get(key) => Answer::of(self.0.get(key).cloned()),
            DictionaryOp::Put(key, value) => {
                self.0.insert(key.clone(), value.clone());
                Answer::Done
            }
            DictionaryOp::Remove(key) => Answer::of(self.0.remove(key)),
        }
    }
}

/// A counter.
///
/// ```
/// use whippet::{Answer, Counter, CounterOp, Sequential};
/// let mut counter = Counter::default();
/// assert_eq!(counter.apply(&CounterOp::Add(2)), Answer::Done);
/// assert_eq!(counter.apply(&CounterOp::FetchAdd(1)), Answer::Value(2));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Counter(i64);

/// The operations of a [`Counter`].
///
/// ```
/// use whippet::{Answer, Counter, CounterOp, Sequential};
/// assert_eq!(Counter::default().apply(&CounterOp::Get), Answer::Value(0));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CounterOp {
    /// Returns the sum.
    Get,
    /// Adds a number.
    Add(i64),
    /// Adds a number and returns the sum before.
    FetchAdd(i64),
}

impl Sequential for Counter {
    type Op = CounterOp;
    type Ret = Answer<i64>;

    fn apply(&mut self, op: &CounterOp) -> Answer<i64> {
        let before = self.0;
        match op {
            CounterOp::Get => Answer::Value(before),
            CounterOp::Add(n) => {
                self.0 += n;
                Answer::Done
            }
            CounterOp::FetchAdd(n) => {
                self.0 += n;
                Answer::Value(before)
            }
        }
    }
}

/// A log, to which entries are appended.
///
/// ```
/// use whippet::{Answer, Log, LogOp, Sequential};
/// let mut log = Log::default();
/// log.apply(&LogOp::Append("a"));
/// log.apply(&LogOp::Append("b"));
/// assert_eq!(log.apply(&LogOp::Read), Answer::Value(vec!["a", "b"]));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Log<T>(Vec<T>);

impl<T> Default for Log<T> {
    fn default() -> Log<T> {
        Log(Vec::new())
    }
}

/// The operations of a [`Log`].
///
/// ```
/// use whippet::{Answer, Log, LogOp, Sequential};
/// assert_eq!(Log::<u32>::default().apply(&LogOp::Read), Answer::Value(vec![]));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LogOp<T> {
    /// Adds an entry at the end.
    Append(T),
    /// Returns all entries.
    Read,
}

impl<T: Message + Eq + Hash> Sequential for Log<T> {
    type Op = LogOp<T>;
    type Ret = Answer<Vec<T>>;

    fn apply(&mut self, op: &LogOp<T>) -> Answer<Vec<T>> {
        match op {
            LogOp::Append(entry) => {
                self.0.push(entry.clone());
                Answer::Done
            }
            LogOp::Read => Answer::Value(self.0.clone()),
        }
    }
}
