//! Processes as async functions: the handles through which they act.
//!
//! Every operation is a step of its own and is awaited. A process talks to the machine through a [`Link`]:
//! the operation it asks for goes out, the answer comes in. While a process runs, its link is the current one of
//! the thread, so that a [`Mailbox`] or a [`Mutex`] is only a number that anybody may copy.

use crate::history::{Start, start};
use crate::op::{Answer, Op, Value};
use crate::port::Wants;
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::fmt::Debug;
use std::marker::PhantomData;
use std::rc::Rc;
use std::task::Poll;
use whippet_model::Name;

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
async fn ask(what: impl FnOnce(&Link) -> Asked) -> Reply {
    let mut what = Some(what);
    std::future::poll_fn(move |_| {
        let link = current();
        if let Some(what) = what.take() {
            let asked = what(&link);
            let before = link.asked.replace(Some(asked));
            if before.is_some() {
                link.misuse
                    .replace(Some("a process has two operations in flight at once: await each before the next".into()));
            }
            return Poll::Pending;
        }
        link.reply.take().map_or(Poll::Pending, Poll::Ready)
    })
    .await
}

async fn operate(op: Op) -> Reply {
    ask(|_| Asked::Op(op)).await
}

/// A rendez-vous point: the k-th send on it meets the k-th receive.
///
/// ```
/// use whippet_net::Net;
/// let net = Net::new("pair", |net| {
///     let door = net.mailbox::<u32>("door");
///     net.process("guest", async move || door.send(1).await);
///     net.process("host", async move || assert_eq!(door.receive().await, 1));
/// });
/// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
/// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
/// ```
pub struct Mailbox<T> {
    pub(crate) no: u32,
    pub(crate) of: PhantomData<fn(T) -> T>,
}

impl<T> Clone for Mailbox<T> {
    fn clone(&self) -> Mailbox<T> {
        *self
    }
}

impl<T> Copy for Mailbox<T> {}

impl<T> Debug for Mailbox<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Mailbox({})", self.no)
    }
}

impl<T: Clone + Debug + 'static> Mailbox<T> {
    /// AsyncSend: the value is captured now and handed over when the receiver's wait or test succeeds.
    ///
    /// ```
    /// use whippet_net::Net;
    /// let net = Net::new("pair", |net| {
    ///     let door = net.mailbox::<u32>("door");
    ///     net.process("guest", async move || { door.send_async(1).await; });
    ///     net.process("host", async move || assert_eq!(door.receive().await, 1));
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    pub async fn send_async(self, value: T) -> Sending {
        let text = format!("{value:?}");
        let value = Some(Value::new(value, text));
        let reply = operate(Op::Send { mailbox: self.no, value }).await;
        Sending { of: current().process, index: reply.index }
    }

    /// AsyncReceive: a communication to wait for.
    ///
    /// ```
    /// use whippet_net::Net;
    /// let net = Net::new("pair", |net| {
    ///     let door = net.mailbox::<u32>("door");
    ///     net.process("guest", async move || door.send(1).await);
    ///     net.process("host", async move || {
    ///         let letter = door.receive_async().await;
    ///         assert_eq!(letter.wait().await, 1);
    ///     });
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    pub async fn receive_async(self) -> Receiving<T> {
        let reply = operate(Op::Receive { mailbox: self.no }).await;
        Receiving { of: current().process, index: reply.index, value: Rc::default() }
    }

    /// Sends and waits until somebody has received: a rendez-vous.
    ///
    /// ```
    /// use whippet_net::Net;
    /// let net = Net::new("pair", |net| {
    ///     let door = net.mailbox::<u32>("door");
    ///     net.process("guest", async move || door.send(1).await);
    ///     net.process("host", async move || assert_eq!(door.receive().await, 1));
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    pub async fn send(self, value: T) {
        self.send_async(value).await.wait().await;
    }

    /// Receives and waits for the value.
    ///
    /// ```
    /// use whippet_net::Net;
    /// let net = Net::new("pair", |net| {
    ///     let door = net.mailbox::<u32>("door");
    ///     net.process("guest", async move || door.send(1).await);
    ///     net.process("host", async move || assert_eq!(door.receive().await, 1));
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    pub async fn receive(self) -> T {
        self.receive_async().await.wait().await
    }
}

