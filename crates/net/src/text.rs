//! The text form of programs without branches.
//!
//! Each line is a process and consists of actions separated by blanks; `#` starts a comment. A process may be labelled
//! (`master: R0 W0`), a communication may be given a name (`job=R0 Wjob`), and mailboxes and mutexes may have names
//! instead of numbers.

use crate::script::{Action, Script, ScriptError};
use std::fmt;

/// A syntax error in the text form: its location, and how to fix it.
///
/// ```
/// let error = whippet_net::Net::parse("p", "R0 W0\nS0 X1\n").unwrap_err();
/// assert_eq!((error.line, error.column), (2, 4));
/// assert!(error.to_string().starts_with("line 2, column 4: "));
/// assert!(error.to_string().contains("    S0 X1\n       ^^"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextError {
    /// The line, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
    /// A description of the error and of how to fix it.
    pub message: String,
    source: String,
    width: usize,
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "line {}, column {}: {}", self.line, self.column, self.message)?;
        writeln!(f, "    {}", self.source)?;
        write!(f, "    {}{}", " ".repeat(self.column - 1), "^".repeat(self.width))
    }
}

impl std::error::Error for TextError {}

const ACTIONS: &str =
    "S0 send, R0 receive, W2 or W2,5 wait, T2 test, K0 lock, MW0 wait for a mutex, MT0 test one, U0 unlock, L compute";

/// A word and the column at which it begins.
type PlacedWord<'a> = (usize, &'a str);

/// Names in the order of their first occurrence.
#[derive(Default)]
struct NameTable(Vec<String>);

impl NameTable {
    fn number(&mut self, name: &str) -> usize {
        self.0.iter().position(|n| n == name).unwrap_or_else(|| {
            self.0.push(name.to_string());
            self.0.len() - 1
        })
    }
}

/// A line of the text, counted from 0.
#[derive(Copy, Clone)]
struct SourceLine<'a> {
    at: usize,
    text: &'a str,
}

impl SourceLine<'_> {
    fn error(self, (column, word): PlacedWord<'_>, message: impl Into<String>) -> TextError {
        TextError {
            line: self.at + 1,
            column: column + 1,
            message: message.into(),
            source: self.text.replace('\t', " "),
            width: word.chars().count().max(1),
        }
    }
}

/// Parses a text. Returns the script and the line of each process, counted from 1.
pub(crate) fn parse(source: &str) -> Result<(Script, Vec<usize>), TextError> {
    let (mut mailboxes, mut mutexes) = (NameTable::default(), NameTable::default());
    let (mut names, mut processes, mut places) = (Vec::new(), Vec::new(), Vec::new());
    for (at, text) in source.lines().enumerate() {
        let line = SourceLine { at, text };
        let mut words = split_words(text);
        if words.is_empty() {
            continue;
        }
        names.push(label(line, &mut words)?.unwrap_or_else(|| format!("process {}", processes.len())));
        processes.push(actions(line, &words, &mut mailboxes, &mut mutexes)?);
        places.push((line, words));
    }
    if processes.is_empty() {
        let first = SourceLine { at: 0, text: source.lines().next().unwrap_or("") };
        return Err(first.error((0, ""), "the program has no processes: write one per line, e.g. `R0 W0`"));
    }
    let script = Script { names, processes, mailboxes: mailboxes.0, mutexes: mutexes.0 };
    let script = script.checked().map_err(|ScriptError { process, action, message }| {
        let (line, words) = &places[process];
        line.error(words[action], message)
    })?;
    Ok((script, places.iter().map(|(line, _)| line.at + 1).collect()))
}

/// Removes the label of a process from its words and returns it, if there is one.
fn label(line: SourceLine<'_>, words: &mut Vec<PlacedWord<'_>>) -> Result<Option<String>, TextError> {
    let Some(label) = words[0].1.strip_suffix(':') else { return Ok(None) };
    if label.is_empty() {
        return Err(line.error(words[0], "the label before the colon is missing"));
    }
    words.remove(0);
    Ok(Some(label.to_string()))
}

/// Parses the actions of a process, each optionally with a name.
fn actions(
    line: SourceLine<'_>,
    words: &[PlacedWord<'_>],
    mailboxes: &mut NameTable,
    mutexes: &mut NameTable,
) -> Result<Vec<Action>, TextError> {
    let mut named: Vec<(String, usize)> = Vec::new();
    let mut actions = Vec::new();
    for &word in words {
        let mut text = word.1;
        if let Some((name, rest)) = text.split_once('=') {
            let known = named.iter().any(|(known, _)| known == name);
            if known || !is_name(name) || name.starts_with(|c: char| c.is_ascii_digit()) {
                let why = "a name must be unique in its line and begin with a letter";
                return Err(line.error(word, format!("`{name}` cannot be the name of this action: {why}")));
            }
            named.push((name.to_string(), actions.len()));
            text = rest;
        }
        actions.push(action(text, &named, mailboxes, mutexes).map_err(|why| line.error(word, why))?);
    }
    Ok(actions)
}

/// Splits a line into words, up to a comment, each with the character column at which it begins.
fn split_words(line: &str) -> Vec<PlacedWord<'_>> {
    let line = line.split('#').next().unwrap_or("");
    let mut words = Vec::new();
    let mut from = None;
    for (column, (byte, c)) in line.char_indices().chain([(line.len(), ' ')]).enumerate() {
        match (c.is_whitespace(), from) {
            (false, None) => from = Some((column, byte)),
            (true, Some((start, first))) => {
                words.push((start, &line[first..byte]));
                from = None;
            }
            _ => {}
        }
    }
    words
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-')
}

