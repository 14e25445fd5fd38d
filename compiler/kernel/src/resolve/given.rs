//! A signature from types in place of a launch's arguments: `(f32, Array[f32], n=16)`.
//!
//! Nothing is launched. A number stands for its type, and is the value of a `const` parameter. A missing parameter has
//! the type of its annotation.

use kps_syntax::ast::{Argument, ArgumentKind, BinaryOp, Expr, ExprKind, UnaryOp};
use kps_syntax::{Diagnostic, Diagnostics, Source};
use num_traits::ToPrimitive;

use super::params::image_or_sampler;
use super::types::{NO_INTS, TypeReader};
use crate::constant::{Constant, Literal};
use crate::env::{EnvValue, KernelEnv};
use crate::errors::{self, Declared};
use crate::signature::{ParamType, Signature};
use crate::template::{KernelTemplate, Param, ParamKind};
use crate::type_expr::TypeExpr;
use crate::types::Scalar;

impl Signature {
    /// The signature from annotations and defaults of `const` parameters; `None` if a parameter has neither.
    pub fn declared(template: &KernelTemplate, env: &dyn KernelEnv) -> Option<Signature> {
        Signature::completed(template, env, |_| None).ok()
    }

    /// The same, with `given` for the types of undeclared parameters by position. Fails with the first parameter
    /// without a type.
    pub fn completed<'t>(
        template: &'t KernelTemplate,
        env: &dyn KernelEnv,
        given: impl Fn(usize) -> Option<ParamType>,
    ) -> Result<Signature, &'t Param> {
        let params = template.params.iter().enumerate().map(|(at, param)| {
            let declared = declared_param(template, env, at);
            declared.or_else(|| given(at)).ok_or(param)
        });
        Ok(Signature::new(template, env, params.collect::<Result<Vec<_>, _>>()?))
    }

    /// The same, with `value` for each `const` parameter without a default, as a launch might pass it.
    pub fn supposing(template: &KernelTemplate, env: &dyn KernelEnv, value: i128) -> Option<Signature> {
        let param = |at: usize| {
            let declared = declared_param(template, env, at);
            declared.or_else(|| match template.params[at].kind {
                ParamKind::Const(Scalar::Bool) => Some(ParamType::Const(Constant::bool(value % 2 != 0))),
                ParamKind::Const(scalar) => Literal::Int(value).fit(scalar).map(ParamType::Const),
                _ => None,
            })
        };
        let params = (0..template.params.len()).map(param);
        Some(Signature::new(template, env, params.collect::<Option<Vec<_>>>()?))
    }

    /// For types in place of arguments, as in `(f32, Array[f32], n=16)`; missing parameters have their declared types.
    pub fn given(
        template: &KernelTemplate,
        env: &dyn KernelEnv,
        args: &[Argument],
        source: &Source,
    ) -> Result<Signature, Diagnostics> {
        let reader = TypeReader { source, env, ints: NO_INTS };
        let given = matched(template, args, source)?;
        let mut diagnostics = Diagnostics::new();
        let mut types = Vec::with_capacity(given.len());
        for ((at, param), expr) in template.params.iter().enumerate().zip(given) {
            let found = match expr {
                Some(expr) => read(&reader, param, expr),
                None => declared_param(template, env, at).ok_or_else(|| {
                    errors::param_not_given(template.source.at(param.name.span), &param.name.name)
                }),
            };
            match found {
                Ok(ty) => types.push(ty),
                Err(diagnostic) => diagnostics.push(diagnostic),
            }
        }
        match diagnostics.is_empty() {
            true => Ok(Signature::new(template, env, types)),
            false => Err(diagnostics),
        }
    }
}

/// The argument of each parameter.
fn matched<'e>(
    template: &KernelTemplate,
    args: &'e [Argument],
    source: &Source,
) -> Result<Vec<Option<&'e Expr>>, Diagnostics> {
    let n_params = template.params.len();
    let mut given = vec![None; n_params];
    for (at, arg) in args.iter().enumerate() {
        let (place, expr) = match &arg.kind {
            ArgumentKind::Positional(expr) => (at, expr),
            ArgumentKind::Keyword(name, expr) => (place_of(template, name, source)?, expr),
            ArgumentKind::Spread(expr) | ArgumentKind::KeywordSpread(expr) => {
                return Err(errors::not_a_type(source.at(expr.span), source.slice(arg.span)).into());
            }
        };
        let Some(slot) = given.get_mut(place) else {
            let at = source.at(arg.span);
            return Err(errors::argument_count(at, template.name(), n_params, args.len()).into());
        };
        if slot.replace(expr).is_some() {
            let name = &template.params[place].name.name;
            return Err(errors::argument_twice(source.at(arg.span), template.name(), name).into());
        }
    }
    Ok(given)
}

