//! The tree as text, for tests and for reading: a line per statement, expressions as S-expressions.
//!
//! The format is stable; places in the source are not part of it.

use std::fmt::Write;

use crate::ast::*;

/// Writes `module` down, one statement per line, blocks indented by two spaces.
pub fn dump(module: &Module) -> String {
    let mut dump = Dump { out: String::new(), indent: 0 };
    dump.block(&module.body);
    dump.out
}

struct Dump {
    out: String,
    indent: usize,
}

impl Dump {
    /// A line `(head`, the blocks below it, and the closing parenthesis.
    fn with_block(&mut self, head: &str, body: &[Stmt]) {
        self.line(&format!("({head}"));
        self.indent += 1;
        self.block(body);
        self.indent -= 1;
        self.close();
    }

    fn line(&mut self, text: &str) {
        let width = self.indent * 2;
        writeln!(self.out, "{:width$}{text}", "").expect("a string can be written to");
    }

    /// Appends `)` to the last line.
    fn close(&mut self) {
        self.out.pop();
        self.out.push_str(")\n");
    }

    fn block(&mut self, body: &[Stmt]) {
        for stmt in body {
            self.stmt(stmt);
        }
    }

    fn named_block(&mut self, name: &str, body: &[Stmt]) {
        if !body.is_empty() {
            self.with_block(name, body);
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::If { branches, orelse } => {
                self.line("(if");
                self.indent += 1;
                for branch in branches {
                    self.with_block(&format!("branch {}", expr(&branch.test)), &branch.body);
                }
                self.named_block("else", orelse);
                self.indent -= 1;
                self.close();
            }
            StmtKind::While { test, body, orelse } => {
                self.loop_(&format!("while {}", expr(test)), body, orelse);
            }
            StmtKind::For { target, iter, body, orelse, is_async } => {
                let head = format!("{}for {} {}", prefix(*is_async), expr(target), expr(iter));
                self.loop_(&head, body, orelse);
            }
            StmtKind::With { items, body, is_async } => {
                let items = items.iter().map(|item| match &item.target {
                    Some(target) => format!("({} as {})", expr(&item.context), expr(target)),
                    None => expr(&item.context),
                });
                self.with_block(&format!("{}with {}", prefix(*is_async), joined(items)), body);
            }
            StmtKind::Try(try_) => self.try_(try_),
            StmtKind::Match { subject, cases } => self.match_(subject, cases),
            StmtKind::Function(def) => self.function(def),
            StmtKind::Class(def) => self.class(def),
            simple => self.line(&simple_stmt(simple)),
        }
    }

    fn loop_(&mut self, head: &str, body: &[Stmt], orelse: &[Stmt]) {
        self.line(&format!("({head}"));
        self.indent += 1;
        self.block(body);
        self.named_block("else", orelse);
        self.indent -= 1;
        self.close();
    }

    fn try_(&mut self, Try { body, handlers, orelse, finally, is_star }: &Try) {
        self.line("(try");
        self.indent += 1;
        self.block(body);
        for handler in handlers {
            let mut head = if *is_star { "except*".to_owned() } else { "except".to_owned() };
            if let Some(exception) = &handler.exception {
                head += &format!(" {}", expr(exception));
            }
            if let Some(name) = &handler.name {
                head += &format!(" as {}", name.name);
            }
            self.with_block(&head, &handler.body);
        }
        self.named_block("else", orelse);
        self.named_block("finally", finally);
        self.indent -= 1;
        self.close();
    }

    fn match_(&mut self, subject: &Expr, cases: &[MatchCase]) {
        self.line(&format!("(match {}", expr(subject)));
        self.indent += 1;
        for case in cases {
            let guard = case.guard.as_ref().map(|guard| format!(" if {}", expr(guard)));
            let head = format!("case {}{}", pattern(&case.pattern), guard.unwrap_or_default());
            self.with_block(&head, &case.body);
        }
        self.indent -= 1;
        self.close();
    }

    fn function(&mut self, def: &FunctionDef) {
        let mut head = format!("{}def {}", prefix(def.is_async), def.name.name);
        head += &type_params(&def.type_params);
        head += &format!(" {}", params(&def.params));
        if let Some(returns) = &def.returns {
            head += &format!(" -> {}", expr(returns));
        }
        self.decorated(&def.decorators, &head, &def.body);
    }

