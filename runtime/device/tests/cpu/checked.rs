//! The findings of the checked mode, and that it does not change results.

use kps_device::findings::{ArrayName, Beyond, Int, Launch, Number};
use kps_device::{
    Access, Check, Checks, Command, Finding, FindingKind, Instrument, Invocation, PipelineOptions,
    SourceLine, Ticket, Waited,
};

use super::assembly::kernel_with;
use super::bench::Bench;

/// The launch of [`findings_of`].
const LAUNCH: Launch = Launch {
    submission: Ticket { queue: 0, value: 0 },
    dispatch: 0,
    groups: [2, 1, 1],
    local_size: [4, 1, 1],
};

/// The findings of the usual checks.
fn findings(declarations: &str, body: &str) -> Vec<Finding> {
    findings_of(Checks::usual(), declarations, body)
}

/// Runs two workgroups of four with some checks, and compares the result with that of the uninstrumented
/// module.
fn findings_of(checks: Checks, declarations: &str, body: &str) -> Vec<Finding> {
    let declarations = format!("%name = OpString \"bug.kps\"\n{declarations}");
    let body = format!("{body}\n%at0 = OpAccessChain %p0 %b0 %n0 %i\nOpStore %at0 %r");
    let words = kernel_with(&[("u32", 4)], &declarations, "", &body);
    let bench = Bench::all_kinds();
    let (plain, watched) = (bench.buffer(&[7u32; 8]), bench.buffer(&[7u32; 8]));
    bench.run(&words, &[plain], &[], [2, 1, 1]);
    assert_eq!(bench.findings(), []);
    let options = PipelineOptions { instrument: Instrument::Checked(checks), ..PipelineOptions::default() };
    let dispatch = bench.dispatch_with(&words, &options, &[watched], &[], [2, 1, 1]);
    assert_eq!(bench.submit(vec![Command::Dispatch(dispatch)]), Ok(Waited::Done));
    assert_eq!(bench.read::<u32>(plain), bench.read::<u32>(watched), "checking changes results");
    bench.findings()
}

fn at(line: u32, column: u32) -> Option<SourceLine> {
    Some(SourceLine { file: "bug.kps".to_owned(), line, column })
}

#[test]
fn a_division_by_zero_is_found() {
    let body = "%d = OpISub %u32 %i %n5\nOpLine %name 3 9\n%r = OpUDiv %u32 %n10 %d";
    let finding = Finding {
        kind: FindingKind::DivisionByZero { dividend: Number::Int(Int::Unsigned(10)) },
        line: at(3, 9),
        invocation: Invocation { group: [1, 0, 0], local: [1, 0, 0], global: [5, 0, 0] },
        count: 1,
        launch: LAUNCH,
    };
    assert_eq!(findings("", body), [finding]);
}

#[test]
fn findings_of_one_line_are_counted() {
    let body = "%d = OpShiftRightLogical %u32 %i %n2\n%x = OpNot %u32 %n0\n%y = OpBitcast %i32 %x\n\
                %z = OpBitcast %i32 %d\nOpLine %name 4 2\n%q = OpSRem %i32 %y %z\n%r = OpBitcast %u32 %q";
    let [finding] = &findings("", body)[..] else { panic!("one line is wrong") };
    assert_eq!(finding.kind, FindingKind::DivisionByZero { dividend: Number::Int(Int::Signed(-1)) });
    assert_eq!((finding.count, finding.invocation.global), (4, [0, 0, 0]));
}

#[test]
fn a_mistake_is_reported_with_its_first_invocation_in_any_order() {
    // Invocation 7 reads past the end in the second iteration, 6 in the third, 5 in the last.
    let body = "%start = OpLabel
OpBranch %head
%head = OpLabel
%k = OpPhi %u32 %n0 %start %after %next
%sum = OpPhi %u32 %n0 %start %more %next
OpLoopMerge %end %next None
OpBranch %test
%test = OpLabel
%goes_on = OpULessThan %bool %k %n4
OpBranchConditional %goes_on %round %end
%round = OpLabel
%at = OpIAdd %u32 %i %k
OpLine %name 3 9
%from = OpAccessChain %p0 %b0 %n0 %at
OpNoLine
%read = OpLoad %u32 %from
%more = OpIAdd %u32 %sum %read
OpBranch %next
%next = OpLabel
%after = OpIAdd %u32 %k %n1
OpBranch %head
%end = OpLabel
%none = OpIMul %u32 %sum %n0
%r = OpIAdd %u32 %none %n5";
    let body = format!("OpBranch %start\n{body}");
    let kind = FindingKind::OutOfBounds {
        array: Some(ArrayName::Binding { set: 0, binding: 0 }),
        index: vec![Int::Unsigned(8)],
        shape: vec![8],
        access: Access::ReadWrite,
        beyond: Beyond::Nothing,
    };
    let invocation = Invocation { group: [1, 0, 0], local: [1, 0, 0], global: [5, 0, 0] };
    let finding = Finding { kind, line: at(3, 9), invocation, count: 6, launch: LAUNCH };
    assert_eq!(findings_of(Checks::NONE.with(Check::Bounds), "", &body), [finding]);
}

