//! The shape of each value over the lanes of a SIMD group, inferred from the shapes of the operands.

use super::frames::is_own;
use super::simd::Across;
use super::{Binary, BlockId, Builtin, Compare, Convert, Def, Kernel, Op, Ty, Value};

/// How a value varies over the neighbouring lanes of a SIMD group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Equal in all lanes.
    Uniform,
    /// An int: each lane has `stride` more than the one before it; `stride` is not 0.
    ///
    /// If it is not `exact`, this assumes two things: no 32-bit index wraps around between two lanes before
    /// it is widened, and indices of arrays with a known length are in range.
    Linear {
        stride: i64,
        exact: bool,
    },
    Varying,
}

impl Shape {
    /// The shape of a value that has one of two shapes, depending on the path (lattice meet).
    pub fn meet(self, other: Shape) -> Shape {
        if self == other { self } else { Shape::Varying }
    }

    /// Whether the first lane's value determines those of all others.
    pub fn is_scalar(self) -> bool {
        self.is_exact() && self != Shape::Varying
    }

    /// The shape of a block parameter with this argument. Parameters have no operation to recompute single
    /// lanes.
    pub fn passed_on(self) -> Shape {
        if self.is_scalar() { self } else { Shape::Varying }
    }
}

fn builtin(builtin: Builtin, across: Across) -> Shape {
    let varies = match across {
        Across::Row => matches!(builtin, Builtin::GlobalId(0) | Builtin::LocalId(0) | Builtin::LocalIndex),
        Across::Groups => matches!(builtin, Builtin::GlobalId(0) | Builtin::GroupId(0)),
    };
    if varies { Shape::Linear { stride: 1, exact: true } } else { Shape::Uniform }
}

/// The inferred shapes of a kernel's values.
pub struct Shapes<'k> {
    kernel: &'k Kernel,
    pub known: Vec<Option<Shape>>,
    /// The operation that defines each value.
    defs: Vec<Option<&'k Op>>,
}

