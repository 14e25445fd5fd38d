//! The parameters of a kernel, in both kinds of declaration.
//!
//! A parameter of `@kernel` has an annotation, or takes its type from the argument. One of `@python2shader` has a
//! tuple of kind, slot and type, as its default or its annotation.

use kps_syntax::ast::{Expr, ExprKind, FunctionDef, Param as ParamDef, Parameters};
use kps_syntax::{Diagnostic, Diagnostics, Source};

use super::types::{NO_INTS, TypeReader};
use super::{captured, defaults, ports};
use crate::env::{EnvValue, KernelEnv};
use crate::errors;
use crate::signature::{ArrayParam, Form};
use crate::stages::{Direction, Stage};
use crate::template::{Input, Param, ParamKind};
use crate::textures::{TextureMistake, TextureType};
use crate::type_expr::TypeExpr;
use crate::types::Type;

/// Declarations of all parameters; those with mistakes are reported and left untyped.
pub(super) fn kernel_params(
    def: &FunctionDef,
    source: &Source,
    env: &dyn KernelEnv,
    (form, stage): (Form, Stage),
    diagnostics: &mut Diagnostics,
) -> Vec<Param> {
    check_variadic(&def.params, source, "a kernel", diagnostics);
    let rest = def.params.var_positional.as_ref();
    if let Some(rest) = rest {
        let name = format!("*{}", rest.name.name);
        diagnostics.push(errors::variadic_parameter(source.at(rest.span), &name, "a kernel"));
    }
    let reader = TypeReader { source, env, ints: NO_INTS };
    let declared = def.params.iter().map(|param| {
        let kind = match form {
            Form::Kernel => annotated(param, &reader),
            Form::Python2Shader => declared_by_tuple(param, stage, &reader),
        };
        let found = match (&kind, &param.default) {
            (Err(mistake), default) => {
                let declarations = param.annotation.iter().chain(default);
                Some(declarations.fold(mistake.clone(), |mistake, text| reader.blame(text, mistake)))
            }
            (Ok(kind), Some(default)) if form == Form::Kernel => {
                defaults::misfit(&param.name, kind, default, source)
            }
            (Ok(_), _) => None,
        };
        diagnostics.extend(found);
        let is_rest = rest.is_some_and(|rest| rest.name.span == param.name.span);
        let kind = kind.ok().filter(|_| !is_rest);
        Param { name: param.name.clone(), kind: kind.unwrap_or(ParamKind::Untyped) }
    });
    let params: Vec<Param> = declared.collect();
    if let Some(first) = params.first().filter(|first| matches!(&*first.name.name, "self" | "cls")) {
        diagnostics.push(errors::kernel_with_self(source.at(first.name.span), &first.name.name));
    }
    check_slots(&params, source, diagnostics);
    ports::check_overlaps(&params, source, diagnostics);
    if let Some(returns) = &def.returns
        && !matches!(returns.kind, ExprKind::None)
    {
        diagnostics.push(errors::kernel_returns(source.at(returns.span)));
    }
    params
}

/// A function called from a kernel: its annotations must be types, where it has any.
pub(super) fn helper_params(
    def: &FunctionDef,
    source: &Source,
    env: &dyn KernelEnv,
    diagnostics: &mut Diagnostics,
) {
    nested_params(def, source, env, diagnostics);
    for param in def.params.iter() {
        if let Some(default) = &param.default
            && !is_constant(default)
            && matches!(env.default_of(&param.name.name), None | Some(EnvValue::Other { .. }))
        {
            diagnostics.push(errors::helper_default(source.at(default.span), &param.name.name));
        }
    }
}

/// A function of the kernel's own: its defaults are computed in the kernel.
pub(super) fn nested_params(
    def: &FunctionDef,
    source: &Source,
    env: &dyn KernelEnv,
    diagnostics: &mut Diagnostics,
) {
    check_variadic(&def.params, source, "a function called from a kernel", diagnostics);
    let reader = TypeReader { source, env, ints: NO_INTS };
    let annotations = def.params.iter().filter_map(|param| param.annotation.as_ref());
    for annotation in annotations.chain(&def.returns) {
        if !matches!(annotation.kind, ExprKind::None)
            && let Err(diagnostic) = reader.read(annotation)
        {
            diagnostics.push(reader.blame(annotation, diagnostic));
        }
    }
}

/// A number that is written out.
pub(crate) fn is_constant(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::True | ExprKind::False => true,
        ExprKind::Unary { operand, .. } => is_constant(operand),
        ExprKind::Binary { left, right, .. } => is_constant(left) && is_constant(right),
        _ => false,
    }
}

/// `**names` has no meaning where the number of arguments is known.
pub(super) fn check_variadic(
    params: &Parameters,
    source: &Source,
    what: &str,
    diagnostics: &mut Diagnostics,
) {
    if let Some(param) = &params.var_keyword {
        let name = format!("**{}", param.name.name);
        diagnostics.push(errors::variadic_parameter(source.at(param.span), &name, what));
    }
}

