//! Small programs with their expected outcomes, explored exhaustively and with one execution per trace.

use crate::common::{explore, explore_with, outcomes};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Mutex, MutexGuard, Notify, RwLock, Semaphore, broadcast, mpsc, oneshot, watch};
use whippet_model::FindingKind;
use whippet_runtime::Settings;
use whippet_search::Reduction;

#[test]
fn two_senders_to_two_channels() {
    outcomes(&["ab ab", "ab ba", "ba ab", "ba ba"], || async {
        let (c, mut from_c) = mpsc::unbounded_channel();
        let (d, mut from_d) = mpsc::unbounded_channel();
        for name in ["a", "b"] {
            let (c, d) = (c.clone(), d.clone());
            tokio::spawn(async move {
                c.send(name).unwrap();
                d.send(name).unwrap();
            });
        }
        drop((c, d));
        let (mut first, mut second) = (String::new(), String::new());
        while let Some(name) = from_c.recv().await {
            first += name;
        }
        while let Some(name) = from_d.recv().await {
            second += name;
        }
        format!("{first} {second}")
    });
}

#[test]
fn stop_against_message() {
    outcomes(&["", "1", "12"], || async {
        let (stop, mut stopped) = oneshot::channel::<()>();
        let (tx, mut rx) = mpsc::unbounded_channel();
        let actor = tokio::spawn(async move {
            let mut log = String::new();
            loop {
                tokio::select! {
                    biased;
                    _ = &mut stopped => return log,
                    message = rx.recv() => match message {
                        Some(n) => log += n,
                        None => { let _ = (&mut stopped).await; return log }
                    },
                }
            }
        });
        let sender = tokio::spawn(async move {
            tx.send("1").ok();
            tx.send("2").ok();
        });
        stop.send(()).ok();
        sender.await.unwrap();
        actor.await.unwrap()
    });
}

#[test]
fn unbiased_select_takes_either() {
    outcomes(&["a", "b"], || async {
        let (a, mut from_a) = mpsc::channel(1);
        let (b, mut from_b) = mpsc::channel(1);
        a.send("a").await.unwrap();
        b.send("b").await.unwrap();
        tokio::select! {
            x = from_a.recv() => x.unwrap().to_string(),
            x = from_b.recv() => x.unwrap().to_string(),
        }
    });
}

#[test]
fn biased_select_takes_the_first_branch() {
    outcomes(&["a"], || async {
        let (a, mut from_a) = mpsc::channel(1);
        let (b, mut from_b) = mpsc::channel(1);
        b.send("b").await.unwrap();
        a.send("a").await.unwrap();
        tokio::select! {
            biased;
            x = from_a.recv() => x.unwrap().to_string(),
            x = from_b.recv() => x.unwrap().to_string(),
        }
    });
}

#[test]
fn a_branch_that_is_ready_keeps_the_next_from_starting() {
    outcomes(&["sent", "stopped"], || async {
        let (stop, stopped) = oneshot::channel::<()>();
        let (tx, mut rx) = mpsc::unbounded_channel();
        tokio::spawn(async move { stop.send(()).ok() });
        tokio::select! {
            biased;
            _ = stopped => {}
            _ = async { tx.send(1).unwrap(); std::future::pending::<()>().await } => {}
        }
        drop(tx);
        if rx.recv().await.is_some() { "sent".into() } else { "stopped".into() }
    });
}

#[test]
fn lock_lock() {
    outcomes(&["ab", "ba"], || async {
        let log = Arc::new(Mutex::new(String::new()));
        let tasks: Vec<_> = ["a", "b"]
            .map(|name| {
                let log = log.clone();
                tokio::spawn(async move { *log.lock().await += name })
            })
            .into();
        for task in tasks {
            task.await.unwrap();
        }
        log.lock().await.clone()
    });
}

#[test]
fn check_then_act_on_a_lock() {
    outcomes(&["1", "2"], || async {
        let count = Arc::new(Mutex::new(0));
        let add = |count: Arc<Mutex<i32>>| async move {
            let seen = *count.lock().await;
            *count.lock().await = seen + 1;
        };
        let other = tokio::spawn(add(count.clone()));
        add(count.clone()).await;
        other.await.unwrap();
        count.lock().await.to_string()
    });
}

