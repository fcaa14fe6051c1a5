//! Counts states and outcomes of generated programs.

use std::time::Instant;
use tokio_reference::model::explore;
use tokio_reference::{Granularity, generate};

fn main() {
    let count: u64 = std::env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(1000);
    for granularity in [Granularity::Coarse, Granularity::Fine] {
        let begin = Instant::now();
        let (mut small, mut states, mut outcomes) = (0_u64, 0, 0);
        let mut sizes = Vec::new();
        for seed in 0..count {
            if let Some((found, size)) = explore(&generate(seed), granularity, 200_000) {
                small += 1;
                states += size;
                outcomes += found.len();
                sizes.push(size);
            }
        }
        sizes.sort_unstable();
        let time = begin.elapsed().as_secs_f64();
        println!(
            "{granularity:?}: {small} of {count} programs below 200,000 states, median {}, {states} states, \
             {outcomes} outcomes, {time:.1} s",
            sizes[sizes.len() / 2]
        );
    }
}