fn place_of(
    template: &KernelTemplate,
    name: &kps_syntax::ast::Ident,
    source: &Source,
) -> Result<usize, Diagnostic> {
    let place = template.params.iter().position(|param| param.name.name == name.name);
    place.ok_or_else(|| {
        let known = template.params.iter().map(|param| &*param.name.name);
        let nearest = kps_syntax::suggest::nearest(&name.name, known);
        let declared = Declared::Here(template.source.at(template.def.header));
        errors::unknown_keyword(source.at(name.span), template.name(), &name.name, nearest, declared)
    })
}

fn read(reader: &TypeReader, param: &Param, expr: &Expr) -> Result<ParamType, Diagnostic> {
    let at = || reader.source.at(expr.span);
    if let Some(literal) = number(expr) {
        let scalar = match &param.kind {
            ParamKind::Const(scalar) => *scalar,
            _ => literal.default_scalar(),
        };
        let constant =
            literal.fit(scalar).ok_or_else(|| errors::literal_does_not_fit(at(), literal, scalar))?;
        return Ok(match &param.kind {
            ParamKind::Const(_) => ParamType::Const(constant),
            ParamKind::Scalar(ty) if ty.scalar().is_some_and(|scalar| literal.fit(scalar).is_some()) => {
                ParamType::Scalar(ty.clone())
            }
            _ => ParamType::Scalar(scalar.into()),
        });
    }
    if let Some(kind) = image_or_sampler(expr, reader) {
        return Ok(kind?.declared().expect("images and samplers are declared whole"));
    }
    match (reader.read(expr)?, &param.kind) {
        (TypeExpr::Buffer(array), _) => Ok(ParamType::Array(array)),
        (_, ParamKind::Const(_)) | (TypeExpr::Const(_), _) => {
            Err(errors::const_not_given(at(), &param.name.name))
        }
        (TypeExpr::Value(ty), _) => Ok(ParamType::Scalar(ty)),
    }
}

impl KernelTemplate {
    /// The first parameter whose declaration is too little for a signature: it has no type, or a constant without a
    /// value.
    pub fn undeclared(&self, env: &dyn KernelEnv) -> Option<&Param> {
        let mut params = self.params.iter().enumerate();
        params.find(|(at, _)| declared_param(self, env, *at).is_none()).map(|(_, param)| param)
    }
}

/// The type of a missing parameter: its annotation, or its default number.
fn declared_param(template: &KernelTemplate, env: &dyn KernelEnv, at: usize) -> Option<ParamType> {
    match &template.params[at].kind {
        ParamKind::Const(scalar) => default_constant(template, env, at, *scalar).map(ParamType::Const),
        kind => kind.declared(),
    }
}

/// The default of a `const` parameter: as the function has it, or else as it is written.
fn default_constant(
    template: &KernelTemplate,
    env: &dyn KernelEnv,
    at: usize,
    scalar: Scalar,
) -> Option<Constant> {
    match env.default_of(&template.params[at].name.name) {
        Some(EnvValue::Bool(truth)) if scalar == Scalar::Bool => return Some(Constant::bool(truth)),
        Some(EnvValue::Int(value)) => return Literal::Int(value).fit(scalar),
        Some(EnvValue::Float(value)) => return Literal::Float(value).fit(scalar),
        _ => {}
    }
    let default = template.def.params.iter().nth(at)?.default.as_ref()?;
    match &default.kind {
        ExprKind::True | ExprKind::False if scalar == Scalar::Bool => {
            Some(Constant::bool(matches!(default.kind, ExprKind::True)))
        }
        _ => number(default)?.fit(scalar),
    }
}

/// A number that is written out, or computed from ints that are.
pub(super) fn number(expr: &Expr) -> Option<Literal> {
    match &expr.kind {
        ExprKind::Int(value) => value.to_i128().map(Literal::Int),
        ExprKind::Float(value) => Some(Literal::Float(*value)),
        ExprKind::Unary { op: UnaryOp::Minus, operand } => match number(operand)? {
            Literal::Int(value) => value.checked_neg().map(Literal::Int),
            Literal::Float(value) => Some(Literal::Float(-value)),
        },
        ExprKind::Binary { op, left, right, .. } => match (number(left)?, number(right)?) {
            (Literal::Int(left), Literal::Int(right)) => computed(*op, left, right).map(Literal::Int),
            _ => None,
        },
        _ => None,
    }
}

/// Sizes such as `2 ** 32` and `1 << 16`. Larger ones are left for the run.
fn computed(op: BinaryOp, left: i128, right: i128) -> Option<i128> {
    match op {
        BinaryOp::Add => left.checked_add(right),
        BinaryOp::Sub => left.checked_sub(right),
        BinaryOp::Mul => left.checked_mul(right),
        BinaryOp::Pow => left.checked_pow(u32::try_from(right).ok()?),
        BinaryOp::LeftShift => left.checked_mul(2i128.checked_pow(u32::try_from(right).ok()?)?),
        _ => None,
    }
}
