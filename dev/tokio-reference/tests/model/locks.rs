use super::{biased, check, check_both, now, wait, within};
use tokio_reference::{Leaf, Object, Op};

const NOTIFY: &[Object] = &[Object::Notify];

fn semaphore(permits: usize) -> [Object; 1] {
    [Object::Semaphore { permits }]
}

#[test]
fn notify_one_is_not_lost() {
    check(NOTIFY, &[&[wait(Leaf::Notified(0))], &[Op::NotifyOne(0)]], &["0[notified]  1[]"]);
    let twice = [wait(Leaf::Notified(0)), wait(Leaf::Notified(0))];
    let expected = ["0[notified notified]  1[]", "0[notified] blocked  1[]"];
    check(NOTIFY, &[&twice, &[Op::NotifyOne(0), Op::NotifyOne(0)]], &expected);
}

#[test]
fn notify_waiters_reaches_futures_that_exist() {
    check(NOTIFY, &[&[wait(Leaf::Notified(0))], &[Op::NotifyWaiters(0)]], &["0[notified]  1[]", "0[] blocked  1[]"]);
    let armed = [Op::Arm { object: 0, enable: false }, wait(Leaf::Armed(0))];
    check(NOTIFY, &[&armed, &[Op::NotifyWaiters(0)]], &["0[notified]  1[]", "0[] blocked  1[]"]);
}

#[test]
fn enabled_futures_are_in_line() {
    let armed = [Op::Arm { object: 0, enable: true }, wait(Leaf::Armed(0))];
    check(NOTIFY, &[&armed, &[Op::NotifyOne(0)]], &["0[true notified]  1[]", "0[false notified]  1[]"]);
    // Enabled first, so notified first: the other waiter gets nothing unless it came first.
    let tasks: [&[Op]; 3] = [&[Op::Arm { object: 0, enable: true }], &[wait(Leaf::Notified(0))], &[Op::NotifyOne(0)]];
    let expected = ["0[false]  1[notified]  2[]", "0[true]  1[] blocked  2[]"];
    check(NOTIFY, &tasks, &expected);
}

#[test]
fn a_dropped_notified_passes_its_notification_on() {
    let tasks: [&[Op]; 3] =
        [&[biased(&[Leaf::Notified(0), Leaf::Yield])], &[Op::NotifyOne(0)], &[wait(Leaf::Notified(0))]];
    let expected = ["0[0:notified]  1[]  2[] blocked", "0[1:yielded]  1[]  2[notified]"];
    check(NOTIFY, &tasks, &expected);
    // One that `notify_waiters` has reached passes nothing on.
    let tasks: [&[Op]; 2] = [&[Op::Arm { object: 0, enable: true }, Op::NotifyWaiters(0)], &[wait(Leaf::Notified(0))]];
    check(NOTIFY, &tasks, &["0[false]  1[notified]", "0[false]  1[] blocked"]);
}

#[test]
fn a_close_fails_a_waiter_that_was_assigned_its_permits() {
    let closer = [Op::AddPermits(0, 1), Op::CloseSemaphore(0), Op::Available(0)];
    let expected = ["0[acquired]  1[0]", "0[acquired]  1[1]", "0[closed]  1[0]", "0[closed]  1[1]"];
    check(&semaphore(0), &[&[wait(Leaf::Acquire(0, 1))], &closer], &expected);
}

#[test]
fn large_requests_keep_small_ones_waiting() {
    let expected = ["0[] blocked  1[] blocked", "0[] blocked  1[acquired]"];
    check(&semaphore(1), &[&[wait(Leaf::Acquire(0, 2))], &[wait(Leaf::Acquire(0, 1))]], &expected);
    let tries = [Op::TryAcquire(0, 1), Op::Available(0)];
    let expected = ["0[] blocked  1[acquired 0]", "0[] blocked  1[none 0]"];
    check(&semaphore(1), &[&[wait(Leaf::Acquire(0, 2))], &tries], &expected);
}

#[test]
fn a_cancelled_request_returns_what_it_was_assigned() {
    let tasks: [&[Op]; 2] = [&[wait(within(1, Leaf::Acquire(0, 2)))], &[wait(Leaf::Acquire(0, 1))]];
    check(&semaphore(1), &tasks, &["0[elapsed]  1[acquired]"]);
}

#[test]
fn permits_can_be_forgotten() {
    let ops =
        [Op::TryAcquire(0, 1), Op::ForgetGuard(0), Op::ForgetPermits(0, 5), Op::AddPermits(0, 1), Op::Available(0)];
    check(&semaphore(3), &[&ops], &["0[acquired 2 1]"]);
    check(&semaphore(1), &[&[Op::ForgetGuard(0), Op::Release(0)]], &["0[- -]"]);
}

