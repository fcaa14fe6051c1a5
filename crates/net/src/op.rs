//! Operations that processes request from the machine, and the answers to them.

use crate::collective::CollectiveCall;
use crate::port::ReceiveFilter;
use std::any::Any;
use std::rc::Rc;
use whippet_model::Name;

/// A payload, captured when it was sent.
#[derive(Clone)]
pub(crate) struct Payload {
    pub(crate) any: Rc<dyn Any>,
    pub(crate) text: Rc<str>,
}

impl Payload {
    pub(crate) fn new<T: Any>(value: T, text: String) -> Payload {
        Payload { any: Rc::new(value), text: text.into() }
    }

    /// Returns the memory used by the value, without memory that it points to.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&*self.any) + self.text.len() + 4 * size_of::<usize>()
    }
}

/// The communicator and the tag of a message.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Envelope {
    pub(crate) communicator: Name,
    pub(crate) tag: u32,
}

/// The behaviour of an operation on several communications if none of them is complete.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum WaitMode {
    /// It waits.
    Wait,
    /// It waits, because tests of these communications have failed repeatedly.
    Poll,
    /// It fails.
    Test,
}

/// An operation requested by a process. Indices in `of` count the process's own operations from 0.
#[derive(Clone)]
pub(crate) enum Op {
    /// A local computation, with the user's description of it.
    Local(Option<String>),
    /// A choice among `of` alternatives. All are explored. The texts describe them.
    Choose {
        of: &'static [&'static str],
    },
    Send {
        mailbox: u32,
        value: Option<Payload>,
    },
    Receive {
        mailbox: u32,
    },
    /// Learns the first choice of a process.
    LearnChoice {
        process: u32,
    },
    /// Sends to a port, as rank `from`. A buffered send is complete from the beginning.
    PortSend {
        port: u32,
        from: u32,
        envelope: Envelope,
        value: Payload,
        buffered: bool,
        /// It is an error if the receive has not been started before.
        ready: bool,
    },
    /// Receives a message that satisfies `filter` at a port, or probes for one.
    PortReceive {
        port: u32,
        filter: ReceiveFilter,
        is_probe: bool,
    },
    /// Matches a message with the receive that created this auxiliary process.
    Match,
    /// Joins a collective operation.
    Arrive {
        call: Rc<CollectiveCall>,
        value: Option<Payload>,
    },
    /// WaitAny, or TestAny, on communications.
    Wait {
        of: Vec<u32>,
        mode: WaitMode,
    },
    Lock {
        mutex: u32,
    },
    Unlock {
        of: u32,
    },
    /// MutexWait, or MutexTest, on requests.
    MutexWait {
        of: Vec<u32>,
        test: bool,
    },
    /// Creates the process with this body.
    Create {
        body: u32,
    },
    /// The process has ended.
    Done,
    /// The process panicked.
    Failed {
        message: String,
        place: Option<String>,
    },
}

impl Op {
    /// Returns `true` if the operations are equal, as they must be when a process is rebuilt from its history.
    pub(crate) fn is_like(&self, other: &Op) -> bool {
        match (self, other) {
            (Op::Send { mailbox: a, value: x }, Op::Send { mailbox: b, value: y }) => {
                a == b && x.as_ref().map(|v| &v.text) == y.as_ref().map(|v| &v.text)
            }
            (Op::Receive { mailbox: a }, Op::Receive { mailbox: b }) => a == b,
            (
                Op::PortSend { port: a, envelope: s, value: x, .. },
                Op::PortSend { port: b, envelope: t, value: y, .. },
            ) => a == b && s == t && x.text == y.text,
            (Op::Choose { of: a }, Op::Choose { of: b }) => a.len() == b.len(),
            (Op::Arrive { call: a, value: x }, Op::Arrive { call: b, value: y }) => {
                a == b && x.as_ref().map(|v| &v.text) == y.as_ref().map(|v| &v.text)
            }
            (
                Op::PortReceive { port: a, filter: x, is_probe: p },
                Op::PortReceive { port: b, filter: y, is_probe: q },
            ) => a == b && x == y && p == q,
            (Op::Wait { of: a, mode: s }, Op::Wait { of: b, mode: t }) => a == b && s == t,
            (Op::MutexWait { of: a, test: s }, Op::MutexWait { of: b, test: t }) => a == b && s == t,
            (Op::Lock { mutex: a }, Op::Lock { mutex: b }) => a == b,
            (Op::Unlock { of: a }, Op::Unlock { of: b }) => a == b,
            (Op::Failed { message: a, .. }, Op::Failed { message: b, .. }) => a == b,
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }

    /// Returns the payload of a send.
    pub(crate) fn value(&self) -> Option<&Payload> {
        match self {
            Op::Send { value, .. } | Op::Arrive { value, .. } => value.as_ref(),
            Op::PortSend { value, .. } => Some(value),
            _ => unreachable!("payloads come from sends"),
        }
    }

    /// Returns `true` if the process can take no more steps.
    pub(crate) fn is_end(&self) -> bool {
        matches!(self, Op::Done | Op::Failed { .. })
    }
}

/// The answer to a process's operation.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The operation was executed and returns no data.
    Done,
    /// The `k`-th entry of a wait or test is ready. For a receive, the payload is that of the send at history node
    /// `from`.
    Ready { k: u32, from: u32 },
    /// The `k`-th entry of a wait or test is a complete collective operation. `key` is a hash of the history nodes whose
    /// payloads it brings.
    Gathered { k: u32, key: u64 },
    /// A test found nothing ready.
    NotYet,
}

/// Sentinel: no history node.
pub(crate) const NO_NODE: u32 = u32::MAX;

impl Answer {
    /// Returns a number that distinguishes the answers to one operation.
    pub(crate) fn key(self) -> u64 {
        match self {
            Answer::Done => 0,
            Answer::NotYet => 1,
            Answer::Ready { k, from } => 2 + (u64::from(k) << 32 | u64::from(from)),
            Answer::Gathered { key, .. } => key,
        }
    }
}
