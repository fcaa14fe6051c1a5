//! The memory of the machine that a search runs on.

use std::sync::OnceLock;

/// The limit on memory where the machine does not say how much it has: 1 GiB.
const UNKNOWN: u64 = 1 << 30;

/// Returns half of the memory that this process may use, in bytes.
pub(crate) fn half() -> usize {
    static HALF: OnceLock<usize> = OnceLock::new();
    *HALF.get_or_init(|| usize::try_from(available().unwrap_or(2 * UNKNOWN) / 2).unwrap_or(usize::MAX))
}

/// Returns the memory of the machine, or of the container if that has less.
fn available() -> Option<u64> {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let machine = of_meminfo(&read("/proc/meminfo")?)?;
    let containers = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];
    let limits = containers.iter().filter_map(|path| read(path)?.trim().parse::<u64>().ok());
    Some(limits.fold(machine, u64::min))
}

fn of_meminfo(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_is_read_from_the_kernels_file() {
        assert_eq!(of_meminfo("MemFree: 1 kB\nMemTotal:       16 kB\n"), Some(16 * 1024));
        assert_eq!(of_meminfo("MemTotal: much"), None);
        assert!(half() > 0);
    }
}
