//! Judges many programs on several threads.

use crate::Many;
use crate::summary::Summary;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio_judge::judge::{
    Compared, Difference, Kind, Limits, Reference, Search, compare, compare_real, look, look_real, report, shape,
    shrink, who,
};
use tokio_judge::real;
use tokio_judge::traces;
use tokio_reference::{Program, generate, is_real_time_safe, rust_test};
use whippet_search::Reduction;

/// The time limit for making one difference smaller.
const SHRINKING: Duration = Duration::from_secs(60);

/// The time between two reports of the progress.
const PROGRESS: Duration = Duration::from_secs(5);

/// The state that all threads share.
struct Board {
    next: AtomicU64,
    summary: Mutex<Summary>,
    told: Mutex<Told>,
    most: usize,
}

/// The differences that were told.
#[derive(Default)]
struct Told {
    shapes: BTreeSet<(Kind, String)>,
    count: usize,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Board {
    fn is_full(&self) -> bool {
        lock(&self.told).count >= self.most
    }

    /// Tells a difference that was made smaller, unless one of its shape was told before.
    fn tell(&self, seed: u64, program: &Program, difference: &Difference, evidence: impl FnOnce() -> String) {
        {
            let mut told = lock(&self.told);
            if told.count >= self.most || !told.shapes.insert((difference.kind, shape(program))) {
                return;
            }
            told.count += 1;
        }
        let evidence = evidence();
        println!("{}{evidence}", report(seed, program, difference));
    }
}

/// Gives each thread seeds until there are no more, or enough differences; the answer is `true` if there were none.
fn on_threads(many: &Many, judge: impl Fn(u64, &Board) + Sync) -> bool {
    let most = many.most_differences;
    let board = Board { next: AtomicU64::new(0), summary: Mutex::default(), told: Mutex::default(), most };
    let work = || {
        while !board.is_full() {
            let number = board.next.fetch_add(1, Ordering::Relaxed);
            if number >= many.programs {
                break;
            }
            judge(many.seed.wrapping_add(number), &board);
        }
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..many.jobs.max(1)).map(|_| scope.spawn(work)).collect();
        let mut last = Instant::now();
        while !threads.iter().all(std::thread::ScopedJoinHandle::is_finished) {
            std::thread::sleep(Duration::from_millis(50));
            if last.elapsed() >= PROGRESS {
                last = Instant::now();
                let (summary, told) = (lock(&board.summary).clone(), lock(&board.told).count);
                eprintln!("{} programs, {} judged, {told} differences told", summary.programs, summary.judged);
            }
        }
    });
    println!("{}", lock(&board.summary));
    lock(&board.told).count == 0
}

/// Compares the shim with the reference model; the answer is `true` if there is no difference.
pub fn model(many: &Many, searches: &[Search], runs: u64) -> bool {
    let limits = many.sizes.limits();
    let runtime = real::runtime();
    if runs > 0 {
        std::panic::set_hook(Box::new(|_| {}));
    }
    on_threads(many, |seed, board| {
        let program = Arc::new(generate(seed));
        let results = judge_one(&program, searches, &limits, board);
        for difference in first_of_each_kind(results) {
            let Some(search) = difference.search else { continue };
            let kind = difference.kind;
            let (smaller, difference) =
                shrink(&program, difference, SHRINKING, |program| look(program, search, kind, &limits));
            board.tell(seed, &smaller, &difference, || {
                let who = if search.one_thread { String::new() } else { who(&smaller, kind, &limits) };
                who + &evidence(&runtime, &smaller, &difference, runs)
            });
        }
    })
}

/// Tells how often the real tokio showed the outcomes of a difference.
fn evidence(runtime: &::real::runtime::Runtime, program: &Program, difference: &Difference, runs: u64) -> String {
    if runs == 0 || !is_real_time_safe(program) {
        return String::new();
    }
    let seen = real::outcomes(runtime, &Arc::new(program.clone()), runs, 1);
    let count = |outcome| seen.outcomes.get(outcome).copied().unwrap_or(0);
    let counts: Vec<String> = difference.outcomes.iter().map(|outcome| count(outcome).to_string()).collect();
    format!("real tokio: seen {} times in {} runs\n", counts.join(", "), seen.runs)
}

