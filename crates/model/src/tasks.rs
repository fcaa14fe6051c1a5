//! When two tasks of one actor are in conflict. A task is what an actor does on one message.

/// What counts as a conflict between two tasks of one actor: of one object group in ABS.
///
/// ```
/// # use whippet_lang::AbsProgram;
/// # let program = AbsProgram::parse("pair.abs", r#"
/// #     interface Pair { Unit left(Int v); Unit right(Int v); }
/// #     class Pair implements Pair { Int l = 0; Int r = 0; Unit left(Int v) { l = v; } Unit right(Int v) { r = v; } }
/// #     { Pair p = new Pair(); p!left(1); p!right(2); }
/// # "#).unwrap();
/// use whippet_model::Tasks;
/// // Two calls of one object that write different fields.
/// let [fields, actors] = [Tasks::Fields, Tasks::Actors].map(|tasks| {
///     let program = program.clone().tasks(tasks);
///     whippet_search::explore(program.into(), &Default::default(), &()).unwrap().counters.executions
/// });
/// assert_eq!((fields, actors), (1, 2));
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Tasks {
    /// They touch the same field of the same object, and one writes it. Sound, and the default.
    #[default]
    Fields,
    /// They are of one actor.
    Actors,
    /// They are of one actor, but marks keep a search from taking independent ones in both orders (Figure 6 of
    /// the paper on actor and task selection). This may miss executions: see [`Marks`].
    Marks(Marks),
}

/// After a task t has run, the tasks of its actor that are independent of it and stand behind it in the queue are
/// marked, and a marked task is not taken. Two tasks are independent if no field that one may write is
/// touched by the other: as their text has it in ABS, as sample executions have shown for native actors.
///
/// Both variants miss executions where somebody may still send to the actor that was taken, and where
/// tasks wait. The paper's numbers come from them; [`Tasks::Fields`] prunes more and misses nothing.
///
/// ```
/// use std::sync::Arc;
/// use whippet_lang::AbsProgram;
/// use whippet_model::{Marks, Tasks};
/// use whippet_search::{Options, explore};
/// let program = AbsProgram::parse("two.abs", r#"
///     interface Cell { Unit left(); Unit right(); }
///     class Cell implements Cell { Int l = 0; Int r = 0; Unit left() { l = l + 1; } Unit right() { r = r + 1; } }
///     { Cell c = new Cell(); c!left(); c!right(); }
/// "#).unwrap();
/// let executions = |tasks| {
///     explore(Arc::new(program.clone().tasks(tasks)), &Options::default(), &()).unwrap().counters.executions
/// };
/// assert_eq!(executions(Tasks::Actors), 2);
/// assert_eq!(executions(Tasks::Marks(Marks::Literal)), 1);
/// assert_eq!(executions(Tasks::Fields), 1);
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Marks {
    /// All other marks of the actor are taken away first, as printed.
    Literal,
    /// A mark stays until a dependent task of the actor runs: these give the numbers of the paper's table.
    Persisting,
}
