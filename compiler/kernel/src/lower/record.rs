//! `print` and `assert`: text with placeholders for values, which the host fills in after the launch.
//!
//! The text is a template. `{{` and `}}` are braces. `{f32}`, `{i32:>5}`, `{bool!r}` are placeholders for one
//! value, with the conversion and the format spec that the host applies. `{f32[3]}`, `{f32[2,3]!r}` take as
//! many values as a NumPy array of that shape has: vectors and matrices are such arrays on the host. Other
//! composite values are split here, so each value is one number or bool. A kernel has strings only in these two
//! statements.

use kps_syntax::Span;
use kps_syntax::ast::{
    Argument, ArgumentKind, Conversion, Expr, ExprKind, FStringPart, FStringValue, Stmt as AstStmt, StmtKind,
};

use super::Ctx;
use super::format_spec::{self, Subject};
use super::operand::{Operand, Static};
use super::stmts::Condition;
use crate::builtins::Effect;
use crate::constant::{Constant, Literal};
use crate::env::EnvValue;
use crate::errors::{self, Printable};
use crate::ir::{NodeId, NodeKind, Record, RecordKind, Stmt, UnaryOp};
use crate::resolve::is_test_with_text;
use crate::types::{Scalar, Type};

/// The maximum number of values of one record.
const MAX_VALUES: usize = 64;

/// The maximum number of bytes of the text of one record, which an instruction of SPIR-V limits.
const MAX_TEXT: usize = 60_000;

/// How a value is formatted.
#[derive(Clone, Copy)]
pub(super) struct Format<'t> {
    /// `!r:spec`, or empty.
    spec: &'t str,
    within: Within,
}

/// The context of a value, which determines how vectors and matrices are formatted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    /// As `print` formats them.
    Line,
    /// A list or a tuple, which shows the `repr` of its items.
    Sequence,
    /// As lists. A matrix is a list of its rows.
    Struct,
    /// As constructor calls, which fit on one line.
    Step,
}

impl<'t> Format<'t> {
    pub const PRINTED: Format<'static> = Format { spec: "", within: Within::Line };

    /// For a step of a trace.
    pub const STEP: Format<'static> = Format { spec: "", within: Within::Step };

    fn within(self, of: Within) -> Format<'t> {
        match self.within {
            Within::Line | Within::Sequence => Format { within: of, ..self },
            Within::Struct | Within::Step => self,
        }
    }
}

#[derive(Clone, Default)]
pub(super) struct Text {
    template: String,
    values: Vec<NodeId>,
}

impl Text {
    pub fn literal(&mut self, text: &str) {
        self.template.push_str(&text.replace('{', "{{").replace('}', "}}"));
    }

    fn joined(texts: Vec<Text>, separator: &str) -> Text {
        let mut all = Text::default();
        for (at, text) in texts.into_iter().enumerate() {
            if at > 0 {
                all.literal(separator);
            }
            all.template += &text.template;
            all.values.extend(text.values);
        }
        all
    }

    /// The text after a line with `line`.
    pub fn headed(self, line: &str) -> Text {
        Text { template: format!("{line}\n{}", self.template), ..self }
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
        let mut text = Text::joined(texts, &separator);
        if self.trace.is_some() {
            self.trace_print(text, span);
        } else {
            text.literal(&end);
            self.push_record(RecordKind::Print, text, span);
        }
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
                ctx.push_record(RecordKind::Assert, text, stmt.span);
                ctx.f.block.push(match ctx.f.is_kernel {
                    true => Stmt::Return(None, stmt.span),
                    false => Stmt::End(stmt.span),
                });
                ctx.f.live = false;
            } else {
                ctx.push_record(RecordKind::AssertOnce, text, stmt.span);
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
        !self.f.is_kernel && self.f.returns.is_empty() && is_own()
    }

    /// The message, and after a line break the values in the test.
    fn assert_text(&mut self, test: &Expr, message: &Expr) -> Text {
        let mut text = Text::default();
        self.text_of(&mut text, message);
        let values = self.values_text(test);
        text.template += &values.template;
        text.values.extend(values.values);
        text
    }

