//! The instructions of `GLSL.std.450`. Those that the specification defines by a formula are expanded. Others
//! call [`crate::cpu::math`], which states the error bounds.

use kps_scalar::Scalar;
use rspirv::spirv::GlslStd450Op as GLOp;

use super::arithmetic::Parts;
use super::{Data, Lowerer, Operand, packing};
use crate::Result;
use crate::cpu::lane::{self, Binary, Compare, Convert, Ty, Unary};
use crate::cpu::math::Function;
use crate::cpu::module::Instruction;
use crate::cpu::module::constants::lane_ty;
use crate::cpu::module::types::TypeId;

impl Lowerer<'_> {
    pub(super) fn glsl(&mut self, inst: &Instruction) -> Result<()> {
        let number = self.word(inst, 3)?;
        let Some(op) = GLOp::from_u32(number) else {
            return Err(self.malformed(inst, &format!("GLSL.std.450 has no instruction {number}")));
        };
        let data = self.glsl_value(inst, op)?;
        self.define(inst, Operand::Data(data))
    }

    fn glsl_value(&mut self, inst: &Instruction, op: GLOp) -> Result<Data> {
        if let Some(function) = called(op) {
            return self.glsl_call(inst, op, function);
        }
        match op {
            GLOp::Round | GLOp::RoundEven => self.float_unary(inst, op, |b, x| b.unary(Unary::Nearest, x)),
            GLOp::Trunc => self.float_unary(inst, op, |b, x| b.unary(Unary::Trunc, x)),
            GLOp::FAbs => self.float_unary(inst, op, |b, x| b.unary(Unary::FAbs, x)),
            GLOp::Floor => self.float_unary(inst, op, |b, x| b.unary(Unary::Floor, x)),
            GLOp::Ceil => self.float_unary(inst, op, |b, x| b.unary(Unary::Ceil, x)),
            GLOp::Sqrt => self.float_unary(inst, op, |b, x| b.unary(Unary::Sqrt, x)),
            GLOp::Fract => self.fract(inst, op),
            GLOp::FSign => self.float_unary(inst, op, float_sign),
            GLOp::InverseSqrt => self.float_unary(inst, op, inverse_sqrt),
            GLOp::Radians => self.float_unary(inst, op, |b, x| scale(b, x, std::f64::consts::PI / 180.0)),
            GLOp::Degrees => self.float_unary(inst, op, |b, x| scale(b, x, 180.0 / std::f64::consts::PI)),
            GLOp::SAbs => self.int_unary(inst, op, int_abs),
            GLOp::SSign => self.int_unary(inst, op, int_sign),
            GLOp::FindILsb => self.int_unary(inst, op, find_lsb),
            GLOp::FindUMsb => self.int_unary(inst, op, find_msb),
            GLOp::FindSMsb => self.int_unary(inst, op, find_signed_msb),
            GLOp::FMin => self.float_each(inst, op, |b, [x, y]| pick(b, Compare::FLt, y, x)),
            GLOp::FMax => self.float_each(inst, op, |b, [x, y]| pick(b, Compare::FGt, y, x)),
            GLOp::NMin => self.float_each(inst, op, |b, [x, y]| number_pick(b, Compare::FLt, x, y)),
            GLOp::NMax => self.float_each(inst, op, |b, [x, y]| number_pick(b, Compare::FGt, x, y)),
            GLOp::SMin => self.int_each(inst, op, |b, [x, y]| pick(b, Compare::LtS, y, x)),
            GLOp::SMax => self.int_each(inst, op, |b, [x, y]| pick(b, Compare::GtS, y, x)),
            GLOp::UMin => self.int_each(inst, op, |b, [x, y]| pick(b, Compare::LtU, y, x)),
            GLOp::UMax => self.int_each(inst, op, |b, [x, y]| pick(b, Compare::GtU, y, x)),
            GLOp::FClamp => self.float_each(inst, op, |b, [x, low, high]| {
                let x = pick(b, Compare::FGt, low, x);
                pick(b, Compare::FLt, high, x)
            }),
            GLOp::NClamp => self.float_each(inst, op, |b, [x, low, high]| {
                let x = number_pick(b, Compare::FGt, x, low);
                number_pick(b, Compare::FLt, x, high)
            }),
            GLOp::SClamp => self.int_each(inst, op, |b, [x, low, high]| {
                let x = pick(b, Compare::GtS, low, x);
                pick(b, Compare::LtS, high, x)
            }),
            GLOp::UClamp => self.int_each(inst, op, |b, [x, low, high]| {
                let x = pick(b, Compare::GtU, low, x);
                pick(b, Compare::LtU, high, x)
            }),
            GLOp::FMix => self.float_each(inst, op, mix),
            GLOp::Step => self.float_each(inst, op, |b, [edge, x]| {
                let ty = b.ty(x);
                let (zero, one) = (b.float(ty, 0.0), b.float(ty, 1.0));
                let below = b.compare(Compare::FLt, x, edge);
                b.select(below, zero, one)
            }),
            GLOp::SmoothStep => self.float_each(inst, op, smooth_step),
            GLOp::Fma => self.float_each(inst, op, |b, [x, y, z]| b.fma(x, y, z)),
            GLOp::Ldexp => self.ldexp(inst),
            GLOp::Length => self.length(inst),
            GLOp::Distance => self.distance(inst),
            GLOp::Cross => self.cross(inst),
            GLOp::Normalize => self.normalize(inst),
            GLOp::FaceForward => self.face_forward(inst),
            GLOp::Reflect => self.reflect(inst),
            GLOp::Refract => self.refract(inst),
            GLOp::ModfStruct | GLOp::FrexpStruct => self.split_float(inst, op),
            GLOp::Modf | GLOp::Frexp => self.split_float_to(inst, op),
            GLOp::Determinant => self.determinant(inst),
            GLOp::MatrixInverse => self.inverse(inst),
            op if packing::layout(op).is_some() => self.packing(inst, op),
            _ => Err(self.unsupported(inst, &format!("`{op:?}` of GLSL.std.450 is not known here"))),
        }
    }

    /// Checks the operands of `op`, floats or ints, and splits them into components.
    fn glsl_operands<const N: usize>(
        &mut self,
        inst: &Instruction,
        op: GLOp,
        fits: fn(Scalar) -> bool,
    ) -> Result<(TypeId, Scalar, Vec<[lane::Value; N]>)> {
        let wrong = |l: &Self| l.malformed(inst, &format!("the operands of `{op:?}` have the wrong types"));
        let (ty, scalar, operands) = self.uniform::<N>(inst).map_err(|_| wrong(self))?;
        if !fits(scalar) {
            return Err(wrong(self));
        }
        let n = operands[0].len();
        Ok((ty, scalar, (0..n).map(|i| std::array::from_fn(|k| operands[k][i])).collect()))
    }

    fn float_unary(
        &mut self,
        inst: &Instruction,
        op: GLOp,
        f: impl Fn(&mut lane::Builder, lane::Value) -> lane::Value,
    ) -> Result<Data> {
        self.float_each(inst, op, |b, [x]| f(b, x))
    }

    fn int_unary(
        &mut self,
        inst: &Instruction,
        op: GLOp,
        f: impl Fn(&mut lane::Builder, lane::Value) -> lane::Value,
    ) -> Result<Data> {
        self.int_each(inst, op, |b, [x]| f(b, x))
    }

    fn float_each<const N: usize>(
        &mut self,
        inst: &Instruction,
        op: GLOp,
        f: impl Fn(&mut lane::Builder, [lane::Value; N]) -> lane::Value,
    ) -> Result<Data> {
        let (ty, scalar, operands) = self.glsl_operands::<N>(inst, op, Scalar::is_float)?;
        let one = |parts| {
            let result = f(&mut self.builder, parts);
            self.fit(scalar, result)
        };
        Ok(Data { ty, parts: operands.into_iter().map(one).collect() })
    }

    fn int_each<const N: usize>(
        &mut self,
        inst: &Instruction,
        op: GLOp,
        f: impl Fn(&mut lane::Builder, [lane::Value; N]) -> lane::Value,
    ) -> Result<Data> {
        let (ty, scalar, operands) = self.glsl_operands::<N>(inst, op, Scalar::is_int)?;
        let one = |parts: [lane::Value; N]| {
            let parts = if looks_at_sign(op) { parts.map(|part| self.signed(scalar, part)) } else { parts };
            let result = f(&mut self.builder, parts);
            self.fit(scalar, result)
        };
        Ok(Data { ty, parts: operands.into_iter().map(one).collect() })
    }

    fn glsl_call(&mut self, inst: &Instruction, op: GLOp, function: Function) -> Result<Data> {
        let n_params = function.params().len();
        let (ty, scalar, operands) = self.elementwise(inst)?;
        let fits = operands.iter().all(|operand| operand.scalar == scalar);
        if lane_ty(scalar) == Ty::F64 {
            return Err(self.unsupported(inst, &format!("`{op:?}` is defined for 32-bit floats")));
        }
        if !scalar.is_float() || !fits || operands.len() != n_params {
            return Err(self.malformed(inst, &format!("the operands of `{op:?}` have the wrong types")));
        }
        let n = operands[0].parts.len();
        let call = |i: usize| {
            let args = operands.iter().map(|operand| operand.parts[i]).collect();
            let result = self.builder.call(function, args);
            self.fit(scalar, result)
        };
        Ok(Data { ty, parts: (0..n).map(call).collect() })
    }

    /// x - floor(x), clamped below one in case of rounding.
    fn fract(&mut self, inst: &Instruction, op: GLOp) -> Result<Data> {
        let (_, scalar, _) = self.glsl_operands::<1>(inst, op, Scalar::is_float)?;
        self.float_unary(inst, op, |b, x| {
            let below_one = b.float(b.ty(x), 1.0 - 0.5f64.powi(scalar.digits() as i32));
            let floor = b.unary(Unary::Floor, x);
            let fract = b.binary(Binary::FSub, x, floor);
            pick(b, Compare::FLt, below_one, fract)
        })
    }

    fn ldexp(&mut self, inst: &Instruction) -> Result<Data> {
        let (ty, scalar, operands) = self.elementwise(inst)?;
        let function = if lane_ty(scalar) == Ty::F64 { Function::Ldexp64 } else { Function::Ldexp32 };
        let [x, exponent] = &operands[..] else { return Err(self.wrong_operands(inst)) };
        if !scalar.is_float() || x.scalar != scalar || !exponent.scalar.is_int() {
            return Err(self.wrong_operands(inst));
        }
        let mut parts = Vec::new();
        for (&x, &power) in x.parts.iter().zip(exponent.parts.iter()) {
            let power = self.signed(exponent.scalar, power);
            let power = self.resize(power, Ty::I32);
            let result = self.builder.call(function, vec![x, power]);
            parts.push(self.fit(scalar, result));
        }
        Ok(Data { ty, parts: parts.into() })
    }

    /// Operands that are float vectors, or floats, of one type, from the first on.
    fn float_vectors<const N: usize>(&mut self, inst: &Instruction) -> Result<(TypeId, Scalar, [Parts; N])> {
        let (scalar, first) = self.scalars(inst, 4)?;
        let mut all = Vec::new();
        for i in 4..4 + N {
            let data = self.data(inst, i)?;
            if !scalar.is_float() || !self.module.types.same(data.ty, first.ty) {
                return Err(self.wrong_operands(inst));
            }
            all.push(data.parts);
        }
        let all = all.try_into().expect("there are as many as were asked for");
        Ok((first.ty, scalar, all))
    }

    fn length_of(&mut self, scalar: Scalar, parts: &Parts) -> lane::Value {
        // Squares of narrow floats could overflow, so the sum is in `f32`.
        let wide = if scalar.bits() < 32 { Scalar::F32 } else { scalar };
        let square = self.sum_of_products(wide, parts, parts);
        let root = self.builder.unary(Unary::Sqrt, square);
        self.fit(scalar, root)
    }

    fn each_pair(&mut self, scalar: Scalar, op: Binary, a: &Parts, b: &Parts) -> Parts {
        let one = |(&a, &b)| {
            let result = self.builder.binary(op, a, b);
            self.fit(scalar, result)
        };
        a.iter().zip(b.iter()).map(one).collect()
    }

    fn each_scaled(&mut self, scalar: Scalar, a: &Parts, factor: lane::Value) -> Parts {
        let factors: Parts = a.iter().map(|_| factor).collect();
        self.each_pair(scalar, Binary::FMul, a, &factors)
    }

    fn length(&mut self, inst: &Instruction) -> Result<Data> {
        let (_, scalar, [x]) = self.float_vectors(inst)?;
        let length = self.length_of(scalar, &x);
        Ok(Data { ty: self.module.types.scalar(scalar), parts: [length].into() })
    }

    fn distance(&mut self, inst: &Instruction) -> Result<Data> {
        let (_, scalar, [a, b]) = self.float_vectors(inst)?;
        let between = self.each_pair(scalar, Binary::FSub, &a, &b);
        let length = self.length_of(scalar, &between);
        Ok(Data { ty: self.module.types.scalar(scalar), parts: [length].into() })
    }

    fn cross(&mut self, inst: &Instruction) -> Result<Data> {
        let (ty, scalar, [a, b]) = self.float_vectors(inst)?;
        if a.len() != 3 {
            return Err(self.wrong_operands(inst));
        }
        let axis = |i: usize| {
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            let left = self.builder.binary(Binary::FMul, a[j], b[k]);
            let right = self.builder.binary(Binary::FMul, b[j], a[k]);
            let (left, right) = (self.fit(scalar, left), self.fit(scalar, right));
            let difference = self.builder.binary(Binary::FSub, left, right);
            self.fit(scalar, difference)
        };
        Ok(Data { ty, parts: (0..3).map(axis).collect() })
    }

    fn normalize(&mut self, inst: &Instruction) -> Result<Data> {
        let (ty, scalar, [x]) = self.float_vectors(inst)?;
        let length = self.length_of(scalar, &x);
        let lengths: Parts = x.iter().map(|_| length).collect();
        Ok(Data { ty, parts: self.each_pair(scalar, Binary::FDiv, &x, &lengths) })
    }

    fn face_forward(&mut self, inst: &Instruction) -> Result<Data> {
        let (ty, scalar, [normal, incident, reference]) = self.float_vectors(inst)?;
        let dot = self.sum_of_products(scalar, &reference, &incident);
        let zero = self.builder.float(lane_ty(scalar), 0.0);
        let facing = self.builder.compare(Compare::FLt, dot, zero);
        let turn = |&x: &lane::Value| {
            let turned = self.builder.unary(Unary::FNeg, x);
            self.builder.select(facing, x, turned)
        };
        Ok(Data { ty, parts: normal.iter().map(turn).collect() })
    }

    /// I - 2 * dot(N, I) * N
    fn reflect(&mut self, inst: &Instruction) -> Result<Data> {
        let (ty, scalar, [incident, normal]) = self.float_vectors(inst)?;
        let dot = self.sum_of_products(scalar, &normal, &incident);
        let two = self.builder.float(lane_ty(scalar), 2.0);
        let twice = self.builder.binary(Binary::FMul, two, dot);
        let twice = self.fit(scalar, twice);
        let part = self.each_scaled(scalar, &normal, twice);
        Ok(Data { ty, parts: self.each_pair(scalar, Binary::FSub, &incident, &part) })
    }

    /// k = 1 - eta^2 * (1 - dot(N, I)^2); zero where k < 0, else eta * I - (eta * dot(N, I) + sqrt(k)) * N
    fn refract(&mut self, inst: &Instruction) -> Result<Data> {
        let (ty, scalar, [incident, normal]) = self.float_vectors(inst)?;
        let (eta_scalar, eta) = self.scalars(inst, 6)?;
        if eta_scalar != scalar || eta.parts.len() != 1 {
            return Err(self.wrong_operands(inst));
        }
        let (eta, dot) = (eta.parts[0], self.sum_of_products(scalar, &normal, &incident));
        let b = &mut self.builder;
        let (zero, one) = (b.float(lane_ty(scalar), 0.0), b.float(lane_ty(scalar), 1.0));
        let squared = b.binary(Binary::FMul, dot, dot);
        let rest = b.binary(Binary::FSub, one, squared);
        let eta_squared = b.binary(Binary::FMul, eta, eta);
        let bent = b.binary(Binary::FMul, eta_squared, rest);
        let k = b.binary(Binary::FSub, one, bent);
        let total = b.compare(Compare::FLt, k, zero);
        let root = b.unary(Unary::Sqrt, k);
        let along = b.binary(Binary::FMul, eta, dot);
        let along = b.binary(Binary::FAdd, along, root);
        let left = self.each_scaled(scalar, &incident, eta);
        let right = self.each_scaled(scalar, &normal, along);
        let through = self.each_pair(scalar, Binary::FSub, &left, &right);
        Ok(Data { ty, parts: through.iter().map(|&x| self.builder.select(total, zero, x)).collect() })
    }

    /// A float to a structure of two: fraction and whole part, or significand and exponent.
    fn split_float(&mut self, inst: &Instruction, op: GLOp) -> Result<Data> {
        let (ty, (scalar, x)) = (self.result_type(inst)?, self.scalars(inst, 4)?);
        let types = &self.module.types;
        let member = |i| types.element(ty, i).and_then(|(member, _)| types.as_scalars(member));
        let (Some(first), Some((second, n_second)), None) = (member(0), member(1), member(2)) else {
            return Err(self.wrong_operands(inst));
        };
        let n = x.parts.len() as u32;
        if !scalar.is_float() || first != (scalar, n) || n_second != n || !second_fits(op, scalar, second) {
            return Err(self.wrong_operands(inst));
        }
        let (first, second) = self.float_halves(op, scalar, second, &x.parts);
        Ok(Data { ty, parts: [first, second].concat().into() })
    }

    /// The same, but the second result goes to memory.
    fn split_float_to(&mut self, inst: &Instruction, op: GLOp) -> Result<Data> {
        let ((scalar, x), pointer) = (self.scalars(inst, 4)?, self.pointer(inst, 5)?);
        let ty = pointer.pointee;
        let fits = self.module.types.as_scalars(ty).is_some_and(|(second, n)| {
            n as usize == x.parts.len() && scalar.is_float() && second_fits(op, scalar, second)
        });
        if !fits {
            return Err(self.wrong_operands(inst));
        }
        let (second, _) = self.module.types.as_scalars(ty).expect("it was one just now");
        let (first, parts) = self.float_halves(op, scalar, second, &x.parts);
        self.check_store(inst, &pointer, ty)?;
        self.write(&pointer, &Data { ty, parts: parts.into() });
        Ok(Data { ty: x.ty, parts: first.into() })
    }

    fn float_halves(
        &mut self,
        op: GLOp,
        scalar: Scalar,
        second: Scalar,
        x: &Parts,
    ) -> (Vec<lane::Value>, Vec<lane::Value>) {
        let halves = |&x: &lane::Value| match op {
            GLOp::ModfStruct | GLOp::Modf => self.modf(scalar, x),
            _ => {
                let (significand, exponent) = self.frexp(x);
                (significand, self.fit(second, exponent))
            }
        };
        x.iter().map(halves).unzip()
    }

    fn modf(&mut self, scalar: Scalar, x: lane::Value) -> (lane::Value, lane::Value) {
        let whole = self.builder.unary(Unary::Trunc, x);
        let fraction = self.builder.binary(Binary::FSub, x, whole);
        // The fraction of an infinity is zero.
        let (zero, infinity) = {
            let ty = lane_ty(scalar);
            (self.builder.float(ty, 0.0), self.builder.float(ty, f64::INFINITY))
        };
        let size = self.builder.unary(Unary::FAbs, x);
        let is_infinite = self.builder.compare(Compare::FEq, size, infinity);
        let fraction = self.builder.select(is_infinite, zero, fraction);
        (self.with_sign_bit(x, fraction), whole)
    }

    /// The magnitude of a float with the sign of another, also for zeros.
    fn with_sign_bit(&mut self, sign: lane::Value, float: lane::Value) -> lane::Value {
        let ty = if self.builder.ty(sign) == Ty::F32 { Ty::I32 } else { Ty::I64 };
        let (bits, zero) = (self.builder.convert(Convert::Bits, sign), self.builder.int(ty, 0));
        let is_negative = self.builder.compare(Compare::LtS, bits, zero);
        let size = self.builder.unary(Unary::FAbs, float);
        let negated = self.builder.unary(Unary::FNeg, size);
        self.builder.select(is_negative, negated, size)
    }

    fn frexp(&mut self, x: lane::Value) -> (lane::Value, lane::Value) {
        let (significand, exponent) = match self.builder.ty(x) {
            Ty::F32 => (Function::Significand32, Function::Exponent32),
            _ => (Function::Significand64, Function::Exponent64),
        };
        (self.builder.call(significand, vec![x]), self.builder.call(exponent, vec![x]))
    }
}

