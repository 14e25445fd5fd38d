//! The memory that is still available to this process.

/// Bytes available before the machine, the process's control group or its address space is exhausted. `None`
/// if the system does not report it.
#[cfg(target_os = "linux")]
pub fn available() -> Option<usize> {
    [machine(), control_group(), addresses()].into_iter().flatten().min()
}

#[cfg(not(target_os = "linux"))]
pub fn available() -> Option<usize> {
    None
}

/// The kernel's estimate of the memory available without swapping.
#[cfg(target_os = "linux")]
fn machine() -> Option<usize> {
    Some(kilobytes("/proc/meminfo", "MemAvailable:")? << 10)
}

/// The number after a name in a file of the kernel's.
#[cfg(target_os = "linux")]
fn kilobytes(file: &str, name: &str) -> Option<usize> {
    let text = std::fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

/// Control groups of the second version, and of the first.
#[cfg(target_os = "linux")]
fn control_group() -> Option<usize> {
    let number = |path: &str| std::fs::read_to_string(path).ok()?.trim().parse::<usize>().ok();
    let left = |limit: &str, used: &str| Some(number(limit)?.saturating_sub(number(used)?));
    left("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current").or_else(|| {
        left("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes")
    })
}

/// The limit of `ulimit -v`, less the mapped memory. Stacks of threads and the allocator's arenas need some
/// of it.
#[cfg(target_os = "linux")]
fn addresses() -> Option<usize> {
    let limits = std::fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    let limit: usize = line.split_whitespace().next()?.parse().ok()?;
    let mapped = kilobytes("/proc/self/status", "VmSize:")? << 10;
    Some(limit.saturating_sub(mapped) / 4 * 3)
}