/// The end of a port that a rank holds: it sends to others as itself, and receives at its own.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Rank {
    pub(crate) no: u32,
    /// The process that is this rank.
    pub(crate) process: Name,
}

impl Rank {
    /// Sends to another rank's port. The text is what reports show of the value.
    pub(crate) async fn post<T: 'static>(self, port: u32, tag: u32, value: T, text: String) -> Sending {
        let value = Value::new(value, text);
        let reply = self.own(Op::Post { port, from: self.no, tag, value }).await;
        Sending { of: self.process, index: reply.index }
    }

    /// Receives at its own port.
    pub(crate) async fn ask<T>(self, wants: Wants) -> Receiving<T> {
        let reply = self.own(Op::Ask { port: self.no, wants }).await;
        Receiving { of: self.process, index: reply.index, value: Rc::default() }
    }

    /// Messages of a rank are in order because one process sends and receives them.
    async fn own(self, op: Op) -> Reply {
        ask(|link| {
            if link.process != self.process {
                link.misuse.replace(Some(format!(
                    "a process that rank {} created sends or receives in its place: let the rank itself do so",
                    self.no
                )));
            }
            Asked::Op(op)
        })
        .await
    }
}

/// A communication of this process, to wait for alone or among others.
///
/// ```
/// use whippet_net::{Communication, Net, wait_any};
/// let net = Net::new("either", |net| {
///     let (a, b) = (net.mailbox::<u32>("a"), net.mailbox::<u32>("b"));
///     net.process("one", async move || { a.send_async(1).await; });
///     net.process("two", async move || { b.send_async(2).await; });
///     net.process("reader", async move || {
///         let (x, y) = (a.receive_async().await, b.receive_async().await);
///         let all: [&dyn Communication; 2] = [&x, &y];
///         match wait_any(&all).await {
///             0 => assert_eq!(x.value(), 1),
///             _ => assert_eq!(y.value(), 2),
///         }
///     });
/// });
/// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
/// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
/// ```
pub trait Communication {
    #[doc(hidden)]
    fn id(&self) -> (Name, u32);
    #[doc(hidden)]
    fn bring(&self, value: Option<Rc<dyn Any>>);
}

/// A send that may not have met its receive yet.
///
/// ```
/// use whippet_net::{Net, Sending};
/// let net = Net::new("pair", |net| {
///     let door = net.mailbox::<u32>("door");
///     net.process("guest", async move || {
///         let sending: Sending = door.send_async(1).await;
///         sending.wait().await;
///     });
///     net.process("host", async move || assert_eq!(door.receive().await, 1));
/// });
/// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
/// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
/// ```
#[derive(Clone, Debug)]
pub struct Sending {
    of: Name,
    index: u32,
}

impl Communication for Sending {
    fn id(&self) -> (Name, u32) {
        (self.of, self.index)
    }

    fn bring(&self, _: Option<Rc<dyn Any>>) {}
}

impl Sending {
    /// Waits until it has been received.
    ///
    /// ```
    /// use whippet_net::Net;
    /// let net = Net::new("pair", |net| {
    ///     let door = net.mailbox::<u32>("door");
    ///     net.process("guest", async move || {
    ///         let sending = door.send_async(1).await;
    ///         sending.wait().await;
    ///     });
    ///     net.process("host", async move || assert_eq!(door.receive().await, 1));
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    pub async fn wait(&self) {
        wait_any(&[self]).await;
    }

    /// Whether it has been received by now.
    ///
    /// ```
    /// use whippet_net::Net;
    /// // Nobody receives.
    /// let net = Net::new("alone", |net| {
    ///     let door = net.mailbox::<u32>("door");
    ///     net.process("guest", async move || {
    ///         let sending = door.send_async(1).await;
    ///         assert!(!sending.test().await);
    ///     });
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    pub async fn test(&self) -> bool {
        test_any(&[self]).await.is_some()
    }
}