#[test]
fn a_mutex_lets_one_in() {
    let lock = [wait(Leaf::Lock(0))];
    check(&[Object::Mutex], &[&lock, &lock], &["0[2]  1[2+102]", "0[102+2]  1[102]"]);
    let holds = [wait(Leaf::Lock(0)), Op::TryLock(0), Op::Release(0), Op::TryLock(0)];
    check(&[Object::Mutex], &[&holds], &["0[2 busy 2+5]"]);
}

#[test]
fn a_waiting_writer_keeps_readers_out() {
    let expected = ["0[empty empty]  1[102]", "0[102 102]  1[102]", "0[empty] blocked  1[] blocked"];
    let reads = [wait(Leaf::Read(0)), wait(Leaf::Read(0))];
    check(&[Object::RwLock], &[&reads, &[wait(Leaf::Write(0))]], &expected);
    let reads = [wait(Leaf::Read(0)), Op::TryRead(0)];
    let expected = ["0[empty empty]  1[102]", "0[102 102]  1[102]", "0[empty busy]  1[102]"];
    check(&[Object::RwLock], &[&reads, &[wait(Leaf::Write(0))]], &expected);
    check(&[Object::RwLock], &[&[wait(Leaf::Read(0)), Op::TryWrite(0)]], &["0[empty busy]"]);
}

#[test]
fn a_cell_is_initialised_once() {
    let expected = ["0[2]  1[initializing]", "0[2]  1[already]", "0[101]  1[set]"];
    check(&[Object::OnceCell], &[&[wait(Leaf::GetOrInit(0))], &[Op::Set(0)]], &expected);
    let init = [wait(Leaf::GetOrInit(0))];
    check(&[Object::OnceCell], &[&init, &init], &["0[2]  1[2]", "0[102]  1[102]"]);
}

#[test]
fn a_cancelled_initialisation_lets_another_in() {
    let cancelled = [biased(&[Leaf::Yield, Leaf::GetOrInit(0)])];
    let expected = ["0[0:yielded]  1[102]", "0[1:102]  1[102]"];
    check(&[Object::OnceCell], &[&cancelled, &[wait(Leaf::GetOrInit(0))]], &expected);
    let expected = ["0[0:yielded]  1[initializing unset]", "0[0:yielded]  1[set 101]", "0[1:101]  1[set 101]"];
    check(&[Object::OnceCell], &[&cancelled, &[Op::Set(0), Op::Get(0)]], &expected);
}

#[test]
fn a_set_once_is_set_once() {
    let expected = ["0[101]  1[set already]"];
    check(&[Object::SetOnce], &[&[wait(Leaf::WaitSet(0))], &[Op::Set(0), Op::Set(0)]], &expected);
    check(&[Object::SetOnce], &[&[Op::Get(0)], &[Op::Set(0)]], &["0[unset]  1[set]", "0[101]  1[set]"]);
}

#[test]
fn the_last_at_a_barrier_leads() {
    let barrier = [Object::Barrier { size: 2 }];
    let arrives = [wait(Leaf::BarrierWait(0))];
    check(&barrier, &[&arrives, &arrives], &["0[leader]  1[follower]", "0[follower]  1[leader]"]);
    let leaves = [biased(&[Leaf::Yield, Leaf::BarrierWait(0)])];
    // With fine granularity, the leader may arrive inside the poll in which the other one does.
    let coarse = ["0[0:yielded]  1[leader]", "0[1:leader]  1[follower]"];
    check_both(&barrier, &[&leaves, &arrives], &coarse, &["0[1:follower]  1[leader]"]);
}

#[test]
fn a_follower_may_see_the_leader_in_the_poll_in_which_it_arrives() {
    let barrier = [Object::Barrier { size: 2 }, Object::SetOnce];
    let waits = [biased(&[Leaf::BarrierWait(0), now(Op::Get(1))])];
    let leads = [wait(Leaf::BarrierWait(0)), Op::Set(1)];
    // Coarse: task 0 arrives first and then takes the second branch, whether the leader has come meanwhile or not.
    let coarse = ["0[1:unset]  1[leader set]", "0[1:103]  1[leader set]", "0[0:leader]  1[follower set]"];
    check_both(&barrier, &[&waits, &leads], &coarse, &["0[0:follower]  1[leader set]"]);
}
