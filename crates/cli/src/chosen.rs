//! The program that a command applies to: a subject by its name, or a file by its extension.

use crate::args::range;
use crate::args::{ConflictsArg, DeliveryArg, EnvironmentArg, ProgramArgs, RelationArg};
use crate::checkpoint::hash;
use crate::error::{CommandError, unknown};
use crate::runnable::{Actors, Runnable};
use clap::ValueEnum;
use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;
use whippet_abs::AbsProgram;
use whippet_model::{Marks, Program, Schedule};

/// A program with the settings that the user chose.
pub(crate) struct ChosenProgram {
    /// The name given by the user: that of a subject, or a path.
    pub(crate) name: String,
    /// The names and values of the parameters.
    pub(crate) parameters: Vec<(String, String)>,
    /// The order in which messages arrive, if it can be chosen.
    pub(crate) delivery: Option<String>,
    /// The condition on the end of an execution, if the user chose one.
    environment: Option<EnvironmentArg>,
    pub(crate) program: Box<dyn Runnable>,
    /// The other files of the program, as given by the user.
    files: Vec<String>,
    /// A hash of the texts of all files.
    pub(crate) sources: String,
    /// Notes on how the program was understood.
    pub(crate) notes: Vec<String>,
    /// The method of an ABS program that is explored.
    pub(crate) method: Option<ExploredMethod>,
}

/// A method of an ABS program that is explored with all inputs within bounds.
pub(crate) struct ExploredMethod {
    program: AbsProgram,
    files: Vec<(String, String)>,
    beside: Vec<(String, String)>,
    name: String,
    bounds: whippet_abs::InputBounds,
}

impl ExploredMethod {
    /// Returns a note on the branches that were reached so far.
    pub(crate) fn coverage(&self) -> Option<String> {
        let coverage = self.program.coverage()?;
        let (all, missed) = (coverage.branches, &coverage.missed);
        let mut note = format!("{} of {all} branches were reached", all - missed.len());
        for branch in missed {
            note += &format!("\n  {branch}");
        }
        Some(note)
    }

    /// Returns the text of a program that calls the method with the inputs explored so far.
    pub(crate) fn cases(&self) -> Option<String> {
        self.program.method_cases(&self.files, || self.beside.clone(), &self.name, &self.bounds)
    }
}

/// Names of the settings in a schedule that are not parameters.
const DELIVERY: &str = "delivery";
const ENVIRONMENT: &str = "environment";
const RELATION: &str = "relation";
/// Schedules have used this name from the beginning.
const CONFLICTS: &str = "tasks";
/// The other files of a program, one per line.
const FILES: &str = "files";
/// The method that is explored, and the bounds of its inputs.
const METHOD: &str = "method under test";
const INTS: &str = "numbers as inputs";
const DEPTH: &str = "depth of inputs";

impl ChosenProgram {
    /// Returns the program that the command line specifies.
    pub(crate) fn find(args: &ProgramArgs) -> Result<ChosenProgram, CommandError> {
        if Path::new(&args.program).is_dir() {
            return abs_file(args);
        }
        if args.method.is_some() && !args.program.ends_with(".abs") {
            return Err(CommandError::usage(format_args!(
                "--method applies to .abs programs only; {} is not one",
                args.program
            )));
        }
        if let Some(file) = args.files.first().filter(|_| !args.program.ends_with(".abs")) {
            return Err(CommandError::usage(format_args!(
                "{file}: only .abs files and directories can be given together; {} is neither",
                args.program
            )));
        }
        match Path::new(&args.program).extension().and_then(|ending| ending.to_str()) {
            None if args.program.contains(std::path::MAIN_SEPARATOR) => Err(CommandError::usage(format_args!(
                "{}: there is no such directory; the name of a file ends in .abs or .net",
                args.program
            ))),
            None => subject(args),
            Some("net") => net_file(args),
            Some("abs") => abs_file(args),
            Some(other) => Err(CommandError::usage(format_args!(
                "{}: unknown file type .{other}; expected .abs or .net",
                args.program
            ))),
        }
    }

