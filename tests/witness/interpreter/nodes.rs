//! Evaluates each node of the typed form from its operands' values. `machine` evaluates calls.
//!
//! Arithmetic on vectors and matrices is componentwise. Out of range, loads give zeros and stores have no
//! effect.

use kps_kernel::ir::{
    Atomic, AtomicPlace, BinaryOp, ElementIndex, Extent, FloatFn, Node, NodeId, NodeKind, Proof, Step,
    part_at,
};
use kps_kernel::{Input, Scalar, Type};

use super::machine::Invocation;
use super::{Notes, Stop, Value, World, numbers, subgroups};
use crate::driver;

type Result = std::result::Result<Value, Stop>;

impl<'k> Invocation<'k> {
    pub fn compute(&mut self, node: &Node, world: &mut World<'k>) -> Result {
        let ty = &node.ty;
        match &node.kind {
            NodeKind::Constant(constant) => Ok(Value::number(constant.scalar(), constant.bits())),
            NodeKind::Input(input) => self.input(*input, world),
            NodeKind::Domain => Ok(Value::ints(world.grid.domain)),
            NodeKind::Scalar(scalar) => Ok(world.scalars[scalar.idx()].clone()),
            NodeKind::Arg(at) => Ok(self.arg(*at)),
            NodeKind::Select { condition, then, orelse } => Ok(self.select(*condition, *then, *orelse)),
            NodeKind::Proven(_, a) | NodeKind::Uniform(a) => Ok(self.value(*a)),
            NodeKind::Load(_)
            | NodeKind::LoadElement { .. }
            | NodeKind::BufferLoad { .. }
            | NodeKind::BufferLen(_)
            | NodeKind::IsInside { .. }
            | NodeKind::BufferAxis { .. } => Ok(self.load(&node.kind, ty, world)),
            NodeKind::Atomic(atomic) => Ok(self.atomic(atomic, world)),
            NodeKind::CoopLoad(place) => self.coop_load(place, ty, world),
            NodeKind::CoopLength(coop) => Ok(Value::Int(self.components_of(coop)? as i128)),
            NodeKind::Splat(a) if matches!(ty, Type::Coop(_)) => self.coop_filled(*a, ty),
            NodeKind::Splat(_)
            | NodeKind::Construct(_)
            | NodeKind::Extract(..)
            | NodeKind::ExtractAt { .. }
            | NodeKind::Insert { .. }
            | NodeKind::InsertAt { .. }
            | NodeKind::Swizzle(..) => Ok(self.composite(&node.kind, ty)),
            kind => self.arithmetic(kind, ty, world),
        }
    }

    /// The current indices of a path.
    pub fn path(&self, path: &[Step]) -> Vec<i128> {
        let step = |step: &Step| match step {
            Step::Part(at) => i128::from(*at),
            Step::At(index) => self.value(*index).as_int(),
        };
        path.iter().map(step).collect()
    }

    /// The number of an element; out of every range if it overflowed.
    pub fn element_number(&self, index: &ElementIndex) -> i128 {
        match index {
            ElementIndex::Tested { fits, .. } if !self.value(*fits).as_bool() => i128::MAX,
            index => self.value(index.number()).as_int(),
        }
    }

    fn input(&self, input: Input, world: &World) -> Result {
        let [nx, ny, nz] = self.kernel.local_size;
        let [x, y, z] = self.local;
        let global = [0, 1, 2].map(|axis| self.group[axis] * self.kernel.local_size[axis] + self.local[axis]);
        Ok(match input {
            Input::GlobalInvocationId => Value::ints(global),
            Input::LocalInvocationId => Value::ints(self.local),
            Input::LocalInvocationIndex => Value::Int(((z * ny + y) * nx + x).into()),
            Input::WorkgroupId => Value::ints(self.group),
            Input::NumWorkgroups => Value::ints(world.grid.groups),
            Input::WorkgroupSize => Value::ints([nx, ny, nz]),
            // A workgroup that is one subgroup.
            Input::SubgroupLocalInvocationId if (nx * ny * nz) as usize <= subgroups::MAX_INVOCATIONS => {
                Value::Int(((z * ny + y) * nx + x).into())
            }
            Input::NumSubgroups
            | Input::SubgroupId
            | Input::SubgroupLocalInvocationId
            | Input::SubgroupSize => {
                return Err(Stop::Open("subgroups of several sizes"));
            }
        })
    }

    fn select(&self, condition: NodeId, then: NodeId, orelse: NodeId) -> Value {
        let (then, orelse) = (self.value(then), self.value(orelse));
        match self.value(condition) {
            Value::Bool(condition) => {
                if condition {
                    then
                } else {
                    orelse
                }
            }
            conditions => {
                let choose = |(condition, at): (&Value, usize)| {
                    let chosen = if condition.as_bool() { &then } else { &orelse };
                    chosen.as_parts()[at].clone()
                };
                Value::parts(conditions.as_parts().iter().zip(0..).map(choose).collect())
            }
        }
    }

