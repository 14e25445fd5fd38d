//! Checks: each operation that may fail is stated with its operands, as the source has them.
//!
//! In go a verified kernel and a target that checks; out comes the kernel with checks before and after its operations.
//! Guards and flat indices of the emitter obscure what the source meant, and a check states it. Functions of the
//! library have none, except operators. What the checks report is the device's decision.

use super::arithmetic;
use crate::constant::Constant;
use crate::ir::build::{Builder, rewrite_stmts};
use crate::ir::{
    Arithmetic, Atomic, AtomicOp, AtomicPlace, BinaryOp, BufferId, Check, CheckKind, Combine, CompareOp,
    ElementIndex, Function, Indexed, Kernel, LocalId, NodeId, NodeKind, Operation, Origin, Spread, Step,
    Stmt, SubgroupOp, Touch, UnaryOp, ValueIndex, Written, as_written,
};
use crate::signature::Target;
use crate::template::Input;
use crate::types::{Kind, Scalar, Type};

pub(super) fn apply(kernel: &mut Kernel, target: &Target) {
    let mut functions = std::mem::take(&mut kernel.functions);
    let results = target.checks_results;
    for function in functions.iter_mut().filter(|function| function.is_of_script()) {
        rewrite_stmts(function, &mut |builder, stmt| Checker { kernel, builder, results }.stmt(stmt));
    }
    kernel.functions = functions;
}

/// Rewrites one statement.
struct Checker<'c, 'f> {
    /// Without its functions.
    kernel: &'c Kernel,
    builder: &'c mut Builder<'f>,
    /// Results of arithmetic are checked, too.
    results: bool,
}

impl Checker<'_, '_> {
    fn stmt(&mut self, stmt: Stmt) {
        match stmt {
            Stmt::Eval(node) => {
                self.builder.span = self.builder.function.node(node).span;
                self.narrow_load(node);
                self.before(node);
                self.builder.block.push(stmt);
                self.after(node);
            }
            Stmt::BufferStore { buffer, ref index, ref path, span, .. } => {
                self.builder.span = span;
                self.element(buffer, index, path, Touch::Write);
                self.builder.block.push(stmt);
            }
            Stmt::StoreElement { local, ref path, span, .. } => {
                self.builder.span = span;
                self.local_part(local, path, Touch::Write);
                self.builder.block.push(stmt);
            }
            Stmt::Index(index) => self.value_index(&index),
            stmt => self.builder.block.push(stmt),
        }
    }

    /// Loads the components that a swizzle selects, and no others: the device must see what the source reads.
    fn narrow_load(&mut self, swizzle: NodeId) {
        let NodeKind::Swizzle(vector, components) = self.builder.kind(swizzle) else { return };
        let is_last = matches!(self.builder.block.last(), Some(Stmt::Eval(last)) if *last == vector);
        if !is_last || self.builder.function.node(vector).span != self.builder.span {
            return;
        }
        let component = |at: u32| match self.builder.kind(vector) {
            NodeKind::Load(local) => Some(NodeKind::LoadElement { local, path: vec![Step::Part(at)] }),
            NodeKind::LoadElement { local, mut path } => {
                path.push(Step::Part(at));
                Some(NodeKind::LoadElement { local, path })
            }
            NodeKind::BufferLoad { buffer, index, mut path, bounds } => {
                path.push(Step::Part(at));
                Some(NodeKind::BufferLoad { buffer, index, path, bounds })
            }
            _ => None,
        };
        let Some(loads) = components.into_iter().map(component).collect::<Option<Vec<_>>>() else { return };
        let scalar = self.builder.ty(vector).scalar().expect("a swizzle is of a vector");
        self.builder.block.pop();
        let numbers = loads.into_iter().map(|load| self.builder.node(load, scalar)).collect();
        self.builder.replace(swizzle, NodeKind::Construct(numbers));
    }

    fn check(&mut self, kind: CheckKind) {
        let check = Check { kind, span: self.builder.span };
        self.builder.block.push(Stmt::Check(Box::new(check)));
    }

