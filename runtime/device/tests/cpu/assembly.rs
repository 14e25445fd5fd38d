//! Builds modules around the instructions under test.

use kps_device::Command;

use super::bench::{Bench, Number};
use super::common;

/// A scalar type with its name in test modules.
pub trait Named: Number {
    const NAME: &str;
}

impl Named for i32 {
    const NAME: &str = "i32";
}
impl Named for u32 {
    const NAME: &str = "u32";
}
impl Named for i64 {
    const NAME: &str = "i64";
}
impl Named for u64 {
    const NAME: &str = "u64";
}
impl Named for f32 {
    const NAME: &str = "f32";
}
impl Named for f64 {
    const NAME: &str = "f64";
}
impl Named for i8 {
    const NAME: &str = "i8";
}
impl Named for u8 {
    const NAME: &str = "u8";
}
impl Named for i16 {
    const NAME: &str = "i16";
}
impl Named for u16 {
    const NAME: &str = "u16";
}
impl Named for half::f16 {
    const NAME: &str = "f16";
}
impl Named for half::bf16 {
    const NAME: &str = "bf16";
}

const HEADER: &str = "
OpCapability Shader
OpCapability Int64
OpCapability Float64
OpCapability Int8
OpCapability Int16
OpCapability Float16
OpCapability BFloat16TypeKHR
OpExtension \"SPV_KHR_bfloat16\"
%glsl = OpExtInstImport \"GLSL.std.450\"
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main \"main\" %gid
OpExecutionMode %main LocalSize 4 1 1
OpDecorate %gid BuiltIn GlobalInvocationId
";

const TYPES: &str = "
%void = OpTypeVoid
%fn = OpTypeFunction %void
%bool = OpTypeBool
%i32 = OpTypeInt 32 1
%u32 = OpTypeInt 32 0
%i64 = OpTypeInt 64 1
%u64 = OpTypeInt 64 0
%f32 = OpTypeFloat 32
%f64 = OpTypeFloat 64
%i8 = OpTypeInt 8 1
%u8 = OpTypeInt 8 0
%i16 = OpTypeInt 16 1
%u16 = OpTypeInt 16 0
%f16 = OpTypeFloat 16
%bf16 = OpTypeFloat 16 BFloat16KHR
%v2bool = OpTypeVector %bool 2
%v2i32 = OpTypeVector %i32 2
%v2u32 = OpTypeVector %u32 2
%v3u32 = OpTypeVector %u32 3
%v2f32 = OpTypeVector %f32 2
%v3f32 = OpTypeVector %f32 3
%v4f32 = OpTypeVector %f32 4
%v4u32 = OpTypeVector %u32 4
%pair_u32 = OpTypeStruct %u32 %u32
%pair_f32 = OpTypeStruct %f32 %f32
%f32_i32 = OpTypeStruct %f32 %i32
%in_v3u32 = OpTypePointer Input %v3u32
%in_u32 = OpTypePointer Input %u32
%gid = OpVariable %in_v3u32 Input
%n0 = OpConstant %u32 0
%n1 = OpConstant %u32 1
%n2 = OpConstant %u32 2
%n3 = OpConstant %u32 3
%n4 = OpConstant %u32 4
%n5 = OpConstant %u32 5
%n8 = OpConstant %u32 8
%n10 = OpConstant %u32 10
%f0 = OpConstant %f32 0
%f1 = OpConstant %f32 1
%f2 = OpConstant %f32 2
%h15 = OpConstant %f16 1.5
%i8m3 = OpConstant %i8 -3
%true = OpConstantTrue %bool
%false = OpConstantFalse %bool
";

/// A kernel with a buffer for each element type, bound at 0, 1, ..: run-time arrays `%b0`, `%b1`, ..
/// with pointers to their elements `%p0`, .. The body begins with the index `%i`.
pub fn kernel(elements: &[(&str, u32)], declarations: &str, body: &str) -> Vec<u32> {
    kernel_with(elements, declarations, "", body)
}

/// The same with variables at the start of the function.
pub fn kernel_with(elements: &[(&str, u32)], declarations: &str, variables: &str, body: &str) -> Vec<u32> {
    kernel_of(4, elements, declarations, variables, body)
}

/// The same with this size of a workgroup.
pub fn kernel_of(
    local_size: u32,
    elements: &[(&str, u32)],
    declarations: &str,
    variables: &str,
    body: &str,
) -> Vec<u32> {
    let mut decorations = String::new();
    let mut types = String::new();
    for (k, (element, stride)) in elements.iter().enumerate() {
        decorations += &format!(
            "OpDecorate %a{k} ArrayStride {stride}\nOpDecorate %s{k} Block\nOpMemberDecorate %s{k} 0 Offset 0\n\
             OpDecorate %b{k} DescriptorSet 0\nOpDecorate %b{k} Binding {k}\n"
        );
        types += &format!(
            "%a{k} = OpTypeRuntimeArray %{element}\n%s{k} = OpTypeStruct %a{k}\n\
             %ps{k} = OpTypePointer StorageBuffer %s{k}\n%p{k} = OpTypePointer StorageBuffer %{element}\n\
             %b{k} = OpVariable %ps{k} StorageBuffer\n"
        );
    }
    // Decorations among a test's declarations belong before the types.
    let (own_decorations, own): (Vec<&str>, Vec<&str>) = declarations.lines().partition(|line| {
        let line = line.trim_start();
        line.starts_with("OpDecorate") || line.starts_with("OpMemberDecorate")
    });
    // So does a file's name; functions follow them.
    let (strings, own): (Vec<&str>, Vec<&str>) =
        own.into_iter().partition(|line| line.contains("= OpString"));
    let (strings, own_decorations, own) = (strings.join("\n"), own_decorations.join("\n"), own.join("\n"));
    let header = HEADER
        .replace("OpDecorate %gid", &format!("{strings}\nOpDecorate %gid"))
        .replace("LocalSize 4", &format!("LocalSize {local_size}"));
    common::assemble(&format!(
        "{header}{decorations}{own_decorations}{TYPES}{types}{own}
%main = OpFunction %void None %fn
%entry = OpLabel
{variables}
%gid_x = OpAccessChain %in_u32 %gid %n0
%i = OpLoad %u32 %gid_x
{body}
OpReturn
OpFunctionEnd
"
    ))
}

