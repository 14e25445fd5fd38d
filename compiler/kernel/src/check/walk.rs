//! One walk over a function's body: unknown names, and syntax that kernels do not have.
//!
//! Names are reported once each. A construct that is not supported is reported whole: what lies
//! inside it is not looked at, so that one mistake gives one message.

use std::collections::HashSet;
use std::rc::Rc;

use kps_syntax::ast::{
    Argument, ArgumentKind, CompareOp, Expr, ExprKind, FunctionDef, MatchCase, Name, Pattern, PatternKind,
    Stmt, StmtKind,
};
use kps_syntax::{Diagnostics, Location, Source, Span};

use super::scope::Scope;
use super::types::TypeReader;
use super::visit::children;
use crate::builtins;
use crate::env::{EnvModule, EnvValue, HelperFunction, KernelEnv};
use crate::{errors, suggest};

/// A mention of a function that a kernel may call.
pub(super) struct CallSite {
    pub callee: HelperFunction,
    pub location: Location,
}

/// Reports what is wrong with one function, and says which functions it calls.
pub(super) fn check_function(
    def: &FunctionDef,
    source: &Source,
    env: &dyn KernelEnv,
    diagnostics: &mut Diagnostics,
) -> Vec<CallSite> {
    let scope = Scope::of(def);
    let mut walk =
        Walk { source, env, scope: &scope, diagnostics, calls: Vec::new(), reported: HashSet::new() };
    walk.body(&def.body);
    walk.calls
}

struct Walk<'a> {
    source: &'a Source,
    env: &'a dyn KernelEnv,
    scope: &'a Scope,
    diagnostics: &'a mut Diagnostics,
    calls: Vec<CallSite>,
    /// Unknown names that were reported already.
    reported: HashSet<String>,
}