    fn class(&mut self, def: &ClassDef) {
        let mut head = format!("class {}{}", def.name.name, type_params(&def.type_params));
        if !def.arguments.is_empty() {
            head += &format!(" ({})", joined(def.arguments.iter().map(argument)));
        }
        self.decorated(&def.decorators, &head, &def.body);
    }

    fn decorated(&mut self, decorators: &[Expr], head: &str, body: &[Stmt]) {
        for decorator in decorators {
            self.line(&format!("@{}", expr(decorator)));
        }
        self.with_block(head, body);
    }
}

fn prefix(is_async: bool) -> &'static str {
    if is_async { "async " } else { "" }
}

fn joined(items: impl IntoIterator<Item = String>) -> String {
    items.into_iter().collect::<Vec<_>>().join(" ")
}

/// The items with a blank before each.
fn spaced(items: &str) -> String {
    if items.is_empty() { String::new() } else { format!(" {items}") }
}

fn exprs(all: &[Expr]) -> String {
    joined(all.iter().map(expr))
}

/// ` (..)` for a value, nothing for `None`.
fn optional(value: Option<&Expr>) -> String {
    value.map(|value| format!(" {}", expr(value))).unwrap_or_default()
}

fn simple_stmt(kind: &StmtKind) -> String {
    match kind {
        StmtKind::Expr(value) => format!("(expr {})", expr(value)),
        StmtKind::Assign { targets, value } => format!("(assign [{}] {})", exprs(targets), expr(value)),
        StmtKind::AugAssign { target, op, value, .. } => {
            format!("(augment {} {}= {})", expr(target), op.symbol(), expr(value))
        }
        StmtKind::AnnAssign { target, annotation, value } => {
            format!("(annotate {} {}{})", expr(target), expr(annotation), optional(value.as_ref()))
        }
        StmtKind::TypeAlias { name, type_params: params, value } => {
            format!("(type {}{} {})", name.name, type_params(params), expr(value))
        }
        StmtKind::Delete(targets) => format!("(del {})", exprs(targets)),
        StmtKind::Return(value) => format!("(return{})", optional(value.as_ref())),
        StmtKind::Raise { exception, cause } => {
            let cause = cause.as_ref().map(|cause| format!(" from {}", expr(cause)));
            format!("(raise{}{})", optional(exception.as_ref()), cause.unwrap_or_default())
        }
        StmtKind::Global(all) => format!("(global {})", names(all)),
        StmtKind::Nonlocal(all) => format!("(nonlocal {})", names(all)),
        StmtKind::Pass => "(pass)".to_owned(),
        StmtKind::Break => "(break)".to_owned(),
        StmtKind::Continue => "(continue)".to_owned(),
        StmtKind::Assert { test, message } => {
            format!("(assert {}{})", expr(test), optional(message.as_ref()))
        }
        StmtKind::Import(all) => format!("(import {})", joined(all.iter().map(import_name))),
        StmtKind::ImportFrom(import) => import_from(import),
        _ => "(error)".to_owned(),
    }
}

fn names(all: &[Ident]) -> String {
    joined(all.iter().map(|ident| ident.name.to_string()))
}

fn import_name(import: &ImportName) -> String {
    match &import.alias {
        Some(alias) => format!("({} as {})", dotted(&import.path), alias.name),
        None => dotted(&import.path),
    }
}

fn import_from(import: &ImportFrom) -> String {
    let imported = match &import.names {
        ImportedNames::Star(_) => "*".to_owned(),
        ImportedNames::Names(all) => joined(all.iter().map(import_name)),
    };
    format!("(from {}{} import {imported})", ".".repeat(import.level as usize), dotted(&import.path))
}

fn type_params(all: &[TypeParam]) -> String {
    if all.is_empty() {
        return String::new();
    }
    let one = |param: &TypeParam| match &param.kind {
        TypeParamKind::TypeVar { bound: None } => param.name.name.to_string(),
        TypeParamKind::TypeVar { bound: Some(bound) } => format!("({}: {})", param.name.name, expr(bound)),
        TypeParamKind::TypeVarTuple => format!("*{}", param.name.name),
        TypeParamKind::ParamSpec => format!("**{}", param.name.name),
    };
    format!("[{}]", joined(all.iter().map(one)))
}

