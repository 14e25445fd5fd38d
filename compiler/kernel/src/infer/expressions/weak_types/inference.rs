//! Weak numbers: their types and values.

use std::rc::Rc;

use kps_syntax::ast::{BinaryOp as AstBinaryOp, UnaryOp as AstUnaryOp};
use kps_syntax::{Diagnostic, Span};
use rustc_hash::FxHashSet;

use super::{Origin, Weak, WeakPhi, WeakSide, WeakValues, scalar_alone};
use crate::constant::Literal;
use crate::errors;
use crate::infer::Ctx;
use crate::infer::assumptions::WeakKey;
use crate::infer::expressions::arith::Sides;
use crate::infer::expressions::compare::compare_literals;
use crate::infer::expressions::fold::{folded, folded_unary};
use crate::infer::expressions::operand::Operand;
use crate::infer::places::lists::scalar_of_large;
use crate::infer::places::vars::Binding;
use crate::ir::{CompareOp, LocalId, NodeId, NodeKind};
use crate::types::{Scalar, Type};

/// The possible results of an operator are tracked for up to this many pairs of numbers.
const MAX_PAIRS: usize = 1024;

impl Ctx<'_> {
    /// A weak number as an operand beside a value with a type of its own, in the type that a literal would
    /// adopt. `None` if it keeps its own type.
    pub fn beside(&mut self, operand: &Operand, other: &Operand, span: Span) -> Option<Operand> {
        let values = self.values_of_node(operand)?;
        if self.weak_side(other).is_some() {
            return None;
        }
        let scalar = self.value_type(other)?.scalar()?;
        let scalar = if values.has_floats() && scalar.is_int() { scalar.as_float() } else { scalar };
        self.adopted_as(operand, scalar, span).map(Operand::Node)
    }

    /// A weak number as `scalar`. `None` for any other operand, if a value does not fit, or if it is an implicit
    /// conversion that any number takes.
    pub fn adopted_as(&mut self, operand: &Operand, scalar: Scalar, span: Span) -> Option<NodeId> {
        let values = self.values_of_node(operand)?;
        let Operand::Node(node) = *operand else { return None };
        let own = self.ty(node).scalar()?;
        let converts = own.widens_to(scalar) && (own.is_int() || values.is_exact)
            || own.is_int() && matches!(scalar, Scalar::F32 | Scalar::F64);
        if own == scalar || converts || !values.fit(scalar) {
            return None;
        }
        if scalar == Scalar::F64 && !values.converts() {
            self.demand(node, scalar);
        }
        Some(self.coerce(node, scalar, span))
    }

    /// Says that a weak number is needed in a wider type than it has.
    pub fn demand(&mut self, node: NodeId, scalar: Scalar) {
        let mut open = vec![node];
        let mut seen = FxHashSet::default();
        while let Some(node) = open.pop() {
            // Ints convert to it exactly.
            let is_float = self.ty(node).scalar().is_some_and(Scalar::is_float);
            if !is_float || !seen.insert(node) {
                continue;
            }
            let Some(origin) = self.origin_of(node) else { continue };
            match origin {
                Origin::Key(key) => self.f.assumed.demand(key, scalar),
                Origin::Arg(at) => self.f.weak.demanded_args.push((at, scalar)),
                Origin::Operands(operands) => open.extend(operands.into_iter().flatten()),
            }
        }
    }

    fn origin_of(&self, node: NodeId) -> Option<Origin> {
        match self.f.weak.nodes.get(&node) {
            Some(weak) => Some(weak.origin),
            None => Some(Origin::Key(self.table_of_element(node)?.key)),
        }
    }

    /// A weak operand that fits `scalar` as a node of that type, computed here.
    pub fn side_as(&mut self, side: &WeakSide, scalar: Scalar, span: Span) -> NodeId {
        let node = match side {
            WeakSide::Literal(literal) => {
                return self.constant(literal.fit(scalar).expect("all of them fit"), span);
            }
            WeakSide::Node(node) => *node,
            WeakSide::Stored(local, phi) => self.load_weak(*local, phi, span),
        };
        match self.adopted_as(&Operand::Node(node), scalar, span) {
            Some(adopted) => adopted,
            None => self.convert(node, scalar, span),
        }
    }

    /// The value of a variable that every path assigns a weak number.
    pub fn load_weak(&mut self, local: LocalId, phi: &WeakPhi, span: Span) -> NodeId {
        let ty = self.f.func.local(local).ty.clone();
        let node = self.node(NodeKind::Load(local), ty, span);
        self.note_weak(node, phi.key, phi.values.clone());
        node
    }

    /// The type of a weak operand.
    pub fn own_scalar(&self, side: &WeakSide) -> Scalar {
        let ty = match side {
            WeakSide::Literal(literal) => {
                return scalar_of_large(std::iter::once(*literal)).unwrap_or(literal.default_scalar());
            }
            WeakSide::Node(node) => self.ty(*node),
            WeakSide::Stored(local, _) => &self.f.func.local(*local).ty,
        };
        ty.scalar().expect("weak numbers are scalars")
    }

    /// The type of a number that is one of these, all weak.
    pub fn weak_type(&self, sides: &[WeakSide], key: Option<WeakKey>) -> Type {
        let values: Vec<WeakValues> = sides.iter().map(|side| self.weak_values(side)).collect();
        let wide = key.and_then(|key| self.f.assumed.weak(key));
        let own = scalar_alone(&values);
        wide.filter(|_| own.is_float()).unwrap_or(own).into()
    }

    /// Whether all values of a weak operand fit a type.
    pub fn fits(&self, side: &WeakSide, ty: &Type) -> bool {
        matches!(ty, Type::Scalar(scalar) if self.weak_values(side).fit(*scalar))
    }

    /// The weak number that an operand is, if it is one.
    pub fn weak_side(&self, operand: &Operand) -> Option<WeakSide> {
        match operand {
            Operand::Literal(literal) => Some(WeakSide::Literal(*literal)),
            Operand::Node(node) => self.is_weak(*node).then_some(WeakSide::Node(*node)),
            _ => None,
        }
    }

    /// The weak number to which a variable is bound, if it is one.
    pub fn weak_binding(&self, binding: &Binding) -> Option<WeakSide> {
        match binding {
            Binding::Bound { operand, .. } => self.weak_side(operand),
            Binding::Stored { local, weak, .. } => Some(WeakSide::Stored(*local, weak.clone()?)),
            _ => None,
        }
    }

    fn is_weak(&self, node: NodeId) -> bool {
        self.f.weak.nodes.contains_key(&node) || self.table_of_element(node).is_some()
    }

    pub fn weak_values(&self, side: &WeakSide) -> WeakValues {
        match side {
            WeakSide::Literal(literal) => WeakValues::of_numbers(Rc::new([*literal])),
            WeakSide::Stored(_, phi) => phi.values.clone(),
            WeakSide::Node(node) => match self.f.weak.nodes.get(node) {
                Some(weak) => weak.values.clone(),
                None => {
                    let table = self.table_of_element(*node).expect("sides are weak");
                    let own = self.ty(*node).scalar().expect("elements of tables are numbers");
                    WeakValues::in_type(Rc::clone(&table.numbers), own)
                }
            },
        }
    }

    /// The values of a weak number that is not a literal.
    pub fn values_of_node(&self, operand: &Operand) -> Option<WeakValues> {
        match self.weak_side(operand)? {
            WeakSide::Literal(_) => None,
            side => Some(self.weak_values(&side)),
        }
    }

    /// Whether it is a weak number that is not a literal.
    pub fn is_weak_node(&self, operand: &Operand) -> bool {
        matches!(operand, Operand::Node(node) if self.is_weak(*node))
    }

    /// The error for int literals if no int type holds one of them, or both the least and the largest.
    pub fn ints_of_no_type(&self, operands: &[(&Operand, Span)]) -> Option<Diagnostic> {
        let int = |(operand, at): &(&Operand, Span)| match operand {
            Operand::Literal(Literal::Int(value)) => Some((*value, *at)),
            _ => None,
        };
        let ints: Vec<(i128, Span)> = operands.iter().filter_map(int).collect();
        let holds = |scalar: Scalar, value: i128| Literal::Int(value).fit(scalar).is_some();
        let is_beyond =
            |(value, _): &&(i128, Span)| !holds(Scalar::I64, *value) && !holds(Scalar::U64, *value);
        if let Some((value, at)) = ints.iter().find(is_beyond) {
            return Some(errors::int_of_no_type(self.at(*at), Literal::Int(*value)));
        }
        let (least, most) = (ints.iter().min()?, ints.iter().max()?);
        let are_apart = ints.len() == operands.len() && least.0 < 0 && !holds(Scalar::I64, most.0);
        let located = |(value, at): &(i128, Span)| (self.at(*at), Literal::Int(*value));
        are_apart.then(|| errors::ints_of_no_type(located(least), located(most)))
    }

    /// Records that a node is a weak number, whose type `key` decides.
    pub fn note_weak(&mut self, node: NodeId, key: WeakKey, values: WeakValues) {
        self.f.weak.nodes.insert(node, Weak { origin: Origin::Key(key), values });
    }

    /// Records a conditional expression of these two, if both are weak.
    pub fn note_choice(&mut self, choice: NodeId, sides: [&Operand; 2], key: WeakKey) {
        if let Some(values) = self.values_of_choice(sides, self.ty(choice)) {
            self.note_weak(choice, key, values);
        }
    }

    /// The values of a number of type `ty` that is one of these, if both are weak.
    fn values_of_choice(&self, sides: [&Operand; 2], ty: &Type) -> Option<WeakValues> {
        let [Some(then), Some(orelse)] = sides.map(|side| self.weak_side(side)) else { return None };
        Some(WeakValues::any_of(&[self.weak_values(&then), self.weak_values(&orelse)], ty.scalar()?))
    }

    /// Records an argument of the function that is one of these numbers.
    pub fn note_weak_arg(&mut self, node: NodeId, numbers: &Rc<[Literal]>) {
        let (NodeKind::Arg(at), Some(own)) = (&self.f.func.node(node).kind, self.ty(node).scalar()) else {
            return;
        };
        // Library functions are compiled for the types of their arguments.
        if self.f.func.called_for.is_none() {
            let values = WeakValues::in_type(Rc::clone(numbers), own);
            self.f.weak.nodes.insert(node, Weak { origin: Origin::Arg(*at), values });
        }
    }

    /// The float type of a quotient of weak ints.
    pub fn quotient_type(&self, sides: Sides, default: Scalar) -> Scalar {
        let are_weak = [sides.left, sides.right].into_iter().all(|side| self.weak_side(side).is_some());
        let key = WeakKey::At(sides.spans.0.to(sides.spans.1), 0);
        self.f.assumed.weak(key).filter(|_| are_weak).unwrap_or(default)
    }

    fn note_computed(&mut self, result: NodeId, of: &[&Operand], numbers: Option<Vec<Literal>>) {
        let Some(own) = self.ty(result).scalar().filter(|_| !self.is_weak(result)) else { return };
        let sides: Option<Vec<WeakValues>> =
            of.iter().map(|side| Some(self.weak_values(&self.weak_side(side)?))).collect();
        let (Some(sides), Some(numbers)) = (sides, numbers) else { return };
        if let Some(values) = WeakValues::computed(&sides, &numbers, own) {
            let node = |at: usize| match of.get(at) {
                Some(Operand::Node(node)) => Some(*node),
                _ => None,
            };
            let operands = [node(0), node(1)];
            let is_int = |node: &NodeId| self.ty(*node).scalar().is_some_and(Scalar::is_int);
            let is_of_ints = own.is_float() && operands.iter().flatten().all(is_int);
            let origin = match is_of_ints {
                true => Origin::Key(WeakKey::At(self.f.func.node(result).span, 0)),
                false => Origin::Operands(operands),
            };
            self.f.weak.nodes.insert(result, Weak { origin, values });
        }
    }

    /// The results of a function for all pairs of values of two weak numbers. `None` for other operands, and if
    /// there are too many.
    fn of_all_pairs<T>(
        &self,
        sides: [&Operand; 2],
        result: impl FnMut((Literal, Literal)) -> Option<T>,
    ) -> Option<Vec<T>> {
        let [left, right] = sides.map(|side| self.weak_side(side));
        let [a, b] = [self.weak_values(&left?), self.weak_values(&right?)];
        if a.numbers.len().saturating_mul(b.numbers.len()) > MAX_PAIRS {
            return None;
        }
        let pairs = a.numbers.iter().flat_map(|a| b.numbers.iter().map(|b| (*a, *b)));
        pairs.map(result).collect()
    }

    /// Records arithmetic of two weak numbers.
    pub fn note_binary(&mut self, result: &Operand, op: AstBinaryOp, sides: Sides) {
        let Operand::Node(node) = *result else { return };
        let sides = [sides.left, sides.right];
        if sides.iter().any(|side| self.is_weak_node(side)) {
            let numbers = self.of_all_pairs(sides, |(a, b)| folded(op, a, b));
            self.note_computed(node, &sides, numbers);
        }
    }

    /// Records the minimum or maximum of two weak numbers.
    pub fn note_extreme(&mut self, result: NodeId, op: CompareOp, sides: [&Operand; 2]) {
        let is_float = self.ty(result).scalar().is_some_and(Scalar::is_float);
        let numbers = self.of_all_pairs(sides, |(a, b)| {
            let selected = if compare_literals(op, b, a) { b } else { a };
            Some(if is_float { Literal::Float(selected.to_f64()) } else { selected })
        });
        self.note_computed(result, &sides, numbers);
    }

    /// Records the absolute value of a weak number.
    pub fn note_abs(&mut self, result: NodeId, of: NodeId) {
        let abs = |number: &Literal| match number {
            Literal::Int(value) => Literal::Int(value.abs()),
            Literal::Float(value) => Literal::Float(value.abs()),
        };
        let of = Operand::Node(of);
        let Some(values) = self.values_of_node(&of) else { return };
        self.note_computed(result, &[&of], Some(values.numbers.iter().map(abs).collect()));
    }

    /// Records the negation or the bitwise inverse of a weak number.
    pub fn note_unary(&mut self, result: &Operand, op: AstUnaryOp, of: NodeId) {
        let (Operand::Node(result), of) = (result, Operand::Node(of)) else { return };
        let Some(values) = self.values_of_node(&of) else { return };
        let numbers = values.numbers.iter().map(|number| folded_unary(op, *number)).collect();
        self.note_computed(*result, &[&of], numbers);
    }

    /// The first possible value of a weak int that an int type does not hold.
    pub fn unfit_int(&self, operand: &Operand, ty: &Type) -> Option<(Literal, Scalar)> {
        let values = self.values_of_node(operand)?;
        let Type::Scalar(scalar) = *ty else { return None };
        let beyond = values.numbers.iter().find(|number| number.fit(scalar).is_none())?;
        (scalar.is_int() && !values.has_floats()).then_some((*beyond, scalar))
    }
}
