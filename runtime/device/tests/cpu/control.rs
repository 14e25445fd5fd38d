//! Branches, loops, phis, calls, specialisation.

use kps_device::{Command, PipelineOptions};

use super::assembly::{kernel, kernel_with};
use super::bench::{Bench, refusal};

/// Bodies of modules for tests that corrupt them.
pub const MODULES: &[&str] = &[LOOP, CALLING];

pub fn module(body: &str) -> Vec<u32> {
    let store = "%at0 = OpAccessChain %p0 %b0 %n0 %i\nOpStore %at0 %r";
    kernel_with(&[("u32", 4)], CALLEES, "%v = OpVariable %pfu Function", &format!("{body}\n{store}"))
}

const CALLING: &str = "%none = OpFunctionCall %void %put %v %i\n%r = OpLoad %u32 %v";

/// Runs a body that ends with a store of `%r`, in lanes 0 to 7.
fn check(body: &str, expected: [u32; 8]) {
    check_with("", body, expected);
}

fn check_with(declarations: &str, body: &str, expected: [u32; 8]) {
    let (variables, rest): (Vec<&str>, Vec<&str>) =
        body.lines().partition(|line| line.contains("= OpVariable"));
    let store = "%at0 = OpAccessChain %p0 %b0 %n0 %i\nOpStore %at0 %r";
    let body = format!("{}\n{store}", rest.join("\n"));
    let words = kernel_with(&[("u32", 4)], declarations, &variables.join("\n"), &body);
    let bench = Bench::all_kinds();
    let buffer = bench.buffer(&[77u32; 8]);
    bench.run(&words, &[buffer], &[], [2, 1, 1]);
    assert_eq!(bench.read::<u32>(buffer), expected, "{body}");
}

#[test]
fn branches_join_in_phis() {
    check(
        "%c = OpULessThan %bool %i %n3\nOpSelectionMerge %m None\nOpBranchConditional %c %t %e\n\
         %t = OpLabel\n%a = OpIMul %u32 %i %n10\nOpBranch %m\n\
         %e = OpLabel\n%b = OpISub %u32 %i %n3\nOpBranch %m\n\
         %m = OpLabel\n%r = OpPhi %u32 %a %t %b %e",
        [0, 10, 20, 0, 1, 2, 3, 4],
    );
}

/// The sum of `0 .. i`, with `continue` and `break`.
const LOOP: &str = "OpBranch %h\n\
    %h = OpLabel\n%j = OpPhi %u32 %n0 %entry %j1 %cont\n%s = OpPhi %u32 %n0 %entry %s1 %cont\n\
    OpLoopMerge %m %cont None\nOpBranch %test\n\
    %test = OpLabel\n%go = OpULessThan %bool %j %i\nOpBranchConditional %go %body %m\n\
    %body = OpLabel\n%end = OpIEqual %bool %j %n5\nOpSelectionMerge %keep None\nOpBranchConditional %end %m %keep\n\
    %keep = OpLabel\n%skip = OpIEqual %bool %j %n2\nOpSelectionMerge %add None\nOpBranchConditional %skip %cont %plus\n\
    %plus = OpLabel\n%s2 = OpIAdd %u32 %s %j\nOpBranch %cont\n\
    %cont = OpLabel\n%s1 = OpPhi %u32 %s %keep %s2 %plus\n%j1 = OpIAdd %u32 %j %n1\nOpBranch %h\n\
    %m = OpLabel\n%r = OpCopyObject %u32 %s";

#[test]
fn loops_break_and_continue() {
    check(LOOP, [0, 0, 1, 1, 4, 8, 8, 8]);
}

#[test]
fn nested_loops_over_variables() {
    let body = "%v = OpVariable %pfu Function\n%j = OpVariable %pfu Function\n%k = OpVariable %pfu Function\n\
        OpStore %v %n0\nOpStore %j %n0\nOpBranch %h\n\
        %h = OpLabel\nOpLoopMerge %m %c None\nOpBranch %t\n\
        %t = OpLabel\n%j0 = OpLoad %u32 %j\n%more = OpULessThan %bool %j0 %i\nOpBranchConditional %more %b %m\n\
        %b = OpLabel\nOpStore %k %n0\nOpBranch %ih\n\
        %ih = OpLabel\nOpLoopMerge %im %ic None\nOpBranch %it\n\
        %it = OpLabel\n%k0 = OpLoad %u32 %k\n%imore = OpULessThan %bool %k0 %j0\n\
        OpBranchConditional %imore %ib %im\n\
        %ib = OpLabel\n%v0 = OpLoad %u32 %v\n%v1 = OpIAdd %u32 %v0 %n1\nOpStore %v %v1\nOpBranch %ic\n\
        %ic = OpLabel\n%k1 = OpIAdd %u32 %k0 %n1\nOpStore %k %k1\nOpBranch %ih\n\
        %im = OpLabel\nOpBranch %c\n\
        %c = OpLabel\n%j1 = OpIAdd %u32 %j0 %n1\nOpStore %j %j1\nOpBranch %h\n\
        %m = OpLabel\n%r = OpLoad %u32 %v";
    check_with("%pfu = OpTypePointer Function %u32", body, [0, 0, 1, 3, 6, 10, 15, 21]);
}

