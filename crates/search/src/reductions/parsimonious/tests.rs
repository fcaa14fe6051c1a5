//! Tests of the parts: they are independent of each other, small, and few.

use super::{Search, search};
use crate::Options;
use crate::driver::control::Control;
use crate::driver::parts::{Part, PartTree};
use crate::driver::run::{Run, Stop};
use crate::reductions::optimal::wakeup;
use crate::toy::{Action, Granularity, Program, Target, Toy};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// A small random number generator that gives the same numbers on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

/// Returns a program of three actors that send, create, choose, refuse and stop.
fn draw(seed: u64) -> Program {
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let granularity = [Granularity::Actor, Granularity::Footprint, Granularity::Fields][random.below(3)];
    let mut program = Program::new(3).granularity(granularity);
    for _ in 0..3 {
        program = program.main(random.below(3) as u32, random.below(3) as u32);
    }
    for actor in 0..3 {
        for tag in 0..3 {
            let mut action = || match random.below(8) {
                0 => Action::Set(1),
                1 => Action::Add(1),
                2 => Action::Choose(2),
                3 => Action::Store(0, 1),
                4 => Action::Only(0, 1),
                5 if tag > 0 => Action::Stop,
                // Tags decrease, so every execution ends.
                _ if tag > 0 => Action::Send(Target::Actor(random.below(3) as u32), tag - 1),
                _ => Action::Add(2),
            };
            let actions = [action(), action()];
            program = program.on(actor, tag, actions);
        }
    }
    program.refuse(0, 1, 1).refuse(1, 0, 2)
}

fn with_run<T>(program: &Program, work: impl FnOnce(&mut Run<'_, Toy>) -> T) -> T {
    let options = Options::default();
    let control = Control::new(&options.limits);
    let mut run = Run::new(program, &options, &control).unwrap();
    work(&mut run)
}

/// Writes a part as text.
fn write(part: &Part) -> String {
    let mut tree = PartTree::default();
    tree.add(part);
    serde_json::to_string(&tree).unwrap()
}

fn read(text: &str) -> Part {
    serde_json::from_str::<PartTree>(text).unwrap().pop().unwrap()
}

fn everything() -> Part {
    PartTree::everything().pop().unwrap()
}

/// Totals of a search: executions, blocked ones, and the keys of the traces.
#[derive(Debug, Default, PartialEq)]
struct Totals {
    executions: u64,
    blocked: u64,
    traces: Vec<u64>,
}

impl Totals {
    /// Explores one part in a context, and counts it.
    fn explore(&mut self, search: &mut Search, run: &mut Run<'_, Toy>, part: &Part) {
        let before = (run.counters.executions, run.counters.blocked);
        search.execute(run, part).unwrap();
        self.executions += run.counters.executions - before.0;
        self.blocked += run.counters.blocked - before.1;
        if run.counters.executions > before.0 {
            self.traces.push(search.path.record.clocks.key());
        }
    }

    fn sorted(mut self) -> Totals {
        self.traces.sort_unstable();
        self
    }
}

fn in_one_context(program: &Program, most: u64) -> Option<Totals> {
    with_run(program, |run| {
        let (mut search, mut totals) = (Search::new(run.machine()), Totals::default());
        search.open.push(everything());
        while let Some(part) = search.open.pop() {
            totals.explore(&mut search, run, &part);
            if totals.executions > most {
                return None;
            }
        }
        Some(totals.sorted())
    })
}

/// Explores random open parts, as text, each time in a new context for up to four executions.
fn in_many_contexts(program: &Program, random: &mut Random) -> Totals {
    let mut totals = Totals::default();
    let mut open = vec![write(&everything())];
    while !open.is_empty() {
        let part = open.swap_remove(random.below(open.len()));
        with_run(program, |run| {
            let mut search = Search::new(run.machine());
            search.open.push(read(&part));
            for _ in 0..=random.below(4) {
                if let Some(part) = search.open.pop() {
                    totals.explore(&mut search, run, &part);
                }
            }
            open.extend(search.open.iter().map(write));
        });
    }
    totals.sorted()
}

#[test]
fn any_context_explores_any_part() {
    let (mut compared, mut executions) = (0, 0);
    for seed in 0..300 {
        let program = draw(seed);
        let Some(totals) = in_one_context(&program, 300) else { continue };
        let mut distinct = totals.traces.clone();
        distinct.dedup();
        assert_eq!(distinct.len() as u64, totals.executions, "a trace is explored twice, seed {seed}: {program}");
        assert_eq!(in_many_contexts(&program, &mut Random(seed)), totals, "seed {seed}: {program}");
        compared += 1;
        executions += totals.executions;
    }
    assert!(compared > 200 && executions > 2_000, "{executions} executions of {compared} programs");
}

/// Returns a program with 2^(n + 1) traces. Each of n actors receives two messages in any order, and then hands on a token, which ends
/// at an actor that also receives a message at the beginning.
fn relay(n: u32) -> Program {
    let mut program = Program::new(n + 1).granularity(Granularity::Footprint).main(n, 3);
    for actor in 0..n {
        program = program.main(actor, 0).main(actor, 1).on(actor, 0, [Action::Add(1)]).on(actor, 1, [Action::Add(1)]);
        program =
            program.on(actor, 2, [Action::Send(Target::Actor(actor + 1), 2)]).refuse(actor, 0, 2).refuse(actor, 1, 2);
    }
    program.main(0, 2)
}

/// Counts the bytes that the current thread has allocated.
struct Counting;

thread_local! {
    static NOW: Cell<isize> = const { Cell::new(0) };
    static MOST: Cell<isize> = const { Cell::new(0) };
}

fn count(bytes: isize) {
    // A thread that ends has no counters any more.
    let _ = NOW.try_with(|now| {
        now.set(now.get() + bytes);
        MOST.with(|most| most.set(most.get().max(now.get())));
    });
}

// SAFETY: all calls are passed on to the system's allocator unchanged; the counters do not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller keeps to the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: the caller keeps to the contract of `dealloc`, and `at` was allocated by the same allocator.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Returns the bytes that a search needs at most, and its number of executions.
fn memory(program: &Program, search: fn(&mut Run<'_, Toy>) -> Result<(), Stop>) -> (isize, u64) {
    with_run(program, |run| {
        let before = NOW.get();
        MOST.set(before);
        search(run).unwrap();
        (MOST.get() - before, run.counters.executions)
    })
}

#[test]
fn memory_stays_flat_where_wakeup_trees_grow() {
    let sizes = [4, 6, 8];
    let [flat, tree] = [search as fn(&mut Run<'_, Toy>) -> Result<(), Stop>, wakeup::search].map(|search| {
        sizes.map(|n| {
            let (bytes, executions) = memory(&relay(n), search);
            assert_eq!(executions, 2 << n);
            println!("{n}: {bytes} bytes for {executions} executions");
            bytes
        })
    });
    assert!(tree[2] > 8 * tree[0], "wakeup trees hold what grows exponentially: {tree:?}");
    assert!(flat[2] < 5 * flat[0], "polynomial: {flat:?}");
}
