//! Reflection of interfaces, and errors for malformed modules.

mod common;

use common::{assemble, module};
use kps_device::interface::{Block, BufferBinding, MemberType};
use kps_device::{DeviceError, Interface, PipelineOptions};

fn options(entry_point: &str, spec_constants: &[(u32, u64)]) -> PipelineOptions {
    PipelineOptions {
        entry_point: entry_point.to_owned(),
        spec_constants: spec_constants.to_vec(),
        ..PipelineOptions::default()
    }
}

fn reflect(name: &str) -> Interface {
    Interface::reflect(&module(name), &PipelineOptions::default()).expect("it reflects")
}

/// One line for each fact of an interface.
fn facts(interface: &Interface) -> Vec<String> {
    let mut facts = vec![format!("{} {:?}", interface.entry_point, interface.local_size)];
    facts.extend(interface.buffers.iter().map(buffer_fact));
    facts.extend(interface.push_constants.iter().map(|block| format!("push {}", block_fact(block))));
    facts.extend(interface.spec_constants.iter().map(|constant| {
        let name = constant.name.as_deref().unwrap_or("-");
        format!("spec {} {name}: {} = {:#x}", constant.id, constant.scalar.name(), constant.default)
    }));
    facts
}

fn buffer_fact(buffer: &BufferBinding) -> String {
    let name = buffer.name.as_deref().unwrap_or("-");
    let (set, binding, kind, access) = (buffer.set, buffer.binding, buffer.kind, buffer.access);
    format!("{set}.{binding} {name} {kind:?} {access:?} {}", block_fact(&buffer.layout))
}

fn block_fact(block: &Block) -> String {
    let members = block.members.iter().map(|member| {
        let name = member.name.as_deref().unwrap_or("-");
        format!("{}@{}: {}", name, member.offset, type_fact(&member.ty))
    });
    format!("{}{{{}}}", block.size, members.collect::<Vec<_>>().join(", "))
}

fn type_fact(ty: &MemberType) -> String {
    match ty {
        MemberType::Scalar(scalar) => scalar.name().to_owned(),
        MemberType::Vector { n, scalar } => format!("{}x{n}", scalar.name()),
        MemberType::Matrix { columns, rows, scalar, stride, row_major } => {
            let order = if *row_major { "rows" } else { "columns" };
            format!("{}x{columns}x{rows} {order} by {stride}", scalar.name())
        }
        MemberType::Array { len, stride, element } => {
            let len = len.map_or(String::new(), |len| len.to_string());
            format!("[{}; {len}] by {stride}", type_fact(element))
        }
        MemberType::Struct(block) => block_fact(block),
    }
}

#[test]
fn a_kernel_over_three_arrays() {
    assert_eq!(
        facts(&reflect("multiply")),
        [
            "main [1, 1, 1]",
            "0.0 left Storage Read 0{-@0: [f32; ] by 4}",
            "0.1 right Storage Read 0{-@0: [f32; ] by 4}",
            "0.2 product Storage Write 0{-@0: [f32; ] by 4}",
        ]
    );
}

#[test]
fn load_and_store_make_read_write() {
    assert_eq!(facts(&reflect("increment"))[1], "0.0 a Storage ReadWrite 0{-@0: [f32; ] by 4}");
}

#[test]
fn push_constants_and_specialisation_constants() {
    assert_eq!(
        facts(&reflect("scale"))[2..],
        ["push 8{factor@0: f32, n@4: u32}", "spec 0 width: u32 = 0x4", "spec 7 shift: f32 = 0x0"]
    );
}

#[test]
fn specialisation_sets_the_workgroup_size() {
    let words = module("scale");
    let size = |constants: &[(u32, u64)]| {
        Interface::reflect(&words, &options("main", constants)).map(|interface| interface.local_size)
    };
    assert_eq!(size(&[]), Ok([4, 1, 1]));
    assert_eq!(size(&[(0, 64)]), Ok([64, 1, 1]));
    assert_eq!(size(&[(7, 3)]), Ok([4, 1, 1]));
    let message = size(&[(0, 0)]).expect_err("no invocations").to_string();
    assert_eq!(message, "the workgroup of entry point `main` is 0 x 1 x 1: it has no invocations");
}

