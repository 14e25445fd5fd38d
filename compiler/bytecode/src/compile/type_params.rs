//! Type parameters: `class Stack[T]`, `def first[T](items: list[T]) -> T`, `type Pair[T] = tuple[T, T]`.
//!
//! A definition with type parameters is created in a separate function, whose locals are the type variables.

use kps_syntax::Span;
use kps_syntax::ast::*;

use super::function::Defaults;
use super::{Compiler, new_code};
use crate::emit::{Operand, Register};
use crate::op::Op;
use crate::program::{CodeKind, Constant, Params};
use crate::scope::node;

impl<'a> Compiler<'a> {
    /// Lets `make` create a value in a scope with the type variables, and moves it to `dest`. Defaults are
    /// directly after `dest`; they are passed in, because they do not see the type variables.
    pub(super) fn with_type_params(
        &mut self,
        params: &'a [TypeParam],
        span: Span,
        dest: Register,
        defaults: Option<&Defaults>,
        make: impl FnOnce(&mut Self, Register),
    ) {
        let scope = self.scopes.at(node(params));
        let qualname = self.frame.emitter.code.qualname.clone();
        let mut code = new_code("<type parameters>", &qualname, CodeKind::Function);
        let n_args = if defaults.is_some() { 2 } else { 0 };
        code.params = Params { n_positional: n_args, n_positional_only: n_args, ..Params::default() };
        let outer = self.open_frame(code, scope);
        self.emitter().span = span;
        self.declare_locals(scope);
        params.iter().for_each(|param| self.type_param(param));
        let made = self.emitter().alloc();
        make(self, made);
        self.emitter().span = span;
        self.emitter().abcx(Op::Return, made, 0, 0, Operand::temporary(made).first());
        let child = self.close_frame(outer);
        self.emitter().span = span;
        for (at, is_there) in
            defaults.into_iter().flat_map(|given| [given.has_positional, given.has_keyword]).enumerate()
        {
            if !is_there {
                self.emitter().load_constant(dest + 1 + at as u16, Constant::None);
            }
        }
        self.make_function(dest, Defaults::none(), child);
        self.emitter().abc(Op::Call, dest, n_args, 0);
    }

    /// `object.__type_params__ = (T, ..)`.
    pub(super) fn keep_type_params(&mut self, params: &'a [TypeParam], object: Register) {
        let mark = self.frame.emitter.mark();
        let tuple = self.type_variables(params);
        let site = self.site(&"__type_params__".into());
        self.emitter().abcx(Op::StoreAttr, object, tuple, site, Operand::temporary(tuple).second());
        self.frame.emitter.release(mark);
    }

    /// Leaves `Generic[T, ..]` in a register.
    pub(super) fn generic_base(&mut self, params: &'a [TypeParam], dest: Register) {
        let mark = self.frame.emitter.mark();
        self.member_of_typing("Generic", dest);
        let tuple = self.type_variables(params);
        let flags = Operand::temporary(dest).first() | Operand::temporary(tuple).second();
        self.emitter().abcx(Op::LoadItem, dest, dest, tuple, flags);
        self.frame.emitter.release(mark);
    }

    fn type_variables(&mut self, params: &'a [TypeParam]) -> Register {
        let row = self.emitter().alloc_row(params.len());
        for (at, param) in params.iter().enumerate() {
            self.name_to(&param.name.name, row + at as u16);
        }
        self.emitter().abc(Op::BuildTuple, row, row, params.len() as u16);
        row
    }

    fn type_param(&mut self, param: &'a TypeParam) {
        let mark = self.frame.emitter.mark();
        self.emitter().span = param.span;
        let row = self.emitter().alloc_row(4);
        self.member_of_typing("_declared", row);
        let (kind, bound) = match &param.kind {
            TypeParamKind::TypeVar { bound } => ("TypeVar", bound.as_ref()),
            TypeParamKind::TypeVarTuple => ("TypeVarTuple", None),
            TypeParamKind::ParamSpec => ("ParamSpec", None),
        };
        self.emitter().load_constant(row + 1, Constant::Str(kind.into()));
        self.emitter().load_constant(row + 2, Constant::Str(param.name.name.clone()));
        match bound {
            Some(bound) => self.bound(bound, row + 3),
            None => self.emitter().load_constant(row + 3, Constant::None),
        }
        self.emitter().span = param.span;
        self.emitter().abc(Op::Call, row, 3, 0);
        self.store_name(&param.name.name, Operand::temporary(row));
        self.frame.emitter.release(mark);
    }

    /// A function that evaluates the bound of a type variable: it may name later definitions.
    fn bound(&mut self, bound: &'a Expr, dest: Register) {
        let scope = self.scopes.of_annotations(node(bound)).expect("the bound was walked");
        let code = new_code("__evaluate__", &self.qualname("__evaluate__"), CodeKind::Function);
        let outer = self.open_frame(code, scope);
        self.emitter().span = bound.span;
        self.declare_locals(scope);
        let value = self.expr(bound);
        self.emitter().abcx(Op::Return, value.register, 0, 0, value.first());
        let child = self.close_frame(outer);
        self.make_function(dest, Defaults::none(), child);
    }

    fn member_of_typing(&mut self, name: &str, dest: Register) {
        let module = self.name_constant("typing");
        self.emitter().abcx(Op::Import, dest, module, 0, 1);
        let site = self.site(&name.into());
        self.emitter().abcx(Op::LoadAttr, dest, dest, site, Operand::temporary(dest).first());
    }
}

/// Whether a base beside the first one is `Generic[..]`, which only declares type variables.
pub(super) fn is_generic(base: &Expr) -> bool {
    let ExprKind::Subscript { value, .. } = &base.kind else { return false };
    match &value.kind {
        ExprKind::Name(name) => &**name == "Generic",
        ExprKind::Attribute { attr, .. } => &*attr.name == "Generic",
        _ => false,
    }
}