    /// Returns the program that a schedule was recorded with.
    pub(crate) fn of_schedule(schedule: &Schedule) -> Result<ChosenProgram, CommandError> {
        let mut settings = schedule.settings.clone();
        let delivery = settings.remove(DELIVERY).map(|name| value(&name)).transpose()?;
        let environment = settings.remove(ENVIRONMENT).map(|name| value(&name)).transpose()?;
        let relation = settings.remove(RELATION).map(|name| value(&name)).transpose()?;
        let conflicts = settings.remove(CONFLICTS).map(|name| value(&name)).transpose()?;
        let files = settings.remove(FILES).map_or_else(Vec::new, |all| all.lines().map(str::to_string).collect());
        let method = settings.remove(METHOD);
        let ints = settings.remove(INTS).map(|text| range(&text)).transpose().map_err(CommandError::usage)?;
        let depth = settings.remove(DEPTH).map(|text| text.parse()).transpose().map_err(CommandError::usage)?;
        let settings = settings.into_iter().collect();
        let program = schedule.program.clone();
        ChosenProgram::find(&ProgramArgs {
            program,
            files,
            settings,
            delivery,
            environment,
            conflicts,
            method,
            ints,
            depth,
            cases: None,
            relation,
        })
    }

    /// Creates a target for a program, with the name given by the user.
    fn new<P: Program + Send + 'static>(args: &ProgramArgs, program: P) -> ChosenProgram {
        ChosenProgram::of(args, program.parameters(), Box::new(Arc::new(program)))
    }

    /// Creates a target for a program with these parameters.
    fn of(args: &ProgramArgs, mut parameters: Vec<(String, String)>, program: Box<dyn Runnable>) -> ChosenProgram {
        let delivery = parameters.iter().position(|(name, _)| name == DELIVERY).map(|at| parameters.remove(at).1);
        parameters.extend(args.conflicts.map(|rule| (CONFLICTS.into(), flag_name(&rule))));
        parameters.extend(args.method.iter().map(|method| (METHOD.into(), method.clone())));
        parameters.extend(args.ints.iter().map(|ints| (INTS.into(), format!("{}..{}", ints.start(), ints.end()))));
        parameters.extend(args.depth.map(|depth| (DEPTH.into(), depth.to_string())));
        let (name, environment) = (args.program.clone(), args.environment);
        ChosenProgram {
            name,
            delivery,
            environment,
            parameters,
            program,
            files: args.files.clone(),
            sources: String::new(),
            notes: Vec::new(),
            method: None,
        }
    }

    /// Stores in a schedule everything needed to find the same program again.
    pub(crate) fn record_in(&self, schedule: &mut Schedule) {
        schedule.program.clone_from(&self.name);
        schedule.settings = self.parameters.iter().cloned().collect();
        let environment = self.environment.map(|environment| flag_name(&environment));
        let files = (!self.files.is_empty()).then(|| self.files.join("\n"));
        let more = [(DELIVERY, self.delivery.clone()), (ENVIRONMENT, environment), (FILES, files)];
        schedule.settings.extend(more.into_iter().filter_map(|(name, value)| Some((name.into(), value?))));
    }

    /// Returns a schedule without decisions that names this program.
    pub(crate) fn recorded(&self) -> Schedule {
        let mut schedule = Schedule::default();
        self.record_in(&mut schedule);
        schedule
    }

    /// Returns the program with its parameters: `pi(workers=4)`.
    pub(crate) fn title(&self) -> String {
        let values: Vec<String> = self.parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
        if values.is_empty() { self.name.clone() } else { format!("{}({})", self.name, values.join(", ")) }
    }
}

/// Parses the value of a flag stored in a schedule.
fn value<T: ValueEnum>(name: &str) -> Result<T, CommandError> {
    T::from_str(name, false)
        .map_err(|why| CommandError::usage(format_args!("the schedule has the unknown setting `{name}`: {why}")))
}

/// Returns the name of a flag's value.
fn flag_name(value: &impl ValueEnum) -> String {
    value.to_possible_value().map_or_else(String::new, |value| value.get_name().into())
}

