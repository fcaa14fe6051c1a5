//! `Semaphore`, and the engine of `Mutex` and `RwLock`.

use super::permits::{Asked, Permits};
use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::task::{Context, Poll};
use whippet_tasks::{Action, Leaf, Local, Object, On, Part, Place, Ready, Source};

struct State {
    /// The execution that the rest belongs to: what statics hold begins anew with each.
    execution: u64,
    object: Option<Object>,
    permits: Permits,
    closed: Option<u32>,
}

pub(crate) struct Core {
    kind: &'static str,
    initial: usize,
    state: Local<State>,
}

impl Core {
    pub(crate) const fn new(kind: &'static str, initial: usize) -> Core {
        let state = State { execution: u64::MAX, object: None, permits: Permits::new(), closed: None };
        Core { kind, initial, state: Local::new(state) }
    }

    /// Works on the state, made new if it is of an earlier execution.
    fn with<R>(&self, work: impl FnOnce(&mut State, Object) -> R) -> R {
        let now = whippet_tasks::execution_id();
        let fresh =
            !self.state.is_mine() || self.state.with(|s| s.object.is_none() || (s.execution != now && now != 0));
        if fresh {
            let object = Object::new(self.kind);
            self.state.adopt();
            self.state.with(|s| {
                (s.execution, s.object, s.closed) = (now, Some(object), None);
                s.permits = Permits::with(self.initial);
            });
        }
        self.state.with(|s| {
            let object = s.object.expect("it was made");
            work(s, object)
        })
    }

    pub(crate) fn object(&self) -> Object {
        self.with(|_, object| object)
    }

    pub(crate) fn available(&self, place: Place) -> usize {
        let object = self.object();
        whippet_tasks::event(Action::new("looks at", object, place));
        whippet_tasks::read(object.part(Part::Free));
        whippet_tasks::read(object.part(Part::Line));
        self.with(|s, _| s.permits.available())
    }

    pub(crate) fn is_closed(&self, place: Place) -> bool {
        let object = self.object();
        whippet_tasks::event(Action::new("looks at", object, place));
        whippet_tasks::read(object.part(Part::Closed));
        self.with(|s, _| s.closed.is_some())
    }

    pub(crate) fn close(&self, place: Place) {
        let object = self.object();
        whippet_tasks::event(Action::new("closes", object, place));
        whippet_tasks::write(object.part(Part::Closed));
        whippet_tasks::enables(object.part(Part::Free), object.part(Part::Closed));
        let step = whippet_tasks::this_step();
        self.with(|s, _| {
            s.closed.get_or_insert(step);
        });
    }

    /// `Some(true)` if permits were there, `None` if closed.
    pub(crate) fn try_acquire(&self, need: usize, verb: &'static str, place: Place) -> Option<bool> {
        let object = self.object();
        whippet_tasks::event(Action::new(verb, object, place));
        whippet_tasks::write(object.part(Part::Line));
        whippet_tasks::read(object.part(Part::Free));
        whippet_tasks::read(object.part(Part::Closed));
        self.with(|s, _| s.closed.is_none().then(|| s.permits.try_ask(need)))
    }

    pub(crate) fn release(&self, count: usize, verb: &'static str, place: Place) {
        if count == 0 || whippet_tasks::is_over() || !self.state.is_mine() {
            return;
        }
        let object = self.object();
        whippet_tasks::event(Action::new(verb, object, place));
        if whippet_tasks::is_over() {
            return;
        }
        whippet_tasks::write(object.part(Part::Free));
        whippet_tasks::enables(object.part(Part::Free), object.part(Part::Item));
        let step = whippet_tasks::this_step();
        self.with(|s, _| s.permits.release(count, step));
    }

    pub(crate) fn forget(&self, count: usize, place: Place) -> usize {
        let object = self.object();
        whippet_tasks::event(Action::new("forgets permits of", object, place));
        whippet_tasks::write(object.part(Part::Free));
        whippet_tasks::write(object.part(Part::Line));
        self.with(|s, _| s.permits.forget(count))
    }
}

impl Source for Core {
    fn ready(&self, id: u64) -> Option<Ready> {
        self.with(|s, object| {
            if let Some(steps) = s.permits.ready(id) {
                let since = steps.into_iter().filter(|&step| step != Ready::ALWAYS).max();
                return Some(Ready { since: since.unwrap_or(Ready::ALWAYS), item: object.part(Part::Free) });
            }
            s.closed.map(|since| Ready { since, item: object.part(Part::Closed) })
        })
    }

    fn watched(&self, _: u64, out: &mut smallvec::SmallVec<[whippet_model::Name; 2]>) {
        let object = self.object();
        out.push(object.part(Part::Free));
        out.push(object.part(Part::Closed));
    }

    fn causes(&self, id: u64, out: &mut Vec<u32>) {
        self.with(|s, _| match s.permits.ready(id) {
            Some(steps) => out.extend(steps.into_iter().filter(|&step| step != Ready::ALWAYS)),
            None => out.extend(s.closed),
        });
    }
}

