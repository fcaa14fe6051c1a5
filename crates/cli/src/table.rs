//! Tables, all alike: a line under the header, numbers to the right.

use comfy_table::{CellAlignment, ContentArrangement, LineStyle, Table, presets};

/// A table whose first `left` columns are words and the others numbers.
pub(crate) fn table<'a>(
    header: impl IntoIterator<Item = &'a str>,
    rows: impl IntoIterator<Item = Vec<String>>,
    left: usize,
) -> Table {
    let mut table = Table::new();
    let line = LineStyle::new('─', '─', '─', '─');
    table.load_style(presets::NOTHING.header_separator(line)).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(header);
    table.add_rows(rows);
    for column in table.column_iter_mut().skip(left) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}
