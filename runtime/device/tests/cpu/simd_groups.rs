//! Random kernels in SIMD groups of every width and in every other kind of code. The bench compares the
//! memory that they write, and the findings of the checked mode. `KPS_RANDOM_MODULES=FIRST..LAST` selects
//! other seeds.

use std::ops::Range;

use kps_device::{Check, Checks, Command, Instrument, PipelineOptions, Waited};

use super::assembly::kernel;
use super::bench::Bench;
use super::phases::shared;
use super::programs::{N_BUFFERS, apart, guarded};
use super::subgroup_programs::in_subgroups;

/// Invocations of each row: a prime, so that the last SIMD groups reach beyond the buffers.
const N: u32 = 61;
/// From the first invocation of a row to that of the next.
const ROW: u32 = 64;

/// Invocations of each row inside the domain, for kernels that test it.
const DOMAIN: u32 = 45;

/// The module with another local size.
fn with_local_size(mut words: Vec<u32>, [x, y]: [u32; 2]) -> Vec<u32> {
    // `OpExecutionMode %main LocalSize x y z`
    let at = words.windows(3).position(|words| words[0] == 6 << 16 | 16 && words[2] == 17);
    let at = at.expect("the module says its local size");
    words[at + 3] = x;
    words[at + 4] = y;
    words
}

/// Returns the number of findings.
fn compare(words: &[u32], size: [u32; 2], options: &PipelineOptions) -> usize {
    let [x, y] = size;
    let bench = Bench::all_kinds();
    let n = N + (y - 1) * ROW;
    let input: Vec<u32> = (0..n).map(|i| i.wrapping_mul(2_654_435_761) >> 25).collect();
    let mut buffers = vec![bench.buffer(&input)];
    buffers.extend((1..N_BUFFERS).map(|_| bench.buffer(&vec![7u32; n as usize])));
    let words = with_local_size(words.to_vec(), [x, y]);
    let domain: Vec<u8> = [DOMAIN, 2, 1].iter().flat_map(|n: &u32| n.to_le_bytes()).collect();
    let dispatch = bench.dispatch_with(&words, options, &buffers, &domain, [N.div_ceil(x), 1, 1]);
    assert_eq!(bench.submit(vec![Command::Dispatch(dispatch)]), Ok(Waited::Done));
    let n_mistakes = bench.findings().len();
    for &buffer in &buffers {
        bench.read::<u32>(buffer);
    }
    n_mistakes
}

fn seeds() -> Range<u64> {
    let asked = std::env::var("KPS_RANDOM_MODULES").ok();
    let asked = asked.and_then(|range| {
        let (first, last) = range.split_once("..")?;
        Some(first.parse().ok()?..last.parse().ok()?)
    });
    asked.unwrap_or(0..12)
}

/// The checks of single invocations, which do not depend on the order of others.
fn of_each_lane() -> Checks {
    let alone =
        [Check::Bounds, Check::Division, Check::Shift, Check::Conversion, Check::Overflow, Check::Nan];
    alone.into_iter().fold(Checks::NONE, Checks::with)
}

/// Runs random kernels in workgroups of every size given.
fn check(kernel: fn(u64) -> Vec<u32>, local_sizes: &'static [[u32; 2]]) {
    let seeds: Vec<u64> = seeds().collect();
    for seeds in seeds.chunks(50) {
        let seeds = seeds.to_vec();
        // Code is cached while its thread lives.
        let thread = std::thread::spawn(move || {
            let mut n_mistakes = 0;
            for seed in seeds {
                let words = kernel(seed);
                for &local_size in local_sizes {
                    println!("seed {seed}, local size {local_size:?}");
                    let with = |instrument| PipelineOptions { instrument, ..PipelineOptions::default() };
                    compare(&words, local_size, &with(Instrument::None));
                    n_mistakes += compare(&words, local_size, &with(Instrument::Checked(of_each_lane())));
                }
            }
            assert!(n_mistakes > 0, "random kernels make mistakes");
        });
        thread.join().expect("all kinds of code agree");
    }
}

#[test]
fn random_kernels_give_the_same_in_simd_groups() {
    check(apart, &[[1, 1], [4, 1], [8, 2], [16, 1], [32, 2], [6, 1]]);
}

#[test]
fn random_kernels_stay_inside_their_domain_in_simd_groups() {
    check(guarded, &[[1, 1], [4, 1], [8, 2], [16, 1]]);
}

