//! Atomic operations, each on one element.
//!
//! Ints of 32 and 64 bits have an instruction for each operation. A device may have the sum of floats. Other
//! operations on floats, and all on narrow elements of shared memory, are a compare-and-exchange loop on their bits.
//! For that a buffer has a second variable of ints, and shared memory holds ints in place of its elements. Narrow
//! elements of array parameters are in `narrow`.
//!
//! The memory order is relaxed: only a barrier, or the end of a launch, orders other memory.

use rspirv::spirv::{LoopControl, MemoryModel, Op, Scope, Word};

use super::function::FunctionEmitter;
use super::module::Operand;
use super::values::is_float;
use super::variables::{bits_of, is_direct};
use crate::ir::{Atomic, AtomicOp, AtomicPlace, BoundsCheck, BufferId, ElementIndex, LocalId, Step, part_at};
use crate::signature::Capability;
use crate::types::{Scalar, Type};

/// An element in memory, and how it is seen.
pub(super) struct Element {
    pointer: Word,
    /// The element's own type.
    ty: Type,
    /// The int that is seen at the pointer in its place, where that is another type.
    bits: Option<Type>,
    scope: Word,
}

fn is_narrow(ty: &Type) -> bool {
    ty.scalar().is_some_and(|scalar| scalar.bits() < 32)
}

