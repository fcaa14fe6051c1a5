//! Merged events: an operation is merged into the running step unless another task can observe when it happens.

use crate::common::{explore, explore_with, outcomes};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep, timeout};
use whippet_model::Program;
use whippet_runtime::{Settings, TaskProgram};
use whippet_search::{Options, Reduction, replay};

/// Runs a client that sends a request to a server and waits for the reply.
async fn ask() -> String {
    let (tx, mut rx) = mpsc::unbounded_channel::<oneshot::Sender<u8>>();
    let server = tokio::spawn(async move {
        while let Some(reply) = rx.recv().await {
            reply.send(1).unwrap();
        }
    });
    let (reply, answer) = oneshot::channel();
    tx.send(reply).unwrap();
    let answer = answer.await.unwrap();
    drop(tx);
    server.await.unwrap();
    answer.to_string()
}

#[test]
fn takes_replies_drops_and_ends_are_told_below_a_step() {
    let (verdict, seen) = explore(Reduction::Optimal, ask);
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["1"]);
    // Two steps: the request, and the end of the test.
    assert_eq!((verdict.counters.executions, verdict.counters.transitions), (1, 2));

    let (verdict, _) = explore(Reduction::Optimal, || async {
        ask().await;
        panic!("to see the counterexample")
    });
    let first = &verdict.findings[0].counterexample[0];
    assert_eq!(first.action, "sends Sender<u8> to channel 1");
    let merged: Vec<&str> = first.effects.iter().map(|text| &text[..text.find(" (").unwrap()]).collect();
    assert_eq!(
        merged,
        [
            "task 1 receives Sender<u8> from channel 1",
            "task 1 sends u8 to oneshot 1",
            "receives u8 from oneshot 1",
            "task 1 sees the end of channel 1",
            "joins task 1",
        ]
    );
}

#[test]
fn each_is_a_step_on_request() {
    let settings = Settings { every_event: true, ..Settings::default() };
    let (verdict, _) = explore_with(Reduction::Optimal, settings, ask);
    let few = explore(Reduction::Optimal, ask).0.counters;
    assert!(verdict.counters.transitions > few.transitions + 5, "{:?}", verdict.counters);
    assert_eq!(verdict.counters.executions, few.executions);
}

#[test]
fn a_receiver_that_looks_may_be_too_early() {
    outcomes(&["Err(Empty)", "Ok(1)"], || async {
        let (tx, mut rx) = oneshot::channel();
        tokio::spawn(async move { tx.send(1) });
        tokio::spawn(async move { format!("{:?}", rx.try_recv()) }).await.unwrap()
    });
}

#[test]
fn a_sender_may_come_after_the_receiver_is_gone() {
    outcomes(&["Err(1)", "Ok(())"], || async {
        let (tx, rx) = oneshot::channel();
        tokio::spawn(async move { drop(rx) });
        let sender = tokio::spawn(async move { tx.send(1) });
        format!("{:?}", sender.await.unwrap())
    });
}

#[test]
fn a_drop_before_the_first_step_may_be_seen_or_not() {
    outcomes(&["Disconnected", "Empty"], || async {
        let (tx, mut rx) = mpsc::unbounded_channel::<u8>();
        tokio::spawn(async move { drop(tx) });
        let looks = tokio::spawn(async move { rx.try_recv().unwrap_err() });
        format!("{:?}", looks.await.unwrap())
    });
}

#[test]
fn an_end_that_is_looked_at_may_be_seen_or_not() {
    outcomes(&["false", "true"], || async {
        let task = tokio::spawn(async {});
        task.is_finished().to_string()
    });
}

#[test]
fn a_task_may_be_aborted_before_it_takes() {
    outcomes(&["cancelled", "taken"], || async {
        let (tx, mut rx) = mpsc::unbounded_channel();
        let task = tokio::spawn(async move { rx.recv().await });
        tx.send(1).unwrap();
        task.abort();
        if task.await.is_ok() { "taken".into() } else { "cancelled".into() }
    });
}

#[test]
fn the_time_after_a_merged_event_differs_from_before() {
    // The receive may happen long after the send; the receiver's clock then shows the later time.
    outcomes(&["0", "1"], || async {
        let (tx, mut rx) = mpsc::unbounded_channel::<()>();
        let start = Instant::now();
        let reader = tokio::spawn(async move {
            rx.recv().await;
            start.elapsed().as_secs()
        });
        let slow = tokio::spawn(sleep(Duration::from_secs(1)));
        tx.send(()).unwrap();
        slow.await.unwrap();
        reader.await.unwrap().to_string()
    });
}

#[test]
fn a_timer_may_fire_before_the_test_is_over() {
    for reduction in [Reduction::Exhaustive, Reduction::Optimal] {
        let (verdict, _) = explore(reduction, || async {
            let (mut tx, rx) = oneshot::channel::<()>();
            tokio::spawn(async move {
                let closed = timeout(Duration::from_secs(1), tx.closed()).await;
                assert!(closed.is_ok(), "late");
            });
            tokio::spawn(async move { drop(rx) });
            String::new()
        });
        assert!(verdict.findings[0].message.contains("late"), "{reduction}: {:?}", verdict.findings);
    }
}