fn subject(args: &ProgramArgs) -> Result<ChosenProgram, CommandError> {
    let nets = whippet_net::subjects();
    if let Some(net) = nets.iter().find(|net| net.name == args.program) {
        return net_subject(args, net);
    }
    let known = whippet_subjects::all().iter().map(|subject| subject.name).chain(nets.iter().map(|net| net.name));
    let subject = whippet_subjects::find(&args.program).map_err(|_| {
        let error = unknown("subject", &args.program, known);
        CommandError::usage(format_args!("{error}\n  the name of a file ends in .abs or .net"))
    })?;
    no_relation(args)?;
    let settings = args.settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let mut test = subject.program(settings).map_err(CommandError::usage)?;
    test = test.conflict_rule(conflict_rule(args));
    if let Some(delivery) = args.delivery {
        test = test.delivery(match delivery {
            DeliveryArg::Unordered => whippet_actors::Delivery::Unordered,
            DeliveryArg::Fifo => whippet_actors::Delivery::Fifo,
            DeliveryArg::Causal => whippet_actors::Delivery::Causal,
        });
    }
    if let Some(environment) = args.environment {
        test = test.environment(match environment {
            EnvironmentArg::Open => whippet_actors::Environment::Open,
            EnvironmentArg::Closed => whippet_actors::Environment::Closed,
        });
    }
    Ok(ChosenProgram::of(args, test.parameters(), Box::new(Actors(Arc::new(test)))))
}

/// Creates a mailbox program from a subject.
fn net_subject(args: &ProgramArgs, subject: &whippet_net::NetSubject) -> Result<ChosenProgram, CommandError> {
    fixed_delivery(args)?;
    no_conflict_rule(args)?;
    let mut n = None;
    for (name, value) in &args.settings {
        match (name.as_str(), value.parse()) {
            ("n", Ok(number)) => n = Some(number),
            ("n", Err(_)) => {
                return Err(CommandError::usage(format_args!(
                    "expected a number of processes for n, e.g. --set n=4, found `{value}`"
                )));
            }
            (other, _) => return Err(unknown(&format!("parameter of {}", args.program), other, ["n"])),
        }
    }
    Ok(ChosenProgram::new(args, related(args, subject.program(n).map_err(CommandError::usage)?)))
}

/// Creates a mailbox program from a `.net` file.
fn net_file(args: &ProgramArgs) -> Result<ChosenProgram, CommandError> {
    fixed_delivery(args)?;
    no_conflict_rule(args)?;
    no_parameters(args)?;
    let source = read(&args.program)?;
    let net = whippet_net::Net::parse_file(&args.program, &source);
    let net = net.map_err(|why| CommandError::usage(format_args!("{}: {why}", args.program)))?;
    Ok(ChosenProgram { sources: hash(&source), ..ChosenProgram::new(args, related(args, net)) })
}

/// Sets the dependence relation that the user chose.
fn related(args: &ProgramArgs, net: whippet_net::Net) -> whippet_net::Net {
    match args.relation {
        Some(RelationArg::Paper) => net.with_relation(whippet_net::MailboxRelation::Paper),
        Some(RelationArg::Ranked) | None => net,
    }
}

