//! One logical device, on which all parts of an open device depend.

use std::cell::Cell;
use std::ffi::{CStr, CString, c_char};

use ash::vk;

use super::features::Known;
use super::loader;
use super::names::Names;
use super::physical::{Physical, best_family};
use crate::select::QUEUES;
use crate::{DeviceError, OpenOptions, Result, log};

pub(super) struct Gpu {
    pub physical: Physical,
    pub device: ash::Device,
    pub push_descriptors: Option<ash::khr::push_descriptor::Device>,
    pub names: Names,
    /// The distinct queue families in use.
    pub families: Vec<u32>,
    lost: Cell<bool>,
}

/// The place of one queue: the n-th of a family.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct QueuePlace {
    pub family: u32,
    pub index: u32,
}

impl Gpu {
    pub fn create(physical: &Physical, options: &OpenOptions) -> Result<(Gpu, Vec<QueuePlace>, Vec<String>)> {
        let mut warnings = Vec::new();
        let places = queue_places(physical, &options.queue_families, &mut warnings)?;
        let asked = extra_extensions(physical, &options.extensions, &mut warnings)?;
        let mut families: Vec<u32> = places.iter().map(|place| place.family).collect();
        families.sort_unstable();
        families.dedup();
        let device = create_device(physical, &places, &families, &asked)?;
        let has_push = physical.extensions.contains(&ash::khr::push_descriptor::NAME);
        let push_descriptors = match has_push {
            true => Some(ash::khr::push_descriptor::Device::new(&loader::get()?.instance, &device)),
            false => None,
        };
        let loader = loader::get()?;
        warnings.extend(loader.missing_layers.iter().map(|layer| {
            format!("the layer `{layer}` that KOMPUTE_ENV_DEBUG_LAYERS names is not installed")
        }));
        let names = Names::new(loader, &device);
        let physical = physical.clone();
        names.set(device.handle(), || format!("device `{}`", physical.info.name));
        let lost = Cell::new(false);
        Ok((Gpu { physical, device, push_descriptors, names, families, lost }, places, warnings))
    }

    /// Converts the error of a failed call; records the loss of the device.
    pub fn error(&self, call: &'static str, result: vk::Result) -> DeviceError {
        match result {
            vk::Result::ERROR_DEVICE_LOST => {
                self.lost.set(true);
                log::lost(&self.physical.info.name, call);
                DeviceError::Lost { device: self.physical.info.name.clone() }
            }
            vk::Result::ERROR_OUT_OF_DEVICE_MEMORY => {
                DeviceError::NoMemoryFor { call, device: self.physical.info.name.clone() }
            }
            _ => DeviceError::Driver { call, result: result.to_string() },
        }
    }

    /// The same, for a failure after which the device cannot be used further.
    pub fn lose(&self, call: &'static str, result: vk::Result) -> DeviceError {
        self.lost.set(true);
        self.error(call, result)
    }

    pub fn check_not_lost(&self) -> Result<()> {
        match self.lost.get() {
            true => Err(DeviceError::Lost { device: self.physical.info.name.clone() }),
            false => Ok(()),
        }
    }

    /// Waits for all work. On a lost device, nothing is running.
    pub fn wait_idle(&self) {
        // SAFETY: the device is alive, and no other thread uses its queues.
        if let Err(result) = unsafe { self.device.device_wait_idle() } {
            self.error("vkDeviceWaitIdle", result);
        }
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        // SAFETY: every object of the device owns the `Gpu` until it is destroyed itself.
        unsafe { self.device.destroy_device(None) };
    }
}

/// A queue for each requested family; by default those of the best one. Families have a limited number of queues: beyond it, queues are shared.
fn queue_places(physical: &Physical, asked: &[u32], warnings: &mut Vec<String>) -> Result<Vec<QueuePlace>> {
    let families = &physical.info.queue_families;
    let best = best_family(families).ok_or_else(|| DeviceError::BelowFloor {
        device: physical.info.name.clone(),
        lacks: vec!["a queue that computes".to_owned()],
    })?;
    let n_default = (families[best as usize].n_queues as usize).clamp(1, QUEUES);
    let asked = if asked.is_empty() { &[best; QUEUES][..n_default] } else { asked };
    let mut places: Vec<QueuePlace> = Vec::new();
    for &wanted in asked {
        let computes = families.get(wanted as usize).is_some_and(|family| family.compute);
        if !computes {
            let what = if (wanted as usize) < families.len() { "cannot compute" } else { "is not there" };
            warnings.push(format!("queue family {wanted} {what}: family {best} is used instead"));
        }
        let family = if computes { wanted } else { best };
        let n_before = places.iter().filter(|place| place.family == family).count() as u32;
        let last = families[family as usize].n_queues.saturating_sub(1);
        places.push(QueuePlace { family, index: n_before.min(last) });
    }
    Ok(places)
}

fn extra_extensions(
    physical: &Physical,
    asked: &[String],
    warnings: &mut Vec<String>,
) -> Result<Vec<CString>> {
    if asked.is_empty() {
        return Ok(Vec::new());
    }
    let instance = &loader::get()?.instance;
    // SAFETY: the handle came from this instance.
    let there = unsafe { instance.enumerate_device_extension_properties(physical.handle) };
    let there = there.unwrap_or_default();
    let mut found = Vec::new();
    for name in asked {
        let name_c = CString::new(name.as_str()).unwrap_or_default();
        if physical.extensions.contains(&name_c.as_c_str()) || found.contains(&name_c) {
            continue;
        }
        match there.iter().any(|extension| extension.extension_name_as_c_str() == Ok(&name_c)) {
            true => found.push(name_c),
            false => warnings.push(format!("device `{}` lacks the extension `{name}`", physical.info.name)),
        }
    }
    Ok(found)
}

fn create_device(
    physical: &Physical,
    places: &[QueuePlace],
    families: &[u32],
    asked: &[CString],
) -> Result<ash::Device> {
    let n_queues = |family: u32| {
        places.iter().filter(|place| place.family == family).map(|place| place.index + 1).max().unwrap_or(1)
    };
    let priorities = vec![1.0_f32; places.len()];
    let queues: Vec<_> = families
        .iter()
        .map(|&family| {
            vk::DeviceQueueCreateInfo::default()
                .queue_family_index(family)
                .queue_priorities(&priorities[..n_queues(family) as usize])
        })
        .collect();
    let names = physical.extensions.iter().copied().chain(asked.iter().map(CString::as_c_str));
    let names: Vec<*const c_char> = names.map(CStr::as_ptr).collect();
    let mut features = physical.enabled;
    let known = Known { api: physical.api, extensions: &physical.extensions };
    features.with_link(known, |first| {
        let info = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .enabled_extension_names(&names)
            .push_next(first);
        // SAFETY: `info` and all that it points to outlive the call; the device has the features.
        unsafe { loader::get()?.instance.create_device(physical.handle, &info, None) }
            .map_err(|result| DeviceError::Driver { call: "vkCreateDevice", result: result.to_string() })
    })
}