    /// The compiler must not mark an index that is out of range.
    pub fn ensure_right(&self, index: Option<NodeId>, path: &[Step], is_there: bool) {
        let steps = path.iter().filter_map(|step| match step {
            Step::Part(_) => None,
            Step::At(index) => Some(*index),
        });
        let is_proven =
            |index: NodeId| matches!(self.function().node(index).kind, NodeKind::Proven(Proof::InRange, _));
        let mut indices = index.into_iter().chain(steps).peekable();
        let are_proven = indices.peek().is_some() && indices.all(is_proven);
        assert!(is_there || !are_proven, "an index that was proven is out of range");
    }

    fn load(&self, kind: &NodeKind, ty: &Type, world: &World<'k>) -> Value {
        match kind {
            NodeKind::Load(local) => self.local(*local, world).clone(),
            NodeKind::LoadElement { local, path } => {
                let local = self.local(*local, world);
                let part = local.at(&self.path(path));
                self.ensure_right(None, path, part.is_some());
                part.cloned().unwrap_or_else(|| Value::zero(ty))
            }
            NodeKind::BufferLoad { buffer, index, path, .. } => {
                let at = usize::try_from(self.element_number(index)).ok();
                let element = at.and_then(|at| world.buffers[buffer.idx()].values.get(at));
                let part = element.and_then(|element| element.at(&self.path(path)));
                self.ensure_right(Some(index.number()), path, part.is_some());
                part.cloned().unwrap_or_else(|| Value::zero(ty))
            }
            NodeKind::IsInside { of, index } => {
                let (index, len) = match of {
                    Extent::Elements(buffer) => {
                        (self.element_number(index), world.buffers[buffer.idx()].values.len())
                    }
                    Extent::Parts(len) => (self.element_number(index), *len as usize),
                };
                Value::Bool(usize::try_from(index).is_ok_and(|index| index < len))
            }
            NodeKind::BufferLen(buffer) => Value::Int(world.buffers[buffer.idx()].values.len() as i128),
            NodeKind::BufferAxis { buffer, axis } => {
                Value::Int(world.buffers[buffer.idx()].shape[usize::from(*axis)].into())
            }
            _ => unreachable!("only loads come here"),
        }
    }

    fn composite(&self, kind: &NodeKind, ty: &Type) -> Value {
        match kind {
            NodeKind::Splat(a) => Value::parts(vec![self.value(*a); usize::from(ty.n_components())]),
            NodeKind::Construct(parts) => Value::parts(parts.iter().map(|part| self.value(*part)).collect()),
            NodeKind::Extract(a, at) => self.value(*a).as_parts()[*at as usize].clone(),
            NodeKind::ExtractAt { whole, index } => {
                let index = self.value(*index).as_int();
                self.value(*whole).at(&[index]).cloned().unwrap_or_else(|| Value::zero(ty))
            }
            NodeKind::Insert { whole, value, part } => self.with_part(*whole, (*part).into(), *value),
            NodeKind::InsertAt { whole, value, index } => {
                self.with_part(*whole, self.value(*index).as_int(), *value)
            }
            NodeKind::Swizzle(a, components) => {
                let whole = self.value(*a);
                Value::parts(components.iter().map(|at| whole.as_parts()[*at as usize].clone()).collect())
            }
            _ => unreachable!("only composites come here"),
        }
    }

    fn with_part(&self, whole: NodeId, part: i128, value: NodeId) -> Value {
        let mut whole = self.value(whole);
        if let Some(part) = whole.at_mut(&[part]) {
            *part = self.value(value);
        }
        whole
    }

