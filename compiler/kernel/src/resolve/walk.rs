//! One walk over a function's body: unknown names, and syntax that kernels do not have.
//!
//! Each unknown name is reported once; for a module of another framework, each of its members is. An unsupported
//! construct is reported as a whole, and its parts are not checked, so that one mistake gives one message.

use std::sync::Arc;

use kps_syntax::ast::{
    Argument, ArgumentKind, CompareOp, Comparison, Expr, ExprKind, FStringPart, FunctionDef, Lambda,
    MatchCase, Name, Pattern, PatternKind, Stmt, StmtKind,
};
use kps_syntax::scope::{Scope, pattern_names};
use kps_syntax::{Diagnostic, Diagnostics, Location, Source, Span, suggest};

use super::below::binding_below;
use super::formatted::{as_f_string, is_formatted};
use super::lints;
use super::params;
use super::types::{NO_INTS, TypeReader};
use super::unsupported;
use rustc_hash::FxHashSet;

use crate::builtins;
use crate::env::{EnvModule, EnvValue, HelperFunction, KernelEnv};
use crate::errors::{self, Found};
use crate::foreign_names;

/// A mention of a function that a kernel may call.
pub(super) struct CallSite {
    pub callee: HelperFunction,
    pub location: Location,
    /// It is called there. A function that is passed as an argument is checked when inference knows the callee.
    pub is_called: bool,
}

/// Reports the mistakes in one function, and returns the functions that it calls.
pub(super) fn check_function(
    def: &FunctionDef,
    source: &Source,
    env: &dyn KernelEnv,
    diagnostics: &mut Diagnostics,
    unknown: &mut Unknown,
) -> Vec<CallSite> {
    let scopes = vec![def.scope()];
    let own_name = &def.name.name;
    let (calls, reported) = (Vec::new(), FxHashSet::default());
    let mut walk = Walk { source, env, own_name, scopes, diagnostics, calls, reported, unknown };
    walk.body(&def.body);
    walk.calls
}

/// The unknown names that were reported.
#[derive(Default)]
pub(super) struct Unknown {
    /// Messages and helps.
    reported: FxHashSet<(String, Option<String>)>,
    n_suggested: usize,
}

impl Unknown {
    /// After these diagnostics.
    pub fn after(diagnostics: &Diagnostics) -> Unknown {
        let reported = diagnostics.iter().map(|found| (found.message.clone(), found.help.clone()));
        Unknown { reported: reported.collect(), n_suggested: 0 }
    }

    /// The names of an environment that an unknown one may be meant for.
    fn candidates_of(&mut self, env: &dyn KernelEnv) -> Option<Vec<Name>> {
        self.n_suggested += 1;
        if self.n_suggested > suggest::MOST {
            return None;
        }
        env.candidates()
    }
}

struct Walk<'a> {
    source: &'a Source,
    env: &'a dyn KernelEnv,
    /// The name of the function; a kernel has no value yet while it is being defined.
    own_name: &'a Name,
    /// Of the function, and of those nested in it that are being looked at.
    scopes: Vec<Arc<Scope>>,
    diagnostics: &'a mut Diagnostics,
    calls: Vec<CallSite>,
    /// Unknown names that were reported already.
    reported: FxHashSet<String>,
    /// The same of all functions that are looked at.
    unknown: &'a mut Unknown,
}

