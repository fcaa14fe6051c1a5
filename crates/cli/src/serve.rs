//! `whippet serve`: a page on which a person walks through one program.

use crate::args::Serve;
use crate::chosen::ChosenProgram;
use crate::error::{CommandError, CommandResult};
use crate::explore::with_default_conflicts;
use crate::output::print;
use crate::progress::interruptions;
use std::sync::atomic::Ordering;
use std::time::Duration;
use whippet_explorer::Explorer;
use whippet_report::Exit;

pub(crate) fn serve(command: &Serve) -> CommandResult {
    let options = command.options();
    let target = ChosenProgram::find(&with_default_conflicts(&command.program, options.reduction))?;
    let recorded = target.recorded();
    let record = move |schedule: &mut whippet_model::Schedule| {
        schedule.program.clone_from(&recorded.program);
        schedule.settings.clone_from(&recorded.settings);
    };
    let interrupted = interruptions();
    let explorer = Explorer::new(&target.name).options(options).port(command.port).record(record);
    let server = target.program.serve(explorer).map_err(CommandError::usage)?;
    print(&format!("Open {}\nPress Ctrl-C to end.\n", server.address()))?;
    while !interrupted.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(Exit::Holds)
}
