//! Programs that use locks, permits and signals: which waiter gets them, also after another waiter has left.

use super::tokio;
use std::sync::Arc;
use tokio::sync::{
    Barrier, MappedMutexGuard, Mutex, MutexGuard, Notify, OnceCell, OwnedMappedMutexGuard, OwnedMutexGuard,
    OwnedRwLockMappedWriteGuard, OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock, RwLockMappedWriteGuard,
    RwLockReadGuard, RwLockWriteGuard, Semaphore, SetOnce,
};
use tokio::task::{spawn, yield_now};

programs!(
    notified
    waiters
    locked
    semaphores
    read_write
    barrier
    a_waiter_that_leaves_passes_it_on
    a_permit_is_kept
    owned_notified
    a_lock_survives_a_panic
    a_lock_wait_is_cancelled
    mapped
    permits_of_many_kinds
    a_large_request_is_not_overtaken
    a_closed_semaphore_frees_those_who_wait
    a_permit_that_was_not_taken_before_the_semaphore_closed
    readers_and_a_writer
    made_once
    made_at_the_second_try
    set_once
    barrier_in_rounds
    parts_of_a_mutex
    parts_of_a_lock
    owned_parts_of_a_lock
    a_writer_reads_a_part
    readers_are_limited
    permits_without_a_task
    cells_of_constants
);

async fn notified() -> String {
    let notify = Arc::new(Notify::new());
    let other = notify.clone();
    let task = spawn(async move { other.notified().await });
    notify.notify_one();
    task.await.unwrap();
    "notified".into()
}

async fn waiters() -> String {
    let notify = Notify::new();
    let waits = notify.notified();
    notify.notify_waiters();
    waits.await;
    "told".into()
}

