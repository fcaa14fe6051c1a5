//! `whippet resume`: continues a search that was saved.

use crate::args::{Cli, Command, Resume};
use crate::checkpoint::saved_command;
use crate::error::{CommandError, CommandResult};
use crate::explore::explore_saved;
use clap::Parser;

pub(crate) fn resume(resume: &Resume) -> CommandResult {
    let directory = std::path::absolute(&resume.directory).map_err(CommandError::usage)?;
    let saved = saved_command(&directory)?;
    let unreadable = |why: &dyn std::fmt::Display| {
        CommandError::usage(format_args!("the search in {} cannot be continued: {why}", directory.display()))
    };
    let words = std::iter::once("whippet").chain(saved.arguments.iter().map(String::as_str));
    let Command::Explore(mut explore) = Cli::try_parse_from(words).map_err(|why| unreadable(&why))?.command else {
        return Err(unreadable(&"its command is not `explore`"));
    };
    // Files are named as they were when the search began.
    std::env::set_current_dir(&saved.directory).map_err(|why| unreadable(&why))?;
    explore.checkpoint = Some(directory);
    explore_saved(&explore, &saved)
}