/// Creates a program from files of ABS source, and from directories that contain some.
fn abs_file(args: &ProgramArgs) -> Result<ChosenProgram, CommandError> {
    fixed_delivery(args)?;
    no_parameters(args)?;
    no_relation(args)?;
    let mut files: Vec<(String, String)> = Vec::new();
    for given in std::iter::once(&args.program).chain(&args.files) {
        let paths = if Path::new(given).is_dir() { abs_files_below(Path::new(given)) } else { vec![given.clone()] };
        if paths.is_empty() {
            return Err(CommandError::usage(format_args!("{given} contains no .abs files")));
        }
        for path in paths {
            if !path.ends_with(".abs") {
                return Err(CommandError::usage(format_args!("{path}: expected an .abs file or a directory")));
            }
            if files.iter().all(|(known, _)| *known != path) {
                let text = read(&path)?;
                files.push((path, text));
            }
        }
    }
    let mut mains = files.iter().filter(|(_, text)| AbsProgram::has_main_block(text)).map(|(path, _)| path);
    let runs_main = Path::new(&args.program).is_dir() && args.method.is_none();
    if let (true, Some(one), Some(other)) = (runs_main, mains.next(), mains.next()) {
        return Err(CommandError::usage(format_args!(
            "several files have a main block, such as {one} and {other}: name the one to run first, then the directory"
        )));
    }
    // Files beside the program are read only if it needs them, and belong to it only then.
    let read_beside = RefCell::new(Vec::new());
    let beside = || {
        if args.files.is_empty() {
            read_beside.replace(files_beside(&args.program));
        }
        read_beside.borrow().clone()
    };
    let program = match &args.method {
        Some(method) => AbsProgram::parse_method(&files, beside, method, &bounds(args)),
        None => AbsProgram::parse_files(&files, beside),
    };
    let program = program.map_err(CommandError::usage)?;
    let notes = program.notes().to_vec();
    let sources = hash((&files, &*read_beside.borrow()));
    let method = args.method.as_ref().map(|name| ExploredMethod {
        program: program.clone(),
        beside: beside(),
        name: name.clone(),
        bounds: bounds(args),
        files,
    });
    let program = program.conflict_rule(conflict_rule(args));
    Ok(ChosenProgram { notes, sources, method, ..ChosenProgram::new(args, program) })
}

/// Returns the bounds of the inputs of a method.
fn bounds(args: &ProgramArgs) -> whippet_abs::InputBounds {
    let mut bounds = whippet_abs::InputBounds::default();
    if let Some(ints) = &args.ints {
        bounds = bounds.with_ints(ints.clone());
    }
    match args.depth {
        Some(depth) => bounds.with_depth(depth),
        None => bounds,
    }
}

/// Returns the ABS files in a directory and below it, sorted by name.
fn abs_files_below(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut paths: Vec<std::path::PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    let mut files = Vec::new();
    for path in paths {
        // A link to a directory could lead back to this one.
        if path.is_dir() && !path.is_symlink() {
            files.extend(abs_files_below(&path));
        } else if path.extension().is_some_and(|ending| ending == "abs") {
            files.push(path.to_string_lossy().into_owned());
        }
    }
    files
}

/// Returns the value of `--conflicts`, by default `fields`.
fn conflict_rule(args: &ProgramArgs) -> whippet_model::ConflictRule {
    match args.conflicts.unwrap_or(ConflictsArg::Fields) {
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

fn read(path: &str) -> Result<String, CommandError> {
    std::fs::read_to_string(path).map_err(|why| CommandError::usage(format_args!("cannot read {path}: {why}")))
}

/// Rejects `--delivery` and `--environment`, for programs that determine these themselves.
fn fixed_delivery(args: &ProgramArgs) -> Result<(), CommandError> {
    let flag = match (args.delivery, args.environment) {
        (None, None) => return Ok(()),
        (Some(_), _) => "--delivery",
        (_, Some(_)) => "--environment",
    };
    Err(CommandError::usage(format_args!("{flag} applies to native actors only; it is fixed for {}", args.program)))
}

fn no_relation(args: &ProgramArgs) -> Result<(), CommandError> {
    match args.relation {
        Some(_) => Err(CommandError::usage(format_args!(
            "--relation applies to mailbox programs only; {} is not one",
            args.program
        ))),
        None => Ok(()),
    }
}

/// Rejects `--conflicts`, for programs whose processes have no tasks.
fn no_conflict_rule(args: &ProgramArgs) -> Result<(), CommandError> {
    match args.conflicts {
        None => Ok(()),
        Some(_) => Err(CommandError::usage(format_args!(
            "--conflicts applies to .abs files and native actors only; the processes of {} have no tasks",
            args.program
        ))),
    }
}

fn no_parameters(args: &ProgramArgs) -> Result<(), CommandError> {
    match args.settings.first() {
        Some((name, _)) => {
            Err(CommandError::usage(format_args!("{} has no parameters: --set {name}=… is of no use", args.program)))
        }
        None => Ok(()),
    }
}
