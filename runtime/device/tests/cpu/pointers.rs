//! Pointers that are known only at run time: selected ones, and addresses of buffers.

use kps_device::BufferId;

use super::assembly::kernel_with;
use super::bench::{Bench, refusal};
use super::common;

/// Runs a body in lanes 0 to 3 with two buffers `%b0`, `%b1` of four `u32`; returns both.
fn run(declarations: &str, body: &str) -> [Vec<u32>; 2] {
    let bench = Bench::new();
    let buffers = [bench.buffer(&[10u32, 11, 12, 13]), bench.buffer(&[20u32, 21, 22, 23])];
    bench.run(&kernel_with(&[("u32", 4), ("u32", 4)], declarations, "", body), &buffers, &[], [1, 1, 1]);
    buffers.map(|buffer| bench.read(buffer))
}

const ODD: &str = "%low = OpBitwiseAnd %u32 %i %n1\n%odd = OpIEqual %bool %low %n1\n";
const ENDS: &str = "%at0 = OpAccessChain %p0 %b0 %n0 %i\n%at1 = OpAccessChain %p0 %b1 %n0 %i\n";
/// Pointers to elements of both buffers have one type here.
const STRIDED: &str = "OpDecorate %pe ArrayStride 4\n%pe = OpTypePointer StorageBuffer %u32\n\
    %sharr = OpTypeArray %u32 %n4\n%psh = OpTypePointer Workgroup %sharr\n%pw = OpTypePointer Workgroup %u32\n\
    %tile = OpVariable %psh Workgroup\n%other = OpVariable %psh Workgroup\n%n264 = OpConstant %u32 264";

const CHOICE: &str =
    "%p = OpSelect %p0 %odd %at0 %at1\n%x = OpLoad %u32 %p\n%y = OpIMul %u32 %x %n10\nOpStore %p %y";

/// For tests that corrupt them.
pub fn modules() -> Vec<Vec<u32>> {
    let body = format!("{ODD}{ENDS}{CHOICE}");
    let buffers = [("u32", 4), ("u32", 4)];
    vec![
        kernel_with(&buffers, "", "", &body),
        kernel_with(&buffers, STRIDED, "", WALK),
        kernel_with(&buffers, PICKERS, "", &format!("{ODD}{RETURNED}")),
        common::assemble(LIST),
    ]
}

#[test]
fn a_select_chooses_between_buffers() {
    let body = format!("{ODD}{ENDS}{CHOICE}");
    assert_eq!(run("", &body), [vec![10, 110, 12, 130], vec![200, 21, 220, 23]]);
}

#[test]
fn a_choice_among_choices() {
    // Of three: the first buffer, the second, and its first element.
    let body = format!(
        "{ODD}{ENDS}%p = OpSelect %p0 %odd %at0 %at1\n%two = OpULessThan %bool %i %n2\n\
         %front = OpAccessChain %p0 %b1 %n0 %n0\n%q = OpSelect %p0 %two %p %front\n%x = OpAtomicIAdd %u32 %q %n1 %n0 %n5"
    );
    assert_eq!(run("", &body), [vec![10, 16, 12, 13], vec![35, 21, 22, 23]]);
}

#[test]
fn a_phi_chooses_between_buffers() {
    let body = format!(
        "{ODD}OpSelectionMerge %m None\nOpBranchConditional %odd %t %e\n\
         %t = OpLabel\n%a = OpAccessChain %p0 %b0 %n0 %i\nOpBranch %m\n\
         %e = OpLabel\n%b = OpAccessChain %p0 %b1 %n0 %n3\nOpBranch %m\n\
         %m = OpLabel\n%p = OpPhi %p0 %a %t %b %e\n%x = OpAtomicIAdd %u32 %p %n1 %n0 %n1"
    );
    assert_eq!(run("", &body), [vec![10, 12, 12, 14], vec![20, 21, 22, 25]]);
}

/// From its own element to the end, adding up; then 100 for each step.
const WALK: &str = "%start = OpAccessChain %pe %b0 %n0 %i\n%end = OpAccessChain %pe %b0 %n0 %n4\nOpBranch %h\n\
        %h = OpLabel\n%p = OpPhi %pe %start %entry %next %c\n%s = OpPhi %u32 %n0 %entry %sum %c\n\
        OpLoopMerge %m %c None\nOpBranch %t\n\
        %t = OpLabel\n%more = OpPtrNotEqual %bool %p %end\nOpBranchConditional %more %c %m\n\
        %c = OpLabel\n%x = OpLoad %u32 %p\n%sum = OpIAdd %u32 %s %x\n%next = OpPtrAccessChain %pe %p %n1\nOpBranch %h\n\
        %m = OpLabel\n%d = OpPtrDiff %i32 %p %start\n%du = OpBitcast %u32 %d\n%k = OpIMul %u32 %du %n10\n\
        %k2 = OpIMul %u32 %k %n10\n%r = OpIAdd %u32 %s %k2\n%to = OpAccessChain %p0 %b1 %n0 %i\nOpStore %to %r";

