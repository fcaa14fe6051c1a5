//! The cost of a run: CPU time and memory, as the operating system counts them.

/// The cost of a run.
///
/// ```
/// let usage = whippet_report::Meter::start().read();
/// assert!(usage.cpu_seconds >= 0.0 && (usage.peak_memory_bytes > 0 || !cfg!(unix)));
/// ```
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct Usage {
    /// CPU time of all threads, in seconds.
    pub cpu_seconds: f64,
    /// The peak memory of the process, in bytes; 0 if the system does not report it.
    pub peak_memory_bytes: u64,
}

/// A meter of the cost between its start and its reading.
///
/// ```
/// let meter = whippet_report::Meter::start();
/// assert!(meter.read().cpu_seconds >= 0.0);
/// ```
#[derive(Debug)]
pub struct Meter {
    cpu_at_start: f64,
}

impl Meter {
    /// Starts measuring.
    #[must_use]
    pub fn start() -> Meter {
        Meter { cpu_at_start: cpu_seconds() }
    }

    /// Returns the cost since the start. The memory is the peak of the whole process.
    #[must_use]
    pub fn read(&self) -> Usage {
        Usage { cpu_seconds: (cpu_seconds() - self.cpu_at_start).max(0.0), peak_memory_bytes: peak_memory_bytes() }
    }
}

#[cfg(unix)]
fn resources() -> Option<libc::rusage> {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer refers to a whole `rusage`, which the call fills; an all-zero value is valid as well.
    let answer = unsafe { libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr()) };
    // SAFETY: the value was zeroed, which is a valid `rusage`, and then filled by the call.
    (answer == 0).then(|| unsafe { usage.assume_init() })
}

#[cfg(unix)]
fn cpu_seconds() -> f64 {
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    resources().map_or(0.0, |usage| seconds(usage.ru_utime) + seconds(usage.ru_stime))
}

#[cfg(unix)]
fn peak_memory_bytes() -> u64 {
    // On Linux, `ru_maxrss` includes the process that called exec, so a small tool started by a large one appears
    // large. The kernel's status file does not have this problem.
    if let Some(peak) = std::fs::read_to_string("/proc/self/status").ok().as_deref().and_then(peak_of_status) {
        return peak;
    }
    let unit = if cfg!(target_vendor = "apple") { 1 } else { 1024 };
    resources().map_or(0, |usage| usage.ru_maxrss as u64 * unit)
}

#[cfg(unix)]
fn peak_of_status(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

#[cfg(not(unix))]
fn cpu_seconds() -> f64 {
    0.0
}

#[cfg(not(unix))]
fn peak_memory_bytes() -> u64 {
    0
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn the_peak_is_read_from_a_status_file() {
        assert_eq!(peak_of_status("VmPeak:\t 9 kB\nVmHWM:\t    3212 kB\n"), Some(3212 * 1024));
        assert_eq!(peak_of_status("VmHWM: soon"), None);
    }

    #[test]
    fn work_costs_time_and_memory() {
        let meter = Meter::start();
        let start = std::time::Instant::now();
        let block = vec![1u8; 1 << 20];
        while start.elapsed().as_millis() < 30 {
            std::hint::black_box(block.iter().map(|&b| u64::from(b)).sum::<u64>());
        }
        let usage = meter.read();
        assert!(usage.cpu_seconds > 0.0, "{usage:?}");
        assert!(usage.peak_memory_bytes >= 1 << 20, "{usage:?}");
    }
}
