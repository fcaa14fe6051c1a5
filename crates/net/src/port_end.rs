//! The end of a port that a rank holds.

use crate::communication::{Receiving, Sending};
use crate::op::{Op, Value};
use crate::port::Wants;
use crate::process::{Asked, ask};
use whippet_model::Name;

/// Sends to others' ports as its rank, and receives at its own.
#[derive(Copy, Clone, Debug)]
pub(crate) struct PortEnd {
    no: u32,
    /// The process that is this rank.
    process: Name,
}

impl PortEnd {
    /// The end of the port of that number, held by this process.
    pub(crate) fn new(no: u32, process: Name) -> PortEnd {
        PortEnd { no, process }
    }

    /// The number of the port, which is that of the rank.
    pub(crate) fn no(self) -> u32 {
        self.no
    }

    /// Sends to another rank's port. The text is what reports show of the value.
    pub(crate) async fn post<T: 'static>(self, port: u32, tag: u32, value: T, text: String) -> Sending {
        let value = Value::new(value, text);
        Sending::new(self.begin(Op::Post { port, from: self.no, tag, value }).await)
    }

    /// Receives at its own port.
    pub(crate) async fn ask<T>(self, wants: Wants) -> Receiving<T> {
        Receiving::new(self.begin(Op::Ask { port: self.no, wants }).await)
    }

    /// Messages of a rank are in order because one process sends and receives them.
    async fn begin(self, op: Op) -> (Name, u32) {
        let reply = ask(|link| {
            if link.process() != self.process {
                link.blame(format!(
                    "a process that rank {} created sends or receives in its place: let the rank itself do so",
                    self.no
                ));
            }
            Asked::Op(op)
        })
        .await;
        (self.process, reply.index)
    }
}