    /// Whether an invocation ends when its assertion fails. It must not if others wait for it at a barrier.
    fn may_end_invocation(&self) -> bool {
        !self.template.is_collective(self.kernel_env)
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

    pub(super) fn push_record(&mut self, kind: RecordKind, text: Text, span: Span) {
        if text.values.len() > MAX_VALUES || text.template.len() > MAX_TEXT {
            return self.error(errors::record_too_long(self.at(span), MAX_VALUES));
        }
        let record = Record { kind, template: text.template, values: text.values, span };
        self.f.block.push(Stmt::Record(Box::new(record)));
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
        let format = Format { spec: &format, ..Format::PRINTED };
        self.operand_text(text, &operand, field.expr.span, format);
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

    pub(super) fn operand_text(&mut self, text: &mut Text, operand: &Operand, span: Span, format: Format) {
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
                    self.operand_text(text, item, span, format.within(Within::Sequence));
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

    /// A value, split into its numbers.
    fn node_text(&mut self, text: &mut Text, node: NodeId, span: Span, format: Format) {
        let ty = self.ty(node).clone();
        let shape = match ty {
            Type::Scalar(scalar) => return self.scalar_text(text, node, scalar, span, format),
            _ => shape_on_host(&ty),
        };
        let (Some(n_parts), true) = (ty.n_parts(), text.values.len() <= MAX_VALUES) else {
            return self.not_printable(&Operand::Node(node), span);
        };
        match (shape, format.within) {
            (Some((scalar, shape)), Within::Line | Within::Sequence) => {
                return self.array_text(text, node, (scalar, &shape), span, format);
            }
            (Some(_), Within::Struct) if ty.is_matrix() => return self.rows_text(text, node, span, format),
            _ => {}
        }
        let [open, close] = brackets(&ty, format.within);
        let format = format.within(match ty {
            Type::Struct(_) => Within::Struct,
            _ => Within::Sequence,
        });
        text.literal(&open);
        for at in 0..n_parts {
            // Too many values are reported with the record.
            if text.values.len() > MAX_VALUES {
                break;
            }
            self.separate(text, at as usize);
            if let Type::Struct(of) = &ty {
                text.literal(&format!("{}=", of.members[at as usize].name));
            }
            let Some(part) = ty.part(at) else { break };
            let part = self.node(NodeKind::Extract(node, at), part, span);
            self.node_text(text, part, span, format);
        }
        text.literal(&close);
    }

    /// A vector or a matrix, as an array on the host.
    fn array_text(
        &mut self,
        text: &mut Text,
        node: NodeId,
        (scalar, shape): (Scalar, &[u32]),
        span: Span,
        format: Format,
    ) {
        let spec = match (format.within, format.spec.is_empty()) {
            (Within::Sequence, true) => "!r",
            _ => format.spec,
        };
        if !self.is_spec(spec, scalar, span) {
            return;
        }
        let shape_text: Vec<String> = shape.iter().map(u32::to_string).collect();
        text.template += &format!("{{{scalar}[{}]{spec}}}", shape_text.join(","));
        for row in self.rows_of(node, span) {
            for value in row {
                self.carry_value(text, value, scalar, span);
            }
        }
    }

    /// A matrix in a struct.
    fn rows_text(&mut self, text: &mut Text, node: NodeId, span: Span, format: Format) {
        let rows = self.rows_of(node, span);
        text.literal("[");
        for (at, row) in rows.into_iter().enumerate() {
            self.separate(text, at);
            text.literal("[");
            for (at, value) in row.into_iter().enumerate() {
                self.separate(text, at);
                self.node_text(text, value, span, format);
            }
            text.literal("]");
        }
        text.literal("]");
    }

    /// The numbers of a matrix, row by row, or those of a vector as one row.
    fn rows_of(&mut self, node: NodeId, span: Span) -> Vec<Vec<NodeId>> {
        let parts = self.parts_of(node, span);
        if !self.ty(node).is_matrix() {
            return vec![parts];
        }
        let columns: Vec<Vec<NodeId>> = parts.into_iter().map(|column| self.parts_of(column, span)).collect();
        let n_rows = columns.first().map_or(0, Vec::len);
        (0..n_rows).map(|row| columns.iter().map(|column| column[row]).collect()).collect()
    }

    fn parts_of(&mut self, node: NodeId, span: Span) -> Vec<NodeId> {
        let ty = self.ty(node).clone();
        let parts = (0..ty.n_parts().unwrap_or(0)).filter_map(|at| Some((at, ty.part(at)?)));
        parts.map(|(at, part)| self.node(NodeKind::Extract(node, at), part, span)).collect()
    }

    fn scalar_text(&mut self, text: &mut Text, node: NodeId, scalar: Scalar, span: Span, format: Format) {
        if self.is_spec(format.spec, scalar, span) {
            text.template += &format!("{{{scalar}{}}}", format.spec);
            self.carry_value(text, node, scalar, span);
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

    /// Narrow numbers are stored as 32-bit ones.
    fn carry_value(&mut self, text: &mut Text, node: NodeId, scalar: Scalar, span: Span) {
        let carried = match scalar {
            Scalar::I8 | Scalar::I16 => Scalar::I32,
            Scalar::U8 | Scalar::U16 => Scalar::U32,
            Scalar::F16 | Scalar::Bf16 => Scalar::F32,
            scalar => scalar,
        };
        let value = match self.f.func.constant(node) {
            Some(constant) => {
                let constant: Constant = constant.cast(carried);
                self.constant(constant, span)
            }
            None => self.convert(node, carried, span),
        };
        text.values.push(value);
    }
}

/// The element type and shape of the host array for a vector or a matrix.
fn shape_on_host(ty: &Type) -> Option<(Scalar, Vec<u32>)> {
    match (ty.is_matrix(), ty.is_vector()) {
        (true, _) => Some((ty.part(0)?.scalar()?, vec![ty.part(0)?.n_parts()?, ty.n_parts()?])),
        (false, true) => Some((ty.scalar()?, vec![ty.n_parts()?])),
        (false, false) => None,
    }
}

/// The text before and after the parts of a value.
fn brackets(ty: &Type, within: Within) -> [String; 2] {
    match ty {
        Type::Vector(..) if within == Within::Struct => ["[".to_owned(), "]".to_owned()],
        Type::Array(_) => ["[".to_owned(), "]".to_owned()],
        Type::Tuple(_) => ["(".to_owned(), ")".to_owned()],
        Type::Struct(of) => [format!("{}(", of.name.as_deref().unwrap_or("Struct")), ")".to_owned()],
        ty => [format!("{ty}("), ")".to_owned()],
    }
}
