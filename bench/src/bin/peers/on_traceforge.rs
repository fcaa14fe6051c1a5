//! TraceForge: actors are its threads; unordered delivery is its `Bag`.

use traceforge::thread::{self, ThreadId};
use traceforge::{Config, ConsType};
use whippet_bench::{Counts, Msg, Threads, Workload, deliveries, execute};

struct TraceForge;

impl Threads for TraceForge {
    type Address = ThreadId;
    type Inbox = ();

    fn test() -> (ThreadId, ()) {
        (thread::current_id(), ())
    }

    fn spawn(actor: impl FnOnce(ThreadId, ()) + Send + 'static) -> ThreadId {
        thread::spawn(move || actor(thread::current_id(), ())).thread().id()
    }

    fn send(to: &ThreadId, message: Msg<ThreadId>) {
        traceforge::send_msg(*to, message);
    }

    fn take((): &()) -> Msg<ThreadId> {
        traceforge::recv_msg_block()
    }
}

/// All traces, or the first `most`.
pub(crate) fn run(workload: Workload, most: u64) -> Counts {
    let fifo = matches!(workload, Workload::Producers { fifo: true, .. });
    let config = Config::builder()
        .with_cons_type(if fifo { ConsType::FIFO } else { ConsType::Bag })
        .with_progress_report(usize::MAX)
        .with_max_iterations(most)
        .build();
    let stats = traceforge::verify(config, move || execute::<TraceForge>(workload));
    // An execution that ends with somebody waiting, as the processes of the ring do, counts as blocked there.
    let executions = (stats.execs + stats.block) as u64;
    Counts { executions: Some(executions), states: None, transitions: deliveries(), complete: executions < most }
}
