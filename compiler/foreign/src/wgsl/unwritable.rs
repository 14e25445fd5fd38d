//! Reports, before SPIR-V is emitted, what naga reads and cannot emit as valid SPIR-V.

use kps_syntax::{Diagnostic, Diagnostics, Source};
use naga::valid::{FunctionInfo, ModuleInfo};
use naga::{
    Expression, Function, ImageClass, MathFunction as Math, Module, Scalar, StorageAccess, StorageFormat,
    TypeInner,
};

use crate::errors;

pub(crate) fn check(source: &Source, module: &Module, info: &ModuleInfo) -> Result<(), Diagnostics> {
    let mut found = Diagnostics::default();
    found.extend(module.global_variables.iter().filter_map(|(handle, variable)| {
        let TypeInner::Image { class, .. } = module.types[variable.ty].inner else { return None };
        let location = errors::location(source, module.global_variables.get_span(handle));
        image(class, location)
    }));
    for (handle, function) in module.functions.iter() {
        found.extend(wide_math(source, module, function, &info[handle]));
    }
    for (at, entry) in module.entry_points.iter().enumerate() {
        found.extend(wide_math(source, module, &entry.function, info.get_entry_point(at)));
    }
    if found.is_empty() { Ok(()) } else { Err(found) }
}

fn image(class: ImageClass, location: kps_syntax::Location) -> Option<Diagnostic> {
    match class {
        ImageClass::External => Some(errors::external_image(location)),
        ImageClass::Storage { format: StorageFormat::Bgra8Unorm, access }
            if access.contains(StorageAccess::LOAD) =>
        {
            Some(errors::blue_first_image(location))
        }
        _ => None,
    }
}

/// Functions of 64-bit floats that SPIR-V lacks.
fn wide_math<'f>(
    source: &'f Source,
    module: &'f Module,
    function: &'f Function,
    info: &'f FunctionInfo,
) -> impl Iterator<Item = Diagnostic> + 'f {
    function.expressions.iter().filter_map(move |(handle, expression)| {
        let Expression::Math { fun, arg, .. } = *expression else { return None };
        let is_wide = info[arg].ty.inner_with(&module.types).scalar() == Some(Scalar::F64);
        (is_wide && is_narrow(fun))
            .then(|| errors::wide_math(errors::name_location(source, function.expressions.get_span(handle))))
    })
}

/// Functions that GLSL.std.450 has for floats of 16 and 32 bits only.
fn is_narrow(function: Math) -> bool {
    let angles = [Math::Radians, Math::Degrees, Math::Sin, Math::Cos, Math::Tan, Math::Asin, Math::Acos];
    let hyperbolic = [Math::Sinh, Math::Cosh, Math::Tanh, Math::Asinh, Math::Acosh, Math::Atanh];
    let others = [Math::Atan, Math::Atan2, Math::Pow, Math::Exp, Math::Exp2, Math::Log, Math::Log2];
    angles.contains(&function) || hyperbolic.contains(&function) || others.contains(&function)
}
