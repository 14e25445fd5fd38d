//! Buffers, push constants, variables, composites, atomics, and accesses out of range.

use kps_device::PipelineOptions;

use super::assembly::{check_unary, kernel};
use super::bench::{Bench, bytes_of, refusal};
use super::common;

#[test]
fn loads_out_of_range_read_zero_and_stores_are_dropped() {
    // out[i] = in[i - 2] for eight lanes, six elements in, five out.
    let body = "%s = OpBitcast %i32 %i\n%two = OpBitcast %i32 %n2\n%j = OpISub %i32 %s %two\n\
                %at0 = OpAccessChain %p0 %b0 %n0 %j\n%x = OpLoad %u32 %at0\n%y = OpIAdd %u32 %x %n1\n\
                %at1 = OpAccessChain %p1 %b1 %n0 %i\nOpStore %at1 %y";
    let bench = Bench::all_kinds();
    let from = bench.buffer(&[10u32, 20, 30, 40, 50, 60]);
    let to = bench.buffer(&[7u32; 5]);
    bench.run(&kernel(&[("u32", 4), ("u32", 4)], "", body), &[from, to], &[], [2, 1, 1]);
    assert_eq!(bench.read::<u32>(to), [1, 1, 11, 21, 31]);
}

#[test]
fn a_range_of_a_buffer_ends_where_it_was_bound() {
    let body = "%at0 = OpAccessChain %p0 %b0 %n0 %i\nOpStore %at0 %n5";
    let bench = Bench::all_kinds();
    let buffer = bench.buffer(&[0u32; 8]);
    let mut dispatch = bench.dispatch(&kernel(&[("u32", 4)], "", body), &[buffer], &[], [2, 1, 1]);
    dispatch.bindings[0].offset = 8;
    // A last element that is half inside is out of range.
    dispatch.bindings[0].size = 14;
    bench.submit(vec![kps_device::Command::Dispatch(dispatch)]).expect("it runs");
    assert_eq!(bench.read::<u32>(buffer), [0, 0, 5, 5, 5, 0, 0, 0]);
}

#[test]
fn a_range_of_bytes_ends_where_it_was_bound() {
    let body = "%at0 = OpAccessChain %p0 %b0 %n0 %i\n%x = OpLoad %u8 %at0\n\
                %at1 = OpAccessChain %p1 %b1 %n0 %i\nOpStore %at1 %x";
    let bench = Bench::all_kinds();
    let (from, to) = (bench.buffer(&[7u8; 16]), bench.buffer(&[9u8; 16]));
    let words = kernel(&[("u8", 1), ("u8", 1)], "", body);
    let mut dispatch = bench.dispatch(&words, &[from, to], &[], [4, 1, 1]);
    dispatch.bindings[0].size = 5;
    dispatch.bindings[1].size = 7;
    bench.submit(vec![kps_device::Command::Dispatch(dispatch)]).expect("it runs");
    assert_eq!(bench.read::<u8>(to), [7, 7, 7, 7, 7, 0, 0, 9, 9, 9, 9, 9, 9, 9, 9, 9]);
}

#[test]
fn vectors_are_loaded_and_stored_whole() {
    // The third of the vec3s does not fit, so none of it is written.
    let body = "%at0 = OpAccessChain %p0 %b0 %n0 %i\n%v = OpLoad %v3f32 %at0\n%w = OpVectorTimesScalar %v3f32 %v %f2\n\
                OpStore %at0 %w";
    let bench = Bench::all_kinds();
    let buffer = bench.buffer(&[1f32; 8]);
    bench.run(&kernel(&[("v3f32", 12)], "", body), &[buffer], &[], [1, 1, 1]);
    assert_eq!(bench.read::<f32>(buffer), [2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 1.0, 1.0]);
}

