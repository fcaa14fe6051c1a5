//! The table of scheduling points: every operation of tasks that can be a step, in one place.
//!
//! A row says what the operation touches of its object, what it waits for, and by which case of the lemma in
//! `merging.rs` it may be merged into another step. The kinds of events in traces and the table in `docs/tokio.md` come
//! from here. Debug builds check that nothing is merged without a case.
//!
//! Two operations are dependent if they touch the same part of the same object, unless both read it or both add to it.
//! In addition, each step reads what its poll has found not ready, and a task that waits for several objects reads the
//! item that it takes.

use crate::object::Part;
use whippet_model::{Access, EventKind};

/// The way in which an operation may be merged: a case of the lemma in `merging.rs`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Merge {
    /// It is always an event.
    Never,
    /// Case 1: completes a wait whose item is reserved for the task.
    Take,
    /// Case 2: adds in a way that commutes with other additions, and only enables.
    Add,
    /// Case 3: reads without waiting.
    Read,
    /// Case 4: closes an object by the only task that can.
    Close,
}

impl Merge {
    /// Returns the number of the case.
    #[must_use]
    pub fn case(self) -> Option<u32> {
        (self != Merge::Never).then_some(self as u32)
    }
}

/// A row of the table.
#[derive(Debug)]
pub struct Row {
    /// The kind of object.
    pub on: &'static str,
    /// The operation in counterexamples: "sends".
    pub verb: &'static str,
    /// The word between the type of a message and the object: "to".
    pub link: &'static str,
    /// The kind of event in traces.
    pub kind: EventKind,
    /// The parts of its object that the operation may touch.
    pub touches: &'static [(Access, Part)],
    /// The operation of a task that waits to perform it, and the reason for which that wait completes; `None` if the
    /// operation does not wait.
    pub waits: Option<Waits>,
    /// The way in which it may be merged.
    pub merge: Merge,
}

/// The wait before an operation.
#[derive(Debug)]
pub struct Waits {
    /// The operation in descriptions of blocked tasks, in place of the verb: "sending".
    pub verb: &'static str,
    /// The reason for which the wait completes: "a place in the channel".
    pub until: &'static str,
}

macro_rules! waits {
    // An empty text.
    ($none:literal) => {
        None
    };
    ($verb:literal $until:literal) => {
        Some(Waits { verb: $verb, until: $until })
    };
}