impl Walk<'_> {
    fn at(&self, span: Span) -> Location {
        self.source.at(span)
    }

    fn unsupported(&mut self, span: Span, what: &str, help: &str) {
        let diagnostic = errors::unsupported(self.at(span), what, help);
        self.diagnostics.push(diagnostic);
    }

    /// Whether a name is a variable of the function, or of one around the one being looked at.
    fn is_own(&self, name: &str) -> bool {
        self.scopes.iter().any(|scope| scope.contains(name))
    }

    fn body(&mut self, body: &[Stmt]) {
        for stmt in body {
            self.stmt(stmt);
        }
        let warning = lints::unreachable(body, self.source);
        self.diagnostics.extend(warning);
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            // A text alone is a docstring or a comment.
            StmtKind::Expr(Expr { kind: ExprKind::Str(_), .. }) | StmtKind::Pass | StmtKind::Error => {}
            StmtKind::Expr(expr) => {
                let n_before = self.diagnostics.0.len();
                self.expr(expr);
                if self.diagnostics.0.len() == n_before {
                    let is_own = |name: &str| self.is_own(name) || self.env.get(name).is_some();
                    let warning = lints::unused(expr, self.source, &is_own);
                    self.diagnostics.extend(warning);
                }
            }
            StmtKind::Assign { targets, value } => {
                self.expr(value);
                targets.iter().for_each(|target| self.target(target));
            }
            StmtKind::AugAssign { target, value, .. } => {
                self.expr(value);
                self.target(target);
            }
            StmtKind::AnnAssign { target, annotation, value } => {
                let reader = TypeReader { source: self.source, env: self.env, ints: NO_INTS };
                if let Err(mistake) = reader.read(annotation) {
                    self.diagnostics.push(reader.blame(annotation, mistake));
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
                    self.diagnostics.extend(lints::never_true(&branch.test, self.source));
                    self.body(&branch.body);
                }
                self.diagnostics.extend(lints::behind_true(branches, orelse, self.source));
                self.body(orelse);
            }
            StmtKind::While { test, body, orelse } => {
                self.expr(test);
                self.diagnostics.extend(lints::never_true(test, self.source));
                self.body(body);
                self.body(orelse);
            }
            StmtKind::For { target, iter, body, orelse, is_async: false } => {
                self.expr(iter);
                self.diagnostics.extend(lints::never_runs(iter, self.source));
                self.target(target);
                self.body(body);
                self.body(orelse);
            }
            StmtKind::Match { subject, cases } => {
                self.expr(subject);
                cases.iter().for_each(|case| self.case(case));
            }
            StmtKind::Assert { test, message: None } if lints::is_test_with_text(test) => {
                let diagnostic = errors::assert_of_tuple(self.at(test.span));
                self.diagnostics.push(diagnostic);
            }
            StmtKind::Assert { test, message } => {
                self.expr(test);
                message.iter().for_each(|message| self.message(message));
            }
            StmtKind::Function(def) => self.nested(def),
            _ => {
                let diagnostic = unsupported::stmt(stmt, self.source);
                self.diagnostics.push(diagnostic);
            }
        }
    }

    /// Of an `assert`.
    fn message(&mut self, expr: &Expr) {
        if let ExprKind::Tuple(items) = &expr.kind
            && let Some((first, values)) = items.split_first()
            && let ExprKind::Str(text) = &first.kind
        {
            let values: Vec<&str> = values.iter().map(|value| self.source.slice(value.span)).collect();
            let diagnostic = errors::message_of_tuple(self.at(expr.span), text, &values);
            return self.diagnostics.push(diagnostic);
        }
        self.text(expr);
    }

    /// The text of `print` and `assert`: strings, and f-strings with values in them.
    fn text(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Str(_) => {}
            ExprKind::FString(parts) => self.text_parts(parts),
            ExprKind::IfElse { test, then, orelse } => {
                self.expr(test);
                self.text(then);
                self.text(orelse);
            }
            _ if is_formatted(expr) => {
                let diagnostic = errors::string_formatted(self.at(expr.span), as_f_string(expr, self.source));
                self.diagnostics.push(diagnostic);
            }
            _ => self.expr(expr),
        }
    }

    fn text_parts(&mut self, parts: &[FStringPart]) {
        for part in parts {
            let FStringPart::Value(value) = part else { continue };
            self.text(&value.expr);
            value.spec.iter().for_each(|spec| self.text_parts(spec));
        }
    }

    fn is_print(&self, func: &Expr) -> bool {
        let ExprKind::Name(name) = &func.kind else { return false };
        let is_builtin = |value: EnvValue| matches!(value, EnvValue::Builtin(name) if &*name == "print");
        &**name == "print" && !self.is_own(name) && self.env.get(name).is_none_or(is_builtin)
    }

    /// A function of the kernel's own.
    fn nested(&mut self, def: &FunctionDef) {
        if let Some(decorator) = def.decorators.first() {
            let help = match &decorator.kind {
                ExprKind::Name(name) if &**name == "kernel" => {
                    "a function that a kernel calls is a plain `def`: leave the decorator out"
                }
                _ => "call it where the function is used",
            };
            return self.unsupported(decorator.span, "a decorator", help);
        }
        if def.is_async {
            return self.unsupported(def.header, "an `async` function", "write `def`");
        }
        params::nested_params(def, self.source, self.env, self.diagnostics);
        def.params.iter().filter_map(|param| param.default.as_ref()).for_each(|default| self.expr(default));
        self.scopes.push(def.scope());
        self.body(&def.body);
        self.scopes.pop();
    }

    fn lambda(&mut self, lambda: &Lambda, span: Span) {
        params::check_variadic(&lambda.params, self.source, "a lambda", self.diagnostics);
        let defaults = lambda.params.iter().filter_map(|param| param.default.as_ref());
        defaults.for_each(|default| self.expr(default));
        if matches!(lambda.body.kind, ExprKind::Yield(_) | ExprKind::YieldFrom(_)) {
            return self.unsupported(span, "`yield`", "write results to an array parameter");
        }
        self.scopes.push(Arc::new(Scope::of_lambda(lambda)));
        self.expr(&lambda.body);
        self.scopes.pop();
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
            PatternKind::Or(patterns) => {
                let mut binds = false;
                pattern_names(pattern, &mut |_| binds = true);
                if binds {
                    let help = "write a `case` for each of them";
                    return self.unsupported(pattern.span, "a choice of patterns that binds names", help);
                }
                patterns.iter().for_each(|pattern| self.pattern(pattern));
            }
            PatternKind::Sequence(patterns) => patterns.iter().for_each(|pattern| self.pattern(pattern)),
            PatternKind::As { pattern, .. } => self.pattern(pattern),
            _ => self.unsupported(
                pattern.span,
                "this pattern",
                "kernels match constants, numbers, bools and captured names with a dot, and tuples of them: `case (0, y):`",
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
            ExprKind::Call { func, args } if self.is_print(func) => {
                for arg in args {
                    match &arg.kind {
                        ArgumentKind::Positional(value) => self.text(value),
                        // `sep` and `end` are read with the call.
                        ArgumentKind::Keyword(..) => {}
                        _ => self.argument(arg),
                    }
                }
            }
            ExprKind::Call { func, args } if self.is_number_of_string(func, args) => {
                if float_of_text(args).is_none() {
                    let diagnostic = errors::number_of_string(self.at(expr.span));
                    self.diagnostics.push(diagnostic);
                }
            }
            ExprKind::Call { func, args } => {
                let n_before = self.diagnostics.0.len();
                self.callee(func);
                if self.diagnostics.0.len() > n_before {
                    // The arguments of another function say nothing about a kernel's.
                    return args.iter().for_each(|arg| self.argument_of_unknown(arg));
                }
                // The types in `Array(4, f32)` and the like are read later, with the call.
                let is_plain = |arg: &&Argument| !is_purpose(func, arg);
                args.iter().filter(is_plain).for_each(|arg| self.argument(arg));
            }
            ExprKind::Lambda(lambda) => self.lambda(lambda, expr.span),
            // It is the dict that cannot be used.
            ExprKind::Subscript { value, index }
                if matches!(index.kind, ExprKind::Str(_)) && self.is_of_the_host(value) =>
            {
                self.expr(value);
            }
            ExprKind::Binary { .. } if is_formatted(expr) => {
                let diagnostic = errors::string_formatted(self.at(expr.span), as_f_string(expr, self.source));
                self.diagnostics.push(diagnostic);
            }
            ExprKind::Compare { comparisons, .. } => {
                for comparison in comparisons {
                    if let CompareOp::Is | CompareOp::IsNot = comparison.op {
                        let diagnostic = errors::identity(
                            self.at(comparison.op_span),
                            comparison.op,
                            self.source.slice(comparison.right.span),
                        );
                        self.diagnostics.push(diagnostic);
                    }
                }
                // `x is None` is one mistake, not two.
                let is_reported = |child: &Expr| {
                    let is_compared = |at: &Comparison| {
                        matches!(at.op, CompareOp::Is | CompareOp::IsNot) && std::ptr::eq(&at.right, child)
                    };
                    matches!(child.kind, ExprKind::None) && comparisons.iter().any(is_compared)
                };
                expr.each_child(&mut |child| {
                    if !is_reported(child) {
                        self.expr(child);
                    }
                });
            }
            ExprKind::Tuple(items) | ExprKind::List(items) => {
                for item in items {
                    match &item.kind {
                        ExprKind::Starred(inner) => self.expr(inner),
                        _ => self.expr(item),
                    }
                }
            }
            _ => match unsupported::expr(expr, self.source) {
                Some(diagnostic) => self.diagnostics.push(diagnostic),
                None => expr.each_child(&mut |child| self.expr(child)),
            },
        }
    }

    /// Whether a name has a value of the host that kernels cannot use.
    fn is_of_the_host(&self, expr: &Expr) -> bool {
        let ExprKind::Name(name) = &expr.kind else { return false };
        !self.is_own(name) && matches!(self.env.get(name), Some(EnvValue::Other { .. }))
    }

    fn argument_of_unknown(&mut self, arg: &Argument) {
        match &arg.kind {
            ArgumentKind::Positional(value) | ArgumentKind::Keyword(_, value) => self.text(value),
            _ => self.argument(arg),
        }
    }

    /// `float("inf")`.
    fn is_number_of_string(&self, func: &Expr, args: &[Argument]) -> bool {
        let ExprKind::Name(name) = &func.kind else { return false };
        let is_type = match self.env.get(name) {
            Some(EnvValue::Type(_)) => !self.is_own(name),
            Some(_) => false,
            None => !self.is_own(name) && matches!(builtins::lookup(name), Some(builtins::Builtin::Type(_))),
        };
        let is_string = |arg: &Argument| {
            matches!(&arg.kind, ArgumentKind::Positional(Expr { kind: ExprKind::Str(_), .. }))
        };
        is_type && args.len() == 1 && is_string(&args[0])
    }

    fn argument(&mut self, arg: &Argument) {
        match &arg.kind {
            ArgumentKind::Positional(value)
            | ArgumentKind::Keyword(_, value)
            | ArgumentKind::Spread(value) => self.expr(value),
            ArgumentKind::KeywordSpread(_) => {
                self.unsupported(arg.span, "`**`", "write the arguments one by one: `name=value`");
            }
        }
    }

    fn name(&mut self, name: &Name, expr: &Expr) {
        if self.is_own(name) {
            return;
        }
        match self.env.get(name) {
            Some(EnvValue::Function(callee)) => {
                self.calls.push(CallSite { callee, location: self.source.at(expr.span), is_called: false });
            }
            // It was a kernel before, or will be one.
            Some(EnvValue::Other { .. }) if name == self.own_name => {
                self.unknown_name(name, expr.span, errors::unknown_name);
            }
            Some(_) => {}
            None => match builtins::lookup(name) {
                Some(_) => {}
                None if name.as_ref() == "Array" => {}
                None => self.unknown_name(name, expr.span, errors::unknown_name),
            },
        }
    }

    /// The callee.
    fn callee(&mut self, func: &Expr) {
        match &func.kind {
            ExprKind::Name(name) if self.is_unknown(name) => {
                self.unknown_name(name, func.span, errors::unknown_function);
            }
            _ => {
                let n_before = self.calls.len();
                self.expr(func);
                if let Some(call) = self.calls.get_mut(n_before) {
                    call.is_called = call.location.span == func.span;
                }
            }
        }
    }

    fn is_unknown(&self, name: &str) -> bool {
        !self.is_own(name)
            && self.env.get(name).is_none()
            && builtins::lookup(name).is_none()
            && name != "Array"
    }

    fn unknown_name(
        &mut self,
        name: &Name,
        span: Span,
        error: fn(Location, &str, Option<&str>) -> Diagnostic,
    ) {
        if self.reported.contains(&**name) {
            return;
        }
        // Each member of another framework's module is reported, with its counterpart in kernels.
        if foreign_names::instead(name).is_none() {
            self.reported.insert(name.to_string());
        }
        if name == self.own_name {
            return self.diagnostics.push(errors::own_name(self.at(span), name));
        }
        if let Some(below) = binding_below(self.source, name, span) {
            return self.diagnostics.push(errors::name_below(self.at(span), name, self.at(below)));
        }
        let nearest = self.nearest(name);
        let diagnostic = error(self.at(span), name, nearest.as_deref());
        if self.unknown.reported.insert((diagnostic.message.clone(), diagnostic.help.clone())) {
            self.diagnostics.push(diagnostic);
        }
    }

    /// The known name that an unknown one may be meant for.
    fn nearest(&mut self, name: &str) -> Option<String> {
        let outside = self.unknown.candidates_of(self.env)?;
        let own = self.scopes.iter().flat_map(|scope| scope.names());
        let known = own.chain(&outside).map(|name| &**name);
        let known = known.chain(builtins::names().map(|name| -> &str { name }));
        suggest::nearest(name, known).map(str::to_owned)
    }

    /// `math.sqrt`, `config.N`, or a swizzle of some value.
    fn attribute(&mut self, expr: &Expr) {
        let ExprKind::Attribute { value, attr } = &expr.kind else { return };
        let Some(module) = self.module(value) else { return self.expr(value) };
        if builtins::is_kernel_module(&module) {
            match builtins::member(&attr.name) {
                Some(_) => return,
                None if &*attr.name == "Array" => return,
                None => {}
            }
        }
        let env = self.env_module(value);
        let holder = env.as_ref().map_or_else(|| Found::Module(module.as_str().into()), EnvModule::describe);
        match env.as_ref().and_then(|module| module.members.get(&attr.name)) {
            Some(EnvValue::Function(callee)) => {
                self.calls.push(CallSite { callee, location: self.source.at(expr.span), is_called: false });
            }
            Some(_) => {}
            None => {
                let members = env.and_then(|module| self.unknown.candidates_of(&*module.members));
                let members = members.unwrap_or_default();
                let builtin = builtins::is_kernel_module(&module).then(builtins::member_names);
                let builtin = builtin.into_iter().flatten().map(|name| -> &str { name });
                let known = members.iter().map(|name| &**name).chain(builtin);
                let nearest = suggest::nearest(&attr.name, known);
                let diagnostic = errors::unknown_member(self.at(attr.span), &holder, &attr.name, nearest);
                self.diagnostics.push(diagnostic);
            }
        }
    }

    /// The full name of the module that an expression names, built in or imported by the script.
    fn module(&self, expr: &Expr) -> Option<String> {
        if let Some(module) = self.env_module(expr) {
            return Some(module.name.to_string());
        }
        let ExprKind::Name(name) = &expr.kind else { return None };
        let is_builtin = !self.is_own(name)
            && self.env.get(name).is_none()
            && builtins::lookup(name) == Some(builtins::Builtin::Module);
        is_builtin.then(|| name.to_string())
    }

    fn env_module(&self, expr: &Expr) -> Option<EnvModule> {
        let value = match &expr.kind {
            ExprKind::Name(name) if !self.is_own(name) => self.env.get(name)?,
            ExprKind::Attribute { value, attr } => self.env_module(value)?.members.get(&attr.name)?,
            _ => return None,
        };
        match value {
            EnvValue::Module(module) | EnvValue::Named(module, _) => Some(module),
            _ => None,
        }
    }
}

/// Floats without a literal: `float("inf")`, `float("-inf")` and `float("nan")`.
pub(crate) fn float_of_text(args: &[Argument]) -> Option<f64> {
    let [Argument { kind: ArgumentKind::Positional(Expr { kind: ExprKind::Str(text), .. }), .. }] = args
    else {
        return None;
    };
    let text = text.trim().to_ascii_lowercase();
    let (sign, name) = match text.strip_prefix('-') {
        Some(name) => (-1.0, name),
        None => (1.0, text.strip_prefix('+').unwrap_or(&text)),
    };
    match name {
        "inf" | "infinity" => Some(sign * f64::INFINITY),
        "nan" => Some(f64::NAN),
        _ => None,
    }
}

/// The purpose of a cooperative matrix is a string.
fn is_purpose(func: &Expr, arg: &Argument) -> bool {
    let is_word = matches!(&arg.kind, ArgumentKind::Positional(Expr { kind: ExprKind::Str(_), .. }));
    is_word && matches!(&func.kind, ExprKind::Name(name) if &**name == "coop_matrix")
}
