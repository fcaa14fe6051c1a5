//! Shrinking: reduction of a program to a minimal one with the same failure.

use whippet_search::toy::{Action, Program, Target};

/// Removes parts of the program one by one, as long as the result still satisfies `shows`, until no part can be
/// removed.
///
/// ```
/// use whippet_generate::shrink;
/// use whippet_search::toy::{Action, Program, Target};
/// let program = Program::new(2).main(0, 0).main(1, 0).on(0, 0, [Action::Send(Target::Actor(1), 1)]);
/// let small = shrink(program, |program| program.main.contains(&(1, 0)));
/// assert_eq!(small, Program::new(2).main(1, 0));
/// ```
pub fn shrink(program: Program, mut shows: impl FnMut(&Program) -> bool) -> Program {
    let mut small = program;
    loop {
        let next = smaller(&small).find(|program| shows(program));
        match next {
            Some(next) => small = next,
            None => return small,
        }
    }
}

/// Iterates over the programs that lack one part, starting with the largest parts.
fn smaller(program: &Program) -> impl Iterator<Item = Program> + '_ {
    let actors = (0..program.actors).rev().filter_map(|k| without_actor(program, k));
    let starts = (0..program.main.len()).map(|k| {
        changed(program, |p| {
            p.main.remove(k);
        })
    });
    let rules = (0..program.rules.len()).map(|k| {
        changed(program, |p| {
            p.rules.remove(k);
        })
    });
    let refusals = (0..program.refusals.len()).map(|k| {
        changed(program, |p| {
            p.refusals.remove(k);
        })
    });
    let pieces = (0..program.rules.len()).flat_map(move |rule| {
        (0..program.rules[rule].actions.len()).flat_map(move |action| simpler(program, rule, action))
    });
    let states = (0..program.rules.len())
        .filter(|&k| program.rules[k].state.is_some())
        .map(|k| changed(program, |p| p.rules[k].state = None));
    actors.chain(starts).chain(rules).chain(refusals).chain(pieces).chain(states)
}

/// Iterates over the program without an action, and the program with a simpler action in its place, if there is one.
fn simpler(program: &Program, rule: usize, action: usize) -> impl Iterator<Item = Program> {
    let without = changed(program, |p| {
        p.rules[rule].actions.remove(action);
    });
    let instead = match program.rules[rule].actions[action] {
        Action::Call(to, tag) => Some(Action::Send(to, tag)),
        Action::Choose(n) if n > 2 => Some(Action::Choose(n - 1)),
        _ => None,
    };
    let with = instead.map(|simple| changed(program, |p| p.rules[rule].actions[action] = simple));
    std::iter::once(without).chain(with)
}

fn changed(program: &Program, change: impl FnOnce(&mut Program)) -> Program {
    let mut program = program.clone();
    change(&mut program);
    program
}

/// Returns the program without one of the initial actors and without everything that refers to it.
fn without_actor(program: &Program, gone: u32) -> Option<Program> {
    if program.actors == 1 {
        return None;
    }
    let renumbered = |k: u32| if k > gone { k - 1 } else { k };
    let target = |to: Target| match to {
        Target::Actor(k) => (k != gone).then(|| Target::Actor(renumbered(k))),
        to => Some(to),
    };
    let mut program = program.clone();
    program.actors -= 1;
    program.main.retain(|&(actor, _)| actor != gone);
    program.main.iter_mut().for_each(|(actor, _)| *actor = renumbered(*actor));
    program.rules.retain(|rule| rule.actor != gone);
    program.refusals.retain(|refusal| refusal.actor != gone);
    program.refusals.iter_mut().for_each(|refusal| refusal.actor = renumbered(refusal.actor));
    for rule in &mut program.rules {
        rule.actor = renumbered(rule.actor);
        rule.actions.retain_mut(|action| {
            let kept = match *action {
                Action::Send(to, tag) => target(to).map(|to| Action::Send(to, tag)),
                Action::Call(to, tag) => target(to).map(|to| Action::Call(to, tag)),
                Action::Create(like) => (like != gone).then(|| Action::Create(renumbered(like))),
                other => Some(other),
            };
            kept.is_some_and(|kept| {
                *action = kept;
                true
            })
        });
    }
    Some(program)
}
