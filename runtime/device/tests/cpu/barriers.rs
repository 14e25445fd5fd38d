//! Barriers in workgroups of four lanes.

use kps_device::{Command, DeviceError};

use super::assembly::kernel_with;
use super::bench::Bench;

const SHARED: &str = "OpDecorate %wid BuiltIn WorkgroupId
OpDecorate %lid BuiltIn LocalInvocationId
%wid = OpVariable %in_v3u32 Input
%lid = OpVariable %in_v3u32 Input
%arr = OpTypeArray %u32 %n4
%parr = OpTypePointer Workgroup %arr
%pwu = OpTypePointer Workgroup %u32
%tile = OpVariable %parr Workgroup
%total = OpVariable %pwu Workgroup
%farr = OpTypePointer Function %arr
%pfu = OpTypePointer Function %u32
%fn_wait = OpTypeFunction %u32 %u32
%wait = OpFunction %u32 None %fn_wait
%wx = OpFunctionParameter %u32
%wl = OpLabel
%wat = OpAccessChain %pwu %tile %n0
OpControlBarrier %n2 %n2 %n264
%wv = OpLoad %u32 %wat
OpControlBarrier %n2 %n2 %n264
%ws = OpIAdd %u32 %wv %wx
OpReturnValue %ws
OpFunctionEnd";

const WAIT: &str = "OpControlBarrier %n2 %n2 %n264\n";

fn module(variables: &str, body: &str) -> Vec<u32> {
    let ids = "%gp = OpAccessChain %in_u32 %wid %n0\n%g = OpLoad %u32 %gp\n\
               %lp = OpAccessChain %in_u32 %lid %n0\n%l = OpLoad %u32 %lp\n";
    let declarations = format!("%n264 = OpConstant %u32 264\n{SHARED}");
    kernel_with(&[("u32", 4)], &declarations, variables, &format!("{ids}{body}"))
}

fn check(variables: &str, body: &str, expected: [u32; 8]) {
    let body = format!("{body}\n%at0 = OpAccessChain %p0 %b0 %n0 %i\nOpStore %at0 %r");
    let bench = Bench::all_kinds();
    let buffer = bench.buffer(&[77u32; 8]);
    bench.run(&module(variables, &body), &[buffer], &[], [2, 1, 1]);
    assert_eq!(bench.read::<u32>(buffer), expected, "{body}");
}

#[test]
fn what_one_lane_stores_another_loads_behind_the_barrier() {
    // Lane l reads what lane 3 - l wrote; i and the index are carried across the barrier.
    let body = format!(
        "%at = OpAccessChain %pwu %tile %l\nOpStore %at %i\n{WAIT}\
         %other = OpISub %u32 %n3 %l\n%from = OpAccessChain %pwu %tile %other\n%r = OpLoad %u32 %from"
    );
    check("", &body, [3, 2, 1, 0, 7, 6, 5, 4]);
}

/// A tree reduction over a workgroup, with barriers in a loop.
const REDUCTION: &str = "%at = OpAccessChain %pwu %tile %l\nOpStore %at %i\nOpControlBarrier %n2 %n2 %n264\nOpBranch %h\n\
    %h = OpLabel\n%half = OpPhi %u32 %n2 %entry %next %c\nOpLoopMerge %m %c None\nOpBranch %t\n\
    %t = OpLabel\n%more = OpUGreaterThan %bool %half %n0\nOpBranchConditional %more %b %m\n\
    %b = OpLabel\n%low = OpULessThan %bool %l %half\nOpSelectionMerge %j None\nOpBranchConditional %low %add %j\n\
    %add = OpLabel\n%up = OpIAdd %u32 %l %half\n%up_at = OpAccessChain %pwu %tile %up\n%x = OpLoad %u32 %up_at\n\
    %y = OpLoad %u32 %at\n%s = OpIAdd %u32 %x %y\nOpStore %at %s\nOpBranch %j\n\
    %j = OpLabel\nOpControlBarrier %n2 %n2 %n264\nOpBranch %c\n\
    %c = OpLabel\n%next = OpShiftRightLogical %u32 %half %n1\nOpBranch %h\n\
    %m = OpLabel\n%first = OpAccessChain %pwu %tile %n0\n%r = OpLoad %u32 %first";

/// A module for tests that corrupt it.
pub fn reduction() -> Vec<u32> {
    module("", &format!("{REDUCTION}\n%at0 = OpAccessChain %p0 %b0 %n0 %i\nOpStore %at0 %r"))
}

#[test]
fn barriers_in_a_loop() {
    check("", REDUCTION, [6, 6, 6, 6, 22, 22, 22, 22]);
}

