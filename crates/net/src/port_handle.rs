//! The handle through which a rank uses ports.

use crate::collective::CollectiveCall;
use crate::communication::{Receiving, Sending};
use crate::op::{Envelope, Op, Payload};
use crate::port::ReceiveFilter;
use crate::process::{ProcessCall, call};
use std::rc::Rc;
use whippet_model::Name;

/// The mode of a send.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct SendMode {
    /// The send is complete from the beginning.
    pub(crate) buffered: bool,
    /// It is an error if the receive has not been started before.
    pub(crate) ready: bool,
}

/// A rank's handle, which sends to the ports of other ranks and receives at its own.
#[derive(Copy, Clone, Debug)]
pub(crate) struct PortHandle {
    no: u32,
    /// The process that runs this rank.
    process: Name,
}

impl PortHandle {
    /// Creates the handle of the port with this number, owned by this process.
    pub(crate) fn new(no: u32, process: Name) -> PortHandle {
        PortHandle { no, process }
    }

    /// Returns the number of the port, which is the number of the rank.
    pub(crate) fn no(self) -> u32 {
        self.no
    }

    /// Starts a send to another rank's port.
    pub(crate) async fn send(self, port: u32, envelope: Envelope, value: Payload, mode: SendMode) -> Sending {
        let SendMode { buffered, ready } = mode;
        Sending::new(self.start_as_rank(Op::PortSend { port, from: self.no, envelope, value, buffered, ready }).await)
    }

    /// Joins a collective operation. Returns the process and the index of the operation, which identify it.
    pub(crate) async fn arrive(self, call: CollectiveCall, value: Option<Payload>) -> (Name, u32) {
        self.start_as_rank(Op::Arrive { call: Rc::new(call), value }).await
    }

    /// Starts a receive at the rank's own port.
    pub(crate) async fn receive<T>(self, filter: ReceiveFilter) -> Receiving<T> {
        Receiving::new(self.start_as_rank(Op::PortReceive { port: self.no, filter, is_probe: false }).await)
    }

    /// Starts to look for a message at the rank's own port, without receiving it.
    pub(crate) async fn probe<T>(self, filter: ReceiveFilter) -> Receiving<T> {
        Receiving::new(self.start_as_rank(Op::PortReceive { port: self.no, filter, is_probe: true }).await)
    }

    /// Executes an operation and checks that the rank's own process requested it: the order of messages is only defined
    /// if one process sends and receives them all.
    async fn start_as_rank(self, op: Op) -> (Name, u32) {
        let reply = call(|link| {
            if link.process() != self.process {
                link.report_misuse(format!(
                    "a process created by rank {} sends or receives as that rank: only the rank itself may do so",
                    self.no
                ));
            }
            ProcessCall::Op(op)
        })
        .await;
        (self.process, reply.index)
    }
}
