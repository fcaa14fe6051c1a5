//! The program that a command applies to: a subject by its name, or a file by its extension.

use crate::args::{ConflictsArg, Delivery, Environment, Relation, Which};
use crate::failure::{Failure, unknown};
use crate::runnable::Runnable;
use clap::ValueEnum;
use std::path::Path;
use std::sync::Arc;
use whippet_model::{Marks, Program, Schedule};

/// A program with the settings that the user chose.
pub(crate) struct Target {
    /// The name given by the user: that of a subject, or a path.
    pub(crate) name: String,
    /// The names and values of the parameters.
    pub(crate) parameters: Vec<(String, String)>,
    /// The order in which messages arrive, if it can be chosen.
    pub(crate) delivery: Option<String>,
    /// The condition on the end of an execution, if the user chose one.
    environment: Option<Environment>,
    pub(crate) program: Box<dyn Runnable>,
}

/// Names of the settings in a schedule that are not parameters.
const DELIVERY: &str = "delivery";
const ENVIRONMENT: &str = "environment";
const RELATION: &str = "relation";
/// Schedules have used this name from the beginning.
const CONFLICTS: &str = "tasks";

impl Target {
    /// Returns the program that the command line specifies.
    pub(crate) fn find(which: &Which) -> Result<Target, Failure> {
        match Path::new(&which.program).extension().and_then(|ending| ending.to_str()) {
            None => subject(which),
            Some("net") => net_file(which),
            Some("abs") => abs_file(which),
            Some(other) => Err(Failure::misuse(format_args!(
                "{}: no program ends in .{other}; known endings are .abs and .net",
                which.program
            ))),
        }
    }

    /// Returns the program that a schedule was recorded with.
    pub(crate) fn of_schedule(schedule: &Schedule) -> Result<Target, Failure> {
        let mut settings = schedule.settings.clone();
        let delivery = settings.remove(DELIVERY).map(|name| value(&name)).transpose()?;
        let environment = settings.remove(ENVIRONMENT).map(|name| value(&name)).transpose()?;
        let relation = settings.remove(RELATION).map(|name| value(&name)).transpose()?;
        let conflicts = settings.remove(CONFLICTS).map(|name| value(&name)).transpose()?;
        let settings = settings.into_iter().collect();
        let program = schedule.program.clone();
        Target::find(&Which { program, settings, delivery, environment, conflicts, relation })
    }

    /// Creates a target for a program, with the name given by the user.
    fn new<P: Program + Send + 'static>(which: &Which, program: P) -> Target {
        let mut parameters = program.parameters();
        let delivery = parameters.iter().position(|(name, _)| name == DELIVERY).map(|at| parameters.remove(at).1);
        parameters.extend(which.conflicts.map(|rule| (CONFLICTS.into(), flag_name(&rule))));
        let (name, environment) = (which.program.clone(), which.environment);
        Target { name, delivery, environment, parameters, program: Box::new(Arc::new(program)) }
    }

    /// Stores in a schedule everything needed to find the same program again.
    pub(crate) fn sign(&self, schedule: &mut Schedule) {
        schedule.program.clone_from(&self.name);
        schedule.settings = self.parameters.iter().cloned().collect();
        let environment = self.environment.map(|environment| flag_name(&environment));
        let more = [(DELIVERY, self.delivery.clone()), (ENVIRONMENT, environment)];
        schedule.settings.extend(more.into_iter().filter_map(|(name, value)| Some((name.into(), value?))));
    }

    /// Returns the program with its parameters: `pi(workers=4)`.
    pub(crate) fn title(&self) -> String {
        let values: Vec<String> = self.parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
        if values.is_empty() { self.name.clone() } else { format!("{}({})", self.name, values.join(", ")) }
    }
}

/// Parses the value of a flag stored in a schedule.
fn value<T: ValueEnum>(name: &str) -> Result<T, Failure> {
    T::from_str(name, false).map_err(|why| Failure::misuse(format_args!("the schedule was made with `{name}`: {why}")))
}

/// Returns the name of a flag's value.
fn flag_name(value: &impl ValueEnum) -> String {
    value.to_possible_value().map_or_else(String::new, |value| value.get_name().into())
}

fn subject(which: &Which) -> Result<Target, Failure> {
    let nets = whippet_net::subjects();
    if let Some(net) = nets.iter().find(|net| net.name == which.program) {
        return net_subject(which, net);
    }
    let known = whippet_subjects::all().iter().map(|subject| subject.name).chain(nets.iter().map(|net| net.name));
    let subject = whippet_subjects::find(&which.program).map_err(|_| unknown("subject", &which.program, known))?;
    no_relation(which)?;
    let settings = which.settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let mut test = subject.program(settings).map_err(Failure::misuse)?;
    test = test.tasks(conflict_rule(which));
    if let Some(delivery) = which.delivery {
        test = test.delivery(match delivery {
            Delivery::Unordered => whippet_actors::Delivery::Unordered,
            Delivery::Fifo => whippet_actors::Delivery::Fifo,
            Delivery::Causal => whippet_actors::Delivery::Causal,
        });
    }
    if let Some(environment) = which.environment {
        test = test.environment(match environment {
            Environment::Open => whippet_actors::Environment::Open,
            Environment::Closed => whippet_actors::Environment::Closed,
        });
    }
    Ok(Target::new(which, test))
}

