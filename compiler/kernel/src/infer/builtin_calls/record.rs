//! `print` and `assert`: text with placeholders for values, which the host fills in after the launch.
//!
//! Each becomes one message: a template (`ir/text.rs`) and the values in it, of any types. A pass makes the record
//! that the kernel writes. A kernel has strings only in these two statements.

use kps_syntax::Span;
use kps_syntax::ast::{
    Argument, ArgumentKind, Conversion, Expr, ExprKind, FStringPart, FStringValue, Stmt as AstStmt, StmtKind,
};

use super::format_spec::{self, Subject};
use crate::builtins::Effect;
use crate::constant::{Constant, Literal};
use crate::env::EnvValue;
use crate::errors::{self, Printable};
use crate::infer::Ctx;
use crate::infer::control::stmts::Condition;
use crate::infer::expressions::operand::{Operand, Static};
use crate::ir::text::{self, Format};
use crate::ir::{Message, MessageKind, NodeId, NodeKind, Stmt, UnaryOp};
use crate::resolve::is_test_with_text;
use crate::types::{Scalar, Type};

/// The maximum number of numbers in one message.
const MAX_NUMBERS: u32 = 64;

/// The maximum number of bytes of the text of one message, which an instruction of SPIR-V limits.
const MAX_TEXT: usize = 60_000;

#[derive(Clone, Default)]
pub(in crate::infer) struct Text {
    template: String,
    values: Vec<NodeId>,
    /// In all values together.
    n_numbers: u32,
}

impl Text {
    pub fn literal(&mut self, literal: &str) {
        text::push_literal(&mut self.template, literal);
    }

    /// A value of this type. One that is too long is reported with the whole message.
    fn value(&mut self, node: NodeId, ty: &Type, n_numbers: u32, format: Format) {
        self.n_numbers = self.n_numbers.saturating_add(n_numbers);
        self.values.push(node);
        if self.n_numbers <= MAX_NUMBERS {
            text::push_value(&mut self.template, ty, format);
        }
    }

    fn append(&mut self, other: Text) {
        self.template += &other.template;
        self.values.extend(other.values);
        self.n_numbers = self.n_numbers.saturating_add(other.n_numbers);
    }

    fn joined(texts: Vec<Text>, separator: &str) -> Text {
        let mut all = Text::default();
        for (at, text) in texts.into_iter().enumerate() {
            if at > 0 {
                all.literal(separator);
            }
            all.append(text);
        }
        all
    }
}

