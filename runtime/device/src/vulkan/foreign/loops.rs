//! Works around a bug of Mesa's software driver in loops that invocations leave in different iterations. If
//! all exits of a loop have the same value, the driver makes no phi for it. After the loop it then reads a
//! register that each iteration overwrites for all lanes, including those that have left.
//!
//! So each loop gets one more exit, which no invocation takes, with zeros for what the loop changes:
//! variables, and results that are used after it. Its condition tests the number of workgroups, which is
//! opaque to the driver. Unknown forms of loops do not change.

use std::borrow::Cow;

use rspirv::binary::Assemble;
use rspirv::dr::{Block, Function, Instruction, Module, Operand, load_words};
use rspirv::spirv::{BuiltIn, Decoration, ExecutionModel, Op, StorageClass};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::words::{instructions, opcode};

/// The driver stores larger arrays in memory.
const MAX_IN_REGISTERS: u32 = 64;

/// The module with a second exit of each loop.
pub fn with_exits(words: Cow<[u32]>) -> Cow<[u32]> {
    let has_loops = instructions(&words).any(|(_, inst)| opcode(inst) == Op::LoopMerge as u32);
    if !has_loops {
        return words;
    }
    let Ok(module) = load_words(&*words) else { return words };
    match (Rewriter { module, nulls: FxHashMap::default() }).rewritten() {
        Some(module) => Cow::Owned(module.assemble()),
        None => words,
    }
}

struct Rewriter {
    module: Module,
    /// By their types.
    nulls: FxHashMap<u32, u32>,
}

/// A loop as blocks of its function.
struct Loop {
    header: usize,
    merge: usize,
    /// Variables that it stores to.
    variables: Vec<(u32, u32)>,
    /// Results that are used after it, with their types.
    results: Vec<(u32, u32)>,
}

impl Rewriter {
    fn rewritten(mut self) -> Option<Module> {
        let is_compute = |inst: &Instruction| {
            matches!(inst.operands[..], [Operand::ExecutionModel(ExecutionModel::GLCompute), ..])
        };
        if !self.module.entry_points.iter().all(is_compute) {
            return None;
        }
        let count = self.workgroups()?;
        let mut functions = std::mem::take(&mut self.module.functions);
        for function in &mut functions {
            let mut truth = None;
            // From the last header to the first, so that earlier positions stay valid.
            for header in (0..function.blocks.len()).rev() {
                if let Some(found) = self.read_loop(function, header) {
                    let truth = *truth.get_or_insert_with(|| self.id());
                    self.add_way_out(function, &found, truth);
                }
            }
            if let Some(truth) = truth {
                self.compute_truth(function, count, truth);
            }
        }
        self.module.functions = functions;
        Some(self.module)
    }

    /// The loop that begins in a block, if it has a known form.
    fn read_loop(&self, function: &Function, header: usize) -> Option<Loop> {
        let [.., merge, branch] = &function.blocks[header].instructions[..] else { return None };
        if (merge.class.opcode, branch.class.opcode) != (Op::LoopMerge, Op::Branch) {
            return None;
        }
        let merge = merge.operands[0].id_ref_any()?;
        let merge = function.blocks.iter().position(|block| block.label_id() == Some(merge))?;
        let inside = function.blocks.get(header + 1..merge)?;
        let inside = || inside.iter().flat_map(|block| &block.instructions);
        let defined: FxHashMap<u32, u32> =
            inside().filter_map(|inst| Some((inst.result_id?, inst.result_type?))).collect();
        let mut used = FxHashSet::default();
        for (at, block) in function.blocks.iter().enumerate().skip(merge) {
            let is_read_here = |inst: &&Instruction| at != merge || inst.class.opcode != Op::Phi;
            let read = block.instructions.iter().filter(is_read_here);
            used.extend(read.flat_map(|inst| inst.operands.iter().filter_map(Operand::id_ref_any)));
        }
        let mut results: Vec<(u32, u32)> =
            defined.into_iter().filter(|(result, _)| used.contains(result)).collect();
        results.sort_unstable();
        // Phis cannot have such a type.
        if results.iter().any(|(_, ty)| !self.has_null(*ty) || self.pointee(*ty).is_some()) {
            return None;
        }
        let variables = self.changed_variables(function, inside());
        Some(Loop { header, merge, variables, results })
    }

