//! The built-in device: modules run on it, their results compared.

mod common;

use std::rc::Rc;

use kps_device::{
    Access, Binding, BufferId, Command, Commands, Device, Dispatch, MemoryUsage, PipelineOptions, QueueId,
    Waited, cpu,
};

struct Bench {
    device: Rc<dyn Device>,
}

impl Bench {
    fn new() -> Bench {
        Bench { device: cpu::open().expect("the built-in device is always there") }
    }

    fn buffer<T: Copy>(&self, values: &[T]) -> BufferId {
        let size = size_of_val(values);
        let buffer = self.device.alloc(size as u64, MemoryUsage::Device).expect("there is memory");
        // SAFETY: plain numbers are bytes.
        let bytes = unsafe { std::slice::from_raw_parts(values.as_ptr().cast::<u8>(), size) };
        self.device.write(buffer, 0, bytes).expect("the buffer has this size");
        buffer
    }

    fn read<T: Copy + Default>(&self, buffer: BufferId, n: usize) -> Vec<T> {
        let mut values = vec![T::default(); n];
        // SAFETY: plain numbers are bytes.
        let bytes =
            unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast::<u8>(), n * size_of::<T>()) };
        self.device.read(buffer, 0, bytes).expect("the buffer has this size");
        values
    }

    fn run(&self, words: &[u32], buffers: &[BufferId], push: &[u8], groups: [u32; 3]) {
        let pipeline = self.device.load(words, &PipelineOptions::default()).expect("the module is taken");
        let bindings = buffers.iter().enumerate().map(|(i, &buffer)| Binding {
            set: 0,
            binding: i as u32,
            buffer,
            offset: 0,
            size: self.device.host_memory(buffer).expect("it is shared").len as u64,
            access: Access::ReadWrite,
        });
        let dispatch =
            Dispatch { pipeline, bindings: bindings.collect(), push_constants: push.to_vec(), groups };
        let commands = Commands::new(vec![Command::Dispatch(dispatch)]);
        let ticket = self.device.submit(QueueId(0), &commands, &[]).expect("the commands fit");
        assert_eq!(self.device.wait(ticket, None), Ok(Waited::Done));
    }
}

#[test]
fn arrays_are_multiplied() {
    let bench = Bench::new();
    let (a, b, c) =
        (bench.buffer(&[1f32, 2.0, 3.0]), bench.buffer(&[2f32, 2.0, 2.0]), bench.buffer(&[0f32; 3]));
    bench.run(&common::module("multiply"), &[a, b, c], &[], [3, 1, 1]);
    assert_eq!(bench.read::<f32>(c, 3), [2.0, 4.0, 6.0]);
}
