//! What the documentation shows of the command is what the command prints.
//!
//! A block of text in `docs/` that begins with `$ whippet …` is run. Each of its lines must be, or be the beginning of, the
//! next line of the output; `…` alone stands for any number of lines, and what a run costs may differ.

use std::path::Path;
use std::process::Command;

/// The pages, and how many of their blocks are of this kind.
const PAGES: [(&str, usize); 2] = [("docs/command-line.md", 4), ("docs/abs.md", 3)];

#[test]
fn the_documentation_shows_what_is_printed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (page, count) in PAGES {
        let text = std::fs::read_to_string(root.join(page)).unwrap();
        let blocks = commands(&text);
        assert_eq!(blocks.len(), count, "{page}: say in this test how many commands it shows");
        for (command, shown) in blocks {
            let words = shlex::split(command).unwrap();
            let output =
                Command::new(env!("CARGO_BIN_EXE_whippet")).args(&words[1..]).current_dir(&root).output().unwrap();
            let printed = String::from_utf8(output.stdout).unwrap();
            if let Err(line) = agrees(&shown, &printed) {
                panic!("{page}, `{command}`: this line is not printed there:\n{line}\n\nwhat is printed:\n{printed}");
            }
        }
    }
}

/// The blocks that begin with a command, each with the lines below it. A file that a reader is to write is not there.
fn commands(page: &str) -> Vec<(&str, Vec<&str>)> {
    let blocks = page.split("```").skip(1).step_by(2);
    blocks
        .filter_map(|block| {
            let mut lines = block.lines().skip(1);
            let command = lines.next()?.strip_prefix("$ ")?;
            (!command.contains("wrong.")).then(|| (command, lines.collect()))
        })
        .collect()
}

/// Whether the lines shown are printed, in this order; if not, the first that is not.
fn agrees<'a>(shown: &[&'a str], printed: &str) -> Result<(), &'a str> {
    let mut printed = printed.lines();
    let mut anywhere = false;
    for &line in shown {
        if line.trim() == "…" {
            anywhere = true;
            continue;
        }
        let fits = |next: &str| match (line.trim_end(), cost(line)) {
            ("", _) => next.trim_end().is_empty(),
            (_, Some(label)) => cost(next) == Some(label),
            (line, None) => next.starts_with(line),
        };
        let found = if anywhere { printed.any(fits) } else { printed.next().is_some_and(fits) };
        if !found {
            return Err(line);
        }
        anywhere = false;
    }
    Ok(())
}

/// What a line says the cost of. Workers divide the work differently each time, and with it how often handlers are run.
fn cost(line: &str) -> Option<&'static str> {
    ["time ", "CPU time ", "peak memory ", "handler runs "]
        .into_iter()
        .find(|label| line.trim_start().starts_with(label))
}
