use super::{biased, check, check_both, wait, within};
use tokio_reference::{Leaf, Object, Op};

const ONE: &[Object] = &[Object::Mpsc { capacity: Some(1) }];
const UNBOUNDED: &[Object] = &[Object::Mpsc { capacity: None }];

#[test]
fn bounded_messages_arrive_in_order() {
    let receiver = [wait(Leaf::Recv(0)), wait(Leaf::Recv(0)), wait(Leaf::Recv(0))];
    check(ONE, &[&receiver, &[wait(Leaf::Send(0)), wait(Leaf::ReserveSend(0))]], &["0[102 104 none]  1[sent sent]"]);
}

#[test]
fn a_full_channel_refuses() {
    let expected = ["0[sent full]  1[1]", "0[sent sent]  1[1]", "0[sent closed]  1[1]"];
    check(ONE, &[&[Op::TrySend(0), Op::TrySend(0)], &[wait(Leaf::Recv(0))]], &expected);
}

#[test]
fn a_close_reaches_a_sender_that_was_assigned_a_place() {
    let expected = ["0[101]  1[sent sent]", "0[101]  1[sent closed]"];
    for leave in [Op::Close(0), Op::DropReceiver(0)] {
        check(ONE, &[&[wait(Leaf::Recv(0)), leave], &[Op::TrySend(0), wait(Leaf::Send(0))]], &expected);
    }
}

#[test]
fn messages_before_a_close_are_received() {
    let receiver = [Op::Close(0), wait(Leaf::Recv(0)), wait(Leaf::Recv(0))];
    let expected = ["0[102 none]  1[sent]", "0[none none]  1[closed]"];
    check(ONE, &[&receiver, &[wait(Leaf::Send(0))]], &expected);
}

#[test]
fn a_permit_outlives_a_close() {
    let receiver = [Op::Close(0), wait(Leaf::Recv(0))];
    let expected = ["0[103]  1[reserved sent]", "0[none]  1[closed -]"];
    check(ONE, &[&receiver, &[wait(Leaf::Reserve(0)), Op::SendPermit(0)]], &expected);
    let expected = ["0[none]  1[reserved]", "0[none]  1[closed]"];
    check(ONE, &[&receiver, &[wait(Leaf::Reserve(0))]], &expected);
    check(
        ONE,
        &[&receiver, &[wait(Leaf::Reserve(0)), Op::Release(0)]],
        &expected.map(|text| match text {
            "0[none]  1[closed]" => "0[none]  1[closed -]",
            text => text,
        }),
    );
}

#[test]
fn a_permit_keeps_the_channel_open() {
    let sender = [wait(Leaf::Reserve(0)), Op::DropSender(0), Op::SendPermit(0)];
    check(ONE, &[&[wait(Leaf::Recv(0)), wait(Leaf::Recv(0))], &sender], &["0[104 none]  1[reserved sent]"]);
}

#[test]
fn a_sender_may_have_a_permit_and_not_its_message_yet() {
    let observer = [Op::Capacity(0), Op::TryRecv(0)];
    let coarse = ["0[sent]  1[1 empty]", "0[sent]  1[1 1]", "0[sent]  1[0 1]", "0[closed]  1[1 empty]"];
    check_both(ONE, &[&[Op::TrySend(0)], &observer], &coarse, &["0[sent]  1[0 empty]"]);
}

#[test]
fn weak_senders_do_not_keep_the_channel_open() {
    let tasks: [&[Op]; 3] = [&[wait(Leaf::Recv(0)), wait(Leaf::Recv(0))], &[Op::SendNow(0)], &[Op::WeakSend(0)]];
    let expected = ["0[101 201]  1[sent]  2[sent]", "0[201 101]  1[sent]  2[sent]", "0[101 none]  1[sent]  2[dead]"];
    check(UNBOUNDED, &tasks, &expected);
}

#[test]
fn a_weak_sender_stays_when_the_sender_is_dropped() {
    check(UNBOUNDED, &[&[wait(Leaf::Recv(0))], &[Op::DropSender(0), Op::WeakSend(0)]], &["0[none]  1[dead]"]);
}

#[test]
fn recv_many_takes_what_is_there() {
    let expected = ["0[101+102]  1[sent sent]", "0[101]  1[sent sent]", "0[101]  1[sent closed]"];
    check(UNBOUNDED, &[&[wait(Leaf::RecvMany(0, 2))], &[Op::SendNow(0), Op::SendNow(0)]], &expected);
}

#[test]
fn send_timeout_gives_up() {
    let expected = ["0[sent sent]  1[1]", "0[sent timeout]  1[1]", "0[sent closed]  1[1]"];
    check(ONE, &[&[Op::TrySend(0), wait(Leaf::SendTimeout(0, 1))], &[wait(Leaf::Recv(0))]], &expected);
    let idle = [Op::Len(0), wait(Leaf::Sleep(9))];
    let expected = ["0[sent timeout]  1[0 slept]", "0[sent timeout]  1[1 slept]", "0[sent closed]  1[1 slept]"];
    let late = ["0[closed closed]  1[0 slept]", "0[sent closed]  1[0 slept]"];
    let all: Vec<&str> = expected.iter().chain(&late).copied().collect();
    check(ONE, &[&[Op::TrySend(0), wait(Leaf::SendTimeout(0, 1))], &idle], &all);
}

