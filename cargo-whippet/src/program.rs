//! Runs a program of the user once, on the shim.

use crate::arguments::Run;
use crate::build::What;
use crate::project::Project;
use std::process::Command;
use whippet_report::Exit;

/// Builds and runs the program. Returns its exit code.
pub(crate) fn run(arguments: &Run) -> Result<u8, String> {
    let mut project = Project::open(&arguments.cargo, &arguments.own)?;
    let binaries = project.build(What::Programs)?;
    let names: Vec<&str> = binaries.iter().map(|binary| binary.name.as_str()).collect();
    let [binary] = binaries.as_slice() else {
        return Err(match names.as_slice() {
            [] => "there is no program here: select one with --bin or --example".into(),
            _ => format!("there are several programs: select one with --bin or --example: {}", names.join(", ")),
        });
    };
    for note in &project.notes {
        eprintln!("note: {note}");
    }
    // Releases the lock, so that other runs can build while the program runs.
    let (file, directory) = (binary.file.clone(), std::env::current_dir().map_err(|error| error.to_string())?);
    drop(project);
    let status = Command::new(&file)
        .args(&arguments.program)
        .current_dir(directory)
        .status()
        .map_err(|error| format!("cannot run {}: {error}", file.display()))?;
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(Exit::NoVerdict.code()))
}
