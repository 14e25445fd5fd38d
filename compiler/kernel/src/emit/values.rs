//! The table from the nodes of the IR to the families of instructions.

use rspirv::spirv::{GlslStd450Op as GlslOp, Op, Word};

use super::function::FunctionEmitter;
use super::module::Operand;
use crate::constant::Constant;
use crate::ir::{
    BinaryOp, BitsOp, CallArg, CompareOp, Extent, FloatFn, FunctionId, GeometryFn, Node, NodeId, NodeKind,
    UnaryOp,
};
use crate::types::{Kind, Scalar, Type};

impl FunctionEmitter<'_> {
    /// Computes a node into the open block.
    pub fn node(&mut self, id: NodeId) {
        let function = self.function;
        let node = function.node(id);
        if self.is_param_part(id) || self.recurrence(id).is_some() {
            return;
        }
        self.at(node.span);
        let value = self.compute(id);
        if let Some(name) = &node.name
            && !self.module.is_constant(value)
        {
            self.module.name(value, name);
        }
        self.set_value(id, value);
        self.debug_value(id, value);
    }

    pub fn compute(&mut self, id: NodeId) -> Word {
        let function = self.function;
        let Node { kind, ty, .. } = function.node(id);
        let of = |node: NodeId| function.ty(node);
        if let Type::Coop(coop) = ty
            && let Some(made) = self.coop_math(kind, coop)
        {
            return made;
        }
        match kind {
            NodeKind::Constant(constant) => self.module.constant(*constant),
            NodeKind::Opaque(constant) => self.opaque(*constant),
            NodeKind::Input(input) => self.input_value(*input),
            NodeKind::Port(port) => self.load_port(*port, ty),
            NodeKind::Domain => self.load_domain(),
            NodeKind::Scalar(scalar) => self.load_scalar(*scalar, ty),
            NodeKind::Arg(at) => self.arg(*at),
            NodeKind::Bits(op, a) => self.bits(*op, *a, ty),
            NodeKind::Unary(op, a) => {
                let a = self.value(*a);
                self.unary(*op, a, ty)
            }
            NodeKind::Binary(op, a, b) => self.binary(*op, [*a, *b], ty),
            NodeKind::Compare(op, a, b) => {
                let operand = of(*a);
                let (a, b) = (self.value(*a), self.value(*b));
                self.ids(compare_op(*op, operand), ty, &[a, b])
            }
            NodeKind::Convert(a) => {
                let from = of(*a);
                let a = self.value(*a);
                self.convert(a, from, ty)
            }
            NodeKind::Proven(_, a) => self.value(*a),
            NodeKind::Bitcast(a) => {
                let from = of(*a);
                let a = self.value(*a);
                self.bitcast(a, from, ty)
            }
            NodeKind::Select { condition, then, orelse } => {
                let (condition, then, orelse) =
                    (self.value(*condition), self.value(*then), self.value(*orelse));
                self.select(ty, condition, then, orelse)
            }
            NodeKind::Float(function, args) => {
                let given = args.iter().flatten();
                let args: Vec<Word> = given.map(|arg| self.value(*arg)).collect();
                self.glsl(float_op(*function), ty, &args)
            }
            NodeKind::Abs(a) => {
                let a = self.value(*a);
                if is_float(ty) { self.glsl(GlslOp::FAbs, ty, &[a]) } else { self.int_abs(a, ty) }
            }
            NodeKind::Sign(a) => {
                let a = self.value(*a);
                self.sign(a, ty)
            }
            NodeKind::CopySign { magnitude, sign } => self.copy_sign(*magnitude, *sign, ty),
            NodeKind::IsNan(a) => {
                let a = self.value(*a);
                self.ids(Op::IsNan, ty, &[a])
            }
            NodeKind::IsInf(a) => {
                let a = self.value(*a);
                self.ids(Op::IsInf, ty, &[a])
            }
            NodeKind::Splat(a) => {
                let a = self.value(*a);
                if let Type::Coop(coop) = ty {
                    return self.coop_filled(a, coop);
                }
                self.construct(&vec![a; usize::from(ty.n_components())], ty)
            }
            NodeKind::Construct(parts) => {
                let parts: Vec<Word> = parts.iter().map(|part| self.value(*part)).collect();
                self.construct(&parts, ty)
            }
            NodeKind::Extract(a, at) => {
                let a = self.value(*a);
                self.extract(a, *at, ty)
            }
            NodeKind::ExtractAt { whole, index } => self.extract_at(*whole, *index, ty),
            NodeKind::Insert { whole, value, part } => {
                let (whole, value) = (self.value(*whole), self.value(*value));
                self.insert(whole, value, *part, ty)
            }
            NodeKind::InsertAt { whole, value, index } => self.insert_at(*whole, *value, *index, ty),
            NodeKind::Swizzle(a, components) => {
                let a = self.value(*a);
                let result = self.module.ty(ty);
                let mut operands = vec![Operand::IdRef(a), Operand::IdRef(a)];
                operands.extend(components.iter().map(|component| Operand::LiteralBit32(*component)));
                self.op(Op::VectorShuffle, result, &operands)
            }
            NodeKind::Dot(a, b) => self.dot([*a, *b], ty),
            NodeKind::All(a) => {
                let a = self.value(*a);
                self.ids(Op::All, ty, &[a])
            }
            NodeKind::Any(a) => {
                let a = self.value(*a);
                self.ids(Op::Any, ty, &[a])
            }
            NodeKind::Power(..) | NodeKind::Math(..) => {
                unreachable!("verified: only primitive operations are left")
            }
            NodeKind::Geometry(function, args) => {
                let args: Vec<Word> = args.iter().map(|arg| self.value(*arg)).collect();
                self.glsl(geometry_op(*function), ty, &args)
            }
            NodeKind::Load(local) => {
                let pointer = self.local(*local);
                self.load_local(*local, pointer, ty)
            }
            NodeKind::LoadElement { local, path } => self.load_element(*local, path, ty),
            NodeKind::BufferLoad { buffer, index, path, bounds } => {
                self.load_buffer(*buffer, index, path, *bounds)
            }
            NodeKind::BufferAxis { buffer, axis } => self.buffer_axis(*buffer, *axis),
            NodeKind::IsInside { of: Extent::Elements(buffer), index } => {
                self.inside_buffer(*buffer, index).0
            }
            NodeKind::IsInside { of: Extent::Parts(len), index } => self.is_below(index.number(), *len),
            NodeKind::BufferLen(buffer) => {
                let len = self.buffer_len(*buffer);
                self.ids(Op::Bitcast, ty, &[len])
            }
            NodeKind::Subgroup { op, value, lane } => self.subgroup(*op, *value, *lane, ty),
            NodeKind::Atomic(atomic) => self.atomic(atomic, ty),
            NodeKind::CoopLoad(place) => self.coop_load(place, ty),
            NodeKind::CoopMultiplyAdd { sum, a, b } => self.coop_multiply_add([*a, *b, *sum], ty),
            NodeKind::CoopLength(coop) => self.coop_length(coop),
            NodeKind::Uniform(a) => {
                let a = self.value(*a);
                self.ids(Op::CopyObject, ty, &[a])
            }
            NodeKind::TextureSize(texture) => self.texture_size(*texture, ty),
            NodeKind::TextureRead { texture, at } => self.texture_read(*texture, *at, ty),
            NodeKind::TextureSample { texture, sampler, at } => {
                self.texture_sample(*texture, *sampler, *at, ty)
            }
            NodeKind::Call { function, args } => self.call(*function, args, ty),
        }
    }

    fn call(&mut self, function: FunctionId, args: &[CallArg], ty: &Type) -> Word {
        let callee = self.functions[function.idx()].expect("functions that are called were given ids");
        let mut operands = vec![callee];
        for arg in args {
            operands.push(match arg {
                CallArg::Value(value) => self.value(*value),
                CallArg::Reference(local) => self.local(*local),
            });
        }
        let result = self.ids(Op::FunctionCall, ty, &operands);
        self.end_behind_call(callee);
        result
    }

    fn bits(&mut self, op: BitsOp, a: NodeId, ty: &Type) -> Word {
        let a = self.value(a);
        match op {
            BitsOp::CountOnes => self.ids(Op::BitCount, ty, &[a]),
            BitsOp::HighestOne => self.glsl(GlslOp::FindUMsb, ty, &[a]),
            BitsOp::Reverse => self.ids(Op::BitReverse, ty, &[a]),
        }
    }

    fn unary(&mut self, op: UnaryOp, a: Word, ty: &Type) -> Word {
        let op = match op {
            UnaryOp::Negate if is_float(ty) => Op::FNegate,
            UnaryOp::Negate => return self.int_negate(a, ty),
            UnaryOp::Not => Op::LogicalNot,
            UnaryOp::Invert => Op::Not,
        };
        self.ids(op, ty, &[a])
    }

    fn binary(&mut self, op: BinaryOp, [a, b]: [NodeId; 2], ty: &Type) -> Word {
        let constant = self.function.known(b);
        let known = constant.and_then(Constant::as_int);
        if op == BinaryOp::Mul
            && is_float(ty)
            && let Some(product) = self.scaled_vector(a, b, ty)
        {
            return product;
        }
        let (a, b) = (self.value(a), self.value(b));
        let kind = ty.scalar().map_or(Kind::Signed, Scalar::kind);
        let float = kind == Kind::Float;
        let plain = match op {
            BinaryOp::Add => {
                if float {
                    Op::FAdd
                } else {
                    Op::IAdd
                }
            }
            BinaryOp::Sub => {
                if float {
                    Op::FSub
                } else {
                    Op::ISub
                }
            }
            BinaryOp::Mul => {
                if float {
                    Op::FMul
                } else {
                    Op::IMul
                }
            }
            BinaryOp::Div => Op::FDiv,
            BinaryOp::TruncRem if float => return self.float_trunc_rem(a, b, constant, ty),
            BinaryOp::FloorDiv if float => return self.float_floor_div(a, b, ty),
            BinaryOp::FloorMod if float => return self.float_floor_mod(a, b, ty),
            BinaryOp::FloorDiv
            | BinaryOp::FloorMod
            | BinaryOp::TruncDiv
            | BinaryOp::TruncRem
            | BinaryOp::PlainDiv
            | BinaryOp::PlainMod => return self.int_division(op, a, b, known, ty),
            BinaryOp::ShiftLeft | BinaryOp::ShiftRight => {
                return self.shift(op, a, b, known, ty);
            }
            BinaryOp::And => {
                if kind == Kind::Bool {
                    Op::LogicalAnd
                } else {
                    Op::BitwiseAnd
                }
            }
            BinaryOp::Or => {
                if kind == Kind::Bool {
                    Op::LogicalOr
                } else {
                    Op::BitwiseOr
                }
            }
            BinaryOp::Xor => {
                if kind == Kind::Bool {
                    Op::LogicalNotEqual
                } else {
                    Op::BitwiseXor
                }
            }
        };
        self.ids(plain, ty, &[a, b])
    }

    /// A float vector times a scalar that is broadcast.
    fn scaled_vector(&mut self, a: NodeId, b: NodeId, ty: &Type) -> Option<Word> {
        let splat = |node: NodeId| match self.function.node(node).kind {
            NodeKind::Splat(scalar) => Some(scalar),
            _ => None,
        };
        let (vector, scalar) = match (splat(a), splat(b)) {
            (None, Some(scalar)) => (a, scalar),
            (Some(scalar), None) => (b, scalar),
            _ => return None,
        };
        let (vector, scalar) = (self.value(vector), self.value(scalar));
        Some(self.ids(Op::VectorTimesScalar, ty, &[vector, scalar]))
    }
}

