//! Branches, phis, calls and barriers.

use kps_scalar::Scalar;
use rspirv::spirv::{Op, Scope};
use rustc_hash::FxHashMap;

use super::provenance::Values;
use super::{Data, Frame, Lowerer, MAX_CALL_DEPTH, Operand};
use crate::Result;
use crate::cpu::errors;
use crate::cpu::lane::{self, BlockId, Edge, Terminator, Ty};
use crate::cpu::module::constants::{lane_bits, lane_ty};
use crate::cpu::module::types::{Type, TypeId};
use crate::cpu::module::{Block, Function, Id, Instruction};

impl<'m> Lowerer<'m> {
    /// Pushes a frame for a function with values for its parameters. Its entry is a new block, and its
    /// returns go to `after`.
    pub(super) fn enter(&mut self, function: &'m Function, values: Values, after: BlockId) -> Result<()> {
        let starts = function.blocks.iter().map(|_| self.builder.create_block()).collect();
        let called_at = self.builder.line;
        let call = called_at.map_or(0, |line| self.builder.add_call(line));
        let mut frame =
            Frame { function, called_at, call, values, starts, position: 0, next: 0, after, chosen: None };
        for &block in &function.flow.order {
            for phi in &function.blocks[block].phis {
                let operand = self.phi_params(phi, &frame, frame.starts[block])?;
                frame.values.insert(self.id(phi, 1)?, (operand, block));
            }
        }
        self.frames.push(frame);
        Ok(())
    }

    /// Jumps from the current block to the entry of the newest frame.
    pub(super) fn start_frame(&mut self) {
        let entry = self.frame().starts[self.current()];
        self.builder.jump(entry, Vec::new());
        self.builder.block = entry;
    }

    fn phi_params(&mut self, phi: &Instruction, frame: &Frame<'m>, block: BlockId) -> Result<Operand> {
        let ty = self.result_type(phi)?;
        if self.is_chosen(ty) {
            let ids = self.module.operands(phi)[2..].iter().step_by(2).map(|&id| Id(id)).collect();
            let spaces = self.spaces(phi, frame.function, &frame.values, ids)?;
            return self.pointer_params(phi, ty, &spaces, block).map(Operand::Pointer);
        }
        self.data_params(phi, ty, block)
    }

    /// Whether values of the type are pointers that are resolved while lowering.
    fn is_chosen(&self, ty: TypeId) -> bool {
        matches!(self.module.types.get(ty), Type::Pointer { .. }) && !self.module.types.is_address(ty)
    }

    /// Block parameters for a value of a type.
    fn data_params(&mut self, inst: &Instruction, ty: TypeId, block: BlockId) -> Result<Operand> {
        let scalars = self.value_scalars(inst, ty)?;
        let parts = scalars.iter().map(|&scalar| self.builder.add_param(block, lane_ty(scalar))).collect();
        Ok(Operand::Data(Data { ty, parts }))
    }

    pub(super) fn call(&mut self, inst: &'m Instruction) -> Result<()> {
        let module = self.module;
        let callee = self.callee(inst)?;
        if self.frames.len() >= MAX_CALL_DEPTH {
            let what = format!("calls more than {MAX_CALL_DEPTH} deep");
            return Err(errors::too_large(what, module.line(inst.line)));
        }
        let n_args = module.operands(inst).len() - 3;
        if n_args != callee.params.len() || !module.types.same(callee.ret, self.result_type(inst)?) {
            return Err(self.malformed(inst, "its arguments or its result do not fit the function"));
        }
        let args: Vec<Operand> = (3..3 + n_args).map(|i| self.operand(inst, i)).collect::<Result<_>>()?;
        for (arg, (_, ty)) in args.iter().zip(&callee.params) {
            let fits = match arg {
                Operand::Data(data) => module.types.same(data.ty, *ty),
                Operand::Pointer(pointer) => pointer.has_type(&module.types, *ty),
                Operand::Opaque(opaque) => module.types.same(opaque.ty, *ty),
            };
            if !fits {
                return Err(self.malformed(inst, "an argument has another type than its parameter"));
            }
        }
        let params = callee.params.iter().zip(args);
        let values: Values = params.map(|((id, _), arg)| (*id, (arg, 0))).collect();
        let after = self.builder.create_block();
        let mut chosen = None;
        if self.is_chosen(callee.ret) {
            let spaces = self.returned_spaces(inst, callee, &values)?;
            let pointer = self.pointer_params(inst, callee.ret, &spaces, after)?;
            self.define(inst, Operand::Pointer(pointer.clone()))?;
            chosen = Some(pointer);
        } else if !matches!(module.types.get(callee.ret), Type::Void) {
            let result = self.data_params(inst, callee.ret, after)?;
            self.define(inst, result)?;
        }
        self.enter(callee, values, after)?;
        self.frames.last_mut().expect("the frame was opened above").chosen = chosen;
        self.start_frame();
        Ok(())
    }

