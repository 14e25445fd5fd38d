//! Retains all bound resources that a shader declares, used or not, so that users can bind a tensor to each.
//! Other unused items are removed, because they would require capabilities.

use naga::compact::KeepUnused;
use naga::{Expression, Module};

/// Removes items that are neither used nor bound.
pub(crate) fn compact(module: &mut Module) {
    name_bound(module);
    naga::compact::compact(module, KeepUnused::No);
    forget_names(module);
}

/// An item named in an entry point counts as used there.
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

/// Removes those names again: the SPIR-V shows that nothing reads an unused resource.
fn forget_names(module: &mut Module) {
    for entry in &mut module.entry_points {
        let naga::Function { expressions, named_expressions, .. } = &mut entry.function;
        named_expressions.retain(|&named, _| !matches!(expressions[named], Expression::GlobalVariable(_)));
    }
}
