//! Faults: steps in which the network misbehaves.
//!
//! A fault is another branch of the delivery of a message, which [`enabled`](whippet_model::Machine::enabled) lists beside it. The two
//! topmost digits of a branch are reserved for it, so that the handler of a message that is delivered in spite of a
//! fault can still choose.
//!
//! * A *loss* removes the message. No actor observes it, so it touches only its budget; with an ordered delivery also the
//!   receiver, because it may make another message deliverable.
//! * A *duplicate* is a delivery after which a copy of the message is pending. Since the copy is equal to the message,
//!   nothing is lost by delivering the original first. A copy is neither lost nor duplicated: that would be the same as
//!   not making it, or as making two.
//! * A *crash* is the delivery of a message that a machine sends for this purpose: see `crashes.rs`.
//! * A message *overtakes* if it is delivered although the delivery order holds it back.
//!
//! A finite budget is an object that each fault writes, so faults that share one are dependent. An unlimited budget is
//! no object at all.

use super::{ActorMachine, ActorStep};
use crate::current_step::TEST;
use crate::delivery::Delivery;
use crate::engine::Engine;
use crate::messages::{MessageContent, SendKind};
use crate::network::{KINDS, Network, NetworkFault};
use crate::panics;
use rustc_hash::FxHashMap;
use std::panic::Location;
use whippet_model::{Branch, Choice, Dependence, Executed, MachineError, Name, Pending, Touch};

/// The digit of a branch that says which fault happens.
const FAULT_DIGIT: usize = Branch::DIGITS - 1;
/// The number of digits that `choose` may use in a program with faults.
pub(super) const DIGITS_WITH_FAULTS: usize = Branch::DIGITS - 2;
/// Salt that distinguishes budgets from other objects.
const BUDGET: u64 = 0xB4D6;

/// The fault of a step, as encoded in its branch.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum StepFault {
    /// No fault.
    None = 0,
    /// The message is lost.
    Lost = 1,
    /// The message is delivered and stays pending as a copy.
    Duplicated = 2,
    /// The message is delivered although the delivery order holds it back.
    Overtakes = 3,
    /// The actor crashes.
    Crash = 4,
    /// The actor does not crash any more.
    Spared = 5,
}

impl StepFault {
    fn of(branch: Branch) -> StepFault {
        match branch.digit(FAULT_DIGIT) {
            1 => StepFault::Lost,
            2 => StepFault::Duplicated,
            3 => StepFault::Overtakes,
            4 => StepFault::Crash,
            5 => StepFault::Spared,
            _ => StepFault::None,
        }
    }

    /// Returns `branch` with this fault.
    fn on(self, branch: Branch) -> Branch {
        branch.with(FAULT_DIGIT, self as u32).expect("the digit and its value are in range")
    }

    fn budget(self) -> Option<NetworkFault> {
        match self {
            StepFault::None | StepFault::Spared => None,
            StepFault::Lost => Some(NetworkFault::Loss),
            StepFault::Duplicated => Some(NetworkFault::Duplicate),
            StepFault::Overtakes => Some(NetworkFault::Overtake),
            StepFault::Crash => Some(NetworkFault::Crash),
        }
    }

    /// Returns `true` if the message of the step is removed without being delivered.
    pub(super) fn is_removal(self) -> bool {
        matches!(self, StepFault::Lost | StepFault::Spared)
    }
}

/// The choices that were missing when a step was taken, in a program with faults.
#[derive(Copy, Clone, Debug, Default)]
pub(super) struct Circumstances {
    /// `true` if the message of the step could not be delivered.
    undeliverable: bool,
    /// The set of the kinds of faults whose budget was used up. One byte, because every step has it.
    used_up: u8,
}

/// The faults that can still happen in the current configuration.
#[derive(Default)]
pub(super) struct Faults {
    /// The network of all pairs without one of their own, and then those of pairs. The budgets are what is left.
    pub(super) networks: Vec<Network>,
    /// The network of each pair of actors that has one of its own, in both directions.
    pairs: FxHashMap<(u32, u32), usize>,
    /// The actors that may crash: the network with the budget, and the source location of the declaration.
    pub(super) crashes: FxHashMap<u32, (usize, &'static Location<'static>)>,
    /// The budgets of the networks at the beginning.
    whole: Vec<Network>,
    /// `true` once exploration has begun.
    active: bool,
    /// `true` if an actor is spared only when nothing else can happen: see [`put_off`].
    spares_last: bool,
}