/// A receive that may not have met its send yet.
///
/// ```
/// use whippet_net::{Net, Receiving};
/// let net = Net::new("pair", |net| {
///     let door = net.mailbox::<u32>("door");
///     net.process("guest", async move || door.send(1).await);
///     net.process("host", async move || {
///         let letter: Receiving<u32> = door.receive_async().await;
///         assert_eq!(letter.wait().await, 1);
///     });
/// });
/// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
/// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
/// ```
#[derive(Clone, Debug)]
pub struct Receiving<T> {
    of: Name,
    index: u32,
    value: Rc<RefCell<Option<T>>>,
}

impl<T: Clone + 'static> Communication for Receiving<T> {
    fn id(&self) -> (Name, u32) {
        (self.of, self.index)
    }

    fn bring(&self, value: Option<Rc<dyn Any>>) {
        let value = value.expect("a receive brings a value");
        let value = value.downcast_ref::<T>().expect("mailboxes are typed: our own error if not");
        self.value.replace(Some(value.clone()));
    }
}

impl<T: Clone + 'static> Receiving<T> {
    /// Waits for the value.
    ///
    /// ```
    /// use whippet_net::Net;
    /// let net = Net::new("pair", |net| {
    ///     let door = net.mailbox::<u32>("door");
    ///     net.process("guest", async move || door.send(1).await);
    ///     net.process("host", async move || {
    ///         let letter = door.receive_async().await;
    ///         assert_eq!(letter.wait().await, 1);
    ///     });
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    pub async fn wait(&self) -> T {
        wait_any(&[self]).await;
        self.value()
    }

    /// The value, if it is there by now.
    ///
    /// ```
    /// use whippet_net::Net;
    /// let net = Net::new("pair", |net| {
    ///     let door = net.mailbox::<u32>("door");
    ///     net.process("guest", async move || { door.send_async(1).await; });
    ///     net.process("host", async move || {
    ///         let letter = door.receive_async().await;
    ///         // Early or late: both are explored.
    ///         assert!(matches!(letter.test().await, None | Some(1)));
    ///     });
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    pub async fn test(&self) -> Option<T> {
        test_any(&[self]).await.map(|_| self.value())
    }

    /// The value, after a wait or test that said that this one is complete.
    ///
    /// # Panics
    /// If no wait or test said so.
    ///
    /// ```
    /// use whippet_net::{Net, wait_any};
    /// let net = Net::new("either", |net| {
    ///     let (a, b) = (net.mailbox::<u32>("a"), net.mailbox::<u32>("b"));
    ///     net.process("one", async move || { a.send_async(1).await; });
    ///     net.process("two", async move || { b.send_async(2).await; });
    ///     net.process("reader", async move || {
    ///         let (x, y) = (a.receive_async().await, b.receive_async().await);
    ///         match wait_any(&[&x, &y]).await {
    ///             0 => assert_eq!(x.value(), 1),
    ///             _ => assert_eq!(y.value(), 2),
    ///         }
    ///     });
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    #[must_use]
    pub fn value(&self) -> T {
        self.value.borrow().clone().expect("wait for a communication, or test it, before you take its value")
    }
}

async fn complete(all: &[&dyn Communication], test: bool) -> Option<usize> {
    let reply = ask(|link| {
        if all.iter().any(|c| c.id().0 != link.process) {
            link.misuse.replace(Some(
                "a process waits for a communication of another process: only the one that sent or received may wait for it".into(),
            ));
        }
        if all.is_empty() {
            link.misuse.replace(Some("a process waits for no communication at all: that would never end".into()));
        }
        Asked::Op(Op::Wait { of: all.iter().map(|c| c.id().1).collect(), test })
    })
    .await;
    match reply.answer {
        Answer::Ready { k, .. } => {
            all[k as usize].bring(reply.value.map(|value| value.any));
            Some(k as usize)
        }
        _ => None,
    }
}

/// WaitAny: waits until one of the communications is complete, and says which; where several are, each is
/// explored.
///
/// ```
/// use whippet_net::{Net, wait_any};
/// let net = Net::new("either", |net| {
///     let (a, b) = (net.mailbox::<u32>("a"), net.mailbox::<u32>("b"));
///     net.process("one", async move || { a.send_async(1).await; });
///     net.process("two", async move || { b.send_async(2).await; });
///     net.process("reader", async move || {
///         let (x, y) = (a.receive_async().await, b.receive_async().await);
///         let first = wait_any(&[&x, &y]).await;
///         assert!(first < 2);
///     });
/// });
/// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
/// assert!(verdict.counters.executions > 1, "either may be first");
/// ```
pub async fn wait_any(all: &[&dyn Communication]) -> usize {
    complete(all, false).await.expect("a wait ends with something")
}