#[test]
fn wide_indices_do_not_wrap_around() {
    for index in ["%h = OpShiftLeftLogical %u64 %one %k", "%h = OpISub %u64 %zero %one"] {
        let body = format!(
            "%one = OpUConvert %u64 %n1\n%zero = OpUConvert %u64 %n0\n%k0 = OpIMul %u32 %n10 %n3\n\
             %k1 = OpIMul %u32 %k0 %n2\n%k2 = OpIAdd %u32 %k1 %n2\n%k = OpUConvert %u64 %k2\n{index}\n\
             %at0 = OpAccessChain %p0 %b0 %n0 %h\nOpStore %at0 %n5"
        );
        let bench = Bench::all_kinds();
        let buffer = bench.buffer(&[1u32; 4]);
        bench.run(&kernel(&[("u32", 4)], "", &body), &[buffer], &[], [1, 1, 1]);
        assert_eq!(bench.read::<u32>(buffer), [1; 4]);
    }
}

#[test]
fn the_length_of_an_array_follows_its_binding() {
    let body = "%len = OpArrayLength %u32 %b0 0\n%at0 = OpAccessChain %p0 %b0 %n0 %i\nOpStore %at0 %len";
    let bench = Bench::all_kinds();
    let buffer = bench.buffer(&[0u32; 3]);
    bench.run(&kernel(&[("u32", 4)], "", body), &[buffer], &[], [1, 1, 1]);
    assert_eq!(bench.read::<u32>(buffer), [3; 3]);
}

const PUSH: &str = "
OpDecorate %pc Block
OpMemberDecorate %pc 0 Offset 0
OpMemberDecorate %pc 1 Offset 16
OpDecorate %fixed ArrayStride 4
%fixed = OpTypeArray %u32 %n3
%pc = OpTypeStruct %f32 %fixed
%ppc = OpTypePointer PushConstant %pc
%pf = OpTypePointer PushConstant %f32
%pu = OpTypePointer PushConstant %u32
%push = OpVariable %ppc PushConstant
";

#[test]
fn push_constants_are_read_at_their_offsets() {
    let body = "%af = OpAccessChain %pf %push %n0\n%f = OpLoad %f32 %af\n%fu = OpConvertFToU %u32 %f\n\
                %au = OpAccessChain %pu %push %n1 %i\n%u = OpLoad %u32 %au\n%s = OpIAdd %u32 %fu %u\n\
                %at0 = OpAccessChain %p0 %b0 %n0 %i\nOpStore %at0 %s";
    let bench = Bench::all_kinds();
    let buffer = bench.buffer(&[0u32; 4]);
    let mut push = bytes_of(&[100.0f32, 0.0, 0.0, 0.0]).to_vec();
    push.extend(bytes_of(&[1u32, 2, 3]));
    let words = kernel(&[("u32", 4)], PUSH, body);
    bench.run(&words, &[buffer], &push, [1, 1, 1]);
    assert_eq!(bench.read::<u32>(buffer), [101, 102, 103, 100]);
    let short = bench.dispatch(&words, &[buffer], &push[..20], [1, 1, 1]);
    let error = bench.submit(vec![kps_device::Command::Dispatch(short)]).expect_err("it is too short");
    assert_eq!(error.to_string(), "the pipeline takes 28 bytes of push constants, 20 were given");
}

const LOCAL: &str = "
%arr = OpTypeArray %u32 %n4
%parr = OpTypePointer Function %arr
%pfu = OpTypePointer Function %u32
%init = OpConstantComposite %arr %n5 %n8 %n10 %n3
%rec = OpTypeStruct %u32 %arr %v2u32
%prec = OpTypePointer Function %rec
%mat = OpTypeArray %arr %n2
%pmat = OpTypePointer Function %mat
%priv = OpTypePointer Private %u32
%global = OpVariable %priv Private %n8
%shared_arr = OpTypePointer Private %arr
%global_arr = OpVariable %shared_arr Private
%priv_u = OpTypePointer Private %u32
";