fn params(params: &Parameters) -> String {
    let mut all: Vec<String> = params.positional_only.iter().map(|one| param("", one)).collect();
    if !params.positional_only.is_empty() {
        all.push("/".to_owned());
    }
    all.extend(params.regular.iter().map(|one| param("", one)));
    match &params.var_positional {
        Some(args) => all.push(param("*", args)),
        None if !params.keyword_only.is_empty() => all.push("*".to_owned()),
        None => {}
    }
    all.extend(params.keyword_only.iter().map(|one| param("", one)));
    all.extend(params.var_keyword.iter().map(|one| param("**", one)));
    format!("({})", all.join(" "))
}

fn param(stars: &str, param: &Param) -> String {
    let mut text = format!("{stars}{}", param.name.name);
    if let Some(annotation) = &param.annotation {
        text += &format!(": {}", expr(annotation));
    }
    if let Some(default) = &param.default {
        text += &format!(" = {}", expr(default));
    }
    if param.annotation.is_some() || param.default.is_some() { format!("({text})") } else { text }
}

fn argument(argument: &Argument) -> String {
    match &argument.kind {
        ArgumentKind::Positional(value) => expr(value),
        ArgumentKind::Spread(value) => format!("*{}", expr(value)),
        ArgumentKind::Keyword(name, value) => format!("{}={}", name.name, expr(value)),
        ArgumentKind::KeywordSpread(value) => format!("**{}", expr(value)),
    }
}

fn expr(expr: &Expr) -> String {
    let boxed = |value: &Expr| self::expr(value);
    match &expr.kind {
        ExprKind::None => "None".to_owned(),
        ExprKind::True => "True".to_owned(),
        ExprKind::False => "False".to_owned(),
        ExprKind::Ellipsis => "...".to_owned(),
        ExprKind::Int(value) => value.to_string(),
        ExprKind::Float(value) => format!("{value:?}"),
        ExprKind::Imaginary(value) => format!("{value:?}j"),
        ExprKind::Str(text) => format!("{text:?}"),
        ExprKind::Bytes(bytes) => format!("b\"{}\"", bytes.escape_ascii()),
        ExprKind::FString(parts) => format!("(fstring{})", spaced(&fstring(parts))),
        ExprKind::Name(name) => name.to_string(),
        ExprKind::Bool { op: BoolOp::And, values } => format!("(and {})", exprs(values)),
        ExprKind::Bool { op: BoolOp::Or, values } => format!("(or {})", exprs(values)),
        ExprKind::Walrus { target, value } => format!("(:= {} {})", target.name, boxed(value)),
        ExprKind::Binary { op, left, right, .. } => {
            format!("({} {} {})", op.symbol(), boxed(left), boxed(right))
        }
        ExprKind::Unary { op, operand } => format!("({} {})", op.symbol(), boxed(operand)),
        ExprKind::Compare { left, comparisons } => {
            let rest =
                comparisons.iter().map(|one| format!("{} {}", one.op.symbol(), self::expr(&one.right)));
            format!("(compare {} {})", boxed(left), joined(rest))
        }
        ExprKind::Lambda(lambda) => {
            format!("(lambda {} {})", params(&lambda.params), self::expr(&lambda.body))
        }
        ExprKind::IfElse { test, then, orelse } => {
            format!("(if {} {} {})", boxed(test), boxed(then), boxed(orelse))
        }
        ExprKind::List(elements) => format!("[{}]", exprs(elements)),
        ExprKind::Tuple(elements) => format!("(tuple{})", spaced(&exprs(elements))),
        ExprKind::Set(elements) => format!("(set {})", exprs(elements)),
        ExprKind::Dict(items) => format!("(dict{})", spaced(&joined(items.iter().map(dict_item)))),
        ExprKind::ListComp { element, clauses } => format!("(listcomp {} {})", boxed(element), comp(clauses)),
        ExprKind::SetComp { element, clauses } => format!("(setcomp {} {})", boxed(element), comp(clauses)),
        ExprKind::DictComp { key, value, clauses } => {
            format!("(dictcomp {}: {} {})", boxed(key), boxed(value), comp(clauses))
        }
        ExprKind::Generator { element, clauses } => {
            format!("(generator {} {})", boxed(element), comp(clauses))
        }
        ExprKind::Call { func, args } => {
            format!("(call {}{})", boxed(func), spaced(&joined(args.iter().map(argument))))
        }
        ExprKind::Attribute { value, attr } => format!("(. {} {})", boxed(value), attr.name),
        ExprKind::Subscript { value, index } => format!("(index {} {})", boxed(value), boxed(index)),
        ExprKind::Slice { lower, upper, step } => {
            let bound = |bound: &Option<Box<Expr>>| bound.as_deref().map_or("_".to_owned(), self::expr);
            format!("(slice {} {} {})", bound(lower), bound(upper), bound(step))
        }
        ExprKind::Starred(value) => format!("(* {})", boxed(value)),
        ExprKind::Yield(value) => format!("(yield{})", optional(value.as_deref())),
        ExprKind::YieldFrom(value) => format!("(yieldfrom {})", boxed(value)),
        ExprKind::Await(value) => format!("(await {})", boxed(value)),
        ExprKind::Error => "(error)".to_owned(),
    }
}

