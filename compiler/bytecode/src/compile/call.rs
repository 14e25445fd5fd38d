//! Calls: the callee and its arguments in a row of registers.

use kps_syntax::Span;
use kps_syntax::ast::*;
use rustc_hash::FxHashSet;

use super::Compiler;
use crate::emit::{Operand, Register};
use crate::errors;
use crate::op::Op;
use crate::program::Constant;
use crate::scope::{Meaning, ScopeKind};

impl<'a> Compiler<'a> {
    /// Compiles a call; the register of its result, which is the next one that was free before.
    pub(super) fn call(&mut self, func: &'a Expr, args: &'a [Argument], span: Span) -> Register {
        self.check_keywords(args);
        let is_spread = args
            .iter()
            .any(|arg| matches!(arg.kind, ArgumentKind::Spread(_) | ArgumentKind::KeywordSpread(_)));
        if is_spread {
            return self.call_spread(func, args, span);
        }
        match &func.kind {
            ExprKind::Attribute { value, attr } => self.call_method(func, value, attr, args, span),
            ExprKind::Name(name) if args.is_empty() && self.is_bare_super(name) => {
                self.call_super(func, span)
            }
            ExprKind::Name(name) if self.is_code_from_text(name) => {
                self.report(errors::code_from_text(name, self.location(func.span)));
                self.emitter().alloc()
            }
            _ => self.call_plain(func, args, span),
        }
    }

    fn call_plain(&mut self, func: &'a Expr, args: &'a [Argument], span: Span) -> Register {
        let at = self.push(func);
        let names = self.arguments(args);
        self.emitter().span = span;
        let n_args = args.len() as u16;
        match names {
            Some(names) => self.emitter().abc(Op::CallNames, at, n_args, names),
            None => self.emitter().abc(Op::Call, at, n_args, 0),
        };
        at
    }

    fn call_method(
        &mut self,
        func: &'a Expr,
        value: &'a Expr,
        attr: &'a Ident,
        args: &'a [Argument],
        span: Span,
    ) -> Register {
        let at = self.emitter().alloc_row(2);
        let mark = self.frame.emitter.mark();
        let object = self.expr(value);
        let site = self.site(&attr.name);
        self.emitter().span = func.span;
        self.emitter().abcx(Op::LoadMethod, at, object.register, site, object.first());
        self.frame.emitter.release(mark);
        let names = self.arguments(args);
        self.emitter().span = span;
        let n_args = args.len() as u16;
        match names {
            Some(names) => self.emitter().abc(Op::CallMethodNames, at, n_args, names),
            None => self.emitter().abc(Op::CallMethod, at, n_args, 0),
        };
        at
    }

    /// Evaluates the arguments into the next registers; the constant with the names of the named ones.
    fn arguments(&mut self, args: &'a [Argument]) -> Option<u16> {
        let mut names = Vec::new();
        for arg in args {
            if let ArgumentKind::Positional(value) = &arg.kind {
                self.push(value);
            }
        }
        for arg in args {
            if let ArgumentKind::Keyword(name, value) = &arg.kind {
                self.push(value);
                names.push(Constant::Str(name.name.clone()));
            }
        }
        if names.is_empty() {
            return None;
        }
        let names = self.emitter().constant(Constant::Tuple(names));
        Some(self.narrow(names as usize, "calls with keywords"))
    }

    fn call_spread(&mut self, func: &'a Expr, args: &'a [Argument], span: Span) -> Register {
        let at = self.push(func);
        let list = self.emitter().alloc_row(2);
        let dict = list + 1;
        self.emitter().abc(Op::BuildList, list, list, 0);
        let is_named =
            |arg: &Argument| matches!(arg.kind, ArgumentKind::Keyword(..) | ArgumentKind::KeywordSpread(_));
        if args.iter().any(is_named) {
            self.emitter().abc(Op::BuildDict, dict, dict, 0);
        } else {
            self.emitter().abc(Op::Clear, dict, 1, 0);
        }
        for arg in args {
            let mark = self.frame.emitter.mark();
            match &arg.kind {
                ArgumentKind::Positional(value) => {
                    let value = self.expr(value);
                    self.emitter().abcx(Op::ListAppend, list, value.register, 0, value.first());
                }
                ArgumentKind::Spread(value) => {
                    let value = self.expr(value);
                    self.emitter().span = arg.span;
                    self.emitter().abcx(Op::ListExtend, list, value.register, 0, value.first());
                }
                ArgumentKind::Keyword(name, value) => {
                    let row = self.emitter().alloc_row(2);
                    self.emitter().load_constant(row, Constant::Str(name.name.clone()));
                    self.expr_to(value, row + 1);
                    self.emitter().span = arg.span;
                    // An earlier `**` argument may contain the name already.
                    self.emitter().abc(Op::BuildDict, row, row, 1);
                    self.emitter().abcx(Op::DictMerge, dict, row, 0, Operand::temporary(row).first());
                }
                ArgumentKind::KeywordSpread(value) => {
                    let value = self.expr(value);
                    self.emitter().span = arg.span;
                    self.emitter().abcx(Op::DictMerge, dict, value.register, 0, value.first());
                }
            }
            self.frame.emitter.release(mark);
        }
        self.emitter().span = span;
        self.emitter().abc(Op::CallSpread, at, 0, 0);
        at
    }

    /// Whether this is a builtin of Python that runs text as code.
    fn is_code_from_text(&self, name: &Name) -> bool {
        matches!(&**name, "eval" | "exec" | "compile")
            && self.knows_all_names
            && self.scopes.meaning(self.scope, name) == Meaning::Global
            && !self.scopes.is_bound_globally(name)
    }

    /// Whether this is the builtin `super` inside of a method, where its arguments are optional.
    fn is_bare_super(&self, name: &Name) -> bool {
        &**name == "super"
            && self.scopes.meaning(self.scope, name) == Meaning::Global
            && self.scopes[self.frame.scope].kind == ScopeKind::Function
            && self.frame.emitter.code.params.n_positional > 0
            && self.scopes.meaning(self.scope, "__class__") != Meaning::Global
    }

    /// `super(__class__, self)`.
    fn call_super(&mut self, func: &'a Expr, span: Span) -> Register {
        let at = self.push(func);
        self.emitter().alloc_row(2);
        self.name_to(&"__class__".into(), at + 1);
        let this = self.frame.emitter.code.locals[0].clone();
        self.name_to(&this, at + 2);
        self.emitter().span = span;
        self.emitter().abc(Op::Call, at, 2, 0);
        at
    }

    pub(super) fn check_keywords(&mut self, args: &[Argument]) {
        let mut seen: FxHashSet<&str> = FxHashSet::default();
        for arg in args {
            if let ArgumentKind::Keyword(name, _) = &arg.kind
                && !seen.insert(&name.name)
            {
                self.report(errors::duplicate_keyword(&name.name, self.location(name.span)));
            }
        }
    }
}
