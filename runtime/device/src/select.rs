//! Which devices there are and which one is meant.
//!
//! The list is the same for `kps devices`, `--device` and `Manager(i)`: GPUs from best to worst, then
//! the built-in CPU device, then software Vulkan drivers, then Vulkan devices below the floor.

use std::cmp::Reverse;
use std::fmt;
use std::rc::Rc;

use crate::vulkan::Physical;
use crate::{Backend, Device, DeviceError, DeviceInfo, Result, cpu, vulkan};

/// Which device is meant, as written after `--device` or in `KPS_DEVICE`.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Selector {
    /// The best GPU, else the built-in CPU device.
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
    /// What was written. Anything that is no other selector is a part of a name.
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

/// As [`Selector::parse`] reads it.
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
    /// One queue of each of these families; empty is one queue of the best compute family.
    /// A family that is missing or cannot compute falls back to that one, with a warning in
    /// [`Opened::warnings`].
    pub queue_families: Vec<u32>,
    /// Vulkan extensions to enable beside those we use. One that the device lacks is left out, with a
    /// warning.
    pub extensions: Vec<String>,
    /// Treats device memory as out of the host's reach even where it is not, so that what discrete GPUs
    /// need can be tested on others.
    pub separate_memory: bool,
}

pub struct Opened {
    pub device: Rc<dyn Device>,
    pub warnings: Vec<String>,
}

/// Every device of this machine, in the order in which they are counted. Loads Vulkan where it exists.
pub fn list() -> Vec<DeviceInfo> {
    candidates().into_iter().map(|candidate| candidate.info().clone()).collect()
}

/// Opens the device that `selector` means.
pub fn open(selector: &Selector, options: &OpenOptions) -> Result<Opened> {
    match selector {
        Selector::Cpu => open_cpu(options, Vec::new()),
        Selector::Best if !vulkan::may_have_gpu() => open_cpu(options, Vec::new()),
        Selector::Best => open_best(options),
        _ => {
            // Where validation was asked for and cannot be had, it is an error instead of a shorter list.
            vulkan::check_validation()?;
            let candidates = candidates();
            let found = find(selector, &candidates).ok_or_else(|| no_such_device(selector, &candidates))?;
            match &candidates[found] {
                Candidate::Cpu(_) => open_cpu(options, Vec::new()),
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
    // Without a loader or a driver that works there is just the built-in device.
    let physicals = vulkan::devices().unwrap_or_default();
    let mut candidates = vec![Candidate::Cpu(Box::new(cpu::info()))];
    candidates.extend(physicals.into_iter().map(|physical| Candidate::Vulkan(Box::new(physical))));
    candidates.sort_by_key(|candidate| rank(candidate.info()));
    candidates
}

/// ORDER: as the head of this file tells.
fn rank(info: &DeviceInfo) -> impl Ord + use<> {
    (!info.lacks.is_empty(), info.kind, Reverse(info.memory))
}

fn find(selector: &Selector, candidates: &[Candidate]) -> Option<usize> {
    let infos = || candidates.iter().map(Candidate::info);
    match selector {
        Selector::Best => infos().position(|info| info.kind.is_gpu() && info.lacks.is_empty()),
        Selector::Cpu => infos().position(|info| info.backend == Backend::Cpu),
        Selector::Vulkan(n) => {
            let mut vulkan = infos().enumerate().filter(|(_, info)| info.backend == Backend::Vulkan);
            vulkan.nth(*n as usize).map(|(index, _)| index)
        }
        Selector::Index(n) => infos().nth(*n as usize).map(|_| *n as usize),
        Selector::Name(part) => {
            let part = part.to_lowercase();
            infos().position(|info| info.name.to_lowercase().contains(&part))
        }
    }
}

fn no_such_device(selector: &Selector, candidates: &[Candidate]) -> DeviceError {
    let available = candidates.iter().map(|candidate| candidate.info().name.clone()).collect();
    DeviceError::NoSuchDevice { asked: selector.to_string(), available }
}

/// The first GPU that opens, else the built-in device.
fn open_best(options: &OpenOptions) -> Result<Opened> {
    let mut warnings = Vec::new();
    for candidate in candidates() {
        let Candidate::Vulkan(physical) = candidate else { continue };
        if !physical.info.kind.is_gpu() || !physical.info.lacks.is_empty() {
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
            "queue family {family} is not there: the built-in device has one queue, which is used instead"
        )
    }));
    Ok(Opened { device: cpu::open()?, warnings })
}
