//! Reads the functions of a module, and groups their instructions into blocks.

use std::sync::LazyLock;

use kps_scalar::Scalar;
use rspirv::grammar::reflect::is_block_terminator;
use rspirv::grammar::{self, INSTRUCTION_TABLE, OperandKind};
use rspirv::spirv::Op;
use rustc_hash::FxHashMap;

use super::constants::Constant;
use super::functions::{Block, Function};
use super::reader::{OpenFunction, Reader};
use super::types::Type;
use super::{Id, Instruction};
use crate::Result;

impl Reader<'_, '_> {
    pub(super) fn function_part(&mut self, inst: &Instruction) -> Result<()> {
        match (inst.op, &mut self.open) {
            (Op::Function, None) => {
                let (ret, id) = (self.type_at(inst, 0)?, self.define(inst, 1)?);
                let params = match self.module.types.get(self.type_at(inst, 3)?) {
                    Type::Function { ret: of_type, params } if *of_type == ret => params.clone(),
                    _ => return Err(self.malformed(inst, "its type is no function type that returns this")),
                };
                let function = Function {
                    id,
                    ret,
                    params: Vec::new(),
                    blocks: Vec::new(),
                    block_by_label: FxHashMap::default(),
                    flow: Default::default(),
                };
                self.open = Some(OpenFunction { function, params, block: None });
            }
            (Op::FunctionParameter, Some(open))
                if open.function.blocks.is_empty() && open.block.is_none() =>
            {
                let (ty, id) = (self.type_at(inst, 0)?, self.define(inst, 1)?);
                self.note_width(inst);
                let open = self.open.as_mut().expect("a function is open in this arm");
                open.function.params.push((id, ty));
            }
            (Op::FunctionEnd, Some(open)) if open.block.is_none() => {
                let OpenFunction { function, params, .. } =
                    self.open.take().expect("a function is open in this arm");
                if !function.params.iter().map(|(_, ty)| *ty).eq(params) {
                    return Err(self.malformed(inst, "the parameters are not those of the function's type"));
                }
                self.module.function_by_id.insert(function.id, self.module.functions.len());
                self.module.functions.push(function);
                (self.line, self.line_before) = (None, None);
            }
            (Op::Label, Some(open)) if open.block.is_none() => {
                let label = self.define(inst, 0)?;
                let open = self.open.as_mut().expect("a function is open in this arm");
                open.function.block_by_label.insert(label, open.function.blocks.len());
                open.block = Some((label, Vec::new(), Vec::new()));
            }
            _ => return Err(self.malformed(inst, "it is in a wrong place")),
        }
        Ok(())
    }

    pub(super) fn body(&mut self, inst: &Instruction) -> Result<()> {
        if matches!(inst.op, Op::Nop | Op::SelectionMerge | Op::LoopMerge) {
            return Ok(());
        }
        if has_result(inst.op) {
            self.define(inst, 1)?;
            self.note_width(inst);
        }
        let (targets, wide) = self.targets(inst)?;
        let open = self.open.as_mut().expect("instructions outside functions are declarations");
        let is_due = |(_, _, body): &&mut (_, _, Vec<_>)| inst.op != Op::Phi || body.is_empty();
        let Some((_, phis, body)) = open.block.as_mut().filter(is_due) else {
            return Err(self.malformed(inst, "it is in a wrong place"));
        };
        if is_block_terminator(inst.op) {
            let (label, phis, body) = open.block.take().expect("the block is open here");
            // A function end without a line of its own has the line of the instruction before it.
            let end = Instruction { line: inst.line.or(self.line_before), ..*inst };
            open.function.blocks.push(Block { label, phis, body, end, targets, wide });
            // A line is valid to the end of its block.
            self.line_before = self.line.take().or(self.line_before);
        } else if inst.op == Op::Phi {
            phis.push(*inst);
        } else {
            body.push(*inst);
        }
        Ok(())
    }

    fn note_width(&mut self, inst: &Instruction) {
        let ty = self.type_at(inst, 0).ok().and_then(|ty| self.module.types.as_scalars(ty));
        if let (Some((Scalar::I64 | Scalar::U64, 1)), Ok(id)) = (ty, self.id(inst, 1)) {
            self.wide.insert(id);
        }
    }

    /// The targets of a terminator, and whether its literals have two words.
    fn targets(&self, inst: &Instruction) -> Result<(Vec<Id>, bool)> {
        let operands = self.module.operands(inst);
        let wide = inst.op == Op::Switch && self.is_wide(self.id(inst, 0)?);
        let words = match inst.op {
            Op::Branch => operands.get(..1).map(<[u32]>::to_vec),
            Op::BranchConditional => operands.get(1..3).map(<[u32]>::to_vec),
            Op::Switch => {
                let n_literal = if wide { 2 } else { 1 };
                let cases = operands.get(2..).unwrap_or_default().chunks(n_literal + 1);
                let cases: Option<Vec<u32>> = cases.map(|case| case.get(n_literal).copied()).collect();
                operands.get(1).zip(cases).map(|(&default, cases)| [vec![default], cases].concat())
            }
            _ => Some(Vec::new()),
        };
        let words = words.ok_or_else(|| self.malformed(inst, "an operand is missing"))?;
        Ok((words.into_iter().map(Id).collect(), wide))
    }

    fn is_wide(&self, id: Id) -> bool {
        let constant = self.module.constants.get(&id);
        let is_wide = |constant: &Constant| {
            self.module.types.as_scalars(constant.ty).is_some_and(|(scalar, _)| scalar.bits() == 64)
        };
        self.wide.contains(&id) || constant.is_some_and(is_wide)
    }
}

/// Whether an instruction in a function has a result: then its first operand is the type, the second the id.
/// Unsupported instructions are included; they are refused later, if the entry point reaches them.
fn has_result(op: Op) -> bool {
    // A bit for each opcode, because every process computes it again.
    static WITH_RESULT: LazyLock<Vec<u64>> = LazyLock::new(|| {
        let starts = |kinds: &grammar::Instruction<'_>| {
            kinds.operands.get(..2).is_some_and(|kinds| {
                kinds[0].kind == OperandKind::IdResultType && kinds[1].kind == OperandKind::IdResult
            })
        };
        let mut bits = Vec::new();
        for kinds in INSTRUCTION_TABLE.iter().filter(|kinds| starts(kinds)) {
            let opcode = kinds.opcode as usize;
            bits.resize(bits.len().max(opcode / 64 + 1), 0);
            bits[opcode / 64] |= 1 << (opcode % 64);
        }
        bits
    });
    let opcode = op as usize;
    WITH_RESULT.get(opcode / 64).is_some_and(|bits| bits >> (opcode % 64) & 1 == 1)
}
