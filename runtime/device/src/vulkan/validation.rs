//! The validation layer: enabled in tests, with its messages stored for them.
//!
//! `KOMPUTE_ENV_DEBUG_LAYERS` in the environment names further layers, whose messages are for a log.

use std::borrow::Cow;
use std::ffi::{CStr, CString, c_void};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use ash::vk;

use crate::{DeviceError, Result};

pub(super) const LAYER: &CStr = c"VK_LAYER_KHRONOS_validation";

pub(super) const CHECKS: [vk::ValidationFeatureEnableEXT; 1] =
    [vk::ValidationFeatureEnableEXT::SYNCHRONIZATION_VALIDATION];

static REQUESTED: AtomicBool = AtomicBool::new(false);
static MESSAGES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Enables the validation layer; to be called before Vulkan is first used. `KPS_VALIDATION=1` in the
/// environment does the same. If the layer is missing, devices cannot be opened.
pub fn request_validation() {
    REQUESTED.store(true, Ordering::Relaxed);
}

/// The warnings and errors of the validation layer since the last call, from all devices of the process;
/// empty if it was not requested.
pub fn validation_messages() -> Vec<String> {
    if requested() { messages() } else { Vec::new() }
}

/// The messages of the layers that `KOMPUTE_ENV_DEBUG_LAYERS` names, since the last call.
pub fn layer_messages() -> Vec<String> {
    if requested() { Vec::new() } else { messages() }
}

fn messages() -> Vec<String> {
    std::mem::take(&mut *MESSAGES.lock().unwrap_or_else(|poisoned| poisoned.into_inner()))
}

pub(super) fn requested() -> bool {
    REQUESTED.load(Ordering::Relaxed) || std::env::var_os("KPS_VALIDATION").is_some_and(|value| value == "1")
}

/// The layers of `KOMPUTE_ENV_DEBUG_LAYERS` that are installed, and those that are not.
pub(super) fn debug_layers(entry: &ash::Entry) -> (Vec<CString>, Vec<String>) {
    let Some(asked) = std::env::var("KOMPUTE_ENV_DEBUG_LAYERS").ok().filter(|asked| !asked.trim().is_empty())
    else {
        return (Vec::new(), Vec::new());
    };
    // SAFETY: the loader is loaded.
    let there = unsafe { entry.enumerate_instance_layer_properties() }.unwrap_or_default();
    let (mut installed, mut missing) = (Vec::new(), Vec::new());
    for name in asked.split_whitespace() {
        let layer = there.iter().filter_map(|layer| layer.layer_name_as_c_str().ok());
        match layer.map(CStr::to_owned).find(|layer| layer.as_bytes() == name.as_bytes()) {
            Some(layer) => installed.push(layer),
            None => missing.push(name.to_owned()),
        }
    }
    (installed, missing)
}

pub(super) fn check_installed(entry: &ash::Entry) -> Result<()> {
    // SAFETY: the loader is loaded.
    let layers = unsafe { entry.enumerate_instance_layer_properties() }.unwrap_or_default();
    if layers.iter().any(|layer| layer.layer_name_as_c_str() == Ok(LAYER)) {
        return Ok(());
    }
    let result = "the layer `VK_LAYER_KHRONOS_validation` was asked for and is not installed".to_owned();
    Err(DeviceError::Driver { call: "vkCreateInstance", result })
}

/// Registers a callback for messages of this instance, for as long as the process lives.
pub(super) fn listen(entry: &ash::Entry, instance: &ash::Instance) -> Result<()> {
    use vk::{DebugUtilsMessageSeverityFlagsEXT as Severity, DebugUtilsMessageTypeFlagsEXT as Type};
    let info = vk::DebugUtilsMessengerCreateInfoEXT::default()
        .message_severity(Severity::WARNING | Severity::ERROR)
        .message_type(Type::GENERAL | Type::VALIDATION | Type::PERFORMANCE)
        .pfn_user_callback(Some(keep));
    let debug = ash::ext::debug_utils::Instance::new(entry, instance);
    // SAFETY: `keep` has the signature that the layer calls.
    unsafe { debug.create_debug_utils_messenger(&info, None) }.map(drop).map_err(|result| {
        DeviceError::Driver { call: "vkCreateDebugUtilsMessengerEXT", result: result.to_string() }
    })
}

unsafe extern "system" fn keep(
    _severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    _types: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    _user: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: the layer passes data that is valid during the call.
    let text = unsafe { data.as_ref() }.and_then(|data| {
        let message = (!data.p_message.is_null()).then_some(data.p_message)?;
        // SAFETY: a non-null message is a string that ends with a zero.
        Some(unsafe { CStr::from_ptr(message) }.to_string_lossy())
    });
    let mut messages = MESSAGES.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    messages.push(text.unwrap_or(Cow::Borrowed("an empty message")).into_owned());
    vk::FALSE
}
