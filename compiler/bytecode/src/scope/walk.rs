//! Walks a module to find its scopes, and the names bound and used in each.

use kps_syntax::ast::*;
use kps_syntax::{Part, Span};

use super::{Declared, ScopeKind, Walker, node};
use crate::errors;

impl Walker<'_> {
    pub(super) fn block(&mut self, body: &[Stmt]) {
        for stmt in body {
            self.stmt(stmt);
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::AnnAssign { target, annotation, value } => {
                if self.scope().kind == ScopeKind::Class {
                    if !self.annotations_are_text {
                        self.expr(annotation);
                    }
                    self.bind(&"__annotations__".into());
                } else {
                    self.declaration(annotation);
                }
                self.optional(value.as_ref());
                self.target(target);
            }
            StmtKind::Delete(targets) => targets.iter().for_each(|target| self.delete(target)),
            StmtKind::Global(names) => self.declare(names, Declared::Global),
            StmtKind::Nonlocal(names) => self.declare(names, Declared::Nonlocal),
            StmtKind::Try(of) => {
                self.parts(stmt);
                // The name of an exception is unbound after its handler.
                let names = of.handlers.iter().filter_map(|handler| handler.name.as_ref());
                let names: Vec<Name> = names.map(|ident| self.mangled(&ident.name)).collect();
                self.scope().deleted.extend(names);
            }
            StmtKind::Function(def) => self.function(def),
            StmtKind::Class(def) => {
                def.decorators.iter().for_each(|decorator| self.expr(decorator));
                self.bind(&def.name.name);
                self.with_type_params(&def.type_params, &[], |this| {
                    def.arguments.iter().for_each(|argument| this.expr(argument.value()));
                    this.class_body(def);
                });
            }
            StmtKind::TypeAlias { name, type_params, value } => {
                self.bind(&name.name);
                self.with_type_params(type_params, &[], |this| this.expr(value));
            }
            _ => self.parts(stmt),
        }
    }

    fn parts(&mut self, stmt: &Stmt) {
        stmt.each_part(&mut |part| self.part(part));
    }

    fn part(&mut self, part: Part) {
        match part {
            Part::Expr(expr) | Part::Place(expr) => self.expr(expr),
            Part::Name(name, _) => self.bind(name),
            Part::Block(body) => self.block(body),
        }
    }

    fn target(&mut self, target: &Expr) {
        target.each_target(&mut |part| self.part(part));
    }

    fn function(&mut self, def: &FunctionDef) {
        def.decorators.iter().for_each(|decorator| self.expr(decorator));
        self.defaults(&def.params);
        self.bind(&def.name.name);
        // The defaults and the annotations are parameters.
        let given = [".defaults", ".keyword_defaults", ".annotations"];
        self.with_type_params(&def.type_params, &given, |this| this.function_code(def));
    }

    fn function_code(&mut self, def: &FunctionDef) {
        self.annotations(def);
        self.open(node(def), ScopeKind::Function);
        self.params(&def.params);
        let declared =
            def.params.iter().flat_map(|param| param.annotation.iter().chain(tuple_default(param)));
        declared.chain(&def.returns).for_each(|declaration| self.declaration(declaration));
        self.block(&def.body);
        self.close();
    }

    /// Walks a definition with type parameters, in their scope. `given` are its first locals.
    fn with_type_params(&mut self, params: &[TypeParam], given: &[&str], walk: impl FnOnce(&mut Self)) {
        if params.is_empty() {
            return walk(self);
        }
        self.open(node(params), ScopeKind::Function);
        self.scope().is_of_type_params = true;
        given.iter().for_each(|name| self.bind(&(*name).into()));
        params.iter().for_each(|param| self.bind(&param.name.name));
        for param in params {
            if let TypeParamKind::TypeVar { bound: Some(bound) } = &param.kind {
                let id = self.open_scope(ScopeKind::Function);
                self.scopes.annotations.insert(node(bound), id);
                self.expr(bound);
                self.close();
            }
        }
        walk(self);
        self.close();
    }

    /// Annotations are evaluated on demand, in a function beside the annotated one.
    fn annotations(&mut self, def: &FunctionDef) {
        let annotations: Vec<&Expr> = annotations(def).map(|(_, annotation)| annotation).collect();
        let Some(first) = annotations.first() else { return };
        if self.annotations_are_text {
            return;
        }
        let around = self.scopes.behind_type_params(self.current);
        let class = (self.scopes[around].kind == ScopeKind::Class).then_some(around);
        let id = self.open_scope(ScopeKind::Function);
        self.scopes.annotations.insert(node(def), id);
        self.scope().is_of_annotations = true;
        annotations.iter().for_each(|annotation| self.expr(annotation));
        if let Some(class) = class {
            let members = &self.scopes[class].declared;
            if self.scopes[id].used.iter().any(|name| members.contains_key(name)) {
                self.use_name(&"__class__".into(), first.span);
            }
        }
        self.close();
    }

    /// Code that never runs, but that kernels read: names in it are captured as used ones are, and may still
    /// be declared `global` or `nonlocal`.
    fn declaration(&mut self, declaration: &Expr) {
        let used = self.scope().used.clone();
        match &declaration.kind {
            ExprKind::Str(text) => {
                let words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
                words.for_each(|word| self.use_name(&word.into(), declaration.span));
            }
            _ => {
                let around = std::mem::replace(&mut self.in_declaration, true);
                self.expr(declaration);
                self.in_declaration = around;
            }
        }
        self.scope().used = used;
    }

    fn defaults(&mut self, params: &Parameters) {
        for param in params.iter() {
            self.optional(param.default.as_ref());
        }
    }

    fn params(&mut self, params: &Parameters) {
        let ordered = params.positional_only.iter().chain(&params.regular).chain(&params.keyword_only);
        for param in ordered.chain(&params.var_positional).chain(&params.var_keyword) {
            let name = self.mangled(&param.name.name);
            if self.scope().declared.contains_key(&name) {
                let location = self.source.at(param.name.span);
                self.diagnostics.push(errors::duplicate_parameter(&param.name.name, location));
            }
            self.bind(&param.name.name);
        }
    }

    fn class_body(&mut self, def: &ClassDef) {
        self.open(node(def), ScopeKind::Class);
        let class = def.name.name.trim_start_matches('_');
        self.scope().private = (!class.is_empty()).then(|| class.into());
        self.block(&def.body);
        self.close();
    }

    fn delete(&mut self, target: &Expr) {
        match &target.kind {
            ExprKind::Name(name) => {
                self.bind(name);
                let name = self.mangled(name);
                self.scope().deleted.insert(name);
            }
            ExprKind::Tuple(items) | ExprKind::List(items) => {
                items.iter().for_each(|item| self.delete(item));
            }
            _ => self.expr(target),
        }
    }

    fn optional(&mut self, expr: Option<&Expr>) {
        if let Some(expr) = expr {
            self.expr(expr);
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Name(name) => self.use_name(name, expr.span),
            ExprKind::Walrus { target, value } => {
                self.expr(value);
                self.bind_walrus(target);
            }
            ExprKind::Lambda(lambda) => {
                self.defaults(&lambda.params);
                self.open(node(&**lambda), ScopeKind::Function);
                self.params(&lambda.params);
                self.expr(&lambda.body);
                self.close();
            }
            ExprKind::ListComp { element, clauses } | ExprKind::SetComp { element, clauses } => {
                self.comprehension(clauses, ScopeKind::Comprehension, &[element]);
            }
            ExprKind::DictComp { key, value, clauses } => {
                self.comprehension(clauses, ScopeKind::Comprehension, &[key, value]);
            }
            ExprKind::Generator { element, clauses } => {
                self.comprehension(clauses, ScopeKind::Generator, &[element]);
            }
            _ => {
                if let ExprKind::Yield(_) | ExprKind::YieldFrom(_) = expr.kind {
                    self.mark_generator(expr.span);
                }
                expr.each_child(&mut |child| self.expr(child));
            }
        }
    }

    fn mark_generator(&mut self, span: Span) {
        let frame = self.scopes.frame_of(self.current);
        if self.scopes[frame].kind != ScopeKind::Function {
            self.diagnostics.push(errors::yield_outside_function(self.source.at(span)));
        }
        self.scopes.scopes[frame.0 as usize].is_generator = true;
    }

    /// The first iterable belongs to the enclosing scope; all else is inside.
    fn comprehension(&mut self, clauses: &[Comprehension], kind: ScopeKind, elements: &[&Expr]) {
        let Some((first, others)) = clauses.split_first() else { return };
        self.expr(&first.iter);
        self.open(node(clauses), kind);
        if kind == ScopeKind::Generator {
            self.bind(&".0".into());
            self.scope().is_generator = true;
        }
        self.target(&first.target);
        first.conditions.iter().for_each(|condition| self.expr(condition));
        for clause in others {
            self.expr(&clause.iter);
            self.target(&clause.target);
            clause.conditions.iter().for_each(|condition| self.expr(condition));
        }
        elements.iter().for_each(|element| self.expr(element));
        self.close();
    }
}

/// PyShader's declaration of a parameter: `("buffer", 0, Array(f32))`.
fn tuple_default(param: &Param) -> Option<&Expr> {
    param.default.as_ref().filter(|default| matches!(default.kind, ExprKind::Tuple(_)))
}

/// The annotations of a function's parameters in CPython's order, and of its result.
pub(crate) fn annotations(def: &FunctionDef) -> impl Iterator<Item = (Name, &Expr)> {
    let params = &def.params;
    let ordered = params.regular.iter().chain(&params.positional_only).chain(&params.var_positional);
    let params = ordered
        .chain(&params.keyword_only)
        .chain(&params.var_keyword)
        .filter_map(|param| Some((param.name.name.clone(), param.annotation.as_ref()?)));
    params.chain(def.returns.iter().map(|returns| ("return".into(), returns)))
}
