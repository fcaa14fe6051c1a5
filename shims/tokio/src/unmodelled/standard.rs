//! Standard input and output.

types! { Stdin Stdout Stderr }
reads! { Stdin }
writes! { Stdout, Stderr }
descriptors! { Stdin Stdout Stderr }

makes! {
    "io::stdin": fn stdin() -> Stdin;
    "io::stdout": fn stdout() -> Stdout;
    "io::stderr": fn stderr() -> Stderr;
}
