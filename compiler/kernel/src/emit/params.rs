//! Parameters that are values: their blocks, and the loads from them.

use rspirv::spirv::{Decoration, Op, StorageClass, Word};

use super::function::FunctionEmitter;
use super::module::{Module, Operand, write};
use crate::ir::{Kernel, NodeId, NodeKind, ScalarId};
use crate::push::{BlockKind, Member};
use crate::types::Type;

/// The set of the uniform buffer for parameters that do not fit the push constants; its binding is 0.
const SPILL_SET: u32 = 1;

/// The variables of the two blocks that `kernel.push` lays out, where they have members.
pub(crate) struct Blocks {
    push: Option<Word>,
    spill: Option<Word>,
}

impl Blocks {
    pub fn new(kernel: &Kernel, module: &mut Module) -> Blocks {
        let push = block(kernel, BlockKind::Push, ["kps.scalars", "kps.push"], module);
        let spill = block(kernel, BlockKind::Spill, ["kps.spilled", "kps.uniforms"], module);
        if let Some(id) = spill {
            module.decorate(id, Decoration::DescriptorSet, &[SPILL_SET]);
            module.decorate(id, Decoration::Binding, &[0]);
        }
        Blocks { push, spill }
    }

    fn variable(&self, kind: BlockKind) -> Word {
        let id = match kind {
            BlockKind::Push => self.push,
            BlockKind::Spill => self.spill,
        };
        id.expect("a block with a member has a variable")
    }
}

fn class_of(kind: BlockKind) -> StorageClass {
    match kind {
        BlockKind::Push => StorageClass::PushConstant,
        BlockKind::Spill => StorageClass::Uniform,
    }
}

fn block(
    kernel: &Kernel,
    kind: BlockKind,
    [type_name, name]: [&str; 2],
    module: &mut Module,
) -> Option<Word> {
    let members = &kernel.push.block(kind).members;
    if members.is_empty() {
        return None;
    }
    let mut types = Vec::new();
    for placed in members {
        match placed.member {
            Member::Scalar(id) => module.set_span(kernel.scalars[id.idx()].span),
            Member::Address(id) | Member::Len(id) => module.set_span(kernel.buffers[id.idx()].span),
            Member::Domain | Member::Base | Member::Axis(..) => {}
        }
        types.push(module.ty(&placed.ty));
    }
    let block = module.struct_type(&types);
    module.decorate(block, Decoration::Block, &[]);
    module.name(block, type_name);
    for (at, placed) in members.iter().enumerate() {
        module.decorate_member(block, at as u32, Decoration::Offset, &[placed.offset]);
        module.member_name(block, at as u32, &placed.name);
    }
    let id = module.variable(class_of(kind), block);
    module.name(id, name);
    Some(id)
}

