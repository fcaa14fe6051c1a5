//! `SetOnce`: a value that is set once and waited for.

use std::fmt;
use std::future::{Future, poll_fn};
use std::panic::Location;
use std::sync::{Arc, OnceLock};
use whippet_model::Name;
use whippet_tasks::{Action, Leaf, Local, Object, On, Part, Ready, Source, event, read, this_step, write};

struct Core {
    object: Object,
    set: Local<Option<u32>>,
}

impl Source for Core {
    fn ready(&self, _: u64) -> Option<Ready> {
        self.set.with(|s| s.map(|since| Ready { since, item: self.object.part(Part::Item) }))
    }

    fn watched(&self, _: u64, out: &mut smallvec::SmallVec<[Name; 2]>) {
        out.push(self.object.part(Part::Tail));
    }
}

/// Stand-in for `tokio::sync::SetOnce`.
pub struct SetOnce<T> {
    core: OnceLock<Arc<Core>>,
    value: OnceLock<T>,
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
        let once = SetOnce::const_new();
        once.core();
        once
    }

    pub const fn const_new() -> SetOnce<T> {
        SetOnce { core: OnceLock::new(), value: OnceLock::new() }
    }

    pub fn new_with(value: Option<T>) -> SetOnce<T> {
        let once = SetOnce::new();
        if let Some(value) = value {
            let _ = once.value.set(value);
            once.core().set.with(|s| *s = Some(Ready::ALWAYS));
        }
        once
    }

    fn core(&self) -> &Arc<Core> {
        self.core.get_or_init(|| Arc::new(Core { object: Object::new("set-once"), set: Local::new(None) }))
    }

    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), SetOnceError<T>> {
        let core = self.core();
        event(Action::of::<T>("sets", "in", core.object, Location::caller()));
        let tail = core.object.part(Part::Tail);
        write(tail);
        whippet_tasks::enables(tail, core.object.part(Part::Item));
        self.value.set(value).map_err(SetOnceError)?;
        let step = this_step();
        core.set.with(|s| *s = Some(step));
        Ok(())
    }

    #[track_caller]
    pub fn get(&self) -> Option<&T> {
        let core = self.core();
        event(Action::new("looks at", core.object, Location::caller()));
        read(core.object.part(Part::Tail));
        self.value.get()
    }

    #[track_caller]
    pub fn initialized(&self) -> bool {
        self.get().is_some()
    }

    #[track_caller]
    pub fn wait(&self) -> impl Future<Output = &T> + use<'_, T> {
        let place = Location::caller();
        let mut leaf = Leaf::new();
        poll_fn(move |cx| {
            let core = self.core();
            let action = Action::new("waits for", core.object, place);
            std::task::ready!(leaf.poll(cx, &On::Source(core.clone(), 0), action));
            std::task::Poll::Ready(self.value.get().expect("it is set"))
        })
    }

    pub fn into_inner(self) -> Option<T> {
        self.value.into_inner()
    }
}

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