impl Faults {
    /// Returns the network that carries a message, as an index, or `None` if it is carried by none.
    pub(super) fn network_of(&self, engine: &Engine, what: u32) -> Option<usize> {
        let sent = &engine.messages[what];
        if sent.kind == SendKind::Crash {
            return self.crashes.get(&sent.to).map(|&(network, _)| network);
        }
        let local = sent.from == TEST
            || sent.from == sent.to
            || engine.actors[sent.from as usize].service
            || engine.actors[sent.to as usize].service;
        (!local && sent.kind == SendKind::Sent).then(|| *self.pairs.get(&(sent.from, sent.to)).unwrap_or(&0))
    }

    pub(super) fn left(&self, network: usize, fault: NetworkFault) -> u32 {
        self.networks[network].budgets[fault as usize]
    }

    /// Uses one fault of a finite budget. Returns the object that stands for the budget.
    fn spend(&mut self, network: usize, fault: NetworkFault) -> Option<Name> {
        let left = &mut self.networks[network].budgets[fault as usize];
        (*left != Network::UNLIMITED).then(|| {
            *left -= 1;
            Name::ROOT.mixed(BUDGET).child((network * KINDS + fault as usize) as u32)
        })
    }

    fn refund(&mut self, network: usize, fault: NetworkFault) {
        let left = &mut self.networks[network].budgets[fault as usize];
        *left = left.saturating_add(1);
    }

    /// Returns a hash of what the network can still do to a message.
    pub(super) fn hash_message(&self, engine: &Engine, what: u32) -> u64 {
        self.network_of(engine, what).map_or(0, |network| network as u64 + 1)
    }

    /// Returns the budgets that are left, in a fixed order.
    pub(super) fn budgets(&self) -> impl Iterator<Item = u32> + '_ {
        self.networks.iter().flat_map(|network| network.budgets)
    }
}

/// Removes the choices to spare an actor from those from `mark` on, unless there is nothing but crashes; then only one is left,
/// and after it (`sparing`) no actor crashes any more.
///
/// A spared actor is observed by nothing, so each execution is equivalent to one in which all are spared at its end. Searches
/// that explore every order would repeat the execution for each place of the step.
fn put_off(out: &mut Vec<Choice>, mark: usize, sparing: bool) {
    let fault = |choice: &Choice| StepFault::of(choice.branch);
    let others = out[mark..].iter().any(|choice| !matches!(fault(choice), StepFault::Crash | StepFault::Spared));
    let first = out[mark..].iter().position(|choice| fault(choice) == StepFault::Spared);
    let mut at = 0;
    out.retain(|choice| {
        at += 1;
        match fault(choice) {
            _ if at <= mark => true,
            StepFault::Spared => !others && Some(at - 1 - mark) == first,
            StepFault::Crash => !sparing,
            _ => true,
        }
    });
}

impl ActorMachine {
    /// Sets the network of all pairs of actors that have none of their own.
    pub(crate) fn set_network(&mut self, network: Network) {
        let faults = self.faults.get_or_insert_with(Box::default);
        match faults.networks.first_mut() {
            Some(first) => *first = network,
            None => faults.networks.push(network),
        }
    }

    /// Sets the network between two actors.
    pub(crate) fn set_network_between(&mut self, a: u32, b: u32, network: Network) {
        if self.faults.as_ref().is_none_or(|faults| faults.networks.is_empty()) {
            self.set_network(Network::reliable());
        }
        let faults = self.faults.as_mut().expect("it was set just now");
        faults.networks.push(network);
        let number = faults.networks.len() - 1;
        faults.pairs.insert((a, b), number);
        faults.pairs.insert((b, a), number);
    }

    /// Lets faults happen from here on.
    pub(super) fn start_faults(&mut self, spares_last: bool) -> Result<(), MachineError> {
        let Some(faults) = &mut self.faults else { return Ok(()) };
        if faults.networks.iter().all(|network| network.is_reliable()) {
            self.faults = None;
            return Ok(());
        }
        let reorders = (0..faults.networks.len()).any(|network| faults.left(network, NetworkFault::Overtake) > 0);
        if reorders && self.delivery == Delivery::Unordered {
            return Err(MachineError::Misuse(
                "`Network::reordering` has no effect because delivery is unordered, which lets every message overtake \
                 others: choose `Delivery::Fifo` or `Delivery::Causal`, or remove `reordering`"
                    .to_owned(),
            ));
        }
        (faults.active, faults.spares_last) = (true, spares_last);
        faults.whole.clone_from(&faults.networks);
        self.profile.dependence = Dependence::Footprints;
        self.profile.one_choice_per_thread = false;
        self.engine.borrow_mut().current.digits = DIGITS_WITH_FAULTS;
        Ok(())
    }