#[test]
fn a_replay_has_the_steps_of_the_search() {
    let program = || {
        TaskProgram::new("too early", Settings::default(), || async {
            let (tx, mut rx) = oneshot::channel();
            tokio::spawn(async move { tx.send(1) });
            tokio::spawn(async move { rx.try_recv().unwrap() }).await.unwrap();
        })
    };
    let verdict = program().explore(&Options::default(), &()).unwrap();
    let schedule = &verdict.findings[0].schedule;
    let again = program().as_in(schedule);
    let replayed = replay(&again, schedule).unwrap();
    assert_eq!(replayed.problems[0].message, verdict.findings[0].message);
    assert_eq!(replayed.trace, verdict.findings[0].counterexample);
    // A fresh program has not learnt that a task observes the event: it merges it and cannot replay the schedule.
    assert_ne!(again.parameters(), program().parameters());
    assert!(replay(&program(), schedule).is_err());
}

/// Runs a server and two clients. The server is stopped after both clients have their answers or, with `early`, without
/// waiting for any.
async fn stopped(early: bool) -> String {
    let (tx, mut rx) = mpsc::unbounded_channel::<(char, oneshot::Sender<()>)>();
    let (stop, mut stopped) = oneshot::channel::<()>();
    let server = tokio::spawn(async move {
        let mut log = String::new();
        loop {
            tokio::select! {
                biased;
                _ = &mut stopped => return log,
                Some((name, reply)) = rx.recv() => {
                    log.push(name);
                    let _ = reply.send(());
                }
            }
        }
    });
    let client = |name| {
        let tx = tx.clone();
        tokio::spawn(async move {
            let (reply, answer) = oneshot::channel();
            let sent = tx.send((name, reply));
            drop(tx);
            sent.is_ok() && answer.await.is_ok()
        })
    };
    let clients = ['a', 'b'].map(client);
    if early {
        stop.send(()).unwrap();
        return server.await.unwrap();
    }
    for client in clients {
        assert!(client.await.unwrap());
    }
    stop.send(()).unwrap();
    server.await.unwrap()
}

#[test]
fn who_waits_for_several_things_goes_on_at_once_where_causes_say_which_comes_first() {
    let (verdict, seen) = explore(Reduction::Optimal, || stopped(false));
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["ab", "ba"]);
    // Three steps (two messages and the end of the test) for each order of the messages.
    assert_eq!((verdict.counters.executions, verdict.counters.transitions), (2, 6));
}

#[test]
fn where_nothing_says_which_comes_first_either_may() {
    outcomes(&["", "a", "ab", "b", "ba"], || stopped(true));
}

#[test]
fn a_select_may_begin_before_somebody_else_has_come_to_an_event() {
    outcomes(&["dropped", "not yet"], || async {
        let (tx, rx) = oneshot::channel::<()>();
        tokio::spawn(async move { drop(tx) });
        let selects = tokio::spawn(async move {
            tokio::select! { biased; _ = rx => "dropped", () = async {} => "not yet" }.to_string()
        });
        selects.await.unwrap()
    });
}

#[test]
fn a_receiver_may_be_closed_between_what_its_task_does_and_an_answer_to_that() {
    // The request happens before both the answer and the closing, but the answer and the closing are unordered.
    outcomes(&["closed", "sent"], || async {
        let (ask, mut asked) = mpsc::unbounded_channel::<()>();
        let (tx, mut rx) = mpsc::unbounded_channel::<()>();
        let answers = tokio::spawn(async move {
            asked.recv().await;
            tx.send(()).map_or("closed", |()| "sent").to_string()
        });
        tokio::spawn(async move {
            ask.send(()).unwrap();
            rx.close();
        });
        answers.await.unwrap()
    });
}

#[test]
fn a_look_may_come_before_or_after_what_the_task_itself_has_set_going() {
    outcomes(&["Empty", "Ok"], || async {
        let (ask, mut asked) = mpsc::unbounded_channel::<()>();
        let (tx, mut rx) = mpsc::unbounded_channel::<()>();
        tokio::spawn(async move {
            asked.recv().await;
            let _ = tx.send(());
            // Keep `tx` alive until the other side drops its sender.
            asked.recv().await;
        });
        ask.send(()).unwrap();
        rx.try_recv().map_or_else(|error| format!("{error:?}"), |()| "Ok".into())
    });
}

#[test]
fn a_place_that_is_freed_besides_lets_somebody_go_on() {
    outcomes(&["Err(Empty) 1 2", "Ok(1) 2"], || async {
        let (tx, mut rx) = mpsc::channel(1);
        let (go, mut gone) = mpsc::unbounded_channel::<()>();
        tokio::spawn(async move {
            for n in 1..=2 {
                tx.send(n).await.unwrap();
            }
        });
        let receiver = tokio::spawn(async move {
            gone.recv().await;
            let mut log = format!("{:?}", rx.try_recv());
            while let Some(n) = rx.recv().await {
                log += &format!(" {n}");
            }
            log
        });
        go.send(()).unwrap();
        receiver.await.unwrap()
    });
}
