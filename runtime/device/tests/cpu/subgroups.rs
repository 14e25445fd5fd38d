//! Subgroup operations, in subgroups of every size.

use kps_device::{Command, PipelineOptions};

use super::assembly::kernel_of;
use super::bench::{Bench, Number};

const DECLARATIONS: &str = "OpDecorate %lane_in BuiltIn SubgroupLocalInvocationId
OpDecorate %size_in BuiltIn SubgroupSize
OpDecorate %id_in BuiltIn SubgroupId
OpDecorate %mask_in BuiltIn SubgroupLtMask
%in_v4u32 = OpTypePointer Input %v4u32
%lane_in = OpVariable %in_u32 Input
%size_in = OpVariable %in_u32 Input
%id_in = OpVariable %in_u32 Input
%mask_in = OpVariable %in_v4u32 Input
%n7 = OpConstant %u32 7
%n15 = OpConstant %u32 15
%n264 = OpConstant %u32 264
";
const START: &str = "%lane = OpLoad %u32 %lane_in
%x = OpBitwiseXor %u32 %i %n5
%odd = OpBitwiseAnd %u32 %i %n1
%is_odd = OpIEqual %bool %odd %n1
%sixteenth = OpBitwiseAnd %u32 %i %n15
%last = OpIEqual %bool %sixteenth %n15
";
/// Size of a workgroup; with subgroups of 16 and more, the last one is not full.
const N: usize = 24;

fn words(element: &str, stride: u32, body: &str) -> Vec<u32> {
    let store = "%at = OpAccessChain %p0 %b0 %n0 %i\nOpStore %at %r";
    let body = format!("{START}{body}\n{store}");
    kernel_of(N as u32, &[(element, stride)], DECLARATIONS, "", &body)
}

/// For tests that corrupt them.
pub fn modules() -> Vec<Vec<u32>> {
    let shuffle = "%b = OpGroupNonUniformBallot %v4u32 %n3 %is_odd\n\
                   %o = OpGroupNonUniformBallotBitCount %u32 %n3 ExclusiveScan %b\n\
                   %r = OpGroupNonUniformShuffle %u32 %n3 %x %o";
    let rounds = format!("{ROUNDS}%r = OpGroupNonUniformUMax %u32 %n3 Reduce %s");
    [shuffle, &rounds].map(|body| words("u32", 4, body)).into()
}

fn run<T: Number>(size: u32, element: &str, body: &str) -> Vec<T> {
    let words = words(element, size_of::<T>() as u32, body);
    let bench = Bench::all_kinds();
    let buffer = bench.buffer(&[T::default(); 2 * N]);
    let options = PipelineOptions { subgroup_size: Some(size), ..PipelineOptions::default() };
    let dispatch = bench.dispatch_with(&words, &options, &[buffer], &[], [2, 1, 1]);
    bench.submit(vec![Command::Dispatch(dispatch)]).expect("it runs");
    bench.read(buffer)
}

/// Checks `%r` of a body against `expected` of the global ids in a subgroup, in order.
fn check(body: &str, expected: impl Fn(&[u32]) -> Vec<u32>) {
    for size in [4, 8, 16, 32, 64] {
        let results: Vec<u32> = run(size, "u32", body);
        let ids: Vec<u32> = (0..2 * N as u32).collect();
        let subgroups = ids.chunks(N).flat_map(|group| group.chunks(size as usize));
        let expected: Vec<u32> = subgroups.flat_map(&expected).collect();
        assert_eq!(results, expected, "{body} in subgroups of {size}");
    }
}

fn xs(ids: &[u32]) -> Vec<u32> {
    ids.iter().map(|id| id ^ 5).collect()
}

fn all_of(ids: &[u32], value: u32) -> Vec<u32> {
    vec![value; ids.len()]
}