#[test]
fn a_pointer_walks_along_an_array() {
    assert_eq!(run(STRIDED, WALK)[1], [446, 336, 225, 113]);
}

/// `%pick` returns its pointer if the flag is set, else an element of the second buffer; `%twice` picks from
/// the result of `%pick`.
const PICKERS: &str = "%fn_pick = OpTypeFunction %p0 %bool %p0
%pick = OpFunction %p0 None %fn_pick
%flag = OpFunctionParameter %bool
%given = OpFunctionParameter %p0
%pl = OpLabel
OpSelectionMerge %pm None
OpBranchConditional %flag %pt %pm
%pt = OpLabel
OpReturnValue %given
%pm = OpLabel
%else = OpAccessChain %p0 %b1 %n0 %n2
OpReturnValue %else
OpFunctionEnd
%twice = OpFunction %p0 None %fn_pick
%tflag = OpFunctionParameter %bool
%tgiven = OpFunctionParameter %p0
%tl = OpLabel
%one = OpFunctionCall %p0 %pick %tflag %tgiven
%not = OpLogicalNot %bool %tflag
%two = OpFunctionCall %p0 %pick %not %one
%chosen = OpSelect %p0 %tflag %one %two
OpReturnValue %chosen
OpFunctionEnd";

/// Odd lanes add to their element of the first buffer, the others to element 2 of the second.
const RETURNED: &str = "%own = OpAccessChain %p0 %b0 %n0 %i\n%p = OpFunctionCall %p0 %twice %odd %own\n\
    %x = OpAtomicIAdd %u32 %p %n1 %n0 %n5";

#[test]
fn functions_return_pointers() {
    assert_eq!(run(PICKERS, &format!("{ODD}{RETURNED}")), [vec![10, 16, 12, 18], vec![20, 21, 32, 23]]);
}

#[test]
fn a_pointer_that_comes_from_nowhere_is_refused() {
    let declarations = "%fn_pick = OpTypeFunction %p0\n%never = OpFunction %p0 None %fn_pick\n%nl = OpLabel\n\
        OpUnreachable\nOpFunctionEnd";
    let body = "%p = OpFunctionCall %p0 %never\n%x = OpLoad %u32 %p";
    let message = refusal(&kernel_with(&[("u32", 4), ("u32", 4)], declarations, "", body));
    assert!(message.ends_with("it is unknown what the pointers point into"), "{message}");
}

#[test]
fn pointers_differ_by_an_int_and_are_equal_or_not() {
    for (op, ty) in
        [("OpPtrDiff", "%f16"), ("OpPtrDiff", "%v2i32"), ("OpPtrEqual", "%i32"), ("OpPtrEqual", "%v2bool")]
    {
        let body = format!("%at = OpAccessChain %p0 %b0 %n0 %i\n%d = {op} {ty} %at %at");
        let message = refusal(&kernel_with(&[("u32", 4), ("u32", 4)], "", "", &body));
        assert!(message.ends_with("the result has another type"), "{op} {ty}: {message}");
    }
}

#[test]
fn what_is_beyond_a_chosen_buffer_is_out_of_range() {
    let body = format!(
        "{ODD}%far = OpIAdd %u32 %i %n2\n%a = OpAccessChain %p0 %b0 %n0 %far\n%b = OpAccessChain %p0 %b1 %n0 %far\n\
         %p = OpSelect %p0 %odd %a %b\n%x = OpLoad %u32 %p\nOpStore %p %n5\n\
         %to = OpAccessChain %p0 %b1 %n0 %i\n%y = OpAtomicIAdd %u32 %to %n1 %n0 %x"
    );
    assert_eq!(run("", &body), [vec![10, 11, 12, 5], vec![42, 34, 5, 23]]);
}

#[test]
fn shared_memory_is_chosen_too() {
    let body = format!(
        "{ODD}%a = OpAccessChain %pw %tile %i\n%b = OpAccessChain %pw %other %i\n%p = OpSelect %pw %odd %a %b\n\
         OpStore %p %i\nOpControlBarrier %n2 %n2 %n264\n%back = OpISub %u32 %n3 %i\n%c = OpAccessChain %pw %tile %back\n\
         %x = OpLoad %u32 %c\n%to = OpAccessChain %p0 %b0 %n0 %i\nOpStore %to %x"
    );
    assert_eq!(run(STRIDED, &body)[0], [3, 0, 1, 0]);
}

