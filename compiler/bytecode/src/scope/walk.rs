//! The walk over a module that finds its scopes, and what is bound and used in each.

use kps_syntax::Span;
use kps_syntax::ast::*;

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
            StmtKind::Expr(expr) => self.expr(expr),
            StmtKind::Assign { targets, value } => {
                self.expr(value);
                targets.iter().for_each(|target| self.target(target));
            }
            StmtKind::AugAssign { target, value, .. } => {
                if let ExprKind::Name(name) = &target.kind {
                    self.use_name(name, target.span);
                }
                self.expr(value);
                self.target(target);
            }
            StmtKind::AnnAssign { target, annotation, value } => {
                if self.scope().kind == ScopeKind::Class {
                    self.expr(annotation);
                    self.bind(&"__annotations__".into());
                } else {
                    self.declaration(annotation);
                }
                if let Some(value) = value {
                    self.expr(value);
                }
                self.target(target);
            }
            StmtKind::TypeAlias { name, value, .. } => {
                self.expr(value);
                self.bind(&name.name);
            }
            StmtKind::Delete(targets) => targets.iter().for_each(|target| self.delete(target)),
            StmtKind::Return(value) => self.optional(value.as_ref()),
            StmtKind::Raise { exception, cause } => {
                self.optional(exception.as_ref());
                self.optional(cause.as_ref());
            }
            StmtKind::Global(names) => self.declare(names, Declared::Global),
            StmtKind::Nonlocal(names) => self.declare(names, Declared::Nonlocal),
            StmtKind::Pass | StmtKind::Break | StmtKind::Continue | StmtKind::Error => {}
            StmtKind::Assert { test, message } => {
                self.expr(test);
                self.optional(message.as_ref());
            }
            StmtKind::Import(names) => {
                for import in names {
                    let bound = import.alias.as_ref().unwrap_or(&import.path[0]);
                    self.bind(&bound.name);
                }
            }
            StmtKind::ImportFrom(import) => {
                if let ImportedNames::Names(names) = &import.names {
                    for import in names {
                        let bound = import.alias.as_ref().unwrap_or(&import.path[0]);
                        self.bind(&bound.name);
                    }
                }
            }
            StmtKind::If { branches, orelse } => {
                for branch in branches {
                    self.expr(&branch.test);
                    self.block(&branch.body);
                }
                self.block(orelse);
            }
            StmtKind::While { test, body, orelse } => {
                self.expr(test);
                self.block(body);
                self.block(orelse);
            }
            StmtKind::For { target, iter, body, orelse, .. } => {
                self.expr(iter);
                self.target(target);
                self.block(body);
                self.block(orelse);
            }
            StmtKind::With { items, body, .. } => {
                for item in items {
                    self.expr(&item.context);
                    if let Some(target) = &item.target {
                        self.target(target);
                    }
                }
                self.block(body);
            }
            StmtKind::Try(stmt) => self.try_stmt(stmt),
            StmtKind::Match { subject, cases } => {
                self.expr(subject);
                for case in cases {
                    self.pattern(&case.pattern);
                    self.optional(case.guard.as_ref());
                    self.block(&case.body);
                }
            }
            StmtKind::Function(def) => self.function(def),
            StmtKind::Class(def) => self.class(def),
        }
    }

    fn try_stmt(&mut self, stmt: &Try) {
        self.block(&stmt.body);
        for handler in &stmt.handlers {
            self.optional(handler.exception.as_ref());
            if let Some(name) = &handler.name {
                self.bind(&name.name);
                self.scope().deleted.insert(name.name.clone());
            }
            self.block(&handler.body);
        }
        self.block(&stmt.orelse);
        self.block(&stmt.finally);
    }

    fn pattern(&mut self, pattern: &Pattern) {
        match &pattern.kind {
            PatternKind::Wildcard | PatternKind::Error | PatternKind::Star(None) => {}
            PatternKind::Capture(name) | PatternKind::Star(Some(name)) => self.bind(&name.name),
            PatternKind::Value(value) | PatternKind::Singleton(value) => self.expr(value),
            PatternKind::Sequence(patterns) | PatternKind::Or(patterns) => {
                patterns.iter().for_each(|pattern| self.pattern(pattern));
            }
            PatternKind::Mapping { items, rest } => {
                for (key, pattern) in items {
                    self.expr(key);
                    self.pattern(pattern);
                }
                if let Some(rest) = rest {
                    self.bind(&rest.name);
                }
            }
            PatternKind::Class { class, positional, keywords } => {
                self.expr(class);
                positional.iter().for_each(|pattern| self.pattern(pattern));
                keywords.iter().for_each(|(_, pattern)| self.pattern(pattern));
            }
            PatternKind::As { pattern, name } => {
                self.pattern(pattern);
                self.bind(&name.name);
            }
        }
    }

    fn function(&mut self, def: &FunctionDef) {
        def.decorators.iter().for_each(|decorator| self.expr(decorator));
        self.defaults(&def.params);
        self.bind(&def.name.name);
        self.open(node(def), ScopeKind::Function);
        self.params(&def.params);
        let declared =
            def.params.iter().flat_map(|param| param.annotation.iter().chain(tuple_default(param)));
        declared.chain(&def.returns).for_each(|declaration| self.declaration(declaration));
        self.block(&def.body);
        self.close();
    }

    /// What is never run, and read by kernels all the same: the names in it are handed down as those that are
    /// used, and may still be declared `global` or `nonlocal`.
    fn declaration(&mut self, declaration: &Expr) {
        let used = self.scope().used.clone();
        match &declaration.kind {
            ExprKind::Str(text) => {
                let words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
                words.for_each(|word| self.use_name(&word.into(), declaration.span));
            }
            _ => self.expr(declaration),
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
            if self.scope().declared.contains_key(&param.name.name) {
                let location = self.source.at(param.name.span);
                self.diagnostics.push(errors::duplicate_parameter(&param.name.name, location));
            }
            self.bind(&param.name.name);
        }
    }

    fn class(&mut self, def: &ClassDef) {
        def.decorators.iter().for_each(|decorator| self.expr(decorator));
        def.arguments.iter().for_each(|argument| self.argument(argument));
        self.bind(&def.name.name);
        self.open(node(def), ScopeKind::Class);
        // Methods that say `super()` capture it.
        self.scope().declared.insert("__class__".into(), Declared::Local);
        self.block(&def.body);
        self.close();
    }

    fn argument(&mut self, argument: &Argument) {
        match &argument.kind {
            ArgumentKind::Positional(value)
            | ArgumentKind::Spread(value)
            | ArgumentKind::Keyword(_, value)
            | ArgumentKind::KeywordSpread(value) => self.expr(value),
        }
    }

    fn target(&mut self, target: &Expr) {
        match &target.kind {
            ExprKind::Name(name) => self.bind(name),
            ExprKind::Tuple(items) | ExprKind::List(items) => {
                items.iter().for_each(|item| self.target(item));
            }
            ExprKind::Starred(inner) => self.target(inner),
            _ => self.expr(target),
        }
    }

    fn delete(&mut self, target: &Expr) {
        match &target.kind {
            ExprKind::Name(name) => {
                self.bind(name);
                self.scope().deleted.insert(name.clone());
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
            ExprKind::None
            | ExprKind::True
            | ExprKind::False
            | ExprKind::Ellipsis
            | ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Imaginary(_)
            | ExprKind::Str(_)
            | ExprKind::Bytes(_)
            | ExprKind::Error => {}
            ExprKind::FString(parts) => self.fstring(parts),
            ExprKind::Name(name) => self.use_name(name, expr.span),
            ExprKind::Bool { values, .. } => values.iter().for_each(|value| self.expr(value)),
            ExprKind::Walrus { target, value } => {
                self.expr(value);
                self.bind_walrus(target);
            }
            ExprKind::Binary { left, right, .. } => {
                self.expr(left);
                self.expr(right);
            }
            ExprKind::Unary { operand, .. } => self.expr(operand),
            ExprKind::Compare { left, comparisons } => {
                self.expr(left);
                comparisons.iter().for_each(|comparison| self.expr(&comparison.right));
            }
            ExprKind::Lambda(lambda) => {
                self.defaults(&lambda.params);
                self.open(node(&**lambda), ScopeKind::Function);
                self.params(&lambda.params);
                self.expr(&lambda.body);
                self.close();
            }
            ExprKind::IfElse { test, then, orelse } => {
                self.expr(test);
                self.expr(then);
                self.expr(orelse);
            }
            ExprKind::List(items) | ExprKind::Tuple(items) | ExprKind::Set(items) => {
                items.iter().for_each(|item| self.expr(item));
            }
            ExprKind::Dict(items) => {
                for item in items {
                    match item {
                        DictItem::Pair(key, value) => {
                            self.expr(key);
                            self.expr(value);
                        }
                        DictItem::Spread(mapping) => self.expr(mapping),
                    }
                }
            }
            ExprKind::ListComp { element, clauses } | ExprKind::SetComp { element, clauses } => {
                self.comprehension(clauses, ScopeKind::Comprehension, &[element]);
            }
            ExprKind::DictComp { key, value, clauses } => {
                self.comprehension(clauses, ScopeKind::Comprehension, &[key, value]);
            }
            ExprKind::Generator { element, clauses } => {
                self.comprehension(clauses, ScopeKind::Function, &[element]);
            }
            ExprKind::Call { func, args } => {
                self.expr(func);
                args.iter().for_each(|argument| self.argument(argument));
            }
            ExprKind::Attribute { value, .. } | ExprKind::Starred(value) | ExprKind::Await(value) => {
                self.expr(value);
            }
            ExprKind::Subscript { value, index } => {
                self.expr(value);
                self.expr(index);
            }
            ExprKind::Slice { lower, upper, step } => {
                for part in [lower, upper, step] {
                    self.optional(part.as_deref());
                }
            }
            ExprKind::Yield(value) => {
                self.mark_generator(expr.span);
                self.optional(value.as_deref());
            }
            ExprKind::YieldFrom(value) => {
                self.mark_generator(expr.span);
                self.expr(value);
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

    fn fstring(&mut self, parts: &[FStringPart]) {
        for part in parts {
            if let FStringPart::Value(value) = part {
                self.expr(&value.expr);
                if let Some(spec) = &value.spec {
                    self.fstring(spec);
                }
            }
        }
    }

    /// The first iterable belongs to the scope around; everything else is inside.
    fn comprehension(&mut self, clauses: &[Comprehension], kind: ScopeKind, elements: &[&Expr]) {
        let Some((first, others)) = clauses.split_first() else { return };
        self.expr(&first.iter);
        self.open(node(clauses), kind);
        if kind == ScopeKind::Function {
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