    pub(super) fn barrier(&mut self, inst: &Instruction) -> Result<()> {
        match Scope::from_u32(self.constant_int(inst, 0)? as u32) {
            Some(Scope::Workgroup) => {}
            Some(Scope::Subgroup) => return self.subgroup_barrier(inst),
            // A barrier with a scope of one invocation.
            Some(Scope::Invocation) => return Ok(()),
            _ => return Err(self.unsupported(inst, "only workgroups and subgroups have barriers here")),
        }
        let next = self.builder.create_block();
        self.builder.end(Terminator::Barrier(next));
        self.builder.block = next;
        Ok(())
    }

    pub(super) fn terminator(&mut self, block: &'m Block) -> Result<()> {
        let inst = &block.end;
        let terminator = match inst.op {
            Op::Branch => Terminator::Jump(self.edge(block, 0)?),
            Op::BranchConditional => {
                let condition = self.condition(inst, 0)?;
                Terminator::Branch { condition, then: self.edge(block, 0)?, otherwise: self.edge(block, 1)? }
            }
            Op::Switch => self.switch(block)?,
            Op::Return => {
                if !matches!(self.module.types.get(self.frame().function.ret), Type::Void) {
                    return Err(self.malformed(inst, "the function returns a value"));
                }
                Terminator::Jump(Edge { to: self.frame().after, args: Vec::new() })
            }
            Op::ReturnValue => Terminator::Jump(Edge { to: self.frame().after, args: self.returned(inst)? }),
            // Unreachable code also ends the lane.
            Op::Unreachable | Op::Kill | Op::TerminateInvocation => Terminator::Exit,
            op => return Err(errors::unknown_instruction(op, self.module.line(inst.line))),
        };
        self.builder.end(terminator);
        Ok(())
    }

    /// The arguments of the block after a call.
    fn returned(&mut self, inst: &Instruction) -> Result<Vec<lane::Value>> {
        match (self.operand(inst, 0)?, self.frame().chosen.clone()) {
            (Operand::Pointer(pointer), Some(chosen)) => self.pointer_args(inst, &chosen, &pointer),
            _ => {
                let value = self.data(inst, 0)?;
                match self.module.types.same(value.ty, self.frame().function.ret) {
                    true => Ok(value.parts.to_vec()),
                    false => Err(self.malformed(inst, "the function returns another type")),
                }
            }
        }
    }

    /// A boolean operand.
    pub(super) fn condition(&mut self, inst: &Instruction, i: usize) -> Result<lane::Value> {
        match self.scalars(inst, i)? {
            (Scalar::Bool, data) if data.parts.len() == 1 => Ok(data.parts[0]),
            _ => Err(self.malformed(inst, "the condition is no boolean")),
        }
    }

    fn switch(&mut self, block: &'m Block) -> Result<Terminator> {
        let inst = &block.end;
        let (scalar, value) = self.int(inst, 0)?;
        let n_literal = match (self.builder.ty(value), block.wide) {
            (Ty::I64, true) => 2,
            (Ty::I32, false) => 1,
            _ => return Err(self.malformed(inst, "the width of its selector is unknown")),
        };
        let literals = self.module.operands(inst)[2..].chunks(n_literal + 1);
        let literal = |case: &[u32]| {
            let high = if n_literal == 2 { u64::from(case[1]) << 32 } else { 0 };
            lane_bits(scalar, high | u64::from(case[0]))
        };
        let mut cases: Vec<(u64, Edge)> = Vec::new();
        let mut seen: FxHashMap<u64, ()> = FxHashMap::default();
        for (i, case) in literals.enumerate() {
            let literal = literal(case);
            if seen.insert(literal, ()).is_some() {
                return Err(self.malformed(inst, "two cases have one literal"));
            }
            cases.push((literal, self.edge(block, i + 1)?));
        }
        Ok(Terminator::Switch { value, cases, default: self.edge(block, 0)? })
    }

    /// The edge to target `i` of a block, with the arguments of its phis.
    fn edge(&mut self, block: &'m Block, i: usize) -> Result<Edge> {
        let (from, target) = (self.current(), block.targets[i]);
        let frame = self.frame();
        let function = frame.function;
        let to = function.block_by_label[&target];
        let start = frame.starts[to];
        let mut args = Vec::new();
        for phi in &function.blocks[to].phis {
            let ty = self.result_type(phi)?;
            let pairs = self.module.operands(phi)[2..].chunks(2);
            let value = pairs.into_iter().find(|pair| pair.get(1) == Some(&block.label.0));
            let Some(value) = value else {
                return Err(self.malformed(phi, &format!("it lacks a value from %{}", block.label.0)));
            };
            let operand = self.operand_by_id(phi, Id(value[0]), from)?;
            let is_address = self.module.types.is_address(ty);
            match operand {
                Operand::Pointer(pointer) if is_address => {
                    args.extend(self.address_of(phi, pointer)?.parts.iter());
                }
                Operand::Pointer(pointer) => {
                    let chosen = self.frame().values.get(&self.id(phi, 1)?);
                    let Some((Operand::Pointer(chosen), _)) = chosen.cloned() else {
                        return Err(self.malformed(phi, "a value has another type"));
                    };
                    args.extend(self.pointer_args(phi, &chosen, &pointer)?);
                }
                Operand::Data(data) if self.module.types.same(data.ty, ty) => args.extend(data.parts.iter()),
                _ => return Err(self.malformed(phi, "a value has another type")),
            }
        }
        Ok(Edge { to: start, args })
    }
}