#[test]
fn places() {
    check("%r = OpCopyObject %u32 %lane", |ids| (0..ids.len() as u32).collect());
    for size in [4, 8, 16, 32, 64] {
        let sizes: Vec<u32> = run(size, "u32", "%r = OpLoad %u32 %size_in");
        assert_eq!(sizes, [size; 2 * N]);
        let ids: Vec<u32> = run(size, "u32", "%r = OpLoad %u32 %id_in");
        let expected: Vec<u32> = (0..2 * N as u32).map(|i| i % N as u32 / size).collect();
        assert_eq!(ids, expected);
    }
    let body = "%m = OpLoad %v4u32 %mask_in\n%r = OpCompositeExtract %u32 %m 0";
    check(body, |ids| {
        (0..ids.len() as u32).map(|lane| (1u64 << lane) as u32).map(|bit| bit.wrapping_sub(1)).collect()
    });
}

#[test]
fn sums_and_scans() {
    let fold = |op: &str, span: &str| format!("%r = {op} %u32 %n3 {span} %x");
    check(&fold("OpGroupNonUniformIAdd", "Reduce"), |ids| all_of(ids, xs(ids).iter().sum()));
    check(&fold("OpGroupNonUniformUMax", "Reduce"), |ids| {
        all_of(ids, *xs(ids).iter().max().expect("a lane"))
    });
    check(&fold("OpGroupNonUniformUMin", "InclusiveScan"), |ids| {
        let xs = xs(ids);
        (0..xs.len()).map(|i| *xs[..=i].iter().min().expect("a lane")).collect()
    });
    check(&fold("OpGroupNonUniformIAdd", "ExclusiveScan"), |ids| {
        let xs = xs(ids);
        (0..xs.len()).map(|i| xs[..i].iter().sum()).collect()
    });
    check(&fold("OpGroupNonUniformBitwiseXor", "InclusiveScan"), |ids| {
        let xs = xs(ids);
        (0..xs.len()).map(|i| xs[..=i].iter().fold(0, |a, b| a ^ b)).collect()
    });
    check("%r = OpGroupNonUniformIAdd %u32 %n3 ClusteredReduce %x %n4", |ids| {
        xs(ids).chunks(4).flat_map(|cluster| vec![cluster.iter().sum(); cluster.len()]).collect()
    });
}

#[test]
fn sums_of_every_type() {
    let narrow = "%h = OpUConvert %u8 %i\n%r = OpGroupNonUniformIMul %u8 %n3 Reduce %h";
    let bytes: Vec<u8> = run(4, "u8", narrow);
    assert_eq!(bytes[4..8], [(4u32 * 5 * 6 * 7) as u8; 4]);
    let wide = "%h = OpUConvert %u64 %i\n%k = OpShiftLeftLogical %u64 %h %n10\n%l = OpNot %u64 %k\n\
                %r = OpGroupNonUniformSMin %i64 %n3 InclusiveScan %l";
    let wide: Vec<i64> =
        run(8, "i64", &wide.replace("%l = OpNot %u64 %k", "%ln = OpNot %u64 %k\n%l = OpBitcast %i64 %ln"));
    assert_eq!(wide[8..10], [!(8 << 10), !(9 << 10)]);
    let float = "%f = OpConvertUToF %f32 %i\n%r = OpGroupNonUniformFAdd %f32 %n3 ExclusiveScan %f";
    assert_eq!(run::<f32>(4, "f32", float)[4..8], [0.0, 4.0, 9.0, 15.0]);
    let double = "%f = OpConvertUToF %f64 %i\n%r = OpGroupNonUniformFMax %f64 %n3 Reduce %f";
    assert_eq!(run::<f64>(8, "f64", double)[0], 7.0);
    let half = "%f = OpConvertUToF %f16 %i\n%r = OpGroupNonUniformFMul %f16 %n3 Reduce %f";
    // 20 * 21 * 22 * 23 is rounded on the way: 9240, then the rest.
    assert_eq!(run::<half::f16>(4, "f16", half)[20], half::f16::INFINITY);
}