/// Whether the second result of an operation may have this scalar.
fn second_fits(op: GLOp, scalar: Scalar, second: Scalar) -> bool {
    match op {
        GLOp::ModfStruct | GLOp::Modf => second == scalar,
        _ => second.is_int() && second.bits() <= 32,
    }
}

/// Whether narrow ints are sign-extended.
fn looks_at_sign(op: GLOp) -> bool {
    matches!(op, GLOp::SAbs | GLOp::SSign | GLOp::SMin | GLOp::SMax | GLOp::SClamp | GLOp::FindSMsb)
}

/// Functions of `f32` that are calls.
fn called(op: GLOp) -> Option<Function> {
    Some(match op {
        GLOp::Sin => Function::Sin,
        GLOp::Cos => Function::Cos,
        GLOp::Tan => Function::Tan,
        GLOp::Asin => Function::Asin,
        GLOp::Acos => Function::Acos,
        GLOp::Atan => Function::Atan,
        GLOp::Atan2 => Function::Atan2,
        GLOp::Sinh => Function::Sinh,
        GLOp::Cosh => Function::Cosh,
        GLOp::Tanh => Function::Tanh,
        GLOp::Asinh => Function::Asinh,
        GLOp::Acosh => Function::Acosh,
        GLOp::Atanh => Function::Atanh,
        GLOp::Pow => Function::Pow,
        GLOp::Exp => Function::Exp,
        GLOp::Exp2 => Function::Exp2,
        GLOp::Log => Function::Log,
        GLOp::Log2 => Function::Log2,
        _ => return None,
    })
}

