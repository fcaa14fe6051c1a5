//! The common layout of tables: a line under the header, numbers aligned to the right.

use comfy_table::{CellAlignment, ContentArrangement, LineStyle, Table, presets};

/// Creates a table whose first `left` columns contain words and whose other columns contain numbers.
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
