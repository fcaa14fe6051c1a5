//! Prints a generated program as Rust, and its outcomes.

use std::error::Error;
use tokio_reference::model::explore;
use tokio_reference::{Granularity, generate, rust_test};

const USAGE: &str = "usage: outcomes SEED [coarse|fine]";

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let seed = arguments.next().ok_or(USAGE)?.parse()?;
    let granularity = match arguments.next().as_deref() {
        None | Some("fine") => Granularity::Fine,
        Some("coarse") => Granularity::Coarse,
        Some(_) => return Err(USAGE.into()),
    };
    let program = generate(seed);
    println!("{}", rust_test(&program));
    let Some((outcomes, states)) = explore(&program, granularity, 5_000_000) else {
        println!("more than 5,000,000 states");
        return Ok(());
    };
    println!("{} outcomes, {states} states:", outcomes.len());
    for outcome in outcomes {
        println!("  {outcome}");
    }
    Ok(())
}
