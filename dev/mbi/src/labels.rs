//! The labels of the programs: how to run each, and what is wrong with it.

use whippet_net::mpi::Buffering;

/// A run of a program, with its label.
pub(crate) struct Test {
    pub(crate) ranks: usize,
    pub(crate) buffering: Buffering,
    pub(crate) arguments: Vec<i64>,
    /// `OK` or the kind of error.
    pub(crate) label: String,
}

impl Test {
    pub(crate) fn buffering_name(&self) -> &'static str {
        match self.buffering {
            Buffering::Zero => "no buffers",
            Buffering::Eager => "buffers",
            _ => "any buffers",
        }
    }
}

/// The label of programs that are wrong for some of their arguments.
pub(crate) const DEPENDS_ON_ARGUMENT: &str = "IHCallMatching";

/// The meaning of a label.
pub(crate) enum Category {
    Correct,
    Wrong,
    /// The error cannot be made with this layer, for this reason.
    OutsideOfLayer(&'static str),
}

pub(crate) fn category(label: &str) -> Category {
    match label {
        "OK" => Category::Correct,
        "LocalConcurrency" | "GlobalConcurrency" | "InvalidBuffer" => {
            Category::OutsideOfLayer("the error cannot be made: values are moved, so no buffer is shared")
        }
        "CommunicatorLeak" | "TypeLeak" | "OperatorLeak" | "GroupLeak" | "RequestLeak" => {
            Category::OutsideOfLayer("the error cannot be made: handles are freed when they are dropped")
        }
        _ => Category::Wrong,
    }
}

/// Returns the runs that the header of a program lists.
pub(crate) fn tests(text: &str) -> Vec<Test> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let mut tests = Vec::new();
    for (k, line) in lines.iter().enumerate() {
        let Some(command) = line.strip_prefix("$ mpirun -np ") else { continue };
        let mut words = command.split_whitespace();
        let Some(Ok(ranks)) = words.next().map(str::parse) else { continue };
        let label = lines.get(k + 1).map_or("", |line| line.trim_start_matches('|').trim());
        let label = label.trim_start_matches("ERROR: ").to_string();
        let buffering = match words.clone().next() {
            // The label is that of the program, also of its run with buffers.
            _ if label == "BufferingHazard" => Buffering::Either,
            Some("$zero_buffer") => Buffering::Zero,
            Some("$infty_buffer") => Buffering::Eager,
            _ => Buffering::Either,
        };
        let arguments = words.filter_map(|word| word.parse().ok()).collect();
        tests.push(Test { ranks, buffering, arguments, label });
    }
    tests
}

/// Returns `true` if a program calls an operation both with and without varying counts.
pub(crate) fn mixes_forms(text: &str) -> bool {
    ["gather", "allgather", "scatter", "alltoall"].iter().any(|operation| {
        let calls = |name: &str| {
            let mut capital = name.to_string();
            capital[..1].make_ascii_uppercase();
            text.contains(&format!("MPI_{capital}(")) || text.contains(&format!("MPI_I{name}("))
        };
        calls(operation) && calls(&format!("{operation}v"))
    })
}
