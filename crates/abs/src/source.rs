//! Source text and places in it.

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
    pub(crate) fn file(&self, offset: u32) -> (&str, u32, u32) {
        let k = self.files.partition_point(|&(_, start)| start <= offset).max(1) - 1;
        let end = self.files.get(k + 1).map_or(self.text.len() as u32, |&(_, next)| next - 1);
        (&self.files[k].0, self.files[k].1, end)
    }

    /// Returns the range of each file in the text.
    pub(crate) fn ranges(&self) -> Vec<std::ops::Range<u32>> {
        self.files.iter().map(|&(_, start)| start..self.file(start).2.max(start)).collect()
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
