//! Source text, places in it, and errors that point at them.

use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, NamedSource, SourceCode};
use std::fmt;

/// A stretch of the source, in bytes.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub(crate) struct Span {
    pub(crate) start: u32,
    pub(crate) end: u32,
}

impl Span {
    pub(crate) fn new(start: usize, end: usize) -> Span {
        Span { start: start as u32, end: end as u32 }
    }

    /// From the start of this one to the end of another.
    pub(crate) fn to(self, other: Span) -> Span {
        Span { start: self.start, end: other.end.max(self.start) }
    }
}

/// The text of one file and its name.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) name: String,
    pub(crate) text: String,
    /// Where each line starts.
    lines: Vec<u32>,
}

impl Source {
    pub(crate) fn new(name: &str, text: &str) -> Source {
        let starts = text.bytes().enumerate().filter(|&(_, b)| b == b'\n').map(|(i, _)| i as u32 + 1);
        Source { name: name.into(), text: text.into(), lines: std::iter::once(0).chain(starts).collect() }
    }

    /// Line and column of an offset, both counted from 1, the column in characters.
    pub(crate) fn line_column(&self, offset: u32) -> (usize, usize) {
        let line = self.lines.partition_point(|&start| start <= offset).max(1);
        let start = self.lines[line - 1] as usize;
        let end = (offset as usize).clamp(start, self.text.len());
        (line, String::from_utf8_lossy(&self.text.as_bytes()[start..end]).chars().count() + 1)
    }

    /// The place of an offset as `file:line`.
    pub(crate) fn place(&self, offset: u32) -> String {
        format!("{}:{}", self.name, self.line_column(offset).0)
    }
}

/// Something wrong with the source, with what to show beside the place.
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

/// Why a source file cannot be run: every fault found, each at its place.
///
/// `Display` draws the source lines with the places marked; [`LangError::places`] has them as data.
///
/// ```
/// let error = whippet_lang::AbsProgram::parse("tiny.abs", "{ Int x = True; }").unwrap_err();
/// assert_eq!((error.places()[0].line, error.places()[0].column), (1, 11));
/// assert!(error.to_string().contains("Bool"), "{error}");
/// ```
#[derive(Clone, Debug)]
pub struct LangError {
    source: Source,
    faults: Vec<Fault>,
}

/// One fault of a source file.
///
/// ```
/// use whippet_lang::AbsProgram;
/// let error = AbsProgram::parse("wrong.abs", "{\n    Int half = True;\n}").unwrap_err();
/// let place = &error.places()[0];
/// assert_eq!((place.line, place.column), (2, 16));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultPlace {
    /// What is wrong.
    pub message: String,
    /// The line, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
}

impl LangError {
    pub(crate) fn new(source: &Source, faults: Vec<Fault>) -> LangError {
        assert!(!faults.is_empty(), "an error without a fault is a bug of the front end");
        LangError { source: source.clone(), faults }
    }

    /// What is wrong, and where, in the order of the source.
    #[must_use]
    pub fn places(&self) -> Vec<FaultPlace> {
        self.faults
            .iter()
            .map(|fault| {
                let (line, column) = self.source.line_column(fault.span.start);
                FaultPlace { message: fault.message.clone(), line, column }
            })
            .collect()
    }
}

impl std::error::Error for LangError {}

impl fmt::Display for LangError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let handler = GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor()).with_width(100);
        let source = NamedSource::new(&self.source.name, self.source.text.clone());
        for fault in &self.faults {
            handler.render_report(f, &Shown { fault, source: &source })?;
        }
        Ok(())
    }
}

/// A fault with its text, as miette wants it.
#[derive(Debug)]
struct Shown<'a> {
    fault: &'a Fault,
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
        let length = (span.end.saturating_sub(span.start)) as usize;
        let label = LabeledSpan::new(Some(self.fault.label.clone()), span.start as usize, length);
        Some(Box::new(std::iter::once(label)))
    }
}
