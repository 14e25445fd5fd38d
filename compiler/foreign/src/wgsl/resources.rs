//! What a shader declares: all of it that is bound stays in its words, used or not, so that who binds tensors finds
//! a place for each that the text names. What else is unused goes, for it would ask for capabilities.

use naga::compact::KeepUnused;
use naga::{Expression, Module};

/// Leaves out what nothing uses and nothing binds.
pub(crate) fn compact(module: &mut Module) {
    name_bound(module);
    naga::compact::compact(module, KeepUnused::No);
    forget_names(module);
}

/// What has a name in an entry point counts as used there.
fn name_bound(module: &mut Module) {
    let Module { global_variables, entry_points, .. } = module;
    for (handle, variable) in global_variables.iter() {
        if variable.binding.is_none_or(|binding| binding.group != 0) {
            continue;
        }
        for entry in entry_points.iter_mut() {
            let span = global_variables.get_span(handle);
            let named = entry.function.expressions.append(Expression::GlobalVariable(handle), span);
            entry.function.named_expressions.insert(named, variable.name.clone().unwrap_or_default());
        }
    }
}

/// Nothing reads what is bound and not used, and that shows in the words.
fn forget_names(module: &mut Module) {
    for entry in &mut module.entry_points {
        let naga::Function { expressions, named_expressions, .. } = &mut entry.function;
        named_expressions.retain(|&named, _| !matches!(expressions[named], Expression::GlobalVariable(_)));
    }
}
