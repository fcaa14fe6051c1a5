//! Deliveries that change nothing are put off until they matter.
//!
//! A delivery is *idle* if it only consumes its message: the receiver does not change and sends nothing. It commutes with every
//! step after which it is still idle. So an execution can be rearranged so that each idle delivery comes immediately before a
//! step of the same receiver after which it would not be idle (the step *wakes* it), or at the end. Only there is it explored:
//!
//! * in a configuration with a choice that wakes it, an idle delivery is a choice like others;
//! * at the end of an execution, where only idle deliveries are left, they happen in one order, and the configurations in
//!   between are not stored;
//! * if there are faults besides, which may never happen, one idle delivery is explored beside them.
//!
//! All other configurations, which differ by the messages that were ignored, are not visited. The states of the actors in them
//! are those of a configuration that is.
//!
//! A machine gives a hash of all that determines a delivery ([`IdleDeliveries`](whippet_model::IdleDeliveries)), so the answers are
//! remembered. Equal messages have the same hash, and only one of them is explored.

use crate::driver::run::{Run, Stop};
use rustc_hash::{FxHashMap, FxHashSet};
use whippet_model::{Branch, Choice, Machine};

/// What is known of deliveries, by the hashes that determine them.
#[derive(Debug, Default)]
pub(crate) struct Idle {
    idle: FxHashMap<u64, bool>,
    /// For a choice and an idle delivery to the same actor: `true` if the choice wakes it.
    wakes: FxHashMap<(u64, u64, Branch), bool>,
    options: Vec<Opportunity>,
    seen: FxHashSet<(u64, Branch)>,
}

/// A choice, with the hash that determines it.
#[derive(Copy, Clone, Debug)]
struct Opportunity {
    choice: Choice,
    key: Option<u64>,
    idle: bool,
}

/// What is left to do in a configuration.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Left {
    /// To explore the remaining choices.
    Choices,
    /// To perform idle deliveries, in any order.
    Idle,
}

impl Idle {
    /// Removes the choices that need not be explored here.
    pub(crate) fn prune<M: Machine>(&mut self, run: &mut Run<'_, M>, choices: &mut Vec<Choice>) -> Result<Left, Stop> {
        self.options.clear();
        self.seen.clear();
        for &choice in choices.iter() {
            let key = run.delivery_key(choice.what)?;
            if key.is_none_or(|key| self.seen.insert((key, choice.branch))) {
                let idle = choice.branch == Branch::FIRST && self.is_idle(run, choice, key)?;
                self.options.push(Opportunity { choice, key, idle });
            }
        }
        choices.clear();
        if self.options.iter().all(|one| one.idle) {
            choices.extend(self.options.iter().map(|one| one.choice));
            return Ok(Left::Idle);
        }
        let faults_only = self.options.iter().all(|one| one.idle || one.choice.branch != Branch::FIRST);
        let first = self.options.iter().position(|one| one.idle).filter(|_| faults_only);
        for k in 0..self.options.len() {
            let one = self.options[k];
            if !one.idle || first == Some(k) || self.is_woken(run, one)? {
                choices.push(one.choice);
            }
        }
        Ok(Left::Choices)
    }

    /// Returns `true` if a delivery is idle in the machine's configuration.
    fn is_idle<M: Machine>(&mut self, run: &mut Run<'_, M>, choice: Choice, key: Option<u64>) -> Result<bool, Stop> {
        let Some(key) = key else { return Ok(false) };
        if let Some(&idle) = self.idle.get(&key) {
            return Ok(idle);
        }
        let depth = run.depth();
        let only = run.try_out(choice)?.next_branch.is_none();
        let idle = only && run.is_idle()?;
        run.rewind_trial(depth);
        self.idle.insert(key, idle);
        Ok(idle)
    }

    /// Returns `true` if another choice wakes this idle delivery.
    fn is_woken<M: Machine>(&mut self, run: &mut Run<'_, M>, sleeper: Opportunity) -> Result<bool, Stop> {
        let actor = run.machine().actor(sleeper.choice.what);
        for k in 0..self.options.len() {
            let one = self.options[k];
            if !one.idle && run.machine().actor(one.choice.what) == actor && self.wakes(run, one, sleeper)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns `true` if a choice wakes an idle delivery in one of its branches.
    fn wakes<M: Machine>(
        &mut self,
        run: &mut Run<'_, M>,
        one: Opportunity,
        sleeper: Opportunity,
    ) -> Result<bool, Stop> {
        if one.choice.what == sleeper.choice.what {
            return Ok(false);
        }
        let pair = one.key.zip(sleeper.key).map(|(key, asleep)| (key, asleep, one.choice.branch));
        if let Some(&wakes) = pair.and_then(|pair| self.wakes.get(&pair)) {
            return Ok(wakes);
        }
        let (depth, mut branch, mut wakes) = (run.depth(), Some(one.choice.branch), false);
        while let Some(tried) = branch.filter(|_| !wakes) {
            branch = run.try_out(Choice { branch: tried, ..one.choice })?.next_branch;
            wakes = !self.is_idle_now(run, sleeper.choice)?;
            run.rewind_trial(depth);
        }
        if let Some(pair) = pair {
            self.wakes.insert(pair, wakes);
        }
        Ok(wakes)
    }

    /// Returns `true` if a delivery is possible and idle in the machine's configuration.
    fn is_idle_now<M: Machine>(&mut self, run: &mut Run<'_, M>, choice: Choice) -> Result<bool, Stop> {
        let mut enabled = Vec::new();
        run.all_enabled(&mut enabled)?;
        let key = run.delivery_key(choice.what)?;
        Ok(enabled.contains(&choice) && self.is_idle(run, choice, key)?)
    }

    /// Returns the size of the tables in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.idle.capacity() * size_of::<(u64, bool)>()
            + self.wakes.capacity() * size_of::<((u64, u64, Branch), bool)>()
    }
}
