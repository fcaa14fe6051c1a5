//! The table, with one line for each workload and tool.

use crate::measure::Sample;
use crate::tool::Tool;
use crate::workload::Workload;
use comfy_table::{CellAlignment, Table, presets::ASCII_MARKDOWN};

/// The repetitions of one measurement.
pub struct TableLine {
    pub workload: Workload,
    pub tool: Tool,
    pub samples: Vec<Sample>,
}

impl TableLine {
    fn seconds(&self) -> Vec<f64> {
        let mut seconds: Vec<_> = self.samples.iter().map(|sample| sample.cpu_seconds).collect();
        seconds.sort_by(f64::total_cmp);
        seconds
    }

    /// Returns the CPU time of the fastest search. Other load on the machine disturbed it least.
    fn min_seconds(&self) -> f64 {
        self.seconds()[0]
    }

    fn median(&self) -> f64 {
        self.seconds()[self.samples.len() / 2]
    }

    fn executions_per_second(&self) -> Option<f64> {
        Some(self.samples[0].counts.executions? as f64 / self.min_seconds())
    }

    fn transitions_per_second(&self) -> f64 {
        self.samples[0].counts.transitions as f64 / self.min_seconds()
    }

    /// Returns the rate that ratios compare: executions per second, or transitions per second for tools that compare
    /// states.
    fn speed(&self) -> f64 {
        self.executions_per_second().unwrap_or_else(|| self.transitions_per_second())
    }

    fn memory(&self) -> u64 {
        self.samples.iter().map(|sample| sample.peak_memory_bytes).max().unwrap_or(0)
    }
}

/// Formats the table. `+` marks a search that was cut off.
pub fn table(lines: &[TableLine]) -> String {
    let mut table = Table::new();
    table.load_style(ASCII_MARKDOWN).set_header([
        "workload",
        "tool",
        "executions",
        "states",
        "transitions",
        "CPU s, min",
        "median",
        "executions/s",
        "transitions/s",
        "peak MiB",
        "whippet is",
    ]);
    for line in lines {
        table.add_row(row(line, lines));
    }
    for column in table.column_iter_mut().skip(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.to_string()
}

fn row(line: &TableLine, lines: &[TableLine]) -> Vec<String> {
    let counts = line.samples[0].counts;
    let cut = if counts.complete { "" } else { "+" };
    let count = |n: Option<u64>| n.map_or_else(String::new, |n| format!("{}{cut}", thousands(n)));
    let ours =
        lines.iter().find(|other| other.workload == line.workload && other.tool == line.tool.whippet_counterpart());
    let ratio = match ours {
        Some(ours) if ours.tool != line.tool => format!("{:.1}×", ours.speed() / line.speed()),
        _ => String::new(),
    };
    vec![
        line.workload.to_string(),
        line.tool.to_string(),
        count(counts.executions),
        count(counts.states),
        count(Some(counts.transitions)),
        format!("{:.5}", line.min_seconds()),
        format!("{:.5}", line.median()),
        line.executions_per_second().map_or_else(String::new, |speed| thousands(speed as u64)),
        thousands(line.transitions_per_second() as u64),
        format!("{:.1}", line.memory() as f64 / f64::from(1 << 20)),
        ratio,
    ]
}

/// Formats `1234567` as `1,234,567`.
fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::Counts;

    #[test]
    fn thousands_are_grouped() {
        assert_eq!([0, 999, 1000, 1234567].map(thousands), ["0", "999", "1,000", "1,234,567"]);
    }

    fn line(tool: Tool, executions: u64, seconds: &[f64]) -> TableLine {
        let counts = Counts { executions: Some(executions), states: None, transitions: 0, complete: true };
        let sample = |&cpu_seconds| Sample { counts, cpu_seconds, peak_memory_bytes: 0 };
        TableLine { workload: Workload::Pi(3), tool, samples: seconds.iter().map(sample).collect() }
    }

    #[test]
    fn ratio_of_fastest_searches() {
        let lines = [line(Tool::Whippet, 100, &[3.0, 1.0, 2.0]), line(Tool::TraceForge, 50, &[5.0, 9.0, 6.0])];
        assert_eq!((lines[0].min_seconds(), lines[0].median()), (1.0, 2.0));
        assert_eq!(row(&lines[1], &lines).last().unwrap(), "10.0×");
        assert_eq!(row(&lines[0], &lines).last().unwrap(), "");
    }
}