/// Judges one program with all searches, except those that are at least as large as one that was too large.
fn judge_one(program: &Arc<Program>, searches: &[Search], limits: &Limits, board: &Board) -> Vec<Compared> {
    let one_thread = searches.iter().all(|search| search.one_thread);
    let reference = if one_thread { Reference::one_thread } else { Reference::new };
    let Some(mut reference) = reference(program, limits) else {
        let mut summary = lock(&board.summary);
        summary.programs += 1;
        summary.too_large += 1;
        return Vec::new();
    };
    let (mut results, mut left_out) = (Vec::<Compared>::new(), Vec::new());
    for &search in searches {
        match results.iter().any(|done| done.is_too_large() && search.is_at_least(done.search)) {
            true => left_out.push(search),
            false => results.push(compare(&mut reference, program, search)),
        }
    }
    let mut summary = lock(&board.summary);
    left_out.into_iter().for_each(|search| summary.leave_out(search));
    summary.programs += 1;
    summary.judged += 1;
    summary.outcomes += reference.coarse().len() as u64;
    results.iter().for_each(|compared| summary.add(compared));
    results
}

/// Compares the traces of two searches; the answer is `true` if there is no difference.
pub fn traces(many: &Many, searches: [Search; 2]) -> bool {
    let limits = many.sizes.limits();
    on_threads(many, |seed, board| {
        let program = generate(seed);
        let difference = traces::compare(&program, searches, &limits);
        {
            let mut summary = lock(&board.summary);
            summary.programs += 1;
            summary.judged += 1;
        }
        if let Some(difference) = difference {
            let look = |program: &Program| traces::compare(program, searches, &limits);
            let (smaller, difference) = shrink(&program, difference, SHRINKING, look);
            lock(&board.told).count += 1;
            println!("seed {seed}\n{difference}{smaller:?}\n{}", rust_test(&smaller));
        }
    })
}

/// Keeps one difference of each kind: the same fault often shows in all searches.
fn first_of_each_kind(results: Vec<Compared>) -> Vec<Difference> {
    let mut kept: Vec<Difference> = Vec::new();
    for difference in results.into_iter().flat_map(|compared| compared.differences) {
        if kept.iter().all(|other| other.kind != difference.kind) {
            kept.push(difference);
        }
    }
    kept
}

/// Compares the real tokio with the reference model and the shim; the answer is `true` if there is no difference.
pub fn real(many: &Many, runs: u64, one_thread: bool) -> bool {
    let limits = many.sizes.limits();
    let runtime = if one_thread { real::one_thread() } else { real::runtime() };
    std::panic::set_hook(Box::new(|_| {}));
    let search = Search { reduction: Reduction::Optimal, merged: true, deep: false, one_thread };
    on_threads(many, |seed, board| {
        let program = Arc::new(generate(seed));
        if !is_real_time_safe(&program) {
            let mut summary = lock(&board.summary);
            summary.programs += 1;
            summary.unsafe_in_real_time += 1;
            return;
        }
        let seen = real::outcomes(&runtime, &program, runs, seed);
        let differences = compare_real(&program, &seen, search, &limits);
        count(&mut lock(&board.summary), &seen, &differences);
        for difference in differences.into_iter().filter(|difference| difference.kind.is_fault()) {
            let kind = difference.kind;
            let look = |program: &Program| match kind {
                // The reference shows these without any luck.
                Kind::Unexplored => look(program, search, Kind::Missed, &limits),
                _ => look_real(&runtime, program, (search, kind), (2 * runs, seed), &limits),
            };
            let (smaller, difference) = shrink(&program, difference, SHRINKING, look);
            board.tell(seed, &smaller, &difference, String::new);
        }
    })
}

/// Counts one program that ran on the real tokio.
fn count(summary: &mut Summary, seen: &real::Observed, differences: &[Difference]) {
    summary.programs += 1;
    summary.judged += 1;
    summary.outcomes += seen.outcomes.len() as u64;
    summary.runs += seen.runs;
    summary.stuck += seen.stuck;
    for difference in differences {
        let (outcomes, programs) = summary.differences.entry(difference.kind).or_default();
        *outcomes += difference.outcomes.len() as u64;
        *programs += 1;
    }
}
