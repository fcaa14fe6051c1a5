//! Conflicts between two tasks of one actor. A task is the processing of one message by an actor.

/// The rule that decides whether two tasks of one actor (in ABS: of one object group) conflict.
///
/// ```
/// # use whippet_abs::AbsProgram;
/// # let program = AbsProgram::parse("pair.abs", r#"
/// #     interface Pair { Unit left(Int v); Unit right(Int v); }
/// #     class Pair implements Pair { Int l = 0; Int r = 0; Unit left(Int v) { l = v; } Unit right(Int v) { r = v; } }
/// #     { Pair p = new Pair(); p!left(1); p!right(2); }
/// # "#).unwrap();
/// use whippet_model::ConflictRule;
/// // Two calls on one object that write different fields.
/// let [fields, actors] = [ConflictRule::Fields, ConflictRule::Actors].map(|tasks| {
///     let program = program.clone().conflict_rule(tasks);
///     whippet_search::explore(program.into(), &Default::default(), &()).unwrap().counters.executions
/// });
/// assert_eq!((fields, actors), (1, 2));
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum ConflictRule {
    /// Two tasks conflict if they touch the same field of the same object and at least one writes it. Sound, and the
    /// default.
    #[default]
    Fields,
    /// All tasks of one actor conflict.
    Actors,
    /// All tasks of one actor conflict, but marks prevent a search from exploring independent tasks in both orders
    /// (Figure 6 of the paper on actor and task selection). May miss executions: see [`Marks`].
    Marks(Marks),
}

/// The two variants of marking. After a task t has run, the tasks of its actor that are independent of t and behind
/// it in the queue are marked, and a marked task is not selected. Two tasks are independent if neither touches a
/// field that the other may write. The fields come from the program text in ABS, and from sample executions for
/// native actors.
///
/// Both variants miss executions if other actors may still send to the selected actor, and if tasks block. The
/// paper's numbers were obtained with marks; [`ConflictRule::Fields`] prunes more and misses nothing.
///
/// ```
/// use std::sync::Arc;
/// use whippet_abs::AbsProgram;
/// use whippet_model::{Marks, ConflictRule};
/// use whippet_search::{Options, explore};
/// let program = AbsProgram::parse("two.abs", r#"
///     interface Cell { Unit left(); Unit right(); }
///     class Cell implements Cell { Int l = 0; Int r = 0; Unit left() { l = l + 1; } Unit right() { r = r + 1; } }
///     { Cell c = new Cell(); c!left(); c!right(); }
/// "#).unwrap();
/// let executions = |tasks| {
///     explore(Arc::new(program.clone().conflict_rule(tasks)), &Options::default(), &()).unwrap().counters.executions
/// };
/// assert_eq!(executions(ConflictRule::Actors), 2);
/// assert_eq!(executions(ConflictRule::Marks(Marks::Literal)), 1);
/// assert_eq!(executions(ConflictRule::Fields), 1);
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Marks {
    /// Removes all other marks of the actor first, as printed in the paper.
    Literal,
    /// Keeps a mark until a dependent task of the actor runs. This variant gives the numbers of the paper's table.
    Persisting,
}