impl Ctx<'_> {
    /// `print(a, f"{b:.2f}", sep=", ", end="")`.
    pub fn print_call(&mut self, args: &[Argument], span: Span) -> Operand {
        let mut result = Operand::Static(Static::None);
        self.for_each_text(args, &mut |ctx, args| {
            if let Operand::Error = ctx.print_texts(args, span) {
                result = Operand::Error;
            }
        });
        result
    }

    /// The same, where no argument is a conditional string.
    fn print_texts(&mut self, args: &[Argument], span: Span) -> Operand {
        let (mut separator, mut end) = (" ".to_owned(), "\n".to_owned());
        let mut values = Vec::new();
        for arg in args {
            match &arg.kind {
                ArgumentKind::Positional(_) | ArgumentKind::Spread(_) => values.push(&arg.kind),
                ArgumentKind::Keyword(name, value) => match (&*name.name, &value.kind) {
                    ("sep", ExprKind::Str(text)) => separator = text.to_string(),
                    ("end", ExprKind::Str(text)) => end = text.to_string(),
                    ("sep" | "end", ExprKind::None) => {}
                    // The host receives the text at the end of the launch.
                    ("flush", ExprKind::True | ExprKind::False) => {}
                    ("sep" | "end", _) => {
                        return self.fail(errors::print_separator(self.at(value.span), &name.name));
                    }
                    _ => return self.fail(errors::print_keyword(self.at(name.span), &name.name)),
                },
                // `check` refused it.
                ArgumentKind::KeywordSpread(_) => return Operand::Error,
            }
        }
        let mut texts = Vec::new();
        for value in values {
            match value {
                ArgumentKind::Spread(value) => {
                    let operand = self.expr(value);
                    for part in self.spread(&operand, value.span) {
                        let mut text = Text::default();
                        self.operand_text(&mut text, &part, value.span, Format::PRINTED);
                        texts.push(text);
                    }
                }
                ArgumentKind::Positional(value) => {
                    let mut text = Text::default();
                    self.text_of(&mut text, value);
                    texts.push(text);
                }
                ArgumentKind::Keyword(..) | ArgumentKind::KeywordSpread(_) => {}
            }
        }
        let mut end_template = String::new();
        text::push_literal(&mut end_template, &end);
        self.push_message(MessageKind::Print { end: end_template }, Text::joined(texts, &separator), span);
        Operand::Static(Static::None)
    }

    /// `assert test, message`: a record for the host, and the end of the invocation.
    pub fn assert_stmt(&mut self, stmt: &AstStmt) {
        let StmtKind::Assert { test, message } = &stmt.kind else { return };
        if !self.belongs_to_compute("assert", stmt.span) {
            return;
        }
        if message.is_none() && is_test_with_text(test) {
            // Reported by `check`.
            return;
        }
        let holds = match self.condition(test) {
            Condition::Known(true) => return,
            Condition::Known(false) => None,
            Condition::Node(node) => Some(node),
            // Its message may contain mistakes, too.
            Condition::Error | Condition::Unknown => {
                return message.iter().for_each(|message| drop(self.assert_text(test, message)));
            }
        };
        let condition = match holds {
            Some(node) => {
                Condition::Node(self.node(NodeKind::Unary(UnaryOp::Not, node), Type::BOOL, test.span))
            }
            // After an assertion in the body itself, the function still returns its result.
            None if self.precedes_return(stmt) => {
                Condition::Node(self.constant(Constant::bool(true), test.span))
            }
            None => Condition::Known(true),
        };
        let mut failed = |ctx: &mut Self, message: &[Argument]| {
            let text = match message.first().map(|message| &message.kind) {
                Some(ArgumentKind::Positional(message)) => ctx.assert_text(test, message),
                _ => ctx.values_text(test),
            };
            if ctx.may_end_invocation() {
                ctx.push_message(MessageKind::Assert, text, stmt.span);
                ctx.f.block.push(match ctx.f.is_kernel {
                    true => Stmt::Return(None, stmt.span),
                    false => Stmt::End(stmt.span),
                });
                ctx.f.live = false;
            } else {
                ctx.push_message(MessageKind::AssertOnce, text, stmt.span);
            }
        };
        let argument =
            |message: &Expr| Argument { kind: ArgumentKind::Positional(message.clone()), span: message.span };
        let message: Vec<Argument> = message.iter().map(argument).collect();
        self.branch(&condition, test.span, |ctx| ctx.for_each_text(&message, &mut failed), |_| {});
    }

    /// Whether a statement is in the function's outermost block, with no `return` before it.
    fn precedes_return(&self, stmt: &AstStmt) -> bool {
        let is_own = || self.functions.active_body().iter().any(|own| own.span == stmt.span);
        !self.f.is_kernel && self.f.results.is_empty() && is_own()
    }

    /// The message, and after a line break the values in the test.
    fn assert_text(&mut self, test: &Expr, message: &Expr) -> Text {
        let mut text = Text::default();
        self.text_of(&mut text, message);
        let values = self.values_text(test);
        text.append(values);
        text
    }

    /// Whether an invocation ends when its assertion fails. It must not if others wait for it at a barrier.
    fn may_end_invocation(&self) -> bool {
        !self.template.is_collective(self.kernel_env, &self.passed_functions)
    }

    /// `\nx = {f32}, n = {i32}`: the values in the test.
    fn values_text(&mut self, test: &Expr) -> Text {
        let mut sides = Vec::new();
        self.shown_operands(test, &mut sides);
        let mut text = Text::default();
        let mut shown: Vec<String> = Vec::new();
        text.literal("\n");
        for side in sides {
            let source = self.f.source.slice(side.span).to_owned();
            if shown.contains(&source) || shown.len() == 8 {
                continue;
            }
            let operand = self.expr(side);
            if !matches!(operand, Operand::Node(node) if self.ty(node).scalar().is_some()) {
                continue;
            }
            text.literal(&format!("{}{source} = ", if shown.is_empty() { "" } else { ", " }));
            self.operand_text(&mut text, &operand, side.span, Format::PRINTED);
            shown.push(source);
        }
        text
    }

    /// Collects the sides of the comparisons of a test, and the arguments of its calls.
    fn shown_operands<'e>(&mut self, test: &'e Expr, sides: &mut Vec<&'e Expr>) {
        match &test.kind {
            ExprKind::Compare { left, comparisons } => {
                self.side(left, sides);
                comparisons.iter().for_each(|comparison| self.side(&comparison.right, sides));
            }
            ExprKind::Bool { values, .. } => {
                values.iter().for_each(|value| self.shown_operands(value, sides))
            }
            ExprKind::Unary { operand, .. } => self.shown_operands(operand, sides),
            ExprKind::IfElse { test, then, orelse } => {
                [test, then, orelse].into_iter().for_each(|part| self.shown_operands(part, sides));
            }
            ExprKind::Call { args, .. } => {
                for arg in args {
                    let (ArgumentKind::Positional(value) | ArgumentKind::Keyword(_, value)) = &arg.kind
                    else {
                        continue;
                    };
                    match value.kind {
                        ExprKind::Compare { .. } | ExprKind::Bool { .. } => self.shown_operands(value, sides),
                        _ => self.side(value, sides),
                    }
                }
            }
            _ => {}
        }
    }

    /// Collects what to show of a value: the whole value, or its parts if computing it again may have side
    /// effects.
    fn side<'e>(&mut self, value: &'e Expr, sides: &mut Vec<&'e Expr>) {
        match &value.kind {
            // A constant alone is not informative.
            ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::True | ExprKind::False => {}
            ExprKind::Unary { operand, .. } => self.side(operand, sides),
            ExprKind::Tuple(items) | ExprKind::List(items) => {
                items.iter().for_each(|item| self.side(item, sides));
            }
            _ if self.is_repeatable_here(value) => sides.push(value),
            _ => value.each_child(&mut |child| self.side(child, sides)),
        }
    }

    /// Whether a value can be computed again without side effects: names, elements, arithmetic and pure
    /// functions.
    fn is_repeatable_here(&mut self, value: &Expr) -> bool {
        let mut is_repeatable = match &value.kind {
            ExprKind::Call { func, .. } => self.only_computes(func),
            ExprKind::Walrus { .. } | ExprKind::Lambda(_) => false,
            _ => true,
        };
        value.each_child(&mut |child| is_repeatable = is_repeatable && self.is_repeatable_here(child));
        is_repeatable
    }

    fn only_computes(&mut self, function: &Expr) -> bool {
        let is_named = match &function.kind {
            ExprKind::Name(_) => true,
            ExprKind::Attribute { value, .. } => {
                matches!(value.kind, ExprKind::Name(_))
                    && matches!(self.expr(value), Operand::Static(Static::Module(..)))
            }
            _ => false,
        };
        is_named
            && match self.expr(function) {
                Operand::Static(Static::Builtin(function)) => function.effect == Effect::None,
                Operand::Static(function) => matches!(function, Static::Type(_)),
                _ => false,
            }
    }

    fn push_message(&mut self, kind: MessageKind, text: Text, span: Span) {
        let n_bytes =
            text.template.len() + if let MessageKind::Print { end } = &kind { end.len() } else { 0 };
        if text.n_numbers > MAX_NUMBERS || n_bytes > MAX_TEXT {
            return self.error(errors::record_too_long(self.at(span), MAX_NUMBERS as usize));
        }
        let message = Message { kind, template: text.template, values: text.values, span };
        self.f.block.push(Stmt::Message(Box::new(message)));
    }

    /// An argument of `print`: a string, or any value.
    fn text_of(&mut self, text: &mut Text, value: &Expr) {
        match &value.kind {
            ExprKind::Str(literal) => text.literal(literal),
            ExprKind::FString(parts) => parts.iter().for_each(|part| match part {
                FStringPart::Literal(literal) => text.literal(literal),
                FStringPart::Value(value) => self.field(text, value),
            }),
            _ => match self.script_value(value) {
                Some(EnvValue::Str(literal)) => text.literal(&literal),
                _ => {
                    let operand = self.expr(value);
                    self.operand_text(text, &operand, value.span, Format::PRINTED);
                }
            },
        }
    }

    /// `{value!r:spec}` of an f-string.
    fn field(&mut self, text: &mut Text, field: &FStringValue) {
        let mut format = String::new();
        if let Some(debug) = &field.debug_text {
            text.literal(debug);
        }
        match field.conversion {
            Some(Conversion::Str) => format += "!s",
            Some(Conversion::Repr) => format += "!r",
            Some(Conversion::Ascii) => format += "!a",
            // As in Python, `{x=}` shows the repr.
            None if field.debug_text.is_some() && field.spec.is_none() => format += "!r",
            None => {}
        }
        if let Some(spec) = &field.spec {
            let Some(spec) = self.spec_text(spec) else { return };
            format += &format!(":{spec}");
        }
        if format.is_empty() && self.is_text(&field.expr) {
            return self.text_of(text, &field.expr);
        }
        let operand = self.expr(&field.expr);
        self.operand_text(text, &operand, field.expr.span, Format::printed(&format));
    }

    /// A format spec. Values in it are constants.
    fn spec_text(&mut self, parts: &[FStringPart]) -> Option<String> {
        let mut spec = String::new();
        for part in parts {
            match part {
                FStringPart::Literal(text) => spec += text,
                FStringPart::Value(value) => {
                    let operand = self.expr(&value.expr);
                    let Some(number) = self.known_int(&operand) else {
                        if !operand.has_error() {
                            self.error(errors::spec_value(self.at(value.span)));
                        }
                        return None;
                    };
                    spec += &number.to_string();
                }
            }
        }
        Some(spec)
    }

    pub(in crate::infer) fn operand_text(
        &mut self,
        text: &mut Text,
        operand: &Operand,
        span: Span,
        format: Format,
    ) {
        match operand {
            Operand::Error => {}
            operand if self.is_coop(operand) => self.not_printable(operand, span),
            Operand::Literal(Literal::Int(value)) if Literal::Int(*value).fit(Scalar::I32).is_none() => {
                if let Some(node) = self.literal_as(Literal::Int(*value), Scalar::I64, span) {
                    self.node_text(text, node, span, format);
                }
            }
            Operand::Node(node) => self.node_text(text, *node, span, format),
            Operand::Literal(_) => {
                if let Some(node) = self.materialize(operand, span) {
                    self.node_text(text, node, span, format);
                }
            }
            Operand::Place(place) => {
                let node = self.load_whole(place, span);
                self.node_text(text, node, span, format);
            }
            Operand::Tuple(items) => {
                text.literal("(");
                for (at, item) in items.iter().enumerate() {
                    self.separate(text, at);
                    self.operand_text(text, item, span, format.in_sequence());
                }
                text.literal(if items.len() == 1 { ",)" } else { ")" });
            }
            operand => self.not_printable(operand, span),
        }
    }

    fn not_printable(&mut self, operand: &Operand, span: Span) {
        let what = self.describe(operand);
        let instead = match operand {
            Operand::Buffer(_) | Operand::Row(_) => Printable::Element,
            Operand::Static(Static::Texture(_)) => Printable::Texel,
            Operand::Static(Static::Function(_) | Static::Builtin(_)) => Printable::Result,
            operand if self.is_coop(operand) => Printable::StoredMatrix,
            _ => Printable::Value,
        };
        self.error(errors::not_printable(self.at(span), &what, instead));
    }

    fn separate(&self, text: &mut Text, at: usize) {
        if at > 0 {
            text.literal(", ");
        }
    }

    fn node_text(&mut self, text: &mut Text, node: NodeId, span: Span, format: Format) {
        let ty = self.ty(node).clone();
        let Some(n_numbers) = text::n_numbers(&ty) else {
            return self.not_printable(&Operand::Node(node), span);
        };
        let mut is_valid = true;
        text::each_scalar(&ty, &mut |scalar| {
            is_valid = is_valid && self.is_spec(format.spec, scalar, span);
        });
        if is_valid {
            text.value(node, &ty, n_numbers, format);
        }
    }

    /// Whether numbers can have this format. Reports what is wrong.
    fn is_spec(&mut self, spec: &str, scalar: Scalar, span: Span) -> bool {
        let Some((conversion, spec)) = spec.split_once(':') else { return true };
        let subject = Subject::of(scalar, !conversion.is_empty());
        let Some(mistake) = format_spec::mistake(spec, subject) else { return true };
        self.error(errors::format_spec(self.at(span), spec, scalar, &mistake, subject.example()));
        false
    }
}