    fn operation(&mut self, operation: Operation, operands: Vec<NodeId>) {
        self.check(CheckKind::Operation(operation, operands));
    }

    /// Arithmetic of ints, which may overflow.
    fn arithmetic(&mut self, of: Arithmetic, a: NodeId, b: NodeId) {
        if self.results {
            self.operation(Operation::Arithmetic(of), vec![a, b]);
        }
    }

    fn before(&mut self, node: NodeId) {
        match self.builder.kind(node) {
            NodeKind::Binary(op, a, b) => self.binary(node, op, a, b),
            NodeKind::Unary(UnaryOp::Negate, a) => self.opposite(node, Arithmetic::Negation, a),
            NodeKind::Abs(a) => self.opposite(node, Arithmetic::Magnitude, a),
            NodeKind::Dot(a, b) => self.dot(node, a, b),
            NodeKind::Uniform(a) if self.builder.ty(a).scalar().is_some() => {
                self.operation(Operation::Uniform, vec![a]);
            }
            NodeKind::Subgroup { op: SubgroupOp::Combine(combine, spread), value: Some(value), .. } => {
                self.combined(combine, spread, value);
            }
            NodeKind::LoadElement { local, path } => self.local_part(local, &path, Touch::Read),
            NodeKind::BufferLoad { buffer, index, path, .. } => {
                self.element(buffer, &index, &path, Touch::Read);
            }
            NodeKind::Atomic(atomic) => match &atomic.place {
                AtomicPlace::Buffer { buffer, index, path } => {
                    self.element(*buffer, index, path, Touch::Both);
                }
                AtomicPlace::Shared { local, path } => self.local_part(*local, path, Touch::Both),
            },
            _ => {}
        }
    }

    fn after(&mut self, node: NodeId) {
        match self.builder.kind(node) {
            NodeKind::Convert(a) => self.conversion(a, node),
            NodeKind::Atomic(atomic) => self.atomic(&atomic, node),
            _ => {}
        }
        self.float(node);
    }

    fn binary(&mut self, node: NodeId, op: BinaryOp, a: NodeId, b: NodeId) {
        let function = &*self.builder.function;
        let Some(scalar) = function.ty(node).scalar() else { return };
        let (divisor, is_added) = (function.known(b), function.is_added(node));
        let known = divisor.and_then(Constant::as_int);
        let bits = i128::from(scalar.bits());
        // The least signed int has no opposite.
        if let BinaryOp::FloorDiv | BinaryOp::TruncDiv | BinaryOp::PlainDiv = op
            && scalar.is_int()
            && scalar.is_signed()
            && known.is_none_or(|divisor| divisor == -1)
        {
            self.arithmetic(Arithmetic::Quotient, a, b);
        }
        match op {
            BinaryOp::FloorDiv | BinaryOp::FloorMod
                if scalar.is_float()
                    && divisor.and_then(Constant::as_float).is_none_or(|divisor| divisor == 0.0) =>
            {
                self.operation(Operation::Division, vec![a, b]);
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
                self.operation(Operation::Division, vec![a, b]);
            }
            BinaryOp::ShiftLeft | BinaryOp::ShiftRight
                if known.is_none_or(|amount| !(0..bits).contains(&amount)) =>
            {
                self.operation(Operation::Shift, vec![a, b]);
            }
            BinaryOp::Add if !is_added => self.arithmetic(Arithmetic::Sum, a, b),
            BinaryOp::Sub if !is_added => self.arithmetic(Arithmetic::Difference, a, b),
            BinaryOp::Mul if !is_added => self.arithmetic(Arithmetic::Product, a, b),
            _ => {}
        }
    }

    /// `-a` or `abs(a)`. Both overflow for the least signed int; `-a` overflows for every unsigned int but 0.
    fn opposite(&mut self, node: NodeId, of: Arithmetic, a: NodeId) {
        let function = &*self.builder.function;
        let ty = function.ty(node).clone();
        let may_overflow = |scalar: Scalar| scalar.is_signed() || of == Arithmetic::Negation;
        let may_overflow = ty.scalar().is_some_and(|scalar| scalar.is_int() && may_overflow(scalar));
        if self.results && may_overflow && !function.is_added(node) {
            let zero = self.builder.zero(&ty);
            self.arithmetic(of, zero, a);
        }
    }

