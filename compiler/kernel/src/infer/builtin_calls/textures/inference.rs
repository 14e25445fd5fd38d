//! Operations on textures.

use kps_syntax::Span;
use kps_syntax::ast::{Argument, Ident};

use crate::builtins::{Builtin, Function, Kind};
use crate::infer::Ctx;
use crate::infer::builtin_calls::BuiltinCall;
use crate::infer::expressions::operand::{Operand, Static};
use crate::ir::{BinaryOp, NodeId, NodeKind, SamplerParam, Stmt, Texture, TextureId};
use crate::template::Param;
use crate::textures::TextureType;
use crate::types::{Scalar, Type};
use crate::{builtins, errors};

impl Ctx<'_> {
    pub fn bind_texture(
        &mut self,
        param_idx: usize,
        param: &Param,
        ty: TextureType,
        slot: Option<(u32, u32)>,
    ) -> Operand {
        let (set, binding) = slot.unwrap_or((0, self.interface.next_binding()));
        let (name, span) = (param.name.name.clone(), param.name.span);
        let texture = Texture { name, param_idx, set, binding, ty, span, is_sampled: false };
        let id = self.interface.add_texture(texture);
        Operand::Static(Static::Texture(id))
    }

    pub fn bind_sampler(&mut self, param_idx: usize, param: &Param, slot: Option<(u32, u32)>) -> Operand {
        let (set, binding) = slot.unwrap_or((0, self.interface.next_binding()));
        let (name, span) = (param.name.name.clone(), param.name.span);
        let id = self.interface.add_sampler(SamplerParam { name, param_idx, set, binding, span });
        Operand::Static(Static::Sampler(id))
    }

    /// `texture.read(at)`, `texture.write(at, value)`, `texture.sample(sampler, at)`. `None` if the receiver is
    /// not a texture.
    pub fn call_texture_method(
        &mut self,
        receiver: &Operand,
        receiver_span: Span,
        attr: &Ident,
        args: &[Argument],
        span: Span,
    ) -> Option<Operand> {
        let Operand::Static(Static::Texture(_)) = receiver else { return None };
        let Some(function) = texture_method(&attr.name) else {
            return Some(self.fail(errors::texture_method(self.at(attr.span), &attr.name)));
        };
        let mut all = vec![(receiver.clone(), receiver_span)];
        let arguments = self.arguments(args);
        if let Some((keyword, ..)) = arguments.keywords.first() {
            let error = errors::keyword_argument(self.at(keyword.span), &attr.name, &keyword.name);
            return Some(self.fail(error));
        }
        let given = arguments.positional.len();
        if given + 1 != function.params.len() {
            return Some(self.fail(errors::texture_arguments(self.at(span), &attr.name, given)));
        }
        all.extend(arguments.positional);
        Some(self.call_builtin(&BuiltinCall { function, name: &attr.name, args: &all, keyword: None, span }))
    }

    /// `texture.shape`, a tuple that ends with the number of texels along x. `.size`, the number of texels.
    /// `.ndim`, a constant.
    pub fn texture_attribute(&mut self, texture: TextureId, attr: &Ident, span: Span) -> Operand {
        match &*attr.name {
            "shape" => {
                let axes = self.texture_axes(texture, span);
                Operand::Tuple(axes.into_iter().map(Operand::Node).collect())
            }
            "size" => {
                let axes = self.texture_axes(texture, span).into_iter();
                let product =
                    axes.reduce(|a, b| self.node(NodeKind::Binary(BinaryOp::Mul, a, b), Scalar::I32, span));
                Operand::Node(product.expect("a texture has an axis"))
            }
            "ndim" => Operand::int(i128::from(self.interface[texture].ty.n_axes)),
            name if texture_method(name).is_some() => {
                self.fail(errors::texture_arguments(self.at(attr.span), &attr.name, 0))
            }
            name => self.fail(errors::texture_method(self.at(attr.span), name)),
        }
    }

    /// The number of texels along the first axis of the shape.
    pub fn texture_len(&mut self, texture: TextureId, span: Span) -> Operand {
        Operand::Node(self.texture_axes(texture, span)[0])
    }

    /// The number of texels along each axis. As in an array of rows, x comes last.
    fn texture_axes(&mut self, texture: TextureId, span: Span) -> Vec<NodeId> {
        let n_axes = self.interface[texture].ty.n_axes;
        let size = self.node(NodeKind::TextureSize(texture), Type::of(n_axes, Scalar::I32), span);
        match n_axes {
            1 => vec![size],
            n => (0..u32::from(n))
                .rev()
                .map(|axis| self.node(NodeKind::Extract(size, axis), Scalar::I32, span))
                .collect(),
        }
    }

    pub fn texture_read(&mut self, call: &BuiltinCall) -> Operand {
        let (Some(texture), span) = (texture_of(call), call.span) else { return Operand::Error };
        let Some(at) = self.texel_place(texture, &call.args[1]) else { return Operand::Error };
        self.interface.uses_of(texture).read.get_or_insert(span);
        let ty = Type::Vector(4, self.interface[texture].ty.scalar);
        Operand::Node(self.node(NodeKind::TextureRead { texture, at }, ty, span))
    }

    pub fn texture_write(&mut self, call: &BuiltinCall) -> Operand {
        let (Some(texture), span) = (texture_of(call), call.span) else { return Operand::Error };
        let place = self.texel_place(texture, &call.args[1]);
        let given = &call.args[2].0;
        let value = self.texel_value(texture, &call.args[2]);
        self.interface.uses_of(texture).write.get_or_insert(span);
        let (Some(at), Some(value)) = (place, value) else { return Operand::Error };
        self.f.block.push(Stmt::TextureWrite { texture, at, value, span });
        self.mark_texel(texture, at, given, span);
        Operand::Static(Static::None)
    }

    pub fn texture_sample(&mut self, call: &BuiltinCall) -> Operand {
        let (Some(texture), span) = (texture_of(call), call.span) else { return Operand::Error };
        let (sampler, at) = (&call.args[1], &call.args[2]);
        let Operand::Static(Static::Sampler(sampler)) = sampler.0 else {
            let what = self.describe(&sampler.0);
            return self.fail(errors::not_a_sampler(self.at(sampler.1), &what));
        };
        let ty = self.interface[texture].ty;
        let wanted = Type::of(ty.n_axes, Scalar::F32);
        let Some(at) = self.as_vector(&at.0, std::slice::from_ref(&wanted), at.1) else {
            let what = self.describe(&at.0);
            return self.fail(errors::texture_coordinate(self.at(at.1), &ty, &wanted, &what));
        };
        self.interface.uses_of(texture).sample.get_or_insert(span);
        let result = Type::Vector(4, ty.scalar);
        Operand::Node(self.node(NodeKind::TextureSample { texture, sampler, at }, result, span))
    }

    /// Integer coordinates.
    fn texel_place(&mut self, texture: TextureId, (at, span): &(Operand, Span)) -> Option<NodeId> {
        let ty = self.interface[texture].ty;
        let wanted = [Scalar::I32, Scalar::U32].map(|scalar| Type::of(ty.n_axes, scalar));
        let place = self.as_vector(at, &wanted, *span);
        if place.is_none() && !at.has_error() {
            let what = self.describe(at);
            self.error(errors::texture_coordinate(self.at(*span), &ty, &wanted[0], &what));
        }
        place
    }

    /// Four components. Missing ones are 0.
    fn texel_value(&mut self, texture: TextureId, (value, span): &(Operand, Span)) -> Option<NodeId> {
        let scalar = self.interface[texture].ty.scalar;
        for n in 1..=4 {
            let wanted = Type::of(n, scalar);
            let Some(value) = self.as_vector(value, &[wanted], *span) else { continue };
            let mut parts: Vec<NodeId> = match n {
                1 => vec![value],
                _ => (0..u32::from(n))
                    .map(|at| self.node(NodeKind::Extract(value, at), scalar, *span))
                    .collect(),
            };
            while parts.len() < 4 {
                parts.push(self.constant(crate::constant::Constant::zero(scalar), *span));
            }
            return Some(self.node(NodeKind::Construct(parts), Type::Vector(4, scalar), *span));
        }
        if !value.has_error() {
            let (ty, what) = (self.interface[texture].ty, self.describe(value));
            self.error(errors::texture_value(self.at(*span), &ty, &what));
        }
        None
    }

    /// A scalar or a vector of one of these types. A tuple is accepted as a vector.
    fn as_vector(&mut self, operand: &Operand, wanted: &[Type], span: Span) -> Option<NodeId> {
        if let Operand::Node(node) = operand
            && wanted.contains(self.ty(*node))
        {
            return Some(*node);
        }
        let first = wanted.first()?;
        let n = usize::from(first.n_components());
        match operand {
            Operand::Tuple(items) if items.len() == n && n > 1 => {
                let part = Type::from(first.scalar()?);
                let parts: Option<Vec<NodeId>> =
                    items.iter().map(|item| self.try_convert(item, &part, span)).collect();
                Some(self.node(NodeKind::Construct(parts?), first.clone(), span))
            }
            // A number is not a vector, whatever its length.
            Operand::Literal(_) if n > 1 => None,
            Operand::Literal(_) | Operand::Node(_) | Operand::Place(_) => {
                let same = self.value_type(operand).is_none_or(|ty| usize::from(ty.n_components()) == n);
                if same { self.try_convert(operand, first, span) } else { None }
            }
            _ => None,
        }
    }

    /// Resolves what is bound for each texture, once all its uses are known.
    pub fn resolve_textures(&mut self) {
        let mut found = Vec::new();
        for (texture, uses) in self.interface.used_textures() {
            let has_format = texture.ty.format.is_some();
            match (uses.sample, uses.write) {
                (Some(sample), Some(write)) => {
                    let [write, sample] = [write, sample].map(|span| self.f.source.at(span));
                    found.push(errors::texture_written_and_sampled(write, sample, &texture.name));
                }
                (None, Some(write)) if !has_format => {
                    found.push(errors::texture_without_format(self.f.source.at(write), &texture.ty));
                }
                _ => {}
            }
            texture.is_sampled = uses.sample.is_some() || (!has_format && uses.write.is_none());
        }
        found.into_iter().for_each(|mistake| self.error(mistake));
    }
}

/// The first argument, whose kind was checked.
fn texture_of(call: &BuiltinCall) -> Option<TextureId> {
    match call.args[0].0 {
        Operand::Static(Static::Texture(texture)) => Some(texture),
        _ => None,
    }
}

/// The function that is called as a method of a texture.
fn texture_method(name: &str) -> Option<Function> {
    match builtins::lookup(name) {
        Some(Builtin::Function(function)) => {
            (function.kind_of(0) == Kind::Texture && function.name() == name).then_some(function)
        }
        _ => None,
    }
}
