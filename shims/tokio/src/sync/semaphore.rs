//! `Semaphore` and its permits.

use crate::task::blocking::check_blocking;
use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::sync::Arc;
use whippet_runtime::Point;
use whippet_runtime::{Acquiring, Place, SemaphoreCore};

/// Shim of `tokio::sync::Semaphore`.
pub struct Semaphore {
    core: std::sync::OnceLock<Arc<SemaphoreCore>>,
    permits: usize,
}

/// The error of acquiring a permit of a closed semaphore.
#[derive(Debug)]
pub struct AcquireError(());

impl fmt::Display for AcquireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("semaphore closed")
    }
}
impl std::error::Error for AcquireError {}

#[derive(Debug, PartialEq, Eq)]
pub enum TryAcquireError {
    Closed,
    NoPermits,
}

impl fmt::Display for TryAcquireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TryAcquireError::Closed => "semaphore closed",
            TryAcquireError::NoPermits => "no permits available",
        })
    }
}
impl std::error::Error for TryAcquireError {}

impl fmt::Debug for Semaphore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Semaphore").finish_non_exhaustive()
    }
}

impl Semaphore {
    pub const MAX_PERMITS: usize = usize::MAX >> 3;

    #[track_caller]
    pub fn new(permits: usize) -> Semaphore {
        let semaphore = Semaphore::const_new(permits);
        semaphore.core().object();
        semaphore
    }

    pub const fn const_new(permits: usize) -> Semaphore {
        assert!(permits <= Self::MAX_PERMITS, "a semaphore may not have more than MAX_PERMITS permits");
        Semaphore { core: std::sync::OnceLock::new(), permits }
    }

    fn core(&self) -> &Arc<SemaphoreCore> {
        self.core.get_or_init(|| Arc::new(SemaphoreCore::new("semaphore", self.permits)))
    }

    #[track_caller]
    pub fn available_permits(&self) -> usize {
        self.core().available(Location::caller())
    }

    #[track_caller]
    pub fn add_permits(&self, count: usize) {
        self.core().release(count, Point::AddsPermits, Location::caller());
    }

    #[track_caller]
    pub fn forget_permits(&self, count: usize) -> usize {
        self.core().forget(count, Location::caller())
    }

    #[track_caller]
    pub fn close(&self) {
        self.core().close(Location::caller());
    }

    #[track_caller]
    pub fn is_closed(&self) -> bool {
        self.core().is_closed(Location::caller())
    }

    fn acquiring(&self, count: u32, place: Place) -> Acquiring {
        Acquiring::new(self.core().clone(), count as usize, Point::AsksForPermit, place)
    }

    #[track_caller]
    pub fn acquire(&self) -> impl Future<Output = Result<SemaphorePermit<'_>, AcquireError>> + use<'_> {
        self.acquire_many(1)
    }

    #[track_caller]
    pub fn acquire_many(
        &self,
        count: u32,
    ) -> impl Future<Output = Result<SemaphorePermit<'_>, AcquireError>> + use<'_> {
        let mut wait = self.acquiring(count, Location::caller());
        async move {
            std::future::poll_fn(move |cx| wait.poll(cx)).await.map_err(|_| AcquireError(()))?;
            Ok(SemaphorePermit { semaphore: self, permits: count })
        }
    }

    #[track_caller]
    pub fn acquire_owned(self: Arc<Self>) -> impl Future<Output = Result<OwnedSemaphorePermit, AcquireError>> {
        self.acquire_many_owned(1)
    }

    #[track_caller]
    pub fn acquire_many_owned(
        self: Arc<Self>,
        count: u32,
    ) -> impl Future<Output = Result<OwnedSemaphorePermit, AcquireError>> {
        let mut wait = self.acquiring(count, Location::caller());
        async move {
            std::future::poll_fn(move |cx| wait.poll(cx)).await.map_err(|_| AcquireError(()))?;
            Ok(OwnedSemaphorePermit { semaphore: self, permits: count })
        }
    }