macro_rules! points {
    ($($name:ident: $on:literal, $verb:literal $link:literal, $kind:ident, [$($access:ident $part:ident),*], $($waits:literal)+, $merge:ident;)*) => {
        /// A scheduling point. Its [`Row`] describes it.
        #[derive(Copy, Clone, Debug, PartialEq, Eq)]
        pub enum Point {
            $(#[doc = concat!("“", $verb, "”, of ", $on, ".")] $name,)*
        }

        static TABLE: &[Row] = &[$(Row {
            on: $on,
            verb: $verb,
            link: $link,
            kind: EventKind::$kind,
            touches: &[$((Access::$access, Part::$part)),*],
            waits: waits!($($waits)+),
            merge: Merge::$merge,
        }),*];
    };
}

points! {
    // Tasks.
    Begins: "task", "begins" "", Life, [], "", Never;
    Ends: "task", "ends" "", Life, [Write Tail, Add Tail], "", Add;
    Aborts: "task", "aborts" "", Life, [], "", Never;
    IsCancelled: "task", "is cancelled" "", Life, [], "waiting for an abort" "an abort", Never;
    Joins: "task", "joins" "", Life, [], "joining" "the end of the task", Take;
    WaitsForTask: "task", "waits for" "", Life, [], "waiting for" "the end of the task", Take;
    LooksAtTask: "task", "checks" "", Step, [Read Tail], "", Never;
    ChecksThread: "thread", "checks" "", Step, [Read Tail], "", Never;
    TakesResult: "JoinSet", "takes a result of" "", Receive, [Read Tail], "waiting for a result of" "the end of a task", Never;
    LooksAtJoinSet: "JoinSet", "checks" "", Step, [Read Tail], "", Never;
    GoesOnAfterYielding: "task", "continues after yielding" "", Step, [], "yielding" "its turn", Never;
    ContinuesAfterYielding: "thread", "continues after yielding" "", Step, [], "yielding" "its turn", Never;
    IsWoken: "task", "is woken" "", Step, [], "waiting for a call of its waker" "a call of its waker", Never;
    IsPolled: "task", "is polled" "", Step, [], "waiting" "one of its waits", Never;
    HasToWait: "task", "has to wait" "", Step, [], "", Never;
    BeginsToSelect: "`select!`, `join!`", "begins to select" "", Step, [], "", Read;
    // Time.
    IsWokenByTimer: "timer", "is woken by a timer" "", Timer, [], "waiting for a timer" "its time", Never;
    LetsTimerFire: "timer", "lets a timer fire" "", Timer, [], "waiting for a timer" "its time", Never;
    TimerIsTooLate: "timer", "waits for a timer that does not fire: the test is over" "", Timer, [], "waiting for a timer" "its time", Never;
    ReadsClock: "clock", "reads the clock" "", Timer, [], "", Read;
    // Channels with one receiver.
    Sends: "mpsc", "sends" "to", Send,
        [Write Tail, Write Line, Read Free, Read Closed], "", Never;
    TriesToSend: "mpsc", "tries to send" "to", Send,
        [Write Tail, Write Line, Read Free, Read Closed], "", Never;
    GetsRoomAndSends: "mpsc", "gets a place and sends" "to", Send,
        [Write Tail, Read Free, Read Closed], "sending" "a place in the channel", Never;
    ReservesPlace: "mpsc", "reserves a place in" "", Step, [Write Line, Read Free, Read Closed], "", Never;
    TriesToReservePlace: "mpsc", "tries to reserve a place for" "to", Step, [Write Line, Read Free, Read Closed], "", Never;
    TriesToReservePlaces: "mpsc", "tries to reserve places for" "to", Step, [Write Line, Read Free, Read Closed], "", Never;
    GetsPlace: "mpsc", "gets a place in" "", Step, [Read Free, Read Closed], "waiting for a place in" "a place in the channel", Never;
    GivesBackPlace: "mpsc", "gives back a place in" "", Unlock, [Write Free, Read Closed], "", Never;
    StopsWaitingForRoom: "mpsc", "stops waiting for room in" "", Step,
        [Write Line, Write Free, Read Closed], "", Never;
    Receives: "mpsc", "receives" "from", Receive, [Write Free, Add Free, Read Tail, Read Closed], "receiving" "a message, or the end of all senders", Take;
    SeesEnd: "mpsc", "sees the end of" "", Step, [Read Tail, Write Free], "receiving from" "the end of all senders", Take;
    TriesToReceive: "mpsc", "tries to receive" "from", Receive,
        [Read Tail, Read Drops, Read Free, Write Free, Read Closed], "", Read;
    Closes: "mpsc", "closes" "", Step, [Write Closed, Read Tail, Write Free, Read Closed], "", Close;
    DropsRest: "mpsc", "drops what is left in" "", Step, [Read Tail, Write Free, Read Closed], "", Never;
    DropsSender: "mpsc, broadcast, watch", "drops a sender of" "", Step, [Add Drops], "", Add;
    ClonesSender: "mpsc, broadcast, watch", "clones a sender of" "", Step, [Add Drops], "", Never;
    MakesWeakSender: "mpsc, broadcast", "makes a weak sender of" "", Step, [Add Drops], "", Never;
    DropsWeakSender: "mpsc, broadcast", "drops a weak sender of" "", Step, [Add Drops], "", Never;
    UpgradesWeakSender: "mpsc, broadcast", "upgrades a weak sender of" "", Step, [Write Drops], "", Never;
    DropsReceiver: "broadcast, watch", "drops a receiver of" "", Step, [Add Members, Write Head], "", Add;
    ClonesReceiver: "broadcast, watch", "clones a receiver of" "", Step, [Add Members], "", Never;
    WaitsForEnd: "mpsc, oneshot, watch", "waits for the end of" "", Life, [], "waiting for the end of" "the close or drop of the other side", Never;
    LooksAtChannel: "mpsc, oneshot, broadcast, watch", "checks" "", Step,
        [Read Tail, Read Head, Read Drops, Read Members, Read Line, Read Free, Read Closed], "", Never;
    // Oneshot.
    OneshotSends: "oneshot", "sends" "to", Send, [Write Tail, Add Tail, Read Closed], "", Add;
    OneshotDropsSender: "oneshot", "drops the sender of" "", Step, [Write Tail, Add Tail], "", Add;
    OneshotReceives: "oneshot", "receives" "from", Receive, [Read Tail], "receiving" "the message, or the drop of the sender", Take;
    OneshotTriesToReceive: "oneshot", "tries to receive" "from", Receive, [Read Tail], "", Read;
    OneshotCloses: "oneshot", "closes" "", Step, [Write Closed, Read Tail], "", Close;
    // Broadcast and watch.
    Publishes: "broadcast, watch", "sends" "to", Send, [Write Tail, Read Members, Read Tail], "", Never;
    Changes: "watch", "changes" "in", Send, [Write Tail, Read Members, Read Tail], "", Never;
    Hears: "broadcast", "receives" "from", Receive, [Write Head, Read Tail], "receiving" "a value, or the end of all senders", Never;
    TriesToHear: "broadcast", "tries to receive" "from", Receive, [Write Head, Read Tail, Read Drops], "", Never;
    Subscribes: "broadcast, watch", "subscribes to" "", Step, [Write Members, Read Tail], "", Never;
    Reads: "watch", "reads" "", Receive, [Read Tail, Read Drops], "", Never;
    SeesChange: "watch", "sees a change of" "", Receive, [Read Tail], "waiting for a change of" "a new value, or the end of all senders", Never;
    // Permits and locks.
    BeginsToUseLock: "lock in a static", "begins to use a lock" "", Step, [Write Line, Write Free, Write Closed], "", Never;
    AsksForPermit: "Semaphore", "requests a permit of" "", Lock, [Write Line, Read Free, Read Closed], "", Never;
    AsksToLock: "Mutex", "requests" "", Lock, [Write Line, Read Free, Read Closed], "", Never;
    AsksToRead: "RwLock", "requests to read" "", Lock, [Write Line, Read Free, Read Closed], "", Never;
    AsksToWrite: "RwLock", "requests to write" "", Lock, [Write Line, Read Free, Read Closed], "", Never;
    AsksToInitialize: "OnceCell", "requests to initialize" "", Lock, [Write Line, Read Free, Read Closed], "", Never;
    RequestsLock: "std lock", "requests" "", Lock, [Write Line, Read Free, Read Closed], "", Never;
    RequestsToRead: "std lock", "requests to read" "", Lock, [Write Line, Read Free, Read Closed], "", Never;
    RequestsToWrite: "std lock", "requests to write" "", Lock, [Write Line, Read Free, Read Closed], "", Never;
    GetsPermit: "Semaphore", "acquires a permit of" "", Lock, [Read Free, Read Closed], "acquiring a permit of" "permits, in the order of the requests", Never;
    Gets: "lock", "acquires" "", Lock, [Read Free, Read Closed], "acquiring" "the lock, in the order of the requests", Never;
    StopsWaiting: "lock, Semaphore", "stops waiting for" "", Step, [Write Line, Write Free, Read Closed], "", Never;
    TriesToLock: "lock", "tries to lock" "", Lock, [Write Line, Read Free, Read Closed], "", Never;
    TriesToGetPermit: "Semaphore", "tries to acquire a permit of" "", Lock, [Write Line, Read Free, Read Closed], "", Never;
    LooksAtPermits: "lock, Semaphore", "checks" "", Lock, [Read Free, Read Line, Read Closed], "", Never;
    Unlocks: "lock", "unlocks" "", Unlock, [Write Free, Read Closed], "", Never;
    GoesOnReading: "RwLock", "downgrades to a reader of" "", Unlock, [Write Free, Read Closed], "", Never;
    ReturnsPermit: "Semaphore", "returns a permit of" "", Unlock, [Write Free, Read Closed], "", Never;
    GivesUpInitializing: "OnceCell", "gives up initializing" "", Unlock, [Write Free, Read Closed], "", Never;
    AddsPermits: "Semaphore", "adds permits to" "", Unlock, [Write Free, Read Closed], "", Never;
    ForgetsPermits: "Semaphore", "forgets permits of" "", Lock, [Write Free, Write Line], "", Never;
    ClosesPermits: "Semaphore", "closes" "", Step, [Write Closed], "", Never;
    Initializes: "OnceCell", "initializes" "", Step, [Write Closed], "", Never;
    SetsCell: "OnceCell", "sets" "", Step, [Write Line, Write Closed, Read Free, Read Closed], "", Never;
    // Notifications, barriers, cells.
    NotifiesOne: "Notify", "notifies one of" "", Send, [Write Tail], "", Never;
    NotifiesLast: "Notify", "notifies the last of" "", Send, [Write Tail], "", Never;
    NotifiesAll: "Notify", "notifies all of" "", Send, [Write Tail], "", Never;
    BeginsToListen: "Notify", "begins to listen to" "", Step, [Write Tail], "", Never;
    WaitsForNotify: "Notify", "waits for" "", Step, [Write Tail], "", Never;
    IsNotified: "Notify, Condvar", "is notified by" "", Receive, [Read Tail], "waiting for a notification of" "a notification", Never;
    StopsListening: "Notify", "stops listening to" "", Step, [Write Tail], "", Never;
    Arrives: "Barrier", "arrives at" "", Step, [Write Tail], "", Never;
    Passes: "Barrier", "passes" "", Step, [], "waiting at" "the last arrival", Never;
    SetsOnce: "SetOnce", "sets" "in", Step, [Write Tail, Read Tail], "", Never;
    WaitsForValue: "SetOnce", "waits for" "", Step, [], "waiting for" "the value", Never;
    LooksAtCell: "SetOnce, OnceCell", "checks" "", Step, [Read Tail, Read Closed, Read Line, Read Free], "", Never;
    BeginsToUse: "object in a static", "begins to use a" "", Step,
        [Write Tail, Write Line, Write Free, Write Closed, Write Members], "", Never;
    // The standard library, in crates that are hooked.
    Loads: "atomic", "loads an" "", Step, [], "", Never;
    Stores: "atomic", "stores in an" "", Step, [], "", Never;
    Swaps: "atomic", "swaps an" "", Step, [], "", Never;
    ComparesAndExchanges: "atomic", "compares and exchanges an" "", Step, [], "", Never;
    Updates: "atomic", "updates an" "", Step, [], "", Never;
    ChangesAtomic: "atomic", "changes an" "", Step, [], "", Never;
    ReadsOnceLock: "OnceLock", "reads a" "", Step, [], "", Never;
    SetsOnceLock: "OnceLock", "sets a" "", Step, [], "", Never;
    StartsWaiting: "Condvar", "starts waiting on" "", Step, [], "", Never;
    CondvarNotifiesOne: "Condvar", "notifies one of" "", Step, [], "", Never;
    CondvarNotifiesAll: "Condvar", "notifies all of" "", Step, [], "", Never;
    IsUnparked: "thread", "is unparked at" "", Step, [], "waiting to be unparked at" "a call of `unpark`", Never;
    Unparks: "thread", "unparks" "", Step, [Write Tail], "", Never;
}

impl Point {
    /// Returns its row of the table.
    #[must_use]
    #[inline]
    pub fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }
}

/// Returns the table as Markdown, for the documentation.
#[must_use]
pub fn table() -> String {
    let mut text = String::from("| object | operation | touches | waits for | merged |\n|---|---|---|---|---|\n");
    for row in TABLE {
        let list = |access: Access, verb: &str| {
            let parts: Vec<&str> =
                row.touches.iter().filter(|(a, _)| *a == access).map(|(_, part)| part.text()).collect();
            (!parts.is_empty()).then(|| format!("{verb} {}", parts.join(", ")))
        };
        let touches = [list(Access::Write, "writes"), list(Access::Add, "adds to"), list(Access::Read, "reads")];
        let touches: Vec<String> = touches.into_iter().flatten().collect();
        let merged = row.merge.case().map_or_else(String::new, |case| format!("case {case}"));
        let until = row.waits.as_ref().map_or("", |waits| waits.until);
        text += &format!("| {} | {} | {} | {until} | {merged} |\n", row.on, row.verb, touches.join("; "));
    }
    text
}