#[test]
fn old_style_buffers_and_calls() {
    let interface =
        Interface::reflect(&module("old_style"), &options("count", &[(3, 2)])).expect("it reflects");
    assert_eq!(
        facts(&interface),
        [
            "count [2, 3, 1]",
            "0.2 settings Uniform Read 72{-@0: f32x4x4 columns by 16, -@64: i32x2}",
            "1.0 table Storage Read 48{-@0: [f32x4; 3] by 16}",
            "1.4 Counts Storage ReadWrite 16{total@0: u32, of@16: [u32; ] by 4}",
            "spec 3 -: u32 = 0x8",
        ]
    );
}

#[test]
fn only_what_the_entry_point_reaches_counts() {
    let interface = Interface::reflect(&module("old_style"), &options("nothing", &[])).expect("it reflects");
    assert_eq!(facts(&interface), ["nothing [8, 9, 1]", "spec 3 -: u32 = 0x8"]);
}

#[test]
fn either_byte_order_reads_the_same() {
    let swapped: Vec<u32> = module("scale").iter().map(|word| word.swap_bytes()).collect();
    let interface = Interface::reflect(&swapped, &PipelineOptions::default());
    assert_eq!(interface, Ok(reflect("scale")));
}

fn message(words: &[u32], options: &PipelineOptions) -> String {
    match Interface::reflect(words, options) {
        Err(DeviceError::BadModule { message, .. }) => message,
        other => panic!("{other:?} is no refusal of a module"),
    }
}

#[test]
fn what_is_not_spirv_is_refused() {
    let check = |words: &[u32], expect: &str| assert_eq!(message(words, &PipelineOptions::default()), expect);
    let good = module("multiply");
    check(&[], "not SPIR-V: there are no words");
    check(
        &[0x464c_457f, 1, 2, 3, 4, 5],
        "not SPIR-V: the first word is 0x464c457f, a module begins with 0x07230203",
    );
    check(&good[..3], "broken SPIR-V: there are 3 words, the header alone has 5");
    check(&good[..6], "broken SPIR-V: the module ends inside the instruction at word 5");
    let with = |at: usize, word: u32| {
        let mut words = good.clone();
        words[at] = word;
        words
    };
    check(&with(1, 0x0002_0000), "SPIR-V 2.0 (version word 0x00020000) is not known: 1.0 to 1.6 are");
    check(&with(3, 0), "broken SPIR-V: the id bound is 0, it may be 1 to 4194303");
    check(&with(3, 2), "broken SPIR-V: id %8 is not below the bound 2");
    check(&with(5, 0), "broken SPIR-V: the instruction at word 5 has no length");
}

#[test]
fn entry_points_that_are_not_there_are_named() {
    assert_eq!(
        message(&module("old_style"), &options("main", &[])),
        "entry point `main` not found; the module has: `count`, `nothing`"
    );
    let fragment = "OpCapability Shader
        OpMemoryModel Logical GLSL450
        OpEntryPoint Fragment %main \"main\"
        OpExecutionMode %main OriginUpperLeft
        %void = OpTypeVoid
        %fn = OpTypeFunction %void
        %main = OpFunction %void None %fn
        %entry = OpLabel
        OpReturn
        OpFunctionEnd";
    assert_eq!(
        message(&assemble(fragment), &options("main", &[])),
        "entry point `main` is a Fragment shader, not a compute shader"
    );
}

