//! Failures of the command itself. Errors found in a program are not among them.

use std::io;
use whippet_report::Exit;

/// A reason why the command has no result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CommandError {
    /// The command was used wrongly, or the program cannot be searched. The text explains the remedy.
    #[error("{0}")]
    Usage(String),
    /// Standard output cannot be written to.
    #[error("cannot write the output: {0}")]
    Output(#[from] io::Error),
}

impl CommandError {
    /// Creates a failure with this text.
    pub(crate) fn usage(what: impl ToString) -> CommandError {
        CommandError::Usage(what.to_string())
    }
}

/// The result of a subcommand.
pub(crate) type CommandResult = Result<Exit, CommandError>;

/// Creates the failure for an unknown name, which lists the known names and suggests the most similar one.
pub(crate) fn unknown<'a>(what: &str, name: &str, known: impl IntoIterator<Item = &'a str>) -> CommandError {
    let known: Vec<&str> = known.into_iter().collect();
    let near = known.iter().copied().min_by_key(|candidate| strsim::damerau_levenshtein(name, candidate));
    let meant = match near {
        Some(near) if strsim::damerau_levenshtein(name, near) <= 1 + name.len() / 4 => {
            format!(" Did you mean `{near}`?")
        }
        _ => String::new(),
    };
    CommandError::Usage(format!("unknown {what} `{name}`.{meant}\n  known: {}", known.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_name_lists_the_known_ones_and_guesses() {
        let text = |name| unknown("subject", name, ["pi", "server", "shortpath"]).to_string();
        assert_eq!(text("sever"), "unknown subject `sever`. Did you mean `server`?\n  known: pi, server, shortpath");
        assert_eq!(text("quicksort"), "unknown subject `quicksort`.\n  known: pi, server, shortpath");
    }
}
