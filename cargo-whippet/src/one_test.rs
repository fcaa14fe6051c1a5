//! The commands for a single test: `compare`, `unfold`, `serve`.

use crate::arguments::{Compare, OneTest, Serve, Unfold};
use crate::build::{Binary, What};
use crate::process::{Place, Process, Work};
use crate::project::Project;
use crate::reports;
use crate::tests::list;
use crate::watch::Watch;
use whippet_protocol::OFF;
use whippet_report::{Comparison, ComparisonCell, Exit};

/// The limits of one search of a comparison, unless others are given.
const EXECUTIONS: u64 = 10_000;
const SECONDS: f64 = 5.0;

/// A test and the binary that has it.
struct Chosen {
    binary: Binary,
    name: String,
    place: Place,
}

impl Chosen {
    /// Builds the tests and finds the one that is meant.
    fn new(arguments: &OneTest) -> Result<Chosen, String> {
        let mut project = Project::open(&arguments.cargo, &arguments.own)?;
        let binaries = project.build(What::Tests)?;
        let mut all: Vec<(usize, String)> = Vec::new();
        for (k, binary) in binaries.iter().enumerate() {
            all.extend(list(binary, &[])?.into_iter().map(|name| (k, name)));
        }
        let (k, name) = choose(&all, &arguments.name)?;
        let place = Place::new(&project.home)?;
        let mut binary = binaries.into_iter().nth(k).expect("it was just listed");
        // Only the program itself is of interest.
        binary.search.regressions = Some(OFF.into());
        binary.search.random = Some(0);
        project.release();
        Ok(Chosen { binary, name, place })
    }

    fn process<'a>(&self, binary: &'a Binary) -> Process<'a> {
        Process { binary, name: self.name.clone(), show: false, ignored: true, report: false }
    }
}

/// Returns the test of this name, or else the only one whose name contains it.
fn choose(all: &[(usize, String)], wanted: &str) -> Result<(usize, String), String> {
    let exact: Vec<&(usize, String)> = all.iter().filter(|(_, name)| name == wanted).collect();
    let some: Vec<&(usize, String)> = all.iter().filter(|(_, name)| name.contains(wanted)).collect();
    match (exact.as_slice(), some.as_slice()) {
        ([one], _) | ([], [one]) => Ok((*one).clone()),
        ([], []) => {
            let names: Vec<&str> = all.iter().map(|(_, name)| name.as_str()).collect();
            let near = names.iter().map(|name| (strsim::jaro(name, wanted), name));
            let near = near.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(alike, _)| *alike > 0.8);
            let tip = near.map_or(String::new(), |(_, name)| format!("; did you mean `{name}`?"));
            Err(format!("no test is named `{wanted}`{tip}\nthe tests are: {}", names.join(", ")))
        }
        ([], several) => {
            let names: Vec<&str> = several.iter().map(|(_, name)| name.as_str()).collect();
            Err(format!("several tests are named like `{wanted}`: {}", names.join(", ")))
        }
        _ => Err(format!("several test binaries have a test `{wanted}`: select one with -p, --lib or --test")),
    }
}

/// Runs every reduction with every order on a test.
pub(crate) fn compare(arguments: &Compare) -> Result<Exit, String> {
    reports::take_stdout();
    let chosen = Chosen::new(&arguments.test)?;
    let mut comparison = Comparison::new(&chosen.name);
    let watch = Watch::new(&chosen.place);
    for (column, search) in Comparison::COLUMNS.iter().enumerate() {
        for &order in Comparison::orders_of(column) {
            if crate::running::is_stopped() {
                eprintln!("note: interrupted: the table is incomplete");
                break;
            }
            watch.tick();
            let mut binary = chosen.binary.clone();
            let settings = &mut binary.search;
            settings.reduction = Some(search.reduction.name().into());
            settings.sleep_sets = Some(search.sleep);
            settings.order = Some(order.name().into());
            settings.limit_executions = settings.limit_executions.or(Some(EXECUTIONS));
            settings.limit_seconds = settings.limit_seconds.or(Some(SECONDS));
            settings.workers = Some(1);
            settings.html = Some(OFF.into());
            let outcome = chosen.process(&binary).answer(&chosen.place, Work::Search)?;
            let reply = outcome.reply.unwrap_or_default();
            let Some(found) = reply.search else {
                let reason = reply.failure.map_or_else(
                    || "the test neither uses tokio's tasks nor calls `check`".to_string(),
                    |failure| failure.text.lines().next().unwrap_or_default().to_string(),
                );
                comparison.notes.push(format!("{} is not included: {reason}", search.name));
                break;
            };
            comparison.cells.push(ComparisonCell::new(
                column,
                order,
                found.executions,
                found.transitions,
                found.complete,
            ));
        }
    }
    drop(watch);
    for note in &comparison.notes {
        eprintln!("note: {note}");
    }
    if comparison.cells.is_empty() {
        return Err(format!("`{}` cannot be compared", chosen.name));
    }
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&comparison.json()).expect("texts and numbers"));
    } else {
        print!("{}", comparison.text());
    }
    Ok(if comparison.traces().is_some() { Exit::Holds } else { Exit::NoVerdict })
}

/// Prints the unfolding of a test.
pub(crate) fn unfold(arguments: &Unfold) -> Result<Exit, String> {
    let chosen = Chosen::new(&arguments.test)?;
    let outcome = chosen.process(&chosen.binary).answer(&chosen.place, Work::Unfold)?;
    let reply = outcome.reply.unwrap_or_default();
    match (reply.unfolding, reply.failure) {
        (Some(unfolding), _) => print!("{}", if arguments.json { unfolding.json } else { unfolding.dot }),
        (None, Some(failure)) => return Err(failure.text),
        (None, None) => {
            return Err(format!("`{}` neither uses tokio's tasks nor calls `check`: it has no events", chosen.name));
        }
    }
    Ok(Exit::Holds)
}

/// Walks through a test in a browser until the process is interrupted.
pub(crate) fn serve(arguments: &Serve) -> Result<Exit, String> {
    let chosen = Chosen::new(&arguments.test)?;
    let process = chosen.process(&chosen.binary);
    crate::running::foreground(&mut process.command(Work::Serve(arguments.port), None))
        .map_err(|error| format!("cannot run {}: {error}", chosen.binary.file.display()))
        .and_then(|status| {
            if status.success() {
                Err(format!("`{}` cannot be walked through: it calls no `check`", chosen.name))
            } else {
                Ok(Exit::NoVerdict)
            }
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_is_found_by_a_part_of_its_name() {
        let all: Vec<(usize, String)> = [(0, "two"), (0, "two_more"), (1, "three"), (1, "four"), (2, "four")]
            .map(|(k, name)| (k, name.into()))
            .to_vec();
        assert_eq!(choose(&all, "two").unwrap().1, "two");
        assert_eq!(choose(&all, "more").unwrap().1, "two_more");
        assert!(choose(&all, "t").unwrap_err().starts_with("several tests are named like `t`: two, two_more, three"));
        assert!(choose(&all, "four").unwrap_err().starts_with("several test binaries have a test `four`"));
        assert!(choose(&all, "thre_").unwrap_err().contains("did you mean `three`?"));
    }
}