#[test]
fn votes_and_ballots() {
    let select = |vote: &str| format!("%v = {vote}\n%r = OpSelect %u32 %v %n1 %n0");
    check(&select("OpGroupNonUniformAll %bool %n3 %is_odd"), |ids| all_of(ids, 0));
    check(&select("OpGroupNonUniformAny %bool %n3 %is_odd"), |ids| all_of(ids, 1));
    check(&select("OpGroupNonUniformElect %bool %n3"), |ids| {
        (0..ids.len()).map(|lane| u32::from(lane == 0)).collect()
    });
    check(&select("OpGroupNonUniformAllEqual %bool %n3 %x"), |ids| all_of(ids, 0));
    check(&select("OpGroupNonUniformAllEqual %bool %n3 %n7"), |ids| all_of(ids, 1));
    let votes = |ids: &[u32]| ids.iter().enumerate().map(|(lane, id)| u64::from(id & 1) << lane).sum::<u64>();
    let ballot = "%b = OpGroupNonUniformBallot %v4u32 %n3 %is_odd\n";
    check(&format!("{ballot}%r = OpCompositeExtract %u32 %b 0"), |ids| all_of(ids, votes(ids) as u32));
    check(&format!("{ballot}%r = OpCompositeExtract %u32 %b 1"), |ids| {
        all_of(ids, (votes(ids) >> 32) as u32)
    });
    check(&format!("{ballot}%r = OpGroupNonUniformBallotBitCount %u32 %n3 Reduce %b"), |ids| {
        all_of(ids, votes(ids).count_ones())
    });
    check(&format!("{ballot}%r = OpGroupNonUniformBallotBitCount %u32 %n3 ExclusiveScan %b"), |ids| {
        (0..ids.len()).map(|lane| (votes(ids) & ((1 << lane) - 1)).count_ones()).collect()
    });
    check(&format!("{ballot}%r = OpGroupNonUniformBallotFindLSB %u32 %n3 %b"), |ids| {
        all_of(ids, votes(ids).trailing_zeros())
    });
    check(&format!("{ballot}%r = OpGroupNonUniformBallotFindMSB %u32 %n3 %b"), |ids| {
        all_of(ids, 63 - votes(ids).leading_zeros())
    });
    check(&format!("{ballot}{}", select("OpGroupNonUniformInverseBallot %bool %n3 %b")), |ids| {
        ids.iter().map(|id| id & 1).collect()
    });
    check(&format!("{ballot}{}", select("OpGroupNonUniformBallotBitExtract %bool %n3 %b %n3")), |ids| {
        all_of(ids, 1)
    });
}

#[test]
fn values_of_other_lanes() {
    let read = |op: &str, operand: &str| format!("%r = {op} %u32 %n3 %x {operand}");
    // Lanes without a partner keep their own value.
    let moved = |ids: &[u32], to: fn(i64) -> i64| -> Vec<u32> {
        let xs = xs(ids);
        (0..xs.len())
            .map(|i| usize::try_from(to(i as i64)).ok().and_then(|i| xs.get(i)).copied().unwrap_or(xs[i]))
            .collect()
    };
    check(&read("OpGroupNonUniformBroadcastFirst", ""), |ids| all_of(ids, xs(ids)[0]));
    check(&read("OpGroupNonUniformBroadcast", "%n2"), |ids| all_of(ids, xs(ids)[2]));
    check(&read("OpGroupNonUniformShuffleXor", "%n1"), |ids| moved(ids, |i| i ^ 1));
    check(&read("OpGroupNonUniformShuffleUp", "%n3"), |ids| moved(ids, |i| i - 3));
    check(&read("OpGroupNonUniformShuffleDown", "%n2"), |ids| moved(ids, |i| i + 2));
    check(&read("OpGroupNonUniformQuadBroadcast", "%n3"), |ids| moved(ids, |i| i | 3));
    check(&read("OpGroupNonUniformQuadSwap", "%n0"), |ids| moved(ids, |i| i ^ 1));
    check(&read("OpGroupNonUniformQuadSwap", "%n1"), |ids| moved(ids, |i| i ^ 2));
    check(&read("OpGroupNonUniformQuadSwap", "%n2"), |ids| moved(ids, |i| i ^ 3));
    check("%o = OpBitwiseXor %u32 %lane %n3\n%r = OpGroupNonUniformShuffle %u32 %n3 %x %o", |ids| {
        moved(ids, |i| i ^ 3)
    });
    check("%v = OpGroupNonUniformQuadAnyKHR %bool %last\n%r = OpSelect %u32 %v %n1 %n0", |ids| {
        ids.iter().map(|id| u32::from(id & 15 > 11)).collect()
    });
    check("%v = OpGroupNonUniformQuadAllKHR %bool %last\n%r = OpSelect %u32 %v %n1 %n0", |ids| {
        all_of(ids, 0)
    });
    let vector = "%v = OpCompositeConstruct %v2u32 %i %x\n%w = OpGroupNonUniformShuffleXor %v2u32 %n3 %v %n2\n\
                  %r = OpCompositeExtract %u32 %w 1";
    check(vector, |ids| moved(ids, |i| i ^ 2));
}

