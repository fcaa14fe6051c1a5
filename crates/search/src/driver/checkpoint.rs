//! Checkpoints: the state of a search as a value, from which another process can continue it.
//!
//! The thread that waits for a search asks for a [`Checkpoint`] every few seconds: it sets a flag. The workers of a search
//! that can be saved look at the flag between two steps. They stop, say what is [open](Open), and the last one combines
//! this with the counters and the problems found. Each execution is then either counted or below something open, so a
//! search that continues from the checkpoint ends with the same result as one that was never interrupted. The
//! waiting thread gives the checkpoint to the [`Checkpoints`] of the observer.
//!
//! A search that is interrupted, or at its limit on time, stops only after its state has been saved.

use crate::driver::control::{Control, PathStep, lock};
use crate::driver::explore::TICK;
use crate::driver::findings::{Found, Key};
use crate::driver::parts::PartTree;
use crate::driver::weights::Weights;
use crate::reductions::optimal::wakeup::saved::SavedTrees;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use whippet_model::{Algorithm, Counters, Estimate, LimitHit};

/// The version of the format of checkpoints.
pub(crate) const VERSION: u32 = 1;

/// The time that a stop waits for the search to be saved. A step that takes longer is not waited for.
const PATIENCE: Duration = Duration::from_secs(3);

/// What remains to be done.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Open {
    /// Parts that are independent of each other.
    Parts(PartTree),
    /// The state of a depth-first search with wakeup trees or source sets.
    Trees(SavedTrees),
}

/// The state of a search between two steps.
///
/// A checkpoint belongs to a program, to the executable that made it, and to the options of its search; the caller has
/// to compare these. A search that continues from a checkpoint that does not fit reports an error.
///
/// ```
/// use whippet_search::Checkpoint;
/// /// Returns the executions per second so far.
/// fn speed(checkpoint: &Checkpoint) -> f64 {
///     checkpoint.counters().executions as f64 / checkpoint.elapsed().as_secs_f64()
/// }
/// # let text = r#"{"version": 1, "counters": {"executions": 30, "blocked": 0, "transitions": 0, "handler_runs": 0,
/// #     "depth": 0, "problems": 0}, "weights": {"part": 0.0, "inverses": 0.0}, "elapsed": {"secs": 2, "nanos": 0},
/// #     "found": [], "dropped": [], "notes": [], "may_miss": false, "too_long": false,
/// #     "open": {"parts": {"steps": [], "parts": []}}}"#;
/// let checkpoint = Checkpoint::from_json(text).unwrap();
/// assert_eq!(speed(&checkpoint), 15.0);
/// assert_eq!(speed(&Checkpoint::from_json(&checkpoint.to_json()).unwrap()), 15.0);
/// ```
#[derive(Clone, Debug)]
pub struct Checkpoint(pub(crate) Arc<SearchState>);

/// The contents of a checkpoint.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SearchState {
    pub(crate) version: u32,
    pub(crate) counters: Counters,
    pub(crate) weights: Weights,
    pub(crate) elapsed: Duration,
    pub(crate) found: Vec<Found>,
    pub(crate) dropped: Vec<Key>,
    pub(crate) first: Option<Vec<PathStep>>,
    pub(crate) notes: Vec<String>,
    pub(crate) algorithm: Option<Algorithm>,
    pub(crate) may_miss: bool,
    /// Set if an execution was too long.
    pub(crate) too_long: bool,
    pub(crate) unstable: Option<u64>,
    pub(crate) estimate: Option<Estimate>,
    pub(crate) open: Open,
}

/// The text of a checkpoint cannot be read.
///
/// ```
/// use whippet_search::Checkpoint;
/// let error = Checkpoint::from_json("{}").unwrap_err();
/// assert!(error.to_string().starts_with("not a checkpoint: "));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The text is not a checkpoint, or it is damaged.
    #[error("not a checkpoint: {0}")]
    Malformed(String),
    /// Another version of this crate wrote it.
    #[error("a checkpoint of version {0}; this version of Whippet reads version {VERSION}")]
    Version(u32),
}

impl Checkpoint {
    pub(crate) fn new(state: SearchState) -> Checkpoint {
        Checkpoint(Arc::new(state))
    }

    /// Returns the text of the checkpoint.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(&*self.0).expect("all keys are strings")
    }

    /// Reads the text of a checkpoint.
    pub fn from_json(text: &str) -> Result<Checkpoint, CheckpointError> {
        #[derive(Deserialize)]
        struct Head {
            version: u32,
        }
        let malformed = |why: serde_json::Error| CheckpointError::Malformed(why.to_string());
        let Head { version } = serde_json::from_str(text).map_err(malformed)?;
        if version != VERSION {
            return Err(CheckpointError::Version(version));
        }
        serde_json::from_str(text).map(Checkpoint::new).map_err(malformed)
    }

    /// Returns the counters of the search at that time.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.0.counters
    }

    /// Returns the time that the search had taken, in all processes together.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.0.elapsed
    }
}

