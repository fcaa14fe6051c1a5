//! A machine that a person moves step by step, forward and back.
//!
//! A machine is not `Send`, so it lives in a thread of its own and gets requests through a channel. A request names the
//! whole way to a configuration. The thread undoes the steps that are not on it, executes the others, and describes
//! where it is: the steps so far, everything that can happen next, the races, the states of the actors. To describe a
//! choice it executes the choice and undoes it.
//!
//! All user code runs under the watchdog. If it does not return, the thread is abandoned, and the next request begins
//! with a new machine.

mod destination;
mod session;

pub use destination::{Configuration, Destination, WalkChoice, WalkError, WalkStep};

use crate::driver::control::Worker;
use crate::driver::erased::AnyProgram;
use crate::driver::threads;
use crate::driver::watchdog::{Doing, Stuck};
use crate::options::Options;
use session::answer;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};
use whippet_model::Program;

/// A machine that a person moves.
///
/// ```
/// use std::sync::Arc;
/// use whippet_actors::{ActorProgram, Inbox};
/// use whippet_search::{Destination, Options, Walker};
/// let program = ActorProgram::new("first come", |sys| {
///     let gate = sys.spawn_fn(async |inbox: &mut Inbox<u8>| {
///         let (first, second) = (inbox.receive().await, inbox.receive().await);
///         assert!(first < second, "2 came first");
///     });
///     sys.send(gate, 1);
///     sys.send(gate, 2);
/// });
/// let mut walker = Walker::new(Arc::new(program), &Options::default());
/// let passes = walker.go(Destination::end(&[])).unwrap();
/// assert!(passes.problems.is_empty());
///
/// // What if the other message came first?
/// let [[first, second]] = passes.races[..] else { panic!("one race") };
/// let (first, second) = (first as usize, second as usize);
/// let fails = walker.go(Destination::Reversed { steps: passes.steps, first, second }).unwrap();
/// assert_eq!(fails.problems[0].message, "2 came first");
/// ```
pub struct Walker {
    start: Box<dyn Fn() -> Running + Send>,
    running: Option<Running>,
    limit: Duration,
}

impl fmt::Debug for Walker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Walker").field("limit", &self.limit).finish_non_exhaustive()
    }
}

/// The time after which a choice that is only tried counts as one that does not return.
const TRIAL: Duration = Duration::from_secs(1);

/// No choice is being tried.
const NONE: u32 = u32::MAX;

/// The thread of a machine.
struct Running {
    requests: Sender<Request>,
    worker: Arc<Worker>,
    /// The choice that is being tried.
    trying: Arc<AtomicU32>,
    ended: Receiver<thread::Result<()>>,
}

struct Request {
    destination: Destination,
    /// The choices at the destination that do not return.
    avoid: Vec<u32>,
    answer: Sender<Result<Configuration, WalkError>>,
}

impl Walker {
    /// Creates a walker. The machine is created by the first request. The limits on steps and on the time of a handler
    /// apply.
    #[must_use]
    pub fn new<P: Program + Send + 'static>(program: Arc<P>, options: &Options) -> Walker {
        let limit = options.limits.handler;
        let options = options.clone();
        let program: Arc<dyn AnyProgram + Send> = program;
        Walker { start: Box::new(move || Running::start(program.clone(), options.clone())), running: None, limit }
    }

    /// Goes to a configuration and describes it.
    ///
    /// # Errors
    /// Returns an error if a step on the way is not possible, if user code does not return, or if the program cannot
    /// be executed.
    pub fn go(&mut self, destination: Destination) -> Result<Configuration, WalkError> {
        let mut avoid = Vec::new();
        loop {
            let running = self.running.get_or_insert_with(&self.start);
            let (answer, answered) = channel();
            let request = Request { destination: destination.clone(), avoid: avoid.clone(), answer };
            // If the thread has ended, the answer says so.
            let _ = running.requests.send(request);
            match running.wait(&answered, self.limit) {
                Ok(configuration) => return configuration,
                Err(Lost::Trying(choice)) => avoid.push(choice),
                Err(Lost::Stuck(stuck)) => {
                    self.running = None;
                    return Err(WalkError::Stuck(not_returned(&stuck, self.limit)));
                }
                Err(Lost::Panicked(panic)) => {
                    self.running = None;
                    std::panic::resume_unwind(panic);
                }
            }
            self.running = None;
        }
    }
}

/// The reason why a thread gave no answer.
enum Lost {
    Trying(u32),
    Stuck(Stuck),
    Panicked(Box<dyn std::any::Any + Send>),
}

impl Running {
    fn start(program: Arc<dyn AnyProgram + Send>, options: Options) -> Running {
        let (requests, asked) = channel::<Request>();
        let worker = Arc::new(Worker::new(options.limits.steps));
        let trying = Arc::new(AtomicU32::new(NONE));
        let ended = {
            let (worker, trying) = (worker.clone(), trying.clone());
            threads::start(&options.clone(), move || {
                let mut walk = None;
                for request in asked {
                    let result = answer(&*program, &options, &worker, &trying, &mut walk, &request);
                    // The receiver is gone if the walker gave up waiting.
                    let _ = request.answer.send(result);
                }
            })
        };
        Running { requests, worker, trying, ended }
    }

    fn wait<T>(&self, answered: &Receiver<T>, limit: Duration) -> Result<T, Lost> {
        let tick = (limit.min(TRIAL) / 8).max(Duration::from_millis(1));
        loop {
            match answered.recv_timeout(tick) {
                Ok(answer) => return Ok(answer),
                Err(RecvTimeoutError::Disconnected) => match self.ended.recv() {
                    Ok(Err(panic)) => return Err(Lost::Panicked(panic)),
                    _ => unreachable!("a thread that ends without an answer has panicked"),
                },
                Err(RecvTimeoutError::Timeout) => {}
            }
            let trying = self.trying.load(Ordering::Relaxed);
            let limit = if trying == NONE { limit } else { limit.min(TRIAL) };
            match self.worker.stuck(Instant::now(), limit) {
                Some(_) if trying != NONE => return Err(Lost::Trying(trying)),
                Some(stuck) => return Err(Lost::Stuck(stuck)),
                None => {}
            }
        }
    }
}

/// Says which code did not return.
fn not_returned(stuck: &Stuck, limit: Duration) -> String {
    let code = match stuck.doing {
        Doing::SettingUp => return format!("the setup of the program did not return within {limit:?}"),
        Doing::Stepping => return format!("step {} did not return within {limit:?}", stuck.path.len()),
        Doing::Asking => "`accepts` or a receive filter",
        Doing::Ending => "a check at the end",
        Doing::Rewinding => "a destructor",
        Doing::Comparing => "`Hash` of a value",
        Doing::Describing => "`Debug` of a value",
    };
    format!("after step {}, {code} did not return within {limit:?}", stuck.path.len())
}
