//! The log of `KPS_LOG`, on the standard error.

use std::ffi::OsStr;
use std::sync::LazyLock;
use std::time::Instant;

use ::log::{LevelFilter, Log, Metadata, Record};

use crate::Failure;
use crate::console::print_error;
use crate::visible::visible;

/// The values of `KPS_LOG`.
const LEVELS: [(&str, LevelFilter); 5] = [
    ("off", LevelFilter::Off),
    ("error", LevelFilter::Error),
    ("warning", LevelFilter::Warn),
    ("info", LevelFilter::Info),
    ("debug", LevelFilter::Debug),
];

struct Logger;

static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Starts the log if `KPS_LOG` names a level.
pub fn start() -> Result<(), Failure> {
    let Some(value) = std::env::var_os("KPS_LOG").filter(|value| !value.is_empty()) else { return Ok(()) };
    let known = LEVELS.iter().find(|(name, _)| OsStr::new(name) == value);
    let Some((_, level)) = known else {
        let names = LEVELS.map(|(name, _)| name).join(", ");
        return Err(Failure::Usage(format!("KPS_LOG is one of {names}, not `{}`", value.display())));
    };
    LazyLock::force(&BEGAN);
    // Only this function sets a logger.
    let _ = ::log::set_logger(&Logger);
    ::log::set_max_level(*level);
    Ok(())
}

impl Log for Logger {
    /// Libraries log as well, and nobody asked for that.
    fn enabled(&self, metadata: &Metadata) -> bool {
        metadata.target().starts_with("kps")
    }

    fn log(&self, record: &Record) {
        if self.enabled(record.metadata()) {
            let (seconds, level) = (BEGAN.elapsed().as_secs_f64(), record.level().as_str().to_lowercase());
            let level = if level == "warn" { "warning" } else { &level };
            print_error(format_args!("[{seconds:9.4} s] {level}: {}\n", visible(&record.args().to_string())));
        }
    }

    fn flush(&self) {}
}