/// TestAny: which communication is complete, if any is.
///
/// ```
/// use whippet_net::{Net, test_any};
/// let net = Net::new("either", |net| {
///     let (a, b) = (net.mailbox::<u32>("a"), net.mailbox::<u32>("b"));
///     net.process("one", async move || { a.send_async(1).await; });
///     net.process("two", async move || { b.send_async(2).await; });
///     net.process("reader", async move || {
///         let (x, y) = (a.receive_async().await, b.receive_async().await);
///         let done = test_any(&[&x, &y]).await;
///         assert!(matches!(done, None | Some(0 | 1)));
///     });
/// });
/// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
/// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
/// ```
pub async fn test_any(all: &[&dyn Communication]) -> Option<usize> {
    complete(all, true).await
}

/// Waits for all, one after the other.
///
/// ```
/// use whippet_net::{Net, wait_all};
/// let net = Net::new("either", |net| {
///     let (a, b) = (net.mailbox::<u32>("a"), net.mailbox::<u32>("b"));
///     net.process("one", async move || { a.send_async(1).await; });
///     net.process("two", async move || { b.send_async(2).await; });
///     net.process("reader", async move || {
///         let (x, y) = (a.receive_async().await, b.receive_async().await);
///         wait_all(&[&x, &y]).await;
///         assert_eq!(x.value() + y.value(), 3);
///     });
/// });
/// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
/// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
/// ```
pub async fn wait_all(all: &[&dyn Communication]) {
    for one in all {
        wait_any(&[*one]).await;
    }
}

/// A mutex with a queue: whoever asked first owns it.
///
/// ```
/// use whippet_net::Net;
/// let net = Net::new("turns", |net| {
///     let pen = net.mutex("pen");
///     for who in ["plato", "socrates"] {
///         net.process(who, async move || {
///             let mine = pen.lock().await;
///             mine.unlock().await;
///         });
///     }
/// });
/// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
/// assert_eq!(verdict.counters.executions, 2, "either has it first");
/// ```
#[derive(Copy, Clone, Debug)]
pub struct Mutex {
    pub(crate) no: u32,
}

impl Mutex {
    /// AsyncMutexLock: joins the queue and goes on.
    ///
    /// ```
    /// use whippet_net::Net;
    /// let net = Net::new("turns", |net| {
    ///     let pen = net.mutex("pen");
    ///     for who in ["plato", "socrates"] {
    ///         net.process(who, async move || {
    ///             let asked = pen.lock_async().await;
    ///             asked.wait().await;
    ///             asked.unlock().await;
    ///         });
    ///     }
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    pub async fn lock_async(self) -> Request {
        let reply = operate(Op::Lock { mutex: self.no }).await;
        Request { of: current().process, index: reply.index, released: Rc::default() }
    }

    /// Joins the queue and waits to own the mutex.
    ///
    /// ```
    /// use whippet_net::Net;
    /// let net = Net::new("turns", |net| {
    ///     let pen = net.mutex("pen");
    ///     for who in ["plato", "socrates"] {
    ///         net.process(who, async move || {
    ///             let mine = pen.lock().await;
    ///             mine.unlock().await;
    ///         });
    ///     }
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    pub async fn lock(self) -> Request {
        let request = self.lock_async().await;
        request.wait().await;
        request
    }
}

/// A place in the queue of a mutex.
///
/// ```
/// use whippet_net::{Net, Request};
/// let net = Net::new("turns", |net| {
///     let pen = net.mutex("pen");
///     for who in ["plato", "socrates"] {
///         net.process(who, async move || {
///             let place: Request = pen.lock_async().await;
///             place.wait().await;
///             place.unlock().await;
///         });
///     }
/// });
/// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
/// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
/// ```
#[derive(Clone, Debug)]
pub struct Request {
    of: Name,
    index: u32,
    released: Rc<Cell<bool>>,
}

