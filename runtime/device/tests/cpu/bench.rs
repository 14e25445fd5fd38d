//! A device with helpers for tests.

use std::rc::Rc;

use kps_device::{
    Access, Binding, BufferId, Command, Commands, Device, DeviceError, Dispatch, Finding, MemoryUsage,
    PipelineOptions, QueueId, Ticket, Waited,
    cpu::{self, Lanes},
};

pub struct Bench {
    pub device: Rc<dyn Device>,
    /// Devices with other kinds of code, which must agree with the first.
    others: Vec<Rc<dyn Device>>,
}

/// Plain numbers, which are their bytes.
pub trait Number: Copy + Default + PartialEq + std::fmt::Debug {}

impl Number for u8 {}
impl Number for i8 {}
impl Number for u16 {}
impl Number for i16 {}
impl Number for half::f16 {}
impl Number for half::bf16 {}
impl Number for i32 {}
impl Number for u32 {}
impl Number for i64 {}
impl Number for u64 {}
impl Number for f32 {}
impl Number for f64 {}

pub fn bytes_of<T: Number>(values: &[T]) -> &[u8] {
    // SAFETY: numbers have no padding, so all of their bytes are initialised.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

fn open(lanes: Lanes) -> Rc<dyn Device> {
    cpu::open_with(lanes).expect("the built-in device is always there")
}

impl Bench {
    pub fn new() -> Bench {
        Bench { device: open(Lanes::SimdGroups), others: Vec::new() }
    }

    /// Runs everything with every kind of code, and compares the results.
    pub fn all_kinds() -> Bench {
        let others = [Lanes::Single, Lanes::Adaptive].map(open).to_vec();
        Bench { device: open(Lanes::SimdGroups), others }
    }

    pub fn buffer<T: Number>(&self, values: &[T]) -> BufferId {
        let bytes = bytes_of(values);
        let buffer = self.device.alloc(bytes.len() as u64, MemoryUsage::Device).expect("there is memory");
        self.device.write(buffer, 0, bytes).expect("the buffer has this size");
        for other in &self.others {
            let other_bytes = other.alloc(bytes.len() as u64, MemoryUsage::Device).expect("there is memory");
            assert_eq!(other_bytes, buffer);
            other.write(other_bytes, 0, bytes).expect("the buffer has this size");
        }
        buffer
    }

    pub fn read<T: Number>(&self, buffer: BufferId) -> Vec<T> {
        let memory = self.device.host_memory(buffer).expect("its memory is the host's");
        let mut values = vec![T::default(); memory.len / size_of::<T>()];
        // SAFETY: any bytes are a number.
        let bytes =
            unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), size_of_val(&values[..])) };
        self.device.read(buffer, 0, bytes).expect("the buffer has this size");
        for other in &self.others {
            let mut other_bytes = vec![0; bytes.len()];
            other.read(buffer, 0, &mut other_bytes).expect("the buffer has this size");
            assert_eq!(bytes, other_bytes, "kinds of code differ");
        }
        values
    }

    /// A dispatch with whole buffers at bindings 0, 1, .. of set 0.
    pub fn dispatch(&self, words: &[u32], buffers: &[BufferId], push: &[u8], groups: [u32; 3]) -> Dispatch {
        self.dispatch_with(words, &PipelineOptions::default(), buffers, push, groups)
    }

    pub fn dispatch_with(
        &self,
        words: &[u32],
        options: &PipelineOptions,
        buffers: &[BufferId],
        push: &[u8],
        groups: [u32; 3],
    ) -> Dispatch {
        let pipeline = self.device.load(words, options).expect("the module is taken");
        for other in &self.others {
            assert_eq!(other.load(words, options), Ok(pipeline));
        }
        let bindings = buffers.iter().enumerate().map(|(i, &buffer)| Binding {
            set: 0,
            binding: i as u32,
            buffer,
            offset: 0,
            size: self.device.host_memory(buffer).expect("its memory is the host's").len as u64,
            access: Access::ReadWrite,
        });
        let (bindings, push_constants) = (bindings.collect(), push.to_vec());
        let (samplers, addressed) = (Vec::new(), Vec::new());
        Dispatch { pipeline, bindings, samplers, push_constants, addressed, groups }
    }

    pub fn submit(&self, commands: Vec<Command>) -> Result<Waited, DeviceError> {
        let run = |device: &Rc<dyn Device>| {
            let ticket = device.submit(QueueId(0), &Commands::new(commands.clone()), &[])?;
            device.wait(ticket, None)
        };
        let result = run(&self.device);
        for other in &self.others {
            assert_eq!(run(other), result);
        }
        result
    }

    /// The findings, which must be the same for every kind of code.
    pub fn findings(&self) -> Vec<Finding> {
        let findings = findings_of(&self.device);
        let sorted = |mut findings: Vec<Finding>| {
            findings.sort_by_key(|finding| format!("{finding:?}"));
            findings
        };
        for other in &self.others {
            let found = sorted(findings_of(other));
            assert_eq!(found, sorted(findings.clone()), "kinds of code find other mistakes");
        }
        findings
    }

    /// The findings of each kind of code.
    pub fn findings_of_each(&self) -> Vec<Vec<Finding>> {
        [&self.device].into_iter().chain(&self.others).map(findings_of).collect()
    }

    pub fn run(&self, words: &[u32], buffers: &[BufferId], push: &[u8], groups: [u32; 3]) {
        let dispatch = self.dispatch(words, buffers, push, groups);
        assert_eq!(self.submit(vec![Command::Dispatch(dispatch)]), Ok(Waited::Done));
    }
}

/// The findings of a device, alike for all submissions.
fn findings_of(device: &Rc<dyn Device>) -> Vec<Finding> {
    let mut findings = device.findings();
    findings.iter_mut().for_each(|finding| finding.launch.submission = Ticket::default());
    findings
}

/// The error for a module.
pub fn refusal(words: &[u32]) -> String {
    match Bench::new().device.load(words, &PipelineOptions::default()) {
        Ok(_) => panic!("the module was taken"),
        Err(error) => error.to_string(),
    }
}
