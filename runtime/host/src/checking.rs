//! The checked mode of a host: which checks are enabled, and what they found.
//!
//! A device's finding becomes a diagnostic when the launch ends. A mistake is reported once in a script, or
//! in an entry of a session. Further launches with the same mistake are counted.

use kps_device::findings::ArrayName;
use kps_device::{Check, Checks, Finding, FindingKind, Instrument};
use kps_syntax::{Diagnostic, Location};
use rustc_hash::{FxHashMap, FxHashSet};

/// Which launches are checked. Only the built-in device checks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Checking {
    #[default]
    Never,
    /// Launches of at most `up_to` invocations, where the time is not noticeable.
    Small { checks: Checks, up_to: u64 },
    /// All; a device that cannot is an error.
    Always(Checks),
}

impl Checking {
    /// As the prompt has it.
    pub fn at_prompt() -> Checking {
        Checking::Small { checks: Checks::usual(), up_to: 1 << 16 }
    }

    /// The default of scripts: checking a launch takes at most 2 ms, even if each access is instrumented. A
    /// launch that fails unchecked, at a barrier that not all invocations reach, still fails: scripts may
    /// catch it.
    pub fn in_scripts() -> Checking {
        let usual = Check::ALL.into_iter().filter(|check| Checks::usual().has(*check));
        let names = usual.filter(|check| *check != Check::Barrier).map(Check::name);
        let checks = names.filter_map(Checks::named).fold(Checks::NONE, Checks::and);
        Checking::Small { checks, up_to: 1 << 12 }
    }

    /// The instrumentation of a launch with this many invocations; `None` if the number is unknown.
    pub fn instrument(self, n_invocations: Option<u64>) -> Instrument {
        match self {
            Checking::Always(checks) => Instrument::Checked(checks),
            Checking::Small { checks, up_to } if n_invocations.is_some_and(|n| n <= up_to) => {
                Instrument::Checked(checks)
            }
            Checking::Never | Checking::Small { .. } => Instrument::None,
        }
    }
}

/// Parses the value of `--check=`: names of checks, such as `bounds` or `usual,overflow`. An empty value
/// means the usual ones.
pub fn parse_checks(text: &str) -> Result<Checks, String> {
    if text.is_empty() {
        return Ok(Checks::usual());
    }
    text.split(',').map(str::trim).try_fold(Checks::NONE, |checks, name| {
        let named = Checks::named(name).ok_or_else(|| {
            let names: Vec<&str> = Check::ALL.iter().map(|check| check.name()).collect();
            format!(
                "there is no check `{name}`: they are {}, and usual, all, race and uninitialised for several",
                names.join(", ")
            )
        })?;
        Ok(checks.and(named))
    })
}

/// The findings of all launches of a host, or of a session's last entry.
#[derive(Default)]
pub struct Findings {
    /// How often each mistake was made.
    counts: FxHashMap<Mistake, u64>,
    /// Where warnings were reported.
    warned: FxHashSet<Place>,
    sink: Option<Sink>,
}

/// The key by which a mistake is reported once.
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Mistake {
    code: &'static str,
    place: Place,
    array: Option<ArrayName>,
    /// The line that a race is with.
    before: Place,
}

impl Mistake {
    pub(crate) fn of(code: &'static str, location: Option<&Location>, finding: &Finding) -> Mistake {
        let place = location.map(|at| (at.source.name().to_owned(), at.span.start));
        let before = match &finding.kind {
            FindingKind::Race { before, .. } => {
                before.line.as_ref().map(|line| (line.file.clone(), line.line))
            }
            _ => None,
        };
        Mistake { code, place, array: finding.array().cloned(), before }
    }
}

/// A source, and a position in it or a line; `None` for modules without line information.
type Place = Option<(String, u32)>;

type Sink = Box<dyn FnMut(&Diagnostic)>;

impl Findings {
    pub(crate) fn set_sink(&mut self, sink: Sink) {
        self.sink = Some(sink);
    }

    /// Counts a mistake that was made `times` times, and reports it if it is new.
    pub(crate) fn note(&mut self, mistake: Mistake, times: u64, diagnostic: &Diagnostic) {
        let count = self.counts.entry(mistake).or_default();
        let is_new = *count == 0;
        *count += times;
        if let Some(sink) = self.sink.as_mut().filter(|_| is_new) {
            sink(diagnostic);
        }
    }

    /// Reports a lint warning, once at each place. It does not count as a mistake.
    pub(crate) fn warn(&mut self, location: &Location, diagnostic: &Diagnostic) {
        let is_new = self.warned.insert(Some((location.source.name().to_owned(), location.span.start)));
        if let Some(sink) = self.sink.as_mut().filter(|_| is_new) {
            sink(diagnostic);
        }
    }

    /// Starts a new entry: at a prompt, a repeated mistake is reported again.
    pub(crate) fn begin_anew(&mut self) {
        self.counts.clear();
        self.warned.clear();
    }

    /// The number of reported mistakes.
    pub fn n_mistakes(&self) -> usize {
        self.counts.len()
    }

    /// How often they were made.
    pub fn n_times(&self) -> u64 {
        self.counts.values().sum()
    }
}