/// Runs a body that ends with a store of `%r`, in eight lanes.
fn check_local(body: &str, expected: [u32; 8]) {
    // Variables come first in a function.
    let (variables, rest): (Vec<&str>, Vec<&str>) =
        body.lines().partition(|line| line.contains("= OpVariable"));
    let (variables, rest) = (variables.join("\n"), rest.join("\n"));
    let store = "%at0 = OpAccessChain %p0 %b0 %n0 %i\nOpStore %at0 %r";
    let bench = Bench::all_kinds();
    let buffer = bench.buffer(&[77u32; 8]);
    let words = super::assembly::kernel_with(&[("u32", 4)], LOCAL, &variables, &format!("{rest}\n{store}"));
    bench.run(&words, &[buffer], &[], [2, 1, 1]);
    assert_eq!(bench.read::<u32>(buffer), expected, "{body}");
}

#[test]
fn local_arrays_test_their_index() {
    check_local(
        "%v = OpVariable %parr Function %init\n%at = OpAccessChain %pfu %v %i\n%r = OpLoad %u32 %at",
        [5, 8, 10, 3, 0, 0, 0, 0],
    );
    // A store beyond the end has no effect: the last element does not change.
    check_local(
        "%v = OpVariable %parr Function %init\n%at = OpAccessChain %pfu %v %i\nOpStore %at %n1\n\
         %last = OpAccessChain %pfu %v %n3\n%r = OpLoad %u32 %last",
        [3, 3, 3, 1, 3, 3, 3, 3],
    );
    // An inner index does not reach the next row.
    check_local(
        "%v = OpVariable %pmat Function\n%row = OpAccessChain %parr %v %n1\nOpStore %row %init\n\
         %at = OpAccessChain %pfu %v %n0 %i\n%r = OpLoad %u32 %at",
        [0; 8],
    );
}

#[test]
fn locals_start_as_zero_for_each_lane() {
    check_local(
        "%v = OpVariable %parr Function\n%at = OpAccessChain %pfu %v %n2\n%old = OpLoad %u32 %at\n\
         %dyn = OpAccessChain %pfu %v %i\nOpStore %dyn %n5\nOpStore %at %n8\n%r = OpIAdd %u32 %old %i",
        [0, 1, 2, 3, 4, 5, 6, 7],
    );
}

#[test]
fn structures_and_module_variables_hold_values() {
    check_local(
        "%v = OpVariable %prec Function\n%first = OpAccessChain %pfu %v %n0\nOpStore %first %i\n\
         %arr_at = OpAccessChain %parr %v %n1\nOpStore %arr_at %init\n%whole = OpLoad %rec %v\n\
         %w = OpVariable %prec Function\nOpStore %w %whole\nOpCopyMemory %v %w\n\
         %third = OpAccessChain %pfu %v %n1 %n2\n%a = OpLoad %u32 %third\n%b = OpLoad %u32 %first\n\
         %r = OpIAdd %u32 %a %b",
        [10, 11, 12, 13, 14, 15, 16, 17],
    );
    check_local(
        "%old = OpLoad %u32 %global\n%new = OpIAdd %u32 %old %i\nOpStore %global %new\n%r = OpLoad %u32 %global",
        [8, 9, 10, 11, 12, 13, 14, 15],
    );
    check_local(
        "%at = OpAccessChain %priv_u %global_arr %i\n%old = OpLoad %u32 %at\nOpStore %at %n5\n%r = OpLoad %u32 %at",
        [5, 5, 5, 5, 0, 0, 0, 0],
    );
}