fn annotated(param: &ParamDef, reader: &TypeReader) -> Result<ParamKind, Diagnostic> {
    if let Some(default) = &param.default {
        // PyShader's tuple begins with the kind; any other value is a default.
        if let ExprKind::Tuple(items) = &default.kind
            && items.first().is_some_and(|item| matches!(item.kind, ExprKind::Str(_)))
        {
            return Err(errors::tuple_in_kernel(reader.source.at(default.span), &param.name.name));
        }
    }
    let Some(annotation) = &param.annotation else { return Ok(ParamKind::Untyped) };
    if let ExprKind::Tuple(_) = annotation.kind {
        return Err(errors::tuple_in_kernel(reader.source.at(annotation.span), &param.name.name));
    }
    if let Some(kind) = image_or_sampler(annotation, reader) {
        return kind;
    }
    match reader.read(annotation)? {
        TypeExpr::Buffer(array) => Ok(ParamKind::Array(array)),
        TypeExpr::Const(scalar) => Ok(ParamKind::Const(scalar)),
        TypeExpr::Value(ty) => Ok(ParamKind::Scalar(ty)),
    }
}

fn declared_by_tuple(param: &ParamDef, stage: Stage, reader: &TypeReader) -> Result<ParamKind, Diagnostic> {
    let (source, name) = (reader.source, &*param.name.name);
    let Some(declaration) = param.default.as_ref().or(param.annotation.as_ref()) else {
        return Err(errors::parameter_without_info(source.at(param.span), name));
    };
    if let Some(EnvValue::Tuple(held)) = reader.constant(declaration) {
        let (items, env) = captured::spelled(&held, declaration.span, reader.env);
        return declared_by_items(param, &items, stage, &TypeReader { env: &env, ..*reader });
    }
    match &declaration.kind {
        ExprKind::Tuple(items) => declared_by_items(param, items, stage, reader),
        _ => Err(errors::parameter_not_a_tuple(
            source.at(declaration.span),
            name,
            source.slice(declaration.span),
        )),
    }
}

fn declared_by_items(
    param: &ParamDef,
    items: &[Expr],
    stage: Stage,
    reader: &TypeReader,
) -> Result<ParamKind, Diagnostic> {
    let (source, name) = (reader.source, &*param.name.name);
    let [kind, slot, ty] = items else {
        let declaration = param.default.as_ref().or(param.annotation.as_ref());
        let span = declaration.map_or(param.span, |declaration| declaration.span);
        return Err(errors::parameter_tuple_len(source.at(span), name, items.len()));
    };
    match &*kind_name(kind, reader) {
        "input" if stage == Stage::Compute || ports::is_of_every_stage(slot, reader) => {
            input(slot, ty, reader)
        }
        "input" => ports::port(stage, Direction::Input, (slot, ty), reader),
        "buffer" => buffer(slot, ty, reader),
        "uniform" => uniform(slot, ty, reader),
        "texture" => Ok(ParamKind::Texture { slot: Some(place(slot, reader)?), ty: texture(ty, reader)? }),
        "sampler" => Ok(ParamKind::Sampler { slot: Some(place(slot, reader)?) }),
        "output" if stage == Stage::Compute => Err(errors::output_in_compute(source.at(kind.span))),
        "output" => ports::port(stage, Direction::Output, (slot, ty), reader),
        _ => Err(errors::parameter_kind(source.at(kind.span), source.slice(kind.span))),
    }
}

/// The kind that a parameter's tuple begins with: `"input"`, or PyShader's constant `RES_INPUT`.
fn kind_name(kind: &Expr, reader: &TypeReader) -> String {
    if let Some(name) = reader.word(kind) {
        return name;
    }
    let constant = match &kind.kind {
        ExprKind::Name(name) => &**name,
        ExprKind::Attribute { attr, .. } => &*attr.name,
        _ => "",
    };
    let kind = match constant {
        "RES_INPUT" => "input",
        "RES_OUTPUT" => "output",
        "RES_UNIFORM" => "uniform",
        "RES_BUFFER" => "buffer",
        "RES_TEXTURE" => "texture",
        "RES_SAMPLER" => "sampler",
        _ => "",
    };
    kind.to_owned()
}

fn input(slot: &Expr, ty: &Expr, reader: &TypeReader) -> Result<ParamKind, Diagnostic> {
    let at = reader.source.at(slot.span);
    let Some(name) = &reader.word(slot) else { return Err(errors::input_location(at)) };
    let Some(input) = Input::ALL.into_iter().find(|input| input.name() == name) else {
        if let Some(other) = ports::stage_with(Direction::Input, name) {
            return Err(errors::port_of_stage(at, name, (Stage::Compute, Direction::Input), other));
        }
        let nearest = kps_syntax::suggest::nearest(name, Input::ALL.into_iter().map(Input::name));
        return Err(errors::unknown_input(at, name, nearest));
    };
    let declared = reader.value_type(ty)?;
    let fits = declared.scalar().is_some_and(|scalar| scalar.is_int() && scalar.bits() == 32)
        && declared.n_components() == input.n_components();
    if !fits {
        let wanted = if input.n_components() == 1 { "i32" } else { "ivec3" };
        return Err(errors::input_type(reader.source.at(ty.span), input.name(), &declared, wanted));
    }
    Ok(ParamKind::Input { input, ty: declared })
}

