//! Value range analysis: limits of ints that are made of ids, sizes, counters and scalars that a launch promises to be
//! modest.
//!
//! A limit is one of the exact number: where arithmetic wraps around, the limit is larger than the range of the int.
//! The limit of a local follows from its stores; that of a loop's counter follows from the loop's test. How a launch
//! uses limits is in `index_range.rs`, never here.

use rustc_hash::FxHashMap;

use crate::index_range::{LaunchSize, Limit};
use crate::ir::{
    BinaryOp, BitsOp, Block, Buffer, BufferId, CallArg, CompareOp, Function, Home, Kernel, LocalId, NodeId,
    NodeKind, Stmt, UnaryOp, outer_and_last,
};
use crate::launch::Ints;
use crate::template::Input;
use crate::types::{Kind, Scalar};

/// The largest number of nodes that the analysis visits for an index.
const MAX_DEPTH: u32 = 48;

/// The largest number of invocations of a subgroup, and of texels along an axis.
const MAX_SUBGROUP: i128 = 128;
const MAX_TEXELS: i128 = 1 << 15;

/// The limits of one function's values.
pub(crate) struct Limits<'a> {
    kernel: &'a Kernel,
    function: &'a Function,
    args: &'a [Option<Limit>],
    /// The first value and the end of the range from which a value is.
    ranges: &'a FxHashMap<NodeId, (NodeId, NodeId)>,
    /// The stores to each local; `None` if other functions or invocations can change it.
    stores: Vec<Option<Vec<Stored>>>,
    known: FxHashMap<NodeId, Option<Limit>>,
    /// Locals whose limit is being found.
    open: Vec<LocalId>,
    depth: u32,
}

/// A store to a whole local, with the test of the enclosing loop.
#[derive(Clone, Copy)]
struct Stored {
    value: NodeId,
    test: Option<NodeId>,
}

