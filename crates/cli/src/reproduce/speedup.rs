//! The speed-ups of a table with two columns, with their maximum and average, as the papers print them.

use crate::table::table;
use serde_json::{Value, json};
use whippet_subjects::{Figures, Mark, Reproduced, Reproduction};

/// The ratios of the first column to the second.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
struct Ratios {
    paths: Option<f64>,
    transitions: Option<f64>,
    time: Option<f64>,
    memory: Option<f64>,
}

/// The kind of mean that a table prints. The papers do not say which; only these give their numbers.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Mean {
    Geometric,
    Arithmetic,
}

/// The speed-ups of a table.
pub(super) struct Speedups {
    /// The two columns.
    columns: [String; 2],
    mean: Mean,
    /// The subject and order of each row, the published ratios and ours.
    rows: Vec<(String, Ratios, Ratios)>,
}

const NAMES: [&str; 4] = ["paths", "transitions", "time", "memory"];

impl Ratios {
    fn all(self) -> [Option<f64>; 4] {
        [self.paths, self.transitions, self.time, self.memory]
    }

    fn new([one, two]: [(Figures, f64, Option<f64>); 2]) -> Ratios {
        let ratio = |a: f64, b: f64| (a > 0.0 && b > 0.0).then_some(a / b);
        let counts = |a: Option<u64>, b: Option<u64>| ratio(a? as f64, b? as f64);
        Ratios {
            paths: counts(one.0.paths, two.0.paths),
            transitions: counts(one.0.transitions, two.0.transitions),
            time: ratio(one.1, two.1),
            memory: one.2.zip(two.2).and_then(|(a, b)| ratio(a, b)),
        }
    }

    fn text(self) -> String {
        let cell = |ratio: Option<f64>| ratio.map_or_else(|| "–".into(), |ratio| format!("{ratio:.2}×"));
        self.all().map(cell).join(" / ")
    }

    fn object(self) -> Value {
        NAMES.iter().zip(self.all()).map(|(name, ratio)| (name.to_string(), json!(ratio))).collect()
    }
}

impl Mean {
    fn of(self, ratios: &[f64]) -> f64 {
        let n = ratios.len() as f64;
        match self {
            Mean::Geometric => (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / n).exp(),
            Mean::Arithmetic => ratios.iter().sum::<f64>() / n,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Mean::Geometric => "geometric mean",
            Mean::Arithmetic => "arithmetic mean",
        }
    }
}

impl Speedups {
    /// Returns the speed-ups of a table, if it is one that prints them.
    pub(super) fn of(result: &Reproduction) -> Option<Speedups> {
        let mean = match result.name.as_str() {
            "transdpor-1" => Mean::Geometric,
            "transdpor-2" => Mean::Arithmetic,
            _ => return None,
        };
        let one = &result.cells.first()?.cell.technique;
        let two = &result.cells.iter().find(|cell| cell.cell.technique != *one)?.cell.technique;
        // The table has no speed-ups for programs of which only the first bug is searched.
        let of = |technique: &String| {
            let is_column = |cell: &&Reproduced| cell.cell.technique == *technique && !cell.cell.first_bug;
            result.cells.iter().filter(is_column).collect::<Vec<_>>()
        };
        let ours = |cell: &Reproduced| match cell.mark {
            Mark::Cut(_) | Mark::Beyond(_) | Mark::NotRun(_) => (Figures::default(), 0.0, None),
            _ => (cell.ours, cell.time.as_secs_f64(), super::megabytes(cell)),
        };
        let published = |cell: &Reproduced| (cell.cell.figures, cell.cell.seconds, cell.cell.megabytes);
        let second = of(two);
        let mut rows = Vec::new();
        for first in of(one) {
            let key = super::row(&first.cell);
            if let Some(second) = second.iter().find(|cell| super::row(&cell.cell) == key) {
                let ratios = [published(first), published(second)];
                rows.push((
                    format!("{} {}", key.0, key.1),
                    Ratios::new(ratios),
                    Ratios::new([ours(first), ours(second)]),
                ));
            }
        }
        Some(Speedups { columns: [one.clone(), two.clone()], mean, rows })
    }

