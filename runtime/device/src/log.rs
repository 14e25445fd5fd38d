//! What devices log, through the crate `log`: devices found and opened, large allocations, pipelines, and
//! submissions.

use std::fmt;
use std::time::Instant;

use ::log::{debug, error, info, warn};

use crate::{Commands, DeviceInfo, QueueId};

/// Allocations of at least this size are logged.
const LARGE: u64 = 16 << 20;

pub fn found(infos: &[&DeviceInfo]) {
    let names = || infos.iter().map(|info| info.name.as_str()).collect::<Vec<_>>().join(", ");
    debug!("found {} devices: {}", infos.len(), names());
}

pub fn opened(info: &DeviceInfo, began: Instant) {
    let n_queues = info.queues.len().max(1);
    let plural = if n_queues == 1 { "" } else { "s" };
    let driver = if info.driver.is_empty() { String::new() } else { format!(" ({})", info.driver) };
    info!("opened device `{}`{driver} with {n_queues} queue{plural} in {}", info.name, Since(began));
}

pub fn allocated(device: &str, n_bytes: u64) {
    if n_bytes >= LARGE {
        info!("allocated {:.1} MiB on `{device}`", n_bytes as f64 / f64::from(1 << 20));
    }
}

pub fn out_of_memory(device: &str, n_bytes: u64) {
    warn!("`{device}` has no room for {n_bytes} bytes: waiting for work that uses freed memory");
}

pub fn lost(device: &str, call: &str) {
    error!("device `{device}` was lost in {call}");
}

pub fn emitted(n_bytes: usize, began: Instant) {
    info!("compiled {n_bytes} bytes of machine code in {}", Since(began));
}

pub fn compiled(kernel: Option<&str>, began: Instant) {
    info!("compiled a pipeline for kernel `{}` in {}", kernel.unwrap_or("(unnamed)"), Since(began));
}

pub fn reused(kernel: Option<&str>) {
    debug!("reused the pipeline of kernel `{}`", kernel.unwrap_or("(unnamed)"));
}

pub fn submitted(queue: QueueId, commands: &Commands) {
    debug!("submitted {} commands to queue {}", commands.len(), queue.0);
}

/// The time since then.
struct Since(Instant);

impl fmt::Display for Since {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.2} ms", self.0.elapsed().as_secs_f64() * 1e3)
    }
}
