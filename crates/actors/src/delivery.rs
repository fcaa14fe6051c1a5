//! The order of delivery.

use std::fmt;
use std::str::FromStr;

/// In which order messages may be delivered.
///
/// Replies to calls are never held back by other messages. A message that its receiver refuses is passed
/// over, as a selective receive does.
///
/// ```
/// use whippet_actors::Delivery;
/// assert_eq!("fifo".parse(), Ok(Delivery::Fifo));
/// assert!("lifo".parse::<Delivery>().unwrap_err().contains("unordered, fifo, causal"));
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, Default)]
pub enum Delivery {
    /// Any order, as the papers have it.
    #[default]
    Unordered,
    /// Two messages of one sender to one receiver stay in order.
    Fifo,
    /// Two messages to one receiver stay in order if the sending of one happened before that of the other.
    Causal,
}

impl Delivery {
    /// All of them.
    ///
    /// ```
    /// use whippet::Delivery;
    /// for delivery in Delivery::ALL {
    ///     assert_eq!(delivery.to_string().parse(), Ok(delivery));
    /// }
    /// ```
    pub const ALL: [Delivery; 3] = [Delivery::Unordered, Delivery::Fifo, Delivery::Causal];
}

impl fmt::Display for Delivery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Delivery::Unordered => "unordered",
            Delivery::Fifo => "fifo",
            Delivery::Causal => "causal",
        })
    }
}

impl FromStr for Delivery {
    type Err = String;

    fn from_str(text: &str) -> Result<Delivery, String> {
        Delivery::ALL
            .into_iter()
            .find(|d| d.to_string() == text)
            .ok_or_else(|| format!("there is no delivery `{text}`: choose unordered, fifo, causal"))
    }
}