#[test]
fn composites() {
    check_local(
        "%a = OpCompositeInsert %arr %i %init 1\n%r = OpCompositeExtract %u32 %a 1",
        [0, 1, 2, 3, 4, 5, 6, 7],
    );
    check_local(
        "%v = OpCompositeConstruct %v2u32 %i %n8\n%s = OpVectorShuffle %v2u32 %v %v 1 2\n\
         %r = OpVectorExtractDynamic %u32 %s %i",
        [8, 1, 8, 8, 8, 8, 8, 8],
    );
    check_local(
        "%v = OpCompositeConstruct %v2u32 %n3 %n4\n%w = OpVectorInsertDynamic %v2u32 %v %i %n1\n\
         %r = OpCompositeExtract %u32 %w 1",
        [0, 1, 2, 3, 4, 5, 6, 7],
    );
    check_local(
        "%u = OpUndef %u32\n%n = OpCopyObject %u32 %i\n%z = OpIMul %u32 %u %n0\n%r = OpIAdd %u32 %n %z",
        [0, 1, 2, 3, 4, 5, 6, 7],
    );
}

#[test]
fn atomics_give_what_was_there() {
    let check = |inst: &str, before: u32, after: u32| {
        let body = format!("%at0 = OpAccessChain %p0 %b0 %n0 %n0\n{inst}");
        let bench = Bench::all_kinds();
        let buffer = bench.buffer(&[before, 0]);
        bench.run(&kernel(&[("u32", 4)], "", &body), &[buffer], &[], [250, 1, 1]);
        assert_eq!(bench.read::<u32>(buffer)[0], after, "{inst}");
    };
    check("%r = OpAtomicIAdd %u32 %at0 %n1 %n0 %n2", 5, 2005);
    check("%r = OpAtomicISub %u32 %at0 %n1 %n0 %n1", 5000, 4000);
    check("%r = OpAtomicIIncrement %u32 %at0 %n1 %n0", 0, 1000);
    check("%r = OpAtomicUMax %u32 %at0 %n1 %n0 %i", 3, 999);
    check("%r = OpAtomicSMin %u32 %at0 %n1 %n0 %n3", u32::MAX, u32::MAX);
    check("%r = OpAtomicOr %u32 %at0 %n1 %n0 %i", 0, 1023);
    check("%r = OpAtomicExchange %u32 %at0 %n1 %n0 %n8", 0, 8);
    check("%r = OpAtomicCompareExchange %u32 %at0 %n1 %n0 %n0 %n8 %n3", 3, 8);
    check("OpAtomicStore %at0 %n1 %n0 %n10", 3, 10);
}

#[test]
fn atomics_out_of_range_give_zero() {
    let body = "%far = OpAccessChain %p0 %b0 %n0 %n10\n%old = OpAtomicIAdd %u32 %far %n1 %n0 %n5\n\
                %at0 = OpAccessChain %p0 %b0 %n0 %i\nOpStore %at0 %old";
    let bench = Bench::all_kinds();
    let buffer = bench.buffer(&[7u32; 4]);
    bench.run(&kernel(&[("u32", 4)], "", body), &[buffer], &[], [1, 1, 1]);
    assert_eq!(bench.read::<u32>(buffer), [0; 4]);
}

#[test]
fn old_style_buffers_are_buffers() {
    let words = common::module("old_style");
    let options = PipelineOptions { entry_point: "count".to_owned(), ..PipelineOptions::default() };
    Bench::all_kinds().device.load(&words, &options).expect("it is taken");
}

#[test]
fn what_has_no_layout_is_refused() {
    let text = "%bad = OpTypeStruct %u32\n%pbad = OpTypePointer PushConstant %bad\n%push = OpVariable %pbad PushConstant\n\
                %pu = OpTypePointer PushConstant %u32";
    let body = "%at = OpAccessChain %pu %push %n0\n%x = OpLoad %u32 %at";
    let message = refusal(&kernel(&[("u32", 4)], text, body));
    assert!(message.starts_with("the push constants cannot be laid out: member 0"), "{message}");
}

#[test]
fn floats_survive_memory() {
    check_unary(&[1.5f32, -0.0, f32::INFINITY], "%r = OpCopyObject %f32 %x0", |a: f32| a);
}
