//! The memory of one rank, and the evaluation of expressions without calls of MPI.

use crate::mpi::{AnyRequest, Prepared};
use crate::parser::Expr;
use rustc_hash::FxHashMap;
use whippet_net::mpi::{PROC_NULL, Rank};

/// The type of elements of a message.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Datatype {
    Int,
    Float,
}

/// A value of a variable.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Int(i64),
    /// A block of memory, and the offset of an element.
    Pointer(usize, usize),
    Datatype(Datatype),
    Operator(&'static str),
    Communicator(Rank<Vec<i32>>),
    Request(AnyRequest),
    /// A persistent request that has not been started.
    Prepared(Box<Prepared>),
    /// A null handle.
    Null,
}

impl Value {
    fn is_true(&self) -> bool {
        !matches!(self, Value::Int(0) | Value::Null)
    }
}

/// The value of `MPI_ANY_SOURCE` and `MPI_ANY_TAG`.
pub(crate) const ANY: i64 = -1_000_000;
/// The value of `MPI_PROC_NULL`.
pub(crate) const NO_RANK: i64 = PROC_NULL as i64;

/// Variables and allocated blocks.
pub(crate) struct Memory {
    blocks: Vec<Vec<Value>>,
    /// The block of each variable, and if it is an array.
    names: FxHashMap<String, (usize, bool)>,
    /// The arguments of the program.
    arguments: Vec<i64>,
}

type Evaluated<T> = Result<T, String>;

impl Memory {
    pub(crate) fn new(world: Rank<Vec<i32>>, defines: &[(String, i64)], arguments: &[i64]) -> Memory {
        let mut memory = Memory { blocks: Vec::new(), names: FxHashMap::default(), arguments: arguments.to_vec() };
        for (name, value) in defines {
            memory.declare(name, vec![Value::Int(*value)], false);
        }
        memory.declare("argc", vec![Value::Int(1 + arguments.len() as i64)], false);
        let constants = [
            ("MPI_COMM_WORLD", Value::Communicator(world)),
            ("MPI_INT", Value::Datatype(Datatype::Int)),
            ("MPI_FLOAT", Value::Datatype(Datatype::Float)),
            ("MPI_SUM", Value::Operator("sum")),
            ("MPI_MAX", Value::Operator("max")),
            ("MPI_MIN", Value::Operator("min")),
            ("MPI_ANY_SOURCE", Value::Int(ANY)),
            ("MPI_ANY_TAG", Value::Int(ANY)),
            ("MPI_PROC_NULL", Value::Int(NO_RANK)),
            ("MPI_BSEND_OVERHEAD", Value::Int(0)),
        ];
        for (name, value) in constants {
            memory.declare(name, vec![value], false);
        }
        let nulls = ["COMM_NULL", "REQUEST_NULL", "DATATYPE_NULL", "OP_NULL", "STATUS_IGNORE", "STATUSES_IGNORE"];
        for name in nulls {
            memory.declare(&format!("MPI_{name}"), vec![Value::Null], false);
        }
        memory.declare("NULL", vec![Value::Null], false);
        memory
    }

    pub(crate) fn allocate(&mut self, elements: usize) -> Value {
        self.blocks.push(vec![Value::Int(0); elements]);
        Value::Pointer(self.blocks.len() - 1, 0)
    }

    pub(crate) fn declare(&mut self, name: &str, values: Vec<Value>, is_array: bool) {
        self.blocks.push(values);
        self.names.insert(name.to_string(), (self.blocks.len() - 1, is_array));
    }

    /// Returns the place that an expression denotes.
    pub(crate) fn place(&mut self, expr: &Expr) -> Evaluated<(usize, usize)> {
        match expr {
            Expr::Name(name) => Ok((self.names.get(name).ok_or_else(|| format!("not supported: {name}"))?.0, 0)),
            Expr::Index(array, index) => {
                let index = self.number(index)?;
                match self.value(array)? {
                    Value::Pointer(block, offset) => Ok((block, (offset as i64 + index) as usize)),
                    _ => Err("not supported: an index of something else than an array".into()),
                }
            }
            Expr::Unary("*", pointer) => match self.value(pointer)? {
                Value::Pointer(block, offset) => Ok((block, offset)),
                _ => Err("not supported: `*` of something else than a pointer".into()),
            },
            _ => Err("not supported: a place of this form".into()),
        }
    }

    pub(crate) fn read(&self, (block, offset): (usize, usize)) -> Evaluated<Value> {
        self.blocks[block].get(offset).cloned().ok_or_else(|| "not supported: an access out of bounds".into())
    }

