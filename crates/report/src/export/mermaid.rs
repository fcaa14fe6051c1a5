//! A Mermaid sequence diagram: an arrow for each event that receives from an actor, a note for every other one.

use whippet_model::Trace;

pub(super) fn write(trace: &Trace) -> String {
    let mut text = String::from("sequenceDiagram\n");
    let mut shown = vec![false; trace.actors.len()];
    for event in &trace.events {
        shown[event.actor as usize] = true;
        if let Some(from) = event.from {
            shown[from as usize] = true;
        }
    }
    for (k, actor) in trace.actors.iter().enumerate().filter(|&(k, _)| shown[k]) {
        text += &format!("  participant a{k} as {}\n", plain(&actor.name));
    }
    for (at, event) in trace.events.iter().enumerate() {
        let (to, what) = (event.actor, plain(&format!("{}. {}", at + 1, event.text)));
        text += &match event.from {
            Some(from) => format!("  a{from}->>a{to}: {what}\n"),
            None => format!("  Note over a{to}: {what}\n"),
        };
    }
    text
}

/// Replaces the characters that end a statement in Mermaid by their entity codes.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '#' => plain += "#35;",
            ';' => plain += "#59;",
            '\n' => plain.push(' '),
            c => plain.push(c),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    #[test]
    fn no_text_ends_a_statement() {
        assert_eq!(super::plain("a; #1\nb"), "a#59; #35;1 b");
    }
}
