//! Parsimonious: work in progress.

mod constraints;
mod detours;
mod part;
mod path;

use crate::driver::run::{Run, Stop};
use part::{Mark, Part, PartStep};
use path::Path;
use whippet_model::{Branch, Choice, Dependence, Machine, Name};

/// Explores each trace once.
pub(crate) fn search<M: Machine>(run: &mut Run<'_, M>) -> Result<(), Stop> {
    let mut search = Search { open: vec![Part::default()], path: Path::new(run.machine()), choices: Vec::new() };
    while let Some(part) = search.open.pop() {
        search.explore(run, &part)?;
    }
    Ok(())
}

struct Search {
    open: Vec<Part>,
    path: Path,
    choices: Vec<Choice>,
}

impl Search {
    /// Explores the execution that begins with the path of a part, and opens further parts.
    fn explore<M: Machine>(&mut self, run: &mut Run<'_, M>, part: &Part) -> Result<(), Stop> {
        if !self.replay(run, part)? {
            return Ok(());
        }
        let mut forced = match part.steps.last() {
            Some(PartStep { mark: Mark::Head(detour), .. }) => Some(detour.against),
            _ => None,
        };
        while self.advance(run, forced.take())? {}
        if std::env::var("SHOW").is_ok() {
            for at in 0..self.path.len() {
                let e = self.path.event(at);
                eprint!(" {:x}/{}{}", e.thread.0 >> 52, e.branch.0, match &self.path.marks[at] { Mark::Default => "D".into(), Mark::Via => "V".into(), Mark::Other => "O".to_string(), Mark::Head(d) => format!("H({},{:x})", d.base, d.against.0 >> 52) });
            }
            eprintln!();
        }
        let first = self.open.len();
        detours::find(run, &self.path, &mut self.open)?;
        self.open[first..].reverse();
        Ok(())
    }

    /// Takes the path of a part. Returns `false` if its last step violates a constraint.
    fn replay<M: Machine>(&mut self, run: &mut Run<'_, M>, part: &Part) -> Result<bool, Stop> {
        let common = self.path.common(part);
        self.path.truncate(common);
        let depth = run.depth().min(common);
        run.rewind(depth);
        self.path.go(run, common)?;
        for (at, step) in part.steps.iter().enumerate().skip(common) {
            let what = run.machine().find(step.thread).expect("our bug: a part leads nowhere");
            let choice = Choice { what, branch: step.branch };
            let several = self.has_several(run, choice)?;
            let is_new = at + 1 == part.steps.len();
            let executed = if is_new { run.execute(choice)? } else { run.redo(choice)? };
            self.path.push(run.machine(), executed, several, step.mark.clone());
            if is_new && step.mark == Mark::Other {
                if let Some(branch) = executed.next_branch {
                    self.open_branch(at, step.thread, branch);
                }
                return Ok(!constraints::forbid_newest(run, &self.path)?);
            }
        }
        Ok(true)
    }

    fn has_several<M: Machine>(&mut self, run: &mut Run<'_, M>, choice: Choice) -> Result<bool, Stop> {
        if run.profile().dependence == Dependence::PerActor || run.profile().one_choice_per_thread {
            return Ok(false);
        }
        self.choices.clear();
        run.all_enabled(&mut self.choices)?;
        Ok(self.choices.iter().filter(|other| other.what == choice.what).count() > 1)
    }

    /// Opens the part in which the step at `at` takes another branch.
    fn open_branch(&mut self, at: usize, thread: Name, branch: Branch) {
        let mut part = self.path.part(at);
        part.steps.push(PartStep { thread, branch, mark: Mark::Other });
        self.open.push(part);
    }

    /// Takes a default step. Returns `false` at the end of the execution.
    fn advance<M: Machine>(&mut self, run: &mut Run<'_, M>, forced: Option<Name>) -> Result<bool, Stop> {
        let mut choices = Vec::new();
        run.enabled(&mut choices)?;
        if choices.is_empty() {
            run.complete()?;
            return Ok(false);
        }
        let forced = forced.and_then(|thread| run.machine().find(thread));
        let mut threads: Vec<_> = choices.iter().map(|choice| choice.what).collect();
        threads.sort_by_key(|what| Some(*what) != forced);
        threads.dedup();
        for what in threads {
            let listed: Vec<Choice> = choices.iter().copied().filter(|choice| choice.what == what).collect();
            if self.take_default(run, &listed)? {
                return Ok(true);
            }
        }
        run.blocked();
        run.given_up()?;
        Ok(false)
    }

    /// Takes the first branch of a thread that violates no constraint, and opens the others. Returns `false` if there is
    /// none.
    fn take_default<M: Machine>(&mut self, run: &mut Run<'_, M>, listed: &[Choice]) -> Result<bool, Stop> {
        let at = self.path.len();
        for (k, choice) in listed.iter().enumerate() {
            let mut branch = Some(choice.branch);
            while let Some(tried) = branch {
                let executed = run.execute(Choice { branch: tried, ..*choice })?;
                self.path.push(run.machine(), executed, listed.len() > 1, Mark::Default);
                if !constraints::forbid_newest(run, &self.path)? {
                    let thread = self.path.event(at).thread;
                    for other in &listed[k + 1..] {
                        self.open_branch(at, thread, other.branch);
                    }
                    if let Some(branch) = executed.next_branch {
                        self.open_branch(at, thread, branch);
                    }
                    return Ok(true);
                }
                self.path.truncate(at);
                run.rewind(at);
                branch = executed.next_branch;
            }
        }
        Ok(false)
    }
}
