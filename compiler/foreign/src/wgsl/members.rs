//! Loads a single member or component (`cells[i].x`) instead of its whole composite. naga's front end for
//! GLSL loads the whole struct or vector, so that members never written seem to be read.

use naga::valid::{FunctionInfo, ModuleInfo};
use naga::{Expression, Function, Handle, Module, TypeInner};

pub(crate) fn load_alone(module: &mut Module, info: &ModuleInfo) {
    let Module { types, functions, entry_points, .. } = module;
    for (handle, function) in functions.iter_mut() {
        load_in(types, function, &info[handle]);
    }
    for (at, entry) in entry_points.iter_mut().enumerate() {
        load_in(types, &mut entry.function, info.get_entry_point(at));
    }
}

fn load_in(types: &naga::UniqueArena<naga::Type>, function: &mut Function, info: &FunctionInfo) {
    let members: Vec<Handle<Expression>> = function
        .expressions
        .iter()
        .filter(|(_, expression)| matches!(expression, Expression::AccessIndex { .. }))
        .map(|(handle, _)| handle)
        .collect();
    for member in members {
        let Expression::AccessIndex { base: load, index } = function.expressions[member] else { continue };
        let Expression::Load { pointer } = function.expressions[load] else { continue };
        // Nothing happens between the two, and the composite has no other use.
        let is_for_it_alone = info[load].ref_count == 1 && load.index() + 1 == member.index();
        let is_in_parts =
            matches!(info[load].ty.inner_with(types), TypeInner::Struct { .. } | TypeInner::Vector { .. });
        if is_for_it_alone && is_in_parts {
            // An expression must precede its users, so the two change places.
            function.expressions[load] = Expression::AccessIndex { base: pointer, index };
            function.expressions[member] = Expression::Load { pointer: load };
        }
    }
}