/// `a` if the comparison with `b` is true, else `b`.
fn pick(b: &mut lane::Builder, compare: Compare, a: lane::Value, other: lane::Value) -> lane::Value {
    let chosen = b.compare(compare, a, other);
    b.select(chosen, a, other)
}

/// As [`pick`], but prefers a number to a NaN.
fn number_pick(b: &mut lane::Builder, compare: Compare, x: lane::Value, y: lane::Value) -> lane::Value {
    let picked = pick(b, compare, y, x);
    let x_is_nan = b.compare(Compare::FNe, x, x);
    b.select(x_is_nan, y, picked)
}

fn float_sign(b: &mut lane::Builder, x: lane::Value) -> lane::Value {
    let ty = b.ty(x);
    let (zero, one, minus_one) = (b.float(ty, 0.0), b.float(ty, 1.0), b.float(ty, -1.0));
    let above = b.compare(Compare::FGt, x, zero);
    let below = b.compare(Compare::FLt, x, zero);
    let sign = b.select(below, minus_one, x);
    b.select(above, one, sign)
}

fn inverse_sqrt(b: &mut lane::Builder, x: lane::Value) -> lane::Value {
    let one = b.float(b.ty(x), 1.0);
    let root = b.unary(Unary::Sqrt, x);
    b.binary(Binary::FDiv, one, root)
}