    fn arithmetic(&self, kind: &NodeKind, ty: &Type, world: &World) -> Result {
        let operand = |id: &NodeId| number_of(self.function().ty(*id));
        let to = number_of(ty);
        let one = |a: &NodeId, f: &dyn Fn(&Value) -> Result| {
            let from = operand(a);
            each(&[self.value(*a)], &|parts| noted(world, [from, to], None, parts, f(parts[0])))
        };
        let two = |op: Option<BinaryOp>, a: &NodeId, b: &NodeId, f: &dyn Fn(&Value, &Value) -> Value| {
            let from = operand(a);
            let values = [self.value(*a), self.value(*b)];
            each(&values, &|parts| {
                let result = f(parts[0], parts[1]);
                if !self.kernel.precise && !numbers::is_exact(op, parts, &result) {
                    return Err(Stop::Open("what may be contracted"));
                }
                noted(world, [from, to], op, parts, Ok(result))
            })
        };
        match kind {
            NodeKind::Bits(op, a) => one(a, &|a| Ok(numbers::bits(*op, a))),
            NodeKind::Unary(op, a) => one(a, &|a| Ok(numbers::unary(*op, to, a))),
            NodeKind::Binary(op, a, b) => {
                world.note_rounding(*op == BinaryOp::Div, to);
                two(Some(*op), a, b, &|a, b| numbers::binary(*op, to, a, b))
            }
            NodeKind::Compare(op, a, b) => two(None, a, b, &|a, b| Value::Bool(numbers::compare(*op, a, b))),
            NodeKind::Convert(a) => one(a, &|a| Ok(numbers::convert(to, a))),
            NodeKind::Bitcast(a) => one(a, &|value| numbers::bitcast(operand(a), to, value)),
            NodeKind::Abs(a) => one(a, &|a| Ok(numbers::abs(to, a))),
            NodeKind::Sign(a) => one(a, &numbers::sign),
            NodeKind::CopySign { magnitude, sign } => {
                let values = [self.value(*magnitude), self.value(*sign)];
                each(&values, &|parts| {
                    let [magnitude, sign] = [0, 1].map(|at: usize| parts[at].as_float());
                    noted(world, [to, to], None, parts, numbers::copy_sign(magnitude, sign))
                })
            }
            NodeKind::IsNan(a) => one(a, &|a| Ok(Value::Bool(a.as_float().is_nan()))),
            NodeKind::IsInf(a) => one(a, &|a| Ok(Value::Bool(a.as_float().is_infinite()))),
            NodeKind::Float(function, args) => {
                let values: Vec<Value> = args.iter().flatten().map(|arg| self.value(*arg)).collect();
                each(&values, &|parts| {
                    world.note_rounding(matches!(function, FloatFn::Sqrt), to);
                    let floats: Vec<f64> = parts.iter().map(|part| part.as_float()).collect();
                    noted(world, [to, to], None, parts, numbers::float_function(*function, to, &floats))
                })
            }
            NodeKind::All(a) => Ok(Value::Bool(self.value(*a).as_parts().iter().all(Value::as_bool))),
            NodeKind::Any(a) => Ok(Value::Bool(self.value(*a).as_parts().iter().any(Value::as_bool))),
            other => Err(Stop::NotHere(format!("{other:?}"))),
        }
    }

    fn atomic(&mut self, atomic: &Atomic, world: &mut World<'k>) -> Value {
        let value = atomic.value.map(|value| self.value(value));
        let expected = atomic.expected.map(|expected| self.value(expected));
        let (ty, place) = match &atomic.place {
            AtomicPlace::Buffer { buffer, index, path } => {
                let index = usize::try_from(self.element_number(index)).ok();
                let at = self.path(path);
                let memory = &mut world.buffers[buffer.idx()];
                let element = index.and_then(|index| memory.values.get_mut(index));
                (part_at(&memory.element, path), element.and_then(|element| element.at_mut(&at)))
            }
            AtomicPlace::Shared { local, path } => {
                let ty = part_at(&self.function().local(*local).ty, path);
                let at = self.path(path);
                (ty, self.memory_mut(*local, world).at_mut(&at))
            }
        };
        let scalar = ty.scalar().expect("atomics are of numbers");
        let Some(place) = place else { return Value::number(scalar, 0) };
        let old = place.clone();
        if let Some(new) = numbers::atomic(atomic.op, scalar, &old, value.as_ref(), expected.as_ref()) {
            *place = new;
        }
        old
    }
}

/// The scalar type of a value's numbers; bool for comparisons.
fn number_of(ty: &Type) -> Scalar {
    match ty {
        Type::Coop(coop) => coop.scalar,
        ty => ty.number().unwrap_or(Scalar::Bool),
    }
}

/// Componentwise, if the values have parts.
fn each(values: &[Value], f: &dyn Fn(&[&Value]) -> Result) -> Result {
    let Value::Parts(first) = &values[0] else {
        return f(&values.iter().collect::<Vec<_>>());
    };
    let part = |at: usize| {
        let parts: Vec<Value> = values.iter().map(|value| value.as_parts()[at].clone()).collect();
        each(&parts, f)
    };
    Ok(Value::parts((0..first.len()).map(part).collect::<std::result::Result<_, _>>()?))
}

/// Records operations whose results may differ on a driver.
fn noted(
    world: &World,
    scalars: [Scalar; 2],
    op: Option<BinaryOp>,
    operands: &[&Value],
    result: Result,
) -> Result {
    let [from, to] = scalars;
    if let Ok(result) = &result {
        let notes = world.notes.get();
        let is_subnormal = driver::is_subnormal(to, result)
            || operands.iter().any(|operand| driver::is_subnormal(from, operand));
        world.notes.set(Notes {
            has_subnormal: notes.has_subnormal || is_subnormal,
            has_short_cut: notes.has_short_cut || driver::takes_short_cut(op, operands, result),
            ..notes
        });
    }
    result
}
