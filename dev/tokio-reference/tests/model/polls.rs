use super::{biased, check, check_both, now, select, then, wait, within};
use tokio_reference::{Leaf, Object, Op};

const CHANNEL: Object = Object::Mpsc { capacity: None };

#[test]
fn an_unbiased_select_takes_any_ready_branch() {
    let branches = [now(Op::Get(0)), now(Op::Get(0)), now(Op::Get(0))];
    check(&[Object::SetOnce], &[&[select(&branches)]], &["0[0:unset]", "0[1:unset]", "0[2:unset]"]);
    check(&[Object::SetOnce], &[&[biased(&branches)]], &["0[0:unset]"]);
}

#[test]
fn an_unbiased_select_goes_round() {
    // A branch that acts is polled only if the round reaches it before the ready one.
    let branches = [then(Op::Set(0), Leaf::WaitSet(1)), now(Op::Get(0)), Leaf::WaitSet(1)];
    let objects = [Object::SetOnce, Object::SetOnce];
    check(&objects, &[&[select(&branches)]], &["0[1:3]", "0[1:unset]"]);
}

#[test]
fn a_later_branch_wins_over_an_earlier_one_only_inside_a_poll() {
    let tasks: [&[Op]; 2] = [&[biased(&[Leaf::Recv(0), Leaf::Recv(1)])], &[Op::SendNow(0), Op::SendNow(1)]];
    let coarse = ["0[0:101]  1[sent sent]", "0[0:101]  1[sent closed]"];
    check_both(&[CHANNEL, CHANNEL], &tasks, &coarse, &["0[1:102]  1[sent sent]"]);
}

#[test]
fn losers_are_dropped_before_the_next_operation() {
    let objects = [Object::Semaphore { permits: 1 }];
    let ops = [biased(&[Leaf::Yield, Leaf::Acquire(0, 2)]), Op::Available(0)];
    check(&objects, &[&ops], &["0[0:yielded 1]"]);
}

#[test]
fn losers_are_dropped_in_branch_order() {
    // The losers take the permits of semaphore 0, then of semaphore 1, and give them back in the same order. So after
    // semaphore 1 was seen without and then with its permit, semaphore 0 has its permit: `0 1 0` is impossible.
    let objects = [Object::Semaphore { permits: 1 }, Object::Semaphore { permits: 1 }];
    let tasks: [&[Op]; 2] = [
        &[biased(&[Leaf::Yield, Leaf::Acquire(0, 2), Leaf::Acquire(1, 2)])],
        &[Op::Available(1), Op::Available(1), Op::Available(0)],
    ];
    let expected = [
        "0[0:yielded]  1[1 1 1]",
        "0[0:yielded]  1[1 1 0]",
        "0[0:yielded]  1[1 0 1]",
        "0[0:yielded]  1[1 0 0]",
        "0[0:yielded]  1[0 0 1]",
        "0[0:yielded]  1[0 0 0]",
        "0[0:yielded]  1[0 1 1]",
    ];
    check(&objects, &tasks, &expected);
}

#[test]
fn a_join_completes_all() {
    let tasks: [&[Op]; 2] = [&[Op::JoinAll(vec![Leaf::Recv(0), Leaf::Recv(1)])], &[Op::SendNow(1), Op::SendNow(0)]];
    check(&[CHANNEL, CHANNEL], &tasks, &["0[102&101]  1[sent sent]"]);
}

#[test]
fn a_join_polls_another_branch_first_each_time() {
    // Both initialisers yield once; at the second poll the second one goes first.
    let tasks: [&[Op]; 2] = [&[Op::JoinAll(vec![Leaf::GetOrInit(0), Leaf::GetOrInit(1)])], &[Op::Get(0), Op::Get(1)]];
    let expected = ["0[2&3]  1[unset unset]", "0[2&3]  1[unset 3]", "0[2&3]  1[2 3]"];
    check(&[Object::OnceCell, Object::OnceCell], &tasks, &expected);
}

#[test]
fn an_operation_runs_before_the_leaf_behind_it() {
    let ops = [wait(then(Op::SendNow(0), Leaf::Recv(0)))];
    check(&[CHANNEL], &[&ops], &["0[sent,3]"]);
    let ops = [wait(then(Op::Close(0), Leaf::Recv(0))), wait(now(Op::Close(0)))];
    check(&[CHANNEL], &[&ops], &["0[none ]"]);
}

#[test]
fn handles_are_borrowed_by_branches() {
    let ops = [biased(&[Leaf::Recv(0), now(Op::TryRecv(0))]), Op::SendNow(0)];
    check(&[CHANNEL], &[&ops], &["0[1:- sent]"]);
    let ops = [biased(&[then(Op::DropSender(0), Leaf::Yield), Leaf::Closed(0)])];
    check(&[CHANNEL], &[&ops], &["0[1:closed]"]);
    // The receiver is given back when its leaf is ready.
    let ops = [Op::SendNow(0), Op::SendNow(0), Op::JoinAll(vec![Leaf::Recv(0), now(Op::TryRecv(0))])];
    check(&[CHANNEL], &[&ops], &["0[sent sent 1&2]"]);
}

#[test]
fn timeouts_begin_with_the_select() {
    let ops = [wait(within(2, Leaf::Notified(0))), Op::Now];
    check(&[Object::Notify], &[&ops], &["0[elapsed 2]"]);
    // With fine granularity, the first timer may fire before the second is polled, which is then due at once.
    let ops = [biased(&[within(1, Leaf::Notified(0)), Leaf::Sleep(1)])];
    check_both(&[Object::Notify], &[&ops], &["0[0:elapsed]"], &["0[1:slept]"]);
}