/// The place to which a search saves its state, and from which it continues.
///
/// ```
/// use std::sync::{Arc, Mutex};
/// use std::time::Duration;
/// use whippet_search::{Checkpoint, Checkpoints, Observer, Options, Reduction, explore, toy::Program};
///
/// /// Continues from a checkpoint, and keeps the newest one.
/// #[derive(Debug, Default)]
/// struct Keeper { begin: Option<Checkpoint>, newest: Mutex<Option<String>> }
/// impl Checkpoints for Keeper {
///     fn begin(&self) -> Option<Checkpoint> { self.begin.clone() }
///     fn interval(&self) -> Duration { Duration::ZERO }
///     fn save(&self, checkpoint: &Checkpoint) { *self.newest.lock().unwrap() = Some(checkpoint.to_json()); }
///     fn discard(&self) { *self.newest.lock().unwrap() = None; }
/// }
/// struct Watcher(Arc<Keeper>);
/// impl Observer for Watcher {
///     fn checkpoints(&self) -> Option<Arc<dyn Checkpoints>> { Some(self.0.clone()) }
///     fn interrupted(&self) -> bool { true }
/// }
///
/// // Twelve messages to one actor: 479,001,600 orders.
/// let program = Arc::new((0..12).fold(Program::new(1), |program, n| program.main(0, n)));
/// let options = Options::new(Reduction::Exhaustive);
/// let keeper = Arc::new(Keeper::default());
/// let verdict = explore(program.clone(), &options, &Watcher(keeper.clone())).unwrap();
/// assert!(!verdict.complete, "it was interrupted");
/// let newest = keeper.newest.lock().unwrap().take().unwrap();
/// let begin = Checkpoint::from_json(&newest).unwrap();
/// let before = begin.counters().executions;
///
/// let keeper = Arc::new(Keeper { begin: Some(begin), ..Keeper::default() });
/// let verdict = explore(program, &options, &Watcher(keeper)).unwrap();
/// assert!(verdict.counters.executions > before, "it went on from there");
/// ```
pub trait Checkpoints: Send + Sync + fmt::Debug {
    /// Returns the state from which the search continues, or `None` if it begins anew. Called once, before the search.
    fn begin(&self) -> Option<Checkpoint>;

    /// Returns the minimal time between two checkpoints. Called after each checkpoint.
    fn interval(&self) -> Duration;

    /// Saves a state. It replaces the previous one.
    fn save(&self, checkpoint: &Checkpoint);

    /// Forgets what was saved, because the search had to start again and can no longer be saved.
    fn discard(&self) {}

    /// Returns the number of times that the workers may ask if the search is to be saved. Then it is saved, and stops.
    /// This interrupts searches at exact places, in tests.
    #[doc(hidden)]
    fn stop_after(&self) -> Option<u64> {
        None
    }
}

/// The values of [`Saving::request`].
const NOTHING: u8 = 0;
const REQUESTED: u8 = 1;
const COUNTING: u8 = 2;

/// The state shared by the workers of a search and the thread that saves it.
#[derive(Debug, Default)]
pub(crate) struct Saving {
    /// Set if the search is to be saved, or continues.
    wanted: bool,
    /// The time between two saves at the beginning.
    pace: Option<Duration>,
    /// Set while a search runs that can be saved.
    able: AtomicBool,
    /// [`REQUESTED`] while the workers are asked for what is open.
    request: AtomicU8,
    /// The number of times that workers may still look at `request`, while it is [`COUNTING`].
    left: AtomicU64,
    /// The reason to stop as soon as the search has been saved, and the time since when there is one.
    stop: Mutex<Option<(LimitHit, Instant)>>,
    /// The newest state, until it is given to the observer.
    ready: Mutex<Option<Checkpoint>>,
    /// The work with which the search begins.
    begin: Mutex<Option<Open>>,
}

impl Saving {
    /// Creates the state for a search that begins with this work.
    pub(crate) fn new(begin: Option<Open>, checkpoints: &dyn Checkpoints) -> Saving {
        let left = AtomicU64::new(checkpoints.stop_after().unwrap_or(0));
        let pace = checkpoints.interval();
        Saving { wanted: true, pace: Some(pace), begin: Mutex::new(begin), left, ..Saving::default() }
    }

    /// Returns the longest time for which the waiting thread may sleep.
    pub(crate) fn pace(&self) -> Duration {
        self.pace.map_or(TICK, |pace| pace.max(Duration::from_millis(10)))
    }