impl<'a> Limits<'a> {
    pub fn of(
        kernel: &'a Kernel,
        function: &'a Function,
        args: &'a [Option<Limit>],
        ranges: &'a FxHashMap<NodeId, (NodeId, NodeId)>,
    ) -> Limits<'a> {
        let is_own = |home: Home| (home == Home::Own).then(Vec::new);
        let stores = function.locals.iter().map(|local| is_own(local.home)).collect();
        let (known, open) = (FxHashMap::default(), Vec::new());
        let mut limits = Limits { kernel, function, args, ranges, stores, known, open, depth: 0 };
        limits.look_for_references();
        limits.look_for_stores(&function.body, None);
        limits
    }

    /// The limits of an element's indices along the axes that matter; `None` if one of them has no limit.
    pub fn of_element(&mut self, indices: &[NodeId]) -> Option<Vec<(u8, Limit)>> {
        let (outer, last) = outer_and_last(self.function, indices);
        let mut limits = Vec::new();
        for (index, axis) in outer.iter().zip(0..) {
            limits.push((axis, self.node(*index)?));
        }
        // A negative offset may wrap around into the array if the last axis subtracts from it, too.
        if let Some(index) = last
            && limits.iter().any(|(_, limit)| limit.is_signed)
        {
            limits.push((outer.len() as u8, self.node(index)?));
        }
        Some(limits)
    }

    /// The limit of an int; `None` if it has none.
    pub fn node(&mut self, node: NodeId) -> Option<Limit> {
        if let Some(known) = self.known.get(&node) {
            return known.clone();
        }
        let limit = self.component(node, None);
        self.known.insert(node, limit.clone());
        limit
    }

    /// The limit of this component of a vector, or of all components.
    fn component(&mut self, node: NodeId, component: Option<u32>) -> Option<Limit> {
        if self.depth == MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        let limit = self.computed(node, component);
        self.depth -= 1;
        limit
    }

    /// The limit by the kind of the node.
    fn computed(&mut self, node: NodeId, component: Option<u32>) -> Option<Limit> {
        let function = self.function;
        let ty = function.ty(node).scalar().filter(|ty| ty.is_int())?;
        if let Some((first, stop)) = self.ranges.get(&node) {
            let limit = self.node(*first)?.or(&self.node(*stop)?);
            return Some(limit).filter(|limit| ty.is_signed() || !limit.is_signed);
        }
        let part = |limits: &mut Self, of: NodeId| match component {
            Some(_) => limits.component(of, component),
            None => limits.node(of),
        };
        match &function.node(node).kind {
            NodeKind::Constant(constant) => constant.as_int().map(Limit::number),
            NodeKind::Scalar(_) if self.kernel.assumptions.ints == Ints::Modest => {
                Some(Limit::number(Ints::MAX_MODEST as i128).signed())
            }
            NodeKind::Input(input) => Some(self.input(*input, component)),
            NodeKind::Domain => Some(invocations(component)),
            NodeKind::Arg(at) => self.args.get(*at as usize).cloned().flatten(),
            NodeKind::BufferLen(buffer)
                if self.buffer(*buffer).rank == 1 && self.buffer(*buffer).view_of.is_none() =>
            {
                Some(self.axis(*buffer, 0))
            }
            NodeKind::BufferAxis { buffer, axis } => Some(self.axis(*buffer, *axis)),
            NodeKind::TextureSize(_) => Some(Limit::number(MAX_TEXELS)),
            NodeKind::Load(local) => self.local(*local),
            NodeKind::Proven(_, a) | NodeKind::Uniform(a) | NodeKind::Splat(a) => part(self, *a),
            NodeKind::Bits(BitsOp::CountOnes, _) => Some(Limit::number(32)),
            NodeKind::Abs(a) => Some(part(self, *a)?.unsigned()),
            NodeKind::Unary(UnaryOp::Negate | UnaryOp::Invert, a) => {
                Some(part(self, *a)?.plus(&Limit::number(1)).signed())
            }
            NodeKind::Bitcast(a) | NodeKind::Convert(a) => {
                let from = function.ty(*a).scalar().filter(|from| !from.is_float())?;
                let limit = if is_narrow(from) { narrow(from) } else { part(self, *a)? };
                // An unsigned number that wrapped below 0 is large in a wider type.
                let is_other = limit.is_signed && from.kind() == Kind::Unsigned && ty.bits() > from.bits();
                (!is_other).then_some(limit)
            }
            NodeKind::Extract(a, at) => self.component(*a, Some(*at)),
            NodeKind::Construct(parts) => match component.and_then(|at| parts.get(at as usize)) {
                Some(one) if parts.len() == usize::from(function.ty(node).n_components()) => self.node(*one),
                _ => None,
            },
            NodeKind::Select { then, orelse, .. } => Some(part(self, *then)?.or(&part(self, *orelse)?)),
            NodeKind::Binary(op, a, b) => self.binary(*op, [*a, *b], ty, &part),
            _ if is_narrow(ty) => Some(narrow(ty)),
            _ => None,
        }
    }

    fn binary(
        &mut self,
        op: BinaryOp,
        [a, b]: [NodeId; 2],
        ty: Scalar,
        part: &dyn Fn(&mut Self, NodeId) -> Option<Limit>,
    ) -> Option<Limit> {
        // An unsigned number that wrapped below 0 is large, which matters here.
        let is_number = |limit: &Limit| !limit.is_signed || ty.is_signed();
        let mut of = |node| part(self, node);
        match op {
            BinaryOp::Add => Some(of(a)?.plus(&of(b)?)),
            BinaryOp::Sub => Some(of(a)?.plus(&of(b)?).signed()),
            BinaryOp::Mul => of(a)?.product(&of(b)?),
            BinaryOp::ShiftLeft => {
                let amount = self.function.constant(b)?.as_int().filter(|amount| (0..32).contains(amount))?;
                part(self, a)?.product(&Limit::number(1 << amount))
            }
            BinaryOp::FloorDiv | BinaryOp::PlainDiv | BinaryOp::TruncDiv | BinaryOp::ShiftRight => {
                of(a).filter(is_number)
            }
            BinaryOp::FloorMod | BinaryOp::PlainMod => of(b).filter(is_number),
            BinaryOp::And => {
                let mask = [a, b].into_iter().find_map(|node| self.function.constant(node)?.as_int());
                mask.filter(|mask| *mask >= 0).map(Limit::number)
            }
            _ => None,
        }
    }

    fn input(&self, input: Input, component: Option<u32>) -> Limit {
        let local_size = self.kernel.local_size.map(i128::from);
        match input {
            Input::GlobalInvocationId | Input::WorkgroupId | Input::NumWorkgroups => invocations(component),
            Input::LocalInvocationId
            | Input::WorkgroupSize
            | Input::LocalInvocationIndex
            | Input::NumSubgroups
            | Input::SubgroupId
            | Input::SubgroupLocalInvocationId
            | Input::SubgroupSize => Limit::number(local_size.iter().product::<i128>().max(MAX_SUBGROUP)),
        }
    }

    fn axis(&self, buffer: BufferId, axis: u8) -> Limit {
        Limit::launch_size(LaunchSize::Axis { param_idx: self.buffer(buffer).param_idx, axis })
    }

    fn buffer(&self, buffer: BufferId) -> &'a Buffer {
        &self.kernel.buffers[buffer.idx()]
    }

    // Locals.

    fn local(&mut self, local: LocalId) -> Option<Limit> {
        // A local that depends on itself, but is no counter, has no limit.
        if self.open.contains(&local) {
            return None;
        }
        let stores = self.stores[local.idx()].clone()?;
        self.open.push(local);
        let limit = self.stored(local, &stores);
        self.open.pop();
        limit
    }

    fn stored(&mut self, local: LocalId, stores: &[Stored]) -> Option<Limit> {
        let (mut limit, mut steps) = (Limit::default(), Limit::default());
        for store in stores {
            match self.step(local, store.value) {
                Some((step, is_up)) => {
                    let end = self.end(local, store.test?, is_up)?;
                    limit = limit.or(&end);
                    // Each is made once in a round.
                    steps = steps.plus(&step);
                }
                None => limit = limit.or(&self.node(store.value)?),
            }
        }
        Some(limit.plus(&steps.unsigned()))
    }

    /// How far a store takes the local from where it was, and whether upward.
    fn step(&mut self, local: LocalId, value: NodeId) -> Option<(Limit, bool)> {
        let NodeKind::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), a, b) = self.function.node(value).kind
        else {
            return None;
        };
        let (from, by) = if op == BinaryOp::Add && !self.is_load(a, local) { (b, a) } else { (a, b) };
        if !self.is_load(from, local) {
            return None;
        }
        let step = self.node(by)?;
        let is_constant = self.function.constant(by).is_some();
        let is_back = is_constant && step.is_signed;
        (is_constant || !step.is_signed).then_some((step, (op == BinaryOp::Add) != is_back))
    }

    /// The end of a loop with this test that counts the local.
    fn end(&mut self, local: LocalId, test: NodeId, is_up: bool) -> Option<Limit> {
        let (op, a, b) = match self.function.node(test).kind {
            NodeKind::Binary(BinaryOp::And, a, b) => {
                return self.end(local, a, is_up).or_else(|| self.end(local, b, is_up));
            }
            NodeKind::Compare(op, a, b) => (op, a, b),
            _ => return None,
        };
        let (end, counts_up) = match op {
            CompareOp::Less | CompareOp::LessEqual if self.is_load(a, local) => (b, true),
            CompareOp::Greater | CompareOp::GreaterEqual if self.is_load(a, local) => (b, false),
            CompareOp::Less | CompareOp::LessEqual if self.is_load(b, local) => (a, false),
            CompareOp::Greater | CompareOp::GreaterEqual if self.is_load(b, local) => (a, true),
            _ => return None,
        };
        let limit = self.node(end)?;
        let is_number = self.function.ty(end).scalar().is_some_and(Scalar::is_signed) || !limit.is_signed;
        (counts_up == is_up && is_number).then(|| limit.plus(&Limit::number(1)))
    }

    fn is_load(&self, node: NodeId, local: LocalId) -> bool {
        matches!(self.function.node(node).kind, NodeKind::Load(of) if of == local)
    }

    /// A local that others can change has no limit.
    fn look_for_references(&mut self) {
        for node in &self.function.nodes {
            let NodeKind::Call { args, .. } = &node.kind else { continue };
            for arg in args {
                if let CallArg::Reference(local) = arg {
                    self.stores[local.idx()] = None;
                }
            }
        }
    }

    fn look_for_stores(&mut self, block: &'a Block, test: Option<NodeId>) {
        let function = self.function;
        for stmt in block {
            match stmt {
                Stmt::Store { local, value, .. } => self.add_store(*local, *value, test),
                Stmt::Carry(carry) => {
                    for (local, value) in &function.carries[carry.idx()] {
                        self.add_store(*local, *value, test);
                    }
                }
                Stmt::StoreElement { local, .. } => self.stores[local.idx()] = None,
                Stmt::If { then, orelse, .. } => {
                    self.look_for_stores(then, test);
                    self.look_for_stores(orelse, test);
                }
                Stmt::Loop(parts) => {
                    self.look_for_stores(&parts.test, None);
                    self.look_for_stores(&parts.body, parts.condition);
                    self.look_for_stores(&parts.step, parts.condition);
                }
                _ => {}
            }
        }
    }

    fn add_store(&mut self, local: LocalId, value: NodeId, test: Option<NodeId>) {
        if let Some(stores) = &mut self.stores[local.idx()] {
            stores.push(Stored { value, test });
        }
    }
}

/// Invocations along one axis, or along any.
fn invocations(axis: Option<u32>) -> Limit {
    let along = |axis: u32| Limit::launch_size(LaunchSize::Invocations(axis as u8));
    match axis {
        Some(axis) => along(axis),
        None => along(0).plus(&along(1)).plus(&along(2)),
    }
}

fn is_narrow(ty: Scalar) -> bool {
    ty.bits() < 32
}

/// The limit of a narrow type.
fn narrow(ty: Scalar) -> Limit {
    let limit = Limit::number(1 << ty.bits());
    if ty.is_signed() { limit.signed() } else { limit }
}