pub(crate) fn is_float(ty: &Type) -> bool {
    ty.scalar().is_some_and(Scalar::is_float)
}

fn compare_op(op: CompareOp, operand: &Type) -> Op {
    let kind = operand.scalar().map_or(Kind::Signed, Scalar::kind);
    match (op, kind) {
        (CompareOp::Equal, Kind::Float) => Op::FOrdEqual,
        // NaN differs from everything, itself included.
        (CompareOp::NotEqual, Kind::Float) => Op::FUnordNotEqual,
        (CompareOp::Less, Kind::Float) => Op::FOrdLessThan,
        (CompareOp::LessEqual, Kind::Float) => Op::FOrdLessThanEqual,
        (CompareOp::Greater, Kind::Float) => Op::FOrdGreaterThan,
        (CompareOp::GreaterEqual, Kind::Float) => Op::FOrdGreaterThanEqual,
        (CompareOp::Equal, Kind::Bool) => Op::LogicalEqual,
        (CompareOp::NotEqual, Kind::Bool) => Op::LogicalNotEqual,
        (CompareOp::Equal, _) => Op::IEqual,
        (CompareOp::NotEqual, _) => Op::INotEqual,
        (CompareOp::Less, Kind::Signed) => Op::SLessThan,
        (CompareOp::LessEqual, Kind::Signed) => Op::SLessThanEqual,
        (CompareOp::Greater, Kind::Signed) => Op::SGreaterThan,
        (CompareOp::GreaterEqual, Kind::Signed) => Op::SGreaterThanEqual,
        (CompareOp::Less, _) => Op::ULessThan,
        (CompareOp::LessEqual, _) => Op::ULessThanEqual,
        (CompareOp::Greater, _) => Op::UGreaterThan,
        (CompareOp::GreaterEqual, _) => Op::UGreaterThanEqual,
    }
}