impl Walk<'_> {
    fn at(&self, span: Span) -> Location {
        self.source.at(span)
    }

    fn unsupported(&mut self, span: Span, what: &str, help: &str) {
        let diagnostic = errors::unsupported(self.at(span), what, help);
        self.diagnostics.push(diagnostic);
    }

    fn not_yet(&mut self, span: Span, what: &str) {
        let diagnostic = errors::not_yet(self.at(span), what);
        self.diagnostics.push(diagnostic);
    }

    fn body(&mut self, body: &[Stmt]) {
        for stmt in body {
            self.stmt(stmt);
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            // A text alone is a docstring or a comment.
            StmtKind::Expr(Expr { kind: ExprKind::Str(_), .. }) | StmtKind::Pass | StmtKind::Error => {}
            StmtKind::Expr(expr) => self.expr(expr),
            StmtKind::Assign { targets, value } => {
                self.expr(value);
                targets.iter().for_each(|target| self.target(target));
            }
            StmtKind::AugAssign { target, value, .. } => {
                self.expr(value);
                self.target(target);
            }
            StmtKind::AnnAssign { target, annotation, value } => {
                if let Err(diagnostic) = (TypeReader { source: self.source, env: self.env }).read(annotation)
                {
                    self.diagnostics.push(diagnostic);
                }
                value.iter().for_each(|value| self.expr(value));
                self.target(target);
            }
            // `return None` is a plain return.
            StmtKind::Return(Some(Expr { kind: ExprKind::None, .. }) | None) => {}
            StmtKind::Return(Some(value)) => self.expr(value),
            // Outside a loop they are a syntax error.
            StmtKind::Break | StmtKind::Continue => {}
            StmtKind::If { branches, orelse } => {
                for branch in branches {
                    self.expr(&branch.test);
                    self.body(&branch.body);
                }
                self.body(orelse);
            }
            StmtKind::While { test, body, orelse } => {
                self.expr(test);
                self.body(body);
                self.body(orelse);
            }
            StmtKind::For { target, iter, body, orelse, is_async: false } => {
                self.expr(iter);
                self.target(target);
                self.body(body);
                self.body(orelse);
            }
            StmtKind::Match { subject, cases } => {
                self.expr(subject);
                cases.iter().for_each(|case| self.case(case));
            }
            _ => self.unsupported_stmt(stmt),
        }
    }

    fn unsupported_stmt(&mut self, stmt: &Stmt) {
        let span = stmt.span;
        match &stmt.kind {
            StmtKind::For { .. } => self.unsupported(span, "`async for`", "write `for`"),
            StmtKind::Assert { .. } => self.not_yet(span, "`assert`"),
            StmtKind::Function(def) => self.not_yet(def.header, "functions of their own inside"),
            StmtKind::Class(def) => {
                self.unsupported(def.header, "a class", "define the type outside the kernel");
            }
            StmtKind::TypeAlias { .. } => {
                self.unsupported(span, "a type alias", "define it outside the kernel");
            }
            StmtKind::Delete(_) => {
                self.unsupported(span, "`del`", "leave it out: a kernel's variables end with the kernel");
            }
            StmtKind::Raise { .. } => {
                self.unsupported(
                    span,
                    "`raise`",
                    "write an error flag to an array and test it after the launch",
                );
            }
            StmtKind::Global(_) | StmtKind::Nonlocal(_) => self.unsupported(
                span,
                "`global`",
                "captured names are constants in a kernel: write the result to an array parameter",
            ),
            StmtKind::Import(_) | StmtKind::ImportFrom(_) => {
                self.unsupported(span, "an import", "import it outside the kernel");
            }
            StmtKind::With { .. } => self.unsupported(span, "`with`", "enter the context around the launch"),
            StmtKind::Try(_) => {
                self.unsupported(span, "`try`", "nothing raises in a kernel: test the values with `if`");
            }
            _ => self.unsupported(span, "this statement", "write it with assignments, `if` and loops"),
        }
    }

    fn case(&mut self, case: &MatchCase) {
        self.pattern(&case.pattern);
        case.guard.iter().for_each(|guard| self.expr(guard));
        self.body(&case.body);
    }

    fn pattern(&mut self, pattern: &Pattern) {
        match &pattern.kind {
            PatternKind::Wildcard | PatternKind::Capture(_) | PatternKind::Error => {}
            PatternKind::Value(value) | PatternKind::Singleton(value) => self.expr(value),
            PatternKind::Or(patterns) => patterns.iter().for_each(|pattern| self.pattern(pattern)),
            PatternKind::As { pattern, .. } => self.pattern(pattern),
            _ => self.unsupported(
                pattern.span,
                "this pattern",
                "kernels match constants: numbers, bools and captured names with a dot",
            ),
        }
    }

    fn target(&mut self, target: &Expr) {
        match &target.kind {
            ExprKind::Name(_) => {}
            ExprKind::Tuple(items) | ExprKind::List(items) => {
                items.iter().for_each(|item| self.target(item));
            }
            ExprKind::Starred(inner) => self.target(inner),
            _ => self.expr(target),
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Name(name) => self.name(name, expr),
            ExprKind::Attribute { .. } => self.attribute(expr),
            ExprKind::Call { func, args } => {
                self.expr(func);
                // The types in `Array(4, f32)` and the like are read later, with the call.
                args.iter().for_each(|arg| self.argument(arg));
            }
            ExprKind::Compare { comparisons, .. } => {
                for comparison in comparisons {
                    match comparison.op {
                        CompareOp::Is | CompareOp::IsNot => {
                            self.unsupported(comparison.op_span, "`is`", "compare values with `==` or `!=`");
                        }
                        CompareOp::In | CompareOp::NotIn => self.unsupported(
                            comparison.op_span,
                            "`in`",
                            "compare with each value: `x == 1 or x == 2`",
                        ),
                        _ => {}
                    }
                }
                children(expr, &mut |child| self.expr(child));
            }
            ExprKind::Tuple(items) | ExprKind::List(items) => {
                for item in items {
                    match &item.kind {
                        ExprKind::Starred(inner) => self.expr(inner),
                        _ => self.expr(item),
                    }
                }
            }
            _ => match unsupported_expr(expr) {
                Some(Unsupported::Never(what, help)) => self.unsupported(expr.span, what, help),
                Some(Unsupported::NotYet(what)) => self.not_yet(expr.span, what),
                None => children(expr, &mut |child| self.expr(child)),
            },
        }
    }

    fn argument(&mut self, arg: &Argument) {
        match &arg.kind {
            ArgumentKind::Positional(value) | ArgumentKind::Keyword(_, value) => self.expr(value),
            ArgumentKind::Spread(_) | ArgumentKind::KeywordSpread(_) => {
                self.unsupported(arg.span, "a spread argument", "write the arguments one by one");
            }
        }
    }

    fn name(&mut self, name: &Name, expr: &Expr) {
        if self.scope.contains(name) {
            return;
        }
        match self.env.get(name) {
            Some(EnvValue::Function(callee)) => {
                self.calls.push(CallSite { callee, location: self.source.at(expr.span) });
            }
            Some(_) => {}
            None => match builtins::lookup(name) {
                Some(builtins::Builtin::NotYet(family)) => self.not_yet(expr.span, family),
                Some(_) => {}
                None if name.as_ref() == "Array" => {}
                None => self.unknown_name(name, expr.span),
            },
        }
    }

    fn unknown_name(&mut self, name: &Name, span: Span) {
        if !self.reported.insert(name.to_string()) {
            return;
        }
        let outside = self.env.names();
        let known = self.scope.names().iter().chain(&outside).map(|name| &**name);
        let known = known.chain(builtins::names().map(|name| -> &str { name }));
        let diagnostic = errors::unknown_name(self.at(span), name, suggest::nearest(name, known));
        self.diagnostics.push(diagnostic);
    }

    /// `math.sqrt`, `config.N`, or a swizzle of some value.
    fn attribute(&mut self, expr: &Expr) {
        let ExprKind::Attribute { value, attr } = &expr.kind else { return };
        let Some(module) = self.module(value) else { return self.expr(value) };
        if builtins::is_our_module(&module) {
            match builtins::member(&attr.name) {
                Some(builtins::Builtin::NotYet(family)) => return self.not_yet(expr.span, family),
                Some(_) => return,
                None if &*attr.name == "Array" => return,
                None => {}
            }
        }
        let env = self.env_module(value);
        match env.as_ref().and_then(|module| module.members.get(&attr.name)) {
            Some(EnvValue::Function(callee)) => {
                self.calls.push(CallSite { callee, location: self.source.at(expr.span) });
            }
            Some(_) => {}
            None => {
                let members = env.map(|module| module.members.names()).unwrap_or_default();
                let ours = builtins::is_our_module(&module).then(builtins::member_names);
                let ours = ours.into_iter().flatten().map(|name| -> &str { name });
                let known = members.iter().map(|name| &**name).chain(ours);
                let nearest = suggest::nearest(&attr.name, known);
                let diagnostic = errors::unknown_member(self.at(attr.span), &module, &attr.name, nearest);
                self.diagnostics.push(diagnostic);
            }
        }
    }

    /// The full name of the module that an expression names, ours or the script's.
    fn module(&self, expr: &Expr) -> Option<String> {
        if let Some(module) = self.env_module(expr) {
            return Some(module.name.to_string());
        }
        let ExprKind::Name(name) = &expr.kind else { return None };
        let is_ours = !self.scope.contains(name)
            && self.env.get(name).is_none()
            && builtins::lookup(name) == Some(builtins::Builtin::Module);
        is_ours.then(|| name.to_string())
    }

    fn env_module(&self, expr: &Expr) -> Option<EnvModule> {
        let value = match &expr.kind {
            ExprKind::Name(name) if !self.scope.contains(name) => self.env.get(name)?,
            ExprKind::Attribute { value, attr } => self.env_module(value)?.members.get(&attr.name)?,
            _ => return None,
        };
        match value {
            EnvValue::Module(module) => Some(EnvModule { members: Rc::clone(&module.members), ..module }),
            _ => None,
        }
    }
}

