//! Functions, lambdas, classes: nested code.

use std::sync::Arc;

use kps_syntax::Span;
use kps_syntax::ast::*;

use super::type_params::is_generic;
use super::{Compiler, Frame, new_code};
use crate::emit::{Operand, Register};
use crate::errors;
use crate::op::Op;
use crate::program::{Capture, Code, CodeKind, Constant, Params};
use crate::scope::{CLASS_CELL, Meaning, ScopeId, ScopeKind, annotations, node};

/// The text of a docstring.
pub(super) fn docstring(body: &[Stmt]) -> Option<Arc<str>> {
    match body.first() {
        Some(Stmt { kind: StmtKind::Expr(Expr { kind: ExprKind::Str(text), .. }), .. }) => Some(text.clone()),
        _ => None,
    }
}

/// The enclosing frame and scope to restore.
pub(super) struct Outer<'a> {
    frame: Frame<'a>,
    scope: ScopeId,
}

impl<'a> Compiler<'a> {
    /// Starts the code of an inner scope.
    pub(super) fn open_frame(&mut self, code: Code, scope: ScopeId) -> Outer<'a> {
        let frame = std::mem::replace(&mut self.frame, Frame::new(code, scope));
        let outer = Outer { frame, scope: self.scope };
        self.scope = scope;
        outer
    }

    /// Ends the inner code and makes it a child of the enclosing frame; returns its index.
    pub(super) fn close_frame(&mut self, outer: Outer<'a>) -> u16 {
        let inner = self.frame.scope;
        let mut code = self.finish_frame();
        self.frame = outer.frame;
        self.scope = outer.scope;
        code.free = self.scopes[inner].free.clone();
        let is_in_class = self.is_class_name(self.frame.scope);
        let captures = code.free.iter().map(|name| match self.scopes.meaning(self.scope, name) {
            _ if is_in_class && &**name == "__class__" => {
                Capture::Local(self.variable(self.frame.scope, CLASS_CELL))
            }
            // A class passes captured names of enclosing functions through, past its own ones.
            Meaning::Local(scope) if self.is_class_name(scope) => {
                let at = self.scopes.free_index(scope, name).expect("the class captures the name");
                Capture::Free(at as u16)
            }
            Meaning::Local(scope) | Meaning::Cell(scope) => Capture::Local(self.variable(scope, name)),
            Meaning::Free(at) => Capture::Free(at as u16),
            Meaning::Global => unreachable!("a captured variable has a home"),
        });
        code.captures = captures.collect();
        self.frame.emitter.code.children.push(Arc::new(code));
        (self.frame.emitter.code.children.len() - 1) as u16
    }

    /// The dotted name of something defined here.
    pub(super) fn qualname(&self, name: &str) -> String {
        let outer = &self.frame.emitter.code;
        match self.scopes[self.scopes.behind_type_params(self.frame.scope)].kind {
            ScopeKind::Module => name.to_owned(),
            ScopeKind::Class => format!("{}.{name}", outer.qualname),
            _ => format!("{}.<locals>.{name}", outer.qualname),
        }
    }

    pub(super) fn function_stmt(&mut self, def: &'a Arc<FunctionDef>) {
        if def.is_async {
            return self.report(errors::async_code(self.location(def.header)));
        }
        let at = self.decorators(&def.decorators);
        let function = self.emitter().alloc();
        self.function(def, function);
        let value = self.decorate(&def.decorators, at, function);
        self.emitter().span = def.header;
        self.store_name(&def.name.name, value);
    }

    /// Evaluates decorators into a row of registers; the first of them.
    fn decorators(&mut self, decorators: &'a [Expr]) -> Register {
        let first = self.emitter().alloc_row(decorators.len());
        for (at, decorator) in decorators.iter().enumerate() {
            self.expr_to(decorator, first + at as u16);
        }
        first
    }

    /// Calls the decorators on the value after them, the last one first.
    fn decorate(&mut self, decorators: &'a [Expr], first: Register, value: Register) -> Operand {
        debug_assert!(value as usize == first as usize + decorators.len());
        for (at, decorator) in decorators.iter().enumerate().rev() {
            self.emitter().span = decorator.span;
            self.emitter().abc(Op::Call, first + at as u16, 1, 0);
        }
        Operand::temporary(first)
    }

    fn function(&mut self, def: &'a Arc<FunctionDef>, dest: Register) {
        if def.type_params.is_empty() {
            let defaults = self.defaults(&def.params);
            return self.function_with(def, defaults, dest);
        }
        let row = self.emitter().alloc();
        let defaults = self.defaults(&def.params);
        debug_assert!(defaults.first == row + 1, "the defaults are the arguments of a call");
        // There they are the first locals.
        let inner = Defaults { first: 0, ..defaults };
        self.with_type_params(&def.type_params, def.header, row, Some(&defaults), |this, made| {
            this.function_with(def, inner, made);
            this.keep_type_params(&def.type_params, made);
        });
        self.emitter().abcx(Op::Move, dest, row, 0, Operand::temporary(row).first());
    }

    fn function_with(&mut self, def: &'a Arc<FunctionDef>, mut defaults: Defaults, dest: Register) {
        defaults.has_annotations = self.annotations(def, defaults.first + 2);
        let scope = self.scopes.at(node(&**def));
        let kind = if self.scopes[scope].is_generator { CodeKind::Generator } else { CodeKind::Function };
        let mut code = new_code(&def.name.name, &self.qualname(&def.name.name), kind);
        code.params = params(&def.params);
        code.def = Some(def.clone());
        code.doc = docstring(&def.body);
        let outer = self.open_frame(code, scope);
        self.emitter().span = def.header;
        self.declare_locals(scope);
        self.block(&def.body);
        self.return_none();
        let child = self.close_frame(outer);
        self.emitter().span = def.header;
        self.make_function(dest, defaults, child);
    }

    pub(super) fn lambda(&mut self, lambda: &'a Arc<Lambda>, dest: Register) {
        let span = self.frame.emitter.span;
        let defaults = self.defaults(&lambda.params);
        let scope = self.scopes.at(node(&**lambda));
        let kind = if self.scopes[scope].is_generator { CodeKind::Generator } else { CodeKind::Function };
        let mut code = new_code("<lambda>", &self.qualname("<lambda>"), kind);
        code.params = params(&lambda.params);
        code.def = Some(Arc::new(lambda.to_function(span)));
        let outer = self.open_frame(code, scope);
        self.emitter().span = span;
        self.declare_locals(scope);
        let value = self.expr(&lambda.body);
        self.emitter().span = lambda.body.span;
        self.emitter().abcx(Op::Return, value.register, 0, 0, value.first());
        let child = self.close_frame(outer);
        self.emitter().span = span;
        self.make_function(dest, defaults, child);
    }

    pub(super) fn make_function(&mut self, dest: Register, defaults: Defaults, child: u16) {
        let flags = defaults.has_positional as u8
            | (defaults.has_keyword as u8) << 1
            | (defaults.has_annotations as u8) << 2;
        self.emitter().abcx(Op::MakeFunction, dest, defaults.first, child, flags);
    }

    /// Stores the source of a function's annotations in a register: a function without parameters that
    /// returns their dict, or a tuple of names and texts. False without annotations.
    fn annotations(&mut self, def: &'a Arc<FunctionDef>, dest: Register) -> bool {
        if annotations(def).next().is_none() {
            return false;
        }
        if self.annotations_are_text {
            let pairs = annotations(def)
                .flat_map(|(name, annotation)| {
                    [Constant::Str(self.mangled(&name)), self.annotation_text(annotation)]
                })
                .collect();
            self.emitter().load_constant(dest, Constant::Tuple(pairs));
            return true;
        }
        let scope = self.scopes.of_annotations(node(&**def)).expect("the annotations were walked");
        let code = new_code("__annotate__", &self.qualname("__annotate__"), CodeKind::Function);
        let outer = self.open_frame(code, scope);
        self.emitter().span = def.header;
        self.declare_locals(scope);
        let dict = self.emitter().alloc();
        self.emitter().abc(Op::BuildDict, dict, dict, 0);
        for (name, annotation) in annotations(def) {
            let mark = self.frame.emitter.mark();
            let key = self.emitter().alloc();
            let name = self.mangled(&name);
            self.emitter().load_constant(key, Constant::Str(name));
            let (key, value) = (Operand::temporary(key), self.expr(annotation));
            self.emitter().span = annotation.span;
            let flags = key.first() | value.second();
            self.emitter().abcx(Op::DictInsert, dict, key.register, value.register, flags);
            self.frame.emitter.release(mark);
        }
        self.emitter().abcx(Op::Return, dict, 0, 0, Operand::temporary(dict).first());
        let child = self.close_frame(outer);
        self.emitter().span = def.header;
        self.make_function(dest, Defaults::none(), child);
        true
    }

    /// An annotation that is stored as text.
    pub(super) fn annotation_text(&self, annotation: &Expr) -> Constant {
        let text = self.source.slice(annotation.span);
        Constant::Str(match &annotation.kind {
            ExprKind::Str(text) if !text.contains(['\'', '\\', '\n']) => format!("'{text}'").into(),
            _ => text.split_whitespace().collect::<Vec<_>>().join(" ").into(),
        })
    }

    /// The tuple of defaults in one register, the dict of keyword defaults in the next; one more is for annotations.
    fn defaults(&mut self, params: &'a Parameters) -> Defaults {
        let positional: Vec<&Expr> = params
            .positional_only
            .iter()
            .chain(&params.regular)
            .filter_map(|param| param.default.as_ref())
            .collect();
        let keyword: Vec<(&Param, &Expr)> = params
            .keyword_only
            .iter()
            .filter_map(|param| param.default.as_ref().map(|default| (param, default)))
            .collect();
        let first = self.emitter().alloc_row(3);
        let mark = self.frame.emitter.mark();
        if !positional.is_empty() {
            let row = self.emitter().alloc_row(positional.len());
            for (at, default) in positional.iter().enumerate() {
                self.expr_to(default, row + at as u16);
            }
            self.emitter().abc(Op::BuildTuple, first, row, positional.len() as u16);
            self.frame.emitter.release(mark);
        }
        if !keyword.is_empty() {
            let row = self.emitter().alloc_row(2 * keyword.len());
            for (at, (param, default)) in keyword.iter().enumerate() {
                let key = row + 2 * at as u16;
                let name = self.mangled(&param.name.name);
                self.emitter().load_constant(key, Constant::Str(name));
                self.expr_to(default, key + 1);
            }
            self.emitter().abc(Op::BuildDict, first + 1, row, keyword.len() as u16);
            self.frame.emitter.release(mark);
        }
        Defaults {
            first,
            has_positional: !positional.is_empty(),
            has_keyword: !keyword.is_empty(),
            has_annotations: false,
        }
    }

    pub(super) fn class_stmt(&mut self, def: &'a Arc<ClassDef>) {
        let at = self.decorators(&def.decorators);
        let class = self.emitter().alloc();
        if def.type_params.is_empty() {
            self.class_def(def, class);
        } else {
            self.with_type_params(&def.type_params, def.header, class, None, |this, made| {
                this.class_def(def, made);
                this.keep_type_params(&def.type_params, made);
            });
        }
        let value = self.decorate(&def.decorators, at, class);
        self.emitter().span = def.header;
        self.store_name(&def.name.name, value);
    }

    /// Creates the class in the register that was allocated last.
    fn class_def(&mut self, def: &'a Arc<ClassDef>, class: Register) {
        let mark = self.frame.emitter.mark();
        let mut n_bases = self.bases(&def.arguments);
        if !def.type_params.is_empty() {
            let register = self.emitter().alloc();
            self.generic_base(&def.type_params, register);
            n_bases += 1;
        }
        let has_keywords = self.class_keywords(&def.arguments);
        // The bases are directly after the body's register, so the body is compiled first, at a mark.
        let child = self.class_body(def);
        self.emitter().span = def.header;
        self.make_function(class, Defaults::none(), child);
        let name = self.name_constant(&def.name.name);
        self.emitter().abcx(Op::MakeClass, class, n_bases, name, has_keywords as u8);
        self.frame.emitter.release(mark);
    }

    /// Evaluates the bases into the registers after the class's; returns their number.
    fn bases(&mut self, arguments: &'a [Argument]) -> u16 {
        let mut n_bases = 0;
        for argument in arguments {
            match &argument.kind {
                ArgumentKind::Positional(base) if n_bases == 0 || is_generic(base) => {
                    let register = self.emitter().alloc();
                    self.expr_to(base, register);
                    n_bases += 1;
                }
                ArgumentKind::Positional(_) | ArgumentKind::Spread(_) => {
                    self.report(errors::multiple_inheritance(self.location(argument.span)));
                }
                ArgumentKind::Keyword(name, _) if &*name.name == "metaclass" => {
                    self.report(errors::class_keyword(&name.name, self.location(argument.span)));
                }
                ArgumentKind::Keyword(..) | ArgumentKind::KeywordSpread(_) => {}
            }
        }
        n_bases
    }

    /// Gathers the keywords of a class in a dict after its bases; false without keywords.
    fn class_keywords(&mut self, arguments: &'a [Argument]) -> bool {
        let is_keyword = |argument: &&Argument| {
            matches!(argument.kind, ArgumentKind::Keyword(..) | ArgumentKind::KeywordSpread(_))
        };
        if !arguments.iter().any(|argument| is_keyword(&argument)) {
            return false;
        }
        self.check_keywords(arguments);
        let dict = self.emitter().alloc();
        self.emitter().abc(Op::BuildDict, dict, dict, 0);
        for argument in arguments.iter().filter(is_keyword) {
            let mark = self.frame.emitter.mark();
            match &argument.kind {
                ArgumentKind::Keyword(name, value) => {
                    let key = self.emitter().alloc();
                    self.emitter().load_constant(key, Constant::Str(name.name.clone()));
                    let (key, value) = (Operand::temporary(key), self.expr(value));
                    let flags = key.first() | value.second();
                    self.emitter().abcx(Op::DictInsert, dict, key.register, value.register, flags);
                }
                _ => {
                    let value = self.expr(argument.value());
                    self.emitter().span = argument.span;
                    self.emitter().abcx(Op::DictUpdate, dict, value.register, 0, value.first());
                }
            }
            self.frame.emitter.release(mark);
        }
        true
    }

    fn class_body(&mut self, def: &'a Arc<ClassDef>) -> u16 {
        let scope = self.scopes.at(node(&**def));
        let mut code = new_code(&def.name.name, &self.qualname(&def.name.name), CodeKind::ClassBody);
        code.class = Some(def.clone());
        code.doc = docstring(&def.body);
        let outer = self.open_frame(code, scope);
        self.emitter().span = def.header;
        self.declare_locals(scope);
        if self.scopes[scope].locals.iter().any(|name| &**name == "__annotations__") {
            let register = self.variable(scope, "__annotations__");
            self.emitter().abc(Op::BuildDict, register, register, 0);
        }
        self.block(&def.body);
        self.emitter().span = def.header;
        let locals = self.emitter().alloc();
        self.emitter().abc(Op::LoadLocals, locals, 0, 0);
        self.emitter().abcx(Op::Return, locals, 0, 0, Operand::temporary(locals).first());
        self.close_frame(outer)
    }

    /// A generator expression: a generator function of one parameter, called with the first iterator.
    pub(super) fn generator(&mut self, element: &'a Expr, clauses: &'a [Comprehension], dest: Register) {
        let span = self.frame.emitter.span;
        let Some(first) = clauses.first() else { return };
        let row = self.emitter().alloc_row(2);
        let iterable = self.expr(&first.iter);
        self.emitter().span = first.iter.span;
        self.emitter().abcx(Op::Iter, row + 1, iterable.register, 0, iterable.first());
        let child = self.generator_code(element, clauses, span);
        self.emitter().span = span;
        self.make_function(row, Defaults::none(), child);
        self.emitter().abc(Op::Call, row, 1, 0);
        self.emitter().abcx(Op::Move, dest, row, 0, Operand::temporary(row).first());
    }

    fn generator_code(&mut self, element: &'a Expr, clauses: &'a [Comprehension], span: Span) -> u16 {
        let scope = self.scopes.at(node(clauses));
        let mut code = new_code("<genexpr>", &self.qualname("<genexpr>"), CodeKind::Generator);
        code.params = Params { n_positional: 1, n_positional_only: 1, ..Params::default() };
        let outer = self.open_frame(code, scope);
        self.emitter().span = span;
        self.declare_locals(scope);
        self.clauses(clauses, Some(0), &mut |this: &mut Self| {
            let value = this.emitter().alloc();
            this.expr_to(element, value);
            this.emitter().span = element.span;
            this.emitter().abc(Op::Yield, value, value, 0);
            this.emitter().abc(Op::Clear, value, 1, 0);
        });
        self.return_none();
        self.close_frame(outer)
    }
}

/// The registers of a function's defaults.
pub(super) struct Defaults {
    pub first: Register,
    pub has_positional: bool,
    pub has_keyword: bool,
    pub has_annotations: bool,
}

impl Defaults {
    pub fn none() -> Defaults {
        Defaults { first: 0, has_positional: false, has_keyword: false, has_annotations: false }
    }
}

fn params(params: &Parameters) -> Params {
    Params {
        n_positional_only: params.positional_only.len() as u16,
        n_positional: (params.positional_only.len() + params.regular.len()) as u16,
        n_keyword_only: params.keyword_only.len() as u16,
        has_var_positional: params.var_positional.is_some(),
        has_var_keyword: params.var_keyword.is_some(),
    }
}
