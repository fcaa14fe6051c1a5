//! Runs the programs that the generators of the MPI Bugs Initiative write, and compares each verdict with its label.
//!
//! README.md says how to get the programs. They are C; a small interpreter runs each rank as a rank of `whippet_net`.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command prints")]

mod labels;
mod lexer;
mod memory;
mod mpi;
mod parser;
mod run;

use labels::{Category, Test};
use memory::Memory;
use parser::Stmt;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use whippet_model::{Limits, Verdict};
use whippet_net::mpi::{Rank, World};
use whippet_search::{Options, Reduction, explore};

/// The result of one test.
enum Outcome {
    /// Explored to the end, with this finding or without.
    Explored(Option<String>),
    /// A limit was reached.
    Limit,
    /// The program cannot be expressed, for this reason.
    Out(String),
}

fn main() -> ExitCode {
    let (flags, words): (Vec<String>, Vec<String>) = std::env::args().skip(1).partition(|word| word.starts_with('-'));
    let mut arguments = words.into_iter();
    let shows_all = flags == ["--all"];
    let Some(directory) = arguments.next().filter(|_| flags.is_empty() || shows_all) else {
        eprintln!("usage: mbi [--all] DIRECTORY [NAME]: runs the .c files in the directory whose names contain NAME");
        return ExitCode::from(2);
    };
    let wanted = arguments.next().unwrap_or_default();
    let mut files: Vec<PathBuf> = match std::fs::read_dir(&directory) {
        Ok(entries) => entries.flatten().map(|entry| entry.path()).collect(),
        Err(error) => {
            eprintln!("{directory}: {error}");
            return ExitCode::from(2);
        }
    };
    files.retain(|file| file.extension().is_some_and(|ending| ending == "c"));
    files.retain(|file| file.to_string_lossy().contains(&wanted));
    files.sort();
    let mut table = Table { shows_all, ..Table::default() };
    for file in &files {
        run_file(file, &mut table);
    }
    table.print(files.len());
    if table.wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The tests by label and result, and the reasons why programs are not expressible.
#[derive(Default)]
struct Table {
    /// Every result is printed, not only those that disagree with the label.
    shows_all: bool,
    rows: BTreeMap<String, [usize; 4]>,
    reasons: BTreeMap<String, usize>,
    wrong: usize,
}

impl Table {
    fn add(&mut self, file: &str, test: &Test, outcome: Outcome) {
        let category = labels::category(&test.label);
        let found = match &outcome {
            Outcome::Explored(found) => found.as_deref().unwrap_or("nothing").replace('\n', " "),
            Outcome::Limit => "a limit".into(),
            Outcome::Out(why) => why.clone(),
        };
        let (column, remark) = match (&outcome, category) {
            (Outcome::Explored(_), Category::OutsideOfLayer(why)) => (2, why.to_string()),
            (Outcome::Out(why), _) => (2, why.clone()),
            (Outcome::Limit, _) => (3, String::new()),
            (Outcome::Explored(None), Category::Correct) | (Outcome::Explored(Some(_)), Category::Wrong) => {
                (0, String::new())
            }
            (Outcome::Explored(_), _) => (1, String::new()),
        };
        self.wrong += usize::from(column == 1);
        if column == 1 || self.shows_all {
            println!("{file} ({}): {}, found: {found}", test.buffering_name(), test.label);
        }
        if column == 2 {
            *self.reasons.entry(remark).or_default() += 1;
        }
        self.rows.entry(test.label.clone()).or_default()[column] += 1;
    }

    fn print(&self, files: usize) {
        println!("\n{:28} {:>7} {:>9} {:>15} {:>7}", "label", "agrees", "disagrees", "not expressible", "limit");
        let mut sum = [0; 4];
        for (label, [agrees, disagrees, out, limit]) in &self.rows {
            println!("{label:28} {agrees:>7} {disagrees:>9} {out:>15} {limit:>7}");
            sum = [sum[0] + agrees, sum[1] + disagrees, sum[2] + out, sum[3] + limit];
        }
        println!("{:28} {:>7} {:>9} {:>15} {:>7}", "all", sum[0], sum[1], sum[2], sum[3]);
        println!("\n{} tests in {files} files; not expressible, by reason:", sum.iter().sum::<usize>());
        let mut reasons: Vec<_> = self.reasons.iter().collect();
        reasons.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        for (why, count) in reasons {
            println!("{count:>6} {why}");
        }
    }
}

fn run_file(file: &Path, table: &mut Table) {
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    match std::fs::read_to_string(file) {
        Ok(text) => judge_text(&name, &text, table),
        Err(error) => eprintln!("{name}: {error}"),
    }
}

/// Runs a program and adds its verdicts to the table.
fn judge_text(name: &str, text: &str, table: &mut Table) {
    let program = lexer::tokens(text).and_then(|(tokens, defines)| Ok((parser::main_of(&tokens)?, defines)));
    let tests = labels::tests(text);
    let mut outcomes = Vec::new();
    for test in &tests {
        let outcome = match &program {
            Err(why) => Outcome::Out(format!("not supported: {why}")),
            Ok(_) if labels::mixes_forms(text) => {
                Outcome::Out("not expressible: a form with varying counts beside the plain one".into())
            }
            Ok((body, defines)) => run_test(name, body, defines, test),
        };
        outcomes.push(outcome);
    }
    // An error that depends on the program's argument has to be found with one of the arguments.
    if let Some(k) = outcomes.iter().position(|outcome| matches!(outcome, Outcome::Explored(Some(_))))
        && tests.iter().all(|test| test.label == labels::DEPENDS_ON_ARGUMENT)
    {
        let found = outcomes.swap_remove(k);
        return table.add(name, &tests[k], found);
    }
    for (test, outcome) in tests.iter().zip(outcomes) {
        table.add(name, test, outcome);
    }
}

fn run_test(name: &str, body: &[Stmt], defines: &[(String, i64)], test: &Test) -> Outcome {
    let unsupported = Arc::new(Mutex::new(None));
    let world = World::new(test.ranks).buffering(test.buffering).report_unfinished();
    let (body, defines, arguments) = (body.to_vec(), defines.to_vec(), test.arguments.clone());
    let told = unsupported.clone();
    let net = world.program(name, async move |rank: Rank<Vec<i32>>| {
        let mut memory = Memory::new(rank, &defines, &arguments);
        if let Err(why) = run::run(&mut memory, &body).await {
            if why.starts_with("not ") {
                *told.lock().expect("no panic while it is locked") = Some(why.clone());
            }
            panic!("{why}");
        }
    });
    let limits = Limits::default().with_time(Some(Duration::from_secs(20)));
    let options = Options::new(Reduction::Optimal).with_limits(limits).with_undeliverable_is_error(true);
    let verdict = explore(net.into(), &options, &());
    if let Some(why) = unsupported.lock().expect("no panic while it is locked").take() {
        return Outcome::Out(why);
    }
    match verdict {
        Ok(verdict) => outcome(&verdict),
        Err(error) => Outcome::Out(error.to_string()),
    }
}

fn outcome(verdict: &Verdict) -> Outcome {
    match verdict.findings.first() {
        Some(finding) => Outcome::Explored(Some(finding.message.clone())),
        None if verdict.complete => Outcome::Explored(None),
        None => Outcome::Limit,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a program of our own and returns the number of verdicts that agree with its labels, and of those that do not.
    fn judge(header: &str, body: &str) -> (usize, usize) {
        let text = format!(
            "/* {header} */\n#include <mpi.h>\n#define TAG 7\nint main(int argc, char **argv) {{\n\
             int rank, size, from = 0, got[2] = {{0}}; MPI_Status status; MPI_Request request;\n\
             MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &rank); MPI_Comm_size(MPI_COMM_WORLD, &size);\n\
             {body}\nMPI_Finalize(); return 0; }}"
        );
        let mut table = Table::default();
        judge_text("ours", &text, &mut table);
        table.rows.values().fold((0, 0), |sum, row| (sum.0 + row[0], sum.1 + row[1]))
    }

    #[test]
    fn verdicts_are_compared_with_labels() {
        let exchange = "int other = 1 - rank; MPI_Send(&rank, 1, MPI_INT, other, TAG, MPI_COMM_WORLD); \
            MPI_Recv(got, 1, MPI_INT, other, TAG, MPI_COMM_WORLD, &status); if (got[0] != other) abort();";
        let header =
            "\n $ mpirun -np 2 $infty_buffer x\n | OK\n $ mpirun -np 2 $zero_buffer x\n | ERROR: CallMatching\n";
        assert_eq!(judge(header, exchange), (2, 0));
        assert_eq!(judge("\n $ mpirun -np 2 x\n | OK\n", exchange), (0, 1), "a wrong label is noticed");
        let reduce = "for (int i = 0; i < 2; i++) { MPI_Ireduce(&rank, got, 1, MPI_INT, MPI_SUM, rank % 2, \
            MPI_COMM_WORLD, &request); MPI_Wait(&request, &status); }";
        assert_eq!(judge("\n $ mpirun -np 2 x\n | ERROR: RootMatching\n", reduce), (1, 0));
    }
}
