//! Writes a cargo project that holds generated programs as tests for tokio, one file for each seed.
//!
//! `cargo run --release --example printed DIRECTORY 0 200`, then `cargo test` there.

use std::error::Error;
use std::fs;
use std::path::PathBuf;
use tokio_reference::{generate, rust_test};

const USAGE: &str = "usage: printed DIRECTORY FIRST_SEED END";

const MANIFEST: &str = r#"[package]
name = "printed"
version = "0.1.0"
edition = "2024"
publish = false

[workspace]

[dev-dependencies]
tokio = { version = "=1.54.1", features = ["rt-multi-thread", "sync", "time", "macros"] }
"#;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let directory = PathBuf::from(arguments.next().ok_or(USAGE)?);
    let first: u64 = arguments.next().ok_or(USAGE)?.parse()?;
    let end: u64 = arguments.next().ok_or(USAGE)?.parse()?;
    fs::create_dir_all(directory.join("tests/programs"))?;
    fs::create_dir_all(directory.join("src"))?;
    fs::write(directory.join("Cargo.toml"), MANIFEST)?;
    fs::write(directory.join("src/lib.rs"), "")?;
    let mut modules = String::new();
    for seed in first..end {
        modules.push_str(&format!("mod seed_{seed};\n"));
        fs::write(directory.join(format!("tests/programs/seed_{seed}.rs")), rust_test(&generate(seed)))?;
    }
    fs::write(directory.join("tests/programs/main.rs"), modules)?;
    Ok(())
}
