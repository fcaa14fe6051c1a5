//! TraceForge, with actors as its threads and its `Bag` for unordered delivery.

use traceforge::thread::{self, ThreadId};
use traceforge::{Config, ConsType};
use whippet_bench::{Counts, Msg, ThreadTool, Workload, deliveries, execute};

struct TraceForge;

impl ThreadTool for TraceForge {
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

/// Runs all traces, or the first `most`.
pub(crate) fn run(workload: Workload, most: u64) -> Counts {
    let fifo = matches!(workload, Workload::Producers { fifo: true, .. });
    let config = Config::builder()
        .with_cons_type(if fifo { ConsType::FIFO } else { ConsType::Bag })
        .with_progress_report(usize::MAX)
        .with_max_iterations(most)
        .build();
    let stats = traceforge::verify(config, move || execute::<TraceForge>(workload));
    // TraceForge counts an execution that ends with waiting threads, such as the processes of the ring, as blocked.
    let executions = (stats.execs + stats.block) as u64;
    Counts { executions: Some(executions), states: None, transitions: deliveries(), complete: executions < most }
}