#[test]
fn closed_notices_the_receiver_leaving() {
    for leave in [Op::Close(0), Op::DropReceiver(0)] {
        check(ONE, &[&[leave], &[wait(Leaf::Closed(0)), Op::TrySend(0)]], &["0[]  1[closed closed]"]);
    }
    check(&[Object::Watch], &[&[wait(Leaf::Closed(0))], &[Op::DropReceiver(0)]], &["0[closed]  1[]"]);
    check(&[Object::Oneshot], &[&[wait(Leaf::Closed(0)), Op::Reply(0)], &[Op::Close(0)]], &["0[closed gone]  1[]"]);
}

#[test]
fn a_cancelled_sender_passes_its_place_on() {
    let cancelled = [biased(&[Leaf::Yield, Leaf::Send(0)])];
    // If task 1 has taken the only place, task 0 waits for it and leaves at its second poll.
    let tasks: [&[Op]; 3] = [&cancelled, &[wait(Leaf::Send(0))], &[wait(Leaf::Recv(0)), wait(Leaf::Recv(0))]];
    let expected =
        ["0[0:yielded]  1[sent]  2[102 none]", "0[1:sent]  1[sent]  2[3 102]", "0[1:sent]  1[sent]  2[102 3]"];
    check(ONE, &tasks, &expected);
}

#[test]
fn oneshots_give_one_answer() {
    let oneshot = [Object::Oneshot];
    check(&oneshot, &[&[wait(Leaf::Answer(0))], &[Op::Reply(0)]], &["0[101]  1[sent]"]);
    check(&oneshot, &[&[wait(Leaf::Answer(0))], &[Op::DropSender(0)]], &["0[gone]  1[]"]);
    let closing = [Op::Close(0), wait(Leaf::Answer(0))];
    check(&oneshot, &[&closing, &[Op::Reply(0)]], &["0[101]  1[sent]", "0[gone]  1[gone]"]);
    let expected = ["0[empty empty]  1[sent]", "0[empty empty]  1[gone]", "0[empty 101]  1[sent]", "0[101 -]  1[sent]"];
    check(&oneshot, &[&[Op::TryRecv(0), Op::TryRecv(0)], &[Op::Reply(0)]], &expected);
}

#[test]
fn broadcast_receivers_lag() {
    let broadcast = [Object::Broadcast { capacity: 1 }];
    let hears = [wait(Leaf::Heard(0)), wait(Leaf::Heard(0))];
    let expected = ["0[1 1]  1[lagged 1 2]", "0[1 1]  1[1 2]"];
    check(&broadcast, &[&[Op::Broadcast(0), Op::Broadcast(0)], &hears], &expected);
    check(&broadcast, &[&[Op::Broadcast(0)], &hears], &["0[1]  1[1 closed]"]);
    let expected = ["0[1]  1[]", "0[nobody]  1[]"];
    check(&broadcast, &[&[Op::Broadcast(0)], &[Op::DropReceiver(0)]], &expected);
    let expected = ["0[1]  1[empty 0]", "0[1]  1[empty 1]", "0[1]  1[1 0]", "0[nobody]  1[empty 0]"];
    check(&broadcast, &[&[Op::Broadcast(0)], &[Op::TryHear(0), Op::Len(0)]], &expected);
}

#[test]
fn watch_receivers_see_the_newest_value() {
    let watch = [Object::Watch];
    check(&watch, &[&[Op::Publish(0), Op::Publish(0)], &[wait(Leaf::Changed(0))]], &["0[0 1]  1[1]", "0[0 1]  1[2]"]);
    let twice = [wait(Leaf::Changed(0)), wait(Leaf::Changed(0))];
    check(&watch, &[&[Op::Publish(0)], &twice], &["0[0]  1[1 closed]"]);
    let expected = ["0[0]  1[false 0]", "0[0]  1[false 1]", "0[0]  1[true 1]", "0[0]  1[closed 1]"];
    check(&watch, &[&[Op::Publish(0)], &[Op::HasChanged(0), Op::Borrow(0)]], &expected);
}

#[test]
fn changed_marks_and_the_borrow_may_see_a_later_value() {
    // With fine granularity, the second value may come between `changed` and the borrow, which then marks it as seen.
    let tasks: [&[Op]; 2] =
        [&[Op::Publish(0), Op::Publish(0), wait(Leaf::Closed(0))], &[wait(Leaf::Changed(0)), Op::HasChanged(0)]];
    let expected = ["0[0 1 closed]  1[1 false]", "0[0 1 closed]  1[1 true]", "0[0 1 closed]  1[2 false]"];
    check(&[Object::Watch], &tasks, &expected);
}

#[test]
fn timeouts_poll_the_future_first() {
    let tasks: [&[Op]; 2] = [&[wait(within(1, Leaf::Recv(0)))], &[Op::SendNow(0)]];
    check(UNBOUNDED, &tasks, &["0[101]  1[sent]", "0[elapsed]  1[sent]", "0[elapsed]  1[closed]"]);
}
