//! Float zeros that a driver does not see as constants, in kernels that keep signed zeros, infinities and NaNs, and
//! in all kernels that divide by them.
//!
//! Such a driver takes `x * 0.0` for 0.0 and `x + 0.0` for `x`, and leaves out stores of `x / 0.0`
//! (`Target::misfolds`). There a zero is worked out where a function begins, of how many workgroups there are: no
//! driver has as many as the bit says that is taken.

use rspirv::spirv::{Op, Word};

use super::function::FunctionEmitter;
use crate::constant::Constant;
use crate::ir::{FloatFn, NodeId, NodeKind};
use crate::stages::Stage;
use crate::template::Input;
use crate::types::{Scalar, Type};

impl FunctionEmitter<'_> {
    pub fn constant(&mut self, constant: Constant) -> Word {
        match self.kernel.precise && self.is_folded(constant) {
            true => self.veiled_zero(constant),
            false => self.module.constant(constant),
        }
    }

    /// An argument of a function. The angle of a constant zero comes out as NaN, however exact a kernel is.
    pub fn float_argument(&mut self, function: FloatFn, arg: NodeId) -> Word {
        match self.function.node(arg).kind {
            NodeKind::Constant(constant) if function == FloatFn::Atan2 && self.is_folded(constant) => {
                self.veiled_zero(constant)
            }
            _ => self.value(arg),
        }
    }

    /// What floats are divided by.
    pub fn divisor(&mut self, by: NodeId) -> Word {
        if !self.target.misfolds {
            return self.value(by);
        }
        match &self.function.node(by).kind {
            NodeKind::Constant(constant) if self.is_folded(*constant) => self.veiled_zero(*constant),
            NodeKind::Splat(scalar) => {
                let ty = &self.function.node(by).ty;
                let scalar = self.divisor(*scalar);
                self.construct(&vec![scalar; usize::from(ty.n_components())], ty)
            }
            NodeKind::Construct(parts) => {
                let parts: Vec<Word> = parts.iter().map(|part| self.divisor(*part)).collect();
                self.construct(&parts, &self.function.node(by).ty)
            }
            _ => self.value(by),
        }
    }

    fn is_folded(&self, constant: Constant) -> bool {
        self.target.misfolds && self.kernel.stage == Stage::Compute && constant.as_float() == Some(0.0)
    }

    fn veiled_zero(&mut self, zero: Constant) -> Word {
        if let Some(known) = self.zeros.get(&zero) {
            return *known;
        }
        let veiled = self.in_prologue(|emitter| {
            let groups = emitter.load_input(Input::NumWorkgroups);
            let groups = emitter.extract(groups, 0, &Type::U32);
            let shift = emitter.int(&Type::U32, 31);
            let nothing = emitter.ids(Op::ShiftRightLogical, &Type::U32, &[groups, shift]);
            let is_negative = zero.as_float().is_some_and(f64::is_sign_negative);
            let sign = emitter.int(&Type::U32, if is_negative { 1 << 31 } else { 0 });
            let bits = emitter.ids(Op::BitwiseOr, &Type::U32, &[nothing, sign]);
            let single = Type::Scalar(Scalar::F32);
            let float = emitter.ids(Op::Bitcast, &single, &[bits]);
            match zero.scalar() {
                Scalar::F32 | Scalar::Bf16 => float,
                other => emitter.convert(float, &single, &other.into()),
            }
        });
        self.zeros.insert(zero, veiled);
        veiled
    }
}
