//! The delivery order of messages.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

/// The order in which messages may be delivered.
///
/// Other messages never delay the reply to a call. A message that its receiver refuses does not delay later ones, as
/// with a selective receive.
///
/// ```
/// use whippet_actors::Delivery;
/// assert_eq!("fifo".parse(), Ok(Delivery::Fifo));
/// assert!("lifo".parse::<Delivery>().unwrap_err().to_string().contains("unordered, fifo or causal"));
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Delivery {
    /// Any order, as in the papers.
    #[default]
    Unordered,
    /// Messages from one sender to one receiver are delivered in the order they were sent.
    Fifo,
    /// Two messages to one receiver are delivered in the order they were sent if one send happened before the other.
    /// An actor that was just created knows what its creator had sent until then; what either of them sends afterwards is
    /// unordered.
    Causal,
}

impl Delivery {
    /// All delivery orders.
    ///
    /// ```
    /// use whippet::Delivery;
    /// for &delivery in Delivery::ALL {
    ///     assert_eq!(delivery.to_string().parse(), Ok(delivery));
    /// }
    /// ```
    pub const ALL: &[Delivery] = &[Delivery::Unordered, Delivery::Fifo, Delivery::Causal];
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

/// The error for a text that names no delivery order.
///
/// ```
/// use whippet::{Delivery, ParseDeliveryError};
/// let error: ParseDeliveryError = "lifo".parse::<Delivery>().unwrap_err();
/// assert_eq!(error.to_string(), "unknown delivery `lifo`; expected unordered, fifo or causal");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseDeliveryError {
    text: String,
}

impl fmt::Display for ParseDeliveryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown delivery `{}`; expected unordered, fifo or causal", self.text)
    }
}

impl Error for ParseDeliveryError {}

impl FromStr for Delivery {
    type Err = ParseDeliveryError;

    fn from_str(text: &str) -> Result<Delivery, ParseDeliveryError> {
        Delivery::ALL
            .iter()
            .copied()
            .find(|d| d.to_string() == text)
            .ok_or_else(|| ParseDeliveryError { text: text.to_owned() })
    }
}