/// Creates a mailbox program from a subject.
fn net_subject(which: &Which, subject: &whippet_net::NetSubject) -> Result<Target, Failure> {
    fixed_delivery(which)?;
    no_conflict_rule(which)?;
    let mut n = None;
    for (name, value) in &which.settings {
        match (name.as_str(), value.parse()) {
            ("n", Ok(number)) => n = Some(number),
            ("n", Err(_)) => return Err(Failure::misuse(format_args!("n is a number of processes, not `{value}`"))),
            (other, _) => return Err(unknown(&format!("parameter of {}", which.program), other, ["n"])),
        }
    }
    Ok(Target::new(which, related(which, subject.program(n).map_err(Failure::misuse)?)))
}

/// Creates a mailbox program from a `.net` file.
fn net_file(which: &Which) -> Result<Target, Failure> {
    fixed_delivery(which)?;
    no_conflict_rule(which)?;
    no_parameters(which)?;
    let source = read(&which.program)?;
    let net = whippet_net::Net::parse(&which.program, &source);
    let net = net.map_err(|why| Failure::misuse(format_args!("{}: {why}", which.program)))?;
    Ok(Target::new(which, related(which, net)))
}

/// Sets the dependence relation that the user chose.
fn related(which: &Which, net: whippet_net::Net) -> whippet_net::Net {
    match which.relation {
        Some(Relation::Paper) => net.with_relation(whippet_net::MailboxRelation::Paper),
        Some(Relation::Ranked) | None => net,
    }
}

/// Creates a program from a file of ABS source.
fn abs_file(which: &Which) -> Result<Target, Failure> {
    fixed_delivery(which)?;
    no_parameters(which)?;
    no_relation(which)?;
    let source = read(&which.program)?;
    let beside = || files_beside(&which.program);
    let program = whippet_abs::AbsProgram::parse_with(&which.program, &source, beside).map_err(Failure::misuse)?;
    Ok(Target::new(which, program.conflict_rule(conflict_rule(which))))
}

/// Returns the value of `--conflicts`, by default `fields`.
fn conflict_rule(which: &Which) -> whippet_model::ConflictRule {
    match which.conflicts.unwrap_or(ConflictsArg::Fields) {
        ConflictsArg::Fields => whippet_model::ConflictRule::Fields,
        ConflictsArg::Actors => whippet_model::ConflictRule::Actors,
        ConflictsArg::Marks => whippet_model::ConflictRule::Marks(Marks::Persisting),
        ConflictsArg::MarksLiteral => whippet_model::ConflictRule::Marks(Marks::Literal),
    }
}

/// Returns the other readable ABS files in the directory of a file, sorted by name.
fn files_beside(path: &str) -> Vec<(String, String)> {
    let path = Path::new(path);
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut names: Vec<_> =
        entries.map(|entry| entry.file_name()).filter(|name| path.file_name() != Some(name)).collect();
    names.retain(|name| Path::new(name).extension().is_some_and(|ending| ending == "abs"));
    names.sort();
    let file = |name| {
        let path = path.with_file_name(name);
        Some((path.to_string_lossy().into_owned(), std::fs::read_to_string(&path).ok()?))
    };
    names.into_iter().filter_map(file).collect()
}

fn read(path: &str) -> Result<String, Failure> {
    std::fs::read_to_string(path).map_err(|why| Failure::misuse(format_args!("cannot read {path}: {why}")))
}

/// Rejects `--delivery` and `--environment`, for programs that determine these themselves.
fn fixed_delivery(which: &Which) -> Result<(), Failure> {
    let flag = match (which.delivery, which.environment) {
        (None, None) => return Ok(()),
        (Some(_), _) => "--delivery",
        (_, Some(_)) => "--environment",
    };
    Err(Failure::misuse(format_args!("{flag} is for native actors; {} settles that itself", which.program)))
}

fn no_relation(which: &Which) -> Result<(), Failure> {
    match which.relation {
        Some(_) => {
            Err(Failure::misuse(format_args!("--relation is for programs of mailboxes; {} is none", which.program)))
        }
        None => Ok(()),
    }
}

/// Rejects `--conflicts`, for programs whose processes have no tasks.
fn no_conflict_rule(which: &Which) -> Result<(), Failure> {
    match which.conflicts {
        None => Ok(()),
        Some(_) => Err(Failure::misuse(format_args!(
            "--conflicts applies to .abs files and native actors only; the processes of {} have no tasks",
            which.program
        ))),
    }
}

fn no_parameters(which: &Which) -> Result<(), Failure> {
    match which.settings.first() {
        Some((name, _)) => Err(unknown(&format!("parameter of {}", which.program), name, [])),
        None => Ok(()),
    }
}
