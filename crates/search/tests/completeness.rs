//! dCUTE, persistent sets and TransDPOR miss nothing that the exhaustive search finds, in any order, with and without
//! sleep sets. The published rules do, and these are the smallest programs that show it.

use whippet_generate::{Guarantee, Setting, Size, answer, compare, draw};
use whippet_search::toy::{Action, Program, Target};
use whippet_search::{Order, Reduction, Rule};

use Action::{Send, Set, Stop};
use Target::{Actor, Me};

fn papers() -> Vec<Setting> {
    let known = [Reduction::Dcute, Reduction::Persistent, Reduction::Transdpor];
    let all = Setting::all().into_iter().filter(|s| known.contains(&s.reduction));
    all.collect()
}

/// Returns a description of the traces or problems that a search misses, if any.
fn miss(program: &Program, setting: &Setting) -> Option<String> {
    let all = answer(program, &Setting::of(Reduction::Exhaustive), None).unwrap().unwrap();
    let found = answer(program, setting, None).unwrap_or_else(|f| panic!("{f}\n{program}")).unwrap();
    compare(&all, &found, setting).err()
}

/// Checks that the `published` searches miss some traces of the program, and that all searches that promise to find
/// every trace miss none.
fn shows(program: &Program, published: &[Setting], what: &str) {
    for setting in published {
        let missed = miss(program, setting).unwrap_or_else(|| panic!("{setting} should miss something\n{program}"));
        assert!(missed.starts_with(what), "{setting}: {missed}\n{program}");
    }
    for setting in papers().iter().filter(|setting| setting.guarantee() == Guarantee::All) {
        assert_eq!(miss(program, setting), None, "{setting}\n{program}");
    }
}

fn transdpor(rule: Rule, order: Order, sleep: bool) -> Setting {
    Setting { rule, order, sleep, ..Setting::of(Reduction::Transdpor) }
}

#[test]
fn figure_2_with_sleep_sets_loses_2_of_6_traces() {
    let program = Program::new(2).main(0, 0).main(1, 1).on(1, 1, [Send(Actor(0), 2), Send(Actor(0), 3)]);
    shows(&program, &[transdpor(Rule::Figure2, Order::Eca, true)], "2 of 6 traces are missing");
    assert_eq!(miss(&program, &transdpor(Rule::Figure2, Order::Eca, false)), None);
}

#[test]
fn the_rules_of_the_tables_lose_1_of_2_traces_when_an_actor_stops() {
    let program = Program::new(1).main(0, 1).main(0, 0).on(0, 1, [Stop]);
    let published =
        [Rule::Table1, Rule::Table2].map(|rule| [false, true].map(|sleep| transdpor(rule, Order::Fifo, sleep)));
    shows(&program, published.as_flattened(), "1 of 2 traces are missing");
}

#[test]
fn the_rules_of_the_tables_lose_1_of_2_traces_when_an_actor_refuses() {
    let program =
        Program::new(2).main(1, 1).main(0, 1).on(0, 1, [Send(Actor(1), 2)]).on(1, 1, [Set(1)]).refuse(1, 1, 2);
    let published =
        [Rule::Table1, Rule::Table2].map(|rule| [false, true].map(|sleep| transdpor(rule, Order::Eca, sleep)));
    shows(&program, published.as_flattened(), "1 of 2 traces are missing");
}

#[test]
fn dcute_loses_1_of_2_traces_with_the_published_sort_of_sgr() {
    let program = Program::new(3).main(0, 1).main(2, 1).main(1, 1).on(1, 1, [Send(Me, 2)]).on(
        2,
        1,
        [Send(Me, 2), Send(Actor(0), 2)],
    );
    let published = Setting { order: Order::SgrPublished, ..Setting::of(Reduction::Dcute) };
    shows(&program, &[published], "1 of 2 traces are missing");
}

#[test]
fn random_programs() {
    let size = Size { executions: 200, steps: 30 };
    let settings = papers();
    let mut judged = 0;
    for seed in 0..400 {
        let program = draw(seed);
        let Some(all) = answer(&program, &Setting::of(Reduction::Exhaustive), Some(size)).unwrap() else { continue };
        judged += 1;
        for setting in settings
            .iter()
            .filter(|setting| setting.guarantee() == Guarantee::All && setting.suits(program.granularity))
        {
            let found = answer(&program, setting, None).unwrap_or_else(|f| panic!("{f}\n{program}")).unwrap();
            if let Err(what) = compare(&all, &found, setting) {
                panic!("seed {seed}, {setting}: {what}\n{program}");
            }
        }
    }
    assert!(judged > 100, "only {judged} programs were small enough");
}
