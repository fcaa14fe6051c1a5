//! Virtual time: instants, sleeps, timeouts and intervals.

use std::fmt;
use std::future::{Future, IntoFuture, poll_fn};
use std::ops::{Add, AddAssign, Sub, SubAssign};
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use whippet_runtime::Point;
use whippet_runtime::{Action, Place, WaitTarget, Waiter};

pub use std::time::Duration;

pub mod error {
    use std::fmt;
    #[derive(Debug, PartialEq, Eq)]
    pub struct Elapsed(pub(super) ());
    impl fmt::Display for Elapsed {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("deadline has elapsed")
        }
    }
    impl std::error::Error for Elapsed {}

    /// An error of a timer. The shim never returns one.
    #[derive(Debug, Clone, Copy)]
    pub struct Error(Wrong);
    #[derive(Debug, Clone, Copy, PartialEq)]
    enum Wrong {
        Shutdown,
        AtCapacity,
        Invalid,
    }
    impl Error {
        pub fn shutdown() -> Error {
            Error(Wrong::Shutdown)
        }
        pub fn is_shutdown(&self) -> bool {
            self.0 == Wrong::Shutdown
        }
        pub fn at_capacity() -> Error {
            Error(Wrong::AtCapacity)
        }
        pub fn is_at_capacity(&self) -> bool {
            self.0 == Wrong::AtCapacity
        }
        pub fn invalid() -> Error {
            Error(Wrong::Invalid)
        }
        pub fn is_invalid(&self) -> bool {
            self.0 == Wrong::Invalid
        }
    }
    impl fmt::Display for Error {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(match self.0 {
                Wrong::Shutdown => "the timer is shutdown, must be called from the context of Tokio runtime",
                Wrong::AtCapacity => "timer is at capacity and cannot create a new entry",
                Wrong::Invalid => "timer duration exceeds maximum duration",
            })
        }
    }
    impl std::error::Error for Error {}

    impl From<Elapsed> for std::io::Error {
        fn from(_: Elapsed) -> std::io::Error {
            std::io::ErrorKind::TimedOut.into()
        }
    }
}
use error::Elapsed;

/// A point in virtual time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(Duration);

/// The offset of the first instant. It prevents underflow when durations are subtracted from early instants.
const START: Duration = Duration::from_secs(1 << 30);

impl Instant {
    #[track_caller]
    pub fn now() -> Instant {
        Instant(START + Duration::from_nanos(whippet_runtime::now(Location::caller())))
    }
    /// Returns the same time: the clock of `std` shows virtual time to tasks. Where it does not (outside tasks, and on
    /// systems other than Linux), the difference to the present is the same.
    #[track_caller]
    pub fn from_std(std: std::time::Instant) -> Instant {
        let (now, std_now) = (Instant::now(), std::time::Instant::now());
        Instant(
            now.0
                .saturating_add(std.saturating_duration_since(std_now))
                .saturating_sub(std_now.saturating_duration_since(std)),
        )
    }
    #[track_caller]
    pub fn into_std(self) -> std::time::Instant {
        let (now, std_now) = (Instant::now(), std::time::Instant::now());
        let earlier = now.saturating_duration_since(self);
        std_now.checked_sub(earlier).unwrap_or(std_now) + self.saturating_duration_since(now)
    }
    pub fn duration_since(&self, earlier: Instant) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
    pub fn checked_duration_since(&self, earlier: Instant) -> Option<Duration> {
        self.0.checked_sub(earlier.0)
    }
    pub fn saturating_duration_since(&self, earlier: Instant) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
    #[track_caller]
    pub fn elapsed(&self) -> Duration {
        Instant::now().duration_since(*self)
    }
    pub fn checked_add(&self, duration: Duration) -> Option<Instant> {
        self.0.checked_add(duration).map(Instant)
    }
    pub fn checked_sub(&self, duration: Duration) -> Option<Instant> {
        self.0.checked_sub(duration).map(Instant)
    }
    fn nanos(self) -> u64 {
        u64::try_from(self.0.saturating_sub(START).as_nanos()).unwrap_or(u64::MAX)
    }
}

impl fmt::Debug for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Instant({:?})", self.0.saturating_sub(START))
    }
}
impl Add<Duration> for Instant {
    type Output = Instant;
    fn add(self, rhs: Duration) -> Instant {
        Instant(self.0.saturating_add(rhs))
    }
}
impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, rhs: Duration) {
        *self = *self + rhs;
    }
}
impl Sub for Instant {
    type Output = Duration;
    fn sub(self, rhs: Instant) -> Duration {
        self.duration_since(rhs)
    }
}
impl Sub<Duration> for Instant {
    type Output = Instant;
    fn sub(self, rhs: Duration) -> Instant {
        Instant(self.0.saturating_sub(rhs))
    }
}
impl SubAssign<Duration> for Instant {
    fn sub_assign(&mut self, rhs: Duration) {
        *self = *self - rhs;
    }
}
impl From<std::time::Instant> for Instant {
    fn from(at: std::time::Instant) -> Instant {
        Instant::from_std(at)
    }
}
impl From<Instant> for std::time::Instant {
    fn from(at: Instant) -> std::time::Instant {
        at.into_std()
    }
}

/// A future that waits until a deadline.
pub struct Sleep {
    deadline: Instant,
    waiter: Waiter,
    place: Place,
    elapsed: bool,
}