    /// Each product and each sum of ints.
    fn dot(&mut self, node: NodeId, a: NodeId, b: NodeId) {
        let ty = self.builder.ty(node);
        if !self.results || !ty.scalar().is_some_and(Scalar::is_int) {
            return;
        }
        let mut sum = None;
        for at in 0..u32::from(self.builder.ty(a).n_components()) {
            let [left, right] = [a, b].map(|x| self.builder.node(NodeKind::Extract(x, at), ty.clone()));
            self.arithmetic(Arithmetic::Product, left, right);
            let product = self.builder.binary(BinaryOp::Mul, left, right);
            sum = Some(match sum {
                None => product,
                Some(sum) => {
                    self.arithmetic(Arithmetic::Sum, sum, product);
                    self.builder.binary(BinaryOp::Add, sum, product)
                }
            });
        }
    }

    fn conversion(&mut self, a: NodeId, made: NodeId) {
        let function = &*self.builder.function;
        let (Some(from), Some(to)) = (function.ty(a).scalar(), function.ty(made).scalar()) else { return };
        let is_int = matches!(to.kind(), Kind::Signed | Kind::Unsigned);
        if from.kind() == Kind::Float && is_int {
            let n_digits = match from {
                Scalar::Bf16 => 8,
                Scalar::F16 => 11,
                Scalar::F64 => 53,
                _ => 24,
            };
            let n_digits = self.builder.constant(Constant::int(Scalar::U32, n_digits));
            self.operation(Operation::Conversion, vec![a, made, n_digits]);
        }
    }

    /// An atomic sum or difference of the old value and the new one.
    fn atomic(&mut self, atomic: &Atomic, old: NodeId) {
        let (op, of) = match atomic.op {
            AtomicOp::Add => (BinaryOp::Add, Arithmetic::Sum),
            AtomicOp::Sub => (BinaryOp::Sub, Arithmetic::Difference),
            _ => return,
        };
        let (Some(value), true) = (atomic.value, self.results) else { return };
        if self.is_float(old) {
            let made = arithmetic(self.builder, op, old, value);
            self.operation(Operation::NonFinite, vec![made, old, value]);
        } else {
            self.arithmetic(of, old, value);
        }
    }

    /// A scan or reduction: the invocation's number, and the result over the earlier invocations.
    fn combined(&mut self, combine: Combine, spread: Spread, value: NodeId) {
        let (of, op, nothing) = match combine {
            Combine::Add => (Arithmetic::Sum, BinaryOp::Add, 0),
            Combine::Mul => (Arithmetic::Product, BinaryOp::Mul, 1),
            _ => return,
        };
        if !self.results {
            return;
        }
        let ty = self.builder.ty(value);
        let before = self.over_subgroup(combine, Spread::Exclusive, value);
        let value = match spread {
            Spread::Reduce | Spread::Inclusive => value,
            // No result contains the number of the last invocation.
            Spread::Exclusive => {
                let own = NodeKind::Input(Input::SubgroupLocalInvocationId);
                let own = self.builder.node(own, Scalar::U32);
                let last = self.over_subgroup(Combine::Max, Spread::Reduce, own);
                let is_last = self.builder.compare(CompareOp::Equal, own, last);
                let is_last = self.builder.splat(is_last, &ty.with_scalar(Scalar::Bool));
                let scalar = ty.scalar().expect("numbers are combined");
                let nothing = match scalar.is_float() {
                    true => Constant::float(scalar, f64::from(nothing)),
                    false => Constant::int(scalar, i128::from(nothing)),
                };
                let nothing = self.builder.constant(nothing);
                let nothing = self.builder.splat(nothing, &ty);
                self.builder.select(is_last, nothing, value)
            }
        };
        if self.is_float(value) {
            let made = self.builder.binary(op, before, value);
            self.operation(Operation::NonFinite, vec![made, before, value]);
        } else {
            self.arithmetic(of, before, value);
        }
    }