#[test]
fn switches_fall_to_their_default() {
    check(
        "OpSelectionMerge %m None\nOpSwitch %i %d 1 %one 3 %three 5 %one\n\
         %one = OpLabel\nOpBranch %m\n%three = OpLabel\nOpBranch %m\n%d = OpLabel\nOpBranch %m\n\
         %m = OpLabel\n%r = OpPhi %u32 %n10 %one %n4 %three %n0 %d",
        [0, 10, 0, 4, 0, 10, 0, 0],
    );
    check(
        "%w = OpUConvert %u64 %i\nOpSelectionMerge %m None\nOpSwitch %w %m 1 %one 4294967297 %two\n\
         %one = OpLabel\nOpBranch %m\n%two = OpLabel\nOpBranch %m\n\
         %m = OpLabel\n%r = OpPhi %u32 %n0 %entry %n10 %one %n4 %two",
        [0, 10, 0, 0, 0, 0, 0, 0],
    );
}

const CALLEES: &str = "%pfu = OpTypePointer Function %u32
%fn_add = OpTypeFunction %u32 %u32 %u32
%fn_put = OpTypeFunction %void %pfu %u32
%arr = OpTypeArray %u32 %n4
%parr = OpTypePointer Function %arr
%fn_at = OpTypeFunction %u32 %parr %u32
%add = OpFunction %u32 None %fn_add
%aa = OpFunctionParameter %u32
%ab = OpFunctionParameter %u32
%al = OpLabel
%ac = OpULessThan %bool %aa %n3
OpSelectionMerge %am None
OpBranchConditional %ac %at %am
%at = OpLabel
OpReturnValue %n10
%am = OpLabel
%as = OpIAdd %u32 %aa %ab
OpReturnValue %as
OpFunctionEnd
%put = OpFunction %void None %fn_put
%pa = OpFunctionParameter %pfu
%pb = OpFunctionParameter %u32
%pl = OpLabel
%px = OpFunctionCall %u32 %add %pb %n1
OpStore %pa %px
OpReturn
OpFunctionEnd
%pick = OpFunction %u32 None %fn_at
%ka = OpFunctionParameter %parr
%kb = OpFunctionParameter %u32
%kl = OpLabel
%kp = OpAccessChain %pfu %ka %kb
OpStore %kp %n5
%kv = OpAccessChain %pfu %ka %n1
%kx = OpLoad %u32 %kv
OpReturnValue %kx
OpFunctionEnd";

#[test]
fn functions_return_early_and_write_through_pointers() {
    check_with(
        CALLEES,
        "%v = OpVariable %pfu Function\n%none = OpFunctionCall %void %put %v %i\n%r = OpLoad %u32 %v",
        [10, 10, 10, 4, 5, 6, 7, 8],
    );
    check_with(
        CALLEES,
        "%v = OpVariable %parr Function\n%r = OpFunctionCall %u32 %pick %v %i",
        [0, 5, 0, 0, 0, 0, 0, 0],
    );
}

#[test]
fn recursion_is_refused() {
    let text = "OpName %f \"f\"\n%fn_r = OpTypeFunction %u32 %u32\n\
                %f = OpFunction %u32 None %fn_r\n%a = OpFunctionParameter %u32\n%fl = OpLabel\n\
                %x = OpFunctionCall %u32 %g %a\nOpReturnValue %x\nOpFunctionEnd\n\
                %g = OpFunction %u32 None %fn_r\n%b = OpFunctionParameter %u32\n%gl = OpLabel\n\
                %y = OpFunctionCall %u32 %f %b\nOpReturnValue %y\nOpFunctionEnd";
    let message = refusal(&kernel(&[("u32", 4)], text, "%r = OpFunctionCall %u32 %g %i"));
    let (start, end) = message.split_once("`f`").expect("the function has a name");
    assert!(
        start.starts_with("malformed SPIR-V: `OpFunctionCall`: functions may not call themselves, and `%")
    );
    assert!(start.ends_with("` calls ") && end.starts_with(" calls `%"), "{message}");
}

