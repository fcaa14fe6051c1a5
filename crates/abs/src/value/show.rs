//! The text of a value in reports and in strings of the program.

use super::Value;
use crate::code::{Code, known};
use std::fmt::Write as _;

impl Value {
    /// Returns the text of the value, truncated if it is long.
    pub(crate) fn show(&self, code: &Code, names: &dyn Fn(u32) -> String) -> String {
        let mut out = String::new();
        self.write(code, names, &mut out, 6);
        out
    }

    fn write(&self, code: &Code, names: &dyn Fn(u32) -> String, out: &mut String, depth: u32) {
        const LONG: usize = 200;
        if depth == 0 || out.len() > LONG {
            out.push('…');
            return;
        }
        match self {
            Value::Unit => out.push_str("Unit"),
            Value::Null => out.push_str("null"),
            Value::Bool(truth) => out.push_str(if *truth { "True" } else { "False" }),
            Value::Int(small) => write!(out, "{small}").expect("writing to a String cannot fail"),
            Value::Number(number) => write!(out, "{number}").expect("writing to a String cannot fail"),
            Value::Float(float) => write!(out, "{float:?}").expect("writing to a String cannot fail"),
            Value::Str(text) => write!(out, "\"{text}\"").expect("writing to a String cannot fail"),
            Value::Object(at, _) => out.push_str(&names(*at)),
            Value::Future(..) => out.push_str("a future"),
            Value::Function(_) => out.push_str("a function"),
            Value::Atom(known::NIL) => out.push_str("list[]"),
            Value::Atom(known::EMPTY_SET) => out.push_str("set[]"),
            Value::Atom(known::EMPTY_MAP) => out.push_str("map[]"),
            Value::Atom(constructor) => out.push_str(&code.constructors[*constructor as usize].name),
            Value::Data(data) => {
                let (open, items): (&str, Vec<&Value>) = match data.constructor {
                    known::CONS => ("list[", self.items().take(20).collect()),
                    known::INSERT => ("set[", self.items().take(20).collect()),
                    known::INSERT_ASSOC => ("map[", self.items().take(20).collect()),
                    constructor => {
                        write!(out, "{}(", code.constructors[constructor as usize].name)
                            .expect("writing to a String cannot fail");
                        ("", data.args.iter().collect())
                    }
                };
                out.push_str(open);
                for (k, item) in items.iter().enumerate() {
                    if k > 0 {
                        out.push_str(", ");
                    }
                    item.write(code, names, out, depth - 1);
                    if out.len() > LONG {
                        break;
                    }
                }
                out.push(if open.is_empty() { ')' } else { ']' });
            }
        }
    }
}
