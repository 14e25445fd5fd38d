//! What the source asked for, told to a device that checks it ([`Target::checks`](crate::Target::checks)): the
//! operands as they were before any guard, in instructions of a set of our own that mean nothing to a device
//! which does not know it.
//!
//! | instruction | operands |
//! |---|---|
//! | index | the variable; 0 where it is read, 1 written, 2 both; index and length of each axis |
//! | division | the dividend, the divisor |
//! | shift | what is shifted, the amount |
//! | conversion | the float, the int that it became |
//! | uniform | the value |
//! | arithmetic | 0 sum, 1 difference, 2 product; the two ints |
//! | birth | the float, and those that it was made from |
//!
//! ORDER: the device reads these numbers.

use rspirv::spirv::{Op, Word};

use super::function::FunctionEmitter;
use super::module::Operand;
use crate::ir::{BinaryOp, BufferId, NodeId, NodeKind};
use crate::types::{Kind, Scalar, Type};

/// The name of the set.
pub const SET: &str = "NonSemantic.kps.Checks";

#[derive(Clone, Copy)]
pub enum Told {
    Index = 1,
    Division = 2,
    Shift = 3,
    Conversion = 4,
    Uniform = 5,
    Arithmetic = 6,
    Birth = 7,
}

/// What is done with an element.
#[derive(Clone, Copy)]
pub enum Touch {
    Read = 0,
    Write = 1,
    Both = 2,
}

impl FunctionEmitter<'_> {
    /// Whether this function is told of: what our own functions do is no mistake of the user's.
    pub fn tells(&self) -> bool {
        self.target.checks && self.function.called_for.is_none()
    }

    fn tell(&mut self, told: Told, operands: &[Word]) {
        let (set, void) = (self.module.checks(), self.module.void());
        let mut all = vec![Operand::IdRef(set), Operand::LiteralExtInstInteger(told as u32)];
        all.extend(operands.iter().map(|id| Operand::IdRef(*id)));
        self.op(Op::ExtInst, void, all);
    }

    /// An element of an array parameter; in several axes by the index of each.
    pub fn tell_buffer_index(&mut self, buffer: BufferId, index: NodeId, touch: Touch) {
        if !self.tells() {
            return;
        }
        let mut operands = vec![self.buffer_base(buffer), self.touch(touch)];
        match self.function.axes.get(&index) {
            Some(axes) => {
                let ids = axes.iter().flat_map(|(index, len)| [*index, *len]);
                operands.extend(ids.map(|node| self.value(node)));
            }
            None => operands.extend([self.value(index), self.buffer_len(buffer)]),
        }
        self.tell(Told::Index, &operands);
    }

    /// A part of an array of the function's or the workgroup's, or of an array in a buffer.
    pub fn tell_indices(&mut self, variable: Word, axes: &[(NodeId, u32)], touch: Touch) {
        if axes.is_empty() || !self.tells() {
            return;
        }
        let mut operands = vec![variable, self.touch(touch)];
        for (index, len) in axes {
            operands.push(self.value(*index));
            operands.push(self.int(&Type::U32, i128::from(*len)));
        }
        self.tell(Told::Index, &operands);
    }

    fn touch(&mut self, touch: Touch) -> Word {
        self.int(&Type::U32, touch as i128)
    }

    /// What may go wrong in an operation, before it is done.
    pub fn tell_binary(&mut self, op: BinaryOp, [a, b]: [Word; 2], known: Option<i128>, ty: &Type) {
        if !self.tells() || ty.scalar().is_none_or(|scalar| !scalar.is_int()) {
            return;
        }
        let bits = i128::from(ty.scalar().map_or(32, Scalar::bits));
        match op {
            BinaryOp::FloorDiv
            | BinaryOp::FloorMod
            | BinaryOp::TruncDiv
            | BinaryOp::TruncRem
            | BinaryOp::PlainDiv
            | BinaryOp::PlainMod
                if known.is_none_or(|divisor| divisor == 0) =>
            {
                self.tell(Told::Division, &[a, b]);
            }
            BinaryOp::ShiftLeft | BinaryOp::ShiftRight
                if known.is_none_or(|amount| !(0..bits).contains(&amount)) =>
            {
                self.tell(Told::Shift, &[a, b]);
            }
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul => {
                let which = match op {
                    BinaryOp::Add => 0,
                    BinaryOp::Sub => 1,
                    _ => 2,
                };
                let which = self.int(&Type::U32, which);
                self.tell(Told::Arithmetic, &[which, a, b]);
            }
            _ => {}
        }
    }

    pub fn tell_conversion(&mut self, value: Word, from: &Type, made: Word, to: &Type) {
        let [from, to] = [from, to].map(|ty| ty.scalar().map(Scalar::kind));
        let is_int = matches!(to, Some(Kind::Signed | Kind::Unsigned));
        if self.tells() && from == Some(Kind::Float) && is_int {
            self.tell(Told::Conversion, &[value, made]);
        }
    }

    pub fn tell_uniform(&mut self, value: Word, ty: &Type) {
        if self.tells() && ty.scalar().is_some() {
            self.tell(Told::Uniform, &[value]);
        }
    }

    /// A float that a node made from others.
    pub fn tell_birth(&mut self, kind: &NodeKind, value: Word, ty: &Type) {
        let is_float = ty.scalar().is_some_and(Scalar::is_float) && !ty.is_matrix();
        if !is_float || !self.tells() {
            return;
        }
        let parents: Vec<NodeId> = match kind {
            NodeKind::Binary(_, a, b) => vec![*a, *b],
            NodeKind::Float(_, args) => args.iter().flatten().copied().collect(),
            NodeKind::Dot(a, b) => vec![*a, *b],
            NodeKind::Geometry(_, args) => args.clone(),
            NodeKind::Convert(a) if self.function.ty(*a).scalar().is_some_and(Scalar::is_float) => vec![*a],
            _ => return,
        };
        let mut operands = vec![value];
        operands.extend(parents.into_iter().map(|parent| self.value(parent)));
        self.tell(Told::Birth, &operands);
    }
}
