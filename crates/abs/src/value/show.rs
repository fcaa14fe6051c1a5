//! The text of a value in reports and in strings of the program.

use super::{Value, with_stack};
use crate::builtins::MAX_SIZE;
use crate::code::{Code, known};
use std::fmt::Write as _;

/// The maximum length of a value in a report.
const LONG: usize = 200;
/// The maximum number of items of a list in a report.
const ITEMS: usize = 20;

/// The form of a text.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Form {
    /// For reports: truncated if it is long.
    Report,
    /// The value of `toString`: complete, in the form of the reference implementation.
    Program,
}

struct Writer<'a> {
    code: &'a Code,
    names: &'a dyn Fn(u32) -> String,
    form: Form,
    out: String,
}

impl Value {
    /// Returns the text of the value for a report, truncated if it is long.
    pub(crate) fn show(&self, code: &Code, names: &dyn Fn(u32) -> String) -> String {
        let mut writer = Writer { code, names, form: Form::Report, out: String::new() };
        writer.write(self, 6);
        writer.out
    }

    /// Returns the text of the value as `toString` does. A text longer than [`MAX_SIZE`] is cut off beyond it, so that
    /// the caller can tell.
    pub(crate) fn program_text(&self, code: &Code, names: &dyn Fn(u32) -> String) -> String {
        let mut writer = Writer { code, names, form: Form::Program, out: String::new() };
        writer.write(self, u32::MAX);
        writer.out
    }
}

impl Writer<'_> {
    fn is_full(&self) -> bool {
        self.out.len() > if self.form == Form::Report { LONG } else { MAX_SIZE }
    }

    fn write(&mut self, value: &Value, depth: u32) {
        if depth == 0 || self.is_full() {
            self.out.push('…');
            return;
        }
        let out = &mut self.out;
        match value {
            Value::Unit => out.push_str("Unit"),
            Value::Null => out.push_str("null"),
            Value::Bool(truth) => out.push_str(if *truth { "True" } else { "False" }),
            Value::Int(small) => write!(out, "{small}").expect("writing to a String cannot fail"),
            Value::Number(number) => write!(out, "{number}").expect("writing to a String cannot fail"),
            Value::Float(float) => write!(out, "{float:?}").expect("writing to a String cannot fail"),
            Value::Str(text) if self.form == Form::Report => {
                write!(out, "\"{text}\"").expect("writing to a String cannot fail");
            }
            Value::Str(text) => {
                let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
                write!(out, "\"{escaped}\"").expect("writing to a String cannot fail");
            }
            Value::Object(at, _) => out.push_str(&(self.names)(*at)),
            Value::Future(..) => out.push_str("a future"),
            Value::Function(_) => out.push_str("a function"),
            Value::Atom(known::NIL) => out.push_str("list[]"),
            Value::Atom(known::EMPTY_SET) => out.push_str("set[]"),
            Value::Atom(known::EMPTY_MAP) => out.push_str("map[]"),
            Value::Atom(constructor) => out.push_str(&self.code.constructors[*constructor as usize].name),
            Value::Data(data) => {
                let most = if self.form == Form::Report { ITEMS } else { usize::MAX };
                let open = match data.constructor {
                    known::CONS => "list[",
                    known::INSERT => "set[",
                    known::INSERT_ASSOC => "map[",
                    constructor => {
                        out.push_str(&self.code.constructors[constructor as usize].name);
                        "("
                    }
                };
                out.push_str(open);
                match open {
                    "(" => self.all(data.args.iter(), depth),
                    _ => self.all(value.items().take(most), depth),
                }
                self.out.push(if open == "(" { ')' } else { ']' });
            }
        }
    }

    fn all<'v>(&mut self, items: impl Iterator<Item = &'v Value>, depth: u32) {
        for (k, item) in items.enumerate() {
            if k > 0 {
                self.out.push_str(if self.form == Form::Report { ", " } else { "," });
            }
            with_stack(|| self.write(item, depth - 1));
            if self.is_full() {
                break;
            }
        }
    }
}
