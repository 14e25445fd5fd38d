//! Vulkan devices for unit tests, under the validation layer.

use std::rc::Rc;
use std::sync::Mutex;

use super::gpu::Gpu;
use super::physical;
use super::state::State;
use super::validation::{request_validation, validation_messages};
use crate::OpenOptions;

/// Runs the test on every Vulkan device, with separate memory. Returns the messages of the validation layer.
pub fn messages_on_every_device(test: impl Fn(&mut State)) -> Vec<String> {
    messages_on_every_device_opened(OpenOptions::default(), test)
}

/// The same for devices that are opened with further options.
pub fn messages_on_every_device_opened(options: OpenOptions, test: impl Fn(&mut State)) -> Vec<String> {
    // Messages are those of the process.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    request_validation();
    let physical = physical::devices().expect("Vulkan is there");
    assert!(!physical.is_empty(), "there is no Vulkan device to test on");
    let options = OpenOptions { separate_memory: true, ..options };
    for physical in physical.iter().filter(|physical| physical.info.lacks.is_empty()) {
        let (gpu, places, _) = Gpu::create(physical, &options).expect("it opens");
        let mut state = State::new(&Rc::new(gpu), &places, &options).expect("it opens");
        test(&mut state);
        assert!(state.wait_all());
    }
    validation_messages()
}
