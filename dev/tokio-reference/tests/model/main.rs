//! Small programs with all their outcomes, written by hand from tokio's documentation.

mod channels;
mod locks;
mod polls;
mod tasks;

use std::collections::BTreeSet;
use tokio_reference::{Granularity, Leaf, Object, Op, Program, outcomes};

fn program(objects: &[Object], tasks: &[&[Op]]) -> Program {
    Program { objects: objects.to_vec(), tasks: tasks.iter().map(|ops| ops.to_vec()).collect() }
}

fn texts(program: &Program, granularity: Granularity) -> BTreeSet<String> {
    let outcomes = outcomes(program, granularity, 1_000_000).expect("a small program");
    outcomes.iter().map(ToString::to_string).collect()
}

fn set(expected: &[&str]) -> BTreeSet<String> {
    expected.iter().map(ToString::to_string).collect()
}

/// Checks the outcomes, which are the same with coarse and fine granularity.
#[track_caller]
fn check(objects: &[Object], tasks: &[&[Op]], expected: &[&str]) {
    check_both(objects, tasks, expected, &[]);
}

/// Checks the outcomes with coarse granularity, and those that fine granularity adds.
#[track_caller]
fn check_both(objects: &[Object], tasks: &[&[Op]], coarse: &[&str], added: &[&str]) {
    let program = program(objects, tasks);
    assert_eq!(texts(&program, Granularity::Coarse), set(coarse), "coarse");
    let fine: Vec<&str> = coarse.iter().chain(added).copied().collect();
    assert_eq!(texts(&program, Granularity::Fine), set(&fine), "fine");
}

fn wait(leaf: Leaf) -> Op {
    Op::Await(leaf)
}

fn select(branches: &[Leaf]) -> Op {
    Op::Select { biased: false, branches: branches.to_vec() }
}

fn biased(branches: &[Leaf]) -> Op {
    Op::Select { biased: true, branches: branches.to_vec() }
}

fn now(op: Op) -> Leaf {
    Leaf::Now(Box::new(op))
}

fn then(op: Op, leaf: Leaf) -> Leaf {
    Leaf::Then(Box::new(op), Box::new(leaf))
}

fn within(ticks: u64, leaf: Leaf) -> Leaf {
    Leaf::Within(ticks, Box::new(leaf))
}