#[test]
fn random_workgroups_give_the_same_in_simd_groups() {
    check(shared, &[[4, 1], [8, 2], [16, 1], [32, 2]]);
}

/// Sizes of subgroups with those of workgroups. Some do not fill a SIMD group.
const IN_SUBGROUPS: [(u32, &[[u32; 2]]); 5] = [
    (4, &[[4, 1], [8, 2], [16, 1]]),
    (8, &[[8, 2], [24, 1], [32, 2]]),
    (16, &[[16, 1], [32, 2], [24, 1]]),
    (32, &[[32, 2]]),
    (64, &[[32, 2]]),
];

#[test]
fn random_subgroups_give_the_same_in_simd_groups() {
    for seed in seeds() {
        let words = in_subgroups(seed);
        for (subgroup_size, local_sizes) in IN_SUBGROUPS {
            for &local_size in local_sizes {
                println!("seed {seed}, local size {local_size:?}, subgroups of {subgroup_size}");
                let options =
                    PipelineOptions { subgroup_size: Some(subgroup_size), ..PipelineOptions::default() };
                compare(&words, local_size, &options);
            }
        }
    }
}

#[test]
fn rows_go_through_several_workgroups() {
    // 40 invocations by 12, each with its own element; the last two rows are out of range.
    let body = "%gid_y = OpAccessChain %in_u32 %gid %n1\n%y = OpLoad %u32 %gid_y\n\
                %first = OpIMul %u32 %y %n40\n%me = OpIAdd %u32 %first %i\n\
                %from = OpAccessChain %p0 %b0 %n0 %me\n%x = OpLoad %u32 %from\n\
                %tall = OpIMul %u32 %y %n1000\n%sum = OpIAdd %u32 %x %tall\n\
                %to = OpAccessChain %p1 %b1 %n0 %me\nOpStore %to %sum";
    let declarations = "%n40 = OpConstant %u32 40\n%n1000 = OpConstant %u32 1000";
    let words = with_local_size(kernel(&[("u32", 4); 2], declarations, body), [8, 4]);
    let bench = Bench::all_kinds();
    let (from, to) = (bench.buffer(&(0..400).collect::<Vec<u32>>()), bench.buffer(&[0u32; 400]));
    bench.run(&words, &[from, to], &[], [5, 3, 1]);
    let expected: Vec<u32> = (0..400).map(|i| i + i / 40 * 1000).collect();
    assert_eq!(bench.read::<u32>(to), expected);
}

/// Stores 7 at an index that many operations compute from the invocation's own, and that equals it.
fn check_index(start: &str, step: impl Fn(u32) -> String, n: u32) {
    let steps: String = (0..n).map(step).collect();
    let body = format!("{start}\n{steps}%to = OpAccessChain %p0 %b0 %n0 %x{n}\nOpStore %to %seven");
    let bench = Bench::all_kinds();
    let buffer = bench.buffer(&[0u32; 8]);
    let words = kernel(
        &[("u32", 4)],
        "%w1 = OpConstant %u64 1\n%w0 = OpConstant %u64 0\n%seven = OpConstant %u32 7",
        &body,
    );
    bench.run(&words, &[buffer], &[], [2, 1, 1]);
    assert_eq!(bench.read::<u32>(buffer), [7; 8]);
}

#[test]
fn an_index_comes_out_of_a_long_chain_of_operations() {
    let step =
        |k| format!("%m{k} = OpBitwiseXor %u64 %x{k} %w1\n%x{} = OpBitwiseXor %u64 %m{k} %w1\n", k + 1);
    check_index("%x0 = OpUConvert %u64 %i", step, 2500);
    let step = |k| format!("%m{k} = OpIAdd %u64 %x{k} %w1\n%x{} = OpISub %u64 %m{k} %w1\n", k + 1);
    check_index("%x0 = OpUConvert %u64 %i", step, 2500);
}

#[test]
fn an_index_is_used_twice_in_each_of_many_steps() {
    let step = |k| format!("%m{k} = OpIAdd %u64 %x{k} %x{k}\n%x{} = OpISub %u64 %m{k} %x{k}\n", k + 1);
    let start = "%j = OpIAdd %u32 %i %n0\n%v = OpIMul %u32 %j %n1\n%x0 = OpUConvert %u64 %v";
    check_index(start, step, 60);
    let start = "%u = OpIAdd %u32 %i %n10\n%v = OpISub %u32 %u %n10\n%x0 = OpUConvert %u64 %v";
    check_index(start, step, 60);
}

