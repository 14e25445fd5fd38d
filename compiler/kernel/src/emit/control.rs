//! Control flow: the tree of statements as structured blocks.

use rspirv::spirv::{LoopControl, MemoryModel, MemorySemantics, Op, Scope, SelectionControl, Word};

use super::function::FunctionEmitter;
use super::module::Operand;
use crate::constant::Constant;
use crate::ir::{Block, CarryId, Loop, NodeKind, Stmt, Together};
use crate::push::Member;
use crate::signature::Width;
use crate::template::Input;
use crate::types::{Scalar, Type};

/// Loops over lists of matrices with more rounds are left to the driver.
const MAX_UNROLLED: i128 = 16;

/// The targets of `break` and `continue`.
pub(crate) struct LoopLabels {
    merge: Word,
    next: Word,
    has_break: bool,
}

impl FunctionEmitter<'_> {
    /// Emits statements into the open block; returns whether control continues after them.
    pub fn block(&mut self, block: &Block) -> bool {
        for stmt in block {
            if !self.stmt(stmt) {
                return false;
            }
        }
        true
    }

    fn stmt(&mut self, stmt: &Stmt) -> bool {
        match stmt {
            Stmt::Eval(node) => self.node(*node),
            Stmt::Store { local, value, span } => {
                self.at(*span);
                if self.try_fill(*local, *value) {
                    return true;
                }
                let (pointer, ty) = (self.local(*local), self.function.ty(*value));
                let value = self.value(*value);
                self.store_local(*local, pointer, value, ty);
            }
            Stmt::StoreElement { local, path, value, span } => {
                self.at(*span);
                self.store_element(*local, path, *value);
            }
            Stmt::BufferStore { buffer, index, path, value, span } => {
                self.at(*span);
                self.store_buffer(*buffer, index, path, *value);
            }
            Stmt::Coop(_) => unreachable!("verified: operations on matrices are expanded"),
            Stmt::CoopStore { place, value, span } => {
                self.at(*span);
                self.coop_store(place, *value);
            }
            Stmt::Assigned(_) | Stmt::Index(_) => {}
            Stmt::Message(_) => unreachable!("`passes/instrument` makes a record of each message"),
            Stmt::Record(record) => {
                self.at(record.span);
                self.record(record);
            }
            Stmt::TextureWrite { texture, at, value, span } => {
                self.at(*span);
                self.texture_write(*texture, *at, *value);
            }
            Stmt::Check(check) => {
                self.at(check.span);
                self.check(&check.kind);
            }
            Stmt::PortStore { port, value, span } => {
                self.at(*span);
                self.store_port(*port, *value);
            }
            Stmt::End(span) => {
                self.at(*span);
                self.end_invocation();
                return false;
            }
            Stmt::Carry(carry) => self.carry(*carry),
            Stmt::Together(Together::Barrier, span) => {
                self.at(*span);
                self.barrier();
            }
            // It is only for the divergence analysis.
            Stmt::Together(Together::CoopMatrix, _) => {}
            Stmt::If { condition, then, orelse, span } => {
                self.at(*span);
                let condition = self.value(*condition);
                return self.if_else(condition, then, orelse);
            }
            Stmt::Loop(parts) => return self.loop_(parts),
            Stmt::Break => {
                let labels = self.loops.last_mut().expect("verified: a break is inside a loop");
                labels.has_break = true;
                let merge = labels.merge;
                self.branch(merge);
                return false;
            }
            Stmt::Continue => {
                let next = self.loops.last().expect("verified: a continue is inside a loop").next;
                self.branch(next);
                return false;
            }
            Stmt::Return(value, span) => {
                self.at(*span);
                match value {
                    Some(value) => {
                        let value = self.value(*value);
                        self.terminate(Op::ReturnValue, &[Operand::IdRef(value)]);
                    }
                    None => self.terminate(Op::Return, &[]),
                }
                return false;
            }
        }
        true
    }

    /// A barrier: earlier stores of the workgroup to shared memory, buffers and images are visible after it.
    fn barrier(&mut self) {
        let scope = self.int(&Type::U32, i128::from(Scope::Workgroup as u32));
        let mut semantics = MemorySemantics::ACQUIRE_RELEASE
            | MemorySemantics::UNIFORM_MEMORY
            | MemorySemantics::WORKGROUP_MEMORY;
        if self.kernel.textures.iter().any(|texture| !texture.is_sampled) {
            semantics |= MemorySemantics::IMAGE_MEMORY;
        }
        if self.module.model == MemoryModel::Vulkan {
            semantics |= MemorySemantics::MAKE_AVAILABLE | MemorySemantics::MAKE_VISIBLE;
        }
        let semantics = self.int(&Type::U32, i128::from(semantics.bits()));
        let operands =
            [Operand::IdScope(scope), Operand::IdScope(scope), Operand::IdMemorySemantics(semantics)];
        self.effect(Op::ControlBarrier, &operands);
    }

    fn carry(&mut self, carry: CarryId) {
        let function = self.function;
        for (local, value) in &function.carries[carry.idx()] {
            let (pointer, value) = (self.local(*local), self.value(*value));
            self.effect(Op::Store, &[Operand::IdRef(pointer), Operand::IdRef(value)]);
        }
    }

    fn if_else(&mut self, condition: Word, then: &Block, orelse: &Block) -> bool {
        let (then_label, merge) = (self.module.id(), self.module.id());
        let else_label = if orelse.is_empty() { merge } else { self.module.id() };
        self.selection_merge(merge);
        self.branch_if(condition, then_label, else_label);
        self.open(then_label);
        let mut goes_on = orelse.is_empty();
        if self.block(then) {
            self.branch(merge);
            goes_on = true;
        }
        if !orelse.is_empty() {
            self.open(else_label);
            if self.block(orelse) {
                self.branch(merge);
                goes_on = true;
            }
        }
        self.open(merge);
        if !goes_on {
            self.terminate(Op::Unreachable, &[]);
        }
        goes_on
    }

    pub fn selection_merge(&mut self, merge: Word) {
        let control = Operand::SelectionControl(SelectionControl::NONE);
        self.effect(Op::SelectionMerge, &[Operand::IdRef(merge), control]);
    }

    /// Runs `then` if the condition holds, and continues.
    pub fn when(&mut self, condition: Word, then: impl FnOnce(&mut Self)) {
        let (label, merge) = (self.module.id(), self.module.id());
        self.selection_merge(merge);
        self.branch_if(condition, label, merge);
        self.open(label);
        then(self);
        self.branch(merge);
        self.open(merge);
    }

    /// Runs one of the two, and continues.
    pub fn when_else(
        &mut self,
        condition: Word,
        then: impl FnOnce(&mut Self),
        orelse: impl FnOnce(&mut Self),
    ) {
        let [label, other, merge] = [(); 3].map(|()| self.module.id());
        self.selection_merge(merge);
        self.branch_if(condition, label, other);
        self.open(label);
        then(self);
        self.branch(merge);
        self.open(other);
        orelse(self);
        self.branch(merge);
        self.open(merge);
    }

    /// The result of `compute` if the condition holds, else 0; nothing for a type without values.
    pub fn when_value(
        &mut self,
        condition: Word,
        ty: &Type,
        compute: impl FnOnce(&mut Self) -> Word,
    ) -> Word {
        let (label, merge) = (self.module.id(), self.module.id());
        let before = self.label;
        self.selection_merge(merge);
        self.branch_if(condition, label, merge);
        self.open(label);
        let value = compute(self);
        let after = self.label;
        self.branch(merge);
        self.open(merge);
        if *ty == Type::Void {
            return value;
        }
        let result = self.module.ty(ty);
        let zero = self.module.null(result);
        self.over(Op::Phi, result, &[value, after, zero, before])
    }

    fn loop_(&mut self, parts: &Loop) -> bool {
        let [header, test, body, next, merge] = [(); 5].map(|()| self.module.id());
        self.at(parts.span);
        self.branch(header);
        self.open(header);
        let control = Operand::LoopControl(self.loop_control(parts));
        self.effect(Op::LoopMerge, &[Operand::IdRef(merge), Operand::IdRef(next), control]);
        self.branch(test);
        self.open(test);
        self.block(&parts.test);
        self.at(parts.span);
        match parts.condition {
            Some(condition) => {
                let condition = self.value(condition);
                self.branch_if(condition, body, merge);
            }
            None => self.branch(body),
        }
        self.open(body);
        self.loops.push(LoopLabels { merge, next, has_break: false });
        if self.block(&parts.body) {
            self.branch(next);
        }
        let labels = self.loops.pop().expect("pushed above");
        self.open(next);
        self.block(&parts.step);
        self.at(parts.span);
        self.branch(header);
        self.open(merge);
        let goes_on = parts.condition.is_some() || labels.has_break;
        if !goes_on {
            self.terminate(Op::Unreachable, &[]);
        }
        goes_on
    }

    fn loop_control(&self, parts: &Loop) -> LoopControl {
        // Loops of library functions are products of matrices, or rare: unrolling them costs minutes of compilation.
        if self.function.called_for.is_some() {
            return LoopControl::DONT_UNROLL;
        }
        // Cooperative matrices are in registers, which have no computed indices.
        let is_short = parts.condition.is_some_and(|condition| match self.function.node(condition).kind {
            NodeKind::Compare(_, _, end) => {
                let end = self.function.constant(end).and_then(Constant::as_int);
                end.is_some_and(|end| (0..=MAX_UNROLLED).contains(&end))
            }
            _ => false,
        });
        if is_short && self.module.model == MemoryModel::Vulkan {
            return LoopControl::UNROLL;
        }
        LoopControl::NONE
    }

    /// Runs `body` with every number below `n`.
    pub fn count(&mut self, n: u32, body: impl FnOnce(&mut Self, Word)) {
        let counter = self.variable(&Type::I32);
        let (zero, one, end) =
            (self.int(&Type::I32, 0), self.int(&Type::I32, 1), self.int(&Type::I32, i128::from(n)));
        self.effect(Op::Store, &[Operand::IdRef(counter), Operand::IdRef(zero)]);
        let [header, test, round, next, merge] = [(); 5].map(|()| self.module.id());
        self.branch(header);
        self.open(header);
        let control = Operand::LoopControl(LoopControl::NONE);
        self.effect(Op::LoopMerge, &[Operand::IdRef(merge), Operand::IdRef(next), control]);
        self.branch(test);
        self.open(test);
        let now = self.ids(Op::Load, &Type::I32, &[counter]);
        let goes_on = self.ids(Op::SLessThan, &Type::BOOL, &[now, end]);
        self.branch_if(goes_on, round, merge);
        self.open(round);
        body(self, now);
        self.branch(next);
        self.open(next);
        let after = self.ids(Op::IAdd, &Type::I32, &[now, one]);
        self.effect(Op::Store, &[Operand::IdRef(counter), Operand::IdRef(after)]);
        self.branch(header);
        self.open(merge);
    }

    /// The boundary test: invocations outside the domain return at once. An axis with one invocation in a workgroup
    /// needs no test.
    pub fn domain_guard(&mut self) {
        self.at(self.function.span);
        let axes: Vec<u32> = (0..3).filter(|&axis| self.kernel.local_size[axis as usize] > 1).collect();
        if axes.is_empty() {
            return;
        }
        let id = self.counted_id();
        let domain = self.load_domain();
        let mut inside: Vec<Word> = axes.iter().map(|&axis| self.is_less_along(axis, id, domain)).collect();
        let first = inside.remove(0);
        let both = |so_far, other| self.ids(Op::LogicalAnd, &Type::BOOL, &[so_far, other]);
        let inside = inside.into_iter().fold(first, both);
        let (outside, body) = (self.module.id(), self.module.id());
        self.selection_merge(body);
        self.branch_if(inside, body, outside);
        self.open(outside);
        self.terminate(Op::Return, &[]);
        self.open(body);
    }

    fn is_less_along(&mut self, axis: u32, id: Word, domain: Word) -> Word {
        let counts = Type::Scalar(self.kernel.assumptions.ids.unsigned());
        let [id, domain] = [id, domain].map(|vector| self.extract(vector, axis, &counts));
        self.ids(Op::ULessThan, &Type::BOOL, &[id, domain])
    }

    /// `global_id` as wide as the domain's counts are: the device's own has 32 bits.
    fn counted_id(&mut self) -> Word {
        if self.kernel.assumptions.ids == Width::Narrow {
            return self.input_value(Input::GlobalInvocationId);
        }
        let ids = Type::Vector(3, Scalar::U64);
        let [group, local] = [Input::WorkgroupId, Input::LocalInvocationId].map(|input| {
            let counted = self.input_value(input);
            self.ids(Op::UConvert, &ids, &[counted])
        });
        let sizes = self.kernel.local_size.map(|n| self.int(&Scalar::U64.into(), i128::from(n)));
        let vector = self.module.ty(&ids);
        let sizes = self.module.composite(vector, &sizes);
        let first = self.ids(Op::IMul, &ids, &[group, sizes]);
        self.ids(Op::IAdd, &ids, &[first, local])
    }

    /// An input as the whole launch has it: a part of one begins with some workgroup of it.
    pub fn input_value(&mut self, input: Input) -> Word {
        if self.kernel.push.position(Member::Base).is_none() {
            return self.load_input(input);
        }
        let ids = Type::Vector(3, Scalar::U32);
        let local = self.kernel.local_size.map(|n| self.int(&Type::U32, i128::from(n)));
        let vector = self.module.ty(&ids);
        let local = self.module.composite(vector, &local);
        match input {
            Input::GlobalInvocationId => {
                let (id, base) = (self.load_input(input), self.load_hidden(Member::Base, &ids));
                let first = self.ids(Op::IMul, &ids, &[base, local]);
                self.ids(Op::IAdd, &ids, &[id, first])
            }
            Input::WorkgroupId => {
                let (id, base) = (self.load_input(input), self.load_hidden(Member::Base, &ids));
                self.ids(Op::IAdd, &ids, &[id, base])
            }
            Input::NumWorkgroups => {
                let counts = ids.with_scalar(self.kernel.assumptions.ids.unsigned());
                let (domain, one) = (self.load_domain(), self.int(&counts, 1));
                let last = self.ids(Op::ISub, &counts, &[domain, one]);
                let local = if counts == ids { local } else { self.ids(Op::UConvert, &counts, &[local]) };
                let last = self.ids(Op::UDiv, &counts, &[last, local]);
                let groups = self.ids(Op::IAdd, &counts, &[last, one]);
                if counts == ids { groups } else { self.ids(Op::UConvert, &ids, &[groups]) }
            }
            _ => self.load_input(input),
        }
    }

    pub fn load_input(&mut self, input: Input) -> Word {
        let ty = Type::of(input.n_components(), Scalar::U32);
        let variable = self.interface.input(self.kernel, input, self.module);
        self.ids(Op::Load, &ty, &[variable])
    }
}
