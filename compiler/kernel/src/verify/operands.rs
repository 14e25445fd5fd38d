//! Verification of nodes: the types of their operands and of their result.
//!
//! In goes a node whose operands are visible; out comes a violation, or nothing. Scopes of nodes and statements are
//! never checked here.

use kps_syntax::Span;

use super::{Check, Verifier, Violation, ensure, indexed};
use crate::constant::Constant;
use crate::ir::{
    Arg, Atomic, AtomicOp, AtomicPlace, BinaryOp, Buffer, CallArg, Combine, CoopMemory, CoopPlace, Extent,
    GeometryFn, Home, NodeId, NodeKind, SubgroupOp, UnaryOp,
};
use crate::matrices::{CoopType, CoopUse};
use crate::passes::legalise::narrow_floats;
use crate::stages::{Direction, Stage};
use crate::types::{Kind, Scalar, Type};

impl Verifier<'_> {
    pub(super) fn node(&self, kind: &NodeKind, ty: &Type, span: Span) -> Check {
        let of = |node: &NodeId| self.function.ty(*node);
        if let Type::Coop(coop) = ty
            && let Some(holds) = self.coop_math(kind, coop)
        {
            return ensure(holds, span, format_args!("operands that do not fit: {kind:?} as `{ty}`"));
        }
        let is_wide = narrow_floats::computed_in(self.function, kind).is_none();
        ensure(is_wide, span, "arithmetic in a type that is too narrow for it")?;
        let holds = match kind {
            NodeKind::Constant(constant) => *ty == Type::from(constant.scalar()),
            NodeKind::Opaque(constant) => self.opaque(*constant, ty),
            NodeKind::Input(input) => *ty == Type::of(input.n_components(), Scalar::U32),
            NodeKind::Port(port) => self.port(*port, Direction::Input, span)? == ty,
            NodeKind::Domain => {
                self.kernel.has_domain && *ty == Type::Vector(3, self.kernel.assumptions.ids.unsigned())
            }
            NodeKind::Scalar(scalar) => {
                self.kernel.scalars.get(scalar.idx()).is_some_and(|scalar| scalar.ty == *ty)
            }
            NodeKind::Arg(at) => match self.function.args.get(*at as usize) {
                Some(Arg::Value { ty: arg, .. }) => arg == ty,
                _ => false,
            },
            NodeKind::Unary(op, a) => {
                let wanted = match op {
                    UnaryOp::Negate => !is_kind(ty, &[Kind::Bool]),
                    UnaryOp::Not => is_kind(ty, &[Kind::Bool]),
                    UnaryOp::Invert => is_kind(ty, &[Kind::Signed, Kind::Unsigned]),
                };
                wanted && of(a) == ty
            }
            NodeKind::Bits(_, a) => of(a) == ty && ty.scalar() == Some(Scalar::U32) && !ty.is_matrix(),
            NodeKind::Binary(op, a, b) => of(a) == ty && of(b) == ty && takes(*op, ty),
            NodeKind::Compare(_, a, b) => {
                let numbers = of(a).n_components() > 0;
                numbers && of(a) == of(b) && *ty == of(a).with_scalar(Scalar::Bool)
            }
            NodeKind::Convert(a) => {
                ty.n_components() > 0 && of(a).n_components() == ty.n_components() && of(a) != ty
            }
            NodeKind::Proven(_, a) => of(a) == ty && matches!(ty, Type::Scalar(ty) if ty.is_int()),
            NodeKind::Bitcast(a) => {
                let bits = |ty: &Type| ty.scalar().map(Scalar::bits);
                bits(of(a)) == bits(ty) && of(a).n_components() == ty.n_components()
            }
            NodeKind::Select { condition, then, orelse } => {
                let bools = of(condition);
                of(then) == ty
                    && of(orelse) == ty
                    && (*bools == Type::BOOL || *bools == ty.with_scalar(Scalar::Bool))
                    && (ty.n_components() > 0 || (ty.is_matrix() && *bools == Type::BOOL))
            }
            NodeKind::Float(function, args) => {
                let n_args = args.iter().flatten().count();
                is_kind(ty, &[Kind::Float])
                    && n_args == function.n_args()
                    && args.iter().flatten().all(|arg| of(arg) == ty)
            }
            NodeKind::Power(..) | NodeKind::Math(..) => {
                return ensure(false, span, "an operation of the script that was not lowered");
            }
            NodeKind::Abs(a) | NodeKind::Sign(a) => of(a) == ty && !is_kind(ty, &[Kind::Bool]),
            NodeKind::CopySign { magnitude, sign } => {
                of(magnitude) == ty && of(sign) == ty && is_kind(ty, &[Kind::Float])
            }
            NodeKind::IsNan(a) | NodeKind::IsInf(a) => {
                is_kind(of(a), &[Kind::Float]) && *ty == of(a).with_scalar(Scalar::Bool)
            }
            NodeKind::Splat(a) => match ty {
                Type::Coop(coop) => *of(a) == coop.scalar.into(),
                _ => ty.is_vector() && Some(of(a)) == ty.scalar().map(Type::from).as_ref(),
            },
            NodeKind::CoopLoad(place) => return self.coop_place(place, ty, span),
            NodeKind::CoopMultiplyAdd { sum, a, b } => of(sum) == ty && multiplies(of(a), of(b), ty),
            NodeKind::CoopLength(_) => *ty == Type::U32,
            NodeKind::Construct(parts) => self.constructs(parts, ty),
            NodeKind::Extract(a, at) => of(a).part(*at).as_ref() == Some(ty),
            NodeKind::ExtractAt { whole, index } => {
                self.index(*index, span)?;
                indexed(of(whole)).as_ref() == Some(ty)
            }
            NodeKind::Insert { whole, value, part } => {
                of(whole) == ty && ty.part(*part).as_ref() == Some(of(value))
            }
            NodeKind::InsertAt { whole, value, index } => {
                self.index(*index, span)?;
                of(whole) == ty && indexed(ty).as_ref() == Some(of(value))
            }
            NodeKind::Swizzle(a, components) => {
                let n = u32::from(of(a).n_components());
                ty.is_vector()
                    && components.len() == usize::from(ty.n_components())
                    && components.iter().all(|component| *component < n)
                    && ty.scalar() == of(a).scalar()
            }
            NodeKind::Dot(a, b) => of(a).is_vector() && of(a) == of(b) && is_scalar_of(ty, of(a)),
            NodeKind::All(a) | NodeKind::Any(a) => {
                matches!(of(a), Type::Vector(_, Scalar::Bool)) && *ty == Type::BOOL
            }
            NodeKind::Uniform(a) => of(a) == ty,
            NodeKind::Subgroup { op, value, lane } => self.subgroup(*op, *value, *lane, ty),
            NodeKind::Atomic(atomic) => self.atomic(atomic, ty, span)?,
            NodeKind::Geometry(function, args) => self.geometry(*function, args, ty),
            NodeKind::Load(local) => self.local(*local, span)? == ty,
            NodeKind::LoadElement { local, path } => self.path(*local, path, span)? == *ty,
            NodeKind::BufferLoad { buffer, index, path, .. } => {
                self.element(index, span)?;
                self.part(self.buffer(*buffer, span)?.clone(), path, span)? == *ty
            }
            NodeKind::BufferLen(buffer) => {
                self.buffer(*buffer, span)?;
                *ty == self.kernel.buffers[buffer.idx()].counts.signed().into()
            }
            NodeKind::IsInside { of, index } => {
                self.element(index, span)?;
                if let Extent::Elements(buffer) = of {
                    self.buffer(*buffer, span)?;
                }
                *ty == Type::BOOL
            }
            NodeKind::BufferAxis { buffer, axis } => {
                self.buffer(*buffer, span)?;
                let Buffer { rank, counts, .. } = self.kernel.buffers[buffer.idx()];
                rank > 1 && *axis < rank && *ty == counts.signed().into()
            }
            NodeKind::TextureSize(texture) => {
                *ty == Type::of(self.texture_type(*texture, span)?.n_axes, Scalar::I32)
            }
            NodeKind::TextureRead { texture, at } => self.texture(*texture, *at, Scalar::I32, span)? == *ty,
            NodeKind::TextureSample { texture, at, .. } => {
                self.texture(*texture, *at, Scalar::F32, span)? == *ty
            }
            NodeKind::Call { function, args } => {
                return self.call(function.idx(), args, ty, span);
            }
        };
        ensure(holds, span, format_args!("operands that do not fit: {kind:?} as `{ty}`"))
    }

    /// Whether a constant can be laundered (`NodeKind::Opaque`).
    pub(super) fn opaque(&self, constant: Constant, ty: &Type) -> bool {
        let fits = match constant.scalar().kind() {
            Kind::Float | Kind::Bool => true,
            Kind::Unsigned => constant == Constant::zero(constant.scalar()),
            Kind::Signed => false,
        };
        fits && self.kernel.stage == Stage::Compute && *ty == Type::from(constant.scalar())
    }

    /// Whether arithmetic of whole matrices has the right types; `None` for other operations. Devices compute with no
    /// `bf16`s.
    fn coop_math(&self, kind: &NodeKind, coop: &CoopType) -> Option<bool> {
        let is = |node: &NodeId| *self.function.ty(*node) == Type::Coop(*coop);
        let fits = match kind {
            NodeKind::Unary(op, a) => *op == UnaryOp::Negate && is(a),
            NodeKind::Binary(op, a, b) => {
                let is_plain = matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul);
                let is_quotient = *op == BinaryOp::Div && coop.scalar.is_float();
                (is_plain || is_quotient) && is(a) && is(b)
            }
            NodeKind::Convert(a) => match self.function.ty(*a) {
                Type::Coop(from) => {
                    let is_alike = CoopType { scalar: coop.scalar, ..*from } == *coop;
                    let keeps_ints = !(from.scalar.is_float() && coop.scalar.is_int());
                    is_alike && from.scalar != coop.scalar && from.scalar != Scalar::Bf16 && keeps_ints
                }
                _ => false,
            },
            _ => return None,
        };
        Some(fits && coop.scalar != Scalar::Bf16)
    }

    /// Whether a matrix of type `ty` may be there.
    pub(super) fn coop_place(&self, place: &CoopPlace, ty: &Type, span: Span) -> Check {
        let element = match place.memory {
            CoopMemory::Buffer(buffer) => self.buffer(buffer, span)?.clone(),
            CoopMemory::Shared(local) => {
                let home = self.function.locals.get(local.idx()).map(|local| local.home);
                let is_shared = matches!(home, Some(Home::Workgroup(_)));
                ensure(is_shared, span, "a matrix in an invocation's own memory")?;
                indexed(self.local(local, span)?).unwrap_or(Type::Error)
            }
        };
        // Matrices of `bf16` are loaded from their bits, too.
        let bits = |scalar: Scalar| scalar.in_buffers();
        let holds = matches!(ty, Type::Coop(coop) if element.scalar().map(bits) == Some(bits(coop.scalar)));
        ensure(holds, span, "a matrix in an array of other elements")?;
        self.index(place.start, span)?;
        self.index(place.stride, span)?;
        let fits = self.function.ty(place.start) == self.function.ty(place.stride);
        ensure(fits, span, "a stride of another type than where the matrix begins")
    }

    fn constructs(&self, parts: &[NodeId], ty: &Type) -> bool {
        ty.n_parts() == Some(parts.len() as u32)
            && parts.iter().zip(0..).all(|(node, at)| ty.part(at).as_ref() == Some(self.function.ty(*node)))
    }

    fn subgroup(&self, op: SubgroupOp, value: Option<NodeId>, lane: Option<NodeId>, ty: &Type) -> bool {
        let value = value.map(|value| self.function.ty(value));
        let lane = lane.map(|lane| self.function.ty(lane));
        match op {
            SubgroupOp::Elect => value.is_none() && lane.is_none() && *ty == Type::BOOL,
            SubgroupOp::Any | SubgroupOp::All => value == Some(&Type::BOOL) && *ty == Type::BOOL,
            SubgroupOp::Ballot => value == Some(&Type::BOOL) && *ty == Type::Vector(4, Scalar::U32),
            SubgroupOp::FromFirst => value == Some(ty) && lane.is_none() && ty.n_components() > 0,
            SubgroupOp::Combine(combine, _) => {
                let takes = match combine {
                    Combine::And | Combine::Or | Combine::Xor => !is_kind(ty, &[Kind::Float]),
                    _ => !is_kind(ty, &[Kind::Bool]),
                };
                takes && value == Some(ty) && lane.is_none() && ty.n_components() > 0
            }
            _ => value == Some(ty) && lane == Some(&Type::U32) && ty.n_components() > 0,
        }
    }

    fn atomic(&self, atomic: &Atomic, ty: &Type, span: Span) -> Result<bool, Violation> {
        let element = match &atomic.place {
            AtomicPlace::Buffer { buffer, index, path } => {
                self.element(index, span)?;
                self.part(self.buffer(*buffer, span)?.clone(), path, span)?
            }
            AtomicPlace::Shared { local, path } => {
                let home = self.function.locals.get(local.idx()).map(|local| local.home);
                let is_shared = matches!(home, Some(Home::Workgroup(_)));
                ensure(is_shared, span, "an atomic operation on an invocation's own memory")?;
                self.path(*local, path, span)?
            }
        };
        let of_element = |node: &Option<NodeId>| node.is_none_or(|node| *self.function.ty(node) == element);
        let result = if atomic.op == AtomicOp::Store { &Type::Void } else { &element };
        let has_value = atomic.value.is_some() == (atomic.op != AtomicOp::Load);
        let has_expected = atomic.expected.is_some() == (atomic.op == AtomicOp::CompareExchange);
        let is_number = is_kind(&element, &[Kind::Signed, Kind::Unsigned, Kind::Float, Kind::Bool])
            && !element.is_vector();
        Ok(is_number
            && ty == result
            && has_value
            && has_expected
            && of_element(&atomic.value)
            && of_element(&atomic.expected))
    }

    fn geometry(&self, function: GeometryFn, args: &[NodeId], ty: &Type) -> bool {
        let of = |at: usize| args.get(at).map(|arg| self.function.ty(*arg));
        let is_float = of(0).is_some_and(|ty| is_kind(ty, &[Kind::Float]));
        let alike = |n: usize| args.len() >= n && (0..n).all(|at| of(at) == of(0));
        let (n_args, fits) = match function {
            GeometryFn::Length => (1, of(0).is_some_and(|arg| is_scalar_of(ty, arg))),
            GeometryFn::Distance => (2, alike(2) && of(0).is_some_and(|arg| is_scalar_of(ty, arg))),
            GeometryFn::Cross => (2, alike(2) && of(0) == Some(ty) && ty.n_components() == 3),
            GeometryFn::Normalize => (1, of(0) == Some(ty)),
            GeometryFn::FaceForward => (3, alike(3) && of(0) == Some(ty)),
            GeometryFn::Reflect => (2, alike(2) && of(0) == Some(ty)),
            GeometryFn::Refract => {
                let eta = of(2).is_some_and(|eta| is_scalar_of(eta, ty));
                (3, alike(2) && of(0) == Some(ty) && eta)
            }
        };
        is_float && args.len() == n_args && fits
    }

    fn call(&self, callee: usize, args: &[CallArg], ty: &Type, span: Span) -> Check {
        ensure(callee < self.function_idx, span, "a call of a later function")?;
        let callee = &self.kernel.functions[callee];
        ensure(callee.result == *ty, span, "a call with another result")?;
        ensure(callee.args.len() == args.len(), span, "a call with other arguments")?;
        for (arg, given) in callee.args.iter().zip(args) {
            let fits = match (arg, given) {
                (Arg::Value { ty, .. }, CallArg::Value(value)) => self.function.ty(*value) == ty,
                (Arg::Reference(local), CallArg::Reference(given)) => {
                    callee.local(*local).ty == *self.local(*given, span)?
                }
                _ => false,
            };
            ensure(fits, span, "an argument of another type")?;
        }
        Ok(())
    }
}

