//! Gates: permits that tasks request, hold and release. Semaphores, mutexes and read-write locks are built on them.

use crate::events;
use crate::local::Local;
use crate::object::{Action, Object, Part, Place};
use crate::permits::{Asked, Permits};
use crate::task;
use crate::waiting::{Leaf, On, Ready, Source};
use smallvec::SmallVec;
use std::sync::Arc;
use std::task::{Context, Poll};
use whippet_model::Name;

struct State {
    /// The execution that the state belongs to: gates in statics are reset in each execution.
    execution: u64,
    object: Option<Object>,
    permits: Permits,
    closed: Option<u32>,
}

/// A gate with permits: the core of semaphores, mutexes and read-write locks.
pub struct Gate {
    kind: &'static str,
    initial: usize,
    /// `true` if the gate is closed in the normal course of its use.
    closes: bool,
    made: Option<Place>,
    state: Local<State>,
}

impl Gate {
    /// Creates a gate of this kind, a word for counterexamples, with `initial` permits.
    #[must_use]
    pub const fn new(kind: &'static str, initial: usize) -> Gate {
        let state = State { execution: u64::MAX, object: None, permits: Permits::new(), closed: None };
        Gate { kind, initial, closes: false, made: None, state: Local::new(state) }
    }

    /// Creates a gate that is closed in the normal course of its use.
    #[must_use]
    pub const fn closing(kind: &'static str, initial: usize) -> Gate {
        let mut gate = Gate::new(kind, initial);
        gate.closes = true;
        gate
    }

    /// Creates a gate that was constructed at `place`.
    #[must_use]
    pub const fn made_at(kind: &'static str, initial: usize, place: Place) -> Gate {
        let mut gate = Gate::new(kind, initial);
        gate.made = Some(place);
        gate
    }

    /// Returns `true` if the gate was not used in this execution yet.
    fn is_fresh(&self) -> bool {
        let now = events::execution_id();
        !self.state.is_mine() || self.state.with(|s| s.object.is_none() || (s.execution != now && now != 0))
    }

    fn begin(&self, object: Object) {
        let now = events::execution_id();
        self.state.adopt();
        self.state.with(|s| {
            (s.execution, s.object, s.closed) = (now, Some(object), None);
            s.permits = Permits::with(self.initial);
        });
    }

    /// Calls `work` with the state, which is reset if it belongs to an earlier execution.
    fn with<R>(&self, work: impl FnOnce(&mut State, Object) -> R) -> R {
        if self.is_fresh() {
            self.begin(Object::new(self.kind));
        }
        self.state.with(|s| {
            let object = s.object.expect("it was made");
            work(s, object)
        })
    }

    /// Returns the gate's object; at its first use, it is named by the running task.
    pub fn object(&self) -> Object {
        self.with(|_, object| object)
    }

    /// Returns the gate's object. A gate in a static has no creator: its first use in an execution is an event.
    fn used(&self, place: Place) -> Object {
        if self.is_fresh() && events::is_live() {
            events::event(Action::plain("begins to use a lock", place));
            if self.is_fresh() {
                self.begin(Object::late(self.kind, self.made));
            }
            let object = self.object();
            for part in [Part::Line, Part::Free, Part::Closed] {
                events::write(object.part(part));
            }
        }
        self.object()
    }

    /// Returns the number of free permits. Scheduling point.
    pub fn available(&self, place: Place) -> usize {
        let object = self.used(place);
        events::event(Action::new("looks at", object, place));
        events::read(object.part(Part::Free));
        events::read(object.part(Part::Line));
        self.with(|s, _| s.permits.available())
    }

    /// Returns `true` if the gate is closed. Scheduling point.
    pub fn is_closed(&self, place: Place) -> bool {
        let object = self.used(place);
        events::event(Action::new("looks at", object, place));
        events::read(object.part(Part::Closed));
        self.with(|s, _| s.closed.is_some())
    }

    /// Closes the gate: waiters get no permits from now on. Scheduling point.
    pub fn close(&self, place: Place) {
        self.close_as("closes", place, || {});
    }

    /// Closes the gate and calls `work` in the same step. Scheduling point.
    pub fn close_as(&self, verb: &'static str, place: Place, work: impl FnOnce()) {
        let object = self.used(place);
        events::event(Action::new(verb, object, place));
        if events::is_over() {
            return;
        }
        work();
        self.close_now();
    }

    /// Closes the gate in the running step.
    pub fn close_now(&self) {
        let object = self.object();
        events::learn(closable(object));
        events::write(object.part(Part::Closed));
        events::enables(object.part(Part::Free), object.part(Part::Closed));
        let step = events::this_step();
        self.with(|s, _| {
            s.closed.get_or_insert(step);
            s.permits.close();
        });
    }

    /// Returns `Some(true)` if the running task got permits, `None` if the gate is closed. Scheduling point.
    pub fn try_acquire(&self, need: usize, verb: &'static str, place: Place) -> Option<bool> {
        let object = self.used(place);
        events::event(Action::new(verb, object, place));
        events::write(object.part(Part::Line));
        events::read(object.part(Part::Free));
        events::read(object.part(Part::Closed));
        self.with(|s, _| s.closed.is_none().then(|| s.permits.try_ask(need)))
    }

    /// Releases permits. Scheduling point.
    pub fn release(&self, count: usize, verb: &'static str, place: Place) {
        if count == 0 || events::is_over() || !self.state.is_mine() {
            return;
        }
        let object = self.used(place);
        events::event(Action::new(verb, object, place));
        if events::is_over() {
            return;
        }
        events::write(object.part(Part::Free));
        events::enables(object.part(Part::Free), object.part(Part::Item));
        self.read_closed(object);
        let step = events::this_step();
        self.with(|s, _| s.permits.release(count, step));
    }