fn scale(b: &mut lane::Builder, x: lane::Value, factor: f64) -> lane::Value {
    let factor = b.float(b.ty(x), factor);
    b.binary(Binary::FMul, x, factor)
}

fn int_abs(b: &mut lane::Builder, x: lane::Value) -> lane::Value {
    let zero = b.int(b.ty(x), 0);
    let negated = b.unary(Unary::Neg, x);
    let below = b.compare(Compare::LtS, x, zero);
    b.select(below, negated, x)
}

fn int_sign(b: &mut lane::Builder, x: lane::Value) -> lane::Value {
    let ty = b.ty(x);
    let (zero, one, minus_one) = (b.int(ty, 0), b.int(ty, 1), b.int(ty, -1));
    let above = b.compare(Compare::GtS, x, zero);
    let below = b.compare(Compare::LtS, x, zero);
    let sign = b.select(below, minus_one, zero);
    b.select(above, one, sign)
}

/// The lowest set bit, -1 where there is none.
fn find_lsb(b: &mut lane::Builder, x: lane::Value) -> lane::Value {
    let ty = b.ty(x);
    let (zero, none) = (b.int(ty, 0), b.int(ty, -1));
    let count = b.unary(Unary::TrailingZeros, x);
    let empty = b.compare(Compare::Eq, x, zero);
    b.select(empty, none, count)
}

