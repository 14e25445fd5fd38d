//! Index bounds of atomics in local and shared memory. naga tests no index of an atomic operation, and where
//! it tests the index of an atomic load or store it emits a plain one. So if atomics of a workgroup have
//! indices unknown at compile time, all indices are clamped.

use naga::proc::BoundsCheckPolicy;
use naga::valid::{FunctionInfo, ModuleInfo};
use naga::{AddressSpace, Expression, Function, Handle, Module, Type, TypeInner, UniqueArena};

pub(crate) fn indices(module: &Module, info: &ModuleInfo) -> BoundsCheckPolicy {
    let types = &module.types;
    let functions = module.functions.iter().map(|(handle, function)| (function, &info[handle]));
    let entries = module.entry_points.iter().enumerate();
    let entries = entries.map(|(at, entry)| (&entry.function, info.get_entry_point(at)));
    match functions.chain(entries).any(|(function, info)| indexes_atomics(types, function, info)) {
        true => BoundsCheckPolicy::Restrict,
        false => BoundsCheckPolicy::ReadZeroSkipWrite,
    }
}

fn indexes_atomics(types: &UniqueArena<Type>, function: &Function, info: &FunctionInfo) -> bool {
    function.expressions.iter().any(|(handle, expression)| {
        let leads_to = || match *info[handle].ty.inner_with(types) {
            TypeInner::Pointer { base, space: AddressSpace::WorkGroup } => has_atomics(types, base),
            _ => false,
        };
        matches!(expression, Expression::Access { .. }) && leads_to()
    })
}

fn has_atomics(types: &UniqueArena<Type>, ty: Handle<Type>) -> bool {
    match &types[ty].inner {
        TypeInner::Atomic(_) => true,
        TypeInner::Array { base, .. } => has_atomics(types, *base),
        TypeInner::Struct { members, .. } => members.iter().any(|member| has_atomics(types, member.ty)),
        _ => false,
    }
}
