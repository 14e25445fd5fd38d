//! Vectors of floats packed into one int, and back: `Pack*` and `Unpack*` of `GLSL.std.450`.

use kps_scalar::Scalar;
use rspirv::spirv::GlslStd450Op as GLOp;

use super::{Data, Lowerer};
use crate::Result;
use crate::cpu::lane::{self, Binary, Compare, Convert, Ty, Unary};
use crate::cpu::module::Instruction;

/// How each component is stored in the int.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Part {
    /// -1 to 1 as a signed int, 0 to 1 as an unsigned one.
    Snorm,
    Unorm,
    Half,
    /// The two 32-bit words of a double.
    Bits,
}

/// The direction, the number of components, and their format.
pub(super) fn layout(op: GLOp) -> Option<(Direction, u32, Part)> {
    Some(match op {
        GLOp::PackSnorm4x8 => (Direction::Pack, 4, Part::Snorm),
        GLOp::PackUnorm4x8 => (Direction::Pack, 4, Part::Unorm),
        GLOp::PackSnorm2x16 => (Direction::Pack, 2, Part::Snorm),
        GLOp::PackUnorm2x16 => (Direction::Pack, 2, Part::Unorm),
        GLOp::PackHalf2x16 => (Direction::Pack, 2, Part::Half),
        GLOp::PackDouble2x32 => (Direction::Pack, 2, Part::Bits),
        GLOp::UnpackSnorm4x8 => (Direction::Unpack, 4, Part::Snorm),
        GLOp::UnpackUnorm4x8 => (Direction::Unpack, 4, Part::Unorm),
        GLOp::UnpackSnorm2x16 => (Direction::Unpack, 2, Part::Snorm),
        GLOp::UnpackUnorm2x16 => (Direction::Unpack, 2, Part::Unorm),
        GLOp::UnpackHalf2x16 => (Direction::Unpack, 2, Part::Half),
        GLOp::UnpackDouble2x32 => (Direction::Unpack, 2, Part::Bits),
        _ => return None,
    })
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Direction {
    Pack,
    Unpack,
}

impl Lowerer<'_> {
    pub(super) fn packing(&mut self, inst: &Instruction, op: GLOp) -> Result<Data> {
        let (direction, n, part) = layout(op).expect("asked before this was called");
        let (unpacked, packed) =
            if part == Part::Bits { (Scalar::U32, Scalar::F64) } else { (Scalar::F32, Scalar::U32) };
        let (takes, gives) = match direction {
            Direction::Pack => ((unpacked, n), (packed, 1)),
            Direction::Unpack => ((packed, 1), (unpacked, n)),
        };
        let ((ty, result, n_result), (scalar, data)) = (self.result_scalars(inst)?, self.scalars(inst, 4)?);
        let fits = |(a, n): (Scalar, u32), b: Scalar, m: usize| a.is_alike(b) && n as usize == m;
        if !fits(takes, scalar, data.parts.len()) || !fits(gives, result, n_result) {
            return Err(self.wrong_operands(inst));
        }
        let parts = match direction {
            Direction::Pack => self.pack(&data.parts, packed, part),
            Direction::Unpack => self.unpack(data.parts[0], packed, n, part),
        };
        Ok(Data { ty, parts: parts.into() })
    }

    fn pack(&mut self, parts: &[lane::Value], packed: Scalar, part: Part) -> Vec<lane::Value> {
        let width = packed.bits() / parts.len() as u32;
        let ints: Vec<_> = parts.iter().map(|&value| self.pack_part(value, width, part)).collect();
        let joined = self.regroup(&ints, width, packed.bits());
        joined.into_iter().map(|bits| self.of_bits(packed, bits)).collect()
    }

    fn unpack(&mut self, value: lane::Value, packed: Scalar, n: u32, part: Part) -> Vec<lane::Value> {
        let width = packed.bits() / n;
        let bits = self.bits_of(packed, value);
        let ints = self.regroup(&[bits], packed.bits(), width);
        ints.into_iter().map(|int| self.unpack_part(int, width, part)).collect()
    }

    /// round(clamp(x, -1 or 0, 1) * most)
    fn pack_part(&mut self, value: lane::Value, width: u32, part: Part) -> lane::Value {
        let least = match part {
            Part::Bits => return value,
            Part::Half => {
                let value = self.fit(Scalar::F16, value);
                return self.bits_of(Scalar::F16, value);
            }
            Part::Snorm => -1.0,
            Part::Unorm => 0.0,
        };
        let b = &mut self.builder;
        let (least, one) = (b.float(Ty::F32, least), b.float(Ty::F32, 1.0));
        let below = b.compare(Compare::FLt, value, least);
        let value = b.select(below, least, value);
        let above = b.compare(Compare::FGt, value, one);
        let value = b.select(above, one, value);
        let most = b.float(Ty::F32, most(width, part));
        let scaled = b.binary(Binary::FMul, value, most);
        let whole = b.unary(Unary::Nearest, scaled);
        let int = b.convert(Convert::FloatToS(Ty::I32), whole);
        self.fit(Scalar::uint(width), int)
    }

    /// x / most, at least -1
    fn unpack_part(&mut self, int: lane::Value, width: u32, part: Part) -> lane::Value {
        let float = match part {
            Part::Bits => return int,
            Part::Half => return self.of_bits(Scalar::F16, int),
            Part::Snorm => {
                let int = self.signed(Scalar::uint(width).as_signed(), int);
                self.builder.convert(Convert::SToFloat(Ty::F32), int)
            }
            Part::Unorm => self.builder.convert(Convert::UToFloat(Ty::F32), int),
        };
        let b = &mut self.builder;
        let (most, least) = (b.float(Ty::F32, most(width, part)), b.float(Ty::F32, -1.0));
        let value = b.binary(Binary::FDiv, float, most);
        let below = b.compare(Compare::FLt, value, least);
        b.select(below, least, value)
    }
}

/// The int that represents 1.
fn most(width: u32, part: Part) -> f64 {
    let bits = if part == Part::Snorm { width - 1 } else { width };
    f64::from((1u32 << bits) - 1)
}