#[test]
fn each_lane_keeps_its_variables_and_its_arrays() {
    // A variable that changes on both sides of a barrier, and an array with a run-time index.
    let body = format!(
        "OpStore %v %i\n%e = OpAccessChain %pfu %a %l\nOpStore %e %n10\n{WAIT}\
         %v0 = OpLoad %u32 %v\n%v1 = OpIAdd %u32 %v0 %n1\nOpStore %v %v1\n\
         %e0 = OpLoad %u32 %e\n%e1 = OpIAdd %u32 %e0 %v1\nOpStore %e %e1\n{WAIT}\
         %f = OpAccessChain %pfu %a %n2\n%fv = OpLoad %u32 %f\n%v2 = OpLoad %u32 %v\n%r = OpIAdd %u32 %fv %v2"
    );
    let variables = "%v = OpVariable %pfu Function\n%a = OpVariable %farr Function";
    check(variables, &body, [1, 2, 3 + 13, 4, 5, 6, 7 + 17, 8]);
}

#[test]
fn barriers_in_a_function_that_is_called_twice() {
    let body = "%at = OpAccessChain %pwu %tile %l\nOpStore %at %i\n%p = OpFunctionCall %u32 %wait %l\n\
                OpStore %at %p\n%r = OpFunctionCall %u32 %wait %p";
    check("", body, [0, 1, 2, 3, 8, 9, 10, 11]);
}

#[test]
fn shared_memory_starts_as_zero_in_each_workgroup() {
    let body = format!(
        "%old = OpAtomicIAdd %u32 %total %n2 %n0 %n1\n{WAIT}%sum = OpLoad %u32 %total\n%r = OpIAdd %u32 %sum %g"
    );
    check("", &body, [4, 4, 4, 4, 5, 5, 5, 5]);
}

#[test]
fn divergent_barriers_are_faults() {
    // Lanes 4 and 5 of the second workgroup diverge. One that waits is named.
    for (compare, waits) in [("OpULessThan", 4), ("OpUGreaterThanEqual", 5)] {
        let body = format!(
            "%file = OpCopyObject %u32 %l\n%c = {compare} %bool %i %n5\nOpSelectionMerge %m None\n\
             OpBranchConditional %c %t %m\n%t = OpLabel\nOpControlBarrier %n2 %n2 %n264\nOpBranch %m\n%m = OpLabel"
        );
        let bench = Bench::all_kinds();
        let buffer = bench.buffer(&[0u32; 8]);
        let words = module("", &body);
        let dispatch = Command::Dispatch(bench.dispatch(&words, &[buffer], &[], [3, 1, 1]));
        let Err(DeviceError::Fault(fault)) = bench.submit(vec![dispatch]) else { panic!("it is no fault") };
        assert_eq!(fault.message, "not every invocation of the workgroup comes to this barrier");
        assert_eq!(fault.invocation, [waits, 0, 0]);
    }
}

#[test]
fn both_barriers_are_named_where_lanes_come_to_different_ones() {
    let body = "OpLine %name 6 1\n%c = OpULessThan %bool %l %n2\nOpSelectionMerge %m None\nOpBranchConditional %c %t %e\n\
                %t = OpLabel\nOpLine %name 7 5\nOpControlBarrier %n2 %n2 %n264\nOpBranch %m\n\
                %e = OpLabel\nOpLine %name 9 5\nOpControlBarrier %n2 %n2 %n264\nOpBranch %m\n%m = OpLabel";
    let elect = "%first = OpGroupNonUniformElect %bool %n3\n";
    // Subgroup operations detect divergence elsewhere, with the same message.
    for start in ["", elect] {
        let bench = Bench::new();
        let declarations = format!("%name = OpString \"two.kps\"\n%n264 = OpConstant %u32 264\n{SHARED}");
        let ids = "%lp = OpAccessChain %in_u32 %lid %n0\n%l = OpLoad %u32 %lp\n";
        let words = kernel_with(&[("u32", 4)], &declarations, "", &format!("{ids}{start}{body}"));
        let buffer = bench.buffer(&[0u32; 4]);
        let dispatch = Command::Dispatch(bench.dispatch(&words, &[buffer], &[], [1, 1, 1]));
        let Err(DeviceError::Fault(fault)) = bench.submit(vec![dispatch]) else { panic!("it is no fault") };
        let text = "not every invocation of the workgroup comes to this barrier: another waits at line 9";
        assert_eq!((fault.message.as_str(), fault.line.map(|line| line.line)), (text, Some(7)));
    }
}

#[test]
fn a_loop_of_barriers_that_never_ends_is_interrupted() {
    let body = "OpBranch %h\n%h = OpLabel\nOpLoopMerge %m %c None\nOpBranch %c\n\
                %c = OpLabel\nOpControlBarrier %n2 %n2 %n264\nOpBranchConditional %true %h %m\n%m = OpLabel";
    let bench = Bench::new();
    let flag = bench.device.interrupt_flag();
    let raiser = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(20));
        flag.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    let dispatch = bench.dispatch(&module("", body), &[], &[], [1, 1, 1]);
    let error = bench.submit(vec![Command::Dispatch(dispatch)]).expect_err("it is interrupted");
    raiser.join().expect("it only sleeps");
    assert!(matches!(error, DeviceError::Interrupted { .. }), "{error:?}");
}