#[test]
fn readers_and_a_writer() {
    outcomes(&["00", "01", "10", "11"], || async {
        let value = Arc::new(RwLock::new(0));
        let writer = tokio::spawn({
            let value = value.clone();
            async move { *value.write().await = 1 }
        });
        let reader = |value: Arc<RwLock<i32>>| async move { *value.read().await };
        let other = tokio::spawn(reader(value.clone()));
        let mine = reader(value.clone()).await;
        let theirs = other.await.unwrap();
        writer.await.unwrap();
        format!("{mine}{theirs}")
    });
}

#[test]
fn timeout_may_fire_or_not() {
    outcomes(&["got", "late"], || async {
        let (tx, rx) = oneshot::channel();
        tokio::spawn(async move { tx.send(()).ok() });
        match tokio::time::timeout(Duration::from_secs(1), rx).await {
            Ok(_) => "got".into(),
            Err(_) => "late".into(),
        }
    });
}

#[test]
fn timers_fire_in_order() {
    outcomes(&["short long"], || async {
        let (tx, mut rx) = mpsc::unbounded_channel();
        for (name, seconds) in [("long", 2), ("short", 1)] {
            let tx = tx.clone();
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_secs(seconds)).await;
                tx.send(name).unwrap();
            });
        }
        drop(tx);
        let first = rx.recv().await.unwrap();
        // Timers fire in the order of their deadlines, but the sends after them may be reordered: normalize the result.
        let second = rx.recv().await.unwrap();
        if first == "long" { "short long".into() } else { format!("{first} {second}") }
    });
}

#[test]
fn abort_against_a_message() {
    outcomes(&["cancelled", "finished"], || async {
        let (tx, rx) = oneshot::channel::<()>();
        let task = tokio::spawn(async move { rx.await.ok() });
        let abort = task.abort_handle();
        let sender = tokio::spawn(async move { tx.send(()).ok() });
        abort.abort();
        let text = if task.await.is_err_and(|e| e.is_cancelled()) { "cancelled" } else { "finished" };
        sender.await.unwrap();
        text.into()
    });
}

#[test]
fn join_set_gives_results_as_they_come() {
    outcomes(&["012", "021", "102", "120", "201", "210"], || async {
        let mut set = tokio::task::JoinSet::new();
        for n in 0..3 {
            set.spawn(async move { n.to_string() });
        }
        let mut all = String::new();
        while let Some(n) = set.join_next().await {
            all += &n.unwrap();
        }
        all
    });
}

#[test]
fn notify_one_is_kept_and_waiters_are_not() {
    outcomes(&["done"], || async {
        let notify = Arc::new(Notify::new());
        let other = notify.clone();
        tokio::spawn(async move { other.notify_one() });
        notify.notified().await;
        "done".into()
    });
    let (verdict, _) = explore(Reduction::Optimal, || async {
        let notify = Arc::new(Notify::new());
        let other = notify.clone();
        tokio::spawn(async move { other.notify_waiters() });
        notify.notified().await;
        String::new()
    });
    assert_eq!(verdict.findings.len(), 1, "the notification may come too early");
    assert_eq!(verdict.findings[0].kind, FindingKind::Deadlock);
}

#[test]
fn semaphore_lets_two_in() {
    outcomes(&["1", "2"], || async {
        let gate = Arc::new(Semaphore::new(2));
        let inside = Arc::new(Mutex::new((0, 0)));
        let visit = |gate: Arc<Semaphore>, inside: Arc<Mutex<(i32, i32)>>| async move {
            let _permit = gate.acquire().await.unwrap();
            {
                let mut state = inside.lock().await;
                state.0 += 1;
                state.1 = state.1.max(state.0);
            }
            inside.lock().await.0 -= 1;
        };
        let others: Vec<_> = (0..2).map(|_| tokio::spawn(visit(gate.clone(), inside.clone()))).collect();
        for other in others {
            other.await.unwrap();
        }
        inside.lock().await.1.to_string()
    });
}

