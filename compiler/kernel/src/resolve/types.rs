//! Type expressions in annotations, PyShader's tuples and calls of `Array(..)`.
//!
//! They are read from the syntax tree, never run: `f32`, `Array[f32]`, `Array(4, f32)`, `const[i32]`,
//! `Vector(2, f32)`, and any of them as a string. A length is a number, or a name with a number as its value.

use std::rc::Rc;

use kps_syntax::ast::{
    Argument, ArgumentKind, BinaryOp, Expr, ExprKind, FStringPart, FStringValue, Name, StmtKind,
};
use kps_syntax::{Diagnostic, Source, Span};
use num_traits::ToPrimitive;

use super::annotations;
use super::below::binding_below;
use super::structs::checked_member;
use crate::builtins::{self, Builtin};
use crate::env::{EnvValue, KernelEnv, MapEnv};
use crate::errors;

use crate::structs::StructType;
use crate::type_expr::{ArrayParam, MAX_RANK, TypeExpr};
use crate::types::Type;

/// Reads type expressions of one function.
pub(crate) struct TypeReader<'a> {
    pub source: &'a Source,
    pub env: &'a dyn KernelEnv,
    /// Names of ints that shadow those of `env`: `const` parameters.
    pub ints: &'a dyn Fn(&str) -> Option<i128>,
}

/// No such names.
pub(crate) const NO_INTS: &dyn Fn(&str) -> Option<i128> = &|_| None;

