//! Errors of the front end, which point at places in the source.

use crate::source::{Source, Span};
use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, NamedSource, SourceCode};
use std::fmt;

/// An error in the source, with a label for its place and an optional hint.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Diagnostic {
    pub(crate) message: String,
    pub(crate) span: Span,
    pub(crate) label: String,
    pub(crate) help: Option<String>,
}

impl Diagnostic {
    pub(crate) fn new(span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { message: message.into(), span, label: "here".into(), help: None }
    }

    pub(crate) fn label(mut self, label: impl Into<String>) -> Diagnostic {
        self.label = label.into();
        self
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }
}

/// The errors of a source file that cannot be run, each with its place.
///
/// `Display` draws the source lines with the places marked; [`AbsError::places`] returns them as data.
///
/// ```
/// let error = whippet_abs::AbsProgram::parse("tiny.abs", "{ Int x = True; }").unwrap_err();
/// assert_eq!((error.places()[0].line, error.places()[0].column), (1, 11));
/// assert!(error.to_string().contains("Bool"), "{error}");
/// ```
#[derive(Clone, Debug)]
pub struct AbsError {
    source: Source,
    diagnostics: Vec<Diagnostic>,
}

/// An error in a source file and its place.
///
/// ```
/// use whippet_abs::AbsProgram;
/// let error = AbsProgram::parse("wrong.abs", "{\n    Int half = True;\n}").unwrap_err();
/// let place = &error.places()[0];
/// assert_eq!((place.line, place.column), (2, 16));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorPlace {
    /// The message.
    pub message: String,
    /// The file.
    pub file: String,
    /// The line in the file, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
}

impl AbsError {
    pub(crate) fn new(source: &Source, diagnostics: Vec<Diagnostic>) -> AbsError {
        assert!(!diagnostics.is_empty(), "internal error: an error needs a diagnostic");
        AbsError { source: source.clone(), diagnostics }
    }

    /// Returns the diagnostics and their places, in source order.
    #[must_use]
    pub fn places(&self) -> Vec<ErrorPlace> {
        self.diagnostics
            .iter()
            .map(|diagnostic| {
                let (line, column) = self.source.line_column(diagnostic.span.start);
                let file = self.source.file(diagnostic.span.start).0.to_string();
                ErrorPlace { message: diagnostic.message.clone(), file, line, column }
            })
            .collect()
    }
}

impl std::error::Error for AbsError {}

impl fmt::Display for AbsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let handler = GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor()).with_width(100);
        for diagnostic in &self.diagnostics {
            let (name, start, end) = self.source.file(diagnostic.span.start);
            let source = NamedSource::new(name, self.source.text[start as usize..end as usize].to_string());
            handler.render_report(f, &RenderedDiagnostic { diagnostic, start, end, source: &source })?;
        }
        Ok(())
    }
}

/// A diagnostic with its source text, in the form that miette requires.
#[derive(Debug)]
struct RenderedDiagnostic<'a> {
    diagnostic: &'a Diagnostic,
    /// The offset at which the diagnostic's file starts.
    start: u32,
    /// The offset at which the diagnostic's file ends.
    end: u32,
    source: &'a NamedSource<String>,
}

impl fmt::Display for RenderedDiagnostic<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.diagnostic.message)
    }
}

impl std::error::Error for RenderedDiagnostic<'_> {}

impl miette::Diagnostic for RenderedDiagnostic<'_> {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.diagnostic.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(self.source)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let span = self.diagnostic.span;
        // A construct that starts in one file may extend into the next.
        let length = span.end.min(self.end).saturating_sub(span.start) as usize;
        let label = LabeledSpan::new(Some(self.diagnostic.label.clone()), (span.start - self.start) as usize, length);
        Some(Box::new(std::iter::once(label)))
    }
}
