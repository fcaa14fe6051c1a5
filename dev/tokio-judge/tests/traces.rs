//! Complete searches explore the same traces of the shim.

use tokio_judge::judge::{Limits, Search};
use tokio_judge::traces::compare;
use tokio_reference::{Leaf, Object, Op, Program, generate};
use whippet_search::Reduction;

fn search(reduction: Reduction) -> Search {
    Search { reduction, merged: true, deep: false, one_thread: false }
}

fn differences(programs: impl Iterator<Item = Program>, others: Reduction, executions: u64) -> Vec<String> {
    let limits = Limits { executions, ..Limits::default() };
    let searches = [Reduction::Optimal, others].map(search);
    let found = programs.filter_map(|program| Some(format!("{}{program:?}", compare(&program, searches, &limits)?)));
    found.take(3).collect()
}

#[test]
fn optimal_and_source_explore_the_same_traces() {
    let told = differences((1..201).map(generate), Reduction::Source, 2_000);
    assert!(told.is_empty(), "{}", told.join("\n"));
}

#[test]
fn optimal_and_exhaustive_explore_the_same_traces() {
    let told = differences((1..401).map(generate), Reduction::Exhaustive, 2_000);
    assert!(told.is_empty(), "{}", told.join("\n"));
}

/// Programs on which one of the searches once lost traces, or equivalent executions had different footprints.
fn known() -> Vec<Program> {
    let bounded = || vec![Object::Mpsc { capacity: Some(1) }];
    let now = |op| Leaf::Now(Box::new(op));
    let is_closed_after = || Op::Select { biased: true, branches: vec![Leaf::Sleep(1), now(Op::IsClosed(0))] };
    let within = |leaf| Op::Await(Leaf::Within(1, Box::new(leaf)));
    let program = |objects, tasks| Program { objects, tasks };
    vec![
        // A poll begins for either of two reasons that do not depend on each other.
        program(
            vec![Object::Notify, Object::Mpsc { capacity: Some(1) }],
            vec![
                vec![Op::Select {
                    biased: true,
                    branches: vec![Leaf::Then(Box::new(Op::TryRecv(1)), Box::new(Leaf::Recv(1))), Leaf::Notified(0)],
                }],
                vec![Op::NotifyOne(0)],
                vec![Op::Await(Leaf::Send(1))],
            ],
        ),
        program(
            vec![Object::Barrier { size: 2 }, Object::OnceCell],
            vec![
                vec![Op::Await(Leaf::BarrierWait(0))],
                vec![Op::Await(Leaf::GetOrInit(1))],
                vec![Op::JoinAll(vec![Leaf::BarrierWait(0), Leaf::GetOrInit(1)])],
            ],
        ),
        // A closed receiver is dropped before or after the last message is sent.
        program(
            bounded(),
            vec![
                vec![Op::Close(0)],
                vec![Op::Select { biased: false, branches: vec![Leaf::ReserveSend(0), Leaf::Sleep(1)] }],
                vec![Op::Await(Leaf::Sleep(1))],
            ],
        ),
        // A branch of a step is asleep, and wakes up behind a later step that another branch does not depend on.
        program(bounded(), vec![vec![Op::Close(0)], vec![is_closed_after()], vec![within(Leaf::SendTimeout(0, 1))]]),
        program(
            bounded(),
            vec![
                vec![Op::Close(0)],
                vec![is_closed_after()],
                vec![Op::WeakSend(0), Op::Await(Leaf::SendTimeout(0, 1))],
            ],
        ),
        // A closed channel ends, whether or not its senders are dropped as well.
        program(bounded(), vec![vec![Op::Close(0), Op::Await(Leaf::Recv(0))], vec![Op::TrySend(0)]]),
        program(
            vec![Object::Oneshot],
            vec![vec![Op::Close(0), within(Leaf::Answer(0))], vec![Op::Await(Leaf::Closed(0))]],
        ),
        program(
            vec![Object::Mpsc { capacity: None }],
            vec![
                vec![within(Leaf::Recv(0)), Op::Await(Leaf::RecvMany(0, 2))],
                vec![Op::SendNow(0)],
                vec![Op::SendNow(0)],
            ],
        ),
        // A poll goes on where a wait that it has found not ready before became ready meanwhile.
        program(
            vec![Object::Barrier { size: 2 }, Object::Broadcast { capacity: 1 }],
            vec![
                vec![Op::Await(Leaf::BarrierWait(0))],
                vec![Op::Select { biased: true, branches: vec![Leaf::BarrierWait(0), Leaf::Heard(1)] }],
            ],
        ),
    ]
}

#[test]
fn programs_with_lost_traces_agree() {
    for others in [Reduction::Source, Reduction::Exhaustive] {
        let told = differences(known().into_iter(), others, 50_000);
        assert!(told.is_empty(), "{}", told.join("\n"));
    }
}