#[test]
fn two_variables_may_alias_one_buffer() {
    let path = format!("{}/tests/modules/multiply.spvasm", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("it is there");
    let words = assemble(&text.replace("%product Binding 2", "%product Binding 0"));
    let interface = Interface::reflect(&words, &PipelineOptions::default()).expect("it reflects");
    assert_eq!(
        facts(&interface)[1..],
        ["0.0 left Storage ReadWrite 0{-@0: [f32; ] by 4}", "0.1 right Storage Read 0{-@0: [f32; ] by 4}"]
    );
}

/// A module that uses one image.
fn image_module(ty: &str, body: &str) -> String {
    format!(
        "OpCapability Shader
        OpCapability Image1D
        OpMemoryModel Logical GLSL450
        OpEntryPoint GLCompute %main \"main\" %picture
        OpExecutionMode %main LocalSize 1 1 1
        OpName %picture \"picture\"
        OpDecorate %picture DescriptorSet 0
        OpDecorate %picture Binding 5
        %void = OpTypeVoid
        %fn = OpTypeFunction %void
        %float = OpTypeFloat 32
        %uint = OpTypeInt 32 0
        %v2uint = OpTypeVector %uint 2
        %v4float = OpTypeVector %float 4
        %at = OpConstantNull %v2uint
        %texel = OpConstantNull %v4float
        %image = OpTypeImage {ty}
        %ptr = OpTypePointer UniformConstant %image
        %picture = OpVariable %ptr UniformConstant
        %main = OpFunction %void None %fn
        %entry = OpLabel
        %loaded = OpLoad %image %picture
        {body}
        OpReturn
        OpFunctionEnd"
    )
}

#[test]
fn images_are_reflected_with_their_accesses() {
    let check = |ty: &str, body: &str, expect: &str| {
        let interface = Interface::reflect(&assemble(&image_module(ty, body)), &options("main", &[]));
        let interface = interface.expect("it reflects");
        let image = interface.images.first().expect("there is an image");
        let format = image.format.map_or("-", |format| format.name());
        let (name, dimension, scalar) = (image.name.as_deref(), image.dimension.name(), image.scalar.name());
        let fact = format!(
            "{}.{} {} {:?} {dimension} {scalar} {format} {:?}",
            image.set,
            image.binding,
            name.unwrap_or("-"),
            image.kind,
            image.access
        );
        assert_eq!(fact, expect);
    };
    let write = "OpImageWrite %loaded %at %texel";
    let read = "%read = OpImageRead %v4float %loaded %at";
    check("%float 2D 0 0 0 2 Rgba32f", write, "0.5 picture Storage 2d f32 rgba32f Write");
    check("%float 2D 0 0 0 2 R32f", read, "0.5 picture Storage 2d f32 r32f Read");
    check(
        "%uint 2D 0 0 0 2 Rg8ui",
        &format!("{write}\n{read}"),
        "0.5 picture Storage 2d u32 rg8ui ReadWrite",
    );
    check("%float 1D 0 0 0 1 Unknown", "", "0.5 picture Sampled 1d f32 - Read");
}

#[test]
fn images_that_cannot_be_bound_are_refused_by_name() {
    let check = |ty: &str, expect: &str| {
        assert_eq!(
            message(&assemble(&image_module(ty, "")), &options("main", &[])),
            format!("`picture` at set 0 binding 5 {expect}")
        );
    };
    check(
        "%float Cube 0 0 0 1 Unknown",
        "is a cube image: 1d, 2d and 3d are supported; a 3d one may hold its six sides",
    );
    check(
        "%float 2D 0 1 0 1 Unknown",
        "is an array of images in layers: images of one layer are supported; the planes of a 3d one may stand for layers",
    );
    check(
        "%float 2D 0 0 1 1 Unknown",
        "is a multisampled image: images with one sample a texel are supported",
    );
    check("%float 2D 0 0 0 2 Rgb10A2", "has texels of Rgb10A2, which are not supported");
}

/// Flips every bit of a module by itself, then many at once: the result is an interface or an error, never a
/// panic.
#[test]
fn flipped_bits_never_panic() {
    for (name, entry_point) in [("scale", "main"), ("old_style", "count")] {
        let good = module(name);
        let options = options(entry_point, &[(0, 3)]);
        for bit in 0..good.len() * 32 {
            let mut words = good.clone();
            words[bit / 32] ^= 1 << (bit % 32);
            let _ = Interface::reflect(&words, &options);
        }
        let mut state = 1_u64;
        let mut random = move |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        for _ in 0..4000 {
            let mut words = good.clone();
            for _ in 0..2 + random(6) {
                let (at, from) = (random(good.len()), random(good.len()));
                words[at] = good[from] ^ random(4) as u32;
            }
            let _ = Interface::reflect(&words, &options);
        }
    }
}
