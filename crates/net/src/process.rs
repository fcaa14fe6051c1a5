//! Processes as async functions, and their communication with the machine.
//!
//! Every operation is a separate step and is awaited. Each process has a [`Link`] to the machine, which carries the
//! requested operation out and the answer back. While a process runs, its link is the current one of the thread. The
//! handles that it uses ([`Mailbox`](crate::Mailbox), [`Mutex`](crate::Mutex)) are therefore plain numbers that can be
//! copied freely.

use crate::op::{Answer, Op, Value};
use std::cell::{Cell, RefCell};
use std::pin::Pin;
use std::rc::Rc;
use std::task::Poll;
use whippet_model::Name;

/// A function that creates the future of a process; it may be called repeatedly.
pub(crate) type Start = Rc<dyn Fn() -> Pin<Box<dyn Future<Output = ()>>>>;

/// Converts an async function to a [`Start`].
pub(crate) fn start(body: impl AsyncFn() + 'static) -> Start {
    let body = Rc::new(body);
    Rc::new(move || {
        let body = body.clone();
        Box::pin(async move { body().await })
    })
}

/// A request of a process.
pub(crate) enum Asked {
    Op(Op),
    /// The creation of a process: its label in reports, its name, and its code.
    Create(String, Name, Start),
}

/// The reply to a request.
pub(crate) struct Reply {
    /// The index of the operation among those of the process.
    pub(crate) index: u32,
    pub(crate) answer: Answer,
    pub(crate) value: Option<Value>,
}

/// The connection between a process and the machine.
pub(crate) struct Link {
    process: Name,
    created: Cell<u32>,
    asked: RefCell<Option<Asked>>,
    reply: RefCell<Option<Reply>>,
    misuse: RefCell<Option<String>>,
}

thread_local! {
    static CURRENT: RefCell<Vec<Rc<Link>>> = const { RefCell::new(Vec::new()) };
}

/// Restores the previous link when dropped, even if user code panics.
struct Leave;

impl Drop for Leave {
    fn drop(&mut self) {
        CURRENT.with(|current| current.borrow_mut().pop());
    }
}

impl Link {
    pub(crate) fn new(process: Name) -> Link {
        Link {
            process,
            created: Cell::new(0),
            asked: RefCell::default(),
            reply: RefCell::default(),
            misuse: RefCell::default(),
        }
    }

    /// Returns the name of the process.
    pub(crate) fn process(&self) -> Name {
        self.process
    }

    /// Runs user code as this process.
    pub(crate) fn during<T>(self: &Rc<Self>, work: impl FnOnce() -> T) -> T {
        CURRENT.with(|current| current.borrow_mut().push(self.clone()));
        let _leave = Leave;
        work()
    }

    pub(crate) fn asked(&self) -> Option<Asked> {
        self.asked.take()
    }

    pub(crate) fn answer(&self, reply: Reply) {
        self.reply.replace(Some(reply));
    }

    /// Records a misuse of the API by the process.
    pub(crate) fn blame(&self, why: impl Into<String>) {
        self.misuse.replace(Some(why.into()));
    }

    pub(crate) fn misuse(&self) -> Option<String> {
        self.misuse.take()
    }
}

fn current() -> Rc<Link> {
    CURRENT.with(|current| current.borrow().last().cloned()).expect(
        "mailboxes, mutexes and communications are for processes: use them inside an async function given to `process`",
    )
}

/// Sends a request to the machine and waits for the reply.
pub(crate) async fn ask(what: impl FnOnce(&Link) -> Asked) -> Reply {
    let mut what = Some(what);
    std::future::poll_fn(move |_| {
        let link = current();
        if let Some(what) = what.take() {
            let asked = what(&link);
            let before = link.asked.replace(Some(asked));
            if before.is_some() {
                link.blame("a process has two operations in flight at once: await each before the next");
            }
            return Poll::Pending;
        }
        link.reply.take().map_or(Poll::Pending, Poll::Ready)
    })
    .await
}

pub(crate) async fn operate(op: Op) -> Reply {
    ask(|_| Asked::Op(op)).await
}

/// Executes an operation that can be waited for later. Returns the process and the index of the operation, which
/// identify it.
pub(crate) async fn begin(op: Op) -> (Name, u32) {
    let reply = operate(op).await;
    (current().process, reply.index)
}

/// Executes a local computation as a separate step.
///
/// ```
/// use whippet_net::{Net, step};
/// let net = Net::new("thinks", |net| {
///     net.process("plato", async || step("thinks").await);
/// });
/// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
/// assert_eq!(verdict.counters.transitions, 1);
/// ```
pub async fn step(what: impl Into<String>) {
    operate(Op::Local(Some(what.into()))).await;
}

/// Creates a process.
///
/// ```
/// use whippet_net::{Net, create};
/// let net = Net::new("parent", |net| {
///     let door = net.mailbox::<u32>("door");
///     net.process("parent", async move || {
///         create("child", async move || door.send(1).await).await;
///         assert_eq!(door.receive().await, 1);
///     });
/// });
/// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
/// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
/// ```
pub async fn create(label: impl Into<String>, body: impl AsyncFn() + 'static) {
    let (label, start) = (label.into(), start(body));
    ask(move |link| {
        let k = link.created.get();
        link.created.set(k + 1);
        Asked::Create(label, link.process.child(k), start)
    })
    .await;
}