    fn over_subgroup(&mut self, combine: Combine, spread: Spread, value: NodeId) -> NodeId {
        let op = SubgroupOp::Combine(combine, spread);
        let ty = self.builder.ty(value);
        self.builder.node(NodeKind::Subgroup { op, value: Some(value), lane: None }, ty)
    }

    fn is_float(&self, node: NodeId) -> bool {
        self.builder.function.ty(node).scalar().is_some_and(Scalar::is_float)
    }

    /// A float with the operands of its operation, which may be one that takes several nodes.
    fn float(&mut self, id: NodeId) {
        let function = &*self.builder.function;
        let node = function.node(id);
        let ty = node.ty.clone();
        if !self.results || !ty.number().is_some_and(Scalar::is_float) {
            return;
        }
        let inputs = match &node.origin {
            Origin::Step => return,
            Origin::Result(inputs) if inputs.is_empty() => return,
            Origin::Result(inputs) => written(function, inputs),
            Origin::Source | Origin::Compiler if ty.is_matrix() => return,
            Origin::Source | Origin::Compiler => match operands(function, &node.kind) {
                Some(operands) => operands,
                None => return,
            },
        };
        let mut numbers = Vec::new();
        for input in inputs {
            self.push_numbers(input, &mut numbers);
        }
        let made = match ty.column() {
            None => vec![id],
            Some(column) => (0..ty.n_parts().unwrap_or(0))
                .map(|at| self.builder.node(NodeKind::Extract(id, at), column.clone()))
                .collect(),
        };
        for made in made {
            self.operation(Operation::NonFinite, [&[made], &numbers[..]].concat());
        }
    }

    /// A number or a vector as it is, and each number of a matrix, for a result may depend on any of them.
    fn push_numbers(&mut self, value: NodeId, numbers: &mut Vec<NodeId>) {
        match self.builder.ty(value) {
            Type::Matrix { columns, rows, scalar } => {
                for column in 0..u32::from(columns) {
                    let ty = Type::Vector(rows, scalar);
                    let column = self.builder.node(NodeKind::Extract(value, column), ty);
                    let rows = 0..u32::from(rows);
                    numbers.extend(rows.map(|row| self.builder.node(NodeKind::Extract(column, row), scalar)));
                }
            }
            ty if ty.scalar().is_some_and(|scalar| scalar != Scalar::Bool) => numbers.push(value),
            _ => {}
        }
    }

    // Indices.

    /// A part of an element of an array parameter, or of its one value.
    fn element(&mut self, buffer: BufferId, index: &ElementIndex, path: &[Step], touch: Touch) {
        let function = &*self.builder.function;
        let array = &self.kernel.buffers[buffer.idx()];
        let indices: Vec<Step> = match array.is_uniform || array.is_cell {
            // The index of a buffer's one value is not in the source.
            true => Vec::new(),
            false => index.indices().iter().map(|index| Step::At(*index)).collect(),
        };
        let name = format!("{}{}", array.name, brackets(function, &indices));
        if !array.is_uniform && !function.is_known_element(index) {
            let axes = match index.indices() {
                [index] => vec![(*index, None)],
                indices => {
                    let with_len = indices.iter().zip(0..).map(|(index, axis)| {
                        let len = NodeKind::BufferAxis { buffer, axis };
                        (*index, Some(self.builder.node(len, array.counts.signed())))
                    });
                    with_len.collect()
                }
            };
            self.check(CheckKind::Index { of: Indexed::Buffer(buffer), touch, axes });
        }
        self.path(name, &array.element, path, touch);
    }

    /// A part of a local.
    fn local_part(&mut self, local: LocalId, path: &[Step], touch: Touch) {
        let local = self.builder.function.local(local);
        let (name, ty) = (local.name.to_string(), local.ty.clone());
        self.path(name, &ty, path, touch);
    }

