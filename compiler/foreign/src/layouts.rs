//! Values of one struct, or of one array, with different layouts. naga's front end for GLSL lays a struct out anew for
//! each kind of block, and arrays in structs as those in uniform blocks; what comes out is another type: such a value is
//! put together anew, of the type that is wanted, where it is stored or returned, and an array that a struct is written
//! out of is made as it lies there. As an argument, naga's front end refuses it.

use naga::front::Typifier;
use naga::proc::{ResolveContext, TypeResolution};
use naga::{
    Arena, ArraySize, Block, Expression, Function, Handle, Module, Range, Span, Statement, Type, TypeInner,
    UniqueArena,
};
use rustc_hash::FxHashSet;

use crate::statements;

pub(crate) fn convert(module: &mut Module) {
    if !has_type_twice(module) {
        return;
    }
    let Module { types, global_expressions, functions, entry_points, .. } = &mut *module;
    make_parts(types, global_expressions);
    functions.iter_mut().for_each(|(_, function)| make_parts(types, &mut function.expressions));
    entry_points.iter_mut().for_each(|entry| make_parts(types, &mut entry.function.expressions));
    let handles: Vec<Handle<Function>> = module.functions.iter().map(|(handle, _)| handle).collect();
    for handle in handles {
        let mut function = std::mem::take(module.functions.get_mut(handle));
        convert_in(module, &mut function);
        *module.functions.get_mut(handle) = function;
    }
}

/// Whether a struct or an array is there with two layouts.
fn has_type_twice(module: &Module) -> bool {
    let (mut names, mut arrays) = (FxHashSet::default(), FxHashSet::default());
    module.types.iter().any(|(_, ty)| match &ty.inner {
        TypeInner::Struct { .. } => ty.name.as_ref().is_some_and(|name| !names.insert(name)),
        TypeInner::Array { base, size, .. } => !arrays.insert((*base, *size)),
        _ => false,
    })
}

/// The type of each part that a struct or an array of constant length has.
fn parts(types: &UniqueArena<Type>, ty: Handle<Type>) -> Vec<Handle<Type>> {
    match &types[ty].inner {
        TypeInner::Struct { members, .. } => members.iter().map(|member| member.ty).collect(),
        TypeInner::Array { base, size: ArraySize::Constant(length), .. } => {
            vec![*base; length.get() as usize]
        }
        _ => Vec::new(),
    }
}

/// Whether two types have the same parts, wherever these lie.
fn is_relaid(types: &UniqueArena<Type>, one: Handle<Type>, other: Handle<Type>) -> bool {
    if one == other {
        return true;
    }
    match (&types[one].inner, &types[other].inner) {
        (TypeInner::Struct { members, .. }, TypeInner::Struct { members: others, .. }) => {
            let mut pairs = members.iter().zip(others);
            types[one].name == types[other].name
                && members.len() == others.len()
                && pairs.all(|(member, other)| is_relaid(types, member.ty, other.ty))
        }
        (TypeInner::Array { base, size, .. }, TypeInner::Array { base: other, size: other_size, .. }) => {
            size == other_size && is_relaid(types, *base, *other)
        }
        _ => false,
    }
}

/// Gives what is written out as a part of something the layout that it has there.
fn make_parts(types: &UniqueArena<Type>, expressions: &mut Arena<Expression>) {
    // A whole stands behind its parts.
    let handles: Vec<Handle<Expression>> = expressions.iter().map(|(handle, _)| handle).collect();
    for handle in handles.into_iter().rev() {
        let Expression::Compose { ty, components } = &expressions[handle] else { continue };
        for (wanted, part) in parts(types, *ty).into_iter().zip(components.clone()) {
            if let Expression::Compose { ty, .. } = &mut expressions[part]
                && is_relaid(types, *ty, wanted)
            {
                *ty = wanted;
            }
        }
    }
}

fn convert_in(module: &Module, function: &mut Function) {
    let Function { arguments, result, local_variables, expressions, body, .. } = function;
    let mut typifier = Typifier::new();
    let Some((last, _)) = expressions.iter().last() else { return };
    let context = ResolveContext::with_locals(module, local_variables, arguments);
    // What has no type is a mistake that is told where the module is checked.
    if typifier.grow(last, expressions, &context).is_err() {
        return;
    }
    let result = result.as_ref().map(|result| result.ty);
    let mut values = Values { module, typifier, expressions };
    *body = statements::replaced(std::mem::take(body), &mut |mut statement, span, to| {
        match &mut statement {
            Statement::Store { pointer, value } => {
                let wanted = values.pointee(*pointer);
                *value = values.wanted(*value, wanted, span, to);
            }
            Statement::Return { value: Some(value) } => *value = values.wanted(*value, result, span, to),
            _ => {}
        }
        to.push(statement, span);
    });
}

/// The values of a function.
struct Values<'f> {
    module: &'f Module,
    /// The types of those that were there from the start.
    typifier: Typifier,
    expressions: &'f mut Arena<Expression>,
}

impl Values<'_> {
    fn pointee(&self, pointer: Handle<Expression>) -> Option<Handle<Type>> {
        match *self.typifier.get(pointer, &self.module.types) {
            TypeInner::Pointer { base, .. } => Some(base),
            _ => None,
        }
    }

    /// A value with the layout that is wanted, which most have.
    fn wanted(
        &mut self,
        value: Handle<Expression>,
        wanted: Option<Handle<Type>>,
        span: Span,
        to: &mut Block,
    ) -> Handle<Expression> {
        let (TypeResolution::Handle(given), Some(wanted)) = (&self.typifier[value], wanted) else {
            return value;
        };
        match *given != wanted && is_relaid(&self.module.types, *given, wanted) {
            true => self.put_together(value, (*given, wanted), span, to),
            false => value,
        }
    }

    fn put_together(
        &mut self,
        value: Handle<Expression>,
        (given, wanted): (Handle<Type>, Handle<Type>),
        span: Span,
        to: &mut Block,
    ) -> Handle<Expression> {
        let types = &self.module.types;
        let parts = parts(types, given).into_iter().zip(parts(types, wanted));
        let mut components = Vec::new();
        for (index, (given, wanted)) in (0..).zip(parts) {
            let part = self.computed(Expression::AccessIndex { base: value, index }, span, to);
            components.push(match given == wanted {
                true => part,
                false => self.put_together(part, (given, wanted), span, to),
            });
        }
        self.computed(Expression::Compose { ty: wanted, components }, span, to)
    }

    fn computed(&mut self, value: Expression, span: Span, to: &mut Block) -> Handle<Expression> {
        let value = self.expressions.append(value, span);
        to.push(Statement::Emit(Range::new_from_bounds(value, value)), span);
        value
    }
}
