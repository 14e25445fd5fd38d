//! Statements, simple and compound.

use std::sync::{Arc, OnceLock};

use crate::ast::{
    Argument, BinaryOp, Branch, ClassDef, Expr, ExprKind, FunctionDef, Handler, Ident, ImportFrom,
    ImportName, ImportedNames, MatchCase, Pattern, PatternKind, Stmt, StmtKind, Try, TypeParam,
    TypeParamKind, WithItem,
};
use crate::errors;
use crate::source::Span;

use super::targets::Use;
use super::{Block, Builder, ParamItem};

impl Builder<'_> {
    pub fn stmt(&mut self, start: u32, end: u32, kind: StmtKind) -> Box<Stmt> {
        Box::new(Stmt { span: Span::new(start, end), kind })
    }

    pub fn expression_statement(&mut self, expr: Expr) -> Box<Stmt> {
        self.check_value(&expr);
        Box::new(Stmt { span: expr.span, kind: StmtKind::Expr(expr) })
    }

    pub fn assign(&mut self, targets: Vec<Expr>, value: Expr) -> Box<Stmt> {
        self.check_value(&value);
        for target in &targets {
            self.check_target(target, Use::Assign);
        }
        let start = targets.first().map_or(value.span.start, |target| target.span.start);
        self.stmt(start, value.span.end, StmtKind::Assign { targets, value })
    }

    pub fn annotated(&mut self, target: Expr, annotation: Expr, value: Option<Expr>) -> Box<Stmt> {
        self.check_lone_target(&target, "can be annotated");
        if let Some(value) = &value {
            self.check_value(value);
        }
        let end = value.as_ref().unwrap_or(&annotation).span.end;
        self.stmt(target.span.start, end, StmtKind::AnnAssign { target, annotation, value })
    }

    pub fn augmented(&mut self, target: Expr, op: BinaryOp, op_span: Span, value: Expr) -> Box<Stmt> {
        self.check_lone_target(&target, "can be on the left of an augmented assignment");
        self.check_value(&value);
        let (start, end) = (target.span.start, value.span.end);
        self.stmt(start, end, StmtKind::AugAssign { target, op, op_span, value })
    }

    pub fn type_alias(
        &mut self,
        start: u32,
        name: Ident,
        type_params: Option<Vec<TypeParam>>,
        value: Expr,
        end: u32,
    ) -> Box<Stmt> {
        let type_params = type_params.unwrap_or_default();
        self.stmt(start, end, StmtKind::TypeAlias { name, type_params, value })
    }

    /// `del a, b` has two targets, `del (a, b)` one.
    pub fn delete(&mut self, start: u32, targets: Expr, end: u32) -> Box<Stmt> {
        let targets = match targets.kind {
            ExprKind::Tuple(elements) if !is_display(self.source.slice(targets.span)) => elements,
            _ => vec![targets],
        };
        for target in &targets {
            self.check_target(target, Use::Delete);
        }
        self.stmt(start, end, StmtKind::Delete(targets))
    }

    pub fn return_(&mut self, start: u32, value: Option<Expr>, end: u32) -> Box<Stmt> {
        if let Some(value) = &value {
            self.check_value(value);
        }
        self.stmt(start, end, StmtKind::Return(value))
    }

    pub fn raise(&mut self, start: u32, exception: Option<Expr>, cause: Option<Expr>, end: u32) -> Box<Stmt> {
        self.stmt(start, end, StmtKind::Raise { exception, cause })
    }

    pub fn assert(&mut self, start: u32, test: Expr, message: Option<Expr>, end: u32) -> Box<Stmt> {
        self.stmt(start, end, StmtKind::Assert { test, message })
    }

    pub fn import_name(
        &mut self,
        start: u32,
        path: Vec<Ident>,
        alias: Option<Ident>,
        end: u32,
    ) -> Box<ImportName> {
        Box::new(ImportName { path, alias, span: Span::new(start, end) })
    }

    pub fn import_from(
        &mut self,
        start: u32,
        level: u32,
        path: Vec<Ident>,
        names: ImportedNames,
        end: u32,
    ) -> Box<Stmt> {
        self.stmt(start, end, StmtKind::ImportFrom(ImportFrom { level, path, names }))
    }

    pub fn branch(&mut self, start: u32, test: Expr, block: Block) -> Branch {
        Branch { test, body: block.body, span: Span::new(start, block.end) }
    }

    pub fn if_(&mut self, start: u32, branches: Vec<Branch>, orelse: Option<Block>) -> Box<Stmt> {
        let end = branches.last().map_or(start, |branch| branch.span.end);
        let (orelse, end) = optional(orelse, end);
        self.stmt(start, end, StmtKind::If { branches, orelse })
    }

    pub fn while_(&mut self, start: u32, test: Expr, block: Block, orelse: Option<Block>) -> Box<Stmt> {
        let (orelse, end) = optional(orelse, block.end);
        self.stmt(start, end, StmtKind::While { test, body: block.body, orelse })
    }

    pub fn for_(
        &mut self,
        start: u32,
        is_async: Option<()>,
        target: Expr,
        iter: Expr,
        block: Block,
        orelse: Option<Block>,
    ) -> Box<Stmt> {
        self.check_for_target(&target);
        self.check_value(&iter);
        let (orelse, end) = optional(orelse, block.end);
        let is_async = is_async.is_some();
        self.stmt(start, end, StmtKind::For { target, iter, body: block.body, orelse, is_async })
    }

    pub fn with_item(&mut self, context: Expr, target: Option<Expr>) -> WithItem {
        if let Some(target) = &target {
            self.check_target(target, Use::With);
        }
        let span = target.as_ref().map_or(context.span, |target| context.span.to(target.span));
        WithItem { context, target, span }
    }

    /// Items without parentheses. If they look like one tuple, `with (a, b):`, they are its elements.
    pub fn with_bare(
        &mut self,
        start: u32,
        is_async: Option<()>,
        mut items: Vec<WithItem>,
        block: Block,
    ) -> Box<Stmt> {
        if let [WithItem { context, target: None, .. }] = items.as_mut_slice()
            && let ExprKind::Tuple(elements) = &mut context.kind
            && !elements.is_empty()
            && !elements.iter().any(|element| matches!(element.kind, ExprKind::Starred(_)))
        {
            let elements = std::mem::take(elements);
            items = elements.into_iter().map(|element| self.with_item(element, None)).collect();
        }
        self.with(start, is_async, items, block)
    }

    pub fn with(
        &mut self,
        start: u32,
        is_async: Option<()>,
        items: Vec<WithItem>,
        block: Block,
    ) -> Box<Stmt> {
        let kind = StmtKind::With { items, body: block.body, is_async: is_async.is_some() };
        self.stmt(start, block.end, kind)
    }

    pub fn handler(
        &mut self,
        start: u32,
        mut types: Vec<Expr>,
        name: Option<Ident>,
        block: Block,
    ) -> Handler {
        if let [exception, name] = types.as_slice()
            && let ExprKind::Name(text) = &name.kind
            && text.starts_with(char::is_lowercase)
        {
            let at = self.at(exception.span.to(name.span));
            self.report(errors::exception_comma(at, self.source.slice(exception.span), text));
        } else if let [first, .., last] = types.as_slice() {
            let span = first.span.to(last.span);
            self.report(errors::bare_exception_tuple(self.at(span), self.source.slice(span)));
        }
        let exception = if types.is_empty() { None } else { Some(types.swap_remove(0)) };
        Handler { exception, name, body: block.body, span: Span::new(start, block.end) }
    }

    pub fn try_(
        &mut self,
        start: u32,
        block: Block,
        handlers: Handlers,
        orelse: Option<Block>,
        finally: Option<Block>,
    ) -> Box<Stmt> {
        if handlers.all.is_empty() && (finally.is_none() || orelse.is_some()) {
            self.report(errors::try_without_handler(self.at(Span::new(start, start + 3))));
        }
        if handlers.n_star > 0 && handlers.n_star < handlers.all.len() {
            let start = handlers.all[handlers.all.len() - 1].span.start;
            let keyword = Span::new(start, start + "except".len() as u32);
            self.report(errors::mixed_handlers(self.at(keyword)));
        }
        self.check_bare_except(&handlers);
        let end = handlers.all.last().map_or(block.end, |handler| handler.span.end);
        let (orelse, end) = optional(orelse, end);
        let (finally, end) = optional(finally, end);
        let is_star = handlers.n_star > 0;
        let kind = Try { body: block.body, handlers: handlers.all, orelse, finally, is_star };
        self.stmt(start, end, StmtKind::Try(kind))
    }

    fn check_bare_except(&mut self, handlers: &Handlers) {
        let [before @ .., _] = handlers.all.as_slice() else { return };
        if let Some(bare) = before.iter().find(|handler| handler.exception.is_none()) {
            let at = Span::new(bare.span.start, bare.span.start + "except".len() as u32);
            self.report(errors::bare_except_first(self.at(at)));
        }
    }

    pub fn match_(&mut self, start: u32, subject: Expr, cases: Vec<MatchCase>) -> Box<Stmt> {
        if let ExprKind::Starred(_) = subject.kind {
            self.check_value(&subject);
        }
        let end = cases.last().map_or(subject.span.end, |case| case.span.end);
        self.stmt(start, end, StmtKind::Match { subject, cases })
    }

    pub fn case(
        &mut self,
        start: u32,
        pattern: Pattern,
        guard: Option<Expr>,
        block: Block,
    ) -> Box<MatchCase> {
        let span = Span::new(start, block.end);
        Box::new(MatchCase { pattern, guard, body: block.body, span })
    }

    /// A line among the cases that was reported.
    pub fn error_case(&mut self, start: u32, block: Block) -> Box<MatchCase> {
        let span = Span::new(start, block.end);
        let pattern = Pattern { span: Span::point(start), kind: PatternKind::Error };
        Box::new(MatchCase { pattern, guard: None, body: block.body, span })
    }

    pub fn function_def(
        &mut self,
        header: Span,
        is_async: Option<()>,
        name: Ident,
        type_params: Option<Vec<TypeParam>>,
        (params, returns): (Vec<ParamItem>, Option<Expr>),
        block: Block,
    ) -> Box<FunctionDef> {
        Box::new(FunctionDef {
            name,
            decorators: Vec::new(),
            type_params: type_params.unwrap_or_default(),
            params: self.parameters(params),
            returns,
            body: block.body,
            is_async: is_async.is_some(),
            span: Span::new(header.start, block.end),
            header,
            scope: OnceLock::new(),
        })
    }

    pub fn function(
        &mut self,
        start: u32,
        decorators: Option<Vec<Expr>>,
        mut def: Box<FunctionDef>,
    ) -> Box<Stmt> {
        def.decorators = decorators.unwrap_or_default();
        def.span.start = start;
        self.stmt(start, def.span.end, StmtKind::Function(Arc::from(def)))
    }

    pub fn class_def(
        &mut self,
        header: Span,
        name: Ident,
        type_params: Option<Vec<TypeParam>>,
        arguments: Vec<Argument>,
        block: Block,
    ) -> Box<ClassDef> {
        self.check_arguments(&arguments);
        Box::new(ClassDef {
            name,
            decorators: Vec::new(),
            type_params: type_params.unwrap_or_default(),
            arguments,
            body: block.body,
            span: Span::new(header.start, block.end),
            header,
        })
    }

    pub fn class(&mut self, start: u32, decorators: Option<Vec<Expr>>, mut def: Box<ClassDef>) -> Box<Stmt> {
        def.decorators = decorators.unwrap_or_default();
        def.span.start = start;
        self.stmt(start, def.span.end, StmtKind::Class(Arc::from(def)))
    }

    pub fn type_param(&mut self, start: u32, name: Ident, kind: TypeParamKind, end: u32) -> Box<TypeParam> {
        Box::new(TypeParam { name, kind, span: Span::new(start, end) })
    }

    /// A statement with a block whose header was reported; the block is parsed for its own errors.
    pub fn error_block(&mut self, start: u32, block: Block) -> Box<Stmt> {
        self.stmt(start, block.end, StmtKind::Error)
    }
}

/// The handlers of a `try`.
#[derive(Default)]
pub(crate) struct Handlers {
    all: Vec<Handler>,
    n_star: usize,
}

impl Handlers {
    pub fn push(&mut self, handler: Handler, is_star: bool) {
        self.all.push(handler);
        self.n_star += usize::from(is_star);
    }
}

/// The statements of a block that may be missing, and the end of the statement with it.
fn optional(block: Option<Block>, end: u32) -> (Vec<Stmt>, u32) {
    match block {
        Some(block) => (block.body, block.end),
        None => (Vec::new(), end),
    }
}

/// Whether one pair of parentheses encloses the whole text.
fn is_display(text: &str) -> bool {
    let mut depth = 0;
    let closes_early = text.char_indices().any(|(at, c)| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth == 0 && at + 1 < text.len()
    });
    text.starts_with('(') && text.ends_with(')') && !closes_early
}
