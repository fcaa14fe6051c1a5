//! The counts of a run over many programs.

use std::collections::BTreeMap;
use std::fmt;
use tokio_judge::judge::{Compared, Kind, Search};

/// The counts of one search.
#[derive(Clone, Debug, Default)]
struct OfSearch {
    compared: u64,
    too_large: u64,
    undecided: u64,
    errors: u64,
    outcomes: u64,
    executions: u64,
    blocked: u64,
    /// Outcomes and programs of each kind of difference.
    differences: BTreeMap<Kind, (u64, u64)>,
}

/// The counts of all programs so far.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    pub programs: u64,
    pub judged: u64,
    pub too_large: u64,
    pub unsafe_in_real_time: u64,
    pub outcomes: u64,
    pub runs: u64,
    pub stuck: u64,
    /// Outcomes and programs of each kind of difference, where no single search is concerned.
    pub differences: BTreeMap<Kind, (u64, u64)>,
    /// The searches in the order in which they were first seen.
    searches: Vec<(String, OfSearch)>,
}

impl Summary {
    /// Counts the result of one search.
    pub fn add(&mut self, compared: &Compared) {
        let of = self.of(compared.search);
        match &compared.explored {
            Some(explored) => {
                of.compared += u64::from(explored.complete);
                of.too_large += u64::from(!explored.complete);
                of.outcomes += explored.outcomes.len() as u64;
                of.executions += explored.executions;
                of.blocked += explored.blocked;
            }
            None => of.errors += 1,
        }
        of.undecided += u64::from(compared.undecided);
        for difference in &compared.differences {
            let (outcomes, programs) = of.differences.entry(difference.kind).or_default();
            *outcomes += difference.outcomes.len() as u64;
            *programs += 1;
        }
    }

    /// Counts a search that is too large for a program, and was not made.
    pub fn leave_out(&mut self, search: Search) {
        self.of(search).too_large += 1;
    }

    fn of(&mut self, search: Search) -> &mut OfSearch {
        let name = search.to_string();
        let at = self.searches.iter().position(|(known, _)| *known == name).unwrap_or_else(|| {
            self.searches.push((name, OfSearch::default()));
            self.searches.len() - 1
        });
        &mut self.searches[at].1
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} programs, {} judged, {} too large for the model", self.programs, self.judged, self.too_large)?;
        writeln!(f, "{} outcomes", self.outcomes)?;
        if self.runs > 0 {
            let Summary { runs, stuck, unsafe_in_real_time, .. } = self;
            writeln!(f, "{runs} runs, {stuck} of them stuck; {unsafe_in_real_time} programs need virtual time")?;
        }
        for (kind, (outcomes, programs)) in &self.differences {
            writeln!(f, "{outcomes} outcomes in {programs} programs {kind}")?;
        }
        for (name, of) in &self.searches {
            writeln!(
                f,
                "{name}: {} compared, {} too large, {} errors, {} outcomes, {} executions, {} blocked, {} undecided",
                of.compared, of.too_large, of.errors, of.outcomes, of.executions, of.blocked, of.undecided
            )?;
            for (kind, (outcomes, programs)) in &of.differences {
                writeln!(f, "    {outcomes} outcomes in {programs} programs {kind}")?;
            }
        }
        Ok(())
    }
}