    /// Records that the running step assigns permits to waiters, unless the gate is closed.
    fn read_closed(&self, object: Object) {
        if self.closes || events::knows(closable(object)) {
            events::read(object.part(Part::Closed));
        }
    }

    /// Removes up to `count` free permits permanently, and returns their number. Scheduling point.
    pub fn forget(&self, count: usize, place: Place) -> usize {
        let object = self.used(place);
        events::event(Action::new("forgets permits of", object, place));
        events::write(object.part(Part::Free));
        events::write(object.part(Part::Line));
        self.with(|s, _| s.permits.forget(count))
    }
}

impl Source for Gate {
    fn ready(&self, id: u64) -> Option<Ready> {
        // A waiter of a closed gate gets no permits, even if some were assigned to it.
        self.with(|s, object| match s.closed {
            Some(since) => Some(Ready { since, item: object.part(Part::Closed) }),
            None => s.permits.ready(id).map(|steps| {
                let since = steps.into_iter().filter(|&step| step != Ready::ALWAYS).max();
                Ready { since: since.unwrap_or(Ready::ALWAYS), item: object.part(Part::Free) }
            }),
        })
    }

    fn watched(&self, _: u64, out: &mut SmallVec<[Name; 2]>) {
        let object = self.object();
        out.push(object.part(Part::Free));
        out.push(object.part(Part::Closed));
    }

    fn causes(&self, id: u64, out: &mut Vec<u32>) {
        let steps = self.with(|s, _| match s.closed {
            // Permits could have completed the wait before.
            Some(_) => Vec::new(),
            None => s.permits.ready(id).unwrap_or_default(),
        });
        out.extend(steps.into_iter().filter(|&step| step != Ready::ALWAYS));
    }

    fn is_contested(&self, _: u64) -> bool {
        self.with(|s, _| s.closed.is_some())
    }
}

/// Returns the name that is learnt if some execution closes the gate.
fn closable(object: Object) -> Name {
    object.part(Part::Closed).mixed(3)
}

/// The error for a request without permits: the gate is closed, or the execution is over.
#[derive(Copy, Clone, Debug)]
pub struct Shut;

/// The wait for permits.
pub struct Acquiring {
    gate: Arc<Gate>,
    need: usize,
    verb: &'static str,
    place: Place,
    id: Option<u64>,
    leaf: Leaf,
}

impl Acquiring {
    /// Creates a wait that has not requested permits yet.
    pub fn new(gate: Arc<Gate>, need: usize, verb: &'static str, place: Place) -> Acquiring {
        Acquiring { gate, need, verb, place, id: None, leaf: Leaf::new() }
    }

    /// Requests permits. Returns `Some` if the result is available at once.
    fn ask(&mut self) -> Option<Result<(), Shut>> {
        let object = self.gate.used(self.place);
        events::event(Action::new(self.verb, object, self.place));
        if events::is_over() {
            return None;
        }
        events::write(object.part(Part::Line));
        events::read(object.part(Part::Closed));
        let at_once = self.gate.closes || events::is_learnt(closable(object));
        if at_once {
            events::read(object.part(Part::Free));
        }
        let need = self.need;
        let asked = self.gate.with(|s, _| s.closed.is_none().then(|| s.permits.ask(need, at_once)));
        match asked {
            None => Some(Err(Shut)),
            Some(Asked::Now) => Some(Ok(())),
            Some(Asked::Wait(id)) => {
                self.id = Some(id);
                events::has_asked(self.gate.ready(id).is_some());
                None
            }
        }
    }

    fn got(&mut self) -> Result<(), Shut> {
        let id = self.id.expect("it asked");
        let (assigned, closed) = self.gate.with(|s, object| {
            events::read(object.part(Part::Closed));
            (s.permits.assigned(id), s.closed.is_some())
        });
        // Permits that a closed gate has assigned are released when the wait is dropped.
        if !closed || assigned == 0 {
            self.gate.with(|s, _| s.permits.take(id));
            self.id = None;
        }
        if closed { Err(Shut) } else { Ok(()) }
    }

    /// Requests permits, on the first call, and waits for them.
    pub fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Shut>> {
        if self.id.is_none()
            && let Some(answer) = self.ask()
        {
            return Poll::Ready(answer);
        }
        let Some(id) = self.id else { return Poll::Pending };
        let waits = self.waits();
        std::task::ready!(self.leaf.poll(cx, || (On::Source(self.gate.clone(), id), waits)));
        Poll::Ready(self.got())
    }

    fn waits(&self) -> Action {
        Action::new(
            if self.verb == "asks for a permit of" { "gets a permit of" } else { "gets" },
            self.gate.object(),
            self.place,
        )
    }

    /// Requests permits, and blocks inside the current poll until they are available.
    pub fn here(&mut self) -> Result<(), Shut> {
        if let Some(answer) = self.ask() {
            return answer;
        }
        let Some(id) = self.id else { return Err(Shut) };
        let on = On::Source(self.gate.clone(), id);
        if task::wait_here(&on, self.waits()) { self.got() } else { Err(Shut) }
    }
}

impl Drop for Acquiring {
    fn drop(&mut self) {
        let Some(id) = self.id else { return };
        if events::is_over() {
            return;
        }
        let object = self.gate.object();
        events::event(Action::new("stops waiting for", object, self.place));
        events::write(object.part(Part::Line));
        events::write(object.part(Part::Free));
        events::enables(object.part(Part::Free), object.part(Part::Item));
        self.gate.read_closed(object);
        let step = events::this_step();
        self.gate.with(|s, _| s.permits.give_up(id, step));
    }
}
