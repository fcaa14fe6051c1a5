//! Functions of the C library that answer tasks for the operating system: the time, random bytes, sleeps.
//!
//! A function with C linkage in the executable takes the place of the one in a shared library, so these are called by
//! `std` and by all other crates of a test binary. They ask `whippet_runtime`, which says what tasks are told and why
//! (`runtime/src/system/mod.rs`). If no execution runs on this thread, they call the function of the C library.
//!
//! They are in this package, and not in `whippet_runtime`, because there may be two versions of that in one binary.

use c::{
    c_int, c_long, c_uint, c_void, clockid_t, pthread_attr_t, pthread_t, size_t, ssize_t, time_t, timespec, timeval,
};
use std::ffi::CStr;
use std::mem::transmute;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::time::Duration;
use whippet_runtime::{Destructor, SystemClock, random_bytes, sleeps, system_time};

/// A function of the C library.
struct Real {
    name: &'static CStr,
    address: AtomicPtr<c_void>,
}

impl Real {
    const fn new(name: &'static CStr) -> Real {
        Real { name, address: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Returns its address.
    #[inline]
    fn get(&self) -> *mut c_void {
        let address = self.address.load(Ordering::Relaxed);
        if address.is_null() { self.find() } else { address }
    }

    #[cold]
    fn find(&self) -> *mut c_void {
        // SAFETY: the name ends with a zero.
        let address = unsafe { c::dlsym(c::RTLD_NEXT, self.name.as_ptr()) };
        if address.is_null() {
            // A panic would not leave a function of C, and may need the time itself.
            std::process::abort();
        }
        self.address.store(address, Ordering::Relaxed);
        address
    }
}

/// Returns the clock that the answer to a task depends on, or `None` for one that measures the use of the processor.
fn clock(id: clockid_t) -> Option<SystemClock> {
    match id {
        c::CLOCK_REALTIME | c::CLOCK_REALTIME_COARSE | c::CLOCK_TAI => Some(SystemClock::Wall),
        c::CLOCK_MONOTONIC | c::CLOCK_MONOTONIC_RAW | c::CLOCK_MONOTONIC_COARSE | c::CLOCK_BOOTTIME => {
            Some(SystemClock::Monotonic)
        }
        _ => None,
    }
}

fn to_timespec(time: Duration) -> timespec {
    timespec { tv_sec: time.as_secs() as time_t, tv_nsec: c_long::from(time.subsec_nanos()) }
}

/// Returns a valid time that is not negative.
fn to_duration(time: timespec) -> Option<Duration> {
    let nanoseconds = u32::try_from(time.tv_nsec).ok().filter(|nanoseconds| *nanoseconds < 1_000_000_000)?;
    Some(Duration::new(u64::try_from(time.tv_sec).ok()?, nanoseconds))
}

/// Returns the time from `now` to a later moment, in whole microseconds. Each look at a clock shows a nanosecond more, and the look at
/// `now` must not shorten the wait.
fn between(now: Duration, then: Duration) -> Duration {
    let wait = then.saturating_sub(now).as_nanos().div_ceil(1_000);
    Duration::from_micros(u64::try_from(wait).unwrap_or(u64::MAX))
}

/// Returns the time of a real clock.
fn real_time(id: clockid_t) -> Duration {
    let mut time = timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is valid for the call.
    unsafe { real_clock_gettime(id, &raw mut time) };
    to_duration(time).unwrap_or_default()
}

#[inline]
unsafe fn real_clock_gettime(id: clockid_t, time: *mut timespec) -> c_int {
    static REAL: Real = Real::new(c"clock_gettime");
    // SAFETY: the function has this type, and the caller passes on its arguments.
    unsafe { transmute::<*mut c_void, unsafe extern "C" fn(clockid_t, *mut timespec) -> c_int>(REAL.get())(id, time) }
}

/// Reads a clock.
///
/// # Safety
///
/// As in the C library.
#[unsafe(no_mangle)]
unsafe extern "C" fn clock_gettime(id: clockid_t, time: *mut timespec) -> c_int {
    match clock(id).and_then(system_time) {
        Some(now) if !time.is_null() => {
            // SAFETY: the caller passes a valid pointer.
            unsafe { time.write(to_timespec(now)) };
            0
        }
        // SAFETY: the arguments are those of the caller.
        _ => unsafe { real_clock_gettime(id, time) },
    }
}

/// Reads the clock that shows the time since 1970.
///
/// # Safety
///
/// As in the C library.
#[unsafe(no_mangle)]
unsafe extern "C" fn gettimeofday(time: *mut timeval, zone: *mut c_void) -> c_int {
    static REAL: Real = Real::new(c"gettimeofday");
    match system_time(SystemClock::Wall) {
        Some(now) if !time.is_null() && zone.is_null() => {
            let now = timeval { tv_sec: now.as_secs() as time_t, tv_usec: c_long::from(now.subsec_micros()) };
            // SAFETY: the caller passes a valid pointer.
            unsafe { time.write(now) };
            0
        }
        // SAFETY: the function has this type, and the arguments are those of the caller.
        _ => unsafe {
            transmute::<*mut c_void, unsafe extern "C" fn(*mut timeval, *mut c_void) -> c_int>(REAL.get())(time, zone)
        },
    }
}

/// Returns the seconds since 1970.
///
/// # Safety
///
/// As in the C library.
#[unsafe(no_mangle)]
unsafe extern "C" fn time(out: *mut time_t) -> time_t {
    let now = system_time(SystemClock::Wall).unwrap_or_else(|| real_time(c::CLOCK_REALTIME)).as_secs() as time_t;
    if !out.is_null() {
        // SAFETY: the caller passes a valid pointer, or null.
        unsafe { out.write(now) };
    }
    now
}

/// Sleeps.
///
/// # Safety
///
/// As in the C library.
#[unsafe(no_mangle)]
unsafe extern "C" fn nanosleep(wanted: *const timespec, left: *mut timespec) -> c_int {
    static REAL: Real = Real::new(c"nanosleep");
    // SAFETY: the caller passes a valid pointer.
    if unsafe { wanted.as_ref() }.copied().and_then(to_duration).is_some_and(sleeps) {
        return 0;
    }
    // SAFETY: the function has this type, and the arguments are those of the caller.
    unsafe {
        transmute::<*mut c_void, unsafe extern "C" fn(*const timespec, *mut timespec) -> c_int>(REAL.get())(
            wanted, left,
        )
    }
}

/// Sleeps for some time, or until some time.
///
/// # Safety
///
/// As in the C library.
#[unsafe(no_mangle)]
unsafe extern "C" fn clock_nanosleep(
    id: clockid_t,
    flags: c_int,
    wanted: *const timespec,
    left: *mut timespec,
) -> c_int {
    static REAL: Real = Real::new(c"clock_nanosleep");
    // SAFETY: the caller passes a valid pointer.
    let time = unsafe { wanted.as_ref() }.copied().and_then(to_duration);
    let now = clock(id).and_then(system_time);
    let mut until = timespec { tv_sec: 0, tv_nsec: 0 };
    let mut request = wanted;
    if let (Some(time), Some(now)) = (time, now) {
        let wait = if flags & c::TIMER_ABSTIME == 0 { time } else { between(now, time) };
        if sleeps(wait) {
            return 0;
        }
        if flags & c::TIMER_ABSTIME != 0 {
            until = to_timespec(real_time(id).saturating_add(wait));
            request = &raw const until;
        }
    }
    type Function = unsafe extern "C" fn(clockid_t, c_int, *const timespec, *mut timespec) -> c_int;
    // SAFETY: the function has this type, and the arguments are those of the caller, or a time that lives long enough.
    let result = unsafe { transmute::<*mut c_void, Function>(REAL.get())(id, flags, request, left) };
    let _ = until;
    result
}

/// Fills memory with random bytes.
///
/// # Safety
///
/// As in the C library.
#[unsafe(no_mangle)]
unsafe extern "C" fn getrandom(bytes: *mut c_void, length: size_t, flags: c_uint) -> ssize_t {
    static REAL: Real = Real::new(c"getrandom");
    // SAFETY: the caller passes memory of this length.
    if unsafe { fill(bytes, length) } {
        return length as ssize_t;
    }
    // SAFETY: the function has this type, and the arguments are those of the caller.
    unsafe {
        transmute::<*mut c_void, unsafe extern "C" fn(*mut c_void, size_t, c_uint) -> ssize_t>(REAL.get())(
            bytes, length, flags,
        )
    }
}

/// Fills memory with random bytes.
///
/// # Safety
///
/// As in the C library.
#[unsafe(no_mangle)]
unsafe extern "C" fn getentropy(bytes: *mut c_void, length: size_t) -> c_int {
    static REAL: Real = Real::new(c"getentropy");
    // SAFETY: the caller passes memory of this length.
    if unsafe { fill(bytes, length) } {
        return 0;
    }
    // SAFETY: the function has this type, and the arguments are those of the caller.
    unsafe { transmute::<*mut c_void, unsafe extern "C" fn(*mut c_void, size_t) -> c_int>(REAL.get())(bytes, length) }
}

/// Fills memory with random bytes of the running task. Returns `false` outside executions.
///
/// # Safety
///
/// If `bytes` is not null, it must be valid for writes of `length` bytes.
unsafe fn fill(bytes: *mut c_void, length: size_t) -> bool {
    if bytes.is_null() || length == 0 {
        return false;
    }
    // SAFETY: see above; all byte values are valid, and the bytes are only written.
    random_bytes(unsafe { std::slice::from_raw_parts_mut(bytes.cast(), length) })
}

/// Calls the system. `std` waits for locks and conditions in this way, and some crates ask for random bytes.
///
/// # Safety
///
/// As in the C library. That function has a variable number of arguments, which on these targets are passed like the
/// first six of any function; arguments that the caller did not pass are not used by the system.
#[unsafe(no_mangle)]
unsafe extern "C" fn syscall(
    number: c_long,
    a: c_long,
    b: c_long,
    c: c_long,
    d: c_long,
    e: c_long,
    f: c_long,
) -> c_long {
    // SAFETY: these are the first two arguments of that call.
    if number == c::SYS_getrandom && unsafe { fill(ptr::with_exposed_provenance_mut(a as usize), b as size_t) } {
        return b;
    }
    let mut until = timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the arguments of that call are an address, an operation, a value and a timeout.
    let wait = (number == c::SYS_futex).then(|| unsafe { futex_wait(b as c_int, d, &mut until) }).flatten();
    let is_replaced = until.tv_sec != 0;
    let timeout = if is_replaced { (&raw const until).expose_provenance() as c_long } else { d };
    // SAFETY: the arguments are those of the caller, or a time that lives long enough.
    let result = unsafe { real_syscall(number, a, b, c, timeout, e, f) };
    if let Some(wait) = wait.filter(|_| result == -1) {
        // SAFETY: the pointer to the error of this thread is valid.
        let error = unsafe { c::__errno_location().read() };
        if error == c::ETIMEDOUT {
            let _ = sleeps(wait);
        }
        // SAFETY: as above.
        unsafe { c::__errno_location().write(error) };
    }
    result
}

#[inline]
unsafe fn real_syscall(number: c_long, a: c_long, b: c_long, c: c_long, d: c_long, e: c_long, f: c_long) -> c_long {
    static REAL: Real = Real::new(c"syscall");
    type Function = unsafe extern "C" fn(c_long, ...) -> c_long;
    // SAFETY: the function has this type, and the caller passes on its arguments.
    unsafe { transmute::<*mut c_void, Function>(REAL.get())(number, a, b, c, d, e, f) }
}

/// Returns the time for which a futex operation of a task waits, if it waits for some time. If that is given as a moment
/// of the task's clock, `until` is set to the moment of the real clock.
///
/// # Safety
///
/// The timeout must be what that operation expects.
unsafe fn futex_wait(operation: c_int, timeout: c_long, until: &mut timespec) -> Option<Duration> {
    let command = operation & !(c::FUTEX_PRIVATE_FLAG | c::FUTEX_CLOCK_REALTIME);
    if timeout == 0 || ![c::FUTEX_WAIT, c::FUTEX_WAIT_BITSET].contains(&command) {
        return None;
    }
    let id = if operation & c::FUTEX_CLOCK_REALTIME == 0 { c::CLOCK_MONOTONIC } else { c::CLOCK_REALTIME };
    let now = clock(id).and_then(system_time)?;
    // SAFETY: these operations take a pointer to a time.
    let time = to_duration(unsafe { *ptr::with_exposed_provenance::<timespec>(timeout as usize) })?;
    if command == c::FUTEX_WAIT {
        return Some(time);
    }
    let wait = between(now, time);
    *until = to_timespec(real_time(id).saturating_add(wait));
    Some(wait)
}

/// Tells `cargo whippet` that a test has no verdict, because threads of the operating system share an object of tokio outside of a runtime.
fn refuse_threads(text: &str) {
    let failure = whippet_protocol::Failure::no_verdict(text, Some(whippet_protocol::Reason::Threads));
    crate::whippet::tell(&whippet_protocol::Reply { failure: Some(failure), ..Default::default() });
}

/// Starts a thread.
///
/// # Safety
///
/// As in the C library.
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_create(
    thread: *mut pthread_t,
    attributes: *const pthread_attr_t,
    start: extern "C" fn(*mut c_void) -> *mut c_void,
    argument: *mut c_void,
) -> c_int {
    static REAL: Real = Real::new(c"pthread_create");
    type Function = unsafe extern "C" fn(
        *mut pthread_t,
        *const pthread_attr_t,
        extern "C" fn(*mut c_void) -> *mut c_void,
        *mut c_void,
    ) -> c_int;
    whippet_runtime::on_refusal(refuse_threads);
    whippet_runtime::starts_thread();
    // SAFETY: the function has this type, and the arguments are those of the caller.
    unsafe { transmute::<*mut c_void, Function>(REAL.get())(thread, attributes, start, argument) }
}

/// Registers the destructor of a variable of the running thread.
///
/// # Safety
///
/// As in the C library.
#[unsafe(no_mangle)]
unsafe extern "C" fn __cxa_thread_atexit_impl(
    destructor: Destructor,
    variable: *mut c_void,
    object: *mut c_void,
) -> c_int {
    static REAL: Real = Real::new(c"__cxa_thread_atexit_impl");
    if whippet_runtime::is_variable(variable.cast()) {
        whippet_runtime::take_destructor(destructor, variable.cast());
        return 0;
    }
    // SAFETY: the function has this type, and the arguments are those of the caller.
    unsafe {
        transmute::<*mut c_void, unsafe extern "C" fn(Destructor, *mut c_void, *mut c_void) -> c_int>(REAL.get())(
            destructor, variable, object,
        )
    }
}
