//! dCUTE's rule (Sen and Agha; figure 2.5 of the Basset dissertation).
//!
//! A level lists everything enabled, actor by actor. After a message has been explored, the next one is explored if
//! it is for the same actor. The search continues with the next actor only if the level has the flag `needs_delay`:
//! in some execution, a later step sent a message to the actor of this level that could have arrived earlier. A send
//! therefore sets the flag of all earlier levels at which its receiver acted, except those in the past of the send.

use crate::driver::run::{Run, Stop};
use crate::orders::Orders;
use crate::reductions::backtrack::{Backtrack, Level, only_same_actor, search as walk};
use whippet_model::{Choice, Machine, Pending};

/// Explores everything from the current configuration on.
pub(crate) fn search<M: Machine>(run: &mut Run<'_, M>) -> Result<(), Stop> {
    only_same_actor(run, "dcute")?;
    walk(run, Dcute, run.options.sleep)
}

struct Dcute;

impl Backtrack for Dcute {
    fn begin<M: Machine>(&mut self, machine: &M, level: &mut Level, orders: &mut Orders) {
        let sorted = orders.sort(machine, &level.enabled).iter();
        let sleep = &level.sleep;
        level.list.extend(sorted.filter(|&&choice| !sleep.contains(choice)));
    }

    fn next<M: Machine>(&mut self, machine: &M, level: &mut Level) -> Option<Choice> {
        let next = level.list.get(level.taken)?;
        if level.taken > 0 && machine.actor(next.what) != level.actor {
            if !level.flag {
                return None;
            }
            level.flag = false;
        }
        level.take()
    }

    fn arrived<M: Machine>(&mut self, run: &mut Run<'_, M>, levels: &mut [Level]) {
        let at = levels.len() - 1;
        for message in run.machine().sent(at) {
            let receiver = run.machine().actor(Pending(message));
            let mut k = run.clocks.last_of(receiver.0);
            while let Some(step) = k.filter(|&step| !run.clocks.before(step, at)) {
                levels[step].flag = true;
                k = run.clocks.previous(step);
            }
        }
    }
}
