//! Numbers that a driver does not see as constants: floats in precise kernels, zeros in all kernels that divide by
//! them, a truth, and an unsigned 0.
//!
//! One driver takes `x * 0.0` for 0.0 and `x + 0.0` for `x`, and leaves out stores of `x / 0.0`
//! (`Faults::misfolds`); another rounds some differences of constants wrongly (`Faults::missubtracts`). There a zero is
//! worked out where a function begins, of how many workgroups there are: no driver has as many as the bit says that is
//! taken. In precise kernels it is added to what else is constant, or may be once a loop is unrolled, for the driver
//! would compute with that: `1.5 - 1.5`, `f32(i)`.

use rspirv::spirv::{Op, Word};

use super::function::FunctionEmitter;
use crate::constant::Constant;
use crate::ir::{FloatFn, NodeId, NodeKind};
use crate::stages::Stage;
use crate::template::Input;
use crate::types::{Scalar, Type};

impl FunctionEmitter<'_> {
    pub fn constant(&mut self, constant: Constant) -> Word {
        match self.veils(constant.scalar()) {
            true if constant.as_float() == Some(0.0) => self.veiled_zero(constant),
            true => self.veiled(constant),
            false => self.module.constant(constant),
        }
    }

    /// A float that was made of an int or a bool.
    pub fn veiled_conversion(&mut self, made: Word, from: &Type, to: &Type) -> Word {
        let is_counted = from.scalar().is_some_and(|scalar| !scalar.is_float()) && !to.is_matrix();
        let Some(scalar) = to.scalar().filter(|scalar| is_counted && self.veils(*scalar)) else {
            return made;
        };
        let zero = self.veiled_zeros(scalar, to);
        self.ids(Op::FAdd, to, &[made, zero])
    }

    /// A zero that the driver does not see as a constant, if it is one that goes wrong with those.
    pub fn hidden_zero(&mut self, ty: &Type) -> Option<Word> {
        let scalar =
            ty.scalar().filter(|_| self.target.faults.misfolds && self.kernel.stage == Stage::Compute)?;
        Some(self.veiled_zeros(scalar, ty))
    }

    fn veiled_zeros(&mut self, scalar: Scalar, ty: &Type) -> Word {
        let zero = self.veiled_zero(Constant::float(scalar, 0.0));
        match ty.n_components() {
            1 => zero,
            n => self.construct(&vec![zero; n.into()], ty),
        }
    }

    /// Whether this is a kernel in which the driver must not see constants of a type.
    fn veils(&self, scalar: Scalar) -> bool {
        let goes_wrong = match scalar {
            Scalar::F32 | Scalar::Bf16 => self.target.faults.misfolds || self.target.faults.missubtracts,
            scalar => scalar.is_float() && self.target.faults.misfolds,
        };
        self.kernel.precise && goes_wrong && self.kernel.stage == Stage::Compute
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
        if !self.target.faults.misfolds {
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
        self.target.faults.misfolds && self.kernel.stage == Stage::Compute && constant.as_float() == Some(0.0)
    }

    fn veiled(&mut self, constant: Constant) -> Word {
        if let Some(known) = self.veiled.get(&constant) {
            return *known;
        }
        let zero = self.veiled_zero(Constant::float(constant.scalar(), 0.0));
        let veiled = self.in_prologue(|emitter| {
            let word = emitter.module.constant(constant);
            emitter.ids(Op::FAdd, &constant.scalar().into(), &[word, zero])
        });
        self.veiled.insert(constant, veiled);
        veiled
    }

    /// `True` that a driver does not see as a constant.
    pub fn veiled_truth(&mut self) -> Word {
        let truth = Constant::bool(true);
        if let Some(known) = self.veiled.get(&truth) {
            return *known;
        }
        let veiled = self.in_prologue(|emitter| {
            let groups = emitter.load_input(Input::NumWorkgroups);
            let groups = emitter.extract(groups, 0, &Type::U32);
            let bound = emitter.int(&Type::U32, 1 << 31);
            emitter.ids(Op::ULessThan, &Type::BOOL, &[groups, bound])
        });
        self.veiled.insert(truth, veiled);
        veiled
    }

    fn veiled_zero(&mut self, zero: Constant) -> Word {
        if let Some(known) = self.veiled.get(&zero) {
            return *known;
        }
        let nothing = self.veiled_nothing(Scalar::U32);
        let veiled = self.in_prologue(|emitter| {
            let is_negative = zero.as_float().is_some_and(f64::is_sign_negative);
            let sign = emitter.int(&Type::U32, if is_negative { 1 << 31 } else { 0 });
            let bits = emitter.ids(Op::BitwiseOr, &Type::U32, &[nothing, sign]);
            let single = Type::Scalar(Scalar::F32);
            let float = emitter.ids(Op::Bitcast, &single, &[bits]);
            match zero.scalar() {
                Scalar::F32 | Scalar::Bf16 => float,
                other => emitter.ids(Op::FConvert, &other.into(), &[float]),
            }
        });
        self.veiled.insert(zero, veiled);
        veiled
    }

    /// An unsigned 0 that no driver sees as a constant; in kernels only.
    pub fn hidden_nothing(&mut self, ty: &Type) -> Option<Word> {
        let scalar = ty.scalar().filter(|_| self.kernel.stage == Stage::Compute)?;
        let nothing = self.veiled_nothing(scalar);
        Some(match ty.n_components() {
            1 => nothing,
            n => self.construct(&vec![nothing; n.into()], ty),
        })
    }

    fn veiled_nothing(&mut self, unsigned: Scalar) -> Word {
        let zero = Constant::zero(unsigned);
        if let Some(known) = self.veiled.get(&zero) {
            return *known;
        }
        let wide = (unsigned != Scalar::U32).then(|| self.veiled_nothing(Scalar::U32));
        let veiled = self.in_prologue(|emitter| match wide {
            Some(wide) => emitter.ids(Op::UConvert, &unsigned.into(), &[wide]),
            None => {
                let groups = emitter.load_input(Input::NumWorkgroups);
                let groups = emitter.extract(groups, 0, &Type::U32);
                let shift = emitter.int(&Type::U32, 31);
                emitter.ids(Op::ShiftRightLogical, &Type::U32, &[groups, shift])
            }
        });
        self.veiled.insert(zero, veiled);
        veiled
    }
}
