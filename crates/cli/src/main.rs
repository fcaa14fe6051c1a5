//! The command `whippet`.

fn main() {}
