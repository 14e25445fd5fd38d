//! The direct parts of a script's statements and expressions, for passes that look at all of it.
//!
//! Patterns are left out but for the values in them; what a function or a class binds is the caller's affair.

use kps_syntax::ast::*;

/// The expressions that stand in a statement itself, targets and decorators included.
pub(super) fn exprs<'t>(stmt: &'t Stmt, visit: &mut dyn FnMut(&'t Expr)) {
    match &stmt.kind {
        StmtKind::Expr(expr) | StmtKind::TypeAlias { value: expr, .. } => visit(expr),
        StmtKind::Assign { targets, value } => targets.iter().chain([value]).for_each(visit),
        StmtKind::AugAssign { target, value, .. } => [target, value].into_iter().for_each(visit),
        StmtKind::AnnAssign { target, annotation, value } => {
            [target, annotation].into_iter().chain(value).for_each(visit);
        }
        StmtKind::Delete(targets) => targets.iter().for_each(visit),
        StmtKind::Return(value) => value.iter().for_each(visit),
        StmtKind::Raise { exception, cause } => exception.iter().chain(cause).for_each(visit),
        StmtKind::Assert { test, message } => [test].into_iter().chain(message).for_each(visit),
        StmtKind::If { branches, .. } => branches.iter().map(|branch| &branch.test).for_each(visit),
        StmtKind::While { test, .. } => visit(test),
        StmtKind::For { target, iter, .. } => [target, iter].into_iter().for_each(visit),
        StmtKind::With { items, .. } => {
            items.iter().flat_map(|item| [&item.context].into_iter().chain(&item.target)).for_each(visit);
        }
        StmtKind::Try(of) => {
            of.handlers.iter().filter_map(|handler| handler.exception.as_ref()).for_each(visit)
        }
        StmtKind::Match { subject, cases } => {
            visit(subject);
            for case in cases {
                pattern_exprs(&case.pattern, visit);
                case.guard.iter().for_each(&mut *visit);
            }
        }
        StmtKind::Function(def) => {
            def.decorators.iter().for_each(&mut *visit);
            params(&def.params, visit);
            def.returns.iter().for_each(visit);
        }
        StmtKind::Class(def) => {
            def.decorators.iter().for_each(&mut *visit);
            def.arguments.iter().map(argument).for_each(visit);
        }
        StmtKind::Global(_)
        | StmtKind::Nonlocal(_)
        | StmtKind::Pass
        | StmtKind::Break
        | StmtKind::Continue
        | StmtKind::Import(_)
        | StmtKind::ImportFrom(_)
        | StmtKind::Error => {}
    }
}

/// The blocks of a statement that belong to the same scope.
pub(super) fn blocks(stmt: &Stmt) -> Vec<&[Stmt]> {
    match &stmt.kind {
        StmtKind::If { branches, orelse } => {
            branches.iter().map(|branch| &branch.body[..]).chain([&orelse[..]]).collect()
        }
        StmtKind::While { body, orelse, .. } | StmtKind::For { body, orelse, .. } => vec![body, orelse],
        StmtKind::With { body, .. } => vec![body],
        StmtKind::Try(of) => {
            let handlers = of.handlers.iter().map(|handler| &handler.body[..]);
            [&of.body[..], &of.orelse, &of.finally].into_iter().chain(handlers).collect()
        }
        StmtKind::Match { cases, .. } => cases.iter().map(|case| &case.body[..]).collect(),
        _ => Vec::new(),
    }
}