#[test]
fn watch_shows_the_newest() {
    outcomes(&["1", "2"], || async {
        let (tx, mut rx) = watch::channel(0);
        tokio::spawn(async move {
            tx.send(1).ok();
            tx.send(2).ok();
            std::future::pending::<()>().await;
        });
        rx.changed().await.unwrap();
        let seen = *rx.borrow();
        seen.to_string()
    });
}

#[test]
fn broadcast_lags() {
    outcomes(&["1 2 3", "lagged 1 2 3"], || async {
        let (tx, mut rx) = broadcast::channel(2);
        tokio::spawn(async move {
            for n in 1..=3 {
                tx.send(n).ok();
            }
        });
        let mut all = Vec::new();
        loop {
            match rx.recv().await {
                Ok(n) => all.push(n.to_string()),
                Err(broadcast::error::RecvError::Lagged(n)) => all.push(format!("lagged {n}")),
                Err(broadcast::error::RecvError::Closed) => return all.join(" "),
            }
        }
    });
}

#[test]
fn bounded_channels_that_wait_for_each_other() {
    let (verdict, _) = explore(Reduction::Optimal, || async {
        let (a, mut from_a) = mpsc::channel::<u32>(1);
        let (b, mut from_b) = mpsc::channel::<u32>(1);
        let one = tokio::spawn(async move {
            for n in 0..2 {
                a.send(n).await.unwrap();
            }
            from_b.recv().await
        });
        for n in 0..2 {
            b.send(n).await.unwrap();
        }
        from_a.recv().await;
        one.await.unwrap();
        String::new()
    });
    let finding = &verdict.findings[0];
    assert_eq!(finding.kind, FindingKind::Deadlock);
    assert!(finding.message.contains("main is blocked sending u32 to channel 2"), "{}", finding.message);
}

#[test]
fn an_overdraft() {
    enum Request {
        Balance(oneshot::Sender<i64>),
        Withdraw(i64),
    }
    let (verdict, _) = explore(Reduction::Optimal, || async {
        let (account, mut requests) = mpsc::channel(8);
        let bank = tokio::spawn(async move {
            let mut balance = 100;
            while let Some(request) = requests.recv().await {
                match request {
                    Request::Balance(reply) => drop(reply.send(balance)),
                    Request::Withdraw(amount) => {
                        balance -= amount;
                        assert!(balance >= 0, "overdrawn: {balance}");
                    }
                }
            }
        });
        for _ in 0..2 {
            let account = account.clone();
            tokio::spawn(async move {
                let (reply, balance) = oneshot::channel();
                account.send(Request::Balance(reply)).await.ok();
                if balance.await.is_ok_and(|balance| balance >= 80) {
                    account.send(Request::Withdraw(80)).await.ok();
                }
            });
        }
        drop(account);
        bank.await.unwrap();
        String::new()
    });
    assert!(verdict.findings.iter().any(|f| f.message.contains("overdrawn: -60")), "{:?}", verdict.findings);
}

#[test]
fn the_drop_of_a_sender_is_seen_by_who_looks() {
    // `try_recv` may run between the message and the drop, which are merged into one step if no task can observe it.
    outcomes(&["Disconnected", "Empty"], || async {
        let (ended, mut end) = mpsc::unbounded_channel::<()>();
        let (tx, mut rx) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            tx.send(()).unwrap();
            drop(ended);
        });
        rx.recv().await.unwrap();
        format!("{:?}", end.try_recv().unwrap_err())
    });
    // The same, with a `select!` on both channels.
    outcomes(&["end", "message"], || async {
        let (ended, mut end) = mpsc::unbounded_channel::<()>();
        let (tx, mut rx) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            drop(ended);
            // The receiver may have been dropped.
            let _ = tx.send(());
        });
        tokio::select! {
            _ = end.recv() => "end".into(),
            _ = rx.recv() => "message".into(),
        }
    });
}

#[test]
fn receivers_that_are_gone_may_come_again() {
    // A task that waits until all receivers are gone observes the drop of the first one, or only that of the second.
    outcomes(&["0", "1"], || async {
        let (tx, rx) = watch::channel(0);
        let tx = Arc::new(tx);
        let (told, mut tell) = mpsc::unbounded_channel();
        let other = tx.clone();
        tokio::spawn(async move {
            drop(rx);
            let rx = other.subscribe();
            // The receiver may have been dropped.
            let _ = told.send(());
            drop(rx);
        });
        tx.closed().await;
        u8::from(tell.try_recv().is_ok()).to_string()
    });
}

