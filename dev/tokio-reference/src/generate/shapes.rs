//! Known-hard shapes, each with variations.

use super::random::Random;
use super::themes::{Piece, Theme, supervision};
use super::{operation, operations, vary};
use crate::program::{Leaf, Object, Op, Program};

/// Writes one of the shapes.
pub(super) fn shape(random: &mut Random) -> Program {
    match random.below(10) {
        0 => receiver_leaves_while_sender_waits(random),
        1 => permits_then_close(random),
        2 => select_of_many(random),
        3 => abort_of_running(random),
        4 => cancelled_init(random),
        5 => select_that_acts(random),
        6 => right_after_spawn(random),
        7 => dropped_notified(random),
        _ => cancelled_waiting(random),
    }
}

fn program(tasks: usize) -> Program {
    Program { objects: Vec::new(), tasks: vec![Vec::new(); tasks] }
}

/// Races a leaf against a timer, a yield or another leaf.
fn raced(random: &mut Random, leaf: Leaf, other: Leaf) -> Op {
    match random.below(5) {
        0 => Op::Await(Leaf::Within(random.between(1, 2), Box::new(leaf))),
        1 => Op::Select { biased: true, branches: vec![leaf, other] },
        2 => Op::Select { biased: true, branches: vec![other, leaf] },
        _ => Op::Select { biased: false, branches: vec![leaf, other] },
    }
}

/// A receiver takes one message, then closes or leaves while a sender waits.
fn receiver_leaves_while_sender_waits(random: &mut Random) -> Program {
    let mut program = program(if random.chance(60) { 2 } else { 3 });
    let theme = Theme::add(&mut program.objects, Object::Mpsc { capacity: Some(1) });
    let take = if random.chance(70) { Op::Await(Leaf::Recv(0)) } else { Op::TryRecv(0) };
    let leave = if random.chance(50) { Op::Close(0) } else { Op::DropReceiver(0) };
    program.tasks[0] = match random.below(3) {
        0 => vec![take, leave],
        1 => vec![take, leave, Op::Await(Leaf::Recv(0))],
        _ => {
            let branches = vec![Leaf::Then(Box::new(leave), Box::new(Leaf::Yield)), Leaf::Sleep(1)];
            vec![take, Op::Select { biased: true, branches }]
        }
    };
    for task in 1..program.tasks.len() {
        let waiting = random.choose(&[Leaf::Send(0), Leaf::Send(0), Leaf::ReserveSend(0), Leaf::Reserve(0)]).clone();
        let first = if random.chance(50) { Op::TrySend(0) } else { Op::Await(Leaf::Send(0)) };
        let waits = if random.chance(60) { Op::Await(waiting) } else { raced(random, waiting, Leaf::Closed(0)) };
        program.tasks[task] = if task == 1 { vec![first, waits] } else { vec![waits] };
    }
    vary(random, &mut program, &[theme]);
    program
}

/// A task waits for permits while another adds some and then closes the semaphore.
fn permits_then_close(random: &mut Random) -> Program {
    let mut program = program(if random.chance(50) { 2 } else { 3 });
    let theme = Theme::add(&mut program.objects, Object::Semaphore { permits: random.below(2) as usize });
    let acquire = Leaf::Acquire(0, random.between(1, 3) as u32);
    program.tasks[0] = vec![
        if random.chance(60) { Op::Await(acquire) } else { raced(random, acquire, Leaf::Yield) },
        Op::Available(0),
    ];
    program.tasks[1] = vec![Op::AddPermits(0, random.between(1, 2) as usize), Op::CloseSemaphore(0)];
    if random.chance(50) {
        program.tasks[1].push(Op::Available(0));
    }
    if program.tasks.len() == 3 {
        program.tasks[2] = operations(random, std::slice::from_ref(&theme), 2, 1);
    }
    vary(random, &mut program, &[theme]);
    program
}

/// An unbiased select with three or four branches that can act at once.
fn select_of_many(random: &mut Random) -> Program {
    let mut program = program(2);
    let count = random.between(3, 4) as usize;
    let themes = [Theme::any(random, &mut program.objects), Theme::any(random, &mut program.objects)];
    let branches = (0..count)
        .map(|_| match random.choose(&themes).piece(random, 1) {
            Piece::Leaf(leaf) => leaf,
            Piece::Op(op) => Leaf::Now(Box::new(op)),
        })
        .collect();
    program.tasks[1] = vec![Op::Select { biased: random.chance(20), branches }];
    let count = random.between(1, 3) as usize;
    program.tasks[0] = operations(random, &themes, 0, count);
    if random.chance(40) {
        let op = operation(random, &themes, 1);
        program.tasks[1].push(op);
    }
    program
}

/// A task that is aborted while it runs still performs operations until it has to wait.
fn abort_of_running(random: &mut Random) -> Program {
    let mut program = program(2);
    let mut themes = vec![Theme::any(random, &mut program.objects)];
    if random.chance(30) {
        themes.push(Theme::any(random, &mut program.objects));
    }
    let in_set = random.chance(30);
    let count = random.between(1, 3) as usize;
    program.tasks[1] = operations(random, &themes, 1, count);
    program.tasks[0] = vec![if in_set { Op::SpawnIn(1) } else { Op::Spawn(1) }];
    if random.chance(40) {
        let op = operation(random, &themes, 0);
        program.tasks[0].push(op);
    }
    program.tasks[0].push(match (in_set, random.chance(50)) {
        (false, _) => Op::Abort(1),
        (true, true) => Op::AbortAll,
        (true, false) => Op::DropSet,
    });
    let last = if random.chance(60) { supervision(random, 1, in_set) } else { operation(random, &themes, 0) };
    program.tasks[0].push(last);
    program
}

