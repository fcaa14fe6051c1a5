//! Programs that use channels: sent and refused messages, and the ways in which a channel ends.

use super::tokio;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{broadcast, mpsc, oneshot, watch};
use tokio::task::{spawn, yield_now};

programs!(
    order
    closed_sender
    closed_receiver
    try_errors
    bounded
    oneshot_dropped
    oneshot_closed
    lagging
    watching
    weak
    permits
    close_keeps_messages
    weak_after_all
    many
    owned_permits
    permit_keeps_open
    send_wait_is_cancelled
    close_frees_senders
    a_place_that_was_not_taken_before_the_channel_closed
    closed_is_heard
    timed_send
    lengths
    values_are_dropped
    oneshot_answers
    oneshot_unwanted
    oneshot_twice
    oneshot_by_reference
    cast
    cast_ends
    cast_behind
    watch_many
    watch_for
    watch_unheard
    watch_left
    cast_left
    counted
    cast_counted
    cast_kept
    cast_gives_up_what_all_have_seen
    watch_counted
    watch_marked
    many_places
    places_know_their_channel
);

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

async fn close_keeps_messages() -> String {
    let (tx, mut rx) = mpsc::channel(2);
    tx.send(1).await.unwrap();
    rx.close();
    format!("{:?} {:?} {:?}", tx.send(2).await.is_err(), rx.recv().await, rx.recv().await)
}

async fn weak_after_all() -> String {
    let (tx, mut rx) = mpsc::channel::<u32>(2);
    let weak = tx.downgrade();
    let counts = format!("{} {}", tx.strong_count(), tx.weak_count());
    let again = weak.upgrade().unwrap();
    drop(tx);
    again.send(1).await.unwrap();
    drop(again);
    format!("{counts} {:?} {:?} {}", rx.recv().await, rx.recv().await, weak.upgrade().is_none())
}

async fn many() -> String {
    let (tx, mut rx) = mpsc::unbounded_channel();
    for n in 0..5 {
        tx.send(n).unwrap();
    }
    drop(tx);
    let mut all = Vec::new();
    let counts = [rx.recv_many(&mut all, 2).await, rx.recv_many(&mut all, 9).await, rx.recv_many(&mut all, 9).await];
    format!("{counts:?} {all:?}")
}

async fn owned_permits() -> String {
    let (tx, mut rx) = mpsc::channel(2);
    let permit = tx.clone().reserve_owned().await.unwrap();
    let room = tx.capacity();
    let tx = permit.send(1);
    let released = tx.clone().try_reserve_owned().unwrap().release().capacity();
    let two = tx.reserve_many(1).await.unwrap().map(|permit| permit.send(2)).count();
    let full = tx.try_reserve().map(|_| ()).unwrap_err();
    format!("{room} {released} {two} {full} {:?} {:?} {}", rx.recv().await, rx.recv().await, tx.max_capacity())
}

async fn permit_keeps_open() -> String {
    let (tx, mut rx) = mpsc::channel(1);
    let permit = tx.clone().reserve_owned().await.unwrap();
    drop(tx);
    let task = spawn(async move { rx.recv().await });
    drop(permit.send(7));
    format!("{:?}", task.await.unwrap())
}

async fn send_wait_is_cancelled() -> String {
    let (tx, mut rx) = mpsc::channel(1);
    tx.send(1).await.unwrap();
    let other = tx.clone();
    let task = spawn(async move { other.send(2).await });
    yield_now().await;
    task.abort();
    let cancelled = task.await.is_err_and(|error| error.is_cancelled());
    let first = rx.recv().await;
    tx.send(3).await.unwrap();
    format!("{cancelled} {first:?} {:?}", rx.recv().await)
}