#[test]
fn stories_say_who_is_joined_and_what_has_ended() {
    let (verdict, _) = explore(Reduction::Optimal, || async {
        let (tx, mut rx) = mpsc::unbounded_channel::<u8>();
        tokio::spawn(async move { tx.send(1).unwrap() });
        let reader = tokio::spawn(async move { while rx.recv().await.is_some() {} });
        reader.await.unwrap();
        panic!("the end")
    });
    let mut counterexample = Vec::new();
    for step in &verdict.findings[0].counterexample {
        counterexample.push(format!("{} {}", step.actor, step.action));
        // Strip the source location at the end of each text.
        let merged = step.effects.iter().map(|text| text[..text.find(" (").expect("a line")].to_string());
        counterexample.extend(merged);
    }
    let expected =
        ["task 1 sends u8 to channel 1", "task 2 receives u8 from channel 1", "task 2 sees the end of channel 1"];
    assert_eq!(counterexample[..3], expected);
    assert_eq!(counterexample[3..], ["main joins task 2", "main ends"]);
}

#[test]
fn a_panic_that_nobody_sees_is_found() {
    let (verdict, _) = explore(Reduction::Optimal, || async {
        drop(tokio::spawn(async { panic!("unseen") }));
        String::new()
    });
    assert_eq!(verdict.findings.len(), 1);
    assert!(verdict.findings[0].message.contains("unseen"));
    outcomes(&["seen"], || async {
        let task = tokio::spawn(async { panic!("seen") });
        task.await.unwrap_err().into_panic().downcast_ref::<&str>().unwrap().to_string()
    });
}

tokio::task_local! {
    static NUMBER: u32;
}

#[test]
fn task_locals_stay_with_their_task() {
    outcomes(&["1 2"], || async {
        let (tx, _rx) = mpsc::unbounded_channel();
        let read = |tx: mpsc::UnboundedSender<()>| async move {
            tx.send(()).unwrap();
            NUMBER.get()
        };
        let one = tokio::spawn(NUMBER.scope(1, read(tx.clone())));
        let two = tokio::spawn(NUMBER.scope(2, read(tx)));
        format!("{} {}", one.await.unwrap(), two.await.unwrap())
    });
}

#[test]
fn join_and_try_join() {
    outcomes(&["(1, 2) Err(3)"], || async {
        let (tx, rx) = oneshot::channel::<u32>();
        let both = tokio::join!(async { rx.await.unwrap() }, async {
            tx.send(1).unwrap();
            2
        });
        let error: Result<(u32, u32), u32> = tokio::try_join!(async { Err(3) }, std::future::pending());
        format!("{both:?} {error:?}")
    });
}

#[test]
fn any_branch_of_a_select_may_be_asked_first() {
    // Each branch acts in its first poll and is ready then, so only the branch that is polled first acts.
    outcomes(&["a", "b", "c"], || async {
        let (tx, mut rx) = mpsc::unbounded_channel();
        let act = |name: &'static str| {
            let tx = tx.clone();
            async move { tx.send(name).unwrap() }
        };
        tokio::select! {
            () = act("a") => {}
            () = act("b") => {}
            () = act("c") => {}
        }
        drop(tx);
        let mut log = String::new();
        while let Some(name) = rx.recv().await {
            log += name;
        }
        log
    });
}

#[test]
fn a_message_that_nobody_takes_is_found_on_request() {
    let body = || async {
        let (tx, mut rx) = mpsc::unbounded_channel();
        tx.send(1).unwrap();
        tx.send(2).unwrap();
        rx.recv().await.unwrap().to_string()
    };
    let (verdict, _) = explore(Reduction::Optimal, body);
    assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    let (verdict, _) = explore_with(Reduction::Optimal, Settings { untaken: true, ..Settings::default() }, body);
    assert_eq!(verdict.findings.len(), 1, "{:?}", verdict.findings);
    assert_eq!(verdict.findings[0].kind, FindingKind::Undeliverable);
    assert_eq!(verdict.findings[0].message, "a message sent to channel 1 is never received");
}

