//! Copies elements and members whose addresses are passed to functions (`bump(&counts[i])`), which naga's
//! writer cannot emit. The function gets the address of a variable. The element is copied to it before the
//! call and back after it. WGSL makes the difference invisible: two pointers of a call must not alias if
//! either is written.
//! that either changes.

use naga::proc::TypeResolution;
use naga::valid::{FunctionInfo, ModuleInfo};
use naga::{
    Block, Expression, Function, Handle, LocalVariable, Module, Range, Span, Statement, Type, TypeInner,
    UniqueArena,
};

use crate::wgsl::statements;

pub(crate) fn copy_for_calls(module: &mut Module, info: &ModuleInfo) {
    let Module { types, functions, entry_points, .. } = module;
    for (handle, function) in functions.iter_mut() {
        copy_in(types, function, &info[handle]);
    }
    for (at, entry) in entry_points.iter_mut().enumerate() {
        copy_in(types, &mut entry.function, info.get_entry_point(at));
    }
}

fn copy_in(types: &mut UniqueArena<Type>, function: &mut Function, info: &FunctionInfo) {
    let body = std::mem::take(&mut function.body);
    let mut copies = Copies { types, function, info };
    let body = statements::replaced(body, &mut |statement, span, to| copies.statement(statement, span, to));
    function.body = body;
}

struct Copies<'f> {
    types: &'f mut UniqueArena<Type>,
    function: &'f mut Function,
    info: &'f FunctionInfo,
}

impl Copies<'_> {
    fn statement(&mut self, statement: Statement, span: Span, to: &mut Block) {
        let Statement::Call { function, arguments, result } = statement else {
            return to.push(statement, span);
        };
        let elements: Vec<(usize, Handle<Type>)> =
            arguments.iter().enumerate().filter_map(|(at, one)| Some((at, self.element(*one)?))).collect();
        self.call((function, arguments, result), &elements, span, to);
    }

    /// The type that an argument points to, if that is a part of a composite.
    fn element(&mut self, argument: Handle<Expression>) -> Option<Handle<Type>> {
        let is_part = matches!(
            self.function.expressions[argument],
            Expression::Access { .. } | Expression::AccessIndex { .. }
        );
        if !is_part {
            return None;
        }
        let TypeResolution::Value(inner) = &self.info[argument].ty else { return None };
        let scalar_or_vector = match *inner {
            TypeInner::Pointer { base, .. } => return Some(base),
            TypeInner::ValuePointer { size: None, scalar, .. } => TypeInner::Scalar(scalar),
            TypeInner::ValuePointer { size: Some(size), scalar, .. } => TypeInner::Vector { size, scalar },
            _ => return None,
        };
        Some(self.types.insert(Type { name: None, inner: scalar_or_vector }, Span::UNDEFINED))
    }

    fn call(
        &mut self,
        (function, mut arguments, result): (
            Handle<Function>,
            Vec<Handle<Expression>>,
            Option<Handle<Expression>>,
        ),
        elements: &[(usize, Handle<Type>)],
        span: Span,
        to: &mut Block,
    ) {
        let mut back = Vec::new();
        for &(at, ty) in elements {
            let variable = LocalVariable { name: None, ty, init: None };
            let variable = self.function.local_variables.append(variable, Span::UNDEFINED);
            let copy = self.function.expressions.append(Expression::LocalVariable(variable), Span::UNDEFINED);
            let element = std::mem::replace(&mut arguments[at], copy);
            self.copy(element, copy, span, to);
            back.push((copy, element));
        }
        to.push(Statement::Call { function, arguments, result }, span);
        for (copy, element) in back {
            self.copy(copy, element, span, to);
        }
    }

    fn copy(&mut self, from: Handle<Expression>, pointer: Handle<Expression>, span: Span, to: &mut Block) {
        let value = self.function.expressions.append(Expression::Load { pointer: from }, span);
        to.push(Statement::Emit(Range::new_from_bounds(value, value)), span);
        to.push(Statement::Store { pointer, value }, span);
    }
}
