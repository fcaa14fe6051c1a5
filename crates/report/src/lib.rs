//! Whippet's verdicts as JSON and on the terminal.
