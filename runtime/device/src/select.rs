//! Lists devices, and selects one.
//!
//! The list is the same for `kps devices`, `--device` and `Manager(i)`: GPUs from best to worst, then the CPU
//! device, then software Vulkan drivers, then Vulkan devices below the minimum.

use std::cmp::Reverse;
use std::fmt;
use std::rc::Rc;
use std::time::Instant;

use crate::profile::Recorder;
use crate::vulkan::Physical;
use crate::{
    Backend, Device, DeviceError, DeviceInfo, Feature, NoGpu, PipelineOptions, Result, absent, cpu, log,
    vulkan,
};

/// Selects a device, as written after `--device` or in `KPS_DEVICE`.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Selector {
    /// The best GPU, else the CPU device.
    #[default]
    Best,
    /// `cpu`.
    Cpu,
    /// `vulkan` or `vulkan:1`: the n-th Vulkan device of the list, software drivers included.
    Vulkan(u32),
    /// The n-th of the whole list.
    Index(u32),
    /// A part of its name, in any case.
    Name(String),
}

impl Selector {
    /// Parses a selector. Text that is no other selector is part of a name.
    pub fn parse(text: &str) -> Selector {
        let text = text.trim();
        let lower = text.to_lowercase();
        if let Ok(index) = text.parse() {
            return Selector::Index(index);
        }
        match lower.as_str() {
            "" => Selector::Best,
            "cpu" => Selector::Cpu,
            "vulkan" => Selector::Vulkan(0),
            _ => match lower.strip_prefix("vulkan:").map(str::parse) {
                Some(Ok(index)) => Selector::Vulkan(index),
                _ => Selector::Name(text.to_owned()),
            },
        }
    }
}

/// The inverse of [`Selector::parse`].
impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Selector::Best => Ok(()),
            Selector::Cpu => f.write_str("cpu"),
            Selector::Vulkan(0) => f.write_str("vulkan"),
            Selector::Vulkan(index) => write!(f, "vulkan:{index}"),
            Selector::Index(index) => write!(f, "{index}"),
            Selector::Name(name) => f.write_str(name),
        }
    }
}

/// How to open it.
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    /// One queue of each of these families; empty means [`QUEUES`] queues of the best compute family, or as
    /// many as it has. A family that is missing or cannot compute is replaced by that one, with a warning in
    /// [`Opened::warnings`].
    pub queue_families: Vec<u32>,
    /// Additional Vulkan extensions. One that the device lacks is skipped, with a warning.
    pub extensions: Vec<String>,
    /// Treats device memory as inaccessible to the host, to test on integrated GPUs what discrete ones need.
    pub separate_memory: bool,
    /// Collects profiles. Only the CPU device can profile; with another one this is an error.
    pub profile: Option<Recorder>,
    /// Limits the bytes of buffers and images. `None` leaves the device's whole memory.
    pub memory_limit: Option<u64>,
}

/// The queues with which a device is opened by default.
pub const QUEUES: usize = 4;

impl OpenOptions {
    /// The number of queues that are asked for.
    pub fn n_queues(&self) -> usize {
        if self.queue_families.is_empty() { QUEUES } else { self.queue_families.len() }
    }
}

pub struct Opened {
    pub device: Rc<dyn Device>,
    pub warnings: Vec<String>,
}

/// Every device of this machine, in the order of their indices. Loads Vulkan if it exists.
pub fn list() -> Vec<DeviceInfo> {
    candidates().into_iter().map(|candidate| candidate.info().clone()).collect()
}

/// Why no GPU of this list can be used; empty if one can.
pub fn no_gpu(infos: &[DeviceInfo]) -> Vec<NoGpu> {
    absent::reasons(infos)
}

/// A capability of SPIR-V that a device lacks, and the feature that provides it.
#[derive(Clone, Debug, PartialEq)]
pub struct Lacking {
    /// SPIR-V's name.
    pub capability: String,
    pub feature: Option<Feature>,
}

/// Why a device cannot run a module; empty if it can.
#[derive(Clone, Debug)]
pub struct Suited {
    pub device: DeviceInfo,
    pub lacking: Vec<Lacking>,
    /// Another reason for refusing a launch: sizes and limits.
    pub refused: Option<DeviceError>,
}

