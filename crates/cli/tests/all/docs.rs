//! Checks that the documentation shows the actual output of the command.
//!
//! Every code block in `docs/` that begins with `$ whippet …` is run. Each of its lines must equal, or be the
//! beginning of, the next line of the output. A line `…` stands for any number of lines, `…` at the end of a line for the
//! rest of it, and the costs of a run may differ.

use std::path::Path;
use std::process::Command;

/// The pages, and the number of such blocks in each.
const PAGES: [(&str, usize); 2] = [("docs/command-line.md", 4), ("docs/abs.md", 4)];

#[test]
fn docs_show_actual_output() {
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

/// Returns the blocks that begin with a command, each with its remaining lines. Skips commands on `wrong.*` files,
/// which the reader is supposed to write and which do not exist here.
fn commands(page: &str) -> Vec<(&str, Vec<&str>)> {
    let blocks = page.split("```").skip(1).step_by(2);
    blocks
        .filter_map(|block| {
            let mut lines = block.lines().skip(1);
            let command = lines.next()?.strip_prefix("$ ")?;
            (command.starts_with("whippet ") && !command.contains("wrong.")).then(|| (command, lines.collect()))
        })
        .collect()
}

/// Checks that the lines shown are printed, in this order. Returns the first line that is not.
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
            (line, None) => next.starts_with(line.trim_end_matches('…')),
        };
        let found = if anywhere { printed.any(fits) } else { printed.next().is_some_and(fits) };
        if !found {
            return Err(line);
        }
        anywhere = false;
    }
    Ok(())
}

/// Returns the label of a line that shows a cost. Costs vary between runs; even the number of handler runs does,
/// because workers divide the work differently each time.
fn cost(line: &str) -> Option<&'static str> {
    ["time ", "CPU time ", "peak memory ", "handler runs "]
        .into_iter()
        .find(|label| line.trim_start().starts_with(label))
}