    /// Returns a summary of one kind of ratio over all rows that have it: for the published ones and for ours.
    fn summary(&self, of: impl Fn(&[f64]) -> f64) -> (Ratios, Ratios) {
        let column = |k: usize, pick: fn(&(String, Ratios, Ratios)) -> Ratios| {
            let ratios: Vec<f64> = self.rows.iter().filter_map(|row| pick(row).all()[k]).collect();
            (!ratios.is_empty()).then(|| of(&ratios))
        };
        let all = |pick: fn(&(String, Ratios, Ratios)) -> Ratios| Ratios {
            paths: column(0, pick),
            transitions: column(1, pick),
            time: column(2, pick),
            memory: column(3, pick),
        };
        (all(|row| row.1), all(|row| row.2))
    }

    fn maximum(&self) -> (Ratios, Ratios) {
        self.summary(|ratios| ratios.iter().copied().fold(0.0, f64::max))
    }

    fn average(&self) -> (Ratios, Ratios) {
        self.summary(|ratios| self.mean.of(ratios))
    }

    /// Returns the lines of the table, the last two of which are the maximum and the average.
    pub(super) fn lines(&self) -> Vec<Vec<String>> {
        let (maximum, average) = (self.maximum(), self.average());
        let last = [("Max", maximum), ("Average", average)].map(|(name, (a, b))| (name.to_string(), a, b));
        let line =
            |(name, published, ours): &(String, Ratios, Ratios)| vec![name.clone(), published.text(), ours.text()];
        self.rows.iter().chain(&last).map(line).collect()
    }

    pub(super) fn title(&self) -> String {
        let [one, two] = &self.columns;
        format!("Speed-up of {two} over {one}: {}; the average is the {}", NAMES.join(" / "), self.mean.name())
    }

    pub(super) fn text(&self) -> String {
        format!("{}\n\n{}\n", self.title(), table(["row", "published", "here"], self.lines(), 1))
    }

    pub(super) fn object(&self) -> Value {
        let pair =
            |(published, here): (Ratios, Ratios)| json!({ "published": published.object(), "here": here.object() });
        let rows = self.rows.iter().map(
            |(name, published, here)| json!({ "row": name, "published": published.object(), "here": here.object() }),
        );
        json!({
            "columns": self.columns,
            "mean": self.mean.name(),
            "maximum": pair(self.maximum()),
            "average": pair(self.average()),
            "rows": rows.collect::<Vec<_>>(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use whippet_subjects::tables;

    /// Returns a reproduction in which all cells are as published.
    fn as_published(name: &str) -> Reproduction {
        let table = tables().into_iter().find(|table| table.name == name).unwrap();
        let cell = |cell: &whippet_subjects::PublishedCell| Reproduced {
            cell: cell.clone(),
            program: String::new(),
            ours: cell.figures,
            mark: Mark::Equal,
            added: 0,
            note: String::new(),
            time: Duration::from_secs_f64(cell.seconds),
            memory: cell.megabytes.map(|megabytes| (megabytes * f64::from(1 << 20)) as u64),
        };
        let cells = table.cells.iter().map(cell).collect();
        Reproduction { name: name.into(), title: String::new(), source: String::new(), cells, interrupted: false }
    }

    /// The last lines of the papers' tables, from their other cells. Two memory and time figures differ from the printed
    /// ones, 0.98 and 225.63, by rounding.
    #[test]
    fn maxima_and_averages_are_the_printed_ones() {
        let last = |name: &str| {
            let lines = Speedups::of(&as_published(name)).unwrap().lines();
            lines[lines.len() - 2..].iter().map(|line| line[1].clone()).collect::<Vec<_>>()
        };
        assert_eq!(last("transdpor-1"), ["160.42× / 163.80× / 225.62× / 13.01×", "2.39× / 2.39× / 2.38× / 1.18×"]);
        assert_eq!(last("transdpor-2"), ["1.07× / 2.00× / 2.07× / 1.80×", "1.00× / 1.13× / 1.13× / 0.99×"]);
        assert!(Speedups::of(&as_published("4.1")).is_none());
    }
}