/// Every usable device in the order of the list, with the reasons why it cannot run a module. A launch fails
/// with the first of these.
pub fn suited(words: &[u32], options: &PipelineOptions) -> Result<Vec<Suited>> {
    let module = rspirv::dr::load_words(words).map_err(|error| DeviceError::BadModule {
        message: format!("these words are not SPIR-V: {error}"),
        line: None,
    })?;
    let usable = candidates().into_iter().filter(|candidate| candidate.info().lacks.is_empty());
    let each = usable.map(|candidate| {
        let (lacking, refused) = match &candidate {
            // The CPU device supports every capability that it knows.
            Candidate::Cpu(_) => (Vec::new(), cpu::check(words, options).err()),
            Candidate::Vulkan(physical) => {
                (vulkan::lacking(physical, &module), vulkan::check_beside(physical, &module, options).err())
            }
        };
        Suited { device: candidate.info().clone(), lacking, refused }
    });
    Ok(each.collect())
}

/// The device of the list that `selector` selects.
pub fn choose(infos: &[DeviceInfo], selector: &Selector) -> Result<usize> {
    let infos: Vec<&DeviceInfo> = infos.iter().collect();
    let found = find(selector, &infos).or_else(|| match selector {
        Selector::Best => find(&Selector::Cpu, &infos),
        _ => None,
    });
    found.ok_or_else(|| no_such_device(selector, &infos))
}

/// Opens the device that `selector` selects.
pub fn open(selector: &Selector, options: &OpenOptions) -> Result<Opened> {
    let began = Instant::now();
    let opened = open_unlogged(selector, options)?;
    log::opened(opened.device.info(), began);
    Ok(opened)
}

fn open_unlogged(selector: &Selector, options: &OpenOptions) -> Result<Opened> {
    match selector {
        Selector::Cpu => open_cpu(options, Vec::new()),
        Selector::Best if options.profile.is_some() => open_cpu(options, Vec::new()),
        Selector::Best if !vulkan::may_have_gpu() => open_cpu(options, Vec::new()),
        Selector::Best => open_best(options),
        _ => {
            vulkan::check_validation()?;
            let candidates = candidates();
            let infos: Vec<&DeviceInfo> = candidates.iter().map(Candidate::info).collect();
            let found = find(selector, &infos).ok_or_else(|| no_such_device(selector, &infos))?;
            match &candidates[found] {
                Candidate::Cpu(_) => open_cpu(options, Vec::new()),
                Candidate::Vulkan(physical) if options.profile.is_some() => {
                    Err(DeviceError::CannotProfile { device: physical.info.name.clone() })
                }
                Candidate::Vulkan(physical) => vulkan::open(physical, options),
            }
        }
    }
}

enum Candidate {
    Cpu(Box<DeviceInfo>),
    Vulkan(Box<Physical>),
}

impl Candidate {
    fn info(&self) -> &DeviceInfo {
        match self {
            Candidate::Cpu(info) => info,
            Candidate::Vulkan(physical) => &physical.info,
        }
    }
}

fn candidates() -> Vec<Candidate> {
    // Without a working loader or driver, only the CPU device exists.
    let physicals = vulkan::devices().unwrap_or_default();
    let mut candidates = vec![Candidate::Cpu(Box::new(cpu::info()))];
    candidates.extend(physicals.into_iter().map(|physical| Candidate::Vulkan(Box::new(physical))));
    candidates.sort_by_key(|candidate| rank(candidate.info()));
    log::found(&candidates.iter().map(Candidate::info).collect::<Vec<_>>());
    candidates
}

/// ORDER: as the header of this file says.
fn rank(info: &DeviceInfo) -> impl Ord + use<> {
    (!info.lacks.is_empty(), info.kind, Reverse(info.memory))
}

/// The position of the selected device in the sorted list.
fn find(selector: &Selector, infos: &[&DeviceInfo]) -> Option<usize> {
    let nth = |n: u32, counts: &dyn Fn(&DeviceInfo) -> bool| {
        let mut counted = infos.iter().enumerate().filter(|(_, info)| counts(info));
        counted.nth(n as usize).map(|(index, _)| index)
    };
    match selector {
        Selector::Best => nth(0, &is_good_gpu),
        Selector::Cpu => nth(0, &|info| info.backend == Backend::Cpu),
        Selector::Vulkan(n) => nth(*n, &|info| info.backend == Backend::Vulkan),
        Selector::Index(n) => nth(*n, &|_| true),
        Selector::Name(part) => {
            let part = part.to_lowercase();
            nth(0, &|info| info.name.to_lowercase().contains(&part))
        }
    }
}

