//! The checked mode as a host has it: what is asked for, and what was found so far.
//!
//! What a device found becomes a diagnostic where the launch ends. A mistake is told once in a script or in an entry of
//! a session, however many launches make it again; those are counted.

use kps_device::findings::ArrayName;
use kps_device::{Check, Checks, Finding, FindingKind, Instrument};
use kps_syntax::{Diagnostic, Location};
use rustc_hash::{FxHashMap, FxHashSet};

/// Which launches are checked. It is for the built-in device alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Checking {
    #[default]
    Never,
    /// Those of at most `up_to` invocations, where nobody notices the time.
    Small { checks: Checks, up_to: u64 },
    /// All; a device that cannot is an error.
    Always(Checks),
}

impl Checking {
    /// As the prompt has it.
    pub fn at_prompt() -> Checking {
        Checking::Small { checks: Checks::usual(), up_to: 1 << 16 }
    }

    /// As scripts that are run have it: checking a launch takes 2 ms at most, even where each access is watched. A launch
    /// that fails unchecked, at a barrier that not all come to, fails so here: scripts may catch it.
    pub fn in_scripts() -> Checking {
        let usual = Check::ALL.into_iter().filter(|check| Checks::usual().has(*check));
        let names = usual.filter(|check| *check != Check::Barrier).map(Check::name);
        let checks = names.filter_map(Checks::named).fold(Checks::NONE, Checks::and);
        Checking::Small { checks, up_to: 1 << 12 }
    }

    /// What is watched in a launch of so many invocations; `None` where that is not known.
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

/// Reads what stands behind `--check=`: the checks that are wanted, such as `bounds` or `usual,overflow`. Nothing
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

/// What was found by all launches of a host, or by those of a session's last entry.
#[derive(Default)]
pub struct Findings {
    /// How often each mistake was made.
    counts: FxHashMap<Mistake, u64>,
    /// Where warnings were told.
    warned: FxHashSet<Place>,
    sink: Option<Sink>,
}

/// What is told once.
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

/// A source, and a place in it or a line; `None` of modules that do not tell their lines.
type Place = Option<(String, u32)>;

type Sink = Box<dyn FnMut(&Diagnostic)>;

impl Findings {
    pub(crate) fn set_sink(&mut self, sink: Sink) {
        self.sink = Some(sink);
    }

    /// Counts a mistake that was made `times` times, and tells of it if it is new.
    pub(crate) fn note(&mut self, mistake: Mistake, times: u64, diagnostic: &Diagnostic) {
        let count = self.counts.entry(mistake).or_default();
        let is_new = *count == 0;
        *count += times;
        if let Some(sink) = self.sink.as_mut().filter(|_| is_new) {
            sink(diagnostic);
        }
    }

    /// Tells of what is most likely a slip, once at each place. It is no mistake, and counts as none.
    pub(crate) fn warn(&mut self, location: &Location, diagnostic: &Diagnostic) {
        let is_new = self.warned.insert(Some((location.source.name().to_owned(), location.span.start)));
        if let Some(sink) = self.sink.as_mut().filter(|_| is_new) {
            sink(diagnostic);
        }
    }

    /// From here on every mistake is new: whoever makes one again at a prompt is told again.
    pub(crate) fn begin_anew(&mut self) {
        self.counts.clear();
        self.warned.clear();
    }

    /// Mistakes that were told.
    pub fn n_mistakes(&self) -> usize {
        self.counts.len()
    }

    /// How often they were made.
    pub fn n_times(&self) -> u64 {
        self.counts.values().sum()
    }
}
