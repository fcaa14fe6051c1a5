//! Textual descriptions of actors, messages and steps.

use crate::cell::ActorCell;
use crate::engine::Engine;
use crate::messages::MessageContent;
use rustc_hash::{FxHashMap, FxHasher};
use std::fmt::Debug;
use std::hash::{Hash, Hasher};
use whippet_model::Name;

/// Returns the label of a type of actor: `bank::SavingsAccount<T>` becomes "savings account".
pub(crate) fn type_label(path: &str) -> String {
    let path = path.split('<').next().unwrap_or(path);
    let last = path.rsplit("::").next().unwrap_or(path);
    if last.starts_with('{') {
        return "actor".to_owned();
    }
    let mut label = String::new();
    for c in last.chars() {
        if c.is_uppercase() && !label.is_empty() {
            label.push(' ');
        }
        label.extend(if c == '_' { ' ' } else { c }.to_lowercase());
    }
    label
}

/// Returns the label of every actor: its kind, followed by a number if there are several of that kind.
pub(crate) fn labels(engine: &Engine) -> Vec<String> {
    let mut of_kind: FxHashMap<&str, (u32, u32)> = FxHashMap::default();
    for info in &engine.actors {
        of_kind.entry(&info.kind).or_default().0 += 1;
    }
    engine
        .actors
        .iter()
        .map(|info| {
            let (all, seen) = of_kind.get_mut(&*info.kind).expect("it was counted");
            *seen += 1;
            if *all == 1 { info.kind.to_string() } else { format!("{} {}", info.kind, seen) }
        })
        .collect()
}

/// Returns a message or reply as text.
pub(crate) fn content<M: Debug + 'static>(engine: &Engine, what: u32) -> String {
    let sent = engine.messages[what];
    match sent.content {
        MessageContent::Message(place) => format!("{:?}", engine.messages.message::<M>(sent.to, place)),
        MessageContent::Reply(place, _) => format!("{:?}", engine.messages.reply(place)),
        MessageContent::Crash => "a crash".to_owned(),
    }
}

/// Hashes a reply: its `Debug` text and the name of the call it answers.
pub(crate) fn hash_reply(engine: &Engine, place: u32, call: Name, hasher: &mut FxHasher) {
    hasher.write(format!("{:?}", engine.messages.reply(place)).as_bytes());
    hasher.write_u64(call.0);
}

/// Returns the variant of a message: its text up to the first bracket.
pub(crate) fn variant(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    if end == 0 { text } else { &text[..end] }
}

/// Returns the description of a send or reply with its receiver, for a list of effects.
pub(crate) fn send(engine: &Engine, cells: &[Box<dyn ActorCell>], labels: &[String], what: u32) -> String {
    let sent = engine.messages[what];
    let text = cells[sent.to as usize].show_message(engine, what);
    let to = &labels[sent.to as usize];
    match sent.content {
        MessageContent::Message(_) => format!("sends {text} to {to}"),
        MessageContent::Reply(..) => format!("replies {text} to {to}"),
        MessageContent::Crash => format!("{to} may crash"),
    }
}

/// Returns a hash that identifies the variant of a message. All replies share one value.
pub(crate) fn variant_of<M: 'static>(engine: &Engine, what: u32) -> u64 {
    let sent = &engine.messages[what];
    let MessageContent::Message(place) = sent.content else { return u64::MAX };
    let mut hasher = FxHasher::default();
    std::mem::discriminant(engine.messages.message::<M>(sent.to, place)).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_called_by_their_type() {
        assert_eq!(type_label("bank::SavingsAccount<alloc::string::String>"), "savings account");
        assert_eq!(type_label("pi::tests::worker"), "worker");
        assert_eq!(type_label("pi::run::{{closure}}"), "actor");
    }
}
