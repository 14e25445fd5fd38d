//! Operators of structs, by methods of the class such as `__add__`.

use kps_syntax::Span;
use kps_syntax::ast::{BinaryOp, CompareOp, UnaryOp};

use crate::errors;
use crate::infer::Ctx;
use crate::infer::calls::Arguments;
use crate::infer::calls::closures::Callee;
use crate::infer::calls::helpers::CallStyle;
use crate::infer::expressions::operand::Operand;
use crate::types::{Scalar, Type};

impl Ctx<'_> {
    /// `left + right` by `left.__add__(right)`, or else `right.__radd__(left)`. `None` if neither is a struct
    /// with such a method.
    pub fn struct_binary(
        &mut self,
        op: BinaryOp,
        left: &Operand,
        right: &Operand,
        spans: (Span, Span),
    ) -> Option<Operand> {
        if !self.is_struct(left) && !self.is_struct(right) {
            return None;
        }
        let name = binary_name(op);
        let (left, right) = ((left, spans.0), (right, spans.1));
        self.call_special(&format!("__{name}__"), left, &[right])
            .or_else(|| self.call_special(&format!("__r{name}__"), right, &[left]))
    }

    /// `target += value` by `target.__iadd__(value)`.
    pub fn struct_in_place(
        &mut self,
        op: BinaryOp,
        target: (&Operand, Span),
        value: (&Operand, Span),
    ) -> Option<Operand> {
        if !self.is_struct(target.0) {
            return None;
        }
        self.call_special(&format!("__i{}__", binary_name(op)), target, &[value])
    }

    /// `left < right` by `left.__lt__(right)`, or else `right.__gt__(left)`.
    pub fn struct_compare(
        &mut self,
        op: CompareOp,
        left: &Operand,
        right: &Operand,
        spans: (Span, Span),
    ) -> Option<Operand> {
        let (name, mirrored) = compare_names(op)?;
        let (left, right) = ((left, spans.0), (right, spans.1));
        let said =
            self.call_special(name, left, &[right]).or_else(|| self.call_special(mirrored, right, &[left]));
        if said.is_some() || op != CompareOp::NotEq {
            return said;
        }
        // Without `__ne__`, `!=` is the negation of `==`.
        let span = spans.0.to(spans.1);
        let equal = self.struct_compare(CompareOp::Eq, left.0, right.0, spans)?;
        Some(self.unary(UnaryOp::Not, &equal, span, span))
    }

    pub fn struct_unary(&mut self, op: UnaryOp, operand: &Operand, span: Span) -> Option<Operand> {
        let name = match op {
            UnaryOp::Minus => "__neg__",
            UnaryOp::Plus => "__pos__",
            UnaryOp::Invert => "__invert__",
            UnaryOp::Not => {
                let truth = self.struct_truth(operand, span)?;
                return Some(self.unary(UnaryOp::Not, &truth, span, span));
            }
        };
        self.call_special(name, (operand, span), &[])
    }

    /// The truth value of a struct.
    pub fn struct_truth(&mut self, operand: &Operand, span: Span) -> Option<Operand> {
        let truth = self.call_special("__bool__", (operand, span), &[])?;
        let is_bool = matches!(&truth, Operand::Node(node) if *self.ty(*node) == Type::BOOL);
        if is_bool || truth.has_error() {
            return Some(truth);
        }
        let what = self.describe(&truth);
        Some(self.fail(errors::truth_not_bool(self.at(span), &what)))
    }

    /// `float(s)`, `int(s)` and `bool(s)`, for each of their types.
    pub fn struct_cast(&mut self, operand: &Operand, to: Scalar, span: Span) -> Option<Operand> {
        let name = match to {
            Scalar::Bool => "__bool__",
            to if to.is_float() => "__float__",
            _ => "__int__",
        };
        self.call_special(name, (operand, span), &[])
    }

    /// `item in s`.
    pub fn struct_contains(&mut self, this: (&Operand, Span), item: (&Operand, Span)) -> Option<Operand> {
        self.call_special("__contains__", this, &[item])
    }

    /// Whether it is a struct with the method `name`.
    pub fn struct_method(&self, this: &Operand, name: &str) -> bool {
        matches!(self.value_type(this), Some(Type::Struct(of)) if of.method(name).is_some())
    }

    fn is_struct(&self, operand: &Operand) -> bool {
        matches!(self.value_type(operand), Some(Type::Struct(_)))
    }

    /// A call of the method `name`, with `self` passed by value. `None` if there is no such method.
    pub fn call_special(
        &mut self,
        name: &str,
        (this, this_span): (&Operand, Span),
        args: &[(&Operand, Span)],
    ) -> Option<Operand> {
        let Some(Type::Struct(of)) = self.value_type(this) else { return None };
        let method = of.method(name)?;
        if !self.is_supported(&method.function) {
            return Some(Operand::Error);
        }
        let Operand::Node(this) = self.loaded(this.clone(), this_span) else { return Some(Operand::Error) };
        let rest = args.iter().map(|(operand, span)| ((*operand).clone(), *span));
        let positional: Vec<_> = [(Operand::Node(this), this_span)].into_iter().chain(rest).collect();
        let span = args.iter().fold(this_span, |span, (_, other)| span.to(*other));
        let args = Arguments { positional, keywords: Vec::new() };
        Some(self.call_function(&Callee::of_helper(&method.function), args, CallStyle::Function, span).result)
    }
}

fn binary_name(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "add",
        BinaryOp::Sub => "sub",
        BinaryOp::Mul => "mul",
        BinaryOp::MatMul => "matmul",
        BinaryOp::Div => "truediv",
        BinaryOp::FloorDiv => "floordiv",
        BinaryOp::Mod => "mod",
        BinaryOp::Pow => "pow",
        BinaryOp::LeftShift => "lshift",
        BinaryOp::RightShift => "rshift",
        BinaryOp::BitAnd => "and",
        BinaryOp::BitOr => "or",
        BinaryOp::BitXor => "xor",
    }
}

/// The methods of the left side and of the right side.
fn compare_names(op: CompareOp) -> Option<(&'static str, &'static str)> {
    Some(match op {
        CompareOp::Eq => ("__eq__", "__eq__"),
        CompareOp::NotEq => ("__ne__", "__ne__"),
        CompareOp::Less => ("__lt__", "__gt__"),
        CompareOp::LessEq => ("__le__", "__ge__"),
        CompareOp::Greater => ("__gt__", "__lt__"),
        CompareOp::GreaterEq => ("__ge__", "__le__"),
        CompareOp::Is | CompareOp::IsNot | CompareOp::In | CompareOp::NotIn => return None,
    })
}