/// Runs `%r = body` with element `i` of each input as `%x0`, `%x1`, .. for every `i`.
fn run<R: Named>(
    inputs: &[(&str, u32, kps_device::BufferId)],
    n: usize,
    bench: &Bench,
    body: &str,
) -> Vec<R> {
    let mut elements: Vec<(&str, u32)> = inputs.iter().map(|(name, size, _)| (*name, *size)).collect();
    elements.push((R::NAME, size_of::<R>() as u32));
    let out = inputs.len();
    let loads: String = (0..out)
        .map(|k| {
            let name = elements[k].0;
            format!("%at{k} = OpAccessChain %p{k} %b{k} %n0 %i\n%x{k} = OpLoad %{name} %at{k}\n")
        })
        .collect();
    let store = format!("%at = OpAccessChain %p{out} %b{out} %n0 %i\nOpStore %at %r\n");
    let words = kernel(&elements, "", &format!("{loads}{body}\n{store}"));
    let result = bench.buffer(&vec![R::default(); n]);
    let mut buffers: Vec<_> = inputs.iter().map(|(_, _, buffer)| *buffer).collect();
    buffers.push(result);
    let dispatch = bench.dispatch(&words, &buffers, &[], [n.div_ceil(4) as u32, 1, 1]);
    bench.submit(vec![Command::Dispatch(dispatch)]).expect("it runs");
    bench.read(result)
}

/// `%r = body` of each value.
pub fn results_unary<A: Named, R: Named>(values: &[A], body: &str) -> Vec<R> {
    let bench = Bench::all_kinds();
    let a = bench.buffer(values);
    run(&[(A::NAME, size_of::<A>() as u32, a)], values.len(), &bench, body)
}

/// `%r = body` of each pair of values.
pub fn results_binary<A: Named, B: Named, R: Named>(pairs: &[(A, B)], body: &str) -> Vec<R> {
    let bench = Bench::all_kinds();
    let a = bench.buffer(&pairs.iter().map(|pair| pair.0).collect::<Vec<_>>());
    let b = bench.buffer(&pairs.iter().map(|pair| pair.1).collect::<Vec<_>>());
    let inputs = [(A::NAME, size_of::<A>() as u32, a), (B::NAME, size_of::<B>() as u32, b)];
    run(&inputs, pairs.len(), &bench, body)
}

/// Values are the same number, or both NaN.
fn same<T: Number>(a: T, b: T) -> bool {
    #[expect(clippy::eq_op, reason = "a NaN is not itself")]
    let both_nan = a != a && b != b;
    a == b || both_nan
}

/// Checks `%r = body` of `%x0` against `expected`, for each value.
pub fn check_unary<A: Named, R: Named>(values: &[A], body: &str, expected: impl Fn(A) -> R) {
    let results: Vec<R> = results_unary(values, body);
    for (&a, &result) in values.iter().zip(&results) {
        let expected = expected(a);
        assert!(same(result, expected), "{body} of {a:?} gave {result:?}, not {expected:?}");
    }
}

/// Checks `%r = body` of `%x0` and `%x1` against `expected`, for each pair of values.
pub fn check_binary<A: Named, B: Named, R: Named>(
    lefts: &[A],
    rights: &[B],
    body: &str,
    expected: impl Fn(A, B) -> R,
) {
    let pairs: Vec<(A, B)> = lefts.iter().flat_map(|&a| rights.iter().map(move |&b| (a, b))).collect();
    let results: Vec<R> = results_binary(&pairs, body);
    for (&(a, b), &result) in pairs.iter().zip(&results) {
        let expected = expected(a, b);
        assert!(same(result, expected), "{body} of {a:?} and {b:?} gave {result:?}, not {expected:?}");
    }
}

pub const I32: &[i32] =
    &[0, 1, -1, 2, -2, 7, -7, 31, 32, 33, 255, -256, 65536, i32::MAX, i32::MIN, i32::MIN + 1];
pub const U32: &[u32] = &[0, 1, 2, 3, 7, 31, 32, 33, 100, 0x8000_0000, 0x7fff_ffff, u32::MAX, u32::MAX - 1];
pub const I64: &[i64] =
    &[0, 1, -1, 2, -3, 63, 64, 65, 1 << 31, 1 << 32, -(1 << 40), i64::MAX, i64::MIN, i64::MIN + 1];
pub const U64: &[u64] = &[0, 1, 2, 3, 63, 64, 65, 1 << 32, 1 << 63, u64::MAX, u64::MAX - 1];
pub const F32: &[f32] = &[
    0.0,
    -0.0,
    0.5,
    -0.5,
    1.0,
    -1.0,
    1.5,
    2.5,
    -2.5,
    3.7,
    -3.7,
    1e10,
    -1e10,
    3e38,
    1e-40,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::NAN,
];
pub const F64: &[f64] =
    &[0.0, -0.0, 0.5, -1.5, 2.5, 1e10, -1e300, 1e-310, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