/// The direct parts of an expression, the bodies of lambdas and comprehensions included.
pub(super) fn parts<'t>(expr: &'t Expr, visit: &mut dyn FnMut(&'t Expr)) {
    match &expr.kind {
        ExprKind::Bool { values, .. }
        | ExprKind::List(values)
        | ExprKind::Tuple(values)
        | ExprKind::Set(values) => values.iter().for_each(visit),
        ExprKind::Walrus { value, .. }
        | ExprKind::Starred(value)
        | ExprKind::Attribute { value, .. }
        | ExprKind::YieldFrom(value)
        | ExprKind::Await(value)
        | ExprKind::Unary { operand: value, .. } => visit(value),
        ExprKind::Yield(value) => value.iter().for_each(|value| visit(value)),
        ExprKind::Binary { left, right, .. } => [left, right].into_iter().for_each(|side| visit(side)),
        ExprKind::Compare { left, comparisons } => {
            visit(left);
            comparisons.iter().map(|comparison| &comparison.right).for_each(visit);
        }
        ExprKind::Lambda(lambda) => {
            params(&lambda.params, visit);
            visit(&lambda.body);
        }
        ExprKind::IfElse { test, then, orelse } => {
            [test, then, orelse].into_iter().for_each(|part| visit(part));
        }
        ExprKind::Dict(items) => items.iter().for_each(|item| match item {
            DictItem::Pair(key, value) => [key, value].into_iter().for_each(&mut *visit),
            DictItem::Spread(value) => visit(value),
        }),
        ExprKind::ListComp { element, clauses }
        | ExprKind::SetComp { element, clauses }
        | ExprKind::Generator { element, clauses } => {
            visit(element);
            comprehensions(clauses, visit);
        }
        ExprKind::DictComp { key, value, clauses } => {
            [key, value].into_iter().for_each(|part| visit(part));
            comprehensions(clauses, visit);
        }
        ExprKind::Call { func, args } => {
            visit(func);
            args.iter().map(argument).for_each(visit);
        }
        ExprKind::Subscript { value, index } => [value, index].into_iter().for_each(|part| visit(part)),
        ExprKind::Slice { lower, upper, step } => {
            [lower, upper, step].into_iter().flatten().for_each(|part| visit(part));
        }
        ExprKind::FString(parts) => formatted(parts, visit),
        ExprKind::None
        | ExprKind::True
        | ExprKind::False
        | ExprKind::Ellipsis
        | ExprKind::Int(_)
        | ExprKind::Float(_)
        | ExprKind::Imaginary(_)
        | ExprKind::Str(_)
        | ExprKind::Bytes(_)
        | ExprKind::Name(_)
        | ExprKind::Error => {}
    }
}

pub(super) fn argument(argument: &Argument) -> &Expr {
    match &argument.kind {
        ArgumentKind::Positional(value)
        | ArgumentKind::Spread(value)
        | ArgumentKind::Keyword(_, value)
        | ArgumentKind::KeywordSpread(value) => value,
    }
}

fn params<'t>(params: &'t Parameters, visit: &mut dyn FnMut(&'t Expr)) {
    params.iter().flat_map(|param| param.annotation.iter().chain(&param.default)).for_each(visit);
}

fn comprehensions<'t>(clauses: &'t [Comprehension], visit: &mut dyn FnMut(&'t Expr)) {
    for clause in clauses {
        [&clause.target, &clause.iter].into_iter().chain(&clause.conditions).for_each(&mut *visit);
    }
}

fn formatted<'t>(parts: &'t [FStringPart], visit: &mut dyn FnMut(&'t Expr)) {
    for part in parts {
        let FStringPart::Value(value) = part else { continue };
        visit(&value.expr);
        value.spec.iter().for_each(|spec| formatted(spec, visit));
    }
}

fn pattern_exprs<'t>(pattern: &'t Pattern, visit: &mut dyn FnMut(&'t Expr)) {
    match &pattern.kind {
        PatternKind::Value(value) | PatternKind::Singleton(value) => visit(value),
        PatternKind::Sequence(patterns) | PatternKind::Or(patterns) => {
            patterns.iter().for_each(|pattern| pattern_exprs(pattern, visit));
        }
        PatternKind::Mapping { items, .. } => {
            for (key, pattern) in items {
                visit(key);
                pattern_exprs(pattern, visit);
            }
        }
        PatternKind::Class { class, positional, keywords } => {
            visit(class);
            let keywords = keywords.iter().map(|(_, pattern)| pattern);
            positional.iter().chain(keywords).for_each(|pattern| pattern_exprs(pattern, visit));
        }
        PatternKind::As { pattern, .. } => pattern_exprs(pattern, visit),
        PatternKind::Wildcard | PatternKind::Capture(_) | PatternKind::Star(_) | PatternKind::Error => {}
    }
}