async fn close_frees_senders() -> String {
    let (tx, mut rx) = mpsc::channel(1);
    tx.send(1).await.unwrap();
    let other = tx.clone();
    let task = spawn(async move { other.send(2).await.is_err() });
    yield_now().await;
    rx.close();
    let refused = task.await.unwrap();
    // The order decides whether the second send got its place before the close.
    let mut left = 0;
    while rx.recv().await.is_some() {
        left += 1;
    }
    format!("{refused} {left} {}", tx.is_closed())
}

async fn closed_is_heard() -> String {
    let (tx, rx) = mpsc::channel::<u32>(1);
    let task = spawn(async move {
        tx.closed().await;
        tx.is_closed()
    });
    drop(rx);
    format!("{}", task.await.unwrap())
}

async fn timed_send() -> String {
    let (tx, mut rx) = mpsc::channel(1);
    tx.send(1).await.unwrap();
    let late = tx.send_timeout(2, Duration::from_millis(1)).await;
    let first = rx.recv().await;
    drop(rx);
    format!("{late:?} {first:?} {:?}", tx.send_timeout(3, Duration::from_millis(1)).await)
}

async fn lengths() -> String {
    let (tx, rx) = mpsc::unbounded_channel();
    tx.send(1).unwrap();
    let same = tx.same_channel(&tx.clone());
    format!("{} {} {} {} {same}", rx.len(), rx.is_empty(), rx.is_closed(), rx.sender_strong_count())
}

async fn values_are_dropped() -> String {
    let (tx, rx) = mpsc::unbounded_channel();
    let value = Arc::new(());
    tx.send(value.clone()).unwrap();
    drop(rx);
    let refused = tx.send(value.clone()).is_err();
    format!("{refused} {}", Arc::strong_count(&value))
}

async fn oneshot_answers() -> String {
    let (tx, rx) = oneshot::channel();
    let task = spawn(rx);
    tx.send(5).unwrap();
    format!("{:?}", task.await.unwrap())
}

async fn oneshot_unwanted() -> String {
    let (mut tx, rx) = oneshot::channel::<u32>();
    let task = spawn(async move {
        tx.closed().await;
        tx.send(1)
    });
    drop(rx);
    format!("{:?}", task.await.unwrap())
}

async fn oneshot_twice() -> String {
    let (tx, mut rx) = oneshot::channel();
    tx.send(1).unwrap();
    format!("{:?} {:?} {}", rx.try_recv(), rx.try_recv(), oneshot::error::TryRecvError::Closed)
}

async fn oneshot_by_reference() -> String {
    let (tx, mut rx) = oneshot::channel();
    let mut log = String::new();
    tokio::select! {
        biased;
        _ = &mut rx => log += "too early ",
        () = std::future::ready(()) => log += "nothing ",
    }
    tx.send(3).unwrap();
    format!("{log}{:?}", rx.await)
}

async fn cast() -> String {
    let (tx, mut a) = broadcast::channel(4);
    let mut b = tx.subscribe();
    let heard = tx.send(1).unwrap();
    let mut late = tx.subscribe();
    tx.send(2).unwrap();
    let all = [a.recv().await, a.recv().await, b.recv().await, late.recv().await];
    drop((a, b, late));
    format!("{heard} {all:?} {:?} {}", tx.send(3), tx.receiver_count())
}

async fn cast_ends() -> String {
    let (tx, mut rx) = broadcast::channel::<u32>(1);
    let empty = rx.try_recv();
    let again = rx.resubscribe();
    let task = spawn(async move { rx.recv().await });
    drop(tx);
    let error = task.await.unwrap().unwrap_err();
    format!("{empty:?} {error} {error:?} {}", again.is_empty())
}

async fn cast_behind() -> String {
    let (tx, mut rx) = broadcast::channel(2);
    for n in 0..5 {
        tx.send(n).unwrap();
    }
    let lagged = rx.try_recv().unwrap_err();
    format!("{} {lagged} {:?} {:?} {:?}", rx.len(), rx.try_recv(), rx.try_recv(), rx.try_recv())
}

