use super::{check, wait};
use tokio_reference::{Leaf, Object, Op};

#[test]
fn an_abort_takes_effect_when_the_task_waits() {
    let yields = [wait(Leaf::Yield), wait(Leaf::Yield)];
    let expected = ["0[cancelled]  1[] cancelled", "0[cancelled]  1[yielded] cancelled", "0[ok]  1[yielded yielded]"];
    check(&[], &[&[Op::Spawn(1), Op::Abort(1), wait(Leaf::Join(1))], &yields], &expected);
}

#[test]
fn a_running_task_still_performs_operations() {
    let expected = ["0[unset]  1[] cancelled", "0[unset]  1[set]", "0[101]  1[set]"];
    check(&[Object::SetOnce], &[&[Op::Spawn(1), Op::Abort(1), Op::Get(0)], &[Op::Set(0)]], &expected);
}

#[test]
fn an_aborted_task_drops_its_handles() {
    let parent = [Op::Spawn(1), Op::Abort(1), wait(Leaf::Recv(0))];
    let child = [wait(Leaf::Notified(1)), Op::SendNow(0)];
    let objects = [Object::Mpsc { capacity: None }, Object::Notify];
    check(&objects, &[&parent, &child], &["0[none]  1[] cancelled"]);
}

#[test]
fn panics_are_joined() {
    check(&[], &[&[Op::Spawn(1), wait(Leaf::Join(1))], &[Op::Panic]], &["0[panicked]  1[] panicked"]);
    let objects = [Object::Mpsc { capacity: None }];
    check(&objects, &[&[wait(Leaf::Recv(0))], &[Op::Panic, Op::SendNow(0)]], &["0[none]  1[] panicked"]);
}

#[test]
fn is_finished_tells_the_end() {
    let parent = [Op::Spawn(1), Op::IsFinished(1), wait(Leaf::Join(1)), Op::IsFinished(1)];
    check(&[], &[&parent, &[Op::Now]], &["0[false ok -]  1[0]", "0[true ok -]  1[0]"]);
}

#[test]
fn a_join_set_returns_tasks_in_the_order_they_end() {
    let parent = [Op::SpawnIn(1), Op::SpawnIn(2), wait(Leaf::JoinNext), wait(Leaf::JoinNext), wait(Leaf::JoinNext)];
    let expected = ["0[ok 1 ok 2 none]  1[yielded]  2[0]", "0[ok 2 ok 1 none]  1[yielded]  2[0]"];
    check(&[], &[&parent, &[wait(Leaf::Yield)], &[Op::Now]], &expected);
}

#[test]
fn dropping_a_join_set_aborts_its_tasks() {
    let child = [wait(Leaf::Yield)];
    let expected = ["0[]  1[] cancelled", "0[]  1[yielded]"];
    check(&[], &[&[Op::SpawnIn(1), Op::DropSet], &child], &expected);
    check(&[], &[&[Op::SpawnIn(1)], &child], &expected);
    let expected = ["0[cancelled]  1[] cancelled", "0[ok 1]  1[yielded]"];
    check(&[], &[&[Op::SpawnIn(1), Op::AbortAll, wait(Leaf::JoinNext)], &child], &expected);
}

#[test]
fn detached_tasks_go_on() {
    check(&[], &[&[Op::Spawn(1)], &[wait(Leaf::Yield)]], &["0[]  1[yielded]"]);
    check(&[], &[&[Op::Panic, Op::Spawn(1)], &[Op::Now]], &["0[] panicked  1[] not spawned"]);
    check(&[], &[&[Op::Spawn(1), Op::Spawn(1)], &[Op::Now]], &["0[-]  1[0]"]);
}

#[test]
fn timers_fire_in_order() {
    check(&[], &[&[wait(Leaf::Sleep(2)), Op::Now]], &["0[slept 2]"]);
    let expected = ["0[slept 2]  1[slept 1]", "0[slept 2]  1[slept 2]", "0[slept 2]  1[slept 3]"];
    let later = ["0[slept 3]  1[slept 1]", "0[slept 3]  1[slept 3]"];
    let all: Vec<&str> = expected.iter().chain(&later).copied().collect();
    check(&[], &[&[wait(Leaf::Sleep(2)), Op::Now], &[wait(Leaf::Sleep(1)), Op::Now]], &all);
}

#[test]
fn intervals_tick_at_once_and_then_regularly() {
    let ops = [wait(Leaf::Tick(2)), Op::Now, wait(Leaf::Sleep(5)), wait(Leaf::Tick(2)), wait(Leaf::Tick(2)), Op::Now];
    check(&[], &[&ops], &["0[tick 0 slept tick tick 5]"]);
    check(&[], &[&[wait(Leaf::Tick(2)), wait(Leaf::Tick(2)), Op::Now]], &["0[tick tick 2]"]);
}