#[track_caller]
pub fn sleep(duration: Duration) -> Sleep {
    Sleep { deadline: Instant::now() + duration, waiter: Waiter::new(), place: Location::caller(), elapsed: false }
}

#[track_caller]
pub fn sleep_until(deadline: Instant) -> Sleep {
    Sleep { deadline, waiter: Waiter::new(), place: Location::caller(), elapsed: false }
}

impl Sleep {
    pub fn deadline(&self) -> Instant {
        self.deadline
    }
    pub fn is_elapsed(&self) -> bool {
        self.elapsed
    }
    pub fn reset(mut self: Pin<&mut Self>, deadline: Instant) {
        self.waiter.forget();
        self.deadline = deadline;
        self.elapsed = false;
    }
}

impl Future for Sleep {
    type Output = ();
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.elapsed {
            return Poll::Ready(());
        }
        let (due, place) = (self.deadline.nanos(), self.place);
        ready!(self.waiter.poll(cx, || (WaitTarget::Timer(due), Action::plain(Point::IsWokenByTimer, place))));
        self.elapsed = true;
        Poll::Ready(())
    }
}

impl fmt::Debug for Sleep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sleep").field("deadline", &self.deadline).finish()
    }
}

/// A future with a deadline. The future is polled before the timer.
#[derive(Debug)]
pub struct Timeout<F> {
    future: F,
    sleep: Sleep,
}

#[track_caller]
pub fn timeout<F: IntoFuture>(duration: Duration, future: F) -> Timeout<F::IntoFuture> {
    Timeout { future: future.into_future(), sleep: sleep(duration) }
}

#[track_caller]
pub fn timeout_at<F: IntoFuture>(deadline: Instant, future: F) -> Timeout<F::IntoFuture> {
    Timeout { future: future.into_future(), sleep: sleep_until(deadline) }
}

impl<F> Timeout<F> {
    pub fn get_ref(&self) -> &F {
        &self.future
    }
    pub fn get_mut(&mut self) -> &mut F {
        &mut self.future
    }
    pub fn into_inner(self) -> F {
        self.future
    }
}

impl<F: Future> Future for Timeout<F> {
    type Output = Result<F::Output, Elapsed>;
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: the future is structurally pinned; the sleep is `Unpin`.
        let this = unsafe { self.get_unchecked_mut() };
        if let Poll::Ready(output) = unsafe { Pin::new_unchecked(&mut this.future) }.poll(cx) {
            return Poll::Ready(Ok(output));
        }
        Pin::new(&mut this.sleep).poll(cx).map(|()| Err(Elapsed(())))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MissedTickBehavior {
    #[default]
    Burst,
    Delay,
    Skip,
}

/// A sequence of ticks with a fixed period.
#[derive(Debug)]
pub struct Interval {
    period: Duration,
    sleep: Sleep,
    missed: MissedTickBehavior,
}

#[track_caller]
pub fn interval(period: Duration) -> Interval {
    interval_at(Instant::now(), period)
}

#[track_caller]
pub fn interval_at(start: Instant, period: Duration) -> Interval {
    assert!(period > Duration::ZERO, "`period` must be non-zero.");
    Interval { period, sleep: sleep_until(start), missed: MissedTickBehavior::Burst }
}

impl Interval {
    #[track_caller]
    pub fn tick(&mut self) -> impl Future<Output = Instant> + use<'_> {
        self.sleep.place = Location::caller();
        poll_fn(|cx| self.poll_tick(cx))
    }

    pub fn poll_tick(&mut self, cx: &mut Context<'_>) -> Poll<Instant> {
        ready!(Pin::new(&mut self.sleep).poll(cx));
        let due = self.sleep.deadline;
        let next = match self.missed {
            MissedTickBehavior::Burst => due + self.period,
            missed => self.next_tick(missed, due),
        };
        Pin::new(&mut self.sleep).reset(next);
        Poll::Ready(due)
    }

    /// Returns the tick after a missed one that was due at `due`.
    fn next_tick(&self, missed: MissedTickBehavior, due: Instant) -> Instant {
        let now = Instant::now();
        if now <= due + Duration::from_millis(5) {
            return due + self.period;
        }
        let late = match missed {
            MissedTickBehavior::Skip => now.duration_since(due).as_nanos() % self.period.as_nanos(),
            MissedTickBehavior::Burst | MissedTickBehavior::Delay => 0,
        };
        now + self.period - Duration::from_nanos(late as u64)
    }

    #[track_caller]
    pub fn reset(&mut self) {
        self.reset_at(Instant::now() + self.period);
    }
    #[track_caller]
    pub fn reset_immediately(&mut self) {
        self.reset_at(Instant::now());
    }
    #[track_caller]
    pub fn reset_after(&mut self, after: Duration) {
        self.reset_at(Instant::now() + after);
    }
    pub fn reset_at(&mut self, deadline: Instant) {
        Pin::new(&mut self.sleep).reset(deadline);
    }
    pub fn period(&self) -> Duration {
        self.period
    }
    pub fn missed_tick_behavior(&self) -> MissedTickBehavior {
        self.missed
    }
    pub fn set_missed_tick_behavior(&mut self, behavior: MissedTickBehavior) {
        self.missed = behavior;
    }
}

pub fn pause() {
    whippet_runtime::pause();
}

pub fn resume() {
    whippet_runtime::resume();
}

#[track_caller]
pub fn advance(duration: Duration) -> impl Future<Output = ()> {
    let yields = crate::task::yield_now();
    async move {
        whippet_runtime::advance(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX));
        yields.await;
    }
}