    /// A part of a value.
    fn value_index(&mut self, index: &ValueIndex) {
        self.builder.span = index.span;
        let whole = self.builder.function.source.slice(index.whole).to_owned();
        let axes: Vec<(Step, u32)> = index.axes.iter().map(|&(index, len)| (Step::At(index), len)).collect();
        self.axes(&whole, &axes, index.touch);
    }

    /// Each array, vector and matrix on a path, by its name (`p[..].f`) and with an index for each axis.
    fn path(&mut self, mut name: String, ty: &Type, path: &[Step], touch: Touch) {
        for step in as_written(ty, path) {
            match step {
                Written::Member(member) => name += &format!(".{member}"),
                Written::Indices(axes) => {
                    // A whole column is checked by its first number.
                    let first = |(step, len): (Option<Step>, u32)| (step.unwrap_or(Step::Part(0)), len);
                    let axes: Vec<(Step, u32)> = axes.into_iter().map(first).collect();
                    self.axes(&name, &axes, touch);
                    let steps: Vec<Step> = axes.into_iter().map(|(step, _)| step).collect();
                    name += &brackets(self.builder.function, &steps);
                }
            }
        }
    }

    /// Checks indices, unless all are known to be inside.
    fn axes(&mut self, name: &str, axes: &[(Step, u32)], touch: Touch) {
        let function = &*self.builder.function;
        let is_inside = |&(step, len): &(Step, u32)| match step {
            Step::Part(_) => true,
            Step::At(index) => function.is_known_inside(index, len),
        };
        if axes.iter().all(is_inside) {
            return;
        }
        let number = |builder: &mut Builder, n: u32| builder.constant(Constant::int(Scalar::U32, n.into()));
        let axes = axes.iter().map(|&(step, len)| {
            let index = match step {
                Step::Part(at) => number(self.builder, at),
                Step::At(index) => index,
            };
            (index, Some(number(self.builder, len)))
        });
        let axes = axes.collect();
        self.check(CheckKind::Index { of: Indexed::Named(name.to_owned()), touch, axes });
    }
}

/// The operands of an operation on floats.
fn operands(function: &Function, kind: &NodeKind) -> Option<Vec<NodeId>> {
    match kind {
        NodeKind::Binary(_, a, b) | NodeKind::Dot(a, b) => Some(vec![*a, *b]),
        NodeKind::Float(_, args) => Some(written(function, args.iter().flatten())),
        NodeKind::Geometry(_, args) => Some(written(function, args)),
        NodeKind::Convert(a) => function.ty(*a).scalar().is_some_and(Scalar::is_float).then(|| vec![*a]),
        _ => None,
    }
}

/// The arguments of a function as the script has them: an int that becomes a float, and one number beside vectors.
fn written<'n>(function: &Function, args: impl IntoIterator<Item = &'n NodeId>) -> Vec<NodeId> {
    let is_int = |node: NodeId| function.ty(node).scalar().is_some_and(Scalar::is_int);
    let of = |arg: &NodeId| {
        let mut arg = *arg;
        while let NodeKind::Splat(inner) | NodeKind::Convert(inner) = function.node(arg).kind
            && (is_int(inner) || matches!(function.node(arg).kind, NodeKind::Splat(_)))
        {
            arg = inner;
        }
        arg
    };
    args.into_iter().map(of).collect()
}

/// `[2, ..]`: indices that are not constants are left out. Empty without indices.
fn brackets(function: &Function, steps: &[Step]) -> String {
    let known = |step: &Step| match step {
        Step::Part(at) => Some(i128::from(*at)),
        Step::At(index) => {
            let index = match function.node(*index).kind {
                NodeKind::Proven(_, index) => index,
                _ => *index,
            };
            function.constant(index)?.as_int()
        }
    };
    let shown = |step| known(step).map_or("..".to_owned(), |at| at.to_string());
    let indices: Vec<String> = steps.iter().map(shown).collect();
    if indices.is_empty() { String::new() } else { format!("[{}]", indices.join(", ")) }
}
