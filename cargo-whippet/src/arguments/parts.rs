//! Divides the command line between Whippet and cargo.
//!
//! Cargo's options are recognized by name and passed on, so that both kinds can be given in any order. An unknown option
//! is an error that lists the known ones.

/// Cargo's options that select and build tests: the name, the short form, and `true` if a value follows.
const CARGO: [(&str, &str, bool); 33] = [
    ("--package", "-p", true),
    ("--workspace", "", false),
    ("--all", "", false),
    ("--exclude", "", true),
    ("--lib", "", false),
    ("--bins", "", false),
    ("--bin", "", true),
    ("--examples", "", false),
    ("--example", "", true),
    ("--tests", "", false),
    ("--test", "", true),
    ("--benches", "", false),
    ("--bench", "", true),
    ("--all-targets", "", false),
    ("--features", "-F", true),
    ("--all-features", "", false),
    ("--no-default-features", "", false),
    ("--release", "-r", false),
    ("--profile", "", true),
    ("--target", "", true),
    ("--manifest-path", "", true),
    ("--ignore-rust-version", "", false),
    ("--keep-going", "", false),
    ("--timings", "", false),
    ("--verbose", "-v", false),
    ("--quiet", "-q", false),
    ("--color", "", true),
    ("--config", "", true),
    ("--offline", "", false),
    ("--locked", "", false),
    ("--frozen", "", false),
    ("--no-fail-fast", "", false),
    ("-Z", "-Z", true),
];

/// The command line, split by recipient.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Parts {
    /// Whippet's own arguments.
    pub(super) own: Vec<String>,
    pub(super) cargo: Vec<String>,
    /// The test filter, and all arguments after `--`.
    pub(super) filter: Vec<String>,
}

/// Splits the arguments of a command. `words` is `true` if a word without dashes belongs to the command.
pub(super) fn split(command: &clap::Command, given: &[String], words: bool) -> Result<Parts, String> {
    let mut parts = Parts::default();
    let mut rest = given.iter();
    while let Some(word) = rest.next() {
        if word == "--" {
            parts.filter.extend(rest.by_ref().cloned());
            break;
        }
        let name = word.split_once('=').map_or(word.as_str(), |(name, _)| name);
        if !word.starts_with('-') {
            // This word is cargo's test filter, or the file or test of the command.
            if words {
                parts.own.push(word.clone())
            } else {
                parts.filter.insert(0, word.clone())
            }
            continue;
        }
        let (list, value) = match (own_value(command, name), cargos_value(name)) {
            (Some(value), _) => (&mut parts.own, value),
            (None, Some(value)) => (&mut parts.cargo, value),
            (None, None) => return Err(unknown(command, name)),
        };
        list.push(word.clone());
        let attached = name != word || (!word.starts_with("--") && word.len() > 2);
        if value && !attached {
            list.extend(rest.next().cloned());
        }
    }
    Ok(parts)
}

/// Returns `Some(true)` if this is an option of Whippet that is followed by a value, and `None` if it is not an option
/// of Whippet.
pub(super) fn own_value(command: &clap::Command, name: &str) -> Option<bool> {
    if ["--help", "-h"].contains(&name) {
        return Some(false);
    }
    let long = name.strip_prefix("--");
    let short = name.strip_prefix('-').filter(|_| long.is_none()).and_then(|text| text.chars().next());
    let fits = |argument: &&clap::Arg| {
        let aliases = argument.get_all_aliases().unwrap_or_default();
        long.is_some_and(|long| argument.get_long() == Some(long) || aliases.contains(&long))
            || short.is_some() && argument.get_short() == short
    };
    let argument = command.get_arguments().find(fits)?;
    Some(argument.get_action().takes_values() && !argument.is_require_equals_set())
}

fn cargos_value(name: &str) -> Option<bool> {
    let fits = |(long, short, value): &&(&str, &str, bool)| {
        *long == name
            || !short.is_empty() && (*short == name || *value && !name.starts_with("--") && name.starts_with(short))
    };
    CARGO.iter().find(fits).map(|(_, _, value)| *value)
}

/// Returns the names of Whippet's own options.
pub(super) fn names(command: &clap::Command) -> Vec<String> {
    command.get_arguments().filter_map(|argument| argument.get_long()).map(|long| format!("--{long}")).collect()
}

fn unknown(command: &clap::Command, name: &str) -> String {
    let own = names(command);
    let cargos: Vec<&str> = CARGO.iter().map(|(long, ..)| *long).collect();
    let near = own.iter().map(String::as_str).chain(cargos.iter().copied());
    let near = near.map(|known| (strsim::jaro(known, name), known)).max_by(|a, b| a.0.total_cmp(&b.0));
    let tip =
        near.filter(|(alike, _)| *alike > 0.8).map_or(String::new(), |(_, known)| format!("; did you mean `{known}`?"));
    format!(
        "there is no option `{name}`{tip}\noptions of whippet: {}\noptions of cargo that can be used: {}\noptions of the test harness go after `--`",
        own.join(", "),
        cargos.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::Arguments;
    use clap::CommandFactory;

    fn parts(line: &str) -> Result<Parts, String> {
        let given: Vec<String> = line.split_whitespace().map(Into::into).collect();
        let command = Arguments::command();
        split(command.find_subcommand("test").unwrap(), &given, false)
    }

    #[test]
    fn options_of_both_kinds_in_any_order() {
        let parts =
            parts("-p bank --limit-seconds 5 --test=bank -Fa --preempt-everywhere two --hook a,b -- --exact three")
                .unwrap();
        assert_eq!(parts.own, ["--limit-seconds", "5", "--preempt-everywhere", "--hook", "a,b"]);
        assert_eq!(parts.cargo, ["-p", "bank", "--test=bank", "-Fa"]);
        assert_eq!(parts.filter, ["two", "--exact", "three"]);
    }

    #[test]
    fn an_unknown_option_lists_the_known_ones() {
        let error = parts("--reductoin optimal").unwrap_err();
        assert!(
            error.starts_with(
                "there is no option `--reductoin`; did you mean `--reduction`?\noptions of whippet: --reduction, "
            ),
            "{error}"
        );
    }
}
