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

/// Tests rely on the layer to report missing barriers, so these test that it does.
#[cfg(test)]
mod tests {
    use super::super::images;
    use super::super::state::State;
    use super::super::testing::messages_on_every_device;
    use crate::{BufferId, Command, Commands, MemoryUsage, QueueId};

    /// At this size, a copy is a kernel.
    const LARGE: u64 = 1 << 20;

    /// Runs the test with three buffers that no work uses. Each message of the layer must be a hazard.
    fn check(size: u64, test: impl Fn(&mut State, [BufferId; 3]), expect_hazard: bool) {
        let messages = messages_on_every_device(|state| {
            let buffers = [(); 3].map(|()| state.alloc(size, MemoryUsage::Device).expect("there is memory"));
            for buffer in buffers {
                state.write(buffer, 0, &vec![1; size as usize]).expect("it fits");
            }
            state.read(buffers[2], 0, &mut [0]).expect("it is there");
            test(state, buffers);
        });
        assert_eq!(!messages.is_empty(), expect_hazard, "{messages:?}");
        let is_hazard = |message: &String| message.contains("SYNC-HAZARD-READ-AFTER-WRITE");
        assert!(messages.iter().all(is_hazard), "{messages:?}");
    }

    fn submit(state: &mut State, from: BufferId, to: BufferId, size: u64) {
        let copy = Command::Copy { from, from_offset: 0, to, to_offset: 0, size };
        state.submit(QueueId(0), &Commands::once(vec![copy]), &[]).expect("the copy is good");
    }

    #[test]
    fn a_missing_barrier_between_submissions_is_reported() {
        for size in [64, LARGE] {
            let chain = |state: &mut State, [a, b, c]: [BufferId; 3], forget: bool| {
                submit(state, a, b, size);
                state.queues[0].flush().expect("it runs");
                if forget {
                    state.queues[0].hazards.clear();
                }
                submit(state, b, c, size);
            };
            check(size, |state, buffers| chain(state, buffers, false), false);
            check(size, |state, buffers| chain(state, buffers, true), true);
        }
    }

    #[test]
    fn a_missing_barrier_within_a_command_buffer_is_reported() {
        let chain = |state: &mut State, [a, b, c]: [BufferId; 3]| {
            let place = |id| state.buffers.get(id).expect("it is there").buffer.place;
            let [a, b, c] = [a, b, c].map(place);
            let queue = &mut state.queues[0];
            let commands = queue.open().expect("it begins").commands;
            images::copy(&state.gpu.device, commands, (&a, 0), (&b, 0), 64);
            images::copy(&state.gpu.device, commands, (&b, 0), (&c, 0), 64);
            queue.issue(2, false);
        };
        check(64, chain, true);
    }

    /// The end of a submission is known to the layer, too.
    #[test]
    fn memory_that_the_host_waited_for_needs_no_barrier() {
        check(
            64,
            |state, [a, b, c]| {
                submit(state, a, b, 64);
                let (last, interrupt) = (state.queues[0].issued, state.interrupt.clone());
                state.queues[0].wait(last, None, &interrupt).expect("it ends");
                state.queues[0].hazards.clear();
                submit(state, b, c, 64);
            },
            false,
        );
    }
}