/// The wait for permits.
pub(crate) struct Acquiring {
    core: Arc<Core>,
    need: usize,
    verb: &'static str,
    place: Place,
    id: Option<u64>,
    leaf: Leaf,
}

impl Acquiring {
    pub(crate) fn new(core: Arc<Core>, need: usize, verb: &'static str, place: Place) -> Acquiring {
        Acquiring { core, need, verb, place, id: None, leaf: Leaf::new() }
    }

    /// Asks; `Some` if the answer is there at once.
    fn ask(&mut self) -> Option<Result<(), ()>> {
        let object = self.core.object();
        whippet_tasks::event(Action::new(self.verb, object, self.place));
        if whippet_tasks::is_over() {
            return None;
        }
        whippet_tasks::write(object.part(Part::Line));
        whippet_tasks::read(object.part(Part::Closed));
        let need = self.need;
        let asked = self.core.with(|s, _| s.closed.is_none().then(|| s.permits.ask(need)));
        match asked {
            None => Some(Err(())),
            Some(Asked::Now) => Some(Ok(())),
            Some(Asked::Wait(id)) => {
                self.id = Some(id);
                None
            }
        }
    }

    fn got(&mut self) -> Result<(), ()> {
        let id = self.id.take().expect("it asked");
        self.core.with(|s, _| {
            let given = s.permits.ready(id).is_some();
            s.permits.take(id);
            if given { Ok(()) } else { Err(()) }
        })
    }

    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), ()>> {
        if self.id.is_none()
            && let Some(answer) = self.ask()
        {
            return Poll::Ready(answer);
        }
        let Some(id) = self.id else { return Poll::Pending };
        let on = On::Source(self.core.clone(), id);
        std::task::ready!(self.leaf.poll(cx, &on, self.waits()));
        Poll::Ready(self.got())
    }

    fn waits(&self) -> Action {
        Action::new(
            if self.verb == "asks for a permit of" { "gets a permit of" } else { "gets" },
            self.core.object(),
            self.place,
        )
    }

    pub(crate) fn here(&mut self) -> Result<(), ()> {
        if let Some(answer) = self.ask() {
            return answer;
        }
        let Some(id) = self.id else { return Err(()) };
        let on = On::Source(self.core.clone(), id);
        if whippet_tasks::wait_here(&on, self.waits()) { self.got() } else { Err(()) }
    }
}

impl Drop for Acquiring {
    fn drop(&mut self) {
        let Some(id) = self.id else { return };
        if whippet_tasks::is_over() {
            return;
        }
        let object = self.core.object();
        whippet_tasks::event(Action::new("stops waiting for", object, self.place));
        whippet_tasks::write(object.part(Part::Line));
        whippet_tasks::write(object.part(Part::Free));
        whippet_tasks::enables(object.part(Part::Free), object.part(Part::Item));
        let step = whippet_tasks::this_step();
        self.core.with(|s, _| s.permits.give_up(id, step));
    }
}

/// Stand-in for `tokio::sync::Semaphore`.
pub struct Semaphore {
    core: std::sync::OnceLock<Arc<Core>>,
    permits: usize,
}

/// The semaphore is closed.
#[derive(Debug)]
pub struct AcquireError(());

impl fmt::Display for AcquireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("semaphore closed")
    }
}
impl std::error::Error for AcquireError {}

#[derive(Debug, PartialEq, Eq)]
pub enum TryAcquireError {
    Closed,
    NoPermits,
}

impl fmt::Display for TryAcquireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TryAcquireError::Closed => "semaphore closed",
            TryAcquireError::NoPermits => "no permits available",
        })
    }
}
impl std::error::Error for TryAcquireError {}

impl fmt::Debug for Semaphore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Semaphore").finish_non_exhaustive()
    }
}

impl Semaphore {
    pub const MAX_PERMITS: usize = usize::MAX >> 3;

    #[track_caller]
    pub fn new(permits: usize) -> Semaphore {
        let semaphore = Semaphore::const_new(permits);
        semaphore.core().object();
        semaphore
    }

    pub const fn const_new(permits: usize) -> Semaphore {
        assert!(permits <= Self::MAX_PERMITS, "a semaphore may not have more than MAX_PERMITS permits");
        Semaphore { core: std::sync::OnceLock::new(), permits }
    }

    fn core(&self) -> &Arc<Core> {
        self.core.get_or_init(|| Arc::new(Core::new("semaphore", self.permits)))
    }

    #[track_caller]
    pub fn available_permits(&self) -> usize {
        self.core().available(std::panic::Location::caller())
    }

    #[track_caller]
    pub fn add_permits(&self, count: usize) {
        self.core().release(count, "adds permits to", std::panic::Location::caller());
    }

    #[track_caller]
    pub fn forget_permits(&self, count: usize) -> usize {
        self.core().forget(count, std::panic::Location::caller())
    }

