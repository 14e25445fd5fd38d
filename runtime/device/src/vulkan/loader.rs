//! The Vulkan loader and the only instance. It is created on first use and lives as long as the process,
//! because its creation loads every driver.

use std::ffi::{CStr, CString, c_char};
use std::sync::OnceLock;

use ash::vk;

use super::validation;
use crate::{DeviceError, NoGpu, Result};

pub(super) struct Loader {
    pub instance: ash::Instance,
    /// Whether objects may be given names.
    pub has_names: bool,
    /// The debug layers that were asked for and are not installed.
    pub missing_layers: Vec<String>,
    /// The Vulkan version of the instance.
    pub version: u32,
    /// The instance's functions are in the library that this keeps loaded.
    pub entry: ash::Entry,
}

/// The instance, or an error.
pub(super) fn get() -> Result<&'static Loader> {
    get_or_why().map_err(|failure| match failure {
        NoGpu::Failed(error) => error.clone(),
        NoGpu::NoInstance { error } => {
            DeviceError::Driver { call: "vkCreateInstance", result: error.clone() }
        }
        NoGpu::NoLoader { error } => DeviceError::Driver { call: "loading Vulkan", result: error.clone() },
        failure => DeviceError::Driver { call: "loading Vulkan", result: failure.to_string() },
    })
}

/// The instance, or the reason why there is none.
pub(super) fn get_or_why() -> std::result::Result<&'static Loader, &'static NoGpu> {
    static LOADER: OnceLock<std::result::Result<Loader, NoGpu>> = OnceLock::new();
    LOADER.get_or_init(load).as_ref()
}

fn load() -> std::result::Result<Loader, NoGpu> {
    // SAFETY: loading runs the initialisers of the system's own Vulkan loader, once.
    let entry =
        unsafe { ash::Entry::load() }.map_err(|error| NoGpu::NoLoader { error: error.to_string() })?;
    // SAFETY: the loader is loaded.
    let version = unsafe { entry.try_enumerate_instance_version() }.ok().flatten();
    let version = version.unwrap_or(vk::API_VERSION_1_0).min(vk::API_VERSION_1_3);
    if version < vk::API_VERSION_1_1 {
        return Err(NoGpu::OldLoader);
    }
    let (debug_layers, missing_layers) = validation::debug_layers(&entry);
    let has_names = validation::requested()
        || (!debug_layers.is_empty() && has_extension(&entry, ash::ext::debug_utils::NAME));
    let instance = create_instance(&entry, version, &debug_layers, has_names)?;
    if has_names {
        validation::listen(&entry, &instance).map_err(NoGpu::Failed)?;
    }
    Ok(Loader { instance, has_names, missing_layers, version, entry })
}

fn create_instance(
    entry: &ash::Entry,
    version: u32,
    debug_layers: &[CString],
    has_names: bool,
) -> std::result::Result<ash::Instance, NoGpu> {
    let application = vk::ApplicationInfo::default().application_name(c"kps").api_version(version);
    let mut extensions: Vec<*const c_char> = Vec::new();
    let mut flags = vk::InstanceCreateFlags::empty();
    // Without this, portability drivers (Vulkan on top of another API) are not listed.
    if has_extension(entry, ash::khr::portability_enumeration::NAME) {
        extensions.push(ash::khr::portability_enumeration::NAME.as_ptr());
        flags |= vk::InstanceCreateFlags::ENUMERATE_PORTABILITY_KHR;
    }
    let mut layers: Vec<*const c_char> = debug_layers.iter().map(|layer| layer.as_ptr()).collect();
    if has_names {
        extensions.push(ash::ext::debug_utils::NAME.as_ptr());
    }
    let mut checks = vk::ValidationFeaturesEXT::default().enabled_validation_features(&validation::CHECKS);
    let mut info = vk::InstanceCreateInfo::default().application_info(&application);
    if validation::requested() {
        validation::check_installed(entry).map_err(NoGpu::Failed)?;
        if !debug_layers.iter().any(|layer| layer.as_c_str() == validation::LAYER) {
            layers.push(validation::LAYER.as_ptr());
        }
        extensions.push(ash::ext::validation_features::NAME.as_ptr());
        info = info.push_next(&mut checks);
    }
    let info = info.flags(flags).enabled_layer_names(&layers).enabled_extension_names(&extensions);
    // SAFETY: `info` and all that it points to outlive the call.
    unsafe { entry.create_instance(&info, None) }
        .map_err(|result| NoGpu::NoInstance { error: result.to_string() })
}

fn has_extension(entry: &ash::Entry, name: &CStr) -> bool {
    // SAFETY: the loader is loaded.
    let extensions = unsafe { entry.enumerate_instance_extension_properties(None) };
    extensions.is_ok_and(|list| list.iter().any(|e| e.extension_name_as_c_str() == Ok(name)))
}
