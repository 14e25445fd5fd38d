//! Check instructions for a device that checks kernels ([`Target::checks`](crate::Target::checks)).
//!
//! They have the operands of the source, before any guard. They are a non-semantic instruction set, which other devices
//! ignore.
//!
//! | instruction | operands |
//! |---|---|
//! | index | the variable, or a string with the name of a member; 0 for a read, 1 for a write, 2 for both; index and length of each axis |
//! | division | the dividend, the divisor |
//! | shift | the shifted value, the amount |
//! | conversion | the float, the int that results, the precision of the float's type in bits |
//! | uniform | a value that should be uniform |
//! | arithmetic | 0 sum, 1 difference, 2 product, 5 quotient; the two ints. 3 negation, 4 magnitude; 0 and the int |
//! | non-finite | the float, and its operands |
//!
//! ORDER: the device reads these numbers (`checks` in `interface.rs` of the device crate).

use rspirv::spirv::{Op, Word};

use super::function::FunctionEmitter;
use super::module::Operand;
use super::values::is_float;
use crate::constant::Constant;
use crate::ir::{
    AtomicOp, BinaryOp, BufferId, Combine, LocalId, NodeId, NodeKind, Spread, Step, Touch, ValueIndex,
    Written, as_written,
};
use crate::template::Input;
use crate::types::{Kind, Scalar, Type};

/// The name of the set.
pub const SET: &str = "NonSemantic.kps.Checks";

/// The name of a bounds test, for a device that checks a module without check instructions.
/// ORDER: as the device reads it.
pub const INSIDE: &str = "kps.inside";

#[derive(Clone, Copy)]
pub enum Check {
    Index = 1,
    Division = 2,
    Shift = 3,
    Conversion = 4,
    Uniform = 5,
    Arithmetic = 6,
    NonFinite = 7,
}

/// Binary int arithmetic. ORDER: as the device reads it.
#[derive(Clone, Copy)]
enum Arithmetic {
    Sum = 0,
    Difference = 1,
    Product = 2,
    Quotient = 5,
}

/// Unary int arithmetic. ORDER: as the device reads it.
#[derive(Clone, Copy)]
pub enum Opposite {
    Negation = 3,
    Magnitude = 4,
}