async fn locked() -> String {
    let lock = Arc::new(Mutex::new(Vec::new()));
    let tasks: Vec<_> = (0..2)
        .map(|n| {
            let lock = lock.clone();
            spawn(async move { lock.lock().await.push(n) })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let guard = lock.lock().await;
    format!("{guard:?} {}", lock.try_lock().is_err())
}

async fn semaphores() -> String {
    let gate = Arc::new(Semaphore::new(2));
    let permit = gate.clone().acquire_many_owned(2).await.unwrap();
    let refused = gate.try_acquire().unwrap_err();
    drop(permit);
    gate.close();
    format!("{refused:?} {} {}", gate.available_permits(), gate.acquire().await.is_err())
}

async fn read_write() -> String {
    let lock = RwLock::new(1);
    let (a, b) = (lock.read().await, lock.read().await);
    let busy = lock.try_write().is_err();
    let sum = *a + *b;
    drop((a, b));
    *lock.write().await += 1;
    format!("{sum} {busy} {}", *lock.read().await)
}

async fn barrier() -> String {
    let barrier = Arc::new(Barrier::new(2));
    let other = barrier.clone();
    let task = spawn(async move { other.wait().await.is_leader() });
    let mine = barrier.wait().await.is_leader();
    format!("{}", mine != task.await.unwrap())
}

async fn a_waiter_that_leaves_passes_it_on() -> String {
    let notify = Arc::new(Notify::new());
    let (a, b) = (notify.clone(), notify.clone());
    let first = spawn(async move { a.notified().await });
    let second = spawn(async move { b.notified().await });
    yield_now().await;
    notify.notify_one();
    first.abort();
    let stopped = first.await.is_err();
    if !stopped {
        notify.notify_one();
    }
    second.await.unwrap();
    "told".into()
}

async fn a_permit_is_kept() -> String {
    let notify = Notify::new();
    notify.notify_one();
    notify.notify_one();
    notify.notified().await;
    let second = notify.notified();
    tokio::pin!(second);
    let kept = second.as_mut().enable();
    notify.notify_last();
    second.await;
    format!("{kept}")
}

async fn owned_notified() -> String {
    let notify = Arc::new(Notify::new());
    let waits = notify.clone().notified_owned();
    let task = spawn(waits);
    notify.notify_waiters();
    task.await.unwrap();
    "told".into()
}

async fn a_lock_survives_a_panic() -> String {
    let lock = Arc::new(Mutex::new(1));
    let other = lock.clone();
    let task = spawn(async move {
        let _guard = other.lock().await;
        std::panic::resume_unwind(Box::new("no"));
    });
    let panicked = task.await.is_err();
    format!("{panicked} {}", *lock.lock().await)
}

async fn a_lock_wait_is_cancelled() -> String {
    let lock = Arc::new(Mutex::new(0));
    let guard = lock.clone().lock_owned().await;
    let (one, two) = (lock.clone(), lock.clone());
    let first = spawn(async move { *one.lock().await += 1 });
    let second = spawn(async move { *two.lock().await += 10 });
    yield_now().await;
    first.abort();
    drop(guard);
    let _ = first.await;
    second.await.unwrap();
    let value = *lock.try_lock().unwrap();
    format!("{}", value >= 10)
}

async fn mapped() -> String {
    let lock = Mutex::new((1, 2));
    {
        let mut second = tokio::sync::MutexGuard::map(lock.lock().await, |pair| &mut pair.1);
        *second = 7;
    }
    let refused = {
        let _guard = lock.lock().await;
        lock.try_lock().map(|_| ()).unwrap_err().to_string()
    };
    format!("{refused} {:?}", lock.into_inner())
}

async fn permits_of_many_kinds() -> String {
    let gate = Arc::new(Semaphore::new(3));
    let mut all = gate.clone().try_acquire_many_owned(3).unwrap();
    let one = all.split(1).unwrap();
    one.forget();
    drop(all);
    gate.add_permits(1);
    let forgotten = gate.forget_permits(1);
    let text = gate.try_acquire_many(3).map(|_| ()).unwrap_err().to_string();
    format!("{forgotten} {} {text}", gate.available_permits())
}

async fn a_large_request_is_not_overtaken() -> String {
    let gate = Arc::new(Semaphore::new(1));
    let held = gate.clone().acquire_owned().await.unwrap();
    let large = gate.clone();
    let task = spawn(async move { large.acquire_many(2).await.map(|_| ()) });
    yield_now().await;
    drop(held);
    gate.add_permits(1);
    format!("{:?} {}", task.await.unwrap(), gate.available_permits())
}

async fn a_permit_that_was_not_taken_before_the_semaphore_closed() -> String {
    let gate = Semaphore::new(0);
    let (first, refused, held) = {
        let mut wait = std::pin::pin!(gate.acquire());
        let first = tokio::select! { biased; _ = &mut wait => "early", () = yield_now() => "waits" };
        gate.add_permits(1);
        gate.close();
        (first, wait.await.is_err(), gate.available_permits())
    };
    format!("{first} {refused} {held} {}", gate.available_permits())
}

async fn a_closed_semaphore_frees_those_who_wait() -> String {
    let gate = Arc::new(Semaphore::new(0));
    let other = gate.clone();
    let task = spawn(async move { other.acquire().await.map(|_| ()).map_err(|error| error.to_string()) });
    yield_now().await;
    gate.close();
    format!("{:?} {} {:?}", task.await.unwrap(), gate.is_closed(), gate.try_acquire().map(|_| ()))
}

async fn readers_and_a_writer() -> String {
    let lock = Arc::new(RwLock::new(0));
    let other = lock.clone();
    let writer = spawn(async move { *other.write().await += 1 });
    let seen = *lock.read().await;
    writer.await.unwrap();
    let owned = lock.clone().read_owned().await;
    format!("{} {} {}", seen <= 1, *owned, lock.try_write().is_err())
}

async fn made_once() -> String {
    let cell = Arc::new(OnceCell::new());
    let tasks: Vec<_> = (0..2)
        .map(|n| {
            let cell = cell.clone();
            spawn(async move {
                *cell
                    .get_or_init(|| async {
                        yield_now().await;
                        n
                    })
                    .await
            })
        })
        .collect();
    let mut all = Vec::new();
    for task in tasks {
        all.push(task.await.unwrap());
    }
    format!("{} {} {:?}", all[0] == all[1], cell.initialized(), cell.set(5).map_err(|error| error.to_string()).is_err())
}

async fn made_at_the_second_try() -> String {
    let cell = OnceCell::new();
    let failed: Result<&u32, &str> = cell.get_or_try_init(|| async { Err("no") }).await;
    let made: Result<&u32, &str> = cell.get_or_try_init(|| async { Ok(3) }).await;
    format!("{failed:?} {made:?} {:?}", cell.get())
}

async fn set_once() -> String {
    let value = Arc::new(SetOnce::new());
    let other = value.clone();
    let task = spawn(async move { *other.wait().await });
    let first = value.set(1).is_ok();
    let second = value.set(2).is_ok();
    format!("{first} {second} {} {:?}", task.await.unwrap(), value.get())
}

async fn barrier_in_rounds() -> String {
    let barrier = Arc::new(Barrier::new(2));
    let other = barrier.clone();
    let task = spawn(async move {
        let first = other.wait().await.is_leader();
        let second = other.wait().await.is_leader();
        (first, second)
    });
    let mine = (barrier.wait().await.is_leader(), barrier.wait().await.is_leader());
    let theirs = task.await.unwrap();
    format!("{}", mine.0 != theirs.0 && mine.1 != theirs.1)
}

/// A pair of an optional value and a value that is always present.
type Pair = (Option<u32>, [u32; 2]);

async fn parts_of_a_mutex() -> String {
    let lock = Arc::new(Mutex::<Pair>::new((None, [1, 2])));
    let Err(whole) = MutexGuard::try_map(lock.lock().await, |pair| pair.0.as_mut()) else { return "there".into() };
    let part: MappedMutexGuard<'_, [u32; 2]> = MutexGuard::map(whole, |pair| &mut pair.1);
    let mut part = MappedMutexGuard::map(part, |array| &mut array[1]);
    *part += 1;
    let shown = format!("{part} {part:?} {}", lock.try_lock().is_err());
    drop(part);
    let whole = lock.clone().lock_owned().await;
    let Err(whole) = OwnedMutexGuard::try_map(whole, |pair| pair.0.as_mut()) else { return "there".into() };
    let same = Arc::ptr_eq(OwnedMutexGuard::mutex(&whole), &lock);
    let part: OwnedMappedMutexGuard<Pair, [u32; 2]> = OwnedMutexGuard::map(whole, |pair| &mut pair.1);
    let Ok(mut part) = OwnedMappedMutexGuard::try_map(part, |array| array.first_mut()) else { return "not".into() };
    *part = 7;
    // The lock moves into the task with the part.
    let task = spawn(async move { *part });
    format!("{shown} {same} {} {:?}", task.await.unwrap(), lock.lock().await)
}

async fn parts_of_a_lock() -> String {
    let lock = RwLock::<Pair>::new((None, [1, 2]));
    let Err(whole) = RwLockReadGuard::try_map(lock.read().await, |pair| pair.0.as_ref()) else { return "there".into() };
    let part = RwLockReadGuard::map(whole, |pair| &pair.1);
    let read = format!("{part:?} {} {}", lock.try_write().is_err(), lock.try_read().is_ok());
    drop(part);
    let Err(whole) = RwLockWriteGuard::try_map(lock.write().await, |pair| pair.0.as_mut()) else {
        return "there".into();
    };
    let part: RwLockMappedWriteGuard<'_, [u32; 2]> = RwLockWriteGuard::map(whole, |pair| &mut pair.1);
    let Ok(mut part) = RwLockMappedWriteGuard::try_map(part, |array| array.get_mut(1)) else { return "not".into() };
    *part = 9;
    let written = format!("{part} {}", lock.try_read().is_err());
    drop(part);
    let mut all = RwLockWriteGuard::into_mapped(lock.write().await);
    all.0 = Some(3);
    drop(all);
    format!("{read} {written} {:?}", lock.read().await)
}

async fn owned_parts_of_a_lock() -> String {
    let lock = Arc::new(RwLock::<Pair>::new((Some(1), [1, 2])));
    let whole = lock.clone().write_owned().await;
    let part: OwnedRwLockMappedWriteGuard<Pair, [u32; 2]> = OwnedRwLockWriteGuard::map(whole, |pair| &mut pair.1);
    let same = Arc::ptr_eq(OwnedRwLockMappedWriteGuard::rwlock(&part), &lock);
    let mut part = OwnedRwLockMappedWriteGuard::map(part, |array| &mut array[0]);
    let writer = spawn(async move { *part += 4 });
    let whole = lock.clone().read_owned().await;
    let part = OwnedRwLockReadGuard::map(whole, |pair| &pair.1);
    let same = same && Arc::ptr_eq(OwnedRwLockReadGuard::rwlock(&part), &lock);
    let Ok(part) = OwnedRwLockReadGuard::try_map(part, |array| array.first()) else { return "not".into() };
    writer.await.unwrap();
    format!("{same} {part} {}", lock.try_write().is_err())
}

async fn a_writer_reads_a_part() -> String {
    let lock = Arc::new(RwLock::<Pair>::new((None, [1, 2])));
    let other = lock.clone();
    let whole = lock.write().await;
    let reader = spawn(async move { other.read().await.1[0] });
    let Err(mut whole) = RwLockWriteGuard::try_downgrade_map(whole, |pair| pair.0.as_ref()) else {
        return "there".into();
    };
    whole.1[0] = 5;
    let part = RwLockWriteGuard::downgrade_map(whole, |pair| &pair.1);
    // The other reader is admitted, a writer is not.
    let seen = reader.await.unwrap();
    let busy = lock.try_write().is_err();
    drop(part);
    let whole = lock.clone().write_owned().await;
    let Err(whole) = OwnedRwLockWriteGuard::try_downgrade_map(whole, |pair| pair.0.as_ref()) else {
        return "there".into();
    };
    let part = OwnedRwLockWriteGuard::downgrade_map(whole, |pair| &pair.1);
    format!("{seen} {busy} {part:?} {}", lock.try_read().is_ok())
}

async fn readers_are_limited() -> String {
    let lock = Arc::new(RwLock::with_max_readers(1, 2));
    let (one, two) = (lock.read().await, lock.read().await);
    let other = lock.clone();
    let third = spawn(async move { *other.read().await });
    let full = lock.try_read().is_err();
    let sum = *one + *two;
    drop(one);
    let third = third.await.unwrap();
    drop(two);
    *lock.write().await += 1;
    static LOCK: RwLock<u32> = RwLock::const_with_max_readers(3, 1);
    let only = LOCK.read().await;
    format!("{full} {sum} {third} {only} {}", LOCK.try_read().is_err())
}

async fn permits_without_a_task() -> String {
    let gate = Arc::new(Semaphore::new(2));
    let both = gate.clone().acquire_many_owned(2).await.unwrap();
    let other = gate.clone();
    let blocked = tokio::task::spawn_blocking(move || {
        let one = other.blocking_acquire().unwrap();
        let same = std::ptr::eq(one.semaphore(), &*other);
        let two = other.clone().blocking_acquire_owned().unwrap();
        let text = format!("{same} {}", other.available_permits());
        drop((one, two));
        let mut all = other.blocking_acquire_many(1).unwrap();
        all.merge(other.blocking_acquire_many(1).unwrap());
        let all = all.num_permits();
        other.close();
        format!(
            "{text} {all} {:?}",
            other.clone().blocking_acquire_many_owned(1).map(|_| ()).map_err(|e| e.to_string())
        )
    });
    drop(both);
    blocked.await.unwrap()
}

async fn cells_of_constants() -> String {
    static CELL: OnceCell<u32> = OnceCell::const_new_with(4);
    static SET: SetOnce<u32> = SetOnce::const_new_with(5);
    let made = *CELL.get_or_init(|| async { 6 }).await;
    let eq = OnceCell::new_with(Some(1)) == OnceCell::from(1) && SetOnce::new_with(Some(1)) == SetOnce::from(1);
    format!("{made} {:?} {} {} {:?} {eq}", CELL.get(), CELL.set(7).is_err(), SET.wait().await, SET.set(8).is_err())
}