async fn watch_many() -> String {
    let (tx, mut rx) = watch::channel(1);
    let fresh = rx.has_changed();
    tx.send_modify(|n| *n += 1);
    let quiet = tx.send_if_modified(|_| false);
    let seen = rx.has_changed();
    let old = tx.send_replace(9);
    let late = tx.subscribe();
    let value = *rx.borrow_and_update();
    format!(
        "{fresh:?} {quiet} {seen:?} {old} {value} {:?} {:?} {}",
        rx.has_changed(),
        late.has_changed(),
        tx.receiver_count()
    )
}

async fn watch_for() -> String {
    let (tx, mut rx) = watch::channel(0);
    let task = spawn(async move { rx.wait_for(|n| *n >= 2).await.map(|n| *n).map_err(|error| error.to_string()) });
    for n in 1..4 {
        tx.send_replace(n);
    }
    drop(tx);
    format!("{:?}", task.await.unwrap())
}

async fn watch_unheard() -> String {
    let (tx, rx) = watch::channel(0);
    drop(rx);
    tx.closed().await;
    let refused = tx.send(1);
    format!("{refused:?} {} {}", tx.is_closed(), *tx.borrow())
}

async fn a_place_that_was_not_taken_before_the_channel_closed() -> String {
    let (tx, mut rx) = mpsc::channel(1);
    tx.send(1).await.unwrap();
    let (first, refused) = {
        let mut wait = std::pin::pin!(tx.send(2));
        let first = tokio::select! { biased; _ = &mut wait => "early", () = yield_now() => "waits" };
        rx.recv().await;
        rx.close();
        (first, wait.await.is_err())
    };
    format!("{first} {refused} {:?} {}", rx.recv().await, tx.capacity())
}

async fn watch_left() -> String {
    let (tx, mut rx) = watch::channel(0);
    let mut log = String::new();
    for _ in 0..2 {
        // After an abandoned wait, the receiver waits for a value that is newer than the last one seen.
        let first = tokio::select! { biased; _ = rx.changed() => "changed", () = yield_now() => "left" };
        tx.send_modify(|n| *n += 1);
        log += &format!("{first} {} ", *rx.borrow_and_update());
    }
    log
}

async fn cast_left() -> String {
    let (tx, mut rx) = broadcast::channel(4);
    let mut log = String::new();
    for n in 0..2 {
        let first = tokio::select! { biased; got = rx.recv() => format!("{got:?}"), () = yield_now() => "left".into() };
        tx.send(n).unwrap();
        log += &format!("{first} {:?} ", rx.try_recv());
    }
    log
}

async fn counted() -> String {
    let (tx, mut rx) = mpsc::channel::<()>(1);
    let (other, weak) = (tx.clone(), tx.downgrade());
    let again = weak.clone();
    let before = format!("{} {} {}", tx.strong_count(), tx.weak_count(), rx.sender_weak_count());
    let task = spawn(async move {
        let third = other.clone();
        drop(again);
        drop(other);
        third.send(()).await.unwrap();
    });
    // The other task may have cloned its sender by now, or dropped it, or both.
    let between = weak.strong_count();
    rx.recv().await;
    task.await.unwrap();
    format!("{before} {between} {} {}", rx.sender_strong_count(), weak.weak_count())
}

async fn cast_counted() -> String {
    let (tx, rx) = broadcast::channel::<u32>(2);
    let (other, weak) = (tx.clone(), tx.downgrade());
    let before = format!("{} {} {} {}", tx.strong_count(), tx.weak_count(), weak.strong_count(), weak.weak_count());
    let task = spawn(async move {
        let third = other.clone();
        drop(other);
        third
    });
    let between = rx.sender_strong_count();
    drop(task.await.unwrap());
    drop(tx);
    let open = rx.is_closed();
    format!("{before} {between} {open} {} {} {}", weak.upgrade().is_none(), rx.sender_weak_count(), rx.is_closed())
}

