//! Calls: dispatch on what is called. The chapters below have the functions of a script, each compiled once for every
//! signature, how their arguments are passed, and what closures capture.

pub(super) mod argument_passing;
pub(super) mod closures;
pub(super) mod helpers;
pub(super) mod library_functions;

use kps_syntax::Span;
use kps_syntax::ast::{Argument, ArgumentKind, Expr, ExprKind, Ident};

use self::helpers::CallStyle;
use crate::constant::{Constant, Literal};
use crate::errors;
use crate::infer::Ctx;
use crate::infer::expressions::operand::{Operand, Static};
use crate::resolve::float_of_text;
use crate::types::Type;

/// The arguments of a call, in source order.
pub(crate) struct Arguments<'e> {
    pub positional: Vec<(Operand, Span)>,
    pub keywords: Vec<(&'e Ident, Operand, Span)>,
}

impl Ctx<'_> {
    pub fn call(&mut self, expr: &Expr, func: &Expr, args: &[Argument]) -> Operand {
        if self.is_partial && args.iter().any(|arg| self.spreads_unknown(arg)) {
            return self.call_of_unknown(args);
        }
        let callee = match &func.kind {
            ExprKind::Attribute { value, attr } => {
                let receiver = self.part(value);
                if let Some(result) = self.call_texture_method(&receiver, value.span, attr, args, expr.span) {
                    return result;
                }
                if let Some(result) = self.call_method(&receiver, value, attr, args, expr.span) {
                    return result;
                }
                if let Some(result) = self.call_view(&receiver, attr, args, expr.span) {
                    return result;
                }
                if let Some(result) = self.call_bits_method(&receiver, attr, args, expr.span) {
                    return result;
                }
                self.attribute(receiver, attr, func.span)
            }
            _ => self.expr(func),
        };
        if callee.is_error() {
            return self.call_of_unknown(args);
        }
        let name = self.f.source.slice(func.span).to_owned();
        // The arguments of `Vector(2, f32)` are types, read from the tree.
        if let Operand::Static(Static::Generic(_)) = callee {
            return self.type_operand(expr);
        }
        if let Operand::Static(Static::Builtin(function)) = callee {
            return self.builtin_call(function, (&name, func.span), args, expr.span);
        }
        if let Operand::Static(Static::Type(Type::Scalar(scalar))) = callee
            && scalar.is_float()
            && let Some(value) = float_of_text(args)
        {
            return match &*name {
                // Weak, like `math.inf`.
                "float" => Operand::Literal(Literal::Float(value)),
                _ => Operand::Node(self.constant(Constant::float(scalar, value), expr.span)),
            };
        }
        let args = self.arguments(args);
        if let Operand::Static(Static::Type(Type::Struct(of))) = &callee {
            return self.construct_struct(of, args, expr.span);
        }
        match callee {
            Operand::Static(Static::Function(function)) => self.call_helper(&function, args, expr.span),
            Operand::Static(Static::Closure(closure)) => match self.callee_of(&closure, func.span) {
                Some(callee) => self.call_function(&callee, args, CallStyle::Function, expr.span).result,
                None => Operand::Error,
            },
            Operand::Static(Static::Type(ty)) => match self.only_positional(args, &name) {
                Some(args) => self.cast(&ty, &args, expr.span),
                None => Operand::Error,
            },
            this if self.struct_method(&this, "__call__") => {
                let Some(Type::Struct(of)) = self.value_type(&this) else { return Operand::Error };
                match of.method("__call__").filter(|method| self.is_supported(&method.function)) {
                    Some(method) => self.call_changing(&method.function, (&this, func), args, expr.span),
                    None => Operand::Error,
                }
            }
            operand => {
                let what = self.describe(&operand);
                self.fail(errors::not_callable(self.at(func.span), func, &what))
            }
        }
    }

    /// The callee is wrong or unknown. Its arguments may be wrong, too, but strings and types could be right.
    fn call_of_unknown(&mut self, args: &[Argument]) -> Operand {
        for arg in args {
            if let ArgumentKind::Positional(value) | ArgumentKind::Keyword(_, value) = &arg.kind
                && !matches!(value.kind, ExprKind::Str(_) | ExprKind::FString(_))
            {
                self.expr(value);
            }
        }
        Operand::Error
    }

    pub fn arguments<'e>(&mut self, args: &'e [Argument]) -> Arguments<'e> {
        let mut arguments = Arguments { positional: Vec::new(), keywords: Vec::new() };
        for arg in args {
            match &arg.kind {
                ArgumentKind::Positional(value) => {
                    let operand = self.expr(value);
                    arguments.positional.push((operand, value.span));
                }
                ArgumentKind::Keyword(name, value) => {
                    let operand = self.expr(value);
                    arguments.keywords.push((name, operand, value.span));
                }
                ArgumentKind::Spread(value) => {
                    let operand = self.expr(value);
                    let parts = self.spread(&operand, value.span);
                    arguments.positional.extend(parts.into_iter().map(|part| (part, value.span)));
                }
                // `check` refused it.
                ArgumentKind::KeywordSpread(_) => arguments.positional.push((Operand::Error, arg.span)),
            }
        }
        arguments
    }

    /// `*xs`: the items of an operand with a known number of them.
    pub fn spread(&mut self, operand: &Operand, span: Span) -> Vec<Operand> {
        match self.items_of(operand, span) {
            Some(items) => items.to_vec(),
            None if operand.is_error() => vec![Operand::Error],
            None => {
                let what = self.describe(operand);
                vec![self.fail(errors::not_spreadable(self.at(span), &what))]
            }
        }
    }

    pub fn only_positional(&mut self, args: Arguments, name: &str) -> Option<Vec<(Operand, Span)>> {
        if let Some((keyword, ..)) = args.keywords.first() {
            self.error(errors::keyword_argument(self.at(keyword.span), name, &keyword.name));
            return None;
        }
        Some(args.positional)
    }
}
