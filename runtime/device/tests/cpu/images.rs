//! Images and samplers.

use half::f16;
use kps_device::{
    Access, AddressMode, Binding, BufferId, Channel, Command, Dimension, Dispatch, Filter, ImageInfo,
    PipelineOptions, Sampler, SamplerBinding, TexelFormat,
};

use super::assembly::kernel;
use super::bench::Bench;

/// Declares image `%img` of a SPIR-V format at binding 1.
fn declarations(dim: &str, scalar: &str, format: &str) -> String {
    // All tests declare the other vectors.
    let vector = if scalar == "i32" { "%v4i32 = OpTypeVector %i32 4\n" } else { "" };
    format!(
        "OpDecorate %img DescriptorSet 0\nOpDecorate %img Binding 1\n{vector}\
         %image = OpTypeImage %{scalar} {dim} 0 0 0 2 {format}\n%pimg = OpTypePointer UniformConstant %image\n\
         %ptexel = OpTypePointer Image %{scalar}\n%img = OpVariable %pimg UniformConstant"
    )
}

fn image(bench: &Bench, dimension: Dimension, size: [u32; 3], format: &str) -> BufferId {
    let format = TexelFormat::parse(format).expect("a format");
    bench.device.alloc_image(&ImageInfo { dimension, size, format }).expect("there is memory")
}

/// Runs a body with a buffer at binding 0 and an image at 1.
fn run(
    bench: &Bench,
    words: &[u32],
    buffer: BufferId,
    image: BufferId,
    samplers: Vec<SamplerBinding>,
    n: u32,
) {
    let pipeline = bench.device.load(words, &PipelineOptions::default()).expect("the module is taken");
    let size = |id| bench.device.host_memory(id).expect("its memory is the host's").len as u64;
    let binding = |binding, buffer| Binding {
        set: 0,
        binding,
        buffer,
        offset: 0,
        size: size(buffer),
        access: Access::ReadWrite,
    };
    let bindings = vec![binding(0, buffer), binding(1, image)];
    let dispatch = Dispatch {
        pipeline,
        bindings,
        samplers,
        push_constants: Vec::new(),
        addressed: Vec::new(),
        groups: [n, 1, 1],
    };
    bench.submit(vec![Command::Dispatch(dispatch)]).expect("it runs");
}

/// The value of a float after a store and a load.
fn through(channel: Channel, value: f32) -> f32 {
    let normalised =
        |value: f32, least: f32, most: f32| (value.clamp(least, 1.0) * most).round_ties_even() / most;
    match channel {
        Channel::F16 => f16::from_f32(value).to_f32(),
        Channel::Unorm16 => normalised(value, 0.0, 65535.0),
        Channel::Unorm8 => normalised(value, 0.0, 255.0),
        Channel::Snorm16 => normalised(value, -1.0, 32767.0),
        Channel::Snorm8 => normalised(value, -1.0, 127.0),
        _ => value,
    }
}