#[test]
fn a_seed_changes_the_order_and_repeats_it() {
    // Each invocation writes how many came before it.
    let body = "%at = OpAccessChain %p0 %b0 %n0 %n0\n%r = OpAtomicIAdd %u32 %at %n1 %n0 %n1\n\
                %slot = OpIAdd %u32 %i %n1\n%to = OpAccessChain %p0 %b0 %n0 %slot\nOpStore %to %r";
    let words = kernel_with(&[("u32", 4)], "", "", body);
    let order = |instrument| {
        let bench = Bench::new();
        let buffer = bench.buffer(&[0u32; 9]);
        let options = PipelineOptions { instrument, ..PipelineOptions::default() };
        let dispatch = bench.dispatch_with(&words, &options, &[buffer], &[], [2, 1, 1]);
        assert_eq!(bench.submit(vec![Command::Dispatch(dispatch)]), Ok(Waited::Done));
        bench.read::<u32>(buffer)[1..].to_vec()
    };
    let seeded = |seed| order(Instrument::Checked(Checks::NONE.seeded(seed)));
    let in_turn: Vec<u32> = (0..8).collect();
    assert_eq!(order(Instrument::Checked(Checks::NONE)), in_turn);
    let orders: Vec<Vec<u32>> = (0..8).map(seeded).collect();
    assert!(orders.iter().any(|order| *order != in_turn));
    for (seed, order) in (0..8).zip(&orders) {
        assert_eq!(seeded(seed), *order);
        let mut sorted = order.clone();
        sorted.sort();
        assert_eq!(sorted, in_turn);
    }
}

#[test]
fn indices_of_foreign_modules_are_checked() {
    let body = "%past = OpIAdd %u32 %i %n2\nOpLine %name 5 1\n%from = OpAccessChain %p0 %b0 %n0 %past\n\
                %r = OpLoad %u32 %from";
    // A race between a read and a write is found, too.
    let findings = findings("", body);
    let out_of_bounds = findings.iter().find_map(|finding| match &finding.kind {
        FindingKind::OutOfBounds { index, shape, .. } => Some((index.clone(), shape.clone(), finding)),
        _ => None,
    });
    let Some((index, shape, finding)) = out_of_bounds else { panic!("it reads past the end") };
    assert_eq!((&index[..], &shape[..]), (&[Int::Unsigned(8)][..], &[8][..]));
    assert_eq!((finding.line.clone(), finding.count), (at(5, 1), 2));
}

#[test]
fn arrays_of_a_line_that_have_no_names_are_distinguished_by_their_lengths() {
    let declarations = "%five = OpTypeArray %u32 %n5\n%to_five = OpTypePointer Private %five\n\
                        %eight = OpTypeArray %u32 %n8\n%to_eight = OpTypePointer Private %eight\n\
                        %to_u32 = OpTypePointer Private %u32\n\
                        %short = OpVariable %to_five Private\n%long = OpVariable %to_eight Private";
    let body = "%past = OpIAdd %u32 %i %n8\nOpLine %name 5 1\n%a = OpAccessChain %to_u32 %short %past\n\
                %b = OpAccessChain %to_u32 %long %past\n%x = OpLoad %u32 %a\n%y = OpLoad %u32 %b\n\
                %r = OpIAdd %u32 %x %y";
    let lengths =
        findings_of(Checks::NONE.with(Check::Bounds), declarations, body).into_iter().map(|finding| {
            let FindingKind::OutOfBounds { shape, .. } = finding.kind else {
                panic!("it reads past the end")
            };
            (shape, finding.count)
        });
    assert_eq!(lengths.collect::<Vec<_>>(), [(vec![5], 8), (vec![8], 8)]);
}

#[test]
fn what_is_right_is_silent() {
    let body = "%d = OpIAdd %u32 %i %n1\n%q = OpUDiv %u32 %n10 %d\n%r = OpUMod %u32 %q %n3";
    assert_eq!(findings("", body), []);
}
