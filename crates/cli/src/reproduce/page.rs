//! All tables as one page, which needs no network: figures, times, memory, speed-ups and plots.

use super::{added, megabytes, reasons, row, show, speedup};
use std::fmt::Write;
use whippet_subjects::{Mark, Reproduced, Reproduction};

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:75rem;padding:0 1rem;color:#1a1a1a;background:#fff}\
table{border-collapse:collapse;font-size:13px;font-variant-numeric:tabular-nums;display:block;overflow-x:auto}\
th,td{padding:.15rem .6rem;border-bottom:1px solid #ddd;text-align:right;white-space:nowrap}\
th:first-child,td:first-child{text-align:left}.equal{color:#0a5c2b}.differs{color:#7a4b00}.wrong{color:#a30015;font-weight:600}\
figure{margin:1rem 0}figcaption{font-size:13px}pre{overflow-x:auto;font-size:12px}svg{max-width:100%;height:auto}";

/// Returns the page. `others` are the texts of tables that have columns of their own.
pub(super) fn page(tables: &[Reproduction], others: &[String]) -> String {
    let mut out = String::from("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">");
    let _ = write!(
        out,
        "<meta name=\"viewport\" content=\"width=device-width\"><title>Published tables</title><style>{STYLE}</style>"
    );
    out += "</head><body><main><h1>Published tables, and the same searches here</h1>\
        <p>Each cell has the published figures, a mark, and ours where they differ: <span class=\"equal\">=</span> equal, \
        <span class=\"differs\">≠</span> different for the reason below the table, <span class=\"wrong\">✗</span> wrong, \
        ? stopped by a limit here, &lt; stopped in both runs. Memory here is the peak of the whole process during the cell; cells \
        that share a run have the same time and memory.</p>\n";
    for table in tables.iter().filter(|table| !table.cells.is_empty()) {
        section(&mut out, table);
    }
    for text in others {
        let _ = writeln!(out, "<section><pre>{}</pre></section>", escaped(text));
    }
    out + "</main></body></html>\n"
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn section(out: &mut String, result: &Reproduction) {
    let _ = writeln!(out, "<section><h2>Table {}: {}</h2>", escaped(&result.name), escaped(&result.title));
    let _ = writeln!(out, "<p>{}<br>{}</p>", escaped(&result.source), escaped(&result.summary()));
    cells(out, result);
    if let Some(remark) = added(result) {
        let _ = writeln!(out, "<p>{}.</p>", escaped(&remark));
    }
    let reasons = reasons(result);
    if !reasons.is_empty() {
        *out += "<ul>";
        for (why, cells) in reasons {
            let _ = write!(out, "<li>{}: {}</li>", escaped(&why), escaped(&cells.join(", ")));
        }
        *out += "</ul>\n";
    }
    plot(out, result);
    if let Some(speedups) = speedup::Speedups::of(result) {
        let _ = writeln!(out, "<h3>{}</h3>", escaped(&speedups.title()));
        rows(out, &["row", "published", "here"], speedups.lines().into_iter());
    }
    *out += "</section>\n";
}

/// Writes a table of texts.
fn rows(out: &mut String, header: &[&str], lines: impl Iterator<Item = Vec<String>>) {
    *out += "<table><thead><tr>";
    for name in header {
        let _ = write!(out, "<th scope=\"col\">{}</th>", escaped(name));
    }
    *out += "</tr></thead><tbody>\n";
    for line in lines {
        let cells: String = line.iter().map(|cell| format!("<td>{}</td>", escaped(cell))).collect();
        let _ = writeln!(out, "<tr>{cells}</tr>");
    }
    *out += "</tbody></table>\n";
}

/// Writes one line for each cell: the figures, the times, the memory.
fn cells(out: &mut String, result: &Reproduction) {
    *out += "<table><thead><tr>";
    for name in ["program", "search", "figures", "s published", "s here", "MB published", "MB here"] {
        let _ = write!(out, "<th scope=\"col\">{name}</th>");
    }
    *out += "</tr></thead><tbody>\n";
    for cell in &result.cells {
        let (subject, order) = row(&cell.cell);
        let class = match cell.mark {
            Mark::Equal => "equal",
            Mark::Wrong => "wrong",
            _ => "differs",
        };
        let number = |value: Option<f64>, digits: usize| value.map_or_else(String::new, |v| format!("{v:.digits$}"));
        let _ = writeln!(
            out,
            "<tr><td>{} {}</td><td>{}</td><td class=\"{class}\">{}</td><td>{}</td><td>{:.3}</td><td>{}</td><td>{}</td></tr>",
            escaped(&subject),
            escaped(&order),
            escaped(&cell.cell.technique),
            escaped(&show(cell)),
            number(Some(cell.cell.seconds), 0),
            cell.time.as_secs_f64(),
            number(cell.cell.megabytes, 0),
            number(megabytes(cell), 1),
        );
    }
    *out += "</tbody></table>\n";
}

/// The size of a plot, and the margin for its axes.
const SIZE: f64 = 360.0;
const MARGIN: f64 = 46.0;

/// Plots the transitions of all cells: published against ours, on logarithmic axes. Equal cells are on the diagonal.
fn plot(out: &mut String, result: &Reproduction) {
    let point = |cell: &Reproduced| Some((cell.cell.figures.transitions?, cell.ours.transitions?));
    let points: Vec<((u64, u64), &Reproduced)> =
        result.cells.iter().filter_map(|cell| Some((point(cell).filter(|(a, b)| *a > 0 && *b > 0)?, cell))).collect();
    let Some(most) = points.iter().map(|((a, b), _)| *a.max(b)).max() else { return };
    let decades = (most as f64).log10().ceil().max(1.0);
    let place = |value: f64| MARGIN + value / decades * SIZE;
    let side = SIZE + MARGIN + 12.0;
    let _ = write!(
        out,
        "<figure><svg viewBox=\"0 0 {side} {side}\" width=\"{side}\" role=\"img\" aria-label=\"Transitions: published and here\">\
         <g transform=\"translate(0 {side}) scale(1 -1)\"><path d=\"M{MARGIN} {MARGIN}L{0} {0}\" stroke=\"#bbb\"/>",
        place(decades)
    );
    let mut k = 0.0;
    while k <= decades {
        let at = place(k);
        let _ = write!(
            out,
            "<path d=\"M{MARGIN} {at}H{0}M{at} {MARGIN}V{0}\" stroke=\"#eee\"/>\
             <text transform=\"translate({at} {1}) scale(1 -1)\" font-size=\"11\" text-anchor=\"middle\">10<tspan dy=\"-4\" font-size=\"8\">{k}</tspan></text>\
             <text transform=\"translate({2} {3}) scale(1 -1)\" font-size=\"11\" text-anchor=\"end\">10<tspan dy=\"-4\" font-size=\"8\">{k}</tspan></text>",
            place(decades),
            MARGIN - 16.0,
            MARGIN - 6.0,
            at - 4.0
        );
        k += 1.0;
    }
    for ((published, here), cell) in points {
        let (subject, order) = row(&cell.cell);
        let colour = if cell.mark == Mark::Equal { "#0a5c2b" } else { "#c26a00" };
        let title = format!("{subject} {order} {}: {published} published, {here} here", cell.cell.technique);
        let _ = write!(
            out,
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\" fill=\"{colour}\" fill-opacity=\".6\"><title>{}</title></circle>",
            place((published as f64).log10()),
            place((here as f64).log10()),
            escaped(&title)
        );
    }
    *out += "</g></svg><figcaption>Transitions of each cell: published to the right, here upwards. Equal cells are on the diagonal.</figcaption></figure>\n";
}
