//! Addresses: small copyable handles that can be sent in messages.

use crate::Actor;
use std::any::type_name;
use std::cell::RefCell;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use whippet_model::Name;

/// The location of an actor: its stable name, and its number in the execution that created the handle.
///
/// The number is a hint that saves a look-up by name; it is checked before use. Equality and hashing use only the name,
/// so that states compare equal in equivalent executions.
#[derive(Copy, Clone)]
pub(crate) struct RawAddr {
    pub(crate) name: Name,
    pub(crate) slot: u32,
}

/// The address of an actor of type `A`.
///
/// ```
/// use whippet_actors::{Actor, Addr, Cx, System};
/// #[derive(Clone, Debug)]
/// struct Echo;
/// impl Actor for Echo {
///     type Msg = String;
///     async fn handle(&mut self, _text: String, _cx: &mut Cx<Self>) {}
/// }
/// let mut system = System::scratch();
/// let echo: Addr<Echo> = system.spawn(Echo);
/// let copy = echo;
/// assert_eq!(echo, copy);
/// system.send(copy, "hello".to_string());
/// ```
pub struct Addr<A> {
    pub(crate) raw: RawAddr,
    of: PhantomData<fn(A)>,
}

/// The address of any actor that receives messages of type `M`.
///
/// ```
/// use whippet_actors::{Inbox, Recipient, System};
/// let mut system = System::scratch();
/// let counter: Recipient<u32> = system.spawn_fn(async |inbox: &mut Inbox<u32>| {
///     let mut sum = 0;
///     loop {
///         sum += inbox.receive().await;
///     }
/// });
/// system.send(counter, 5);
/// ```
pub struct Recipient<M> {
    pub(crate) raw: RawAddr,
    of: PhantomData<fn(M)>,
}

/// The destination of the reply to a call. It is sent inside the request.
///
/// ```
/// use whippet_actors::{Actor, Cx, Reply};
/// #[derive(Clone, Debug)]
/// enum Msg { Get(Reply<i32>) }
/// #[derive(Clone, Debug)]
/// struct Server;
/// impl Actor for Server {
///     type Msg = Msg;
///     async fn handle(&mut self, Msg::Get(reply): Msg, cx: &mut Cx<Self>) {
///         cx.reply(reply, 42);
///     }
/// }
/// ```
pub struct Reply<T> {
    /// The name of the call, which is the name of the request that carries this handle.
    pub(crate) call: Name,
    /// The caller.
    pub(crate) to: RawAddr,
    of: PhantomData<fn(T)>,
}

impl<A> Addr<A> {
    pub(crate) fn new(raw: RawAddr) -> Addr<A> {
        Addr { raw, of: PhantomData }
    }
}

impl<M> Recipient<M> {
    pub(crate) fn new(raw: RawAddr) -> Recipient<M> {
        Recipient { raw, of: PhantomData }
    }
}

impl<T> Reply<T> {
    pub(crate) fn new(call: Name, to: RawAddr) -> Reply<T> {
        Reply { call, to, of: PhantomData }
    }
}

impl<A: Actor> From<Addr<A>> for Recipient<A::Msg> {
    fn from(addr: Addr<A>) -> Recipient<A::Msg> {
        Recipient::new(addr.raw)
    }
}

macro_rules! handle {
    ($type:ident, $parameter:ident, $key:expr) => {
        impl<$parameter> Copy for $type<$parameter> {}
        impl<$parameter> Clone for $type<$parameter> {
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<$parameter> PartialEq for $type<$parameter> {
            fn eq(&self, other: &Self) -> bool {
                let key: fn(&Self) -> Name = $key;
                key(self) == key(other)
            }
        }
        impl<$parameter> Eq for $type<$parameter> {}
        impl<$parameter> PartialOrd for $type<$parameter> {
            fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
                Some(self.cmp(other))
            }
        }
        impl<$parameter> Ord for $type<$parameter> {
            fn cmp(&self, other: &Self) -> std::cmp::Ordering {
                let key: fn(&Self) -> Name = $key;
                key(self).cmp(&key(other))
            }
        }
        impl<$parameter> Hash for $type<$parameter> {
            fn hash<H: Hasher>(&self, hasher: &mut H) {
                let key: fn(&Self) -> Name = $key;
                key(self).hash(hasher);
            }
        }
    };
}

handle!(Addr, A, |addr| addr.raw.name);
handle!(Recipient, M, |recipient| recipient.raw.name);
handle!(Reply, T, |reply| reply.call);

thread_local! {
    /// The labels of the actors by number, set while a machine describes steps or problems. Without labels, addresses
    /// print their number.
    static LABELS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Runs `f`, during which addresses print as these labels.
pub(crate) fn with_labels<T>(labels: Vec<String>, f: impl FnOnce() -> T) -> T {
    let before = LABELS.replace(labels);
    let result = f();
    LABELS.set(before);
    result
}

fn show(f: &mut fmt::Formatter<'_>, raw: RawAddr, kind: &str) -> fmt::Result {
    LABELS.with_borrow(|labels| match labels.get(raw.slot as usize) {
        Some(label) => f.write_str(label),
        None => write!(f, "{kind}@{}", raw.slot),
    })
}

impl<A> fmt::Debug for Addr<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(f, self.raw, &crate::describe::type_label(type_name::<A>()))
    }
}

impl<M> fmt::Debug for Recipient<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(f, self.raw, "actor")
    }
}

impl<T> fmt::Debug for Reply<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("reply to ")?;
        show(f, self.to, "actor")
    }
}