enum Unsupported {
    /// With what to write instead.
    Never(&'static str, &'static str),
    NotYet(&'static str),
}

fn unsupported_expr(expr: &Expr) -> Option<Unsupported> {
    use Unsupported::{Never, NotYet};
    Some(match &expr.kind {
        ExprKind::None => Never(
            "`None`",
            "kernels have numbers, bools, vectors and arrays: use a number that says \"nothing\"",
        ),
        ExprKind::Ellipsis => Never("`...`", "write `pass`"),
        ExprKind::Imaginary(_) => Never("a complex number", "keep the two parts in a `vec2`"),
        ExprKind::Str(_) | ExprKind::Bytes(_) => Never("a string", "kernels have no strings: use numbers"),
        ExprKind::FString(_) => Never("an f-string", "kernels have no strings: format on the host"),
        ExprKind::Walrus { .. } => Never("`:=`", "assign on a line of its own"),
        ExprKind::Lambda(_) => NotYet("lambdas"),
        ExprKind::ListComp { .. } => NotYet("list comprehensions"),
        ExprKind::Set(_) | ExprKind::SetComp { .. } => Never("a set", "use an array"),
        ExprKind::Dict(_) | ExprKind::DictComp { .. } => Never("a dict", "use an array"),
        ExprKind::Generator { .. } => Never("a generator", "write a `for` loop"),
        // A whole axis of a matrix: `m[:, 0]`.
        ExprKind::Slice { lower: None, upper: None, step: None } => return None,
        ExprKind::Slice { .. } => Never("a slice", "index the elements in a `for` loop"),
        ExprKind::Starred(_) => Never("a starred expression", "write the parts one by one"),
        ExprKind::Yield(_) | ExprKind::YieldFrom(_) => {
            Never("`yield`", "write results to an array parameter")
        }
        ExprKind::Await(_) => Never("`await`", "kernels run to their end: launch asynchronously on the host"),
        _ => return None,
    })
}
