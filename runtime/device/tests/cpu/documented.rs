//! Checks the reference page of this device against the device. Each instruction of SPIR-V's grammar is tried
//! in a module by itself, with arbitrary operands: unknown instructions are refused by name before their
//! operands are checked. The page lists the others.

use std::collections::BTreeSet;

use kps_device::PipelineOptions;
use rspirv::grammar::{
    GLSL_STD_450_INSTRUCTION_TABLE, INSTRUCTION_TABLE, Instruction, OperandKind, OperandQuantifier,
};
use rspirv::spirv::{Op, Word};

use super::bench::Bench;
use super::common;

const PAGE: &str = include_str!("../../../../docs/src/reference/cpu-device.md");

/// Ends with a function of one block: `OpReturn`, `OpFunctionEnd`.
const MODULE: &str = "
OpCapability Shader
%1 = OpExtInstImport \"GLSL.std.450\"
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %2 \"main\"
OpExecutionMode %2 LocalSize 1 1 1
OpExecutionModeId %2 LocalSizeId %11 %11 %11
%3 = OpTypeVoid
%4 = OpTypeFunction %3
%10 = OpTypeInt 32 0
%11 = OpConstant %10 1
%14 = OpSpecConstantOp %10 IAdd %11 %11
%12 = OpTypeFloat 32
%13 = OpConstant %12 1
%2 = OpFunction %3 None %4
%5 = OpLabel
OpReturn
OpFunctionEnd
";
/// Ids of the module, and an unused one.
const SET: Word = 1;
const INT: Word = 10;
const ONE: Word = 11;
const FLOAT: Word = 12;
const ONE_POINT: Word = 13;
const RESULT: Word = 20;

/// The position of an instruction.
#[derive(Clone, Copy)]
enum Place {
    /// Before the functions.
    Declaration,
    Body,
    /// Instead of the return.
    End,
}

/// The device's error for the module with additional words.
fn answer(bench: &Bench, words: &[Word], place: Place) -> String {
    let mut module = common::assemble(MODULE);
    let end = module.len();
    let at = match place {
        // `OpFunction` has five words, `OpLabel` two.
        Place::Declaration => end - 9..end - 9,
        Place::Body => end - 2..end - 2,
        Place::End => end - 2..end - 1,
    };
    module.splice(at, words.iter().copied());
    // The id bound.
    module[3] = RESULT + 1;
    let loaded = bench.device.load(&module, &PipelineOptions::default());
    loaded.map_or_else(|error| error.to_string(), |_| "taken".to_owned())
}

/// An instruction with arbitrary operands for all that it requires.
fn instruction(grammar: &Instruction<'_>) -> Vec<Word> {
    let needed = grammar.operands.iter().filter(|operand| operand.quantifier == OperandQuantifier::One);
    let operands = needed.map(|operand| match operand.kind {
        OperandKind::IdResultType => INT,
        OperandKind::IdResult => RESULT,
        OperandKind::IdRef | OperandKind::IdScope | OperandKind::IdMemorySemantics => ONE,
        OperandKind::LiteralSpecConstantOpInteger => Op::IAdd as Word,
        OperandKind::LiteralInteger => 32,
        _ => 0,
    });
    let operands: Vec<Word> = operands.collect();
    let head = (operands.len() as Word + 1) << 16 | grammar.opcode as Word;
    [head].into_iter().chain(operands).collect()
}

/// The names of all instructions that the device knows at some position.
fn known_instructions(bench: &Bench) -> BTreeSet<String> {
    let words = MODULE.split_whitespace().filter(|word| word.starts_with("Op"));
    let mut known: BTreeSet<String> = words.map(str::to_owned).collect();
    for grammar in INSTRUCTION_TABLE.iter() {
        let name = format!("Op{}", grammar.opname);
        let refusals = [
            format!("does not know the instruction `{name}`"),
            format!("does not take `{name}`"),
            format!("`{name}` compares with a depth"),
        ];
        let is_known = [Place::Declaration, Place::Body, Place::End].into_iter().any(|place| {
            let answer = answer(bench, &instruction(grammar), place);
            // An error about the position says nothing about the instruction.
            !answer.starts_with("broken SPIR-V") && !refusals.iter().any(|refusal| answer.contains(refusal))
        });
        if is_known {
            known.insert(name);
        }
    }
    known
}

/// The names of all functions of `GLSL.std.450` that the device knows for ints or floats.
fn known_functions(bench: &Bench) -> BTreeSet<String> {
    let is_known = |number: Word| {
        [(INT, ONE), (FLOAT, ONE_POINT)].into_iter().any(|(ty, operand)| {
            let head = 8 << 16 | Op::ExtInst as Word;
            let words = [head, ty, RESULT, SET, number, operand, operand, operand];
            !answer(bench, &words, Place::Body).contains("of GLSL.std.450 is not known here")
        })
    };
    let all = GLSL_STD_450_INSTRUCTION_TABLE.iter();
    all.filter(|grammar| is_known(grammar.opcode.into())).map(|grammar| grammar.opname.to_owned()).collect()
}

/// The names in backquotes in the rows of the table below a heading.
fn listed(heading: &str) -> BTreeSet<String> {
    let start = PAGE.find(&format!("\n## {heading}\n")).expect("the page has this heading");
    let section = PAGE[start + 4..].split("\n## ").next().unwrap_or_default();
    let cells = section.lines().filter(|line| line.starts_with('|')).flat_map(|line| line.split('|').nth(2));
    cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).map(str::to_owned).collect()
}

fn compare(heading: &str, known: &BTreeSet<String>) {
    let listed = listed(heading);
    let missing: Vec<_> = known.difference(&listed).collect();
    let too_many: Vec<_> = listed.difference(known).collect();
    assert!(missing.is_empty(), "{heading}: the page lacks {missing:?}");
    assert!(too_many.is_empty(), "{heading}: the device refuses {too_many:?}");
}

#[test]
fn the_page_lists_what_is_taken_and_what_is_refused() {
    let bench = Bench::new();
    let known = known_instructions(&bench);
    compare("Instructions", &known);
    compare("Functions of `GLSL.std.450`", &known_functions(&bench));
    let refused = listed("Refused");
    let names: BTreeSet<String> =
        INSTRUCTION_TABLE.iter().map(|grammar| format!("Op{}", grammar.opname)).collect();
    let wrong: Vec<_> =
        refused.iter().filter(|name| !names.contains(*name) || known.contains(*name)).collect();
    assert!(wrong.is_empty(), "not refused, or no instructions: {wrong:?}");
}
