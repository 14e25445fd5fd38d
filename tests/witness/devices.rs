//! The devices that must agree, and one launch on one of them.

use std::rc::Rc;

use kps_device::cpu::{self, Lanes};
use kps_device::{
    Access, Binding, Command, Commands, Device, DeviceError, Dispatch, Feature, MemoryUsage, OpenOptions,
    PipelineOptions, QueueId, Selector, vulkan,
};
use kps_kernel::workarounds::Driver;
use kps_kernel::{BindingPlace, KernelModule, Target, Type, Workarounds};

use crate::data::{Arguments, Launch};
use crate::interpreter::Value;

/// A device with its name in these tests.
pub type Named = (&'static str, Rc<dyn Device>);

pub struct Devices {
    /// SIMD groups, single lanes, and the driver.
    pub all: Vec<Named>,
    /// The target that suits all of them.
    pub target: Target,
    /// The driver's name of its device.
    pub vulkan_name: String,
    /// Whether it computes with native instructions of the host through LLVM: quotients and roots are then
    /// rounded correctly.
    pub is_lavapipe: bool,
}

impl Devices {
    /// Opens Vulkan with its validation layer; a missing device fails the test.
    pub fn open() -> Devices {
        vulkan::request_validation();
        let cpu = |lanes| cpu::open_with(lanes).expect("the built-in device is always there");
        let opened = kps_device::select::open(&Selector::Vulkan(0), &OpenOptions::default());
        let vulkan =
            opened.unwrap_or_else(|error| panic!("there is no Vulkan device to test on: {error}")).device;
        let has = |feature| vulkan.info().features.contains(&feature);
        let vulkan_name = vulkan.info().name.clone();
        let driver = vulkan.info().vulkan_driver.clone().expect("a Vulkan device has a driver");
        let is_lavapipe = driver.id == Driver::Lavapipe as i32;
        let target = Target {
            scalar_layout: has(Feature::ScalarLayout),
            robust_access: has(Feature::RobustAccess),
            float_controls: has(Feature::FloatControls),
            workarounds: Workarounds::of_vulkan_driver(driver.id, &driver.version),
            ..Target::portable()
        };
        let all = vec![
            ("cpu, in SIMD groups", cpu(Lanes::SimdGroups)),
            ("cpu, singly", cpu(Lanes::Single)),
            (VULKAN, vulkan),
        ];
        Devices { all, target, vulkan_name, is_lavapipe }
    }

    /// All devices except the driver's.
    pub fn built_in(&self) -> Vec<Named> {
        self.all.iter().filter(|(name, _)| *name != VULKAN).cloned().collect()
    }
}

/// The name of the device that a driver runs.
pub const VULKAN: &str = "vulkan";

/// Whether a kernel exceeds the limits of the CPU device. A failure of code generation is not one of these.
pub fn is_too_large(error: &DeviceError) -> bool {
    let message = error.to_string();
    message.starts_with("the kernel is too large") && !message.contains("cannot be made")
}

/// Runs a module, and returns the content of each array afterwards, in the order of its bindings.
pub fn launch(
    device: &dyn Device,
    module: &KernelModule,
    launch: &Launch,
    arguments: &Arguments,
) -> Result<Vec<Vec<u8>>, DeviceError> {
    let pipeline = device.load(&module.words, &PipelineOptions::default())?;
    let mut push_constants = vec![0; module.push_constant_size as usize];
    let mut uniforms = vec![0; module.uniform_size as usize];
    let mut bindings = Vec::new();
    let whole = |set, binding, bytes: &[u8], access| -> Result<Binding, DeviceError> {
        let buffer = device.alloc(bytes.len() as u64, MemoryUsage::Host)?;
        device.write(buffer, 0, bytes)?;
        Ok(Binding { set, binding, buffer, offset: 0, size: bytes.len() as u64, access })
    };
    for binding in &module.bindings {
        let name = &*binding.name;
        match &binding.place {
            BindingPlace::Buffer { set, binding, reads, writes, .. } => {
                let access = match (reads, writes) {
                    (true, true) => Access::ReadWrite,
                    (false, true) => Access::Write,
                    _ => Access::Read,
                };
                bindings.push(whole(*set, *binding, &arguments.array(name).bytes, access)?);
            }
            BindingPlace::PushConstant { offset, ty } => {
                put(ty, arguments.scalar(name), *offset as usize, &mut push_constants);
            }
            BindingPlace::Uniform { offset, ty } => {
                put(ty, arguments.scalar(name), *offset as usize, &mut uniforms);
            }
            BindingPlace::Texture { .. } | BindingPlace::Sampler { .. } => panic!("none is generated"),
        }
    }
    let n_arrays = bindings.len();
    if !uniforms.is_empty() {
        bindings.push(whole(1, 0, &uniforms, Access::Read)?);
    }
    let interface = device.interface(pipeline)?;
    for member in interface.push_constants.iter().flat_map(|block| &block.members) {
        let words = match member.name.as_deref() {
            Some("kps.domain") => launch.domain.to_vec(),
            Some(name) if name.starts_with("kps.shape.") => vec![arguments.axis(name)],
            _ => continue,
        };
        let bytes = words.iter().flat_map(|word| word.to_le_bytes());
        push_constants[member.offset as usize..].iter_mut().zip(bytes).for_each(|(at, byte)| *at = byte);
    }
    let (samplers, groups) = (Vec::new(), launch.groups);
    let bound = bindings.clone();
    let addressed = Vec::new();
    let dispatch = Dispatch { pipeline, bindings: bound, samplers, push_constants, addressed, groups };
    let ticket = device.submit(QueueId(0), &Commands::new(vec![Command::Dispatch(dispatch)]), &[])?;
    device.wait(ticket, None)?;
    let mut results = Vec::new();
    for (at, binding) in bindings.iter().enumerate() {
        if at < n_arrays {
            let mut bytes = vec![0; binding.size as usize];
            device.read(binding.buffer, 0, &mut bytes)?;
            results.push(bytes);
        }
        device.free(binding.buffer);
    }
    Ok(results)
}

/// Writes the numbers of a parameter, each with its width in the push constants.
fn put(ty: &Type, value: &Value, start: usize, block: &mut [u8]) {
    let mut at = start;
    let mut bytes = vec![0; ty.packed_size() as usize];
    value.write(ty, &mut bytes);
    for (offset, scalar) in ty.numbers() {
        let number = Value::read(&scalar.into(), &bytes[offset as usize..]);
        let wide = scalar.in_push_constants();
        let size = wide.size();
        at = at.next_multiple_of(size);
        // Every value of the narrow type is one of the wide type.
        block[at..at + size].copy_from_slice(&number.bits(wide).to_le_bytes()[..size]);
        at += size;
    }
}
