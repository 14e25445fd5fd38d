//! Atomic operations: on every type, by many lanes, in and out of range.

use super::assembly::{Named, kernel};
use super::bench::Bench;

/// 400 lanes update one cell; returns its final value.
fn total<T: Named>(first: T, body: &str) -> T {
    let bench = Bench::new();
    let cell = bench.buffer(&[first]);
    let body = format!("%at = OpAccessChain %p0 %b0 %n0 %n0\n{body}");
    let words = kernel(&[(T::NAME, size_of::<T>() as u32)], "", &body);
    bench.run(&words, &[cell], &[], [100, 1, 1]);
    bench.read(cell)[0]
}

#[test]
fn every_type_is_added_up() {
    let sum = (0..400u32).sum::<u32>();
    assert_eq!(total(5u32, "%o = OpAtomicIAdd %u32 %at %n1 %n0 %i"), sum + 5);
    let wide = "%w = OpUConvert %u64 %i\n";
    assert_eq!(total(1u64 << 40, &format!("{wide}%o = OpAtomicIAdd %u64 %at %n1 %n0 %w")), (1 << 40) + 79800);
    assert_eq!(
        total(1i64 << 40, &format!("{wide}%v = OpBitcast %i64 %w\n%o = OpAtomicISub %i64 %at %n1 %n0 %v")),
        (1 << 40) - 79800
    );
    let float = "%f = OpConvertUToF %f32 %i\n";
    assert_eq!(total(0.5f32, &format!("{float}%o = OpAtomicFAddEXT %f32 %at %n1 %n0 %f")), sum as f32 + 0.5);
    let double = "%f = OpConvertUToF %f64 %i\n";
    assert_eq!(total(0.25f64, &format!("{double}%o = OpAtomicFAddEXT %f64 %at %n1 %n0 %f")), 79800.25);
    assert_eq!(total(0u64, "%o = OpAtomicIIncrement %u64 %at %n1 %n0"), 400);
    assert_eq!(total(0i32, "%o = OpAtomicIDecrement %i32 %at %n1 %n0"), -400);
}

#[test]
fn least_and_largest() {
    let float = "%f = OpConvertUToF %f32 %i\n%g = OpFNegate %f32 %f\n";
    assert_eq!(total(3.0f32, &format!("{float}%o = OpAtomicFMinEXT %f32 %at %n1 %n0 %g")), -399.0);
    assert_eq!(total(f32::NAN, &format!("{float}%o = OpAtomicFMaxEXT %f32 %at %n1 %n0 %f")), 399.0);
    let wide = "%w = OpUConvert %u64 %i\n%v = OpNot %u64 %w\n";
    assert_eq!(total(7u64, &format!("{wide}%o = OpAtomicUMax %u64 %at %n1 %n0 %v")), u64::MAX);
    assert_eq!(
        total(7i64, &format!("{wide}%s = OpBitcast %i64 %v\n%o = OpAtomicSMin %i64 %at %n1 %n0 %s")),
        -400
    );
}

#[test]
fn bits_and_exchanges() {
    let bit = "%one = OpUConvert %u64 %n1\n%bit = OpShiftLeftLogical %u64 %one %i\n";
    assert_eq!(total(0u64, &format!("{bit}%o = OpAtomicOr %u64 %at %n1 %n0 %bit")), u64::MAX);
    assert_eq!(total(0u64, &format!("{bit}%o = OpAtomicXor %u64 %at %n1 %n0 %bit")), 0xffff);
    // Each lane stores a number of its own; one of them is the last.
    let exchange = "%f = OpConvertUToF %f32 %i\n%o = OpAtomicExchange %f32 %at %n1 %n0 %f";
    assert!((0.0..400.0).contains(&total(-1.0f32, exchange)));
    let store = "%f = OpConvertUToF %f64 %i\nOpAtomicStore %at %n1 %n0 %f";
    assert!((0.0..400.0).contains(&total(-1.0f64, store)));
    let swap = "%w = OpUConvert %u64 %i\n%z = OpUConvert %u64 %n0\n\
                %o = OpAtomicCompareExchange %u64 %at %n1 %n0 %n0 %w %z";
    assert_eq!(total(1u64, swap), 1);
}

#[test]
fn out_of_range_gives_zero_and_changes_nothing() {
    let body = "%j = OpIAdd %u32 %i %n1\n%at0 = OpAccessChain %p0 %b0 %n0 %j\n%one = OpUConvert %u64 %n1\n\
                %o = OpAtomicIAdd %u64 %at0 %n1 %n0 %one\n%at1 = OpAccessChain %p1 %b1 %n0 %i\nOpStore %at1 %o";
    let bench = Bench::new();
    let (cells, old) = (bench.buffer(&[10u64, 11, 12]), bench.buffer(&[7u64; 4]));
    bench.run(&kernel(&[("u64", 8), ("u64", 8)], "", body), &[cells, old], &[], [1, 1, 1]);
    assert_eq!(bench.read::<u64>(cells), [10, 12, 13]);
    assert_eq!(bench.read::<u64>(old), [11, 12, 0, 0]);
}

#[test]
fn cells_that_lie_askew_are_out_of_range() {
    // Elements of 8 bytes, 12 apart: every other one begins at a multiple of 4 only.
    let body = "%at0 = OpAccessChain %p0 %b0 %n0 %i\n%one = OpUConvert %u64 %n1\n%o = OpAtomicIAdd %u64 %at0 %n1 %n0 %one";
    let bench = Bench::new();
    let cells = bench.buffer(&[0u32; 12]);
    bench.run(&kernel(&[("u64", 12)], "", body), &[cells], &[], [1, 1, 1]);
    assert_eq!(bench.read::<u32>(cells), [1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0]);
}

#[test]
fn floats_of_16_bits_beside_each_other() {
    // Lanes add to their own half and to one that all share; every sum is small enough to be exact.
    let body = "%at0 = OpAccessChain %p0 %b0 %n0 %i\n%all = OpAccessChain %p0 %b0 %n0 %n8\n\
                %o = OpAtomicFAddEXT %f16 %at0 %n1 %n0 %h15\n%p = OpAtomicFAddEXT %f16 %all %n1 %n0 %h15\n\
                %q = OpAtomicFMaxEXT %f16 %at0 %n1 %n0 %o\n%x = OpAtomicLoad %f16 %at0 %n1 %n0\n\
                %at1 = OpAccessChain %p0 %b1 %n0 %i\nOpAtomicStore %at1 %n1 %n0 %x";
    let halves = |values: &[f64]| values.iter().map(|&value| half::f16::from_f64(value)).collect::<Vec<_>>();
    let bench = Bench::new();
    let cells = bench.buffer(&halves(&[0.0, 1.0, -7.0, 3.0, 4.0, 5.0, 6.0, 7.0, 0.5, 9.0]));
    let copies = bench.buffer(&halves(&[0.0; 6]));
    bench.run(&kernel(&[("f16", 2), ("f16", 2)], "", body), &[cells, copies], &[], [2, 1, 1]);
    let expected = [1.5, 2.5, -5.5, 4.5, 5.5, 6.5, 7.5, 8.5];
    assert_eq!(bench.read::<half::f16>(cells), halves(&[&expected[..], &[12.5, 9.0]].concat()));
    assert_eq!(bench.read::<half::f16>(copies), halves(&expected[..6]));
}