#[test]
fn texels_of_every_format_come_back() {
    for format in TexelFormat::all() {
        let scalar = match format.channel {
            Channel::I32 | Channel::I16 | Channel::I8 => "i32",
            Channel::U32 | Channel::U16 | Channel::U8 => "u32",
            _ => "f32",
        };
        // Texel (1, 2) is written, and read again in the next dispatch.
        let prologue =
            "%at0 = OpAccessChain %p0 %b0 %n0 %i\n%place = OpCompositeConstruct %v2u32 %n1 %n2\n%im = OpLoad %image %img\n".to_owned();
        let write = format!(
            "{prologue}%x = OpLoad %{scalar} %at0\n%t = OpCompositeConstruct %v4{scalar} %x %x %x %x\n\
             OpImageWrite %im %place %t"
        );
        let read = |channel: u8| {
            format!(
                "{prologue}%t = OpImageRead %v4{scalar} %im %place\n%x = OpCompositeExtract %{scalar} %t {channel}\n\
                 OpStore %at0 %x"
            )
        };
        let declared = declarations("2D", scalar, "Unknown");
        let bench = Bench::new();
        let image = image(&bench, Dimension::D2, [3, 4, 1], format.name());
        for value in [0.25f32, -0.7, 1.0, 3.0, 100.0, -1.0] {
            let bits = match scalar {
                "f32" => value.to_bits(),
                _ => value as i32 as u32,
            };
            let buffer = bench.buffer(&[bits; 4]);
            run(&bench, &kernel(&[(scalar, 4)], &declared, &write), buffer, image, Vec::new(), 1);
            for channel in 0..4 {
                run(&bench, &kernel(&[(scalar, 4)], &declared, &read(channel)), buffer, image, Vec::new(), 1);
                let word = bench.read::<u32>(buffer)[0];
                let is_stored = channel < format.n_channels;
                match scalar {
                    "f32" => {
                        let missing = if channel == 3 { 1.0 } else { 0.0 };
                        let expected = if is_stored { through(format.channel, value) } else { missing };
                        assert_eq!(f32::from_bits(word), expected, "{} {channel}", format.name());
                    }
                    _ => {
                        let whole = value as i32;
                        let expected = match format.channel {
                            _ if !is_stored => i32::from(channel == 3),
                            Channel::I16 => i32::from(whole as i16),
                            Channel::I8 => i32::from(whole as i8),
                            Channel::U16 => i32::from(whole as u16),
                            Channel::U8 => i32::from(whole as u8),
                            _ => whole,
                        };
                        assert_eq!(word as i32, expected, "{} {channel}", format.name());
                    }
                }
            }
        }
        assert!(bench.read::<u8>(image).iter().filter(|&&byte| byte != 0).count() <= format.size() as usize);
    }
}

#[test]
fn outside_there_is_nothing() {
    // Lane i writes texel i - 1 of three, and reads it again.
    let body = "%im = OpLoad %image %img\n%place = OpISub %u32 %i %n1\n%t = OpCompositeConstruct %v4f32 %f2 %f2 %f2 %f2\n\
                OpImageWrite %im %place %t\n%r = OpImageRead %v4f32 %im %place\n%x = OpCompositeExtract %f32 %r 0\n\
                %size = OpImageQuerySize %u32 %im\n%s = OpConvertUToF %f32 %size\n%y = OpFAdd %f32 %x %s\n\
                %at0 = OpAccessChain %p0 %b0 %n0 %i\nOpStore %at0 %y";
    let bench = Bench::new();
    let image = image(&bench, Dimension::D1, [3, 1, 1], "r32f");
    let buffer = bench.buffer(&[9f32; 8]);
    let words = kernel(&[("f32", 4)], &declarations("1D", "f32", "R32f"), body);
    run(&bench, &words, buffer, image, Vec::new(), 2);
    assert_eq!(bench.read::<f32>(image), [2.0; 3]);
    assert_eq!(bench.read::<f32>(buffer), [3.0, 5.0, 5.0, 5.0, 3.0, 3.0, 3.0, 3.0]);
}

#[test]
fn atomics_on_texels() {
    let body = "%place = OpCompositeConstruct %v3u32 %n1 %n0 %n1\n%at = OpImageTexelPointer %ptexel %img %place %n0\n\
                %o = OpAtomicIAdd %u32 %at %n1 %n0 %i\n%far = OpCompositeConstruct %v3u32 %n1 %n0 %n5\n\
                %away = OpImageTexelPointer %ptexel %img %far %n0\n%p = OpAtomicIAdd %u32 %away %n1 %n0 %n10\n\
                %at0 = OpAccessChain %p0 %b0 %n0 %i\nOpStore %at0 %p";
    let bench = Bench::new();
    let image = image(&bench, Dimension::D3, [2, 1, 2], "r32ui");
    let buffer = bench.buffer(&[7u32; 8]);
    let words = kernel(&[("u32", 4)], &declarations("3D", "u32", "R32ui"), body);
    run(&bench, &words, buffer, image, Vec::new(), 2);
    assert_eq!(bench.read::<u32>(image), [0, 0, 0, 28]);
    assert_eq!(bench.read::<u32>(buffer), [0; 8]);
}