impl FunctionEmitter<'_> {
    /// Whether this function has check instructions: those of scripts do, and library functions that are operators.
    pub fn is_reported(&self) -> bool {
        self.target.checks && (self.function.called_for.is_none() || self.function.is_operator)
    }

    /// Whether results of arithmetic are reported in this function, too.
    fn reports_results(&self) -> bool {
        self.is_reported() && self.target.checks_results
    }

    fn report(&mut self, check: Check, operands: &[Word]) {
        let (set, void) = (self.module.checks(), self.module.void());
        let mut all = vec![Operand::IdRef(set), Operand::LiteralExtInstInteger(check as u32)];
        all.extend(operands.iter().map(|id| Operand::IdRef(*id)));
        self.op(Op::ExtInst, void, &all);
    }

    /// An element of an array parameter, with the index along each axis.
    pub fn report_buffer_index(&mut self, buffer: BufferId, index: NodeId, touch: Touch) {
        if !self.is_reported() {
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
        self.report(Check::Index, &operands);
    }

    /// A part of a value that is not in a variable.
    pub fn report_value_index(&mut self, index: &ValueIndex) {
        if !self.is_reported() {
            return;
        }
        let axes: Vec<(Step, u32)> = index.axes.iter().map(|&(index, len)| (Step::At(index), len)).collect();
        self.report_axes(&index.whole, &axes, index.touch);
    }

    /// A part of a local.
    pub fn report_local_path(&mut self, local: LocalId, path: &[Step], touch: Touch) {
        if self.is_reported() {
            let local = self.function.local(local);
            self.report_path(local.name.to_string(), &local.ty, path, touch);
        }
    }

    /// A part of an element of a buffer, or of its one value.
    pub fn report_buffer_path(
        &mut self,
        buffer: BufferId,
        index: Option<NodeId>,
        path: &[Step],
        touch: Touch,
    ) {
        if !self.is_reported() {
            return;
        }
        let kernel = self.kernel;
        let buffer = &kernel.buffers[buffer.idx()];
        // The index of a buffer's one struct is not in the source.
        let index = index.filter(|_| !buffer.is_cell);
        let axes: Vec<Step> = match index.and_then(|index| self.function.axes.get(&index)) {
            Some(axes) => axes.iter().map(|(index, _)| Step::At(*index)).collect(),
            None => index.into_iter().map(Step::At).collect(),
        };
        let name = format!("{}{}", buffer.name, self.brackets(axes));
        self.report_path(name, &buffer.element, path, touch);
    }

    /// Each array, vector and matrix on a path, by its name (`p[..].f`) and with an index for each axis.
    fn report_path(&mut self, mut name: String, ty: &Type, path: &[Step], touch: Touch) {
        for step in as_written(ty, path) {
            match step {
                Written::Member(member) => name += &format!(".{member}"),
                Written::Indices(axes) => {
                    // A whole column is reported by its first number.
                    let first = |(step, len): (Option<Step>, u32)| (step.unwrap_or(Step::Part(0)), len);
                    let axes: Vec<(Step, u32)> = axes.into_iter().map(first).collect();
                    self.report_axes(&name, &axes, touch);
                    name += &self.brackets(axes.into_iter().map(|(step, _)| step));
                }
            }
        }
    }

    /// Reports indices, unless all are known to be inside.
    fn report_axes(&mut self, name: &str, axes: &[(Step, u32)], touch: Touch) {
        let is_inside = |&(step, len): &(Step, u32)| match step {
            Step::Part(_) => true,
            Step::At(index) => self.is_known_inside(index, len),
        };
        if axes.iter().all(is_inside) {
            return;
        }
        let mut operands = vec![self.module.check_name(name), self.touch(touch)];
        for &(step, len) in axes {
            operands.push(match step {
                Step::Part(at) => self.int(&Type::U32, i128::from(at)),
                Step::At(index) => self.value(index),
            });
            operands.push(self.int(&Type::U32, i128::from(len)));
        }
        self.report(Check::Index, &operands);
    }

    /// `[2, ..]`: indices that are not constants are left out. Empty without indices.
    fn brackets(&self, steps: impl IntoIterator<Item = Step>) -> String {
        let known = |step| match step {
            Step::Part(at) => Some(i128::from(at)),
            Step::At(index) => self.function.constant(index)?.as_int(),
        };
        let shown = |step| known(step).map_or("..".to_owned(), |at: i128| at.to_string());
        let indices: Vec<String> = steps.into_iter().map(shown).collect();
        if indices.is_empty() { String::new() } else { format!("[{}]", indices.join(", ")) }
    }

    fn touch(&mut self, touch: Touch) -> Word {
        self.int(
            &Type::U32,
            match touch {
                Touch::Read => 0,
                Touch::Write => 1,
                Touch::Both => 2,
            },
        )
    }

    /// The operands of an operation that may fail, before it.
    pub fn report_binary(&mut self, id: NodeId, op: BinaryOp, [a, b]: [Word; 2], divisor: Option<Constant>) {
        let function = self.function;
        let Some(scalar) = function.ty(id).scalar().filter(|_| self.is_reported()) else { return };
        let known = divisor.and_then(Constant::as_int);
        let bits = i128::from(scalar.bits());
        // The least signed int has no opposite.
        if let BinaryOp::FloorDiv | BinaryOp::TruncDiv | BinaryOp::PlainDiv = op
            && scalar.is_int()
            && scalar.is_signed()
            && known.is_none_or(|divisor| divisor == -1)
        {
            self.report_arithmetic(Arithmetic::Quotient, [a, b]);
        }
        match op {
            BinaryOp::FloorDiv | BinaryOp::FloorMod
                if scalar.is_float()
                    && divisor.and_then(Constant::as_float).is_none_or(|divisor| divisor == 0.0) =>
            {
                self.report(Check::Division, &[a, b]);
            }
            _ if !scalar.is_int() => {}
            BinaryOp::FloorDiv
            | BinaryOp::FloorMod
            | BinaryOp::TruncDiv
            | BinaryOp::TruncRem
            | BinaryOp::PlainDiv
            | BinaryOp::PlainMod
                if known.is_none_or(|divisor| divisor == 0) =>
            {
                self.report(Check::Division, &[a, b]);
            }
            BinaryOp::ShiftLeft | BinaryOp::ShiftRight
                if known.is_none_or(|amount| !(0..bits).contains(&amount)) =>
            {
                self.report(Check::Shift, &[a, b]);
            }
            BinaryOp::Add if !function.own.contains(&id) => self.report_arithmetic(Arithmetic::Sum, [a, b]),
            BinaryOp::Sub if !function.own.contains(&id) => {
                self.report_arithmetic(Arithmetic::Difference, [a, b]);
            }
            BinaryOp::Mul if !function.own.contains(&id) => {
                self.report_arithmetic(Arithmetic::Product, [a, b])
            }
            _ => {}
        }
    }

    fn report_arithmetic(&mut self, of: Arithmetic, [a, b]: [Word; 2]) {
        if self.reports_results() {
            let which = self.int(&Type::U32, of as i128);
            self.report(Check::Arithmetic, &[which, a, b]);
        }
    }

    /// The operands of an atomic sum or difference: the old value and the new one.
    pub fn report_atomic(&mut self, op: AtomicOp, [old, value]: [Word; 2], ty: &Type) {
        let of = match op {
            AtomicOp::Add => Arithmetic::Sum,
            AtomicOp::Sub => Arithmetic::Difference,
            _ => return,
        };
        match self.reports_results() {
            true if is_float(ty) => {
                let made = self.combined(op, old, value, ty);
                self.report(Check::NonFinite, &[made, old, value]);
            }
            true => self.report_arithmetic(of, [old, value]),
            false => {}
        }
    }

    /// The operands of a scan or reduction: the invocation's number, and the result over the earlier invocations.
    pub fn report_combined(&mut self, combine: Combine, spread: Spread, value: Word, ty: &Type) {
        let (of, float_op, nothing) = match combine {
            Combine::Add => (Arithmetic::Sum, Op::FAdd, 0),
            Combine::Mul => (Arithmetic::Product, Op::FMul, 1),
            _ => return,
        };
        if !self.reports_results() {
            return;
        }
        let before = self.combine(combine, Spread::Exclusive, value, ty);
        let value = match spread {
            Spread::Reduce | Spread::Inclusive => value,
            // No result contains the number of the last invocation.
            Spread::Exclusive => {
                let own = self.input_value(Input::SubgroupLocalInvocationId);
                let last = self.combine(Combine::Max, Spread::Reduce, own, &Type::U32);
                let is_last = self.ids(Op::IEqual, &Type::BOOL, &[own, last]);
                let is_last = self.for_each_component(is_last, ty);
                let nothing = match is_float(ty) {
                    true => self.float(ty, f64::from(nothing)),
                    false => self.int(ty, i128::from(nothing)),
                };
                self.select(ty, is_last, nothing, value)
            }
        };
        match is_float(ty) {
            true => {
                let made = self.ids(float_op, ty, &[before, value]);
                self.report(Check::NonFinite, &[made, before, value]);
            }
            false => self.report_arithmetic(of, [before, value]),
        }
    }

    /// `-a` or `abs(a)`. Both overflow for the least signed int; `-a` overflows for every unsigned int but 0.
    pub fn report_opposite(&mut self, id: NodeId, of: Opposite, a: Word) {
        let function = self.function;
        let ty = function.ty(id);
        let may_overflow = |scalar: Scalar| scalar.is_signed() || matches!(of, Opposite::Negation);
        let may_overflow = ty.scalar().is_some_and(|scalar| scalar.is_int() && may_overflow(scalar));
        if self.reports_results() && may_overflow && !function.own.contains(&id) {
            let (which, zero) = (self.int(&Type::U32, of as i128), self.int(ty, 0));
            self.report(Check::Arithmetic, &[which, zero, a]);
        }
    }

    pub fn report_conversion(&mut self, value: Word, from: &Type, made: Word, to: &Type) {
        let (Some(from), Some(to)) = (from.scalar(), to.scalar()) else { return };
        let is_int = matches!(to.kind(), Kind::Signed | Kind::Unsigned);
        if self.is_reported() && from.kind() == Kind::Float && is_int {
            let n_digits = match from {
                Scalar::Bf16 => 8,
                Scalar::F16 => 11,
                Scalar::F64 => 53,
                _ => 24,
            };
            let n_digits = self.int(&Type::U32, n_digits);
            self.report(Check::Conversion, &[value, made, n_digits]);
        }
    }

    pub fn report_uniform(&mut self, value: Word, ty: &Type) {
        if self.is_reported() && ty.scalar().is_some() {
            self.report(Check::Uniform, &[value]);
        }
    }

    /// A float with the operands of its node, or with the arguments of the function or power that computes it.
    pub fn report_origin(&mut self, id: NodeId, value: Word) {
        let function = self.function;
        let node = function.node(id);
        if !self.reports_results() || !node.ty.number().is_some_and(Scalar::is_float) {
            return;
        }
        let of = match function.origins.get(&id) {
            Some(given) if given.is_empty() => return,
            Some(given) => given.clone(),
            None if node.ty.is_matrix() => return,
            None => match self.parents(&node.kind) {
                Some(parents) => parents,
                None => return,
            },
        };
        let mut parents = Vec::new();
        for parent in of {
            let ty = function.ty(parent);
            let value = self.value(parent);
            self.push_numbers(value, ty, &mut parents);
        }
        match node.ty.column() {
            None => self.report(Check::NonFinite, &[&[value], &parents[..]].concat()),
            Some(column) => {
                for at in 0..node.ty.n_parts().unwrap_or(0) {
                    let made = self.extract(value, at, &column);
                    self.report(Check::NonFinite, &[&[made], &parents[..]].concat());
                }
            }
        }
    }

    /// The operands of an operation on floats.
    fn parents(&self, kind: &NodeKind) -> Option<Vec<NodeId>> {
        match kind {
            NodeKind::Binary(_, a, b) | NodeKind::Dot(a, b) => Some(vec![*a, *b]),
            NodeKind::Float(_, args) => Some(args.iter().flatten().copied().collect()),
            NodeKind::Geometry(_, args) => Some(args.clone()),
            NodeKind::Convert(a) => is_float(self.function.ty(*a)).then(|| vec![*a]),
            _ => None,
        }
    }

    /// A number or a vector as it is, and each number of a matrix, for a result may depend on any of them.
    fn push_numbers(&mut self, value: Word, ty: &Type, numbers: &mut Vec<Word>) {
        match ty {
            Type::Matrix { columns, rows, scalar } => {
                for column in 0..u32::from(*columns) {
                    let column = self.extract(value, column, &Type::Vector(*rows, *scalar));
                    let of_column =
                        (0..u32::from(*rows)).map(|row| self.extract(column, row, &(*scalar).into()));
                    numbers.extend(of_column);
                }
            }
            ty if ty.scalar().is_some_and(|scalar| scalar != Scalar::Bool) => numbers.push(value),
            _ => {}
        }
    }
}