/// Whether it is a default choice.
fn is_good_gpu(info: &DeviceInfo) -> bool {
    info.kind.is_gpu() && info.lacks.is_empty()
}

fn no_such_device(selector: &Selector, infos: &[&DeviceInfo]) -> DeviceError {
    let available = infos.iter().map(|info| info.name.clone()).collect();
    DeviceError::NoSuchDevice { asked: selector.to_string(), available }
}

/// The first GPU that opens, else the CPU device.
fn open_best(options: &OpenOptions) -> Result<Opened> {
    vulkan::check_validation()?;
    let mut warnings = Vec::new();
    for candidate in candidates() {
        let Candidate::Vulkan(physical) = candidate else { continue };
        if !is_good_gpu(&physical.info) {
            continue;
        }
        match vulkan::open(&physical, options) {
            Ok(mut opened) => {
                opened.warnings.splice(0..0, warnings);
                return Ok(opened);
            }
            Err(error) => {
                warnings.push(format!("device `{}` is passed over: {error}", physical.info.name));
            }
        }
    }
    open_cpu(options, warnings)
}

fn open_cpu(options: &OpenOptions, mut warnings: Vec<String>) -> Result<Opened> {
    warnings.extend(options.queue_families.iter().filter(|family| **family != 0).map(|family| {
        format!(
            "queue family {family} is not there: the built-in device has one family, which is used instead"
        )
    }));
    Ok(Opened { device: cpu::open_as(options)?, warnings })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DeviceKind::{self, *};

    fn device(name: &str, kind: DeviceKind, gigabytes: u64) -> DeviceInfo {
        let backend = if kind == BuiltIn { Backend::Cpu } else { Backend::Vulkan };
        DeviceInfo { name: name.to_owned(), backend, kind, memory: gigabytes << 30, ..cpu::info() }
    }

    fn sorted(mut devices: Vec<DeviceInfo>) -> Vec<DeviceInfo> {
        devices.sort_by_key(rank);
        devices
    }

    fn machine() -> Vec<DeviceInfo> {
        let old = DeviceInfo { lacks: vec!["Vulkan 1.2".to_owned()], ..device("Old GPU", Discrete, 99) };
        sorted(vec![
            device("Software", Software, 64),
            device("Small card", Discrete, 8),
            old,
            device("CPU", BuiltIn, 64),
            device("Chip", Integrated, 32),
            device("Odd", Other, 1),
            device("Large card", Discrete, 24),
            device("Guest", Virtual, 48),
        ])
    }

    #[test]
    fn the_order_is_the_same_everywhere() {
        let devices = machine();
        let names: Vec<&str> = devices.iter().map(|info| info.name.as_str()).collect();
        let expect = ["Large card", "Small card", "Chip", "Guest", "CPU", "Software", "Odd", "Old GPU"];
        assert_eq!(names, expect);
    }

    #[test]
    fn selectors_find_what_they_mean() {
        let check = |devices: &[DeviceInfo], text: &str, expect: Option<&str>| {
            let infos: Vec<&DeviceInfo> = devices.iter().collect();
            let found = find(&Selector::parse(text), &infos).map(|index| infos[index].name.as_str());
            assert_eq!(found, expect, "`{text}`");
        };
        let devices = machine();
        check(&devices, "", Some("Large card"));
        check(&devices, "cpu", Some("CPU"));
        check(&devices, "vulkan", Some("Large card"));
        check(&devices, "vulkan:4", Some("Software"));
        check(&devices, "vulkan:6", Some("Old GPU"));
        check(&devices, "vulkan:7", None);
        check(&devices, "4", Some("CPU"));
        check(&devices, "8", None);
        check(&devices, "CARD", Some("Large card"));
        check(&devices, "small", Some("Small card"));
        check(&devices, "tape", None);
        let plain = sorted(vec![device("Software", Software, 64), device("CPU", BuiltIn, 64)]);
        check(&plain, "", None);
        check(&plain, "vulkan", Some("Software"));
        check(&plain, "0", Some("CPU"));
    }
}