/// The highest set bit, -1 where there is none.
fn find_msb(b: &mut lane::Builder, x: lane::Value) -> lane::Value {
    let ty = b.ty(x);
    let top = b.int(ty, i64::from(ty.size() * 8 - 1));
    let zeros = b.unary(Unary::LeadingZeros, x);
    b.binary(Binary::Sub, top, zeros)
}

/// The highest bit that differs from the sign, -1 where there is none.
fn find_signed_msb(b: &mut lane::Builder, x: lane::Value) -> lane::Value {
    let ty = b.ty(x);
    let top = b.int(ty, i64::from(ty.size() * 8 - 1));
    let sign = b.binary(Binary::ShrS, x, top);
    let bits = b.binary(Binary::Xor, x, sign);
    find_msb(b, bits)
}

/// x * (1 - a) + y * a
fn mix(b: &mut lane::Builder, [x, y, a]: [lane::Value; 3]) -> lane::Value {
    let one = b.float(b.ty(x), 1.0);
    let rest = b.binary(Binary::FSub, one, a);
    let left = b.binary(Binary::FMul, x, rest);
    let right = b.binary(Binary::FMul, y, a);
    b.binary(Binary::FAdd, left, right)
}

/// t * t * (3 - 2 * t) with t = clamp((x - low) / (high - low), 0, 1)
fn smooth_step(b: &mut lane::Builder, [low, high, x]: [lane::Value; 3]) -> lane::Value {
    let ty = b.ty(x);
    let (zero, one) = (b.float(ty, 0.0), b.float(ty, 1.0));
    let (two, three) = (b.float(ty, 2.0), b.float(ty, 3.0));
    let above = b.binary(Binary::FSub, x, low);
    let span = b.binary(Binary::FSub, high, low);
    let t = b.binary(Binary::FDiv, above, span);
    let t = pick(b, Compare::FGt, zero, t);
    let t = pick(b, Compare::FLt, one, t);
    let square = b.binary(Binary::FMul, t, t);
    let twice = b.binary(Binary::FMul, two, t);
    let rest = b.binary(Binary::FSub, three, twice);
    b.binary(Binary::FMul, square, rest)
}