/// The first channel at `x` of the buffer, in a row of four texels 0, 1, 2, 3.
fn sampled(sampler: Sampler, xs: &[f32]) -> Vec<f32> {
    let declared = "OpDecorate %img DescriptorSet 0\nOpDecorate %img Binding 1\n\
         %image = OpTypeImage %f32 2D 0 0 0 1 Unknown\n%both = OpTypeSampledImage %image\n\
         %pimg = OpTypePointer UniformConstant %both\n%img = OpVariable %pimg UniformConstant";
    let body = "%at0 = OpAccessChain %p0 %b0 %n0 %i\n%x = OpLoad %f32 %at0\n%place = OpCompositeConstruct %v2f32 %x %f1\n\
                %im = OpLoad %both %img\n%t = OpImageSampleExplicitLod %v4f32 %im %place Lod %f0\n\
                %y = OpCompositeExtract %f32 %t 0\nOpStore %at0 %y";
    let bench = Bench::new();
    let image = image(&bench, Dimension::D2, [4, 1, 1], "r32f");
    let row: Vec<u8> = [0f32, 1.0, 2.0, 3.0].iter().flat_map(|texel| texel.to_le_bytes()).collect();
    bench.device.write(image, 0, &row).expect("the image has this size");
    let buffer = bench.buffer(xs);
    let samplers = vec![SamplerBinding { set: 0, binding: 1, sampler }];
    let words = kernel(&[("f32", 4)], declared, body);
    run(&bench, &words, buffer, image, samplers, xs.len().div_ceil(4) as u32);
    bench.read(buffer)
}

#[test]
fn samplers_look_between_and_beyond() {
    let sampler = |filter, address| Sampler { filter, address };
    let xs = [-0.125, 0.0, 0.125, 0.3, 0.5, 0.875, 1.0, 1.2];
    let nearest = |address| sampled(sampler(Filter::Nearest, address), &xs);
    assert_eq!(nearest(AddressMode::ClampToEdge), [0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 3.0, 3.0]);
    assert_eq!(nearest(AddressMode::Repeat), [3.0, 0.0, 0.0, 1.0, 2.0, 3.0, 0.0, 0.0]);
    assert_eq!(nearest(AddressMode::MirroredRepeat), [0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 3.0, 3.0]);
    let xs = [-0.125, 0.0, 0.125, 0.25, 0.375, 0.5, 1.0, 2.0];
    let linear = |address| sampled(sampler(Filter::Linear, address), &xs);
    assert_eq!(linear(AddressMode::ClampToEdge), [0.0, 0.0, 0.0, 0.5, 1.0, 1.5, 3.0, 3.0]);
    assert_eq!(linear(AddressMode::Repeat), [3.0, 1.5, 0.0, 0.5, 1.0, 1.5, 1.5, 1.5]);
}

#[test]
fn invocations_that_part_write_their_own_texels() {
    // Odd ones write what they read of the texel before theirs, twice; the others add to a texel and store a size.
    let bench = Bench::new();
    let image = image(&bench, Dimension::D1, [9, 1, 1], "r32i");
    bench.device.write(image, 0, super::bench::bytes_of(&[1i32, 2, 3, 4, 5, 6, 7, 8, 100])).expect("it fits");
    let body = "%at0 = OpAccessChain %p0 %b0 %n0 %i\n%im = OpLoad %image %img\n\
        %low = OpBitwiseAnd %u32 %i %n1\n%odd = OpIEqual %bool %low %n1\n\
        OpSelectionMerge %m None\nOpBranchConditional %odd %t %e\n\
        %t = OpLabel\n%before = OpISub %u32 %i %n1\n%x4 = OpImageRead %v4i32 %im %before\n\
        %twice = OpIAdd %v4i32 %x4 %x4\nOpImageWrite %im %i %twice\n%x = OpCompositeExtract %i32 %x4 0\n\
        OpStore %at0 %x\nOpBranch %m\n\
        %e = OpLabel\n%texel = OpImageTexelPointer %ptexel %img %n8 %n0\n\
        %ii = OpBitcast %i32 %i\n%old = OpAtomicIAdd %i32 %texel %n1 %n0 %ii\n\
        %size = OpImageQuerySize %i32 %im\nOpStore %at0 %size\nOpBranch %m\n%m = OpLabel";
    let buffer = bench.buffer(&[0i32; 8]);
    let words = kernel(&[("i32", 4)], &declarations("1D", "i32", "R32i"), body);
    run(&bench, &words, buffer, image, Vec::new(), 2);
    assert_eq!(bench.read::<i32>(buffer), [9, 1, 9, 3, 9, 5, 9, 7]);
    assert_eq!(bench.read::<i32>(image), [1, 2, 3, 6, 5, 10, 7, 14, 112]);
}