    /// The function's variables that some instructions may change, with their types.
    fn changed_variables<'i>(
        &self,
        function: &Function,
        inside: impl Iterator<Item = &'i Instruction>,
    ) -> Vec<(u32, u32)> {
        let instructions = function.blocks.iter().flat_map(|block| &block.instructions);
        let mut base_of: FxHashMap<u32, u32> = FxHashMap::default();
        let mut own: FxHashMap<u32, u32> = FxHashMap::default();
        for inst in instructions {
            match (inst.class.opcode, inst.result_id, inst.operands.first()) {
                (Op::Variable, Some(id), _) => {
                    own.extend(inst.result_type.and_then(|ty| self.pointee(ty)).map(|ty| (id, ty)));
                }
                (Op::AccessChain | Op::InBoundsAccessChain, Some(id), Some(base)) => {
                    base_of.extend(base.id_ref_any().map(|base| (id, base)));
                }
                _ => {}
            }
        }
        let mut changed = Vec::new();
        for inst in inside {
            let operands = match inst.class.opcode {
                Op::Store | Op::CopyMemory => &inst.operands[..1],
                Op::FunctionCall => &inst.operands[..],
                _ => continue,
            };
            for operand in operands {
                let Some(mut id) = operand.id_ref_any() else { continue };
                while let Some(base) = base_of.get(&id) {
                    id = *base;
                }
                if let Some(ty) = own.get(&id)
                    && self.has_null(*ty)
                    && !changed.contains(&(id, *ty))
                {
                    changed.push((id, *ty));
                }
            }
        }
        changed
    }

    fn add_way_out(&mut self, function: &mut Function, found: &Loop, truth: u32) {
        let (out, merge) = (self.id(), function.blocks[found.merge].label_id());
        let merge = merge.expect("it was found by its label");
        // Uses after the loop go through phis.
        let goes_to_merge = |block: &&Block| {
            let end = block.instructions.last();
            end.is_some_and(|end| end.operands.iter().any(|operand| operand.id_ref_any() == Some(merge)))
        };
        let parents: Vec<u32> =
            function.blocks.iter().filter(goes_to_merge).filter_map(Block::label_id).collect();
        let mut phis = Vec::new();
        for &(result, ty) in &found.results {
            let (phi, null) = (self.id(), self.null(ty));
            for (at, block) in function.blocks.iter_mut().enumerate().skip(found.merge) {
                let is_read_here =
                    |inst: &&mut Instruction| at != found.merge || inst.class.opcode != Op::Phi;
                for inst in block.instructions.iter_mut().filter(is_read_here) {
                    for operand in &mut inst.operands {
                        if let Operand::IdRef(id) = operand
                            && *id == result
                        {
                            *id = phi;
                        }
                    }
                }
            }
            let incoming = parents.iter().map(|parent| (result, *parent)).chain([(null, out)]);
            let incoming = incoming.flat_map(|(value, parent)| [value, parent]).map(Operand::IdRef).collect();
            phis.push(Instruction::new(Op::Phi, Some(ty), Some(phi), incoming));
        }
        let after = &mut function.blocks[found.merge].instructions;
        for inst in after.iter_mut().filter(|inst| inst.class.opcode == Op::Phi) {
            if let Some(ty) = inst.result_type {
                inst.operands.extend([self.null(ty), out].map(Operand::IdRef));
            }
        }
        after.splice(..0, phis);
        let mut way_out = Block::new();
        way_out.label = Some(Instruction::new(Op::Label, None, Some(out), Vec::new()));
        for &(variable, ty) in &found.variables {
            let operands = [variable, self.null(ty)].map(Operand::IdRef).to_vec();
            way_out.instructions.push(Instruction::new(Op::Store, None, None, operands));
        }
        way_out.instructions.push(Instruction::new(Op::Branch, None, None, vec![Operand::IdRef(merge)]));
        let end = function.blocks[found.header].instructions.last_mut().expect("it ends with a branch");
        let body = end.operands[0].clone();
        let operands = vec![Operand::IdRef(truth), body, Operand::IdRef(out)];
        *end = Instruction::new(Op::BranchConditional, None, None, operands);
        function.blocks.insert(found.header + 1, way_out);
    }

    /// Computes at the start of the function whether there are fewer than 2^31 workgroups.
    fn compute_truth(&mut self, function: &mut Function, count: u32, truth: u32) {
        let bool_ = self.global(Op::TypeBool, None, Vec::new());
        let uint = self.uint();
        let uvec3 = self.uvec3();
        let most = self.global(Op::Constant, Some(uint), vec![Operand::LiteralBit32(1 << 31)]);
        let [counts, first] = [self.id(), self.id()];
        let id = Operand::IdRef;
        let computed = [
            Instruction::new(Op::Load, Some(uvec3), Some(counts), vec![id(count)]),
            Instruction::new(
                Op::CompositeExtract,
                Some(uint),
                Some(first),
                vec![id(counts), Operand::LiteralBit32(0)],
            ),
            Instruction::new(Op::ULessThan, Some(bool_), Some(truth), vec![id(first), id(most)]),
        ];
        let entry = &mut function.blocks[0].instructions;
        let is_variable = |inst: &Instruction| inst.class.opcode == Op::Variable;
        let at = entry.iter().rposition(is_variable).map_or(0, |last| last + 1);
        entry.splice(at..at, computed);
    }

    // Types, constants and variables of the module.

    fn id(&mut self) -> u32 {
        let header = self.module.header.as_mut().expect("a module that was read has a header");
        header.bound += 1;
        header.bound - 1
    }

    /// The variable for the number of workgroups; `None` if the module has one of another type.
    fn workgroups(&mut self) -> Option<u32> {
        let uvec3 = self.uvec3();
        let builtin = [Operand::Decoration(Decoration::BuiltIn), Operand::BuiltIn(BuiltIn::NumWorkgroups)];
        let known = self.module.annotations.iter().find(|inst| inst.operands.get(1..) == Some(&builtin[..]));
        if let Some(known) = known {
            let variable = known.operands[0].id_ref_any()?;
            let globals = &self.module.types_global_values;
            let def = globals.iter().find(|inst| inst.result_id == Some(variable))?;
            let is_listed = |entry: &Instruction| entry.operands.contains(&Operand::IdRef(variable));
            let is_usable = self.pointee(def.result_type?) == Some(uvec3)
                && self.module.entry_points.iter().all(is_listed);
            return is_usable.then_some(variable);
        }
        let input = Operand::StorageClass(StorageClass::Input);
        let pointer = self.global(Op::TypePointer, None, vec![input.clone(), Operand::IdRef(uvec3)]);
        let variable = self.id();
        let def = Instruction::new(Op::Variable, Some(pointer), Some(variable), vec![input]);
        self.module.types_global_values.push(def);
        let operands = [Operand::IdRef(variable)].into_iter().chain(builtin).collect();
        self.module.annotations.push(Instruction::new(Op::Decorate, None, None, operands));
        for entry in &mut self.module.entry_points {
            entry.operands.push(Operand::IdRef(variable));
        }
        Some(variable)
    }

    fn uint(&mut self) -> u32 {
        self.global(Op::TypeInt, None, [32, 0].map(Operand::LiteralBit32).to_vec())
    }

    fn uvec3(&mut self) -> u32 {
        let uint = self.uint();
        self.global(Op::TypeVector, None, vec![Operand::IdRef(uint), Operand::LiteralBit32(3)])
    }

    fn null(&mut self, ty: u32) -> u32 {
        if let Some(null) = self.nulls.get(&ty) {
            return *null;
        }
        let null = self.global(Op::ConstantNull, Some(ty), Vec::new());
        self.nulls.insert(ty, null);
        null
    }

    /// A type or a constant of the module, added if it is missing.
    fn global(&mut self, op: Op, ty: Option<u32>, operands: Vec<Operand>) -> u32 {
        let globals = &self.module.types_global_values;
        let is_same = |inst: &&Instruction| {
            inst.class.opcode == op && inst.result_type == ty && inst.operands == operands
        };
        if let Some(id) = globals.iter().find(is_same).and_then(|inst| inst.result_id) {
            return id;
        }
        let id = self.id();
        self.module.types_global_values.push(Instruction::new(op, ty, Some(id), operands));
        id
    }

    fn global_of(&self, id: u32) -> Option<&Instruction> {
        self.module.types_global_values.iter().find(|inst| inst.result_id == Some(id))
    }

    /// The pointee of a pointer type.
    fn pointee(&self, ty: u32) -> Option<u32> {
        let ty = self.global_of(ty).filter(|inst| inst.class.opcode == Op::TypePointer)?;
        ty.operands.get(1)?.id_ref_any()
    }

    /// Whether it is a numeric type that may be in registers.
    fn has_null(&self, ty: u32) -> bool {
        let Some(inst) = self.global_of(ty) else { return false };
        let part = |at: usize| inst.operands.get(at).and_then(Operand::id_ref_any);
        match inst.class.opcode {
            Op::TypeBool | Op::TypeInt | Op::TypeFloat => true,
            Op::TypeVector | Op::TypeMatrix => part(0).is_some_and(|of| self.has_null(of)),
            Op::TypeArray => {
                let len = part(1).and_then(|len| self.global_of(len));
                let is_small = len.is_some_and(|len| match len.operands[..] {
                    [Operand::LiteralBit32(len)] => len <= MAX_IN_REGISTERS,
                    _ => false,
                });
                is_small && part(0).is_some_and(|of| self.has_null(of))
            }
            Op::TypeStruct => (0..inst.operands.len()).all(|at| part(at).is_some_and(|of| self.has_null(of))),
            _ => false,
        }
    }
}