/// Stores in the innermost of many nested blocks, which all invocations but the first reach.
fn check_nesting(open: impl Fn(u32) -> String, close: impl Fn(u32) -> String, n: u32) {
    let opened: String = (0..n).map(open).collect();
    let closed: String = (0..n).rev().map(close).collect();
    let body = format!(
        "%to = OpAccessChain %p0 %b0 %n0 %i\n%some = OpUGreaterThan %bool %i %n0\n{opened}OpStore %to %n5\n{closed}"
    );
    let bench = Bench::all_kinds();
    let buffer = bench.buffer(&[0u32; 8]);
    bench.run(&kernel(&[("u32", 4)], "", &body), &[buffer], &[], [2, 1, 1]);
    assert_eq!(bench.read::<u32>(buffer), [0, 5, 5, 5, 5, 5, 5, 5]);
}

#[test]
fn branches_nest_deeply() {
    let open =
        |k| format!("OpSelectionMerge %m{k} None\nOpBranchConditional %some %t{k} %m{k}\n%t{k} = OpLabel\n");
    check_nesting(open, |k| format!("OpBranch %m{k}\n%m{k} = OpLabel\n"), 1500);
}

#[test]
fn loops_nest_deeply() {
    // Each has one iteration.
    let open = |k| {
        format!(
            "OpBranch %head{k}\n%head{k} = OpLabel\nOpLoopMerge %m{k} %c{k} None\n\
             OpBranchConditional %some %t{k} %m{k}\n%t{k} = OpLabel\n"
        )
    };
    let close = |k| format!("OpBranch %m{k}\n%c{k} = OpLabel\nOpBranch %head{k}\n%m{k} = OpLabel\n");
    check_nesting(open, close, 300);
}

/// Returns early in two arms of a uniform branch: in one all lanes or none, in the other some.
const EARLY: &str = "%fn_early = OpTypeFunction %u32 %u32 %u32 %u32
%early = OpFunction %u32 None %fn_early
%own = OpFunctionParameter %u32
%first = OpFunctionParameter %u32
%second = OpFunctionParameter %u32
%el = OpLabel
%is_first = OpULessThan %bool %first %n3
OpSelectionMerge %met None
OpBranchConditional %is_first %uniform %each
%uniform = OpLabel
%is_second = OpULessThan %bool %second %n3
OpSelectionMerge %uniform_met None
OpBranchConditional %is_second %uniform_ends %uniform_met
%uniform_ends = OpLabel
OpReturnValue %n10
%uniform_met = OpLabel
OpBranch %met
%each = OpLabel
%is_own = OpULessThan %bool %own %n3
OpSelectionMerge %each_met None
OpBranchConditional %is_own %each_ends %each_met
%each_ends = OpLabel
OpReturnValue %n1
%each_met = OpLabel
OpBranch %met
%met = OpLabel
OpReturnValue %n5
OpFunctionEnd";

#[test]
fn lanes_keep_out_of_blocks_that_none_of_them_took() {
    let given = "%at_first = OpAccessChain %p1 %b1 %n0 %n0\n%x = OpLoad %u32 %at_first\n\
                 %at_second = OpAccessChain %p1 %b1 %n0 %n1\n%y = OpLoad %u32 %at_second\n\
                 %to = OpAccessChain %p0 %b0 %n0 %i\n";
    let once = "%r = OpFunctionCall %u32 %early %i %x %y\nOpStore %to %r";
    // Lanes that diverge in the first call have reconverged before the second.
    let twice = "%q = OpFunctionCall %u32 %early %i %x %y\n%r = OpFunctionCall %u32 %early %i %x %y\n\
                 %s = OpIAdd %u32 %q %r\nOpStore %to %s";
    let parted = [1, 1, 1, 5, 5, 5, 5, 5];
    let cases = [([0, 0], [10; 8]), ([0, 7], [5; 8]), ([7, 0], parted), ([7, 7], parted)];
    for (body, times) in [(once, 1), (twice, 2)] {
        let words = kernel(&[("u32", 4); 2], EARLY, &(given.to_owned() + body));
        for (conditions, expected) in cases {
            let bench = Bench::all_kinds();
            let (buffer, conditions) = (bench.buffer(&[0u32; 8]), bench.buffer::<u32>(&conditions));
            bench.run(&words, &[buffer, conditions], &[], [2, 1, 1]);
            assert_eq!(bench.read::<u32>(buffer), expected.map(|x| x * times));
        }
    }
}
