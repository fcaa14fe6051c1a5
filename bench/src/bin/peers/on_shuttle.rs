//! Shuttle, with actors as its threads and mailboxes as its channels. Its depth-first search skips nothing.

use shuttle::scheduler::DfsScheduler;
use shuttle::sync::mpsc;
use shuttle::{Config, FailurePersistence, Runner, thread};
use whippet_bench::{Counts, Msg, ThreadTool, Workload, deliveries, execute};

#[derive(Clone)]
struct Address(mpsc::Sender<Msg<Address>>);

struct Shuttle;

impl ThreadTool for Shuttle {
    type Address = Address;
    type Inbox = mpsc::Receiver<Msg<Address>>;

    fn test() -> (Address, Self::Inbox) {
        let (sender, receiver) = mpsc::channel();
        (Address(sender), receiver)
    }

    fn spawn(actor: impl FnOnce(Address, Self::Inbox) + Send + 'static) -> Address {
        let (address, inbox) = Shuttle::test();
        let own = address.clone();
        thread::spawn(move || actor(own, inbox));
        address
    }

    fn send(to: &Address, message: Msg<Address>) {
        // A message to an actor that has ended is ignored, as if the actor had stopped.
        let _ = to.0.send(message);
    }

    fn take(inbox: &Self::Inbox) -> Msg<Address> {
        inbox.recv().expect("every actor holds its own address")
    }
}

/// Runs the first `most` orders of all steps.
pub(crate) fn run(workload: Workload, most: u64) -> Counts {
    let mut config = Config::new();
    config.failure_persistence = FailurePersistence::None;
    let runner = Runner::new(DfsScheduler::new(Some(most as usize), false), config);
    let executions = runner.run(move || execute::<Shuttle>(workload)) as u64;
    Counts { executions: Some(executions), states: None, transitions: deliveries(), complete: executions < most }
}
