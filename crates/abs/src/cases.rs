//! Writes the inputs of the executions of one method as an ABS program that calls it with each of them.
//!
//! The generated main block of [`crate::inputs`] is evaluated once for each input, with the numbers that `random` returned:
//! what remains are the values of the arguments, as source text, and the objects that have to be created.

use crate::record::{CaseResult, Cases};
use crate::syntax::ast::{Binary, Expr, ExprKind, Stmt, StmtKind, TypeUse, Unary};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// A value of the generated code.
#[derive(Clone, Debug)]
enum Input {
    Number(i64),
    Truth(bool),
    Source(String),
}

impl Input {
    fn source(&self) -> String {
        match self {
            Input::Number(number) => number.to_string(),
            Input::Truth(truth) => if *truth { "True" } else { "False" }.into(),
            Input::Source(text) => text.clone(),
        }
    }
}

/// Returns the text of a program with one block per case. `result` is the type of the method's result, and `modules` are those
/// of the program; `into` is the module that the text belongs to.
pub(crate) fn write(
    cases: &Cases,
    main: &[Stmt],
    result: &TypeUse,
    modules: &[String],
    into: &str,
    about: &str,
) -> String {
    let mut text = format!("// {about}\nmodule {into};\n");
    for module in modules.iter().filter(|module| *module != into) {
        writeln!(text, "import * from {module};").expect("writing to a String cannot fail");
    }
    text += "\n{\n";
    for (k, (inputs, results)) in cases.iter().enumerate() {
        let mut case = Case { draws: inputs.iter().copied(), variables: Vec::new(), lines: Vec::new() };
        let call = case.statements(main).unwrap_or_default();
        writeln!(text, "    // Case {}", k + 1).expect("writing to a String cannot fail");
        if results.is_empty() {
            let lines = case.lines.iter().map(|line| line.as_str()).chain([call.as_str()]).collect::<Vec<_>>();
            let _ = writeln!(text, "    // The call does not end: {}", lines.join("; "));
            continue;
        }
        case.lines.extend(asserted(&call, results, &type_text(result)));
        text += "    {\n";
        for line in &case.lines {
            let end = if line.ends_with('}') { "" } else { ";" };
            writeln!(text, "        {line}{end}").expect("writing to a String cannot fail");
        }
        text += "    }\n";
    }
    text + "}\n"
}

/// Returns the statements that perform the call and assert one of its results.
fn asserted(call: &str, results: &BTreeSet<CaseResult>, ty: &str) -> Vec<String> {
    let mut lines = vec!["Bool expected = False".to_string(), format!("Fut<{ty}> future = {call}")];
    let mut values = Vec::new();
    let mut patterns = String::new();
    let mut any = false;
    for result in results {
        match result {
            CaseResult::Value(value) => values.push(format!("result == {value}")),
            CaseResult::Other => any = true,
            CaseResult::Throws(pattern) => {
                let _ = write!(patterns, "{pattern} => expected = True; ");
            }
        }
    }
    let mut body = format!("{ty} result = future.get; expected = {};", values.join(" || "));
    if any || ty == "Unit" {
        body = "future.get; expected = True;".into();
    } else if values.is_empty() {
        body = "future.get;".into();
    }
    match (patterns.is_empty(), any || !values.is_empty()) {
        (true, _) => lines.extend(body.trim_end_matches(';').split("; ").map(str::to_string)),
        (false, returns) => {
            let body = if returns { body } else { "future.get;".into() };
            lines.push(format!("try {{ {body} }} catch {{ {patterns}}}"));
        }
    }
    lines.push("assert expected".into());
    lines
}

fn type_text(ty: &TypeUse) -> String {
    if ty.args.is_empty() {
        return ty.name.text.to_string();
    }
    let args: Vec<String> = ty.args.iter().map(type_text).collect();
    format!("{}<{}>", ty.name.text, args.join(", "))
}

/// The evaluation of the main block for one input.
struct Case<D> {
    draws: D,
    /// The variables with their types and values, the newest last.
    variables: Vec<(String, String, Input)>,
    /// The statements that create objects.
    lines: Vec<String>,
}

impl<D: Iterator<Item = u32>> Case<D> {
    /// Evaluates statements, and returns the text of the final call.
    fn statements(&mut self, statements: &[Stmt]) -> Option<String> {
        for statement in statements {
            match &statement.kind {
                StmtKind::Declare(ty, name, Some(value)) => {
                    let (name, ty) = (name.text.to_string(), type_text(ty));
                    let value = self.assigned(&name, &ty, value)?;
                    self.variables.push((name, ty, value));
                }
                StmtKind::Assign(_, name, value) => {
                    let (name, ty, _) = self.variables.iter().find(|(known, ..)| **known == *name.text)?.clone();
                    let value = self.assigned(&name, &ty, value)?;
                    self.variables.push((name, ty, value));
                }
                StmtKind::If(condition, yes, _) => {
                    if let (Input::Truth(true), StmtKind::Block(body)) = (self.value(condition)?, &yes.kind) {
                        self.statements(body);
                    }
                }
                StmtKind::Expr(call) => {
                    let ExprKind::Send { object, method, args, .. } = &call.kind else { return None };
                    let object = self.value(object)?.source();
                    return Some(format!("{object}!{}({})", method.text, self.all(args)?));
                }
                _ => {}
            }
        }
        None
    }

    /// Evaluates the value of a variable. An object is created by a statement of its own.
    fn assigned(&mut self, name: &str, ty: &str, value: &Expr) -> Option<Input> {
        let ExprKind::New { class, args, .. } = &value.kind else { return self.value(value) };
        let args = self.all(args)?;
        self.lines.push(format!("{ty} {name} = new {}({args})", class.text));
        Some(Input::Source(name.to_string()))
    }

    fn all(&mut self, values: &[Expr]) -> Option<String> {
        let values: Option<Vec<String>> = values.iter().map(|value| Some(self.value(value)?.source())).collect();
        Some(values?.join(", "))
    }

    fn value(&mut self, value: &Expr) -> Option<Input> {
        Some(match &value.kind {
            ExprKind::Int(digits) => Input::Number(digits.parse().ok()?),
            ExprKind::Str(text) => Input::Source(format!("\"{text}\"")),
            ExprKind::Null => Input::Source("null".into()),
            ExprKind::Var(name) => {
                let found = self.variables.iter().rev().find(|(known, ..)| **known == *name.text);
                found?.2.clone()
            }
            ExprKind::Unary(Unary::Minus, inner) => match self.value(inner)? {
                Input::Number(number) => Input::Number(-number),
                _ => return None,
            },
            ExprKind::Binary(operator, left, right) => match (operator, self.value(left)?, self.value(right)?) {
                (Binary::Add, Input::Number(a), Input::Number(b)) => Input::Number(a + b),
                (Binary::Eq, Input::Number(a), Input::Number(b)) => Input::Truth(a == b),
                _ => return None,
            },
            ExprKind::If(condition, yes, no) => match self.value(condition)? {
                Input::Truth(true) => self.value(yes)?,
                _ => self.value(no)?,
            },
            ExprKind::Construct(name, args) if args.is_empty() => Input::Source(name.text.to_string()),
            ExprKind::Construct(name, args) => Input::Source(format!("{}({})", name.text, self.all(args)?)),
            ExprKind::Call(name, _, _) if &*name.text == "random" => Input::Number(self.draws.next()?.into()),
            ExprKind::Call(name, _, args) => Input::Source(format!("{}({})", name.text, self.all(args)?)),
            _ => return None,
        })
    }
}
