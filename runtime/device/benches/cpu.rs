//! The run time of the CPU device: `cargo bench -p kps-device --bench cpu`. Medians.

use std::rc::Rc;
use std::time::{Duration, Instant};

use kps_device::{
    Access, Binding, BufferId, Command, Commands, Device, Dispatch, MemoryUsage, PipelineOptions, QueueId,
    cpu,
};
use kps_spirv_tools::TargetEnv;

fn main() {
    let multiply = assemble(include_str!("../tests/modules/multiply.spvasm"));
    let saxpy = assemble(include_str!("modules/saxpy.spvasm"));
    let mandelbrot = assemble(include_str!("modules/mandelbrot.spvasm"));

    let first = median(20, || {
        let device = cpu::open().expect("it is always there");
        load(&device, &multiply);
    });
    println!("open and load multiply                {first:>10.1?}");
    let device = cpu::open().expect("it is always there");
    let mut options = PipelineOptions::default();
    let again = median(50, || {
        // A new constant each time, to bypass the cache.
        options.spec_constants.push((1000, 0));
        device.load(&mandelbrot, &options).expect("it is taken");
    });
    println!("load mandelbrot into an open device   {again:>10.1?}");

    let small = [buffer(&device, 12), buffer(&device, 12), buffer(&device, 12)];
    report(&device, "re-run of multiply, 3 elements", &multiply, &small, &[], [3, 1, 1]);

    let n = 16u32 << 20;
    let arrays = [buffer(&device, u64::from(n) * 4), buffer(&device, u64::from(n) * 4)];
    let push = [2.0f32.to_bits().to_le_bytes(), n.to_le_bytes()].concat();
    report(&device, "saxpy f32 16M", &saxpy, &arrays, &push, [n / 256, 1, 1]);

    let counts = [buffer(&device, 4 << 20)];
    report(&device, "mandelbrot 1024 x 1024 x 256", &mandelbrot, &counts, &[], [64, 64, 1]);
}

fn report(
    device: &Rc<dyn Device>,
    name: &str,
    words: &[u32],
    buffers: &[BufferId],
    push: &[u8],
    groups: [u32; 3],
) {
    let pipeline = load(device, words);
    let bindings = buffers.iter().enumerate().map(|(i, &buffer)| Binding {
        set: 0,
        binding: i as u32,
        buffer,
        offset: 0,
        size: device.host_memory(buffer).expect("it is the host's").len as u64,
        access: Access::ReadWrite,
    });
    let (bindings, push_constants) = (bindings.collect(), push.to_vec());
    let (samplers, addressed) = (Vec::new(), Vec::new());
    let dispatch = Dispatch { pipeline, bindings, samplers, push_constants, addressed, groups };
    let commands = Commands::new(vec![Command::Dispatch(dispatch)]);
    let time = median(15, || {
        let ticket = device.submit(QueueId(0), &commands, &[]).expect("it fits");
        device.wait(ticket, None).expect("it runs");
    });
    println!("{name:<37} {time:>10.1?}");
}

fn median(n: usize, mut work: impl FnMut()) -> Duration {
    work();
    let mut times: Vec<Duration> = (0..n)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed()
        })
        .collect();
    times.sort();
    times[n / 2]
}

fn assemble(text: &str) -> Vec<u32> {
    kps_spirv_tools::assemble(text, TargetEnv::Vulkan_1_2).expect("the module assembles")
}

fn load(device: &Rc<dyn Device>, words: &[u32]) -> kps_device::PipelineId {
    device.load(words, &PipelineOptions::default()).expect("the module is taken")
}

fn buffer(device: &Rc<dyn Device>, size: u64) -> BufferId {
    let buffer = device.alloc(size, MemoryUsage::Device).expect("there is memory");
    // Touches the pages before timing.
    device.write(buffer, 0, &vec![0; size as usize]).expect("it has this size");
    buffer
}
