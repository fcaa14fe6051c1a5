//! Static summaries of methods, computed from their code alone: the fields a method may touch, the methods it may call,
//! and the chains of calls that begin with it.

use crate::code::{CallKind, Code, Dest, Expr, Instr};
use crate::eval::field_bit;
use std::collections::BTreeSet;

/// The summary of one method. Fields are those of `this`, as bits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Summary {
    pub(crate) read: u64,
    pub(crate) written: u64,
    /// The methods that it may call asynchronously, or synchronously on another object.
    pub(crate) calls: BTreeSet<u32>,
    /// `true` if it may stop before its end.
    pub(crate) waits: bool,
}

impl Summary {
    /// Returns `true` if two tasks of one object commute as far as its fields are concerned.
    pub(crate) fn independent(&self, other: &Summary) -> bool {
        self.written & (other.read | other.written) == 0 && other.written & self.read == 0
    }
}

/// Returns the summary of every method. A method called by `this.m()` counts as part of its caller, and so do the calls
/// made while an object that it creates is initialized.
pub(crate) fn summaries(code: &Code) -> Vec<Summary> {
    let mut all: Vec<Summary> = (0..code.methods.len()).map(|method| direct(code, method)).collect();
    let inner: Vec<Vec<u32>> = code.methods.iter().map(|method| own_calls(code, method)).collect();
    let created: Vec<Vec<u32>> = code.methods.iter().map(|method| initializers(code, method)).collect();
    loop {
        let before = all.clone();
        for (method, summary) in all.iter_mut().enumerate() {
            for &callee in &inner[method] {
                let callee = &before[callee as usize];
                summary.read |= callee.read;
                summary.written |= callee.written;
                summary.waits |= callee.waits;
                summary.calls.extend(&callee.calls);
            }
            for &init in &created[method] {
                summary.calls.extend(&before[init as usize].calls);
            }
        }
        if all == before {
            return all;
        }
    }
}

fn direct(code: &Code, method: usize) -> Summary {
    let mut summary = Summary::default();
    for instr in &code.methods[method].code {
        each_expr(instr, &mut |expr| {
            expr.walk(&mut |part| {
                if let Expr::Field(field) = part {
                    summary.read |= field_bit(*field);
                }
            });
        });
        let dest = match instr {
            Instr::Set(dest, _) | Instr::Get(dest, _) | Instr::Call { dest, .. } | Instr::New { dest, .. } => *dest,
            _ => Dest::Nowhere,
        };
        if let Dest::Field(field) = dest {
            summary.written |= field_bit(field);
        }
        match instr {
            Instr::Call { object, kind, method, .. } => {
                if !(*kind == CallKind::Invoke && matches!(object, Expr::This)) {
                    summary.calls.extend(with_name(code, *method));
                }
                summary.waits |= *kind == CallKind::Invoke && !matches!(object, Expr::This);
            }
            Instr::New { class, .. } => summary.calls.extend(code.classes[*class as usize].run),
            Instr::Get(..) | Instr::Await(_) | Instr::Suspend | Instr::Sleep(..) | Instr::Consume(..) => {
                summary.waits = true;
            }
            _ => {}
        }
    }
    summary
}

/// Returns the methods with this name in all classes: the class of the receiver is known only at run time.
fn with_name(code: &Code, name: u32) -> impl Iterator<Item = u32> + '_ {
    code.classes.iter().filter_map(move |class| class.method(name))
}

fn own_calls(code: &Code, method: &crate::code::Method) -> Vec<u32> {
    let own = |instr: &Instr| match instr {
        Instr::Call { object: Expr::This, kind: CallKind::Invoke, method: name, .. } => {
            code.classes[method.class as usize].method(*name)
        }
        _ => None,
    };
    method.code.iter().filter_map(own).collect()
}

/// Returns the methods that initialize the objects that a method creates.
fn initializers(code: &Code, method: &crate::code::Method) -> Vec<u32> {
    let init = |instr: &Instr| match instr {
        Instr::New { class, .. } => Some(code.classes[*class as usize].init),
        _ => None,
    };
    method.code.iter().filter_map(init).collect()
}

pub(crate) fn each_expr(instr: &Instr, visit: &mut impl FnMut(&Expr)) {
    match instr {
        Instr::Set(_, e) | Instr::JumpUnless(e, _) | Instr::Get(_, e) => visit(e),
        Instr::Return(e) | Instr::Assert(e) | Instr::Throw(e) => visit(e),
        Instr::Call { object, args, deadline, .. } => {
            visit(object);
            args.iter().chain(deadline.as_deref()).for_each(visit);
        }
        Instr::New { args, component, .. } => args.iter().chain(component.as_deref()).for_each(visit),
        Instr::Await(guard) => guard.futures.iter().chain(&guard.holds).for_each(visit),
        Instr::Match(_, pattern, _) => pattern.walk(visit),
        Instr::Sleep(..) | Instr::Consume(..) | Instr::Deploy(_) => {}
        Instr::Jump(_) | Instr::Suspend | Instr::Next(..) | Instr::Try(..) | Instr::EndTry => {}
    }
}

/// A chain of calls: the classes of the methods between the first and the last one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chain {
    pub(crate) between: Vec<u32>,
    /// The class of the last method.
    pub(crate) last: u32,
}

/// The maximum number of chains of a method.
const MAX_CHAINS: usize = 10_000;

/// Returns all chains that begin with a method and whose intermediate methods are pairwise distinct (the paper's `Ch`),
/// or `None` if there are too many: then any method may be at the end of one.
pub(crate) fn chains(code: &Code, summaries: &[Summary], method: u32) -> Option<Vec<Chain>> {
    let mut chains = Vec::new();
    follow(code, summaries, method, &mut Vec::new(), &mut chains)?;
    Some(chains)
}

fn follow(code: &Code, summaries: &[Summary], at: u32, path: &mut Vec<u32>, chains: &mut Vec<Chain>) -> Option<()> {
    for &callee in &summaries[at as usize].calls {
        if chains.len() >= MAX_CHAINS {
            return None;
        }
        let class = |method: &u32| code.methods[*method as usize].class;
        chains.push(Chain { between: path.iter().map(class).collect(), last: class(&callee) });
        if !path.contains(&callee) {
            path.push(callee);
            follow(code, summaries, callee, path, chains)?;
            path.pop();
        }
    }
    Some(())
}