impl TypeReader<'_> {
    pub fn read(&self, expr: &Expr) -> Result<TypeExpr, Diagnostic> {
        self.read_own(expr).map_err(|mistake| {
            let of_the_form = matches!(mistake.code, "kernel/not-a-type" | "kernel/unknown-type")
                && mistake.location().is_some_and(|at| at.span == expr.span);
            match of_the_form.then(|| annotations::instead(self, expr)).flatten() {
                Some(instead) => mistake.help(instead),
                None => mistake,
            }
        })
    }

    fn read_own(&self, expr: &Expr) -> Result<TypeExpr, Diagnostic> {
        match &expr.kind {
            ExprKind::Name(name) => self.named(name, expr.span),
            ExprKind::Attribute { value, attr } => self.member(value, &attr.name, expr.span),
            ExprKind::Str(text) => self.text(text, expr.span),
            ExprKind::Subscript { value, index } => {
                let args: Vec<&Expr> = match &index.kind {
                    ExprKind::Tuple(items) => items.iter().collect(),
                    _ => vec![index],
                };
                self.generic(value, &args, expr.span)
            }
            ExprKind::Call { func, args } if self.is_struct(func) => self.struct_type(args, expr.span),
            ExprKind::Call { func, args } => {
                let args = self.positional(args, expr.span)?;
                self.generic(func, &args, expr.span)
            }
            _ => Err(errors::not_a_type(self.source.at(expr.span), self.source.slice(expr.span))),
        }
    }

    /// A type that a value can have; `Array[T]` and `const[T]` are not.
    pub fn value_type(&self, expr: &Expr) -> Result<Type, Diagnostic> {
        match self.read(expr)? {
            TypeExpr::Value(ty) => Ok(ty),
            _ => Err(errors::not_a_value_type(self.source.at(expr.span), self.source.slice(expr.span))),
        }
    }

    /// The mistake in a declaration, unless it depends on a name without a value yet.
    pub fn blame(&self, declaration: &Expr, mistake: Diagnostic) -> Diagnostic {
        match self.unknown_name(declaration) {
            Some(name) => errors::known_later(self.source.at(declaration.span), &name),
            None => mistake,
        }
    }

    /// A name in a declaration that has no value before the script runs.
    pub fn unknown_name(&self, expr: &Expr) -> Option<Name> {
        if let ExprKind::Name(_) | ExprKind::Attribute { .. } = &expr.kind
            && self.constant(expr).is_some_and(|value| value.has_unknown())
        {
            return Some(self.source.slice(expr.span).into());
        }
        if let ExprKind::Str(text) = &expr.kind {
            return errors::words_of(text)
                .find(|word| matches!(self.env.get(word), Some(EnvValue::Unknown)))
                .map(Name::from);
        }
        let mut found = None;
        expr.each_child(&mut |part| found = found.take().or_else(|| self.unknown_name(part)));
        found
    }

    fn positional<'e>(&self, args: &'e [Argument], span: Span) -> Result<Vec<&'e Expr>, Diagnostic> {
        args.iter()
            .map(|arg| match &arg.kind {
                ArgumentKind::Positional(expr) => Ok(expr),
                _ => Err(errors::not_a_type(self.source.at(span), self.source.slice(span))),
            })
            .collect()
    }

    fn named(&self, name: &str, span: Span) -> Result<TypeExpr, Diagnostic> {
        match self.captured(self.env.get(name), span) {
            Some(held) => held,
            None => self.own(name, span),
        }
    }

    /// `shapes.Item`, `Scene.Item`, and `pyshader.f32`.
    fn member(&self, holder: &Expr, name: &str, span: Span) -> Result<TypeExpr, Diagnostic> {
        let of = self.constant(holder);
        if let Some(held) = self.captured(of.as_ref().and_then(|of| of.member(name)), span) {
            return held;
        }
        let (at, text) = (self.source.at(span), self.source.slice(span));
        let members = match of {
            Some(EnvValue::Module(of)) => of.members.candidates().unwrap_or_default(),
            _ => Vec::new(),
        };
        match kps_syntax::suggest::nearest(name, members.iter().map(|member| &**member)) {
            Some(nearest) if builtins::lookup(name).is_none() => {
                let nearest = format!("{}.{nearest}", self.source.slice(holder.span));
                Err(errors::unknown_type(at, text, Some(&nearest)))
            }
            _ if is_module(holder) => self.own(name, span),
            _ => Err(errors::not_a_type(at, text)),
        }
    }

    /// The type that a value of the script is; `None` if it may be the host's `int` or `float`, which are values of
    /// another kind.
    fn captured(&self, value: Option<EnvValue>, span: Span) -> Option<Result<TypeExpr, Diagnostic>> {
        Some(match value? {
            EnvValue::Type(ty) => Ok(TypeExpr::Value(ty)),
            EnvValue::Declared(declared) => Ok(declared),
            EnvValue::Str(text) => self.text(&text, span),
            EnvValue::Other { .. } | EnvValue::Unknown | EnvValue::Builtin(_) => return None,
            value => {
                let (at, name) = (self.source.at(span), self.source.slice(span));
                Err(errors::value_as_type(at, name, &value))
            }
        })
    }

    /// A type by the name that it has in kernels.
    fn own(&self, name: &str, span: Span) -> Result<TypeExpr, Diagnostic> {
        let at = || self.source.at(span);
        match builtins::lookup(name) {
            Some(Builtin::Type(ty)) => Ok(TypeExpr::Value(ty)),
            _ if name == "Array" => Err(errors::array_without_element(at())),
            _ => {
                if let Some(below) = binding_below(self.source, name, span) {
                    return Err(errors::name_below(at(), name, self.source.at(below)));
                }
                let known = builtins::names().filter(|name| is_type_name(name));
                Err(errors::unknown_type(at(), name, kps_syntax::suggest::nearest(name, known)))
            }
        }
    }

    /// The name of a type constructor: `Array` for `pyshader.Array`, and for `A` that was imported as that.
    fn maker(&self, callee: &Expr) -> Option<Name> {
        match &callee.kind {
            ExprKind::Name(name) => match self.env.get(name) {
                Some(EnvValue::Builtin(own)) => Some(own),
                _ => Some(name.clone()),
            },
            ExprKind::Attribute { value, attr } if is_module(value) => Some(attr.name.clone()),
            _ => None,
        }
    }

    fn is_struct(&self, callee: &Expr) -> bool {
        self.maker(callee).is_some_and(|name| &*name == "Struct")
    }

    fn generic(&self, callee: &Expr, args: &[&Expr], span: Span) -> Result<TypeExpr, Diagnostic> {
        let Some(name) = self.maker(callee) else {
            return Err(errors::not_a_type(self.source.at(span), self.source.slice(span)));
        };
        match (&*name, args) {
            ("Array", [element]) => Ok(TypeExpr::Buffer(ArrayParam::flat(self.value_type(element)?))),
            ("Array", [first, second]) => match (self.int(first), self.int(second)) {
                (Some(_), _) => {
                    let len = self.array_len(first)?;
                    Ok(TypeExpr::Value(Type::array(len, self.value_type(second)?)))
                }
                (None, Some(rank)) => {
                    let element = self.value_type(first)?;
                    let rank = u8::try_from(rank).ok().filter(|rank| (1..=MAX_RANK).contains(rank));
                    let rank = rank.ok_or_else(|| errors::array_rank(self.source.at(second.span)))?;
                    Ok(TypeExpr::Buffer(ArrayParam::new(element, rank)))
                }
                _ => Err(errors::not_a_type(self.source.at(span), self.source.slice(span))),
            },
            ("const", [ty]) => match self.value_type(ty)? {
                Type::Scalar(scalar) => Ok(TypeExpr::Const(scalar)),
                _ => Err(errors::const_not_scalar(self.source.at(ty.span), self.source.slice(ty.span))),
            },
            ("Vector", [n, scalar]) => self.vector(n, scalar, span),
            ("Matrix", [columns, rows, scalar]) => self.matrix(columns, rows, scalar, span),
            _ => Err(errors::not_a_type(self.source.at(span), self.source.slice(span))),
        }
    }

    /// `Struct(pos=vec3, mass=f32)`.
    fn struct_type(&self, args: &[Argument], span: Span) -> Result<TypeExpr, Diagnostic> {
        let mut of = StructType::new(Vec::new());
        for arg in args {
            let ArgumentKind::Keyword(name, ty) = &arg.kind else {
                return Err(errors::struct_member_name(self.source.at(arg.span)));
            };
            let ty = self.value_type(ty)?;
            let member = checked_member(self, &of, &name.name, ty, name.span)?;
            of.members.push(member);
        }
        if of.members.is_empty() {
            return Err(errors::empty_struct(self.source.at(span), "Struct"));
        }
        Ok(TypeExpr::Value(Type::Struct(Rc::new(of))))
    }

    fn vector(&self, n: &Expr, scalar: &Expr, span: Span) -> Result<TypeExpr, Diagnostic> {
        match (self.int(n), self.value_type(scalar)?) {
            (Some(n @ 2..=4), Type::Scalar(scalar)) => Ok(TypeExpr::Value(Type::Vector(n as u8, scalar))),
            _ => Err(errors::vector_type(self.source.at(span), self.source.slice(span))),
        }
    }

    fn matrix(&self, columns: &Expr, rows: &Expr, scalar: &Expr, span: Span) -> Result<TypeExpr, Diagnostic> {
        match (self.int(columns), self.int(rows), self.value_type(scalar)?) {
            (Some(columns @ 2..=4), Some(rows @ 2..=4), Type::Scalar(scalar)) if scalar.is_float() => {
                Ok(TypeExpr::Value(Type::Matrix { columns: columns as u8, rows: rows as u8, scalar }))
            }
            _ => Err(errors::matrix_type(self.source.at(span), self.source.slice(span))),
        }
    }

    fn array_len(&self, expr: &Expr) -> Result<u32, Diagnostic> {
        match self.int(expr) {
            Some(len @ 1..=0xffff) => Ok(len as u32),
            known => Err(errors::array_len(self.source.at(expr.span), self.source.slice(expr.span), known)),
        }
    }

    /// A number, a name for one, or a sum or product of such.
    pub fn int(&self, expr: &Expr) -> Option<i64> {
        match &expr.kind {
            ExprKind::Name(name) => {
                let own = (self.ints)(name).and_then(|value| i64::try_from(value).ok());
                own.or_else(|| self.named_int(expr))
            }
            ExprKind::Attribute { .. } => self.named_int(expr),
            ExprKind::Binary { op, left, right, .. } => {
                let (a, b) = (self.int(left)?, self.int(right)?);
                match op {
                    BinaryOp::Add => a.checked_add(b),
                    BinaryOp::Sub => a.checked_sub(b),
                    BinaryOp::Mul => a.checked_mul(b),
                    BinaryOp::FloorDiv if b > 0 => Some(a.div_euclid(b)),
                    _ => None,
                }
            }
            _ => int_literal(expr),
        }
    }

    fn named_int(&self, expr: &Expr) -> Option<i64> {
        match self.constant(expr)? {
            EnvValue::Int(value) => i64::try_from(value).ok(),
            EnvValue::Constant(constant) => i64::try_from(constant.as_int()?).ok(),
            _ => None,
        }
    }

    /// A text that is written out, or put together of names for texts and numbers.
    pub fn word(&self, expr: &Expr) -> Option<String> {
        match &expr.kind {
            ExprKind::Str(text) => Some(text.to_string()),
            ExprKind::Binary { op: BinaryOp::Add, left, right, .. } => {
                Some(self.word(left)? + &self.word(right)?)
            }
            ExprKind::FString(parts) => parts.iter().map(|part| self.word_part(part)).collect(),
            _ => match self.constant(expr)? {
                EnvValue::Str(text) => Some(text.to_string()),
                _ => None,
            },
        }
    }

    fn word_part(&self, part: &FStringPart) -> Option<String> {
        match part {
            FStringPart::Literal(text) => Some(text.to_string()),
            FStringPart::Value(FStringValue {
                expr, debug_text: None, conversion: None, spec: None, ..
            }) => self.word(expr).or_else(|| Some(self.int(expr)?.to_string())),
            FStringPart::Value(_) => None,
        }
    }

    /// The script's value of a name, dotted or not.
    pub fn constant(&self, expr: &Expr) -> Option<EnvValue> {
        match &expr.kind {
            ExprKind::Name(name) => self.env.get(name),
            ExprKind::Attribute { value, attr } => match self.constant(value)? {
                EnvValue::Unknown => Some(EnvValue::Unknown),
                holder => holder.member(&attr.name),
            },
            _ => None,
        }
    }

    /// A type in a string: a type expression, or PyShader's notation without regard to spaces and case: `"ivec3"`,
    /// `"Array(f32)"`, `"Array(12, i32)"`.
    fn text(&self, text: &str, span: Span) -> Result<TypeExpr, Diagnostic> {
        let compact: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        self.text_type(&compact.to_lowercase(), span).or_else(|error| self.quoted(text).ok_or(error))
    }

    fn quoted(&self, text: &str) -> Option<TypeExpr> {
        let source = Source::new("annotation", text);
        let (module, mistakes) = kps_syntax::parse(&source);
        let [stmt] = &module.body[..] else { return None };
        let StmtKind::Expr(expr) = &stmt.kind else { return None };
        // A string in a string is no type.
        if !mistakes.is_empty() || matches!(expr.kind, ExprKind::Str(_)) {
            return None;
        }
        TypeReader { source: &source, ..*self }.read(expr).ok()
    }

    fn text_type(&self, text: &str, span: Span) -> Result<TypeExpr, Diagnostic> {
        let unreadable = || errors::not_a_type(self.source.at(span), self.source.slice(span));
        let Some((name, rest)) = text.split_once('(') else {
            let name = match text {
                "vector" => "Vector",
                "matrix" => "Matrix",
                text => text,
            };
            return match builtins::lookup(name) {
                Some(Builtin::Type(ty)) => Ok(TypeExpr::Value(ty)),
                _ => Err(unreadable()),
            };
        };
        let inner = rest.strip_suffix(')').ok_or_else(unreadable)?;
        // One level only: elements of a buffer have no parentheses.
        if inner.contains('(') {
            return Err(unreadable());
        }
        let value = |text: &str| match self.text_type(text, span)? {
            TypeExpr::Value(ty) => Ok(ty),
            _ => Err(unreadable()),
        };
        match (name, inner.split_once(',')) {
            ("array", None) => Ok(TypeExpr::Buffer(ArrayParam::flat(value(inner)?))),
            ("array", Some((len, element))) => match len.parse::<u32>() {
                Ok(len @ 1..=0xffff) => Ok(TypeExpr::Value(Type::array(len, value(element)?))),
                _ => Err(errors::array_len(self.source.at(span), len, None)),
            },
            ("matrix", Some((columns, rest))) => {
                let (rows, scalar) = rest.split_once(',').ok_or_else(unreadable)?;
                match (columns.parse::<u8>(), rows.parse::<u8>(), value(scalar)?) {
                    (Ok(columns @ 2..=4), Ok(rows @ 2..=4), Type::Scalar(scalar)) if scalar.is_float() => {
                        Ok(TypeExpr::Value(Type::Matrix { columns, rows, scalar }))
                    }
                    _ => Err(errors::matrix_type(self.source.at(span), text)),
                }
            }
            ("vector", Some((n, scalar))) => match (n.parse::<u8>(), value(scalar)?) {
                (Ok(n @ 2..=4), Type::Scalar(scalar)) => Ok(TypeExpr::Value(Type::Vector(n, scalar))),
                _ => Err(unreadable()),
            },
            _ => Err(unreadable()),
        }
    }
}

/// The type that a text alone names.
pub(crate) fn type_of_text(text: &str) -> Option<Type> {
    let (source, env) = (Source::new("<type>", text), MapEnv::new());
    match (TypeReader { source: &source, env: &env, ints: NO_INTS })
        .text(text, Span::new(0, text.len() as u32))
    {
        Ok(TypeExpr::Value(ty)) => Some(ty),
        _ => None,
    }
}

/// `pyshader.f32`: any plain name before the dot will do.
fn is_module(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Name(_))
}

fn is_type_name(name: &str) -> bool {
    name == "Array"
        || matches!(
            builtins::lookup(name),
            Some(Builtin::Type(_) | Builtin::VectorType | Builtin::MatrixType | Builtin::StructType)
        )
}

pub(crate) fn int_literal(expr: &Expr) -> Option<i64> {
    match &expr.kind {
        ExprKind::Int(value) => value.to_i64(),
        _ => None,
    }
}
