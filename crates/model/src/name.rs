//! Stable names.
//!
//! A message is named by the message that was being handled when it was sent, and by its number among the sends of
//! that handler run. An actor is named in the same way by its creation. Equivalent executions therefore give the same
//! names to the same things, and a name has the same meaning on every machine of a program. Names are hashes of these
//! causal paths, so comparing them needs no table.

use crate::Branch;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::borrow::Cow;
use std::fmt;

/// The stable name of a message, an actor, a process, a task or an event.
///
/// ```
/// use whippet_model::Name;
/// let boot = Name::ROOT.child(0);
/// assert_eq!(boot.child(3), Name::ROOT.child(0).child(3));
/// assert_ne!(boot.child(3), boot.child(4));
/// assert_eq!(boot.to_string().parse::<Name>().unwrap(), boot);
/// let json = serde_json::to_string(&boot).unwrap();
/// assert_eq!(serde_json::from_str::<Name>(&json).unwrap(), boot);
/// ```
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(pub u64);

impl Name {
    /// The name of the program itself: the parent of everything created by the test's set-up and body.
    pub const ROOT: Name = Name(0x5748_4950_5045_5401);

    /// Returns the name of the `k`-th item created by this one.
    #[inline]
    #[must_use]
    pub fn child(self, k: u32) -> Name {
        self.mixed(u64::from(k) + 1)
    }

    /// The object of steps that are possible only if no other step is: they write it, and all others add to it.
    #[doc(hidden)]
    pub const IDLE: Name = Name(0x434c_4f43_4b00_0003);

    /// Returns the name of this thread's event that took the given branch. It differs from the names of all children.
    ///
    /// ```
    /// use whippet_model::{Branch, Name};
    /// let thread = Name::ROOT.child(0);
    /// assert_ne!(thread.going(Branch(1)), thread.child(0));
    /// ```
    #[inline]
    #[must_use]
    pub fn going(self, branch: Branch) -> Name {
        self.mixed(0xB2A_9C4).mixed(branch.0)
    }

    /// Returns this name combined with a number, for anything that is not a plain child.
    ///
    /// ```
    /// use whippet_model::Name;
    /// let actor = Name::ROOT.child(2);
    /// let queue = actor.mixed(7);
    /// assert!(queue != actor && queue != actor.mixed(8));
    /// ```
    #[inline]
    #[must_use]
    pub fn mixed(self, salt: u64) -> Name {
        // One round of a 128-bit multiply and fold: both halves depend on all bits of both inputs.
        let product = u128::from(self.0 ^ salt.wrapping_mul(0x9E37_79B9_7F4A_7C15))
            .wrapping_mul(0xA076_1D64_78BD_642F_E703_7ED1_A0B4_28DB);
        Name((product as u64) ^ ((product >> 64) as u64))
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl std::str::FromStr for Name {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Name, Self::Err> {
        u64::from_str_radix(text, 16).map(Name)
    }
}

impl Serialize for Name {
    /// Writes the text that [`Display`](fmt::Display) shows.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Name, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        text.parse()
            .map_err(|_| de::Error::invalid_value(de::Unexpected::Str(&text), &"a name of 16 hexadecimal digits"))
    }
}