async fn cast_kept() -> String {
    let (tx, mut rx) = broadcast::channel(4);
    let mut other = tx.subscribe();
    for n in 0..3 {
        tx.send(n).unwrap();
    }
    let all = (tx.len(), tx.is_empty());
    let task = spawn(async move { other.recv().await.unwrap() });
    rx.recv().await.unwrap();
    // The other receiver may have received the first message, or be dropped.
    let between = tx.len();
    task.await.unwrap();
    let then = tx.len();
    drop(rx);
    format!("{all:?} {between} {then} {}", tx.is_empty())
}

async fn cast_gives_up_what_all_have_seen() -> String {
    let (tx, mut rx) = broadcast::channel(4);
    let mut other = tx.subscribe();
    let (reply, mut answers) = mpsc::channel::<u32>(4);
    tx.send(reply).unwrap();
    let task = spawn(async move { other.recv().await.unwrap().send(1).await.is_ok() });
    let mine = rx.recv().await.unwrap().send(2).await.is_ok();
    let theirs = task.await.unwrap();
    let mut sum = 0;
    // The loop ends, because the message is dropped after all receivers have received it.
    while let Some(n) = answers.recv().await {
        sum += n;
    }
    format!("{mine} {theirs} {sum} {}", tx.len())
}

async fn watch_counted() -> String {
    let tx = watch::Sender::new(0);
    let alone = (tx.receiver_count(), tx.sender_count(), tx.is_closed(), tx.send(1).is_err());
    let rx = tx.subscribe();
    let other = tx.clone();
    let same = other.same_channel(&tx);
    let task = spawn(async move {
        let second = rx.clone();
        drop(rx);
        drop(other);
        second
    });
    let between = (1..=2).contains(&tx.receiver_count()) && (1..=2).contains(&tx.sender_count());
    let second = task.await.unwrap();
    let open = second.is_closed();
    drop(tx);
    format!("{alone:?} {same} {between} {open} {}", second.is_closed())
}

async fn watch_marked() -> String {
    let (tx, mut rx) = watch::channel(1);
    let fresh = rx.has_changed().unwrap();
    rx.mark_changed();
    let marked = rx.has_changed().unwrap();
    rx.changed().await.unwrap();
    let seen = rx.borrow().has_changed();
    tx.send(2).unwrap();
    rx.mark_unchanged();
    let task = spawn(async move {
        tx.send(3).unwrap();
    });
    rx.changed().await.unwrap();
    task.await.unwrap();
    format!("{fresh} {marked} {seen} {} {:?}", *rx.borrow(), rx.has_changed().is_err())
}

async fn many_places() -> String {
    let (tx, mut rx) = mpsc::channel(3);
    let more = tx.try_reserve_many(4).map(|_| ()).unwrap_err();
    let mut places = tx.try_reserve_many(2).unwrap();
    let full = tx.try_reserve_many(2).map(|_| ()).unwrap_err();
    places.next().unwrap().send(1);
    let (left, room) = (places.len(), tx.capacity());
    drop(places);
    let none = tx.try_reserve_many(0).unwrap().len();
    rx.recv().await.unwrap();
    drop(rx);
    let closed = tx.try_reserve_many(0).map(|_| ()).unwrap_err();
    let late = tx.reserve_many(0).await.map(|_| ()).is_err();
    format!("{more} {full} {left} {room} {} {none} {closed} {late}", tx.capacity())
}

async fn places_know_their_channel() -> String {
    let (tx, _rx) = mpsc::channel::<u32>(2);
    let (other, _other) = mpsc::channel::<u32>(2);
    let (one, two) = (tx.clone().reserve_owned().await.unwrap(), tx.clone().reserve_owned().await.unwrap());
    let third = other.clone().reserve_owned().await.unwrap();
    let text = format!("{} {}", one.same_channel(&two), one.same_channel(&third));
    format!("{text} {} {}", two.same_channel_as_sender(&tx), two.same_channel_as_sender(&other))
}