    pub(crate) fn write(&mut self, (block, offset): (usize, usize), value: Value) -> Evaluated<()> {
        let place = self.blocks[block].get_mut(offset).ok_or("not supported: an access out of bounds")?;
        *place = value;
        Ok(())
    }

    pub(crate) fn number(&mut self, expr: &Expr) -> Evaluated<i64> {
        match self.value(expr)? {
            Value::Int(number) => Ok(number),
            other => Err(format!("not supported: {other:?} as a number")),
        }
    }

    /// Returns the values of `count` elements from a place on.
    pub(crate) fn elements(&self, (block, offset): (usize, usize), count: usize) -> Vec<i64> {
        let number = |value: &Value| if let Value::Int(number) = value { *number } else { 0 };
        self.blocks[block].iter().skip(offset).map(number).chain(std::iter::repeat(0)).take(count).collect()
    }

    pub(crate) fn is_true(&mut self, expr: &Expr) -> Evaluated<bool> {
        Ok(self.value(expr)?.is_true())
    }

    /// Evaluates an expression.
    pub(crate) fn value(&mut self, expr: &Expr) -> Evaluated<Value> {
        Ok(match expr {
            Expr::Number(number) => Value::Int(*number),
            Expr::Text => Value::Null,
            Expr::Sizeof => Value::Int(4),
            Expr::Name(name) => match self.names.get(name) {
                Some(&(block, true)) => Value::Pointer(block, 0),
                Some(&(block, false)) => self.read((block, 0))?,
                None => return Err(format!("not supported: {name}")),
            },
            Expr::Index(..) | Expr::Unary("*", _) => {
                let place = self.place(expr)?;
                self.read(place)?
            }
            Expr::Unary("&", inner) => {
                let (block, offset) = self.place(inner)?;
                Value::Pointer(block, offset)
            }
            Expr::Unary("!", inner) => Value::Int(i64::from(!self.is_true(inner)?)),
            Expr::Unary(_, inner) => Value::Int(-self.number(inner)?),
            Expr::Assign(place, value) => {
                let value = self.value(value)?;
                let place = self.place(place)?;
                self.write(place, value.clone())?;
                value
            }
            Expr::Step(place, by) => {
                let before = self.number(place)?;
                let place = self.place(place)?;
                self.write(place, Value::Int(before + by))?;
                Value::Int(before)
            }
            Expr::Choice(condition, then, otherwise) => {
                let chosen = if self.is_true(condition)? { then } else { otherwise };
                self.value(chosen)?
            }
            Expr::Binary(operator, left, right) => self.binary(operator, left, right)?,
            Expr::Call(name, arguments) => self.library_call(name, arguments)?,
        })
    }

    fn binary(&mut self, operator: &str, left: &Expr, right: &Expr) -> Evaluated<Value> {
        match operator {
            "," => {
                self.value(left)?;
                return self.value(right);
            }
            "&&" => return Ok(Value::Int(i64::from(self.is_true(left)? && self.is_true(right)?))),
            "||" => return Ok(Value::Int(i64::from(self.is_true(left)? || self.is_true(right)?))),
            _ => {}
        }
        let (left, right) = (self.value(left)?, self.value(right)?);
        let (Value::Int(a), Value::Int(b)) = (&left, &right) else {
            let same = match (&left, &right) {
                (Value::Null, Value::Null) => true,
                (Value::Communicator(a), Value::Communicator(b)) => format!("{a:?}") == format!("{b:?}"),
                _ => false,
            };
            return match operator {
                "==" => Ok(Value::Int(i64::from(same))),
                "!=" => Ok(Value::Int(i64::from(!same))),
                _ => Err(format!("not supported: `{operator}` of {left:?}")),
            };
        };
        Ok(Value::Int(match operator {
            "+" => a + b,
            "-" => a - b,
            "*" => a * b,
            "/" => a.checked_div(*b).ok_or("a division by zero")?,
            "%" => a.checked_rem(*b).ok_or("a division by zero")?,
            "==" => i64::from(a == b),
            "!=" => i64::from(a != b),
            "<" => i64::from(a < b),
            ">" => i64::from(a > b),
            "<=" => i64::from(a <= b),
            _ => i64::from(a >= b),
        }))
    }

    fn library_call(&mut self, name: &str, arguments: &[Expr]) -> Evaluated<Value> {
        match name {
            "printf" | "fflush" | "memset" | "free" | "fprintf" => Ok(Value::Null),
            "malloc" => {
                let bytes = self.number(&arguments[0])?;
                Ok(self.allocate((bytes / 4).max(1) as usize))
            }
            "atoi" => Ok(Value::Int(self.arguments.first().copied().unwrap_or_default())),
            "abort" | "exit" => Err("the program aborts".into()),
            _ => Err(format!("not supported: {name}")),
        }
    }
}