impl<'k> Shapes<'k> {
    pub fn new(kernel: &'k Kernel, across: Across) -> Shapes<'k> {
        let first = |info: &super::ValueInfo| match info.def {
            Def::Const(_) => Some(Shape::Uniform),
            Def::Builtin(kind) => Some(builtin(kind, across)),
            Def::Param(_) | Def::Inst(_) => None,
        };
        let mut defs = vec![None; kernel.values.len()];
        for inst in kernel.blocks.iter().flat_map(|block| &block.insts) {
            if let Some(result) = inst.result {
                defs[result.0 as usize] = Some(&inst.op);
            }
        }
        Shapes { kernel, known: kernel.values.iter().map(first).collect(), defs }
    }

    /// Starts with shapes from an earlier analysis.
    pub fn with(kernel: &'k Kernel, across: Across, shapes: Vec<Shape>) -> Shapes<'k> {
        Shapes { known: shapes.into_iter().map(Some).collect(), ..Shapes::new(kernel, across) }
    }

    pub fn get(&self, value: Value) -> Option<Shape> {
        self.known[value.0 as usize]
    }

    /// Joins a shape into that of a value. Returns whether it changed.
    pub fn add(&mut self, value: Value, shape: Shape) -> bool {
        let known = &mut self.known[value.0 as usize];
        let now = Some(known.map_or(shape, |before| before.meet(shape)));
        std::mem::replace(known, now) != now
    }

    /// The shape of an operation's result, once the shapes of its operands are known.
    pub fn of(&self, op: &Op, result: Value) -> Option<Shape> {
        let mut all_known = true;
        let mut uniform = true;
        op.clone().each_use(&mut |value| match self.get(*value) {
            Some(shape) => uniform &= shape == Shape::Uniform,
            None => all_known = false,
        });
        if !all_known {
            return None;
        }
        Some(match op {
            // It differs from lane to lane.
            Op::Address(address) if is_own(address) => Shape::Varying,
            Op::Atomic { .. } | Op::AtomicHalf { .. } | Op::CompareExchange { .. } => Shape::Varying,
            _ if uniform => Shape::Uniform,
            Op::Binary(op, a, b) => self.binary(*op, *a, *b, self.kernel.values[result.0 as usize].ty),
            Op::Convert(op, a) => self.convert(*op, *a),
            Op::Select(..) => match self.guarded(op) {
                Some(guarded) => loose(self.get(guarded.then)?),
                None => Shape::Varying,
            },
            _ => Shape::Varying,
        })
    }

    fn binary(&self, op: Binary, a: Value, b: Value, ty: Ty) -> Shape {
        let (Some(x), Some(y)) = (self.get(a), self.get(b)) else { return Shape::Varying };
        let (Some(s), Some(t)) = (x.stride(), y.stride()) else { return Shape::Varying };
        let narrow = |stride: i64| if ty == Ty::I32 { i64::from(stride as i32) } else { stride };
        let constant = |value: Value| {
            self.constant(value).map(|bits| if ty == Ty::I32 { i64::from(bits as i32) } else { bits as i64 })
        };
        let stride = match op {
            Binary::Add => Some(s.wrapping_add(t)),
            Binary::Sub => Some(s.wrapping_sub(t)),
            Binary::Mul if t == 0 => constant(b).map(|factor| s.wrapping_mul(factor)),
            Binary::Mul if s == 0 => constant(a).map(|factor| t.wrapping_mul(factor)),
            Binary::Shl if t == 0 => {
                let width = i64::from(ty.size()) * 8;
                constant(b).map(|amount| s.wrapping_shl((amount & (width - 1)) as u32))
            }
            _ => None,
        };
        linear(stride.map(narrow), x, y)
    }

    fn convert(&self, op: Convert, a: Value) -> Shape {
        let (Some(shape), info) = (self.get(a), self.kernel.values[a.0 as usize]) else {
            return Shape::Varying;
        };
        let Shape::Linear { stride, .. } = shape else { return Shape::Varying };
        match op {
            // SIMD groups begin at multiples of their width, so built-ins do not wrap around within one.
            Convert::SignExtend | Convert::ZeroExtend if info.ty == Ty::I32 => {
                Shape::Linear { stride, exact: matches!(info.def, Def::Builtin(_)) }
            }
            Convert::Truncate if stride as i32 != 0 => {
                Shape::Linear { stride: i64::from(stride as i32), exact: shape.is_exact() }
            }
            _ => Shape::Varying,
        }
    }

    pub fn constant(&self, value: Value) -> Option<u64> {
        match self.kernel.values[value.0 as usize].def {
            Def::Const(bits) => Some(bits),
            _ => None,
        }
    }

    /// Matches the patterns that keep an index in range: an index not below the length becomes a large value,
    /// or zero.
    pub fn guarded(&self, op: &Op) -> Option<Guarded> {
        let Op::Select(condition, then, otherwise) = *op else { return None };
        let Some(&Op::Compare(Compare::LtU, index, len)) = self.def(condition) else { return None };
        let far = self.constant(otherwise)?;
        let ty = |value: Value| self.kernel.values[value.0 as usize].ty;
        let len = match self.constant(len) {
            Some(len) if len < 1 << 31 => Bound::Known(len),
            None if self.get(len) == Some(Shape::Uniform) => Bound::Made(len),
            _ => return None,
        };
        let fits = match ty(index) {
            Ty::I64 => far >= 1 << 40 && ty(then) == Ty::I64,
            _ => far == 0 && then == index && self.get(index).is_some_and(Shape::is_scalar),
        };
        fits.then_some(Guarded { test: condition, index, len, then })
    }

    /// The block that defines a value.
    pub fn home(&self, value: Value) -> Option<BlockId> {
        match self.kernel.values[value.0 as usize].def {
            Def::Param(block) | Def::Inst(block) => Some(block),
            Def::Const(_) | Def::Builtin(_) => None,
        }
    }

    /// The operation that defines a value.
    pub fn def(&self, value: Value) -> Option<&'k Op> {
        self.defs[value.0 as usize]
    }
}

/// `then` where `index` is below `len`, else an unused value.
pub struct Guarded {
    /// The condition.
    pub test: Value,
    pub index: Value,
    pub len: Bound,
    pub then: Value,
}

#[derive(Clone, Copy, Debug)]
pub enum Bound {
    Known(u64),
    /// A uniform value.
    Made(Value),
}

impl Shape {
    /// 0 for a uniform value.
    pub fn stride(self) -> Option<i64> {
        match self {
            Shape::Uniform => Some(0),
            Shape::Linear { stride, .. } => Some(stride),
            Shape::Varying => None,
        }
    }

    fn is_exact(self) -> bool {
        !matches!(self, Shape::Linear { exact: false, .. })
    }
}

fn linear(stride: Option<i64>, a: Shape, b: Shape) -> Shape {
    match stride {
        Some(stride) if stride != 0 => Shape::Linear { stride, exact: a.is_exact() && b.is_exact() },
        _ => Shape::Varying,
    }
}

fn loose(shape: Shape) -> Shape {
    match shape {
        Shape::Linear { stride, .. } => Shape::Linear { stride, exact: false },
        _ => Shape::Varying,
    }
}