/// Whether `a` times `b` is a matrix of type `sum`.
fn multiplies(a: &Type, b: &Type, sum: &Type) -> bool {
    let (Type::Coop(a), Type::Coop(b), Type::Coop(sum)) = (a, b, sum) else { return false };
    (a.rows, b.columns) == (sum.rows, sum.columns)
        && a.columns == b.rows
        && a.scalar == b.scalar
        && [a.purpose, b.purpose, sum.purpose] == [CoopUse::A, CoopUse::B, CoopUse::Accumulator]
}

fn is_kind(ty: &Type, kinds: &[Kind]) -> bool {
    ty.scalar().is_some_and(|scalar| kinds.contains(&scalar.kind()))
}

fn is_scalar_of(ty: &Type, vector: &Type) -> bool {
    matches!(ty, Type::Scalar(scalar) if Some(*scalar) == vector.scalar())
}

fn takes(op: BinaryOp, ty: &Type) -> bool {
    let ints = is_kind(ty, &[Kind::Signed, Kind::Unsigned]);
    let floats = is_kind(ty, &[Kind::Float]);
    match op {
        BinaryOp::Add
        | BinaryOp::Sub
        | BinaryOp::Mul
        | BinaryOp::FloorDiv
        | BinaryOp::FloorMod
        | BinaryOp::TruncRem => ints || floats,
        BinaryOp::Div => floats,
        BinaryOp::PlainDiv | BinaryOp::PlainMod => is_kind(ty, &[Kind::Signed]),
        BinaryOp::TruncDiv | BinaryOp::ShiftLeft | BinaryOp::ShiftRight => ints,
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => !floats && ty.scalar().is_some(),
    }
}