impl Request {
    /// MutexWait: waits to own the mutex.
    ///
    /// ```
    /// use whippet_net::Net;
    /// let net = Net::new("turns", |net| {
    ///     let pen = net.mutex("pen");
    ///     for who in ["plato", "socrates"] {
    ///         net.process(who, async move || {
    ///             let asked = pen.lock_async().await;
    ///             asked.wait().await;
    ///             asked.unlock().await;
    ///         });
    ///     }
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    pub async fn wait(&self) {
        mutex_wait_any(&[self]).await;
    }

    /// MutexTest: whether this process owns the mutex by now.
    ///
    /// ```
    /// use whippet_net::Net;
    /// let net = Net::new("turns", |net| {
    ///     let pen = net.mutex("pen");
    ///     for who in ["plato", "socrates"] {
    ///         net.process(who, async move || {
    ///             let asked = pen.lock_async().await;
    ///             if !asked.test().await {
    ///                 asked.wait().await;
    ///             }
    ///             asked.unlock().await;
    ///         });
    ///     }
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    pub async fn test(&self) -> bool {
        mutex_test_any(&[self]).await.is_some()
    }

    /// MutexUnlock: gives the place up, whether it is the owner's or further back.
    ///
    /// ```
    /// use whippet_net::Net;
    /// let net = Net::new("turns", |net| {
    ///     let pen = net.mutex("pen");
    ///     for who in ["plato", "socrates"] {
    ///         net.process(who, async move || {
    ///             let asked = pen.lock_async().await;
    ///             asked.unlock().await; // does not want it any more
    ///         });
    ///     }
    /// });
    /// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
    /// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    /// ```
    pub async fn unlock(&self) {
        ask(|link| {
            self.usable(link, "unlocks");
            self.released.set(true);
            Asked::Op(Op::Unlock { of: self.index })
        })
        .await;
    }

    fn usable(&self, link: &Link, what: &str) {
        if self.of != link.process {
            link.misuse.replace(Some(format!("a process {what} a mutex that it never asked for: another process did")));
        } else if self.released.get() {
            link.misuse
                .replace(Some(format!("a process {what} a mutex that it has unlocked already: ask for it again")));
        }
    }
}

async fn own(all: &[&Request], test: bool) -> Option<usize> {
    let reply = ask(|link| {
        for request in all {
            request.usable(link, "waits for");
        }
        if all.is_empty() {
            link.misuse.replace(Some("a process waits for no mutex at all: that would never end".into()));
        }
        Asked::Op(Op::MutexWait { of: all.iter().map(|r| r.index).collect(), test })
    })
    .await;
    match reply.answer {
        Answer::Ready { k, .. } => Some(k as usize),
        _ => None,
    }
}

/// MutexWait on several: waits to own one of the mutexes, and says which.
///
/// ```
/// use whippet_net::{Net, mutex_wait_any};
/// let net = Net::new("either", |net| {
///     let (left, right) = (net.mutex("left"), net.mutex("right"));
///     net.process("plato", async move || {
///         let (l, r) = (left.lock_async().await, right.lock_async().await);
///         assert!(mutex_wait_any(&[&l, &r]).await < 2);
///         l.unlock().await;
///         r.unlock().await;
///     });
/// });
/// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
/// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
/// ```
pub async fn mutex_wait_any(all: &[&Request]) -> usize {
    own(all, false).await.expect("a wait ends with something")
}

/// MutexTest on several: which mutex this process owns by now, if any.
///
/// ```
/// use whippet_net::{Net, mutex_test_any};
/// let net = Net::new("either", |net| {
///     let (left, right) = (net.mutex("left"), net.mutex("right"));
///     net.process("plato", async move || {
///         let (l, r) = (left.lock_async().await, right.lock_async().await);
///         assert!(mutex_test_any(&[&l, &r]).await.is_some(), "nobody else wants them");
///         l.unlock().await;
///         r.unlock().await;
///     });
/// });
/// # let verdict = whippet_search::explore(net.into(), &Default::default(), &()).unwrap();
/// # assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
/// ```
pub async fn mutex_test_any(all: &[&Request]) -> Option<usize> {
    own(all, true).await
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
