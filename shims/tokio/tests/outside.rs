//! Plain tests: no execution, and threads that share channels and locks as they would share those of the real library.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use tokio::sync::{Barrier, Mutex, Notify, RwLock, Semaphore, broadcast, mpsc, oneshot, watch};

/// An executor of the test's own.
fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

/// Runs `work` in four threads, two hundred times each, with a check that only one is in it.
fn alone(work: impl Fn(&dyn Fn()) + Send + Sync) {
    let (inside, count) = (AtomicU32::new(0), AtomicU32::new(0));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..200 {
                    work(&|| {
                        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "two threads are in the section");
                        thread::yield_now();
                        inside.fetch_sub(1, Ordering::SeqCst);
                        count.fetch_add(1, Ordering::SeqCst);
                    });
                }
            });
        }
    });
    assert_eq!(count.into_inner(), 800);
}

#[test]
fn locks_exclude_threads() {
    let mutex = Mutex::new(());
    alone(|section| {
        let _guard = mutex.blocking_lock();
        section();
    });
    let (same, fresh) = (&mutex, Mutex::const_new(()));
    alone(|section| {
        let _guard = block_on(same.lock());
        section();
    });
    // Its first use is by several threads at a time.
    alone(|section| {
        let _guard = fresh.blocking_lock();
        section();
    });
    let lock = RwLock::new(0);
    alone(|section| {
        *lock.blocking_write() += 1;
        let _guard = lock.blocking_write();
        section();
    });
    assert_eq!(*lock.blocking_read(), 800);
    let permits = Semaphore::new(1);
    alone(|section| {
        let _permit = block_on(permits.acquire()).unwrap();
        section();
    });
    assert_eq!(permits.available_permits(), 1);
}

#[test]
fn a_guard_is_dropped_by_another_thread() {
    let mutex = Arc::new(Mutex::new(1));
    let guard = mutex.clone().blocking_lock_owned();
    assert!(mutex.try_lock().is_err());
    let waits = thread::spawn({
        let mutex = mutex.clone();
        move || *mutex.blocking_lock()
    });
    thread::spawn(move || drop(guard)).join().unwrap();
    assert_eq!(waits.join().unwrap(), 1);
    assert!(mutex.try_lock().is_ok());
}

#[test]
fn channels_connect_threads() {
    let (to, mut from) = mpsc::channel(2);
    let (reply, replied) = oneshot::channel();
    let reader = thread::spawn(move || {
        let mut sum = 0;
        while let Some(next) = from.blocking_recv() {
            sum += next;
        }
        reply.send(sum).unwrap();
    });
    thread::scope(|scope| {
        for k in 0..3 {
            let to = to.clone();
            scope.spawn(move || (0..100).for_each(|i| to.blocking_send(k * 100 + i).unwrap()));
        }
        scope.spawn(|| (0..10).for_each(|_| block_on(to.send(1)).unwrap()));
    });
    drop(to);
    assert_eq!(replied.blocking_recv().unwrap(), (0..300).sum::<i32>() + 10);
    reader.join().unwrap();

    let (to, mut from) = broadcast::channel(8);
    let reader = thread::spawn(move || from.blocking_recv().unwrap());
    to.send(5).unwrap();
    assert_eq!(reader.join().unwrap(), 5);

    let (to, mut from) = watch::channel(0);
    let reader = thread::spawn(move || {
        block_on(from.wait_for(|value| *value == 3)).unwrap();
    });
    for value in 1..4 {
        to.send_replace(value);
    }
    reader.join().unwrap();
}

#[test]
fn threads_meet_and_notify_each_other() {
    let (barrier, notify) = (Barrier::new(3), Notify::new());
    let leaders = AtomicU32::new(0);
    let meet = || {
        leaders.fetch_add(u32::from(block_on(barrier.wait()).is_leader()), Ordering::SeqCst);
    };
    thread::scope(|scope| {
        let waiting = [0, 1].map(|_| {
            scope.spawn(|| {
                let mut notified = pin!(notify.notified());
                notified.as_mut().enable();
                meet();
                block_on(notified);
            })
        });
        meet();
        notify.notify_waiters();
        waiting.into_iter().for_each(|thread| thread.join().unwrap());
    });
    assert_eq!(leaders.into_inner(), 1);
}

#[test]
fn executions_of_threads_do_not_take_what_threads_share() {
    // A runtime in one thread uses a lock that other threads use before and after it.
    let mutex = Arc::new(Mutex::new(0));
    *mutex.blocking_lock() += 1;
    let same = mutex.clone();
    thread::spawn(move || tokio::runtime::Runtime::new().unwrap().block_on(async move { *same.lock().await += 1 }))
        .join()
        .unwrap();
    let same = mutex.clone();
    thread::spawn(move || *same.blocking_lock() += 1).join().unwrap();
    assert_eq!(*mutex.blocking_lock(), 3);
}
