//! Data races as problems: both accesses, and the messages their actors were handling.

use super::ActorMachine;
use crate::address::with_labels;
use crate::current_step::SETUP;
use crate::describe;
use crate::engine::Engine;
use crate::messages::MessageContent;
use crate::shared::{DataRace, VariableAccess};
use whippet_model::{FindingKind, Name, Problem};

impl ActorMachine {
    /// Appends the data races of the current execution.
    #[inline]
    pub(super) fn find_races(&self, out: &mut Vec<Problem>) {
        let engine = self.engine.borrow();
        if !engine.shared.races.is_empty() {
            let labels = describe::labels(&engine);
            with_labels(labels.clone(), || {
                out.extend(engine.shared.races.iter().map(|race| self.race(&engine, &labels, race)));
            });
        }
    }

    #[cold]
    fn race(&self, engine: &Engine, labels: &[String], race: &DataRace) -> Problem {
        let DataRace { variable, first, second } = race;
        let site = |access: &VariableAccess| (access.site.file(), access.site.line(), access.site.column());
        // Sorts in an order that is the same in equivalent executions.
        let mut both = [first, second];
        both.sort_by_key(|access| (site(access), engine.actors[access.actor as usize].name));
        let [first, second] = both;
        let text = format!("{:?}", both.map(site));
        // The location of the second access is printed after the message.
        let message = format!(
            "data race on variable {} (unordered accesses): {} at {}, and {}",
            variable + 1,
            self.access(engine, labels, first),
            place(first),
            self.access(engine, labels, second)
        );
        let key = text.bytes().fold(Name::ROOT.mixed(FindingKind::Race as u64), |key, byte| key.mixed(u64::from(byte)));
        let steps = [first.step, second.step].into_iter().filter(|&step| step != SETUP).map(|at| at as usize).collect();
        Problem::new(FindingKind::Race, message, key).with_place(place(second)).with_steps(steps)
    }

    /// Describes one access, e.g. "reader, handling Get from the test, reads it".
    fn access(&self, engine: &Engine, labels: &[String], access: &VariableAccess) -> String {
        let verb = if access.write { "writes" } else { "reads" };
        let doing = self.doing(engine, labels, access);
        format!("{}{doing} {verb} it", labels[access.actor as usize])
    }

    /// Describes the message that an actor was handling at an access.
    fn doing(&self, engine: &Engine, labels: &[String], access: &VariableAccess) -> String {
        let Some(record) = self.records.get(access.step as usize) else { return String::new() };
        if record.actor != access.actor {
            return ", when it starts,".to_owned();
        }
        let what = record.choice.what.0;
        let sent = engine.messages[what];
        let (text, from) = (self.cells[sent.to as usize].show_message(engine, what), &labels[sent.from as usize]);
        match sent.content {
            MessageContent::Message(_) => format!(", handling {text} from {from},"),
            MessageContent::Reply(..) => format!(", after the reply {text} of {from},"),
            MessageContent::Crash => ", after a crash,".to_owned(),
        }
    }
}

fn place(access: &VariableAccess) -> String {
    format!("{}:{}", access.site.file(), access.site.line())
}