#[test]
fn only_active_lanes_count() {
    // Odd lanes only; then all again.
    let body = "OpSelectionMerge %m None\nOpBranchConditional %is_odd %t %m\n\
                %t = OpLabel\n%s = OpGroupNonUniformIAdd %u32 %n3 Reduce %i\nOpBranch %m\n\
                %m = OpLabel\n%p = OpPhi %u32 %n0 %entry %s %t\n\
                %r = OpGroupNonUniformIAdd %u32 %n3 InclusiveScan %p";
    check(body, |ids| {
        let odd: u32 = ids.iter().filter(|id| *id & 1 == 1).sum();
        let mut sum = 0;
        let add = |id: &u32| {
            sum += if id & 1 == 1 { odd } else { 0 };
            sum
        };
        ids.iter().map(add).collect()
    });
    // Both sides of a branch, with an operation in a function of each.
    let both = "OpSelectionMerge %m None\nOpBranchConditional %is_odd %t %e\n\
                %t = OpLabel\n%a = OpGroupNonUniformIAdd %u32 %n3 Reduce %n1\nOpBranch %m\n\
                %e = OpLabel\n%b = OpGroupNonUniformBroadcastFirst %u32 %n3 %i\nOpBranch %m\n\
                %m = OpLabel\n%r = OpPhi %u32 %a %t %b %e";
    check(both, |ids| {
        let odd = ids.iter().filter(|id| *id & 1 == 1).count() as u32;
        ids.iter().map(|id| if id & 1 == 1 { odd } else { ids[0] }).collect()
    });
}

/// The number of iterations is the lane's index in its subgroup.
const ROUNDS: &str = "OpBranch %h\n\
    %h = OpLabel\n%j = OpPhi %u32 %n0 %entry %j1 %c\n%s = OpPhi %u32 %n0 %entry %s1 %c\n\
    OpLoopMerge %m %c None\nOpBranch %test\n\
    %test = OpLabel\n%go = OpULessThan %bool %j %lane\nOpBranchConditional %go %body %m\n\
    %body = OpLabel\n%n = OpGroupNonUniformIAdd %u32 %n3 Reduce %n1\n%s1 = OpIAdd %u32 %s %n\nOpBranch %c\n\
    %c = OpLabel\n%j1 = OpIAdd %u32 %j %n1\nOpBranch %h\n\
    %m = OpLabel\n";

#[test]
fn loops_that_lanes_leave_one_by_one() {
    // In iteration j, the lanes above j are active.
    let rounds = |ids: &[u32], lane: usize| (0..lane).map(|j| (ids.len() - 1 - j) as u32).sum::<u32>();
    check(&format!("{ROUNDS}%r = OpCopyObject %u32 %s"), |ids| {
        (0..ids.len()).map(|lane| rounds(ids, lane)).collect()
    });
    // After the loop, all lanes have reconverged.
    check(&format!("{ROUNDS}%r = OpGroupNonUniformUMax %u32 %n3 Reduce %s"), |ids| {
        all_of(ids, rounds(ids, ids.len() - 1))
    });
}

