//! Values of a task: the core of `task_local!`.

use crate::current::with_running;

/// Calls `work` with the newest value that the running task stores under `key`.
pub fn with_local<T: 'static, R>(key: usize, work: impl FnOnce(Option<&T>) -> R) -> R {
    let found = with_running(|x| {
        let locals = &x.task().locals;
        locals.iter().rev().find(|(k, _)| *k == key).map(|(_, value)| std::ptr::from_ref(&**value))
    });
    // SAFETY: the value is in a box of its own, which stays until its scope ends, after `work` has returned. Nested calls
    // share the value; nothing writes to it meanwhile.
    work(found.flatten().and_then(|value| unsafe { (*value).downcast_ref::<T>() }))
}

/// Stores a value under `key` in the running task.
pub fn push_local<T: 'static>(key: usize, value: T) {
    with_running(|x| x.task().locals.push((key, Box::new(value))));
}

/// Removes and returns the newest value under `key`.
#[must_use]
pub fn pop_local<T: 'static>(key: usize) -> Option<T> {
    let found = with_running(|x| {
        let locals = &mut x.task().locals;
        let at = locals.iter().rposition(|(k, _)| *k == key)?;
        Some(locals.remove(at).1)
    });
    found.flatten()?.downcast().ok().map(|value| *value)
}
