//! Processes as async functions, and their communication with the machine.
//!
//! Every operation is a separate step and is awaited. Each process has a [`ProcessLink`] to the machine, which carries
//! the requested operation out and the answer back. While a process runs, its link is the current one of the thread.
//! The handles that it uses ([`Mailbox`](crate::Mailbox), [`Mutex`](crate::Mutex)) are therefore plain numbers that can
//! be copied freely.

use crate::op::{Answer, Op, Payload};
use std::cell::{Cell, RefCell};
use std::panic::Location;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::Poll;
use whippet_model::Name;

/// A function that creates the future of a process; it may be called repeatedly.
pub(crate) type BodyFactory = Rc<dyn Fn() -> Pin<Box<dyn Future<Output = ()>>>>;

/// Converts an async function to a [`BodyFactory`].
pub(crate) fn body_factory(body: impl AsyncFn() + 'static) -> BodyFactory {
    let body = Rc::new(body);
    Rc::new(move || {
        let body = body.clone();
        Box::pin(async move { body().await })
    })
}

/// An operation or a process creation that a process requests.
pub(crate) enum ProcessCall {
    Op(Op),
    /// The creation of a process: its label in reports, its name, and its code.
    Create(String, Name, BodyFactory),
}

/// The reply to a [`ProcessCall`].
pub(crate) struct CallReply {
    /// The index of the operation among those of the process.
    pub(crate) index: u32,
    pub(crate) answer: Answer,
    pub(crate) value: Option<Payload>,
    /// The values that a complete collective operation brings.
    pub(crate) values: Vec<Option<Payload>>,
}

/// The connection between a process and the machine.
pub(crate) struct ProcessLink {
    process: Name,
    created: Cell<u32>,
    call: RefCell<Option<ProcessCall>>,
    reply: RefCell<Option<CallReply>>,
    misuse: RefCell<Option<String>>,
    /// The source position of the last call.
    place: Cell<Place>,
}

/// A position in the user's source, if it is known.
pub(crate) type Place = Option<&'static Location<'static>>;

thread_local! {
    static CURRENT: RefCell<Vec<Rc<ProcessLink>>> = const { RefCell::new(Vec::new()) };
    /// The position of the user's call that is being polled (see [`located`]).
    static PLACE: Cell<Place> = const { Cell::new(None) };
}

/// Restores the previous link and place when dropped, even if user code panics.
struct RestoreLink(Place);

impl Drop for RestoreLink {
    fn drop(&mut self) {
        CURRENT.with(|current| current.borrow_mut().pop());
        PLACE.set(self.0);
    }
}

/// Restores the previous place when dropped.
struct RestorePlace(Place);

impl Drop for RestorePlace {
    fn drop(&mut self) {
        PLACE.set(self.0);
    }
}

/// Makes the caller's source position that of the operations of a future. Where one such future awaits another, the
/// position of the outer one counts, since the inner one is called by this crate.
#[track_caller]
pub(crate) fn located<T>(future: impl Future<Output = T>) -> impl Future<Output = T> {
    let place = Location::caller();
    async move {
        let mut future = pin!(future);
        std::future::poll_fn(move |cx| {
            let before = PLACE.get();
            let _restore = RestorePlace(before);
            PLACE.set(before.or(Some(place)));
            future.as_mut().poll(cx)
        })
        .await
    }
}

impl ProcessLink {
    pub(crate) fn new(process: Name) -> ProcessLink {
        ProcessLink {
            process,
            created: Cell::new(0),
            call: RefCell::default(),
            reply: RefCell::default(),
            misuse: RefCell::default(),
            place: Cell::new(None),
        }
    }

    /// Returns the name of the process.
    pub(crate) fn process(&self) -> Name {
        self.process
    }

    /// Runs user code as this process.
    pub(crate) fn during<T>(self: &Rc<Self>, work: impl FnOnce() -> T) -> T {
        CURRENT.with(|current| current.borrow_mut().push(self.clone()));
        let _restore = RestoreLink(PLACE.replace(None));
        work()
    }

    /// Returns the source position of the last call.
    pub(crate) fn place(&self) -> Place {
        self.place.get()
    }

    pub(crate) fn take_call(&self) -> Option<ProcessCall> {
        self.call.take()
    }

    pub(crate) fn set_reply(&self, reply: CallReply) {
        self.reply.replace(Some(reply));
    }

    /// Records a misuse of the API by the process.
    pub(crate) fn report_misuse(&self, why: impl Into<String>) {
        self.misuse.replace(Some(why.into()));
    }

    pub(crate) fn take_misuse(&self) -> Option<String> {
        self.misuse.take()
    }
}

fn current() -> Rc<ProcessLink> {
    CURRENT.with(|current| current.borrow().last().cloned()).expect(
        "mailboxes, mutexes and communications are for processes: use them inside an async function given to `process`",
    )
}

/// Sends a call to the machine and waits for the reply.
pub(crate) async fn call(what: impl FnOnce(&ProcessLink) -> ProcessCall) -> CallReply {
    let mut what = Some(what);
    std::future::poll_fn(move |_| {
        let link = current();
        if let Some(what) = what.take() {
            let request = what(&link);
            link.place.set(PLACE.get());
            let before = link.call.replace(Some(request));
            if before.is_some() {
                link.report_misuse("a process started an operation while another one was pending: await each operation before starting the next");
            }
            return Poll::Pending;
        }
        link.reply.take().map_or(Poll::Pending, Poll::Ready)
    })
    .await
}

pub(crate) async fn perform(op: Op) -> CallReply {
    call(|_| ProcessCall::Op(op)).await
}

/// Executes an operation that can be waited for later. Returns the process and the index of the operation, which
/// identify it.
pub(crate) async fn start_operation(op: Op) -> (Name, u32) {
    let reply = perform(op).await;
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
#[track_caller]
pub fn step(what: impl Into<String>) -> impl Future<Output = ()> {
    located(async move {
        perform(Op::Local(Some(what.into()))).await;
    })
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
#[track_caller]
pub fn create(label: impl Into<String>, body: impl AsyncFn() + 'static) -> impl Future<Output = ()> {
    located(async move {
        let (label, factory) = (label.into(), body_factory(body));
        call(move |link| {
            let k = link.created.get();
            link.created.set(k + 1);
            ProcessCall::Create(label, link.process.child(k), factory)
        })
        .await;
    })
}
