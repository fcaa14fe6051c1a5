//! Processes as async functions, and how they talk to the machine.
//!
//! Every operation is a step of its own and is awaited. A process has a [`Link`]: the operation it asks for goes out, the
//! answer comes in. While a process runs, its link is the current one of the thread, so that what it acts through
//! ([`Mailbox`](crate::Mailbox), [`Mutex`](crate::Mutex)) is only a number that anybody may copy.

use crate::op::{Answer, Op, Value};
use std::cell::{Cell, RefCell};
use std::pin::Pin;
use std::rc::Rc;
use std::task::Poll;
use whippet_model::Name;

/// Makes the future of a process, as often as needed.
pub(crate) type Start = Rc<dyn Fn() -> Pin<Box<dyn Future<Output = ()>>>>;

/// An async function as one to start with, again and again.
pub(crate) fn start(body: impl AsyncFn() + 'static) -> Start {
    let body = Rc::new(body);
    Rc::new(move || {
        let body = body.clone();
        Box::pin(async move { body().await })
    })
}

/// What a process asks for.
pub(crate) enum Asked {
    Op(Op),
    /// To create a process: what it is called in reports, its name, its code.
    Create(String, Name, Start),
}

/// What comes back.
pub(crate) struct Reply {
    /// Which of the process's operations it was.
    pub(crate) index: u32,
    pub(crate) answer: Answer,
    pub(crate) value: Option<Value>,
}

/// The two ends between a process and the machine.
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

/// Takes the link off again, also when user code panics.
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

    /// The name of the process.
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

    /// Notes what the process must not do.
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

/// Asks for something and waits for the answer.
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

/// Carries out an operation that is waited for later. It is known by the process and its number there.
pub(crate) async fn begin(op: Op) -> (Name, u32) {
    let reply = operate(op).await;
    (current().process, reply.index)
}

/// A local computation worth a step of its own.
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