impl FunctionEmitter<'_> {
    pub fn load_domain(&mut self) -> Word {
        let ty = Type::Vector(3, self.kernel.assumptions.ids.unsigned());
        self.load_hidden(Member::Domain, &ty)
    }

    /// A hidden member.
    pub fn load_hidden(&mut self, member: Member, ty: &Type) -> Word {
        let (block, at) = self.hidden_place(member);
        self.load_member(block, at, ty)
    }

    fn hidden_place(&self, member: Member) -> (BlockKind, u32) {
        self.kernel.push.position(member).expect("`passes/parameters` listed every member that is used")
    }

    /// The value of a parameter, of a number, a vector or a matrix.
    pub fn load_scalar(&mut self, scalar: ScalarId, ty: &Type) -> Word {
        let place = self.kernel.push.place(scalar).clone();
        let mut parts = Vec::with_capacity(place.members.len());
        for at in place.members {
            let stored = &self.kernel.push.block(place.block).members[at].ty;
            let value = self.load_member(place.block, at as u32, stored);
            parts.push((value, stored.clone()));
        }
        match ty {
            Type::Scalar(_) | Type::Vector(..) => self.arrived(&parts[0], ty),
            ty => self.assembled(ty, &mut parts.into_iter()),
        }
    }

    /// Whether a node is a parameter of many numbers, or a part of one. Those are loaded at their first use, except
    /// with debug information.
    pub fn is_param_part(&self, node: NodeId) -> bool {
        self.debug.is_none() && self.first_number(node).is_some()
    }

    /// Loads such a part at the start of the function, except numbers that are loaded already.
    pub fn load_param_part(&mut self, node: NodeId) -> Word {
        let (scalar, first) = self.first_number(node).expect("asked of a part of a parameter");
        let (place, ty) = (self.kernel.push.place(scalar).clone(), self.function.ty(node));
        let n = ty.numbers().len();
        self.in_prologue(|emitter| {
            let members = place.members.skip(first).take(n);
            let numbers = members.map(|at| emitter.number_once(place.block, at)).collect::<Vec<_>>();
            emitter.assembled(ty, &mut numbers.into_iter())
        })
    }

    /// A variable with such a part, stored at the start of the function.
    pub fn param_variable(&mut self, node: NodeId) -> Word {
        let (scalar, first) = self.first_number(node).expect("asked of a part of a parameter");
        let key = (scalar, first, self.function.ty(node).clone());
        if let Some(known) = self.param_variables.get(&key) {
            return *known;
        }
        let (value, variable) = (self.value(node), self.variable(&key.2));
        self.in_prologue(|emitter| {
            emitter.effect(Op::Store, &[variable, value].map(Operand::IdRef));
        });
        self.param_variables.insert(key, variable);
        variable
    }

    /// The parameter that a node is a part of, and the numbers of it before that part.
    fn first_number(&self, node: NodeId) -> Option<(ScalarId, usize)> {
        match self.function.node(node).kind {
            NodeKind::Scalar(scalar) => self.function.ty(node).is_aggregate().then_some((scalar, 0)),
            NodeKind::Extract(whole, at) => {
                let of = self.function.ty(whole);
                // The columns of a matrix are not contiguous.
                let (scalar, first) =
                    self.first_number(whole).filter(|_| !matches!(of, Type::Matrix { .. }))?;
                Some((scalar, first + numbers_before(of, at)))
            }
            _ => None,
        }
    }

    /// A number of a block as it travelled, loaded once; in the prologue.
    fn number_once(&mut self, block: BlockKind, member: usize) -> (Word, Type) {
        let stored = &self.kernel.push.block(block).members[member].ty;
        let value = match self.numbers.get(&(block, member)) {
            Some(known) => *known,
            None => self.load_member(block, member as u32, stored),
        };
        self.numbers.insert((block, member), value);
        (value, stored.clone())
    }

    /// A hidden member, loaded at the start of the function.
    pub fn hidden_once(&mut self, member: Member, ty: &Type) -> Word {
        if let Some(known) = self.hidden.get(&member) {
            return *known;
        }
        let (block, at) = self.hidden_place(member);
        let variable = self.interface.blocks.variable(block);
        let ty = self.module.ty(ty);
        let pointer = self.module.pointer(class_of(block), ty);
        let at = self.int(&Type::I32, i128::from(at));
        let (place, id) = (self.module.id(), self.module.id());
        let chain = [variable, at].map(Operand::IdRef);
        write(&mut self.prologue, Op::AccessChain, Some(pointer), Some(place), &chain);
        write(&mut self.prologue, Op::Load, Some(ty), Some(id), &[Operand::IdRef(place)]);
        self.hidden.insert(member, id);
        id
    }

    fn load_member(&mut self, block: BlockKind, member: u32, ty: &Type) -> Word {
        let variable = self.interface.blocks.variable(block);
        let pointee = self.module.ty(ty);
        let pointer = self.module.pointer(class_of(block), pointee);
        let index = self.int(&Type::I32, i128::from(member));
        let place = self.op(Op::AccessChain, pointer, &[Operand::IdRef(variable), Operand::IdRef(index)]);
        self.ids(Op::Load, ty, &[place])
    }

    /// Converts a number or a vector from its type in the block.
    fn arrived(&mut self, (value, stored): &(Word, Type), ty: &Type) -> Word {
        if stored == ty { *value } else { self.convert(*value, stored, ty) }
    }

    /// A value from all of its numbers, in the order of memory.
    fn assembled(&mut self, ty: &Type, numbers: &mut dyn Iterator<Item = (Word, Type)>) -> Word {
        match ty {
            Type::Scalar(_) => {
                let number = numbers.next().expect("a value has all of its numbers");
                self.arrived(&number, ty)
            }
            Type::Matrix { columns, rows, scalar } => {
                // Memory has the rows, a value the columns.
                let element = Type::Scalar(*scalar);
                let n = usize::from(*columns) * usize::from(*rows);
                let elements: Vec<Word> = (0..n).map(|_| self.assembled(&element, numbers)).collect();
                let (columns, column_ty) = (usize::from(*columns), Type::Vector(*rows, *scalar));
                let parts: Vec<Word> = (0..columns)
                    .map(|column| {
                        let column: Vec<Word> =
                            elements.iter().skip(column).step_by(columns).copied().collect();
                        self.construct(&column, &column_ty)
                    })
                    .collect();
                self.construct(&parts, ty)
            }
            ty => {
                let n = ty.n_parts().unwrap_or(0);
                let parts: Vec<Word> = (0..n)
                    .map(|at| {
                        let part = ty.part(at).expect("counted");
                        self.assembled(&part, numbers)
                    })
                    .collect();
                self.construct(&parts, ty)
            }
        }
    }
}

/// The number of numbers before a part.
fn numbers_before(ty: &Type, at: u32) -> usize {
    let n_of = |at: u32| ty.part(at).map_or(0, |part| part.numbers().len());
    match ty {
        Type::Array(_) => at as usize * n_of(0),
        _ => (0..at).map(n_of).sum(),
    }
}