impl FunctionEmitter<'_> {
    pub fn atomic(&mut self, atomic: &Atomic, ty: &Type) -> Word {
        let [value, expected] = [atomic.value, atomic.expected].map(|node| node.map(|node| self.value(node)));
        match &atomic.place {
            AtomicPlace::Buffer { buffer, index, path } => {
                let op = atomic.op;
                let variable = self.interface.buffer(*buffer);
                variable.reads |= op != AtomicOp::Store;
                variable.writes |= op != AtomicOp::Load;
                if !path.is_empty() {
                    return self.atomic_within(op, (*buffer, index, path), (value, expected), ty);
                }
                let operation = |emitter: &mut Self, index: Word| {
                    let element = &emitter.kernel.buffers[buffer.idx()].element;
                    if is_narrow(element) {
                        let pointer = emitter.element_pointer(*buffer, index);
                        return emitter.narrow_atomic(op, (pointer, element), value, expected);
                    }
                    let element = emitter.buffer_element(op, *buffer, index);
                    emitter.atomic_at(op, &element, value, expected)
                };
                if self.function.is_known_element(index) {
                    let index = self.proven_index(*buffer, index);
                    return operation(self, index);
                }
                let (is_inside, index) = self.inside_buffer(*buffer, index);
                self.when_value(is_inside, ty, |emitter| operation(emitter, index))
            }
            AtomicPlace::Shared { local, path } => {
                let (pointer, is_inside) = self.local_part(*local, path);
                let element = self.shared_element(*local, path, pointer);
                let op = atomic.op;
                match is_inside {
                    None => self.atomic_at(op, &element, value, expected),
                    Some(is_inside) => self.when_value(is_inside, ty, |emitter| {
                        emitter.atomic_at(op, &element, value, expected)
                    }),
                }
            }
        }
    }

    /// On a part of an element. If the part is accessed as an int, or narrow, the array is accessed by address.
    fn atomic_within(
        &mut self,
        op: AtomicOp,
        part: (BufferId, &ElementIndex, &[Step]),
        (value, expected): (Option<Word>, Option<Word>),
        ty: &Type,
    ) -> Word {
        let (place, is_inside) = self.buffer_part(part, BoundsCheck::Words);
        let operation = |emitter: &mut Self| {
            let pointer = emitter.buffer_pointer(&place);
            if is_narrow(&place.ty) {
                return emitter.narrow_atomic(op, (pointer, &place.ty), value, expected);
            }
            let scope = emitter.scope(Scope::Device);
            let is_direct = place.ty.scalar().is_some_and(|scalar| is_direct(op, scalar, emitter.target));
            let bits = (!is_direct).then(|| bits_of(&place.ty));
            let pointer = bits.iter().fold(pointer, |pointer, bits| emitter.seen_through(pointer, bits));
            let element = Element { pointer, ty: place.ty.clone(), bits, scope };
            emitter.atomic_at(op, &element, value, expected)
        };
        match is_inside {
            None => operation(self),
            Some(is_inside) => self.when_value(is_inside, ty, operation),
        }
    }

    fn buffer_element(&mut self, op: AtomicOp, buffer: BufferId, index: Word) -> Element {
        let ty = self.interface.buffer(buffer).element.clone();
        let is_direct = ty.scalar().is_some_and(|scalar| is_direct(op, scalar, self.target));
        let bits = (!is_direct).then(|| bits_of(&ty));
        let pointer = match &bits {
            None => self.element_pointer(buffer, index),
            Some(bits) => self.element_bits(buffer, index, bits),
        };
        let scope = self.scope(Scope::Device);
        Element { pointer, ty, bits, scope }
    }

    /// A word of the device's memory.
    pub fn device_word(&mut self, pointer: Word) -> Element {
        let scope = self.scope(Scope::Device);
        Element { pointer, ty: Type::U32, bits: None, scope }
    }

    fn shared_element(&mut self, local: LocalId, path: &[Step], pointer: Word) -> Element {
        let ty = part_at(&self.function.local(local).ty, path);
        let bits = self.holds_bits(local).then(|| bits_of(&ty));
        let scope = self.scope(Scope::Workgroup);
        Element { pointer, ty, bits, scope }
    }

    /// The Vulkan memory model counts the device by its queues, unless a feature more is there.
    pub fn scope(&mut self, scope: Scope) -> Word {
        let scope = match (scope, self.module.model) {
            (Scope::Device, MemoryModel::Vulkan) => Scope::QueueFamily,
            (scope, _) => scope,
        };
        self.int(&Type::U32, i128::from(scope as u32))
    }

    fn atomic_at(
        &mut self,
        op: AtomicOp,
        element: &Element,
        value: Option<Word>,
        expected: Option<Word>,
    ) -> Word {
        let seen = element.bits.as_ref().unwrap_or(&element.ty).clone();
        if seen.scalar().is_some_and(|scalar| scalar.is_int() && scalar.bits() == 64) {
            self.module.need(Capability::Int64Atomics);
        }
        match (op, &element.bits) {
            (AtomicOp::CompareExchange, _) => {
                let value = self.seen(value, element);
                let expected = self.seen(expected, element);
                let old = self.exchange_if(element, value, expected);
                self.seen_as(old, element)
            }
            (AtomicOp::Load, _) => {
                let old = self.atomic_op(Op::AtomicLoad, element, None);
                self.seen_as(old, element)
            }
            (AtomicOp::Store, _) => {
                let value = self.seen(value, element);
                let none = self.int(&Type::U32, 0);
                let operands = [
                    Operand::IdRef(element.pointer),
                    Operand::IdScope(element.scope),
                    Operand::IdMemorySemantics(none),
                    Operand::IdRef(value),
                ];
                self.effect(Op::AtomicStore, &operands);
                0
            }
            (AtomicOp::Exchange, _) => {
                let value = self.seen(value, element);
                let old = self.atomic_op(Op::AtomicExchange, element, Some(value));
                self.seen_as(old, element)
            }
            (op, None) => self.direct(op, element, value.unwrap_or(0)),
            (op, Some(_)) => self.exchanged(op, element, value.unwrap_or(0)),
        }
    }

    /// One instruction.
    fn direct(&mut self, op: AtomicOp, element: &Element, value: Word) -> Word {
        let scalar = element.ty.scalar().unwrap_or(Scalar::I32);
        if scalar.is_float() {
            self.module.need(match scalar {
                Scalar::F64 => Capability::AtomicFloat64AddEXT,
                _ => Capability::AtomicFloat32AddEXT,
            });
            let value = match op {
                AtomicOp::Sub => self.ids(Op::FNegate, &element.ty, &[value]),
                _ => value,
            };
            return self.atomic_op(Op::AtomicFAddEXT, element, Some(value));
        }
        let op = match (op, scalar.is_signed()) {
            (AtomicOp::Add, _) => Op::AtomicIAdd,
            (AtomicOp::Sub, _) => Op::AtomicISub,
            (AtomicOp::Min, true) => Op::AtomicSMin,
            (AtomicOp::Min, false) => Op::AtomicUMin,
            (AtomicOp::Max, true) => Op::AtomicSMax,
            (AtomicOp::Max, false) => Op::AtomicUMax,
            (AtomicOp::And, _) => Op::AtomicAnd,
            (AtomicOp::Or, _) => Op::AtomicOr,
            _ => Op::AtomicXor,
        };
        self.atomic_op(op, element, Some(value))
    }

    pub fn atomic_op(&mut self, op: Op, element: &Element, value: Option<Word>) -> Word {
        let none = self.int(&Type::U32, 0);
        let seen = element.bits.as_ref().unwrap_or(&element.ty);
        let result = self.module.ty(seen);
        let mut operands = vec![
            Operand::IdRef(element.pointer),
            Operand::IdScope(element.scope),
            Operand::IdMemorySemantics(none),
        ];
        operands.extend(value.map(Operand::IdRef));
        self.op(op, result, &operands)
    }

    /// Compare and exchange: gives the old value, and stores the new one if the old one is `expected`.
    fn exchange_if(&mut self, element: &Element, value: Word, expected: Word) -> Word {
        let none = self.int(&Type::U32, 0);
        let seen = element.bits.as_ref().unwrap_or(&element.ty);
        let result = self.module.ty(seen);
        let operands = [
            Operand::IdRef(element.pointer),
            Operand::IdScope(element.scope),
            Operand::IdMemorySemantics(none),
            Operand::IdMemorySemantics(none),
            Operand::IdRef(value),
            Operand::IdRef(expected),
        ];
        self.op(Op::AtomicCompareExchange, result, &operands)
    }

    /// Computes the new value from the old one, and exchanges it if the old one is still there.
    fn exchanged(&mut self, op: AtomicOp, element: &Element, value: Word) -> Word {
        let seen = element.bits.clone().expect("operations on bits have their type");
        self.exchange_until(&seen, element, |emitter, old| {
            let now = emitter.seen_as(old, element);
            let new = emitter.combined(op, now, value, &element.ty);
            (now, emitter.seen(Some(new), element))
        })
    }

    /// A compare-and-exchange loop. `change` maps the stored value, of type `seen`, to the old value and the new stored
    /// one. The loop repeats until no other invocation interferes.
    pub fn exchange_until(
        &mut self,
        seen: &Type,
        element: &Element,
        change: impl FnOnce(&mut Self, Word) -> (Word, Word),
    ) -> Word {
        let [header, round, next, merge] = [(); 4].map(|()| self.module.id());
        let last = self.variable(seen);
        let first = self.atomic_op(Op::AtomicLoad, element, None);
        self.effect(Op::Store, &[Operand::IdRef(last), Operand::IdRef(first)]);
        self.branch(header);
        self.open(header);
        let control = Operand::LoopControl(LoopControl::NONE);
        self.effect(Op::LoopMerge, &[Operand::IdRef(merge), Operand::IdRef(next), control]);
        self.branch(round);
        self.open(round);
        let old = self.ids(Op::Load, seen, &[last]);
        let (now, new) = change(self, old);
        let found = self.exchange_if(element, new, old);
        self.effect(Op::Store, &[Operand::IdRef(last), Operand::IdRef(found)]);
        let is_done = self.ids(Op::IEqual, &Type::BOOL, &[found, old]);
        self.branch_if(is_done, merge, next);
        self.open(next);
        self.branch(header);
        self.open(merge);
        // In the last iteration the old value was as expected.
        now
    }

    pub fn combined(&mut self, op: AtomicOp, now: Word, value: Word, ty: &Type) -> Word {
        let is_float = is_float(ty);
        let is_signed = ty.scalar().is_some_and(Scalar::is_signed);
        if let AtomicOp::Min | AtomicOp::Max = op {
            let compare = match (op, is_float, is_signed) {
                (AtomicOp::Min, true, _) => Op::FOrdLessThan,
                (_, true, _) => Op::FOrdGreaterThan,
                (AtomicOp::Min, _, true) => Op::SLessThan,
                (AtomicOp::Min, ..) => Op::ULessThan,
                (_, _, true) => Op::SGreaterThan,
                _ => Op::UGreaterThan,
            };
            let is_better = self.ids(compare, &Type::BOOL, &[value, now]);
            return self.select(ty, is_better, value, now);
        }
        let is_bool = ty.scalar() == Some(Scalar::Bool);
        let op = match op {
            AtomicOp::Add if is_float => Op::FAdd,
            AtomicOp::Sub if is_float => Op::FSub,
            AtomicOp::Add => Op::IAdd,
            AtomicOp::Sub => Op::ISub,
            AtomicOp::And if is_bool => Op::LogicalAnd,
            AtomicOp::Or if is_bool => Op::LogicalOr,
            AtomicOp::And => Op::BitwiseAnd,
            AtomicOp::Or => Op::BitwiseOr,
            _ if is_bool => Op::LogicalNotEqual,
            _ => Op::BitwiseXor,
        };
        let result = self.ids(op, ty, &[now, value]);
        match ty.scalar() {
            // It is computed in f32, and rounded as every result is.
            Some(Scalar::Bf16) => self.convert(result, &Type::F32, ty),
            _ => result,
        }
    }

    /// A value as it is stored in memory.
    fn seen(&mut self, value: Option<Word>, element: &Element) -> Word {
        let value = value.expect("a verified operation has its values");
        match &element.bits {
            None => value,
            Some(bits) => self.bits_of_value(value, &element.ty, bits),
        }
    }

    fn seen_as(&mut self, value: Word, element: &Element) -> Word {
        match &element.bits {
            None => value,
            Some(bits) => self.value_of_bits(value, bits, &element.ty),
        }
    }
}
