//! Overflow tests of flat indices into arrays of several axes, so that none wraps around into the array.
//!
//! An index whose range the launch guarantees (`passes/ranges/overflow.rs`) needs no test. For any other, the module adds the
//! absolute offsets along the outer axes as floats. If the sum is larger than an i32, the index is outside, whatever
//! the last axis adds. A signed index along the last axis is left out, so that neighbours in a row share one test.
//! Bounds tests are never here.

use rspirv::spirv::{GlslStd450Op as GlslOp, Op, Word};

use super::function::FunctionEmitter;
use crate::ir::{BufferId, NodeId};
use crate::push::Member;
use crate::types::{Scalar, Type};

const F32: Type = Type::Scalar(Scalar::F32);

/// The largest number of elements, plus the rounding error of the sum of floats.
const LIMIT: f64 = (1u64 << 31) as f64 + 1024.0;

/// The weight of a negative offset: what the last axis subtracts from it must not wrap around.
const BELOW: f64 = -4.0;

impl FunctionEmitter<'_> {
    /// The index of an element. An index that overflowed becomes -1, which is outside every array.
    pub fn element_index(&mut self, index: NodeId) -> Word {
        self.guarded_index(index, -1)
    }

    /// An argument of a call. The start of a row that overflowed becomes the least int: no index in the row leads into
    /// the array.
    pub fn argument(&mut self, value: NodeId) -> Word {
        self.guarded_index(value, i32::MIN)
    }

    fn guarded_index(&mut self, index: NodeId, otherwise: i32) -> Word {
        let value = self.value(index);
        let Some(fits) = self.fits(index) else { return value };
        let otherwise = self.int(&Type::I32, otherwise.into());
        self.select(&Type::I32, fits, value, otherwise)
    }

    /// Whether a flat index did not overflow; `None` if it never does, or is not a flat index.
    pub fn fits(&mut self, index: NodeId) -> Option<Word> {
        let function = self.function;
        let flat = function.flats.get(&index)?;
        let (outer, _) = flat.outer_and_last(function, self.kernel.buffers[flat.buffer.idx()].rank);
        let mut sum = None;
        for (index, axis) in outer {
            let offset = self.offset(flat.buffer, *index, *axis);
            sum = Some(match sum {
                Some(sum) => self.ids(Op::FAdd, &F32, &[sum, offset]),
                None => offset,
            });
        }
        let limit = self.float(&F32, LIMIT);
        Some(self.ids(Op::FOrdLessThan, &Type::BOOL, &[sum?, limit]))
    }

    /// Elements between the start of an axis and an index of it.
    fn offset(&mut self, buffer: BufferId, index: NodeId, axis: u8) -> Word {
        let is_signed = self.function.ty(index).scalar().is_some_and(Scalar::is_signed);
        let op = if is_signed { Op::ConvertSToF } else { Op::ConvertUToF };
        let index = self.value(index);
        let index = self.ids(op, &F32, &[index]);
        let below = self.float(&F32, BELOW);
        let below = self.ids(Op::FMul, &F32, &[index, below]);
        let mut offset = self.glsl(GlslOp::FMax, &F32, &[index, below]);
        for inner in axis + 1..self.kernel.buffers[buffer.idx()].rank {
            let len = self.hidden_once(Member::Axis(buffer, inner), &Type::U32);
            let len = self.ids(Op::ConvertUToF, &F32, &[len]);
            offset = self.ids(Op::FMul, &F32, &[offset, len]);
        }
        offset
    }
}
