//! Running a task: its coroutine, its polls, and the points at which it is suspended.

use crate::current::{Live, in_task, with_running};
use crate::events;
use crate::execution::{self, Execution, NONE};
use crate::grant::forget_stale;
use crate::life::Exit;
use crate::object::{Action, Part};
use crate::outside;
use crate::panics;
use crate::passing::{forget_pending_grants, pass};
use crate::points::Point;
use crate::system;
use crate::task::{Removed, State};
use crate::timers::arm_timers;
use crate::waiting::WaitTarget;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use whippet_model::Touch;

/// Suspends the running task. Returns when it is resumed.
pub(crate) fn suspend() {
    let yielder = in_task(|x| x.task().body.yielder);
    // SAFETY: the yielder lives on the task's own stack, below this frame, as long as the task runs.
    unsafe { (*yielder).suspend(()) };
}

/// Suspends the running task in the middle of a poll. If the execution is over when it is resumed, the task unwinds: no
/// code of the user runs on.
pub(crate) fn suspend_in_poll() {
    suspend();
    if events::is_over() && !std::thread::panicking() {
        std::panic::resume_unwind(Box::new("the execution is over"));
    }
}

/// Suspends the running task permanently, because its execution is impossible. It unwinds when the execution is
/// cleared.
pub(crate) fn abandon() -> ! {
    wait_for_clearing();
    std::panic::resume_unwind(Box::new("an impossible execution was given up"))
}

/// Suspends the running task until its execution is cleared.
fn wait_for_clearing() {
    in_task(|x| x.task().state = State::Abandoned);
    while !events::is_over() {
        suspend();
    }
}

/// Runs task `number` until it is suspended again.
pub(crate) fn resume(live: &Live, number: u32) {
    // The coroutine is taken out of the task, whose code accesses the execution and with it the task.
    let coroutine = live.with(|x| {
        x.facts.set_running(number);
        x.tasks.able[number as usize] = None;
        forget_pending_grants(x, number);
        (x.clock.reads, x.counters.merged) = (0, 0);
        system::enter(&mut x.tasks[number as usize].own);
        x.tasks[number as usize].body.coroutine.take()
    });
    let mut coroutine = coroutine.unwrap_or_else(|| {
        let stack = live.with(|x| x.stacks.take());
        Coroutine::with_stack(stack, |yielder: &Yielder<(), ()>, ()| {
            in_task(|x| x.task().body.yielder = yielder);
            // A task that is at its end, and not in its code, unwinds from here if the execution is over.
            if let Err(caught) = panics::catch(run)
                && !events::is_over()
            {
                std::panic::resume_unwind(caught.payload);
            }
        })
    });
    let is_over = matches!(coroutine.resume(()), CoroutineResult::Return(()));
    live.with(|x| {
        system::leave(&mut x.tasks[number as usize].own);
        if is_over {
            x.stacks.give_back(coroutine.into_stack());
        } else {
            x.tasks[number as usize].body.coroutine = Some(coroutine);
        }
        x.facts.set_running(NONE);
    });
}

/// Runs a task from its beginning to its end.
fn run() {
    let (life, on_exit, deep, place) = in_task(|x| {
        let task = x.task();
        let life = task.body.life.take().expect("a task begins once");
        (life, task.body.on_exit.take(), x.facts.deep, x.task().place)
    });
    // No other task can observe the end if the handle is dropped before the task begins.
    let known = Arc::strong_count(&life) > 1;
    if deep {
        events::event(Action::plain(Point::Begins, place));
    }
    // SAFETY: this is the task itself, which calls it when it no longer polls its future.
    let give_up = || unsafe { life.give_up() };
    let driven = panics::catch(|| {
        // SAFETY: only this task uses the future, which stays in its allocation until it is dropped.
        let driven =
            if begins() { drive(unsafe { Pin::new_unchecked(&mut *life.body()) }, false) } else { Driven::Cancelled };
        give_up();
        driven
    });
    if driven.is_err() {
        drop(panics::catch(give_up));
    }
    let impossible = in_task(|x| {
        x.task().selects.inside = 0;
        x.goes_on();
        x.ending.impossible
    });
    if impossible {
        // The machine gives the execution up.
        return wait_for_clearing();
    }
    let tail = life.end().object.part(Part::Tail);
    let (name, is_main, every_event) = in_task(|x| (x.task().name, x.task().label.is_main(), x.facts.every_event));
    let apart = is_main || on_exit.is_some() || known && events::is_learnt(name);
    // Case 2 of the lemma in `merging.rs`.
    let apart = apart || known && events::needs_own_event(Point::Ends, tail, &[tail]) || every_event;
    if apart && !events::is_over() {
        events::event(Action::plain(Point::Ends, place));
    }
    if events::is_over() {
        return;
    }
    let (step, before, left) = in_task(|x| {
        x.ending.panicked |= driven.is_err();
        let left = x.task_ends();
        x.record.ended.push(x.running());
        if is_main {
            x.ending.main_done = true;
            x.touch(Touch::write(execution::CLOCK));
        }
        (x.step, x.task().before(), left)
    });
    drop(left);
    if apart {
        events::write(tail);
        events::enables(tail, life.end().object.part(Part::Item));
    } else {
        events::enables_merged(tail);
    }
    let exit = driven.map(|driven| match driven {
        Driven::Finished => Exit::Finished,
        Driven::Cancelled => Exit::Cancelled,
    });
    life.end().come(step, before, exit);
    in_task(|x| x.task().body.life = Some(life));
    if let Some(on_exit) = on_exit {
        on_exit();
    }
}