fn uniform(slot: &Expr, ty: &Expr, reader: &TypeReader) -> Result<ParamKind, Diagnostic> {
    let (set, binding) = place(slot, reader)?;
    let ty = reader.value_type(ty)?;
    Ok(ParamKind::Uniform { set, binding, ty })
}

/// Bind group and binding: `0`, `(0, 1)`.
fn place(slot: &Expr, reader: &TypeReader) -> Result<(u32, u32), Diagnostic> {
    let place = match &slot.kind {
        ExprKind::Tuple(items) => match &items[..] {
            [group, binding] => slot_number(group, reader).zip(slot_number(binding, reader)),
            _ => None,
        },
        _ => slot_number(slot, reader).map(|binding| (0, binding)),
    };
    place.ok_or_else(|| errors::buffer_slot(reader.source.at(slot.span), reader.source.slice(slot.span)))
}

fn buffer(slot: &Expr, ty: &Expr, reader: &TypeReader) -> Result<ParamKind, Diagnostic> {
    let (set, binding) = place(slot, reader)?;
    match reader.read(ty)? {
        TypeExpr::Buffer(ArrayParam { element, rank: 1, .. }) => {
            Ok(ParamKind::Buffer { set, binding, element })
        }
        TypeExpr::Value(Type::Array(array)) => {
            Ok(ParamKind::Buffer { set, binding, element: array.element.clone() })
        }
        TypeExpr::Value(ty @ Type::Struct(_)) => Ok(ParamKind::Cell { set, binding, ty }),
        _ => Err(errors::buffer_not_an_array(reader.source.at(ty.span), reader.source.slice(ty.span))),
    }
}

/// The texture type in a string.
fn texture(ty: &Expr, reader: &TypeReader) -> Result<TextureType, Diagnostic> {
    let at = || reader.source.at(ty.span);
    let Some(text) = reader.word(ty) else {
        return Err(errors::texture_type(at(), TextureMistake::NoDimension));
    };
    TextureType::parse(&text).map_err(|mistake| errors::texture_type(at(), mistake))
}

/// `Image["2d r32f"]` and `Sampler`; `None` for any other annotation.
pub(super) fn image_or_sampler(
    annotation: &Expr,
    reader: &TypeReader,
) -> Option<Result<ParamKind, Diagnostic>> {
    let is_named =
        |expr: &Expr, wanted: &str| matches!(&expr.kind, ExprKind::Name(name) if &**name == wanted);
    match &annotation.kind {
        ExprKind::Subscript { value, index } if is_named(value, "Image") => {
            Some(texture(index, reader).map(|ty| ParamKind::Texture { slot: None, ty }))
        }
        ExprKind::Subscript { value, .. } if is_named(value, "Sampler") => {
            Some(Err(errors::sampler_in_brackets(reader.source.at(annotation.span))))
        }
        _ if is_named(annotation, "Sampler") => Some(Ok(ParamKind::Sampler { slot: None })),
        _ if is_named(annotation, "Image") => {
            let at = reader.source.at(annotation.span);
            Some(Err(errors::texture_type(at, TextureMistake::NoDimension)))
        }
        _ => None,
    }
}

/// The largest slot: devices have at most a few thousand bindings, and every device has 32.
pub(super) fn slot_number(expr: &Expr, reader: &TypeReader) -> Option<u32> {
    reader.int(expr).and_then(|number| u32::try_from(number).ok()).filter(|number| *number < 1024)
}

fn check_slots(params: &[Param], source: &Source, diagnostics: &mut Diagnostics) {
    for (param_idx, param) in params.iter().enumerate() {
        let earlier = params[..param_idx].iter().find(|earlier| same_slot(&earlier.kind, &param.kind));
        if let (Some(earlier), Some((set, binding))) = (earlier, slot_of(&param.kind)) {
            diagnostics.push(errors::slot_taken(
                source.at(param.name.span),
                source.at(earlier.name.span),
                (set, binding),
                &earlier.name.name,
            ));
        }
    }
}

fn same_slot(a: &ParamKind, b: &ParamKind) -> bool {
    slot_of(a).is_some_and(|slot| slot_of(b) == Some(slot))
}

/// The descriptor set and binding, if the parameter has them.
fn slot_of(kind: &ParamKind) -> Option<(u32, u32)> {
    match kind {
        ParamKind::Buffer { set, binding, .. }
        | ParamKind::Cell { set, binding, .. }
        | ParamKind::Uniform { set, binding, .. } => Some((*set, *binding)),
        ParamKind::Texture { slot, .. } | ParamKind::Sampler { slot } => *slot,
        _ => None,
    }
}