fn dict_item(item: &DictItem) -> String {
    match item {
        DictItem::Pair(key, value) => format!("{}: {}", expr(key), expr(value)),
        DictItem::Spread(mapping) => format!("**{}", expr(mapping)),
    }
}

fn comp(clauses: &[Comprehension]) -> String {
    let clause = |clause: &Comprehension| {
        let conditions = clause.conditions.iter().map(|condition| format!(" if {}", expr(condition)));
        let conditions: String = conditions.collect();
        format!(
            "({}for {} {}{conditions})",
            prefix(clause.is_async),
            expr(&clause.target),
            expr(&clause.iter)
        )
    };
    joined(clauses.iter().map(clause))
}

fn fstring(parts: &[FStringPart]) -> String {
    joined(parts.iter().map(|part| match part {
        FStringPart::Literal(text) => format!("{text:?}"),
        FStringPart::Value(value) => fstring_value(value),
    }))
}

fn fstring_value(value: &FStringValue) -> String {
    let mut text = format!("{{{}", expr(&value.expr));
    if let Some(debug) = &value.debug_text {
        text += &format!(" = {debug:?}");
    }
    text += match value.conversion {
        Some(Conversion::Str) => " !s",
        Some(Conversion::Repr) => " !r",
        Some(Conversion::Ascii) => " !a",
        None => "",
    };
    if let Some(spec) = &value.spec {
        text += &format!(" :{}", spaced(&fstring(spec)));
    }
    text + "}"
}

fn pattern(pattern: &Pattern) -> String {
    let patterns = |all: &[Pattern]| joined(all.iter().map(self::pattern));
    match &pattern.kind {
        PatternKind::Wildcard => "_".to_owned(),
        PatternKind::Capture(name) => format!("(capture {})", name.name),
        PatternKind::Value(value) | PatternKind::Singleton(value) => expr(value),
        PatternKind::Sequence(all) => format!("[{}]", patterns(all)),
        PatternKind::Star(name) => format!("(* {})", name.as_ref().map_or("_", |name| &name.name)),
        PatternKind::Mapping { items, rest } => {
            let items = items.iter().map(|(key, value)| format!("{}: {}", expr(key), self::pattern(value)));
            let rest = rest.iter().map(|name| format!("**{}", name.name));
            format!("(mapping{})", spaced(&joined(items.chain(rest))))
        }
        PatternKind::Class { class, positional, keywords } => {
            let positional = positional.iter().map(self::pattern);
            let keywords =
                keywords.iter().map(|(name, value)| format!("{}={}", name.name, self::pattern(value)));
            format!("(class {}{})", expr(class), spaced(&joined(positional.chain(keywords))))
        }
        PatternKind::As { pattern, name } => format!("(as {} {})", self::pattern(pattern), name.name),
        PatternKind::Or(all) => format!("(or {})", patterns(all)),
        PatternKind::Error => "(error)".to_owned(),
    }
}