fn float_op(function: FloatFn) -> GlslOp {
    match function {
        FloatFn::Round => GlslOp::RoundEven,
        FloatFn::Trunc => GlslOp::Trunc,
        FloatFn::Floor => GlslOp::Floor,
        FloatFn::Ceil => GlslOp::Ceil,
        FloatFn::Fract => GlslOp::Fract,
        FloatFn::Sin => GlslOp::Sin,
        FloatFn::Cos => GlslOp::Cos,
        FloatFn::Tan => GlslOp::Tan,
        FloatFn::Asin => GlslOp::Asin,
        FloatFn::Acos => GlslOp::Acos,
        FloatFn::Atan => GlslOp::Atan,
        FloatFn::Sinh => GlslOp::Sinh,
        FloatFn::Cosh => GlslOp::Cosh,
        FloatFn::Tanh => GlslOp::Tanh,
        FloatFn::Asinh => GlslOp::Asinh,
        FloatFn::Acosh => GlslOp::Acosh,
        FloatFn::Atanh => GlslOp::Atanh,
        FloatFn::Atan2 => GlslOp::Atan2,
        FloatFn::Pow => GlslOp::Pow,
        FloatFn::Exp => GlslOp::Exp,
        FloatFn::Exp2 => GlslOp::Exp2,
        FloatFn::Log => GlslOp::Log,
        FloatFn::Log2 => GlslOp::Log2,
        FloatFn::Sqrt => GlslOp::Sqrt,
        FloatFn::InverseSqrt => GlslOp::InverseSqrt,
        FloatFn::Fma => GlslOp::Fma,
        FloatFn::NMin => GlslOp::NMin,
        FloatFn::NMax => GlslOp::NMax,
        FloatFn::NClamp => GlslOp::NClamp,
    }
}

fn geometry_op(function: GeometryFn) -> GlslOp {
    match function {
        GeometryFn::Length => GlslOp::Length,
        GeometryFn::Distance => GlslOp::Distance,
        GeometryFn::Cross => GlslOp::Cross,
        GeometryFn::Normalize => GlslOp::Normalize,
        GeometryFn::FaceForward => GlslOp::FaceForward,
        GeometryFn::Reflect => GlslOp::Reflect,
        GeometryFn::Refract => GlslOp::Refract,
    }
}