    /// Appends the enabled choices of a program with faults.
    pub(super) fn enabled_with_faults(&self, out: &mut Vec<Choice>) {
        let Some(faults) = &self.faults else { return };
        let engine = &*self.engine.borrow();
        let mark = out.len();
        for what in engine.messages.pending() {
            let enabled = engine.messages.is_enabled(what);
            let first = Choice::first(Pending(what));
            let crashes = engine.messages[what].kind == SendKind::Crash;
            if enabled && !crashes {
                out.push(first);
            }
            let Some(network) = faults.network_of(engine, what).filter(|_| faults.active) else { continue };
            let left = |fault| faults.left(network, fault) > 0;
            let mut add = |fault: StepFault| out.push(Choice { branch: fault.on(Branch::FIRST), ..first });
            if crashes {
                if enabled && left(NetworkFault::Crash) {
                    add(StepFault::Crash);
                }
                add(StepFault::Spared);
                continue;
            }
            let sent = &engine.messages[what];
            if enabled && left(NetworkFault::Duplicate) && matches!(sent.content, MessageContent::Message(_)) {
                add(StepFault::Duplicated);
            }
            if !enabled && left(NetworkFault::Overtake) {
                let accepts = || self.cells[sent.to as usize].accepts_now(engine, what);
                if panics::catch(accepts).unwrap_or(false) {
                    add(StepFault::Overtakes);
                }
            }
            if left(NetworkFault::Loss) {
                add(StepFault::Lost);
            }
        }
        if faults.spares_last && !faults.crashes.is_empty() {
            put_off(out, mark, self.records.last().is_some_and(|record| record.fault == StepFault::Spared));
        }
    }

    /// Executes a choice of a program with faults.
    pub(super) fn execute_with_faults(&mut self, choice: Choice) -> Result<Executed, MachineError> {
        let fault = StepFault::of(choice.branch);
        let circumstances = self.circumstances(choice.what.0, fault);
        if fault.is_removal() {
            self.remove(choice, fault, circumstances);
            return Ok(Executed::ONLY_BRANCH);
        }
        let budget = fault.budget().and_then(|kind| self.spend(choice.what.0, kind));
        let actor = self.begin(choice);
        let record = self.records.last_mut().expect("the step has begun");
        (record.fault, record.circumstances) = (fault, circumstances);
        if fault == StepFault::Duplicated {
            self.engine.borrow_mut().post_copy(choice.what.0);
        }
        let result = if fault == StepFault::Crash {
            self.post_next_crash(choice.what.0);
            {
                let engine = &mut *self.engine.borrow_mut();
                engine.cancel_all_timers();
                engine.histories.crashed(actor, engine.current.step);
            }
            self.cells[actor as usize].crash()
        } else {
            self.cells[actor as usize].deliver(choice.what.0, choice.branch)
        };
        self.close_if_selective(actor);
        let mut executed = self.finish(actor, choice.branch, result)?;
        self.touches.extend(budget.map(Touch::write));
        executed.next_branch = executed.next_branch.map(|next| fault.on(next));
        Ok(executed)
    }

    /// Removes a message without delivering it.
    fn remove(&mut self, choice: Choice, fault: StepFault, circumstances: Circumstances) {
        let what = choice.what.0;
        let budget = fault.budget().and_then(|kind| self.spend(what, kind));
        let engine = &mut *self.engine.borrow_mut();
        let acceptance = engine.messages.deliver(what, self.records.len() as u32);
        let to = engine.messages[what].to;
        let info = &engine.actors[to as usize];
        self.records.push(ActorStep {
            choice,
            actor: to,
            position: info.steps,
            sent: engine.messages.len(),
            actors: self.cells.len() as u32,
            touches: self.touches.len() as u32,
            history: info.history,
            acceptance,
            fault,
            circumstances,
            extras: None,
        });
        self.touches.extend(budget.map(Touch::write));
        if fault == StepFault::Lost && self.delivery != Delivery::Unordered {
            self.touches.push(Touch::write(info.name));
        }
    }

    fn spend(&mut self, what: u32, kind: NetworkFault) -> Option<Name> {
        let faults = self.faults.as_mut().expect("only programs with a network have its faults");
        let network = faults.network_of(&self.engine.borrow(), what).expect("the fault was enabled");
        faults.spend(network, kind)
    }

