//! Printed programs. `BLESS=1 cargo test --test printed` writes the expected texts anew.
//!
//! `examples/printed.rs` writes a project in which many printed programs can be compiled against tokio.

use tokio_reference::{Leaf, Object, Op, Program, generate, rust_test};

#[track_caller]
fn check(name: &str, program: &Program) {
    let path = format!("{}/tests/golden/{name}.rs", env!("CARGO_MANIFEST_DIR"));
    let printed = rust_test(program);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &printed).expect("the directory of the expected texts exists");
    }
    assert_eq!(printed, std::fs::read_to_string(&path).expect("there is an expected text"));
}

#[test]
fn a_receiver_closes_while_a_sender_waits() {
    let receiver = vec![
        Op::Await(Leaf::Recv(0)),
        Op::Close(0),
        Op::Select { biased: true, branches: vec![Leaf::Recv(0), Leaf::Sleep(1)] },
    ];
    let sender = vec![
        Op::TrySend(0),
        Op::Await(Leaf::Within(2, Box::new(Leaf::Send(0)))),
        Op::Await(Leaf::Reserve(0)),
        Op::SendPermit(0),
    ];
    let program = Program { objects: vec![Object::Mpsc { capacity: Some(1) }], tasks: vec![receiver, sender] };
    check("receiver_closes", &program);
}

#[test]
fn a_task_is_aborted_while_it_holds_permits() {
    let parent = vec![Op::Spawn(1), Op::Available(0), Op::Abort(1), Op::Await(Leaf::Join(1)), Op::Now];
    let child = vec![
        Op::Await(Leaf::Acquire(0, 2)),
        Op::Select {
            biased: false,
            branches: vec![Leaf::Notified(1), Leaf::Yield, Leaf::Now(Box::new(Op::Release(0)))],
        },
        Op::CloseSemaphore(0),
    ];
    let objects = vec![Object::Semaphore { permits: 2 }, Object::Notify];
    check("task_is_aborted", &Program { objects, tasks: vec![parent, child] });
}

#[test]
fn cells_and_channels_meet_in_branches() {
    let first = vec![
        Op::JoinAll(vec![Leaf::GetOrInit(0), Leaf::Then(Box::new(Op::Publish(1)), Box::new(Leaf::Changed(2)))]),
        Op::Get(0),
    ];
    let second = vec![
        Op::Select { biased: false, branches: vec![Leaf::Changed(1), Leaf::Answer(3)] },
        Op::Publish(2),
        Op::TryRecv(3),
    ];
    let third = vec![Op::Reply(3), Op::Arm { object: 4, enable: true }, Op::Await(Leaf::Armed(4))];
    let objects = vec![Object::OnceCell, Object::Watch, Object::Watch, Object::Oneshot, Object::Notify];
    check("cells_and_channels", &Program { objects, tasks: vec![first, second, third] });
}

#[test]
fn every_program_can_be_printed() {
    for seed in 0..2000 {
        let printed = rust_test(&generate(seed));
        let count = |character| printed.matches(character).count();
        assert_eq!((count('{'), count('(')), (count('}'), count(')')), "seed {seed}:\n{printed}");
    }
}