    #[track_caller]
    pub fn close(&self) {
        self.core().close(std::panic::Location::caller());
    }

    #[track_caller]
    pub fn is_closed(&self) -> bool {
        self.core().is_closed(std::panic::Location::caller())
    }

    fn acquiring(&self, count: u32, place: Place) -> Acquiring {
        Acquiring::new(self.core().clone(), count as usize, "asks for a permit of", place)
    }

    #[track_caller]
    pub fn acquire(&self) -> impl Future<Output = Result<SemaphorePermit<'_>, AcquireError>> + use<'_> {
        self.acquire_many(1)
    }

    #[track_caller]
    pub fn acquire_many(
        &self,
        count: u32,
    ) -> impl Future<Output = Result<SemaphorePermit<'_>, AcquireError>> + use<'_> {
        let mut wait = self.acquiring(count, std::panic::Location::caller());
        async move {
            std::future::poll_fn(move |cx| wait.poll(cx)).await.map_err(|()| AcquireError(()))?;
            Ok(SemaphorePermit { semaphore: self, permits: count })
        }
    }

    #[track_caller]
    pub fn acquire_owned(self: Arc<Self>) -> impl Future<Output = Result<OwnedSemaphorePermit, AcquireError>> {
        self.acquire_many_owned(1)
    }

    #[track_caller]
    pub fn acquire_many_owned(
        self: Arc<Self>,
        count: u32,
    ) -> impl Future<Output = Result<OwnedSemaphorePermit, AcquireError>> {
        let mut wait = self.acquiring(count, std::panic::Location::caller());
        async move {
            std::future::poll_fn(move |cx| wait.poll(cx)).await.map_err(|()| AcquireError(()))?;
            Ok(OwnedSemaphorePermit { semaphore: self, permits: count })
        }
    }

    fn try_now(&self, count: u32, place: Place) -> Result<(), TryAcquireError> {
        match self.core().try_acquire(count as usize, "tries to get a permit of", place) {
            None => Err(TryAcquireError::Closed),
            Some(false) => Err(TryAcquireError::NoPermits),
            Some(true) => Ok(()),
        }
    }

    #[track_caller]
    pub fn try_acquire(&self) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        self.try_acquire_many(1)
    }

    #[track_caller]
    pub fn try_acquire_many(&self, count: u32) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        self.try_now(count, std::panic::Location::caller())?;
        Ok(SemaphorePermit { semaphore: self, permits: count })
    }

    #[track_caller]
    pub fn try_acquire_owned(self: Arc<Self>) -> Result<OwnedSemaphorePermit, TryAcquireError> {
        self.try_acquire_many_owned(1)
    }

    #[track_caller]
    pub fn try_acquire_many_owned(self: Arc<Self>, count: u32) -> Result<OwnedSemaphorePermit, TryAcquireError> {
        self.try_now(count, std::panic::Location::caller())?;
        Ok(OwnedSemaphorePermit { semaphore: self, permits: count })
    }
}

#[must_use]
#[derive(Debug)]
pub struct SemaphorePermit<'a> {
    semaphore: &'a Semaphore,
    permits: u32,
}

#[must_use]
#[derive(Debug)]
pub struct OwnedSemaphorePermit {
    semaphore: Arc<Semaphore>,
    permits: u32,
}

macro_rules! permit {
    ($name:ty) => {
        pub fn forget(mut self) {
            self.permits = 0;
        }
        pub fn num_permits(&self) -> usize {
            self.permits as usize
        }
        #[track_caller]
        pub fn merge(&mut self, mut other: Self) {
            self.permits += std::mem::take(&mut other.permits);
        }
    };
}

impl<'a> SemaphorePermit<'a> {
    permit!(SemaphorePermit<'a>);
    pub fn split(&mut self, n: usize) -> Option<Self> {
        let n = u32::try_from(n).ok().filter(|&n| n <= self.permits)?;
        self.permits -= n;
        Some(SemaphorePermit { semaphore: self.semaphore, permits: n })
    }
}

impl OwnedSemaphorePermit {
    permit!(OwnedSemaphorePermit);
    pub fn split(&mut self, n: usize) -> Option<Self> {
        let n = u32::try_from(n).ok().filter(|&n| n <= self.permits)?;
        self.permits -= n;
        Some(OwnedSemaphorePermit { semaphore: self.semaphore.clone(), permits: n })
    }
    pub fn semaphore(&self) -> &Arc<Semaphore> {
        &self.semaphore
    }
}

impl Drop for SemaphorePermit<'_> {
    #[track_caller]
    fn drop(&mut self) {
        self.semaphore.core().release(self.permits as usize, "returns a permit of", std::panic::Location::caller());
    }
}

impl Drop for OwnedSemaphorePermit {
    #[track_caller]
    fn drop(&mut self) {
        self.semaphore.core().release(self.permits as usize, "returns a permit of", std::panic::Location::caller());
    }
}