#[test]
fn calls_that_double_are_refused_before_they_fill_memory() {
    let mut text = "%fn_r = OpTypeFunction %u32 %u32\n".to_owned();
    for k in 0..40 {
        text += &format!(
            "%call{k} = OpFunction %u32 None %fn_r\n%arg{k} = OpFunctionParameter %u32\n%l{k} = OpLabel\n"
        );
        text += &match k {
            0 => "OpReturnValue %arg0\nOpFunctionEnd\n".to_owned(),
            _ => format!(
                "%x{k} = OpFunctionCall %u32 %call{} %arg{k}\n%y{k} = OpFunctionCall %u32 %call{} %x{k}\n\
                 OpReturnValue %y{k}\nOpFunctionEnd\n",
                k - 1,
                k - 1
            ),
        };
    }
    let message = refusal(&kernel(&[("u32", 4)], &text, "%r = OpFunctionCall %u32 %call39 %i"));
    assert_eq!(message, "the kernel is too large: more than 20000 blocks once calls are inlined");
}

#[test]
fn values_of_many_parts_are_refused_with_the_number() {
    let text = "%n = OpConstant %u32 16385\n%long = OpTypeArray %u32 %n\n%none = OpConstantNull %long";
    let message = refusal(&kernel(&[("u32", 4)], text, ""));
    assert_eq!(message, "the kernel is too large: a value has more than 16384 scalars");
}

#[test]
fn specialisation_reaches_constants_and_sizes() {
    let text = "OpDecorate %spec SpecId 7\nOpDecorate %flag SpecId 8\n%spec = OpSpecConstant %u32 3\n\
                %flag = OpSpecConstantTrue %bool\n%twice = OpSpecConstantOp %u32 IMul %spec %n2\n\
                %chosen = OpSpecConstantOp %u32 Select %flag %twice %n1\n\
                %arr = OpTypeArray %u32 %twice\n%parr = OpTypePointer Function %arr\n\
                %pfu = OpTypePointer Function %u32";
    let body = "OpStore %e %n1\n%x = OpLoad %u32 %e\n%r = OpIAdd %u32 %x %chosen\n\
                %at0 = OpAccessChain %p0 %b0 %n0 %i\nOpStore %at0 %r";
    let variables = "%v = OpVariable %parr Function";
    let body = format!("%e = OpAccessChain %pfu %v %i\n{body}");
    let words = kernel_with(&[("u32", 4)], text, variables, &body);
    let check = |spec_constants: Vec<(u32, u64)>, expected: [u32; 8]| {
        let bench = Bench::all_kinds();
        let buffer = bench.buffer(&[0u32; 8]);
        let options = PipelineOptions { spec_constants, ..PipelineOptions::default() };
        let dispatch = bench.dispatch_with(&words, &options, &[buffer], &[], [2, 1, 1]);
        bench.submit(vec![Command::Dispatch(dispatch)]).expect("it runs");
        assert_eq!(bench.read::<u32>(buffer), expected);
    };
    check(vec![], [7, 7, 7, 7, 7, 7, 6, 6]);
    check(vec![(7, 2)], [5, 5, 5, 5, 4, 4, 4, 4]);
    check(vec![(7, 2), (8, 0)], [2, 2, 2, 2, 1, 1, 1, 1]);
}

#[test]
fn a_value_from_the_other_branch_is_refused() {
    let body = "%c = OpULessThan %bool %i %n3\nOpSelectionMerge %m None\nOpBranchConditional %c %t %m\n\
                %t = OpLabel\n%a = OpIMul %u32 %i %n10\nOpBranch %m\n\
                %m = OpLabel\n%at0 = OpAccessChain %p0 %b0 %n0 %i\nOpStore %at0 %a";
    let message = refusal(&kernel(&[("u32", 4)], "", body));
    assert!(message.starts_with("malformed SPIR-V: `OpStore`: %"), "{message}");
    assert!(message.ends_with(" is not defined on every path to here"), "{message}");
}

#[test]
fn what_is_unknown_is_named() {
    let message = refusal(&kernel(&[("f32", 4)], "", "%r = OpDPdx %f32 %f1"));
    assert_eq!(message, "the built-in CPU device does not know the instruction `OpDPdx`");
}
