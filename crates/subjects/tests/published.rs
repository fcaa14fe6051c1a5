//! Consistency of the published figures: the shape and the sums of the tables, and the numbers that they repeat.

use whippet_subjects::{PublishedCell, StandingRule, Table, table, tables};

fn cells<'a>(table: &'a Table, technique: &'a str) -> impl Iterator<Item = &'a PublishedCell> {
    table.cells.iter().filter(move |c| c.technique == technique)
}

fn total(table: &str, figure: impl Fn(&PublishedCell) -> Option<u64>) -> u64 {
    whippet_subjects::table(table).unwrap().cells.iter().filter_map(figure).sum()
}

#[test]
fn every_cell_has_its_program_and_its_technique() {
    for table in tables() {
        for cell in &table.cells {
            let _ = table.program(cell);
            let _ = table.technique(cell);
        }
        let used =
            |rule: &StandingRule| table.cells.iter().filter_map(|c| table.standing(c)).any(|r| std::ptr::eq(r, rule));
        assert!(table.standings.iter().all(used), "a standing of {} fits no cell", table.name);
    }
}

#[test]
fn tables_have_the_printed_shape() {
    let shape: Vec<_> = tables().iter().map(|t| (t.name.clone(), t.cells.len())).collect();
    let wanted = [
        ("transdpor-1", 9 * 3 * 2),
        ("transdpor-2", (11 * 3 + 4 * 3) * 2),
        ("3.1", (5 + 4) * 5),
        ("3.2", (5 + 4) * 5),
        ("3.3", 2 * 5 * 2),
        ("4.1", 8 * 8 * 2),
        ("4.2", 8 * 8 * 2),
        ("futures", 3 * 2),
    ];
    assert_eq!(shape, wanted.map(|(name, cells)| (name.to_string(), cells)));
}

#[test]
fn no_cell_is_there_twice() {
    for table in tables() {
        let mut keys: Vec<_> =
            table.cells.iter().map(|c| (&c.subject, &c.language, &c.technique, c.order, c.first_bug)).collect();
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), table.cells.len(), "table {}", table.name);
    }
}

/// Sums of whole columns, computed from the printed pages.
#[test]
fn sums_are_those_of_the_printed_columns() {
    let sums = ["transdpor-1", "transdpor-2", "3.1", "3.2", "4.1", "4.2"].map(|t| total(t, |c| c.figures.paths));
    assert_eq!(sums, SUMS_OF_PATHS);
    let sums = ["transdpor-1", "transdpor-2", "3.1", "3.2", "3.3", "4.2"].map(|t| total(t, |c| c.figures.transitions));
    assert_eq!(sums, SUMS_OF_TRANSITIONS);
}

const SUMS_OF_PATHS: [u64; 6] = [622_674, 661_207, 269_874, 83_250, 327_405, 209_858];
const SUMS_OF_TRANSITIONS: [u64; 6] = [2_369_098, 2_344_230, 960_955, 642_264, 7_521, 1_295_403];

#[test]
fn table_4_2_repeats_the_persistent_sets_of_4_1() {
    let (first, second) = (table("4.1").unwrap(), table("4.2").unwrap());
    for cell in cells(&first, "Persistent") {
        let same = |c: &&PublishedCell| c.subject == cell.subject && c.order == cell.order;
        let again = cells(&second, "Persistent").find(same).unwrap();
        assert_eq!((again.figures.paths, again.seconds), (cell.figures.paths, cell.seconds));
    }
}

/// The TransDPOR paper repeats the dissertation's runs without the driver's delivery.
#[test]
fn transdpor_tables_repeat_table_4_2_less_one_delivery() {
    let dissertation = table("4.2").unwrap();
    let mut compared = 0;
    for (name, ours, theirs) in [("transdpor-1", "DPOR", "Persistent"), ("transdpor-2", "DPOR+S", "Persistent+Sleep")] {
        let paper = table(name).unwrap();
        for cell in cells(&paper, ours) {
            let program = paper.program(cell);
            let same = |c: &&PublishedCell| {
                let other = dissertation.program(c);
                other.subject == program.subject && other.settings == program.settings && c.order == cell.order
            };
            let Some(again) = cells(&dissertation, theirs).find(same) else { continue };
            assert_eq!(again.figures.paths, cell.figures.paths);
            assert_eq!(again.figures.transitions, cell.figures.transitions.map(|t| t + 1));
            compared += 1;
        }
    }
    assert_eq!(compared, 7 * 3 * 2);
}

#[test]
fn states_are_deliveries_and_one_where_no_states_are_compared() {
    for name in ["3.1", "3.2"] {
        let table = table(name).unwrap();
        for cell in cells(&table, "None").chain(cells(&table, "DPOR")) {
            assert_eq!(cell.figures.states, cell.figures.transitions.map(|t| t + 1));
        }
    }
}

#[test]
fn little_steps_of_table_3_3_are_the_actor_comparison_of_3_1_and_3_2() {
    let steps = table("3.3").unwrap();
    let before = [table("3.1").unwrap(), table("3.2").unwrap()];
    for cell in cells(&steps, "Little") {
        let program = steps.program(cell);
        let again = before.iter().find_map(|t| {
            cells(t, "Actor Comp.").find(|c| {
                let other = t.program(c);
                other.subject == program.subject && c.language == cell.language
            })
        });
        let again = again.unwrap().figures;
        assert_eq!(again.transitions, cell.figures.transitions);
        assert_eq!(again.states, cell.figures.states.map(|s| s + 1));
    }
}

#[test]
fn an_unknown_table_lists_the_known_ones() {
    let error = table("5.1").unwrap_err().to_string();
    assert_eq!(
        error,
        "unknown table `5.1`; expected one of: transdpor-1, transdpor-2, 3.1, 3.2, 3.3, 4.1, 4.2, futures"
    );
}