    /// Undoes the steps from `depth` on, with and without faults.
    #[inline(never)]
    pub(super) fn undo_with_faults(&mut self, depth: usize) {
        while self.records.len() > depth {
            let fault = self.records[self.records.len() - 1].fault;
            if fault != StepFault::None {
                self.refund();
            }
            // A lost message was no step of its receiver.
            self.undo(!fault.is_removal());
        }
    }

    /// Gives back the budget that the newest step used.
    fn refund(&mut self) {
        let record = self.records.last().expect("there is a step to undo");
        let (what, kind) = (record.choice.what.0, record.fault.budget());
        let faults = self.faults.as_mut().expect("only programs with a network have its faults");
        let network = faults.network_of(&self.engine.borrow(), what).expect("the fault was enabled");
        if let Some(kind) = kind {
            faults.refund(network, kind);
        }
    }

    /// Returns the steps in which a message was lost.
    pub(super) fn losses(&self) -> impl Iterator<Item = usize> + '_ {
        let lost = |&at: &usize| self.records[at].fault == StepFault::Lost;
        (0..if self.faults.is_some() { self.records.len() } else { 0 }).filter(lost)
    }

    /// Returns `true` if the network lost a message.
    pub(super) fn was_lost(&self, engine: &Engine, what: u32) -> bool {
        let record = self.records.get(engine.messages[what].delivered as usize);
        record.is_some_and(|record| record.fault == StepFault::Lost)
    }

    /// Returns `true` if the network lost the reply to a request.
    pub(super) fn reply_was_lost(&self, engine: &Engine, request: u32) -> bool {
        let call = engine.messages[request].name;
        let answers = |at: usize| {
            let content = engine.messages[self.records[at].choice.what.0].content;
            matches!(content, MessageContent::Reply(_, answered) if answered == call)
        };
        self.losses().any(answers)
    }

    /// Returns the choices that a message does not have now.
    fn circumstances(&self, what: u32, fault: StepFault) -> Circumstances {
        let (engine, mut circumstances) = (self.engine.borrow(), Circumstances::default());
        let Some(faults) = &self.faults else { return circumstances };
        let network = faults.network_of(&engine, what).filter(|_| faults.active);
        let Some(network) = network else { return circumstances };
        let used_up =
            |kind: usize| faults.networks[network].budgets[kind] == 0 && faults.whole[network].budgets[kind] > 0;
        circumstances.used_up = (0..KINDS).filter(|&kind| used_up(kind)).fold(0, |set, kind| set | 1 << kind);
        if fault.is_removal() {
            // The mailbox may be dirty, so the receiver is asked.
            let accepts = || self.cells[engine.messages[what].to as usize].accepts_now(&engine, what);
            circumstances.undeliverable = !panics::catch(accepts).unwrap_or(false);
        }
        circumstances
    }

    /// Appends the earlier steps that may have prevented another choice for the message of step `at`: steps of its
    /// receiver if it was lost when it could not be delivered, and faults that used up a budget.
    pub(super) fn before_a_fault(&self, at: usize, out: &mut Vec<usize>) {
        let Some(faults) = &self.faults else { return };
        let record = &self.records[at];
        if record.circumstances.undeliverable {
            let receives = |&k: &usize| self.records[k].actor == record.actor && !self.records[k].is_loss();
            out.extend((0..at).filter(receives));
        }
        let engine = self.engine.borrow();
        let network = |k: usize| faults.network_of(&engine, self.records[k].choice.what.0);
        for kind in 0..KINDS {
            if record.circumstances.used_up >> kind & 1 == 1 {
                let used = |k: usize| self.records[k].fault.budget().is_some_and(|fault| fault as usize == kind);
                out.extend((0..at).filter(|&k| used(k) && network(k) == network(at)));
            }
        }
    }

    /// Appends the later steps of the receiver of a message that was lost in step `at`: one of them may be what makes
    /// the message deliverable.
    pub(super) fn after_a_loss(&self, at: usize, out: &mut Vec<(usize, Branch)>) {
        let record = &self.records[at];
        if record.fault.is_removal() {
            let receives = |&k: &usize| self.records[k].actor == record.actor && !self.records[k].fault.is_removal();
            out.extend((at + 1..self.records.len()).filter(receives).map(|k| (k, Branch::FIRST)));
        }
    }
}