#[test]
fn lanes_that_skip_a_part_of_a_round_wait_for_the_next() {
    // Odd lanes continue at once in iteration 0, and must not run ahead of the others.
    let body = "OpBranch %h\n\
        %h = OpLabel\n%j = OpPhi %u32 %n0 %entry %j1 %c\n%s = OpPhi %u32 %n0 %entry %s2 %c\n\
        OpLoopMerge %m %c None\nOpBranch %b\n\
        %b = OpLabel\n%n = OpGroupNonUniformIAdd %u32 %n3 Reduce %n1\n%s1 = OpIAdd %u32 %s %n\n\
        OpSelectionMerge %k None\nOpBranchConditional %is_odd %c %k\n\
        %k = OpLabel\n%o = OpGroupNonUniformIAdd %u32 %n3 Reduce %n10\n%s3 = OpIAdd %u32 %s1 %o\nOpBranch %c\n\
        %c = OpLabel\n%s2 = OpPhi %u32 %s1 %b %s3 %k\n%j1 = OpIAdd %u32 %j %n1\n\
        %go = OpULessThan %bool %j1 %n3\nOpBranchConditional %go %h %m\n\
        %m = OpLabel\n%r = OpCopyObject %u32 %s2";
    check(body, |ids| {
        let all = ids.len() as u32;
        let even = ids.iter().filter(|id| *id & 1 == 0).count() as u32;
        ids.iter().map(|id| 3 * all + if id & 1 == 1 { 0 } else { 30 * even }).collect()
    });
}

#[test]
fn lanes_reconverge_in_each_iteration_of_nested_loops() {
    // The inner loop has as many iterations as the lane's lowest bits, in each of three outer iterations.
    let body = "OpBranch %h\n\
        %h = OpLabel\n%j = OpPhi %u32 %n0 %entry %j1 %c\n%s = OpPhi %u32 %n0 %entry %s3 %c\n\
        OpLoopMerge %m %c None\nOpBranch %ih\n\
        %ih = OpLabel\n%k = OpPhi %u32 %n0 %h %k1 %ic\n%si = OpPhi %u32 %s %h %s1 %ic\n\
        OpLoopMerge %im %ic None\nOpBranch %it\n\
        %it = OpLabel\n%low = OpBitwiseAnd %u32 %lane %n3\n%more = OpULessThan %bool %k %low\n\
        OpBranchConditional %more %ib %im\n\
        %ib = OpLabel\n%n = OpGroupNonUniformIAdd %u32 %n3 Reduce %n1\n%s1 = OpIAdd %u32 %si %n\nOpBranch %ic\n\
        %ic = OpLabel\n%k1 = OpIAdd %u32 %k %n1\nOpBranch %ih\n\
        %im = OpLabel\n%all = OpGroupNonUniformIAdd %u32 %n3 Reduce %n1\n%s3 = OpIAdd %u32 %si %all\nOpBranch %c\n\
        %c = OpLabel\n%j1 = OpIAdd %u32 %j %n1\n%go = OpULessThan %bool %j1 %n3\nOpBranchConditional %go %h %m\n\
        %m = OpLabel\n%r = OpCopyObject %u32 %s3";
    check(body, |ids| {
        let above = |k: u32| (0..ids.len() as u32).filter(|lane| lane & 3 > k).count() as u32;
        let lanes = 0..ids.len() as u32;
        lanes.map(|lane| 3 * ((0..lane & 3).map(above).sum::<u32>() + ids.len() as u32)).collect()
    });
}

#[test]
fn with_barriers_of_the_workgroup() {
    let body = "%s = OpGroupNonUniformIAdd %u32 %n3 Reduce %n1\nOpControlBarrier %n2 %n2 %n264\n\
                OpControlBarrier %n3 %n3 %n264\n%r = OpGroupNonUniformIAdd %u32 %n3 Reduce %s";
    check(body, |ids| all_of(ids, (ids.len() * ids.len()) as u32));
}

#[test]
fn a_size_that_is_not_offered_is_refused() {
    let words = kernel_of(4, &[("u32", 4)], "", "", "%r = OpCopyObject %u32 %i");
    let options = PipelineOptions { subgroup_size: Some(12), ..PipelineOptions::default() };
    let error = Bench::new().device.load(&words, &options).expect_err("there are no such subgroups");
    let text = "subgroups of 12 invocations were asked for, Built-in CPU has those of [4, 8, 16, 32, 64]";
    assert_eq!(error.to_string(), text);
}