/// Parses one action. `named` holds the named actions of the process and their numbers.
fn action(
    text: &str,
    named: &[(String, usize)],
    mailboxes: &mut NameTable,
    mutexes: &mut NameTable,
) -> Result<Action, String> {
    const KINDS: [&str; 9] = ["MW", "MT", "S", "R", "W", "T", "K", "U", "L"];
    let Some(kind) = KINDS.into_iter().find(|kind| text.starts_with(kind)) else {
        return Err(format!("`{text}` is not an action; expected one of: {ACTIONS}"));
    };
    let rest = &text[kind.len()..];
    let list: Vec<&str> = if rest.is_empty() { Vec::new() } else { rest.split(',').collect() };
    if let Some(bad) = list.iter().find(|name| !is_name(name)) {
        return Err(format!("`{bad}` in `{text}` is not a number or name: use letters, digits, `_` and `-`"));
    }
    let one = || match list[..] {
        [name] => Ok(name),
        [] => Err(format!("`{text}` needs a number or name: write `{kind}0` or `{kind}name`")),
        _ => Err(format!("`{kind}` takes one number or name, not a list")),
    };
    let own_actions = || {
        let number = |name: &&str| {
            let at = named.iter().find(|(known, _)| known == name).map(|&(_, at)| at);
            at.or_else(|| name.parse().ok()).ok_or_else(|| unknown_action(name, named))
        };
        list.iter().map(number).collect::<Result<Vec<usize>, String>>()
    };
    match kind {
        "S" => Ok(Action::Send(mailboxes.number(one()?))),
        "R" => Ok(Action::Receive(mailboxes.number(one()?))),
        "W" => Ok(Action::Wait(own_actions()?)),
        "T" => Ok(Action::Test(own_actions()?)),
        "K" => Ok(Action::Lock(mutexes.number(one()?))),
        "U" => Ok(Action::Unlock(mutexes.number(one()?))),
        "MW" => Ok(Action::MutexWait(list.iter().map(|name| mutexes.number(name)).collect())),
        "MT" => Ok(Action::MutexTest(list.iter().map(|name| mutexes.number(name)).collect())),
        _ if list.is_empty() => Ok(Action::Local),
        _ => Err("`L` takes no number: it is a local computation".into()),
    }
}

/// Returns the error text for a reference to an action that does not exist.
fn unknown_action(name: &str, named: &[(String, usize)]) -> String {
    let known: Vec<String> = named.iter().map(|(known, _)| format!("`{known}`")).collect();
    let known = if known.is_empty() { String::new() } else { format!(" (it has {})", known.join(", ")) };
    format!(
        "this process has no earlier action named `{name}`{known}: put `{name}=` before the action, or use its number, counted from 0"
    )
}

impl fmt::Display for Script {
    /// Writes the text form.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (p, actions) in self.processes.iter().enumerate() {
            let mut words: Vec<String> = actions.iter().map(|action| self.action_text(action)).collect();
            if actions.is_empty() || self.names[p] != format!("process {p}") {
                words.insert(0, format!("{}:", self.names[p].replace(' ', "-")));
            }
            writeln!(f, "{}", words.join(" "))?;
        }
        Ok(())
    }
}

impl Script {
    fn action_text(&self, action: &Action) -> String {
        let numbers = |of: &[usize]| of.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
        let names = |of: &[usize]| of.iter().map(|&x| self.mutexes[x].clone()).collect::<Vec<_>>().join(",");
        match action {
            Action::Local => "L".into(),
            Action::Send(m) => format!("S{}", self.mailboxes[*m]),
            Action::Receive(m) => format!("R{}", self.mailboxes[*m]),
            Action::Wait(of) => format!("W{}", numbers(of)),
            Action::Test(of) => format!("T{}", numbers(of)),
            Action::Lock(x) => format!("K{}", self.mutexes[*x]),
            Action::MutexWait(of) => format!("MW{}", names(of)),
            Action::MutexTest(of) => format!("MT{}", names(of)),
            Action::Unlock(x) => format!("U{}", self.mutexes[*x]),
        }
    }
}