    /// Returns `true` if the search is to be saved, or continues.
    pub(crate) fn is_wanted(&self) -> bool {
        self.wanted
    }

    /// Returns `true` if the workers are to say what is open.
    #[inline]
    pub(crate) fn is_requested(&self) -> bool {
        self.request.load(Ordering::Relaxed) != NOTHING && self.is_due()
    }

    #[cold]
    fn is_due(&self) -> bool {
        if self.request.load(Ordering::Relaxed) == COUNTING && self.left.fetch_sub(1, Ordering::Relaxed) == 1 {
            *lock(&self.stop) = Some((LimitHit::Interrupted, Instant::now()));
            self.request.store(REQUESTED, Ordering::Relaxed);
        }
        self.request.load(Ordering::Relaxed) == REQUESTED
    }

    /// Begins a search that can be saved. Returns the work from which it continues.
    pub(crate) fn begin(&self) -> Option<Open> {
        let open = lock(&self.begin).take();
        self.able.store(self.wanted, Ordering::Release);
        if self.left.load(Ordering::Relaxed) > 0 {
            self.request.store(COUNTING, Ordering::Relaxed);
        }
        open
    }

    /// Returns `true` if there is work that no search has taken up.
    pub(crate) fn has_work(&self) -> bool {
        lock(&self.begin).is_some()
    }

    /// Forgets the work that no search has taken up, and what has not been saved yet.
    pub(crate) fn forget(&self) {
        *lock(&self.begin) = None;
        *lock(&self.ready) = None;
    }

    /// Ends a search that can be saved.
    pub(crate) fn end(&self) {
        self.able.store(false, Ordering::Release);
        self.request.store(NOTHING, Ordering::Relaxed);
    }

    /// Asks the workers to say what is open, if they can.
    fn request(&self) -> bool {
        let able = self.able.load(Ordering::Acquire);
        if able {
            self.request.store(REQUESTED, Ordering::Relaxed);
        }
        able
    }

    /// Returns `true` if the search is going to stop as soon as it has been saved.
    pub(crate) fn is_stopping(&self) -> bool {
        lock(&self.stop).is_some()
    }
}

impl Control {
    /// Stores the state of the search, in which all workers have stopped and published their counters.
    pub(crate) fn save(&self, open: Open) {
        // Another process does not know what was learnt about the dependence of the program's steps.
        if !self.has_refinements() {
            *lock(&self.saving.ready) = Some(Checkpoint::new(self.state(open)));
        }
        self.saving.request.store(NOTHING, Ordering::Relaxed);
        if let Some((why, _)) = lock(&self.saving.stop).take() {
            self.stop(why);
        }
    }

    /// Makes all workers stop: after the search has been saved, if it can be saved soon.
    pub(crate) fn stop_when_saved(&self, why: LimitHit) {
        if self.stopped().is_some() {
            return self.stop(why);
        }
        let since = lock(&self.saving.stop).map(|(_, since)| since);
        match since {
            None if self.saving.request() => *lock(&self.saving.stop) = Some((why, Instant::now())),
            Some(since) if since.elapsed() < PATIENCE && self.saving.able.load(Ordering::Acquire) => {}
            _ => self.stop(why),
        }
    }
}

/// Saves a search every few seconds, on behalf of the thread that waits for it.
pub(crate) struct Saver {
    checkpoints: Option<Arc<dyn Checkpoints>>,
    /// Set if the search learnt something that makes its checkpoints useless.
    discarded: bool,
    last: Instant,
    interval: Duration,
}

impl Saver {
    pub(crate) fn new(checkpoints: Option<Arc<dyn Checkpoints>>) -> Saver {
        let interval = checkpoints.as_ref().map_or(Duration::ZERO, |checkpoints| checkpoints.interval());
        Saver { checkpoints, discarded: false, last: Instant::now(), interval }
    }

    /// Gives a new state to the observer, and asks for the next one when it is due.
    pub(crate) fn tick(&mut self, control: &Control) {
        let Some(checkpoints) = &self.checkpoints else { return };
        if control.has_refinements() && !std::mem::replace(&mut self.discarded, true) {
            checkpoints.discard();
        }
        let ready = lock(&control.saving.ready).take();
        if let Some(checkpoint) = ready {
            checkpoints.save(&checkpoint);
            (self.last, self.interval) = (Instant::now(), checkpoints.interval());
        } else if self.last.elapsed() >= self.interval {
            control.saving.request();
        }
    }

    /// Gives the last state to the observer, after the search.
    pub(crate) fn finish(&self, control: &Control) {
        if let (Some(checkpoints), Some(checkpoint)) = (&self.checkpoints, lock(&control.saving.ready).take()) {
            checkpoints.save(&checkpoint);
        }
    }
}
