//! Members of blocks whose last one is an array of any length. naga's front end for GLSL loads the whole block to read
//! a member of one with a name (`block.n`), which nobody can: the member alone comes to be loaded.

use naga::{Expression, Function, Handle, Module, TypeInner};
use rustc_hash::FxHashMap;

pub(crate) fn load_members(module: &mut Module) {
    let Module { types, global_variables, functions, entry_points, .. } = module;
    let unsized_members: FxHashMap<_, Vec<bool>> = global_variables
        .iter()
        .filter_map(|(handle, variable)| match &types[variable.ty].inner {
            TypeInner::Struct { members, .. } => {
                let is_unsized = |member: &naga::StructMember| is_unsized(&types[member.ty].inner);
                Some((handle, members.iter().map(is_unsized).collect::<Vec<bool>>()))
            }
            _ => None,
        })
        .filter(|(_, members)| members.contains(&true))
        .collect();
    if unsized_members.is_empty() {
        return;
    }
    let functions = functions.iter_mut().map(|(_, function)| function);
    for function in functions.chain(entry_points.iter_mut().map(|entry| &mut entry.function)) {
        for Loaded { member, load, pointer, index } in loaded_members(function) {
            let Expression::GlobalVariable(variable) = function.expressions[pointer] else { continue };
            let Some(members) = unsized_members.get(&variable) else { continue };
            let address = Expression::AccessIndex { base: pointer, index };
            // What stands first is what the second is made of, so they change places.
            function.expressions[load] = address.clone();
            function.expressions[member] = match members[index as usize] {
                true => address,
                false => Expression::Load { pointer: load },
            };
        }
    }
}

fn is_unsized(inner: &TypeInner) -> bool {
    matches!(inner, TypeInner::Array { size: naga::ArraySize::Dynamic, .. })
}

/// A member of a block that was loaded for it alone.
struct Loaded {
    member: Handle<Expression>,
    load: Handle<Expression>,
    /// Of the block.
    pointer: Handle<Expression>,
    /// Which member it is.
    index: u32,
}

fn loaded_members(function: &Function) -> Vec<Loaded> {
    let mut n_uses: FxHashMap<Handle<Expression>, usize> = FxHashMap::default();
    let mut found = Vec::new();
    for (member, expression) in function.expressions.iter() {
        let Expression::AccessIndex { base: load, index } = *expression else { continue };
        let Expression::Load { pointer } = function.expressions[load] else { continue };
        *n_uses.entry(load).or_default() += 1;
        found.push(Loaded { member, load, pointer, index });
    }
    found.retain(|loaded| n_uses[&loaded.load] == 1);
    found
}
