//! `SetOnce`: a value that is set once and that tasks can wait for.

use std::fmt;
use std::future::{Future, poll_fn};
use std::panic::Location;
use std::sync::{Arc, OnceLock};
use whippet_model::Name;
use whippet_runtime::Point;
use whippet_runtime::{
    Action, Object, Once, Part, PerExecution, Place, Readiness, Ready, WaitTarget, Waiter, event, read, this_step,
    write,
};

/// The step that set the value.
struct Setting(PerExecution<Option<u32>>);

impl Readiness for Setting {
    fn ready(&self, _: u64) -> Option<Ready> {
        let item = self.0.object().part(Part::Item);
        self.0.with(|set| set.map(|since| Ready { since, item }))
    }

    fn watched(&self, _: u64, out: &mut smallvec::SmallVec<[Name; 2]>) {
        out.push(self.0.object().part(Part::Tail));
    }
}

/// Shim of `tokio::sync::SetOnce`.
pub struct SetOnce<T> {
    setting: OnceLock<Arc<Setting>>,
    value: Once<T>,
}

#[derive(PartialEq, Eq)]
pub struct SetOnceError<T>(pub T);

impl<T> fmt::Debug for SetOnceError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SetOnceError").finish_non_exhaustive()
    }
}
impl<T> fmt::Display for SetOnceError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SetOnceError")
    }
}
impl<T> std::error::Error for SetOnceError<T> {}

impl<T> Default for SetOnce<T> {
    fn default() -> SetOnce<T> {
        SetOnce::new()
    }
}

impl<T> SetOnce<T> {
    pub fn new() -> SetOnce<T> {
        SetOnce::new_with(None)
    }

    pub const fn const_new() -> SetOnce<T> {
        SetOnce { setting: OnceLock::new(), value: Once::new() }
    }

    pub const fn const_new_with(value: T) -> SetOnce<T> {
        SetOnce { setting: OnceLock::new(), value: Once::with(Some(value)) }
    }

    pub fn new_with(value: Option<T>) -> SetOnce<T> {
        let once = SetOnce { setting: OnceLock::new(), value: Once::with(value) };
        once.setting().0.object();
        once
    }

    fn setting(&self) -> &Arc<Setting> {
        self.setting.get_or_init(|| Arc::new(Setting(PerExecution::new("set-once", None))))
    }

    /// Returns the object of this `SetOnce`, for an operation at `place`.
    fn object(&self, place: Place) -> Object {
        self.setting().0.used(&[Part::Tail], place)
    }

    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), SetOnceError<T>> {
        let object = self.object(Location::caller());
        event(Action::of::<T>(Point::SetsOnce, object, Location::caller()));
        let tail = object.part(Part::Tail);
        write(tail);
        whippet_runtime::enables(tail, object.part(Part::Item));
        self.value.set(value).map_err(SetOnceError)?;
        let step = this_step();
        self.setting().0.with(|set| *set = Some(step));
        whippet_runtime::wake_polled();
        Ok(())
    }

    #[track_caller]
    pub fn get(&self) -> Option<&T> {
        if !self.value.is_settled() {
            let object = self.object(Location::caller());
            event(Action::new(Point::LooksAtCell, object, Location::caller()));
            read(object.part(Part::Tail));
        }
        self.value.get()
    }

    #[track_caller]
    pub fn initialized(&self) -> bool {
        self.get().is_some()
    }

    #[track_caller]
    pub fn wait(&self) -> impl Future<Output = &T> + use<'_, T> {
        let place = Location::caller();
        let mut waiter = Waiter::new();
        poll_fn(move |cx| {
            if !self.value.is_settled() {
                let action = Action::new(Point::WaitsForValue, self.object(place), place);
                std::task::ready!(waiter.poll(cx, || (WaitTarget::Object(self.setting().clone(), 0), action)));
            }
            std::task::Poll::Ready(self.value.get().expect("it is set"))
        })
    }

    pub fn into_inner(mut self) -> Option<T> {
        self.value.take()
    }
}

impl<T: PartialEq> PartialEq for SetOnce<T> {
    fn eq(&self, other: &SetOnce<T>) -> bool {
        self.value.get() == other.value.get()
    }
}

impl<T: Eq> Eq for SetOnce<T> {}

impl<T: std::panic::UnwindSafe> std::panic::UnwindSafe for SetOnce<T> {}

impl<T> From<T> for SetOnce<T> {
    fn from(value: T) -> SetOnce<T> {
        SetOnce::new_with(Some(value))
    }
}

impl<T: Clone> Clone for SetOnce<T> {
    fn clone(&self) -> SetOnce<T> {
        SetOnce::new_with(self.value.get().cloned())
    }
}

impl<T: fmt::Debug> fmt::Debug for SetOnce<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SetOnce").field("value", &self.value.get()).finish()
    }
}