/// An initialisation that is cancelled, so that another task initialises the cell.
fn cancelled_init(random: &mut Random) -> Program {
    let mut program = program(if random.chance(60) { 2 } else { 3 });
    let theme = Theme::add(&mut program.objects, Object::OnceCell);
    let other = if random.chance(50) { Leaf::Sleep(1) } else { Leaf::Yield };
    program.tasks[0] = vec![raced(random, Leaf::GetOrInit(0), other), Op::Get(0)];
    for task in 1..program.tasks.len() {
        let first = if random.chance(60) { Op::Await(Leaf::GetOrInit(0)) } else { Op::Set(0) };
        program.tasks[task] = vec![first, Op::Get(0)];
    }
    vary(random, &mut program, &[theme]);
    program
}

/// A select whose branches act when they are first polled.
fn select_that_acts(random: &mut Random) -> Program {
    let mut program = program(if random.chance(70) { 2 } else { 3 });
    let themes = [Theme::any(random, &mut program.objects), Theme::any(random, &mut program.objects)];
    for task in 0..program.tasks.len() {
        let mut branches = Vec::new();
        for _ in 0..random.between(2, 3) {
            let acts = random.choose(&themes).piece(random, task);
            let waits = random.choose(&themes).piece(random, task);
            branches.push(match (acts, waits) {
                (Piece::Op(op), Piece::Leaf(leaf)) => Leaf::Then(Box::new(op), Box::new(leaf)),
                (Piece::Op(op), Piece::Op(_)) => Leaf::Then(Box::new(op), Box::new(Leaf::Yield)),
                (Piece::Leaf(leaf), _) => leaf,
            });
        }
        let op = operation(random, &themes, task);
        let select = Op::Select { biased: random.chance(40), branches };
        program.tasks[task] = if task == 0 || random.chance(30) { vec![select] } else { vec![op] };
        if random.chance(30) {
            let op = operation(random, &themes, task);
            program.tasks[task].push(op);
        }
    }
    program
}

/// The first operations of a task right after it was spawned, timers included.
fn right_after_spawn(random: &mut Random) -> Program {
    let mut program = program(if random.chance(60) { 2 } else { 3 });
    let themes = [Theme::Timers, Theme::any(random, &mut program.objects)];
    let first = program.tasks.len() - 1;
    for task in 1..program.tasks.len() {
        let count = random.between(1, 2) as usize;
        program.tasks[task] = operations(random, &themes, task, count);
    }
    program.tasks[0] = operations(random, &themes, 0, 1);
    program.tasks[0].push(if random.chance(70) { Op::Spawn(first) } else { Op::SpawnIn(first) });
    let op = operation(random, &themes, 0);
    program.tasks[0].push(op);
    if random.chance(40) {
        program.tasks[0].push(Op::Now);
    }
    program
}

/// A `Notified` that is dropped after it was notified.
fn dropped_notified(random: &mut Random) -> Program {
    let mut program = program(3);
    let theme = Theme::add(&mut program.objects, Object::Notify);
    program.tasks[0] = match random.below(3) {
        0 => vec![raced(random, Leaf::Notified(0), Leaf::Yield)],
        1 => vec![Op::Arm { object: 0, enable: random.chance(80) }],
        _ => vec![Op::Arm { object: 0, enable: true }, raced(random, Leaf::Armed(0), Leaf::Notified(0))],
    };
    program.tasks[1] = vec![if random.chance(70) { Op::NotifyOne(0) } else { Op::NotifyWaiters(0) }];
    program.tasks[2] = vec![Op::Await(Leaf::Notified(0))];
    vary(random, &mut program, &[theme]);
    program
}

/// A waiting operation that is cancelled by a select, a timeout or an abort.
fn cancelled_waiting(random: &mut Random) -> Program {
    let mut program = program(2);
    let theme = [Theme::any(random, &mut program.objects)];
    let waiting = loop {
        match theme[0].piece(random, 1) {
            Piece::Leaf(leaf) => break leaf,
            Piece::Op(_) => continue,
        }
    };
    let count = random.between(1, 3) as usize;
    program.tasks[0] = operations(random, &theme, 0, count);
    let op = operation(random, &theme, 1);
    program.tasks[1] = match random.below(4) {
        0 => {
            program.tasks[0].truncate(2);
            program.tasks[0].insert(0, Op::Spawn(1));
            program.tasks[0].push(Op::Abort(1));
            vec![Op::Await(waiting), op]
        }
        _ => {
            let other = if random.chance(50) { Leaf::Sleep(1) } else { Leaf::Yield };
            vec![raced(random, waiting, other), op]
        }
    };
    if random.chance(30) {
        let ops = operations(random, &theme, 2, 1);
        program.tasks.push(ops);
    }
    program
}
