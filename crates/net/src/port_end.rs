//! The handle through which a rank uses ports.

use crate::communication::{Receiving, Sending};
use crate::op::{Op, Value};
use crate::port::Wants;
use crate::process::{Asked, ask};
use whippet_model::Name;

/// A rank's handle, which sends to the ports of other ranks and receives at its own.
#[derive(Copy, Clone, Debug)]
pub(crate) struct PortEnd {
    no: u32,
    /// The process that runs this rank.
    process: Name,
}

impl PortEnd {
    /// Creates the handle of the port with this number, owned by this process.
    pub(crate) fn new(no: u32, process: Name) -> PortEnd {
        PortEnd { no, process }
    }

    /// Returns the number of the port, which is the number of the rank.
    pub(crate) fn no(self) -> u32 {
        self.no
    }

    /// Starts a send to another rank's port. `text` represents the value in reports.
    pub(crate) async fn post<T: 'static>(self, port: u32, tag: u32, value: T, text: String) -> Sending {
        let value = Value::new(value, text);
        Sending::new(self.begin(Op::Post { port, from: self.no, tag, value }).await)
    }

    /// Starts a receive at the rank's own port.
    pub(crate) async fn ask<T>(self, wants: Wants) -> Receiving<T> {
        Receiving::new(self.begin(Op::Ask { port: self.no, wants }).await)
    }

    /// Executes an operation and checks that the rank's own process requested it: the order of messages is only defined
    /// if one process sends and receives them all.
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
