//! Variables of the module that are made at their first use, and what they store.

use std::rc::Rc;

use rspirv::spirv::{Decoration, StorageClass, Word};

use super::module::Module;
use crate::constant::Constant;
use crate::ir::{AtomicOp, AtomicPlace, Home, Kernel, NodeKind, SharedId, part_at};
use crate::signature::Target;
use crate::structs::{Member, StructType};
use crate::types::{Scalar, Type};

/// The variable for whether an assertion of the invocation has failed.
pub(super) fn failed_variable(module: &mut Module) -> Word {
    let truth = module.scalar(Scalar::Bool);
    let no = module.constant(Constant::bool(false));
    let id = module.initialized_variable(truth, no);
    module.name(id, "kps.failed");
    id
}

/// The member of the buffer that holds the records.
pub(super) const RECORD_DATA: u32 = 4;

/// The variable of the buffer of records, after all bindings of parameters in set 0.
pub(super) fn ring_variable(kernel: &Kernel, module: &mut Module) -> Word {
    let word = module.scalar(Scalar::U32);
    let data = module.runtime_array(word, 4);
    let block = module.struct_type(&[word, word, word, word, data]);
    module.decorate(block, Decoration::Block, &[]);
    module.name(block, "kps.records");
    for member in 0..=RECORD_DATA {
        module.decorate_member(block, member, Decoration::Offset, &[4 * member]);
    }
    let id = module.variable(StorageClass::StorageBuffer, block);
    module.name(id, "kps.print");
    let buffers = kernel.buffers.iter().map(|buffer| (buffer.set, buffer.binding));
    let textures = kernel.textures.iter().map(|texture| (texture.set, texture.binding));
    let samplers = kernel.samplers.iter().map(|sampler| (sampler.set, sampler.binding));
    let taken = buffers.chain(textures).chain(samplers);
    let behind = taken.filter(|(set, _)| *set == 0).map(|(_, binding)| binding + 1).max();
    module.decorate(id, Decoration::DescriptorSet, &[0]);
    module.decorate(id, Decoration::Binding, &[behind.unwrap_or(0)]);
    id
}

/// The type that stores the bits of these numbers: ints, in arrays and structs of the same form.
pub(super) fn bits_of(ty: &Type) -> Type {
    match ty {
        Type::Array(array) => Type::array(array.len, bits_of(&array.element)),
        Type::Struct(of) => {
            let bits = |member: &Member| Member::new(member.name.clone(), bits_of(&member.ty));
            let members = of.members.iter().map(bits).collect();
            Type::Struct(Rc::new(StructType { name: of.name.clone(), ..StructType::new(members) }))
        }
        Type::Matrix { columns, rows, scalar } => {
            Type::array((*columns).into(), bits_of(&Type::Vector(*rows, *scalar)))
        }
        ty => match ty.scalar() {
            None => ty.clone(),
            Some(scalar) if scalar.bits() == 64 => ty.with_scalar(Scalar::U64),
            Some(_) => ty.with_scalar(Scalar::U32),
        },
    }
}

/// Whether an operation on elements of this type is one instruction over the type itself.
pub(super) fn is_direct(op: AtomicOp, scalar: Scalar, target: &Target) -> bool {
    let is_sum = matches!(op, AtomicOp::Add | AtomicOp::Sub);
    match scalar {
        Scalar::I32 | Scalar::U32 | Scalar::I64 | Scalar::U64 => true,
        Scalar::F32 => is_sum && target.f32_atomic_add,
        Scalar::F64 => is_sum && target.f64_atomic_add,
        _ => false,
    }
}

/// Shared memory that holds the bits of its elements, because an operation needs them.
pub(super) fn shared_bits(kernel: &Kernel, target: &Target) -> Vec<SharedId> {
    let mut shared = Vec::new();
    let functions = kernel.functions.iter().zip(kernel.reached()).filter(|(_, reached)| *reached);
    for (function, _) in functions {
        for node in &function.nodes {
            let NodeKind::Atomic(atomic) = &node.kind else { continue };
            let AtomicPlace::Shared { local, path } = &atomic.place else { continue };
            let Home::Workgroup(id) = function.local(*local).home else { continue };
            let element = part_at(&function.local(*local).ty, path);
            if element.scalar().is_some_and(|scalar| !is_direct(atomic.op, scalar, target)) {
                shared.push(id);
            }
        }
    }
    shared
}
