//! Evaluates expressions over the variables of a frame, without side effects, and counts their cost.

use crate::builtins::{self, MAX_SIZE};
use crate::code::{Code, Const, Expr, Pattern, known};
use crate::syntax::ast::{Binary, Unary};
use crate::value::{Value, with_stack};
use num_rational::BigRational;
use num_traits::Zero;
use smallvec::SmallVec;
use std::cmp::Ordering;
use whippet_model::Branch;

/// An exception being propagated, or an exceeded limit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Thrown {
    /// An exception and the place where it was thrown.
    Exception(Value, u32),
    /// A limit and the place where it was exceeded. It cannot be caught.
    Limit(Limit, u32),
}

/// The kinds of limits.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Limit {
    Statements,
    Depth,
    Size,
    /// The number of branches of a step.
    Random,
}

/// The branch that a step takes at each `random`, and the number of branches there.
#[derive(Clone, Debug, Default)]
pub(crate) struct RandomChoices {
    pub(crate) branch: Branch,
    pub(crate) arities: SmallVec<[u32; 2]>,
}

/// The maximum argument of `random`: it chooses from at most this many numbers.
pub(crate) const MAX_RANDOM: i64 = Branch::VALUES as i64;

/// The maximum nesting depth of functions and synchronous calls.
pub(crate) const MAX_NESTING: u32 = 20_000;

/// The objects of the running program, as seen by an evaluation.
pub(crate) trait Objects {
    /// Returns the class of an object.
    fn class_of(&self, object: u32) -> u32;

    /// Returns the text of an object in strings of the program, which is equal in equivalent executions.
    fn stable_text(&self, object: u32) -> String;
}

/// The state of an evaluation.
pub(crate) struct Eval<'a> {
    pub(crate) code: &'a Code,
    pub(crate) consts: &'a [Value],
    /// The variables of the frame and of the functions being called.
    pub(crate) stack: &'a mut Vec<Value>,
    /// The index on the stack where the variables of the current function begin.
    pub(crate) base: usize,
    pub(crate) fields: &'a [Value],
    pub(crate) this: Value,
    pub(crate) objects: &'a dyn Objects,
    /// The number of statements and calls still allowed.
    pub(crate) fuel: &'a mut u64,
    pub(crate) depth: u32,
    /// The fields that were read, as bits (see [`field_bit`]).
    pub(crate) read: u64,
    pub(crate) random: &'a mut RandomChoices,
    /// The current time.
    pub(crate) clock: &'a BigRational,
    /// The time at which the task must have ended, if it has a deadline.
    pub(crate) deadline: Option<&'a BigRational>,
    /// The deployment component of the group.
    pub(crate) component: Value,
}

/// Returns the bit of a field. The last bit stands for all fields from number 63 on.
pub(crate) fn field_bit(field: u16) -> u64 {
    1 << field.min(63)
}

/// Returns the values of a program's constants, created once per machine.
pub(crate) fn constants(code: &Code) -> Vec<Value> {
    let value = |constant: &Const| match constant {
        Const::Unit => Value::Unit,
        Const::Null => Value::Null,
        Const::Bool(truth) => Value::Bool(*truth),
        Const::Number(number) => Value::number(number.clone()),
        Const::Float(bits) => Value::Float(f64::from_bits(*bits)),
        Const::Str(text) => Value::str(text.clone()),
        Const::Construct(constructor) => Value::Atom(*constructor),
    };
    code.consts.iter().map(value).collect()
}