/// A list in buffers: each node a value and the address of the next; the sum of the values from `start`.
const LIST: &str = "
OpCapability Shader
OpCapability Int64
OpCapability PhysicalStorageBufferAddresses
OpMemoryModel PhysicalStorageBuffer64 GLSL450
OpEntryPoint GLCompute %main \"main\"
OpExecutionMode %main LocalSize 1 1 1
OpDecorate %push_t Block
OpMemberDecorate %push_t 0 Offset 0
OpMemberDecorate %push_t 1 Offset 8
OpDecorate %node Block
OpMemberDecorate %node 0 Offset 0
OpMemberDecorate %node 1 Offset 8
%void = OpTypeVoid
%fn = OpTypeFunction %void
%bool = OpTypeBool
%u32 = OpTypeInt 32 0
%u64 = OpTypeInt 64 0
%n0 = OpConstant %u32 0
%n1 = OpConstant %u32 1
%w0 = OpConstant %u64 0
OpTypeForwardPointer %pnode PhysicalStorageBuffer
%node = OpTypeStruct %u32 %pnode
%pnode = OpTypePointer PhysicalStorageBuffer %node
%pu = OpTypePointer PhysicalStorageBuffer %u32
%ppnode = OpTypePointer PhysicalStorageBuffer %pnode
%push_t = OpTypeStruct %pnode %u64
%ppush = OpTypePointer PushConstant %push_t
%pp0 = OpTypePointer PushConstant %pnode
%pp1 = OpTypePointer PushConstant %u64
%push = OpVariable %ppush PushConstant
%main = OpFunction %void None %fn
%entry = OpLabel
%at0 = OpAccessChain %pp0 %push %n0
%start = OpLoad %pnode %at0
%at1 = OpAccessChain %pp1 %push %n1
%out = OpLoad %u64 %at1
%result = OpConvertUToPtr %pu %out
OpBranch %h
%h = OpLabel
%p = OpPhi %pnode %start %entry %next %c
%s = OpPhi %u32 %n0 %entry %s1 %c
OpLoopMerge %m %c None
OpBranch %t
%t = OpLabel
%address = OpConvertPtrToU %u64 %p
%more = OpINotEqual %bool %address %w0
OpBranchConditional %more %c %m
%c = OpLabel
%value_at = OpAccessChain %pu %p %n0
%value = OpLoad %u32 %value_at Aligned 4
%s1 = OpIAdd %u32 %s %value
%next_at = OpAccessChain %ppnode %p %n1
%next = OpLoad %pnode %next_at Aligned 8
OpBranch %h
%m = OpLabel
OpStore %result %s Aligned 4
OpReturn
OpFunctionEnd
";

fn address(bench: &Bench, buffer: BufferId) -> u64 {
    bench.device.host_memory(buffer).expect("its memory is the host's").ptr as u64
}

#[test]
fn a_list_is_followed_by_its_addresses() {
    let words = common::assemble(LIST);
    let bench = Bench::new();
    let nodes: Vec<BufferId> = (0..3).map(|_| bench.buffer(&[0u64; 2])).collect();
    for (i, &node) in nodes.iter().enumerate() {
        let next = nodes.get(i + 1).map_or(0, |&next| address(&bench, next));
        let bytes = [(100 + i as u64).to_le_bytes(), next.to_le_bytes()].concat();
        bench.device.write(node, 0, &bytes).expect("a node has this size");
    }
    let result = bench.buffer(&[7u32; 2]);
    let push = |start: u64, to: u64| [start.to_le_bytes(), to.to_le_bytes()].concat();
    bench.run(&words, &[], &push(address(&bench, nodes[0]), address(&bench, result)), [1, 1, 1]);
    assert_eq!(bench.read::<u32>(result), [303, 7]);
    // Addresses where no buffer begins, and accesses beyond a buffer's end: loads are zero, and nothing is
    // written.
    for (start, to) in [(0x1000, address(&bench, result)), (0, address(&bench, result) + 6)] {
        bench.device.write(result, 0, &[9; 8]).expect("the result has this size");
        bench.run(&words, &[], &push(start, to), [1, 1, 1]);
        let expected = if start == 0 { [0x0909_0909; 2] } else { [0, 0x0909_0909] };
        assert_eq!(bench.read::<u32>(result), expected);
    }
    // A freed node is no memory any more.
    bench.device.free(nodes[1]);
    bench.run(&words, &[], &push(address(&bench, nodes[0]), address(&bench, result)), [1, 1, 1]);
    assert_eq!(bench.read::<u32>(result)[0], 100);
}