    #[track_caller]
    pub fn blocking_acquire(&self) -> Result<SemaphorePermit<'_>, AcquireError> {
        self.blocking_acquire_many(1)
    }

    #[track_caller]
    pub fn blocking_acquire_many(&self, count: u32) -> Result<SemaphorePermit<'_>, AcquireError> {
        check_blocking();
        self.acquiring(count, Location::caller()).here().map_err(|_| AcquireError(()))?;
        Ok(SemaphorePermit { semaphore: self, permits: count })
    }

    #[track_caller]
    pub fn blocking_acquire_owned(self: Arc<Self>) -> Result<OwnedSemaphorePermit, AcquireError> {
        self.blocking_acquire_many_owned(1)
    }

    #[track_caller]
    pub fn blocking_acquire_many_owned(self: Arc<Self>, count: u32) -> Result<OwnedSemaphorePermit, AcquireError> {
        check_blocking();
        self.acquiring(count, Location::caller()).here().map_err(|_| AcquireError(()))?;
        Ok(OwnedSemaphorePermit { semaphore: self, permits: count })
    }

    fn try_now(&self, count: u32, place: Place) -> Result<(), TryAcquireError> {
        match self.core().try_acquire(count as usize, Point::TriesToGetPermit, place) {
            None => Err(TryAcquireError::Closed),
            Some(false) => Err(TryAcquireError::NoPermits),
            Some(true) => Ok(()),
        }
    }

    #[track_caller]
    pub fn try_acquire(&self) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        self.try_acquire_many(1)
    }

    #[track_caller]
    pub fn try_acquire_many(&self, count: u32) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        self.try_now(count, Location::caller())?;
        Ok(SemaphorePermit { semaphore: self, permits: count })
    }

    #[track_caller]
    pub fn try_acquire_owned(self: Arc<Self>) -> Result<OwnedSemaphorePermit, TryAcquireError> {
        self.try_acquire_many_owned(1)
    }

    #[track_caller]
    pub fn try_acquire_many_owned(self: Arc<Self>, count: u32) -> Result<OwnedSemaphorePermit, TryAcquireError> {
        self.try_now(count, Location::caller())?;
        Ok(OwnedSemaphorePermit { semaphore: self, permits: count })
    }
}

#[must_use]
#[derive(Debug)]
pub struct SemaphorePermit<'a> {
    semaphore: &'a Semaphore,
    permits: u32,
}

#[must_use]
#[derive(Debug)]
pub struct OwnedSemaphorePermit {
    semaphore: Arc<Semaphore>,
    permits: u32,
}

/// Implements a permit type, given its reference to the semaphore (borrowed or `Arc`).
macro_rules! permit {
    ([$($generics:tt)*] $permit:ident, $permit_type:ty, $semaphore:ty) => {
        impl<$($generics)*> $permit_type {
            pub fn forget(mut self) {
                self.permits = 0;
            }

            pub fn num_permits(&self) -> usize {
                self.permits as usize
            }

            #[track_caller]
            pub fn merge(&mut self, mut other: Self) {
                let same = std::ptr::eq::<Semaphore>(&*self.semaphore, &*other.semaphore);
                assert!(same, "merging permits from different semaphore instances");
                self.permits += std::mem::take(&mut other.permits);
            }

            pub fn split(&mut self, n: usize) -> Option<Self> {
                let n = u32::try_from(n).ok().filter(|&n| n <= self.permits)?;
                self.permits -= n;
                Some($permit { semaphore: self.semaphore.clone(), permits: n })
            }

            pub fn semaphore(&self) -> $semaphore {
                &self.semaphore
            }
        }

        impl<$($generics)*> Drop for $permit_type {
            #[track_caller]
            fn drop(&mut self) {
                let place = Location::caller();
                self.semaphore.core().release(self.permits as usize, Point::ReturnsPermit, place);
            }
        }
    };
}
permit!(['a] SemaphorePermit, SemaphorePermit<'a>, &Semaphore);
permit!([] OwnedSemaphorePermit, OwnedSemaphorePermit, &Arc<Semaphore>);
