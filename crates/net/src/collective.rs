//! Collective operations: which members of a communicator have joined which operation.
//!
//! The k-th collective call of each member of a communicator belongs to the same operation. Joining it is a step that
//! conflicts with no other, and the call is complete for a member when all members that it needs have joined. Which
//! those are depends on the operation: a root leaves a broadcast without waiting, the others need the root. So a
//! collective operation adds no traces.
//!
//! Calls that do not match (another operation, root, operator, type or count) never complete, and are reported when the
//! execution ends.

use rustc_hash::FxHashMap;
use std::fmt;
use std::rc::Rc;
use whippet_model::Name;

/// The properties of a collective call that must be the same for all members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Signature {
    /// The name of the operation.
    pub(crate) operation: &'static str,
    /// The member that is the root.
    pub(crate) root: Option<u32>,
    /// The name of the operator, if it has one that can be compared.
    pub(crate) operator: Option<String>,
    /// The type of the values.
    pub(crate) value_type: &'static str,
    /// The number of values, if it is known and must be the same for all members.
    pub(crate) count: Option<usize>,
}

impl Signature {
    /// Returns `true` if the two calls can be calls of one operation. Operators and counts that are not known match all.
    pub(crate) fn matches(&self, other: &Signature) -> bool {
        fn same<T: PartialEq>(a: Option<&T>, b: Option<&T>) -> bool {
            a.zip(b).is_none_or(|(a, b)| a == b)
        }
        (self.operation, self.root, self.value_type) == (other.operation, other.root, other.value_type)
            && same(self.operator.as_ref(), other.operator.as_ref())
            && same(self.count.as_ref(), other.count.as_ref())
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut details: Vec<String> = self.root.iter().map(|root| format!("root {root}")).collect();
        details.extend(self.operator.clone());
        match (self.value_type, self.count) {
            ("()", _) => {}
            (of, Some(count)) => details.push(format!("{count} values in {of}")),
            (of, None) => details.push(of.to_string()),
        }
        write!(f, "{}", self.operation)?;
        if details.is_empty() { Ok(()) } else { write!(f, "({})", details.join(", ")) }
    }
}

/// A call of a collective operation by one member of a communicator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CollectiveCall {
    pub(crate) communicator: Name,
    /// The number of the member that calls.
    pub(crate) member: u32,
    /// The ranks that are the members.
    pub(crate) members: Rc<[u32]>,
    /// The members that must have joined before the call is complete.
    pub(crate) needs: Vec<u32>,
    /// The members whose values the call returns; they are among those that it needs.
    pub(crate) reads: Vec<u32>,
    pub(crate) signature: Signature,
    /// The location of the call in the user's code.
    pub(crate) place: String,
}

/// The steps in which members of communicators joined collective operations, in order.
#[derive(Default)]
pub(crate) struct Arrivals(FxHashMap<(Name, u32), Vec<u32>>);

impl Arrivals {
    /// Returns the steps in which a member joined.
    pub(crate) fn of(&self, communicator: Name, member: u32) -> &[u32] {
        self.0.get(&(communicator, member)).map_or(&[], |steps| steps)
    }

    pub(crate) fn push(&mut self, call: &CollectiveCall, step: u32) {
        self.0.entry((call.communicator, call.member)).or_default().push(step);
    }

    pub(crate) fn pop(&mut self, call: &CollectiveCall) {
        self.0.get_mut(&(call.communicator, call.member)).and_then(Vec::pop).expect("internal error: it had joined");
    }
}