#[test]
fn a_task_left_behind_is_found_on_request() {
    let body = || async {
        tokio::spawn(std::future::pending::<()>());
        String::new()
    };
    let (verdict, _) = explore(Reduction::Optimal, body);
    assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    let (verdict, _) = explore_with(Reduction::Optimal, Settings { left_behind: true, ..Settings::default() }, body);
    assert_eq!(verdict.findings.len(), 1, "{:?}", verdict.findings);
    assert!(verdict.findings[0].message.contains("task 1 is blocked"), "{}", verdict.findings[0].message);
}

#[test]
fn a_point_before_every_operation_shows_the_same_and_more_orders() {
    let body = || async {
        let (tx, mut rx) = mpsc::unbounded_channel();
        for name in ["a", "b"] {
            let tx = tx.clone();
            tokio::spawn(async move { tx.send(name).unwrap() });
        }
        drop(tx);
        let mut log = String::new();
        while let Some(name) = rx.recv().await {
            log += name;
        }
        log
    };
    let (plain, few) = explore(Reduction::Optimal, body);
    let (deep, seen) = explore_with(Reduction::Optimal, Settings { deep: true, ..Settings::default() }, body);
    assert!(deep.complete && deep.findings.is_empty(), "{:?}", deep.findings);
    assert_eq!(seen, few);
    assert!(deep.counters.executions > plain.counters.executions, "{:?}", deep.counters);
}

/// A downgraded write guard admits other readers, but no writer.
#[test]
fn a_writer_becomes_a_reader() {
    outcomes(&["1 1", "1 2"], || async {
        let value = Arc::new(RwLock::new(0));
        let mut guard = value.clone().write_owned().await;
        *guard = 1;
        let (other, reader) = (value.clone(), value.clone());
        let writer = tokio::spawn(async move { *other.write().await += 1 });
        let guard = guard.downgrade();
        let seen = *guard;
        drop(guard);
        let read = tokio::spawn(async move { *reader.read().await }).await.unwrap();
        writer.await.unwrap();
        format!("{seen} {read}")
    });
}

#[test]
fn a_guard_of_a_part_keeps_the_whole_locked() {
    outcomes(&["1", "2"], || async {
        let value = Arc::new(Mutex::new((1, Some(1))));
        let other = value.clone();
        let doubles = tokio::spawn(async move {
            let part = MutexGuard::try_map(other.lock().await, |(_, number)| number.as_mut());
            let mut part = part.unwrap_or_else(|_| unreachable!("there is a number"));
            *part *= 2;
        });
        let whole = MutexGuard::try_map(value.lock().await, |_| None::<&mut i32>).unwrap_err();
        let seen = whole.1.unwrap();
        drop(whole);
        doubles.await.unwrap();
        seen.to_string()
    });
}

#[test]
fn results_of_a_set_with_their_tasks() {
    outcomes(&["1", "none yet"], || async {
        let mut set = tokio::task::JoinSet::new();
        let task = set.spawn(async { 1 });
        match set.try_join_next_with_id() {
            Some(result) => {
                let (id, value) = result.unwrap();
                assert_eq!(id, task.id());
                value.to_string()
            }
            None => "none yet".into(),
        }
    });
}

async fn sends(tx: mpsc::Sender<u8>) {
    tx.send(1).await.unwrap();
}

#[test]
fn tasks_are_named_by_the_function_that_they_run() {
    let (verdict, _) = explore(Reduction::Optimal, || async {
        let (tx, mut rx) = mpsc::channel(1);
        tokio::spawn(sends(tx.clone()));
        tokio::spawn(async move { tx.send(2).await });
        assert_eq!(rx.recv().await, Some(1));
        assert_eq!(rx.recv().await, Some(3));
        String::new()
    });
    let steps = verdict.findings.iter().flat_map(|finding| &finding.counterexample);
    let actors: Vec<&str> = steps.map(|step| step.actor.as_str()).collect();
    assert!(actors.contains(&"sends 1") && actors.contains(&"task 1"), "{actors:?}");
}
