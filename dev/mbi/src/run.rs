//! Runs the body of a program as one rank.

use crate::memory::{Memory, Value};
use crate::mpi;
use crate::parser::{Expr, Stmt};
use std::pin::Pin;

/// The way in which a statement ended.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Flow {
    Next,
    Returned,
}

type Running<'a> = Pin<Box<dyn Future<Output = Result<Flow, String>> + 'a>>;

/// Runs the body of `main`. Fails with a reason if something in it is not supported, or if the program aborts.
pub(crate) async fn run(memory: &mut Memory, body: &[Stmt]) -> Result<(), String> {
    for statement in body {
        if execute(memory, statement).await? == Flow::Returned {
            break;
        }
    }
    Ok(())
}

fn execute<'a>(memory: &'a mut Memory, statement: &'a Stmt) -> Running<'a> {
    Box::pin(async move {
        match statement {
            Stmt::Declare(name, length, value) => declare(memory, name, length.as_ref(), value.as_ref())?,
            Stmt::Expr(Expr::Call(name, arguments)) if name.starts_with("MPI_") => {
                mpi::call(memory, name, arguments).await?;
            }
            Stmt::Expr(expr) => drop(memory.value(expr)?),
            Stmt::Block(body) => {
                for statement in body {
                    if execute(memory, statement).await? == Flow::Returned {
                        return Ok(Flow::Returned);
                    }
                }
            }
            Stmt::If(condition, then, otherwise) => {
                let chosen = if memory.is_true(condition)? { Some(then) } else { otherwise.as_ref() };
                if let Some(statement) = chosen {
                    return execute(memory, statement).await;
                }
            }
            Stmt::For(first, condition, step, body) => {
                execute(memory, first).await?;
                while condition.as_ref().map_or(Ok(true), |condition| memory.is_true(condition))? {
                    if execute(memory, body).await? == Flow::Returned {
                        return Ok(Flow::Returned);
                    }
                    step.as_ref().map_or(Ok(Value::Null), |step| memory.value(step))?;
                }
            }
            Stmt::While(condition, body) => {
                while memory.is_true(condition)? {
                    if execute(memory, body).await? == Flow::Returned {
                        return Ok(Flow::Returned);
                    }
                }
            }
            Stmt::Return => return Ok(Flow::Returned),
        }
        Ok(Flow::Next)
    })
}

fn declare(memory: &mut Memory, name: &str, length: Option<&Expr>, value: Option<&Expr>) -> Result<(), String> {
    let first = value.map_or(Ok(Value::Int(0)), |value| memory.value(value))?;
    let Some(length) = length else {
        memory.declare(name, vec![first], false);
        return Ok(());
    };
    let length = usize::try_from(memory.number(length)?).map_err(|_| "not supported: an array of negative length")?;
    let mut values = vec![Value::Int(0); length.max(1)];
    values[0] = first;
    memory.declare(name, values, true);
    Ok(())
}