enum Driven {
    Finished,
    Cancelled,
}

/// Begins the running task. The beginning is an event if some execution aborts the task, because the abort may come
/// first. Returns `false` if it does.
fn begins() -> bool {
    let (is_over, is_aborted, place, waker) = in_task(|x| {
        let is_aborted = x.is_marked(x.tasks[x.running() as usize].name);
        (x.facts.is_over(), is_aborted, x.task().place, x.task().waker.clone())
    });
    if is_over || !is_aborted {
        return !is_over;
    }
    let (mut waiter, mut cx) = (crate::Waiter::new(), Context::from_waker(&waker));
    while waiter.poll(&mut cx, || (WaitTarget::Yield, Action::plain(Point::Begins, place))).is_pending() {
        stop(false);
        if in_task(|x| x.facts.is_over() || x.task().interrupts.cancelling) {
            return false;
        }
    }
    true
}

/// Polls a future to completion and suspends the task whenever it waits. With `in_poll`, this happens inside a poll.
fn drive(mut future: Pin<&mut dyn Future<Output = ()>>, in_poll: bool) -> Driven {
    let waker = in_task(|x| x.task().waker.clone());
    let mut cx = Context::from_waker(&waker);
    let mut again = false;
    loop {
        in_task(|x| x.task().polling.begin(again));
        match future.as_mut().poll(&mut cx) {
            Poll::Ready(()) => {
                in_task(|x| x.attach_probes());
                return Driven::Finished;
            }
            Poll::Pending => {}
        }
        if events::is_over() {
            return Driven::Cancelled;
        }
        // Futures that were polled may be alive and no longer awaited. If it is not certain which waits are still
        // awaited, a second poll shows it.
        again = in_task(|x| {
            x.task().polling.probes.clear();
            !again && !x.task().waits_for_sure()
        });
        if again {
            continue;
        }
        stop(in_poll);
        let ends = in_task(|x| {
            let is_over = x.facts.is_over();
            let task = x.task();
            is_over || task.interrupts.cancelling && !in_poll
        });
        if ends {
            return Driven::Cancelled;
        }
    }
}

/// Blocks the running task until one of its waits completes, or the execution is over. With `in_poll`, the task unwinds
/// in the latter case.
fn stop(in_poll: bool) {
    let (passes, stale) = in_task(|x| {
        x.task().polling.is_blocked |= in_poll;
        x.waits_for_others();
        let at = x.running() as usize;
        if x.waits_for_several(at) {
            x.attach_asked_looks();
        }
        x.task().polling.asked_looks.clear();
        let stale = block(x);
        let passes = pass(x);
        if !passes {
            if x.looks_first(at) {
                x.task().state = State::Looking { first: true };
            } else {
                arm_timers(x);
            }
        }
        (passes, stale)
    });
    drop(stale);
    if !passes {
        if in_poll { suspend_in_poll() } else { suspend() }
    }
    if in_poll {
        in_task(|x| x.task().polling.is_blocked = false);
    }
}

/// Marks the running task as blocked. Returns the wait of an unused grant.
fn block(x: &mut Execution) -> Option<Removed> {
    let task = x.task();
    task.state = State::Blocked;
    let stale = forget_stale(task);
    // Only the earliest timer may fire.
    if x.clock.used && x.task().live_waits().any(|wait| matches!(wait.on, WaitTarget::Timer(_))) {
        x.touch(Touch::add(execution::DUE));
    }
    stale
}

/// Blocks inside the current poll, as blocking calls do. Returns `false` if the execution is over.
pub fn wait_here(on: &WaitTarget, action: Action) -> bool {
    let begun = with_running(|x| {
        if x.facts.is_over() {
            return None;
        }
        // The waits registered by the current poll do not count until it goes on. This one is no branch of a select around it, whose
        // polls begin with a step of their own: it is granted.
        let task = x.task();
        task.polling.number += 1;
        Some((task.waker.clone(), std::mem::take(&mut task.selects.composite)))
    });
    let (waker, composite) = match begun {
        Some(Some(begun)) => begun,
        Some(None) => return false,
        None => return outside::wait(on),
    };
    let mut waiter = crate::Waiter::new();
    let mut cx = Context::from_waker(&waker);
    loop {
        if waiter.poll(&mut cx, || (on.clone(), action)).is_ready() {
            in_task(|x| {
                let before = x.task().polling.number - 1;
                x.task().selects.composite = composite;
                goes_on_polling(x, before);
            });
            return true;
        }
        if events::is_over() {
            return false;
        }
        stop(true);
    }
}

/// Records that the running task goes on with poll number `before`, in which it has blocked: the waits that it had
/// registered count again.
fn goes_on_polling(x: &mut Execution, before: u32) {
    let task = x.task();
    let now = task.polling.number;
    task.waits.iter_mut().filter(|wait| wait.polled.poll == before).for_each(|wait| wait.polled.poll = now);
    task.polling.dirty = true;
}

/// Runs a future to completion inside the current poll, as `block_on` does. Returns `None` if the execution is over.
pub fn block_on_here<F: Future>(future: F) -> Option<F::Output> {
    let Some(before) = with_running(|x| x.task().polling.number) else { return Some(outside::block_on(future)) };
    let mut output = None;
    {
        let future = std::pin::pin!(async { output = Some(future.await) });
        drive(future, true);
    }
    with_running(|x| {
        if !x.facts.is_over() {
            goes_on_polling(x, before);
        }
    });
    output
}
