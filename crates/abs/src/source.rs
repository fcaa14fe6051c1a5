//! Source text, places in it, and errors that point at them.

use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, NamedSource, SourceCode};
use std::fmt;

/// A range of the source, in bytes.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub(crate) struct Span {
    pub(crate) start: u32,
    pub(crate) end: u32,
}

impl Span {
    pub(crate) fn new(start: usize, end: usize) -> Span {
        Span { start: start as u32, end: end as u32 }
    }

    /// Returns the range from the start of `self` to the end of `other`.
    pub(crate) fn to(self, other: Span) -> Span {
        Span { start: self.start, end: other.end.max(self.start) }
    }
}

/// The text of a program and the names of its files. The first file contains the main block; the texts of the others
/// follow it.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) name: String,
    pub(crate) text: String,
    /// The offset at which each line starts.
    lines: Vec<u32>,
    /// The name of each file and the offset at which it starts.
    files: Vec<(String, u32)>,
}

impl Source {
    pub(crate) fn new(all: &[(String, String)]) -> Source {
        let (mut text, mut files) = (String::new(), Vec::new());
        for (name, part) in all {
            files.push((name.clone(), text.len() as u32));
            text.push_str(part);
            if files.len() < all.len() {
                text.push('\n');
            }
        }
        let starts = text.bytes().enumerate().filter(|&(_, b)| b == b'\n').map(|(i, _)| i as u32 + 1);
        let lines = std::iter::once(0).chain(starts).collect();
        Source { name: all[0].0.clone(), text, lines, files }
    }

    /// Returns the name, the start and the end of the file that contains an offset.
    fn file(&self, offset: u32) -> (&str, u32, u32) {
        let k = self.files.partition_point(|&(_, start)| start <= offset).max(1) - 1;
        let end = self.files.get(k + 1).map_or(self.text.len() as u32, |&(_, next)| next - 1);
        (&self.files[k].0, self.files[k].1, end)
    }

    /// Returns the offset at which the first file ends.
    pub(crate) fn end_of_first(&self) -> u32 {
        self.file(0).2
    }

    /// Returns the line of an offset, counted from 0 across all files.
    fn line(&self, offset: u32) -> usize {
        self.lines.partition_point(|&start| start <= offset).max(1) - 1
    }

    /// Returns the line and column of an offset in its file, both counted from 1, the column in characters.
    pub(crate) fn line_column(&self, offset: u32) -> (usize, usize) {
        let line = self.line(offset);
        let start = self.lines[line] as usize;
        let end = (offset as usize).clamp(start, self.text.len());
        let column = String::from_utf8_lossy(&self.text.as_bytes()[start..end]).chars().count() + 1;
        (line - self.line(self.file(offset).1) + 1, column)
    }

    /// Returns the text of the line that contains an offset, without surrounding whitespace.
    pub(crate) fn line_text(&self, offset: u32) -> &str {
        self.text.lines().nth(self.line(offset)).unwrap_or("").trim()
    }

    /// Returns the place of an offset as `file:line`.
    pub(crate) fn place(&self, offset: u32) -> String {
        format!("{}:{}", self.file(offset).0, self.line_column(offset).0)
    }
}

/// An error in the source, with a label for its place and an optional hint.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fault {
    pub(crate) message: String,
    pub(crate) span: Span,
    pub(crate) label: String,
    pub(crate) help: Option<String>,
}

impl Fault {
    pub(crate) fn new(span: Span, message: impl Into<String>) -> Fault {
        Fault { message: message.into(), span, label: "here".into(), help: None }
    }

    pub(crate) fn label(mut self, label: impl Into<String>) -> Fault {
        self.label = label.into();
        self
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Fault {
        self.help = Some(help.into());
        self
    }
}

/// The error of a source file that cannot be run: every fault found, each at its place.
///
/// `Display` draws the source lines with the places marked; [`LangError::places`] returns them as data.
///
/// ```
/// let error = whippet_abs::AbsProgram::parse("tiny.abs", "{ Int x = True; }").unwrap_err();
/// assert_eq!((error.places()[0].line, error.places()[0].column), (1, 11));
/// assert!(error.to_string().contains("Bool"), "{error}");
/// ```
#[derive(Clone, Debug)]
pub struct LangError {
    source: Source,
    faults: Vec<Fault>,
}

/// One fault in a source file.
///
/// ```
/// use whippet_abs::AbsProgram;
/// let error = AbsProgram::parse("wrong.abs", "{\n    Int half = True;\n}").unwrap_err();
/// let place = &error.places()[0];
/// assert_eq!((place.line, place.column), (2, 16));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultPlace {
    /// The message.
    pub message: String,
    /// The file.
    pub file: String,
    /// The line in the file, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
}

impl LangError {
    pub(crate) fn new(source: &Source, faults: Vec<Fault>) -> LangError {
        assert!(!faults.is_empty(), "an error without a fault is a bug of the front end");
        LangError { source: source.clone(), faults }
    }

    /// Returns the faults and their places, in source order.
    #[must_use]
    pub fn places(&self) -> Vec<FaultPlace> {
        self.faults
            .iter()
            .map(|fault| {
                let (line, column) = self.source.line_column(fault.span.start);
                let file = self.source.file(fault.span.start).0.to_string();
                FaultPlace { message: fault.message.clone(), file, line, column }
            })
            .collect()
    }
}

impl std::error::Error for LangError {}

impl fmt::Display for LangError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let handler = GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor()).with_width(100);
        for fault in &self.faults {
            let (name, start, end) = self.source.file(fault.span.start);
            let source = NamedSource::new(name, self.source.text[start as usize..end as usize].to_string());
            handler.render_report(f, &Shown { fault, start, end, source: &source })?;
        }
        Ok(())
    }
}

/// A fault with its source text, in the form that miette requires.
#[derive(Debug)]
struct Shown<'a> {
    fault: &'a Fault,
    /// The offset at which the fault's file starts.
    start: u32,
    /// The offset at which the fault's file ends.
    end: u32,
    source: &'a NamedSource<String>,
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.fault.message)
    }
}

impl std::error::Error for Shown<'_> {}

impl Diagnostic for Shown<'_> {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.fault.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(self.source)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let span = self.fault.span;
        // A construct that starts in one file may extend into the next.
        let length = span.end.min(self.end).saturating_sub(span.start) as usize;
        let label = LabeledSpan::new(Some(self.fault.label.clone()), (span.start - self.start) as usize, length);
        Some(Box::new(std::iter::once(label)))
    }
}
