//! Images on devices: copies of texels, kernels that load, store and sample them, and errors.

mod common;

use std::rc::Rc;

use common::devices::{Shorthand, bytes, floats, on_every_device};
use kps_device::{
    Access, AddressMode, Binding, BufferId, Command, Device, DeviceError, Dimension, Dispatch, Filter,
    ImageInfo, MemoryUsage, PipelineId, Sampler, SamplerBinding, TexelFormat,
};

fn info(format: &str, size: [u32; 3]) -> ImageInfo {
    let dimension = match size {
        [_, 1, 1] => Dimension::D1,
        [_, _, 1] => Dimension::D2,
        _ => Dimension::D3,
    };
    ImageInfo { dimension, size, format: TexelFormat::parse(format).expect("a format") }
}

fn flat(format: &str, width: u32, height: u32) -> ImageInfo {
    ImageInfo { dimension: Dimension::D2, ..info(format, [width, height, 1]) }
}

fn image(device: &Rc<dyn Device>, info: &ImageInfo) -> BufferId {
    device.alloc_image(info).expect("there is memory")
}

fn dispatch(
    pipeline: PipelineId,
    resources: &[(u32, BufferId, u64, Access)],
    samplers: &[(u32, Sampler)],
    groups: [u32; 3],
) -> Command {
    let binding = |&(binding, buffer, size, access): &(u32, BufferId, u64, Access)| Binding {
        set: 0,
        binding,
        buffer,
        offset: 0,
        size,
        access,
    };
    let sampler = |&(binding, sampler): &(u32, Sampler)| SamplerBinding { set: 0, binding, sampler };
    Command::Dispatch(Dispatch {
        pipeline,
        bindings: resources.iter().map(binding).collect(),
        samplers: samplers.iter().map(sampler).collect(),
        push_constants: Vec::new(),
        addressed: Vec::new(),
        groups,
    })
}

#[test]
fn texels_are_bytes_in_order() {
    on_every_device(|device| {
        for info in [info("r8ui", [5, 1, 1]), info("rgba8", [3, 2, 1]), info("rg16f", [2, 3, 4])] {
            let image = image(device, &info);
            let n = info.n_bytes() as usize;
            let mut back = vec![7; n];
            device.read(image, 0, &mut back).expect("it is that long");
            assert_eq!(back, vec![0; n], "a new image is zero");
            let texels: Vec<u8> = (0..n as u8).collect();
            device.write(image, 0, &texels).expect("it is that long");
            device.write(image, 2, &[200, 201]).expect("a part may be written");
            device.read(image, 1, &mut back[..4]).expect("a part may be read");
            assert_eq!(back[..4], [1, 200, 201, 4]);
            device.free(image);
        }
    });
}

#[test]
fn copies_go_between_buffers_and_images() {
    on_every_device(|device| {
        let info = flat("rgba32f", 2, 2);
        let size = info.n_bytes();
        let (first, second) = (image(device, &info), image(device, &info));
        let values: Vec<f32> = (0..16).map(|n| n as f32).collect();
        let (from, to) = (device.floats(&values), device.zeros(16));
        let copy = |from, to| Command::Copy { from, from_offset: 0, to, to_offset: 0, size };
        device.run(vec![copy(from, first), copy(first, second), copy(second, to)]);
        assert_eq!(device.get(to, 16), values);
    });
}

#[test]
fn kernels_read_and_write_texels() {
    on_every_device(|device| {
        let info = flat("rgba32f", 3, 2);
        let size = info.n_bytes();
        let (a, b) = (image(device, &info), image(device, &info));
        let values: Vec<f32> = (0..24).map(|n| n as f32).collect();
        device.write(a, 0, &bytes(&values)).expect("it is that long");
        let kernel = device.module("image_double");
        let double = |from, to| {
            dispatch(kernel, &[(0, from, size, Access::Read), (1, to, size, Access::Write)], &[], [3, 2, 1])
        };
        // Each depends on the one before.
        device.run(vec![double(a, b), double(b, a), double(a, b)]);
        let mut back = vec![0; size as usize];
        device.read(b, 0, &mut back).expect("it is that long");
        assert_eq!(floats(&back), values.iter().map(|value| 8.0 * value).collect::<Vec<_>>());
    });
}

#[test]
fn samplers_look_between_texels() {
    on_every_device(|device| {
        let info = flat("r32f", 4, 1);
        let texture = image(device, &info);
        device.write(texture, 0, &bytes(&[0.0, 1.0, 2.0, 3.0])).expect("it is that long");
        let kernel = device.module("image_sample");
        let sample = |filter, address| {
            let out = device.zeros(10);
            let resources = [(0, texture, info.n_bytes(), Access::Read), (2, out, 40, Access::Write)];
            device.run(vec![dispatch(kernel, &resources, &[(1, Sampler { filter, address })], [10, 1, 1])]);
            device.get(out, 10)
        };
        assert_eq!(
            sample(Filter::Linear, AddressMode::ClampToEdge),
            [0.0, 0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.0, 3.0]
        );
        assert_eq!(
            sample(Filter::Linear, AddressMode::Repeat),
            [1.5, 0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 1.5, 0.0]
        );
        let nearest = sample(Filter::Nearest, AddressMode::MirroredRepeat);
        // Halfway between two texels, either is the nearest.
        assert_eq!([1, 3, 5, 7, 9].map(|i| nearest[i]), [0.0, 1.0, 2.0, 3.0, 3.0]);
    });
}

#[test]
fn what_does_not_fit_is_refused() {
    on_every_device(|device| {
        let kernel = device.module("image_double");
        let check = |first: BufferId, words: &str| {
            let out = image(device, &flat("rgba32f", 2, 2));
            let resources = [(0, first, 4, Access::Read), (1, out, 64, Access::Write)];
            let commands = vec![dispatch(kernel, &resources, &[], [2, 2, 1])];
            let refused = device.submit(kps_device::QueueId(0), &kps_device::Commands::new(commands), &[]);
            match refused {
                Err(DeviceError::BadCommand { message }) => assert!(message.contains(words), "{message}"),
                other => panic!("{other:?} instead of `{words}`"),
            }
        };
        check(image(device, &flat("r32f", 2, 2)), "needs texels of rgba32f, the image has r32f");
        check(image(device, &info("rgba32f", [4, 1, 1])), "needs a 2d image, not a 1d one");
        let buffer = device.alloc(64, MemoryUsage::Device).expect("there is memory");
        check(buffer, "needs an image, not a buffer");
        assert!(device.alloc_image(&flat("r8", 1, 1 << 30)).is_err());
    });
}
