//! Small programs, written once and compiled twice: against the real tokio and against the stand-in. What the real
//! one does must be among what the stand-in can do.

extern crate stand_in as tokio;

pub mod generated;

/// The programs, on the tokio of this name; `$d` is a dollar for the macro inside.
macro_rules! programs {
    ($name:ident, $tokio:ident, $d:tt) => {
        /// The programs on one of the two.
        pub mod $name {
            use $tokio::sync::{Barrier, Mutex, Notify, RwLock, Semaphore, broadcast, mpsc, oneshot, watch};
            use $tokio::task::{JoinSet, spawn, yield_now};
            use std::future::Future;
            use std::pin::Pin;
            use std::sync::Arc;
            use std::time::Duration;

            type Program = fn() -> Pin<Box<dyn Future<Output = String> + Send>>;

            /// All of them, with their names.
            pub fn all() -> Vec<(&'static str, Program)> {
                macro_rules! list {
                    ($d($program:ident)*) => { vec![$d((stringify!($program), (|| Box::pin($program())) as Program)),*] };
                }
                list!(
                    order closed_sender closed_receiver try_errors bounded oneshot_dropped oneshot_closed panics cancels
                    drop_order lagging watching notified waiters locked semaphores read_write set barrier weak permits
                    selected biased joined slept timed_out close_keeps_messages
                )
            }

            async fn order() -> String {
                let (tx, mut rx) = mpsc::unbounded_channel();
                for name in ["a", "b"] {
                    let tx = tx.clone();
                    spawn(async move { tx.send(name).unwrap() });
                }
                drop(tx);
                let mut all = String::new();
                while let Some(name) = rx.recv().await {
                    all += name;
                }
                all
            }

            async fn closed_sender() -> String {
                let (tx, rx) = mpsc::channel::<u32>(1);
                drop(rx);
                let error = tx.send(1).await.unwrap_err();
                format!("{error} {error:?} {:?} {}", tx.try_send(2), tx.is_closed())
            }

            async fn closed_receiver() -> String {
                let (tx, mut rx) = mpsc::channel::<u32>(2);
                tx.send(1).await.unwrap();
                drop(tx);
                format!("{:?} {:?} {:?} {}", rx.recv().await, rx.recv().await, rx.try_recv(), rx.is_closed())
            }

            async fn try_errors() -> String {
                let (tx, mut rx) = mpsc::channel::<u32>(1);
                let empty = rx.try_recv();
                tx.try_send(1).unwrap();
                let full = tx.try_send(2);
                format!("{empty:?} {full:?} {:?} {}", rx.try_recv(), tx.capacity())
            }

            async fn bounded() -> String {
                let (tx, mut rx) = mpsc::channel(1);
                let sender = spawn(async move {
                    for n in 0..3 {
                        tx.send(n).await.unwrap();
                    }
                });
                let mut all = Vec::new();
                while let Some(n) = rx.recv().await {
                    all.push(n);
                }
                sender.await.unwrap();
                format!("{all:?}")
            }

            async fn oneshot_dropped() -> String {
                let (tx, rx) = oneshot::channel::<u32>();
                drop(tx);
                let error = rx.await.unwrap_err();
                format!("{error} {error:?}")
            }

            async fn oneshot_closed() -> String {
                let (tx, mut rx) = oneshot::channel::<u32>();
                let empty = rx.try_recv();
                rx.close();
                format!("{empty:?} {} {:?} {:?}", tx.is_closed(), tx.send(1), rx.try_recv())
            }

            async fn panics() -> String {
                let error = spawn(async { std::panic::resume_unwind(Box::new("no")) }).await.map(|(): ()| ()).unwrap_err();
                format!("{} {} {:?}", error.is_panic(), error.is_cancelled(), error.into_panic().downcast_ref::<&str>())
            }

            async fn cancels() -> String {
                let task = spawn(std::future::pending::<()>());
                yield_now().await;
                task.abort();
                let error = task.await.unwrap_err();
                format!("{} {}", error.is_panic(), error.is_cancelled())
            }

            struct Tells(mpsc::UnboundedSender<&'static str>, &'static str);

            impl Drop for Tells {
                fn drop(&mut self) {
                    let _ = self.0.send(self.1);
                }
            }

            async fn drop_order() -> String {
                let (tx, mut rx) = mpsc::unbounded_channel();
                let (one, two) = (Tells(tx.clone(), "one"), Tells(tx.clone(), "two"));
                let task = spawn(async move {
                    let _two = two;
                    let _one = one;
                    std::future::pending::<()>().await
                });
                yield_now().await;
                task.abort();
                let _ = task.await;
                tx.send("joined").unwrap();
                drop(tx);
                let mut all = Vec::new();
                while let Some(text) = rx.recv().await {
                    all.push(text);
                }
                // A task that never began drops what it captured, in the order of capture.
                all.sort_unstable();
                all.join(" ")
            }

            async fn lagging() -> String {
                let (tx, mut rx) = broadcast::channel(2);
                for n in 0..4 {
                    tx.send(n).unwrap();
                }
                drop(tx);
                format!("{:?} {:?} {:?} {:?}", rx.recv().await, rx.recv().await, rx.recv().await, rx.recv().await)
            }

            async fn watching() -> String {
                let (tx, mut rx) = watch::channel(0);
                tx.send(1).unwrap();
                let changed = rx.changed().await.is_ok();
                let seen = *rx.borrow_and_update();
                drop(tx);
                format!("{changed} {seen} {}", rx.changed().await.is_err())
            }

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

            async fn set() -> String {
                let mut set = JoinSet::new();
                for n in 0..2 {
                    set.spawn(async move { n });
                }
                let mut all = String::new();
                while let Some(n) = set.join_next().await {
                    all += &n.unwrap().to_string();
                }
                all
            }

            async fn barrier() -> String {
                let barrier = Arc::new(Barrier::new(2));
                let other = barrier.clone();
                let task = spawn(async move { other.wait().await.is_leader() });
                let mine = barrier.wait().await.is_leader();
                format!("{}", mine != task.await.unwrap())
            }

            async fn weak() -> String {
                let (tx, mut rx) = mpsc::unbounded_channel::<u32>();
                let weak = tx.downgrade();
                let alive = weak.upgrade().is_some();
                drop(tx);
                format!("{alive} {} {:?}", weak.upgrade().is_some(), rx.recv().await)
            }

            async fn permits() -> String {
                let (tx, mut rx) = mpsc::channel(1);
                let permit = tx.reserve().await.unwrap();
                let full = tx.try_reserve().is_err();
                permit.send(5);
                format!("{full} {:?}", rx.recv().await)
            }

            async fn selected() -> String {
                let (a, mut from_a) = mpsc::unbounded_channel();
                let (b, mut from_b) = mpsc::unbounded_channel();
                a.send("a").unwrap();
                b.send("b").unwrap();
                $tokio::select! {
                    x = from_a.recv() => x.unwrap().into(),
                    x = from_b.recv() => x.unwrap().into(),
                }
            }

            async fn biased() -> String {
                let (a, mut from_a) = mpsc::unbounded_channel::<u32>();
                drop(a);
                let mut log = String::new();
                for _ in 0..2 {
                    $tokio::select! {
                        biased;
                        Some(n) = from_a.recv() => log += &n.to_string(),
                        _ = std::future::pending::<()>(), if false => log += "never",
                        else => log += "else ",
                    }
                }
                log
            }

            async fn joined() -> String {
                let both = $tokio::join!(async { 1 }, async { 2 });
                let tried: Result<(u32, u32), &str> = $tokio::try_join!(async { Ok(1) }, async { Err("no") });
                format!("{both:?} {tried:?}")
            }

            async fn slept() -> String {
                $tokio::time::sleep(Duration::from_millis(1)).await;
                "slept".into()
            }

            async fn timed_out() -> String {
                let late = $tokio::time::timeout(Duration::from_millis(1), std::future::pending::<()>()).await;
                format!("{late:?}")
            }

            async fn close_keeps_messages() -> String {
                let (tx, mut rx) = mpsc::channel(2);
                tx.send(1).await.unwrap();
                rx.close();
                format!("{:?} {:?} {:?}", tx.send(2).await.is_err(), rx.recv().await, rx.recv().await)
            }
        }
    };
}

programs!(on_real, real, $);
programs!(on_stand_in, stand_in, $);
