//! The branches of a default and their footprints.

use super::path::Path;
use crate::driver::run::{Run, Stop};
use crate::reductions::optimal::events::{ActorNames, EventLabel};
use smallvec::SmallVec;
use whippet_model::{Branch, Choice, Dependence, Machine, Name, Profile, Touch};

/// What a default touches.
#[derive(Clone, Debug, Default)]
pub(crate) struct DefaultTouches {
    /// The footprint of the branch that is taken.
    pub(crate) own: SmallVec<[Touch; 2]>,
    /// The union of the footprints of all branches of its thread.
    pub(crate) all: SmallVec<[Touch; 2]>,
}

impl DefaultTouches {
    /// Finds the footprints of the default that takes this branch of a thread in the current configuration.
    pub(crate) fn find<M: Machine>(
        run: &mut Run<'_, M>,
        path: &Path,
        thread: Name,
        taken: Branch,
    ) -> Result<DefaultTouches, Stop> {
        let mut touches = DefaultTouches::default();
        for (event, _) in branches(run, thread, &path.record.names)? {
            if event.branch == taken {
                touches.own.clone_from(&event.touches);
            }
            touches.all.extend(event.touches);
        }
        Ok(touches)
    }

    /// Returns the footprints of the default at `at`. May move the machine back.
    pub(crate) fn of_step<M: Machine>(run: &mut Run<'_, M>, path: &Path, at: usize) -> Result<DefaultTouches, Stop> {
        let step = &path.record.steps[at];
        let own = step.event.touches.clone();
        let several = step.several || step.event.next.is_some() && run.profile().branches_differ();
        if !several {
            return Ok(DefaultTouches { all: own.clone(), own });
        }
        run.rewind(at);
        let mut names = path.record.names.clone();
        names.truncate(at);
        let all = branches(run, step.event.thread, &names)?.into_iter().flat_map(|(event, _)| event.touches).collect();
        Ok(DefaultTouches { own, all })
    }
}

/// Returns `true` if a step may change which branches a thread has without touching what these branches touch.
pub(crate) fn is_narrow(profile: &Profile) -> bool {
    profile.dependence == Dependence::Footprints && (profile.branches_differ() || !profile.one_choice_per_thread)
}

/// Executes all branches of a thread in the current configuration, and returns each as an event with the steps that
/// caused it. There are none if the thread is disabled.
pub(crate) fn branches<M: Machine>(
    run: &mut Run<'_, M>,
    thread: Name,
    names: &ActorNames,
) -> Result<Vec<(EventLabel, Vec<usize>)>, Stop> {
    let depth = run.depth();
    let mut found = Vec::new();
    for choice in choices(run, thread)? {
        let mut branch = Some(choice.branch);
        while let Some(tried) = branch {
            let executed = run.redo(Choice { branch: tried, ..choice })?;
            let mut causes = Vec::new();
            run.machine().causes(depth, &mut causes);
            found.push((names.event(run.machine(), executed), causes));
            branch = executed.next_branch;
            run.rewind(depth);
        }
    }
    Ok(found)
}

/// Returns the branches that a thread has in the current configuration, in order. Executes them if they have to be
/// discovered and are different.
pub(crate) fn names_of_branches<M: Machine>(run: &mut Run<'_, M>, thread: Name) -> Result<Vec<Branch>, Stop> {
    let depth = run.depth();
    let mut found = Vec::new();
    for choice in choices(run, thread)? {
        found.push(choice.branch);
        if run.profile().branches_differ() {
            let mut branch = choice.branch;
            while let Some(next) = run.redo(Choice { branch, ..choice })?.next_branch {
                run.rewind(depth);
                found.push(next);
                branch = next;
            }
            run.rewind(depth);
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// Returns the choices that are listed for a thread.
fn choices<M: Machine>(run: &mut Run<'_, M>, thread: Name) -> Result<Vec<Choice>, Stop> {
    let mut choices = Vec::new();
    run.all_enabled(&mut choices)?;
    let what = run.machine().find(thread);
    choices.retain(|choice| Some(choice.what) == what);
    Ok(choices)
}