impl Eval<'_> {
    pub(crate) fn throw(&self, constructor: u32, at: u32) -> Thrown {
        Thrown::Exception(Value::Atom(constructor), at)
    }

    pub(crate) fn too_large(&self, at: u32) -> Thrown {
        Thrown::Limit(Limit::Size, at)
    }

    /// Consumes some of the allowed statements, or fails if too few are left.
    pub(crate) fn spend(&mut self, cost: u64, at: u32) -> Result<(), Thrown> {
        match self.fuel.checked_sub(cost) {
            Some(left) => *self.fuel = left,
            None => return Err(Thrown::Limit(Limit::Statements, at)),
        }
        Ok(())
    }

    /// Returns the text of a value as `toString` does: strings without quotes.
    pub(crate) fn text(&self, value: &Value) -> String {
        match value {
            Value::Str(text) => text.to_string(),
            other => other.program_text(self.code, &|object| self.objects.stable_text(object)),
        }
    }

    pub(crate) fn expr(&mut self, expr: &Expr) -> Result<Value, Thrown> {
        Ok(match expr {
            Expr::Const(k) => self.consts[*k as usize].clone(),
            Expr::Local(slot) => self.stack[self.base + *slot as usize].clone(),
            Expr::Field(field) => {
                self.read |= field_bit(*field);
                self.fields[*field as usize].clone()
            }
            Expr::This => self.this.clone(),
            Expr::Unary(Unary::Not, inner) => Value::Bool(!self.expr(inner)?.truth()),
            Expr::Unary(Unary::Minus, inner) => match self.expr(inner)? {
                Value::Float(float) => Value::Float(-float),
                number => Value::number(-number.rational()),
            },
            Expr::Binary(operator, parts, at) => self.binary(*operator, &parts.0, &parts.1, *at)?,
            Expr::If(parts) => {
                let branch = if self.expr(&parts.0)?.truth() { &parts.1 } else { &parts.2 };
                self.expr(branch)?
            }
            Expr::Case(subject, branches, at) => self.case(subject, branches, *at)?,
            Expr::Let(slot, parts) => {
                let value = self.expr(&parts.0)?;
                self.stack[self.base + *slot as usize] = value;
                self.expr(&parts.1)?
            }
            Expr::Construct(constructor, args) => {
                let args = args.iter().map(|arg| self.expr(arg)).collect::<Result<_, _>>()?;
                Value::data(*constructor, args)
            }
            Expr::Call(function, args, at) => {
                let base = self.stack.len();
                self.push_args(args)?;
                self.call(*function, base, *at)?
            }
            Expr::CallLocal(slot, args, at) => {
                let Value::Function(closure) = self.stack[self.base + *slot as usize].clone() else {
                    unreachable!("internal error: expected a function")
                };
                let base = self.stack.len();
                self.stack.extend(closure.captured.iter().cloned());
                self.push_args(args)?;
                self.call(closure.function, base, *at)?
            }
            Expr::Builtin(builtin, args, at) => {
                self.spend(1, *at)?;
                let args: smallvec::SmallVec<[Value; 3]> =
                    args.iter().map(|arg| self.expr(arg)).collect::<Result<_, _>>()?;
                builtins::apply(self, *builtin, &args, *at)?
            }
            Expr::Closure(function, slots, _) => {
                let captured = slots.iter().map(|slot| self.stack[self.base + *slot as usize].clone()).collect();
                Value::closure(*function, captured)
            }
            Expr::Implements(inner, interface) => {
                let object = self.expr(inner)?;
                Value::Bool(self.implements(&object, *interface))
            }
            Expr::As(inner, interface) => {
                let object = self.expr(inner)?;
                if self.implements(&object, *interface) { object } else { Value::Null }
            }
            Expr::Template(parts, at) => {
                let mut text = String::new();
                for part in parts {
                    let value = self.expr(part)?;
                    text.push_str(&self.text(&value));
                    if text.len() > MAX_SIZE {
                        return Err(self.too_large(*at));
                    }
                }
                Value::str(text)
            }
            Expr::Random(below, at) => {
                let below = self.expr(below)?;
                self.random(&below, *at)?
            }
        })
    }

    /// Returns the number below `below` that the branch of this step selects, and records how many there are.
    fn random(&mut self, below: &Value, at: u32) -> Result<Value, Thrown> {
        let digit = self.random.arities.len();
        match below {
            Value::Int(n @ 1..=MAX_RANDOM) if digit < Branch::DIGITS => {
                self.random.arities.push(*n as u32);
                Ok(Value::Int(i64::from(self.random.branch.digit(digit))))
            }
            _ => Err(Thrown::Limit(Limit::Random, at)),
        }
    }

    fn push_args(&mut self, args: &[Expr]) -> Result<(), Thrown> {
        for arg in args {
            let value = self.expr(arg)?;
            self.stack.push(value);
        }
        Ok(())
    }

    fn implements(&self, object: &Value, interface: u32) -> bool {
        match object {
            Value::Object(at, _) => {
                self.code.classes[self.objects.class_of(*at) as usize].interfaces.contains(&interface)
            }
            _ => false,
        }
    }

    /// Calls a function whose arguments are on the stack from `base` on.
    fn call(&mut self, function: u32, base: usize, at: u32) -> Result<Value, Thrown> {
        self.spend(1, at)?;
        if self.depth == MAX_NESTING {
            return Err(Thrown::Limit(Limit::Depth, at));
        }
        let code = self.code;
        let function = &code.functions[function as usize];
        self.stack.resize(base + function.locals as usize, Value::Unit);
        let caller = std::mem::replace(&mut self.base, base);
        self.depth += 1;
        let result = with_stack(|| self.expr(&function.body));
        self.depth -= 1;
        self.base = caller;
        self.stack.truncate(base);
        result
    }

    fn case(&mut self, subject: &Expr, branches: &[(Pattern, Expr)], at: u32) -> Result<Value, Thrown> {
        let value = self.expr(subject)?;
        for (pattern, body) in branches {
            if self.matches(pattern, &value) {
                return self.expr(body);
            }
        }
        Err(self.throw(known::NO_MATCH, at))
    }

    /// Returns `true` if the value matches the pattern. Binds the pattern's variables up to the first mismatch.
    pub(crate) fn matches(&mut self, pattern: &Pattern, value: &Value) -> bool {
        match pattern {
            Pattern::Any => true,
            Pattern::Const(k) => self.consts[*k as usize] == *value,
            Pattern::Bind(slot) => {
                self.stack[self.base + *slot as usize] = value.clone();
                true
            }
            Pattern::Same(slot) => self.stack[self.base + *slot as usize] == *value,
            Pattern::Field(field) => {
                self.read |= field_bit(*field);
                self.fields[*field as usize] == *value
            }
            Pattern::Construct(constructor, patterns) => match value.parts() {
                Some((found, args)) => {
                    found == *constructor && patterns.iter().zip(args).all(|(p, arg)| self.matches(p, arg))
                }
                None => false,
            },
        }
    }

    fn binary(&mut self, operator: Binary, left: &Expr, right: &Expr, at: u32) -> Result<Value, Thrown> {
        let left = self.expr(left)?;
        match operator {
            Binary::And if !left.truth() => return Ok(left),
            Binary::Or if left.truth() => return Ok(left),
            Binary::Implies if !left.truth() => return Ok(Value::Bool(true)),
            Binary::And | Binary::Or | Binary::Implies => return self.expr(right),
            _ => {}
        }
        let right = self.expr(right)?;
        let holds = |test: fn(Ordering) -> bool| Ok(Value::Bool(compare(&left, &right).is_some_and(test)));
        match operator {
            Binary::Eq | Binary::Equiv => holds(Ordering::is_eq),
            Binary::Ne => Ok(Value::Bool(compare(&left, &right) != Some(Ordering::Equal))),
            Binary::Lt => holds(Ordering::is_lt),
            Binary::Gt => holds(Ordering::is_gt),
            Binary::Le => holds(Ordering::is_le),
            Binary::Ge => holds(Ordering::is_ge),
            _ => self.arithmetic(operator, &left, &right, at),
        }
    }

    fn arithmetic(&mut self, operator: Binary, left: &Value, right: &Value, at: u32) -> Result<Value, Thrown> {
        match (left, right) {
            (Value::Int(a), Value::Int(b)) => {
                let small = match operator {
                    Binary::Add => a.checked_add(*b),
                    Binary::Sub => a.checked_sub(*b),
                    Binary::Mul => a.checked_mul(*b),
                    Binary::Mod => a.checked_rem_euclid(*b),
                    Binary::Div if *b != 0 && a.checked_rem(*b) == Some(0) => a.checked_div(*b),
                    _ => None,
                };
                if let Some(small) = small {
                    return Ok(Value::Int(small));
                }
            }
            (Value::Float(a), Value::Float(b)) => {
                return Ok(Value::Float(match operator {
                    Binary::Add => a + b,
                    Binary::Sub => a - b,
                    Binary::Mul => a * b,
                    Binary::Mod => a.rem_euclid(*b),
                    _ => a / b,
                }));
            }
            (Value::Str(_), _) | (_, Value::Str(_)) => {
                let text = self.text(left) + &self.text(right);
                return if text.len() > MAX_SIZE { Err(self.too_large(at)) } else { Ok(Value::str(text)) };
            }
            _ => {}
        }
        self.exact(operator, &left.rational(), &right.rational(), at)
    }

    /// Computes with numbers of any size.
    fn exact(&mut self, operator: Binary, a: &BigRational, b: &BigRational, at: u32) -> Result<Value, Thrown> {
        if matches!(operator, Binary::Div | Binary::Mod) && b.is_zero() {
            return Err(self.throw(known::DIVISION_BY_ZERO, at));
        }
        let number = match operator {
            Binary::Add => a + b,
            Binary::Sub => a - b,
            Binary::Mul => a * b,
            Binary::Div => a / b,
            _ => a - (a / b).floor() * b,
        };
        if number.numer().bits().max(number.denom().bits()) > MAX_SIZE as u64 {
            return Err(self.too_large(at));
        }
        Ok(Value::number(number))
    }
}

/// Compares floats as IEEE 754 defines it, where NaN is unordered, and all other values by their total order.
fn compare(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::Float(a), Value::Float(b)) => a.partial_cmp(b),
        _ => Some(left.cmp(right)),
    }
}
