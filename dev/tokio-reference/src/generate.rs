//! Generates small programs in which operations meet on the same few objects.

mod random;
mod shapes;
mod themes;

use crate::handles::{Node, Side};
use crate::program::{Leaf, Op, Program, TaskId};
use crate::sharing;
use random::Random;
use themes::{Piece, Theme};

/// Generates the program of a seed, always the same one.
///
/// Nearly half of the programs are variations of known-hard shapes, the others combine one or two themes. Branches of one
/// `select!` or `join!` that need the same handle need it when they begin, so that it does not depend on the order of polls
/// which of them has it.
pub fn generate(seed: u64) -> Program {
    let mut random = Random::new(seed);
    let mut program = if random.chance(45) { shapes::shape(&mut random) } else { themed(&mut random) };
    if program.tasks.iter().any(Vec::is_empty) {
        program.tasks.iter_mut().filter(|ops| ops.is_empty()).for_each(|ops| ops.push(Op::Await(Leaf::Yield)));
    }
    sharing::separate(&mut program);
    program
}

/// Tells if the program can be run on a real clock: at most one timer operation, and no operation that logs the time.
pub fn is_real_time_safe(program: &Program) -> bool {
    let mut timers = 0;
    let mut logs_time = false;
    for op in program.tasks.iter().flatten() {
        op.visit(&mut |node| match node {
            Node::Op(Op::Now) => logs_time = true,
            Node::Leaf(Leaf::Sleep(_) | Leaf::Tick(_) | Leaf::Within(..) | Leaf::SendTimeout(..)) => timers += 1,
            _ => {}
        });
    }
    timers <= 1 && !logs_time
}

/// Combines one or two themes.
fn themed(random: &mut Random) -> Program {
    let mut program = Program { objects: Vec::new(), tasks: vec![Vec::new(); if random.chance(40) { 2 } else { 3 }] };
    let mut themes = vec![Theme::any(random, &mut program.objects)];
    if random.chance(45) {
        themes.push(Theme::any(random, &mut program.objects));
    }
    for task in 0..program.tasks.len() {
        let count = 1 + random.weighted(&[2, 4, 4, 2]);
        let ops = operations(random, &themes, task, count);
        program.tasks[task] = ops;
    }
    if random.chance(30) {
        spawn_last(random, &mut program);
    }
    program
}

/// Writes operations of the role that a task plays in the themes.
fn operations(random: &mut Random, themes: &[Theme], role: usize, count: usize) -> Vec<Op> {
    (0..count).map(|_| operation(random, themes, role)).collect()
}

fn operation(random: &mut Random, themes: &[Theme], role: usize) -> Op {
    match random.choose(themes).piece(random, role) {
        Piece::Op(op) if random.chance(92) => op,
        Piece::Op(op) => combined(random, themes, role, Leaf::Now(Box::new(op))),
        Piece::Leaf(leaf) if random.chance(60) => Op::Await(leaf),
        Piece::Leaf(leaf) if random.chance(25) => Op::Await(Leaf::Within(random.between(1, 2), Box::new(leaf))),
        Piece::Leaf(leaf) => combined(random, themes, role, leaf),
    }
}

/// Puts a leaf into a `select!` or a `join!`.
fn combined(random: &mut Random, themes: &[Theme], role: usize, leaf: Leaf) -> Op {
    let count = [2, 2, 2, 2, 2, 2, 3, 3, 4][random.below(9) as usize];
    let mut branches = vec![leaf];
    while (branches.len() as u64) < count {
        let other = branch(random, themes, role);
        let in_conflict = branches.iter().any(|leaf| need_the_same(leaf, &other));
        branches.push(if in_conflict && random.chance(80) { Leaf::Yield } else { other });
    }
    let first = random.below(count) as usize;
    branches.rotate_right(first);
    if random.chance(15) && branches.len() <= 3 {
        return Op::JoinAll(branches);
    }
    Op::Select { biased: random.chance(45), branches }
}

/// Tells if both leaves need the same receiver, so that the second could do nothing.
fn need_the_same(leaf: &Leaf, other: &Leaf) -> bool {
    let receivers = |leaf: &Leaf| {
        let mut found = Vec::new();
        leaf.visit(&mut |node| {
            let side = match node {
                Node::Op(op) => op.side(),
                Node::Leaf(leaf) => leaf.side(),
            };
            found.extend(side.filter(|side| matches!(side, Side::Receiver(_))));
        });
        found
    };
    let needed = receivers(leaf);
    receivers(other).iter().any(|side| needed.contains(side))
}

fn branch(random: &mut Random, themes: &[Theme], role: usize) -> Leaf {
    match random.below(8) {
        0 => Leaf::Yield,
        1 => Leaf::Sleep(random.between(1, 2)),
        _ => match random.choose(themes).piece(random, role) {
            Piece::Leaf(leaf) => leaf,
            Piece::Op(op) if random.chance(70) => Leaf::Now(Box::new(op)),
            Piece::Op(op) => {
                let then = match random.choose(themes).piece(random, role) {
                    Piece::Leaf(leaf) => leaf,
                    Piece::Op(_) => Leaf::Yield,
                };
                Leaf::Then(Box::new(op), Box::new(then))
            }
        },
    }
}

/// Lets the first task spawn the last one, and then watch, join or abort it.
fn spawn_last(random: &mut Random, program: &mut Program) {
    let child = program.tasks.len() - 1;
    let in_set = random.chance(40);
    let place = random.below(program.tasks[0].len().min(2) as u64 + 1) as usize;
    program.tasks[0].insert(place, if in_set { Op::SpawnIn(child) } else { Op::Spawn(child) });
    program.tasks[0].truncate(3);
    for _ in 0..random.between(1, 2) {
        program.tasks[0].push(themes::supervision(random, child, in_set));
    }
}

/// Adds an operation to some of the tasks, so that a shape does not stay the same.
fn vary(random: &mut Random, program: &mut Program, themes: &[Theme]) {
    for task in 0..program.tasks.len() {
        if random.chance(35) && program.tasks[task].len() < 4 {
            let place = random.below(program.tasks[task].len() as u64 + 1) as usize;
            let op = operation(random, themes, task as TaskId);
            program.tasks[task].insert(place, op);
        }
    }
}
