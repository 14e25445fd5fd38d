//! Weakly typed numbers that are known only at run time.
//!
//! An expression made only of literals has a weak type. Such expressions are elements of constant lists,
//! conditional expressions between literals, variables that every path assigns a weak number, and arithmetic of
//! weak numbers. Like a literal, a weak number adopts the type of the other operand if all its possible values
//! fit that type.
//!
//! Until then it is a node of its default type. For another type there is a second node: an int is converted, a
//! float is computed again. `weak_phis.rs` does that for phis.

use std::rc::Rc;

use kps_syntax::ast::{BinaryOp as AstBinaryOp, UnaryOp as AstUnaryOp};
use kps_syntax::{Diagnostic, Span};
use rustc_hash::FxHashSet;

use super::Ctx;
use super::arith::Sides;
use super::compare::compare_literals;
use super::fold::{folded, folded_unary};
use super::operand::Operand;
use super::tables::scalar_of_large;
use super::vars::Binding;
use super::weak_calls::CallId;
use super::weak_phis::PhiId;
use crate::constant::{Constant, Literal};
use crate::errors;
use crate::ir::{CompareOp, NodeId, NodeKind};
use crate::types::{Scalar, Type};

/// The possible results of an operator are tracked for up to this many pairs of numbers.
const MAX_PAIRS: usize = 1024;

/// Weak arithmetic is computed again for up to this many operations.
const MAX_OPERATIONS: u32 = 64;

/// An operand of a weak number: a literal, or another weak number.
#[derive(Clone, Copy)]
pub(crate) enum WeakSide {
    Literal(Literal),
    Node(NodeId),
    Phi(PhiId),
    /// The result of a call. It is an operand of its phi only.
    Call(CallId),
}

/// A weak number that is not a literal.
#[derive(Clone)]
pub(crate) struct Weak {
    origin: Origin,
    values: WeakValues,
}

#[derive(Clone, Copy)]
enum Origin {
    /// From outside the function, so it is converted.
    External,
    Choice([WeakSide; 2]),
    Phi(PhiId),
    Binary(AstBinaryOp, [WeakSide; 2], Span, (Span, Span)),
    Unary(AstUnaryOp, NodeId, Span),
    Abs(NodeId),
    /// The second operand if it compares so with the first, else the first.
    Extreme(CompareOp, [WeakSide; 2]),
    /// An argument, passed as this f64.
    Received(NodeId),
}

impl Weak {
    pub fn received(wide: NodeId, numbers: &Rc<[Literal]>) -> Weak {
        let values = WeakValues { is_exact: false, ..WeakValues::of_numbers(Rc::clone(numbers)) };
        Weak { origin: Origin::Received(wide), values }
    }
}

/// The possible values of a weak number.
#[derive(Clone)]
pub(crate) struct WeakValues {
    /// All values that it may have.
    pub numbers: Rc<[Literal]>,
    /// All values that it and its operands may have.
    steps: Rc<[Literal]>,
    /// Its default type represents all of them exactly.
    is_exact: bool,
    /// The number of operations that compute it.
    n_operations: u32,
}

impl WeakValues {
    pub fn of_numbers(numbers: Rc<[Literal]>) -> WeakValues {
        WeakValues { steps: Rc::clone(&numbers), numbers, is_exact: true, n_operations: 0 }
    }

    /// The values of a number that is one of these, with default type `own`.
    pub fn any_of(sides: &[WeakValues], own: Scalar) -> WeakValues {
        let numbers = distinct(sides.iter().flat_map(|side| side.numbers.iter()));
        WeakValues {
            steps: distinct(sides.iter().flat_map(|side| side.steps.iter())),
            is_exact: sides.iter().all(|side| side.is_exact) && are_exact(&numbers, own),
            n_operations: sides.iter().map(|side| side.n_operations).sum(),
            numbers,
        }
    }

    /// The values of an operation on these. `None` if one overflows `own`, or if there are too many operations.
    fn computed(sides: &[WeakValues], numbers: &[Literal], own: Scalar) -> Option<WeakValues> {
        let n_operations = sides.iter().map(|side| side.n_operations).sum::<u32>() + 1;
        let fits_own = |number: &Literal| own.is_float() || number.fit(own).is_some();
        if n_operations > MAX_OPERATIONS || !numbers.iter().all(fits_own) {
            return None;
        }
        Some(WeakValues {
            steps: distinct(sides.iter().flat_map(|side| side.steps.iter()).chain(numbers)),
            is_exact: sides.iter().all(|side| side.is_exact) && are_exact(numbers, own),
            n_operations,
            numbers: distinct(numbers),
        })
    }

    /// Whether converting it to a type that it fits gives the same value as a literal of that type.
    pub fn converts(&self) -> bool {
        !self.has_floats() || self.is_exact
    }

    /// Whether all its values fit. Ints are converted. Floats are computed again from their operands.
    pub fn fit(&self, scalar: Scalar) -> bool {
        let all = if self.has_floats() { &self.steps } else { &self.numbers };
        all.iter().all(|number| number.fit(scalar).is_some())
    }

    fn has_floats(&self) -> bool {
        self.numbers.iter().any(|number| matches!(number, Literal::Float(_)))
    }
}

impl Ctx<'_> {
    /// A weak number as an operand beside a value with a type of its own, in the type that a literal would
    /// adopt. `None` if it keeps its default type.
    pub fn beside(&mut self, operand: &Operand, other: &Operand, span: Span) -> Option<Operand> {
        let values = self.values_of_node(operand)?;
        if self.weak_side(other).is_some() {
            return None;
        }
        let scalar = self.value_type(other)?.scalar()?;
        let scalar = if values.has_floats() && scalar.is_int() { scalar.as_float() } else { scalar };
        self.adopted_as(operand, scalar, span).map(Operand::Node)
    }

    /// A weak number as `scalar`. `None` for any other operand, if a value does not fit, or if a plain
    /// conversion gives the same.
    pub fn adopted_as(&mut self, operand: &Operand, scalar: Scalar, span: Span) -> Option<NodeId> {
        let values = self.values_of_node(operand)?;
        let Operand::Node(node) = *operand else { return None };
        let own = self.ty(node).scalar()?;
        let converts = own.widens_to(scalar) && (own.is_int() || values.is_exact)
            || own.is_int() && matches!(scalar, Scalar::F32 | Scalar::F64);
        if own == scalar || converts || !values.fit(scalar) {
            return None;
        }
        Some(match values.converts() {
            true => self.coerce(node, scalar, span),
            false => {
                self.remark_weak_computed_in(scalar, span);
                self.recomputed_as(node, scalar, span)
            }
        })
    }

    /// A float computed again in another type, since converting it would round twice.
    fn recomputed_as(&mut self, node: NodeId, scalar: Scalar, span: Span) -> NodeId {
        let kind = match (self.f.func.node(node).kind.clone(), self.f.weak.get(&node).map(|weak| weak.origin))
        {
            (NodeKind::Select { condition, .. }, Some(Origin::Choice(sides))) => {
                let [then, orelse] = sides.map(|side| self.side_as(side, scalar, span));
                NodeKind::Select { condition, then, orelse }
            }
            (_, Some(Origin::Received(wide))) => return self.convert(wide, scalar, span),
            (_, Some(Origin::Phi(phi))) => NodeKind::Load(self.typed_local(phi, scalar)),
            (_, Some(Origin::Binary(op, sides, op_span, spans))) => {
                let [left, right] = [(sides[0], spans.0), (sides[1], spans.1)].map(|(side, at)| match side {
                    WeakSide::Literal(literal) => Operand::Literal(literal),
                    side => Operand::Node(self.side_as(side, scalar, at)),
                });
                let again = self.binary(op, &left, &right, op_span, spans);
                return self.materialize(&again, span).unwrap_or(node);
            }
            (_, Some(Origin::Unary(op, side, at))) => {
                let side = Operand::Node(self.side_as(WeakSide::Node(side), scalar, span));
                let again = self.unary(op, &side, at, at);
                return self.materialize(&again, span).unwrap_or(node);
            }
            (_, Some(Origin::Abs(of))) => NodeKind::Abs(self.side_as(WeakSide::Node(of), scalar, span)),
            (_, Some(Origin::Extreme(op, sides))) => {
                let [first, second] = sides.map(|side| self.side_as(side, scalar, span));
                let condition = self.node(NodeKind::Compare(op, second, first), Type::BOOL, span);
                NodeKind::Select { condition, then: second, orelse: first }
            }
            (NodeKind::LoadElement { local, path }, None) => {
                NodeKind::LoadElement { local: self.table_in(local, scalar), path }
            }
            _ => return node,
        };
        let facts = self.facts(node);
        let taken = self.node(kind, scalar, span);
        self.set_facts(taken, facts);
        taken
    }

    /// A weak operand that fits `scalar` as a node of that type, computed here.
    pub fn side_as(&mut self, side: WeakSide, scalar: Scalar, span: Span) -> NodeId {
        let node = match side {
            WeakSide::Literal(literal) => {
                return self.constant(literal.fit(scalar).expect("all of them fit"), span);
            }
            WeakSide::Node(node) => node,
            WeakSide::Phi(phi) => self.load_phi(phi, span),
            WeakSide::Call(call) => return self.given_as(call, scalar, span),
        };
        match self.adopted_as(&Operand::Node(node), scalar, span) {
            Some(taken) => taken,
            None => self.convert(node, scalar, span),
        }
    }

    /// The default type of a weak operand.
    pub fn own_scalar(&self, side: WeakSide) -> Scalar {
        let ty = match side {
            WeakSide::Literal(literal) => {
                return scalar_of_large(std::iter::once(literal)).unwrap_or(literal.default_scalar());
            }
            WeakSide::Node(node) => self.ty(node),
            WeakSide::Call(call) => {
                return scalar_alone(std::slice::from_ref(&self.call_of(call).values));
            }
            WeakSide::Phi(phi) => &self.f.func.local(self.phi_local(phi)).ty,
        };
        ty.scalar().expect("weak numbers are scalars")
    }

    /// The common default type of weak operands.
    pub fn weak_type(&self, sides: &[WeakSide]) -> Type {
        let values: Vec<WeakValues> = sides.iter().map(|side| self.weak_values(*side)).collect();
        scalar_alone(&values).into()
    }

    /// Whether all values of a weak operand fit a type.
    pub fn fits(&self, side: WeakSide, ty: &Type) -> bool {
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
            Binding::Stored { weak, .. } => weak.map(WeakSide::Phi),
            _ => None,
        }
    }

    fn is_weak(&self, node: NodeId) -> bool {
        self.f.weak.contains_key(&node) || self.weak_element(node).is_some()
    }

    /// The numbers of the list of which a node is an element.
    fn weak_element(&self, node: NodeId) -> Option<&Rc<[Literal]>> {
        match &self.f.func.node(node).kind {
            NodeKind::LoadElement { local, .. } if matches!(self.ty(node), Type::Scalar(_)) => {
                self.f.weak_tables.get(local)?.numbers()
            }
            _ => None,
        }
    }

    pub fn weak_values(&self, side: WeakSide) -> WeakValues {
        match side {
            WeakSide::Literal(literal) => WeakValues::of_numbers(Rc::new([literal])),
            WeakSide::Phi(phi) => self.phi_values(phi).clone(),
            WeakSide::Call(call) => self.call_of(call).values.clone(),
            WeakSide::Node(node) => match self.f.weak.get(&node) {
                Some(weak) => weak.values.clone(),
                None => {
                    let numbers = self.weak_element(node).expect("sides are weak");
                    let own = self.ty(node).scalar().expect("checked by `weak_element`");
                    WeakValues {
                        is_exact: are_exact(numbers, own),
                        ..WeakValues::of_numbers(Rc::clone(numbers))
                    }
                }
            },
        }
    }

    /// The values of a weak number that is not a literal.
    fn values_of_node(&self, operand: &Operand) -> Option<WeakValues> {
        match self.weak_side(operand)? {
            WeakSide::Literal(_) => None,
            side => Some(self.weak_values(side)),
        }
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

    /// Records a conditional expression of these two, if both are weak.
    pub fn note_choice(&mut self, choice: NodeId, sides: [&Operand; 2]) {
        if let [Some(then), Some(orelse)] = sides.map(|side| self.weak_side(side)) {
            let sides = [then, orelse];
            let own = self.own_scalar(WeakSide::Node(choice));
            let values = WeakValues::any_of(&sides.map(|side| self.weak_values(side)), own);
            self.f.weak.insert(choice, Weak { origin: Origin::Choice(sides), values });
        }
    }

    /// Records the result of a function.
    pub fn note_given(&mut self, given: NodeId, values: WeakValues) {
        self.f.weak.insert(given, Weak { origin: Origin::External, values });
    }

    /// Records an argument that is one of these numbers, and is converted where it adopts a type.
    pub fn note_given_numbers(&mut self, given: NodeId, numbers: &Rc<[Literal]>) {
        let Some(own) = self.ty(given).scalar() else { return };
        let is_exact = are_exact(numbers, own);
        self.note_given(given, WeakValues { is_exact, ..WeakValues::of_numbers(Rc::clone(numbers)) });
    }

    /// Records that a node loads the local of a phi.
    pub fn note_phi(&mut self, loaded: NodeId, phi: PhiId) {
        let values = self.phi_values(phi).clone();
        self.f.weak.insert(loaded, Weak { origin: Origin::Phi(phi), values });
    }

    /// Records arithmetic of two weak numbers.
    pub fn note_binary(&mut self, result: &Operand, op: AstBinaryOp, sides: Sides) {
        let Operand::Node(node) = *result else { return };
        let [Some(left), Some(right)] = [sides.left, sides.right].map(|side| self.weak_side(side)) else {
            return;
        };
        let Some(own) = self.ty(node).scalar().filter(|_| !self.is_weak(node)) else { return };
        let [a, b] = [left, right].map(|side| self.weak_values(side));
        if a.numbers.len().saturating_mul(b.numbers.len()) > MAX_PAIRS {
            return;
        }
        let numbers: Option<Vec<Literal>> = pairs(&a, &b).map(|(a, b)| folded(op, a, b)).collect();
        if let Some(values) = numbers.and_then(|numbers| WeakValues::computed(&[a, b], &numbers, own)) {
            let origin = Origin::Binary(op, [left, right], sides.op_span, sides.spans);
            self.f.weak.insert(node, Weak { origin, values });
        }
    }

    /// Records the minimum or maximum of two weak numbers.
    pub fn note_extreme(&mut self, result: NodeId, op: CompareOp, sides: [WeakSide; 2]) {
        let [a, b] = sides.map(|side| self.weak_values(side));
        let Some(own) = self.ty(result).scalar() else { return };
        if a.numbers.len().saturating_mul(b.numbers.len()) > MAX_PAIRS {
            return;
        }
        let numbers: Vec<Literal> = pairs(&a, &b)
            .map(|(a, b)| {
                let selected = if compare_literals(op, b, a) { b } else { a };
                if own.is_float() { Literal::Float(selected.to_f64()) } else { selected }
            })
            .collect();
        if let Some(values) = WeakValues::computed(&[a, b], &numbers, own) {
            self.f.weak.insert(result, Weak { origin: Origin::Extreme(op, sides), values });
        }
    }

    /// Records the absolute value of a weak number.
    pub fn note_abs(&mut self, result: NodeId, of: NodeId) {
        let Some(own) = self.ty(result).scalar().filter(|_| self.is_weak(of)) else { return };
        let values = self.weak_values(WeakSide::Node(of));
        let abs = |number: &Literal| match number {
            Literal::Int(value) => Literal::Int(value.abs()),
            Literal::Float(value) => Literal::Float(value.abs()),
        };
        let numbers: Vec<Literal> = values.numbers.iter().map(abs).collect();
        if let Some(values) = WeakValues::computed(&[values], &numbers, own) {
            self.f.weak.insert(result, Weak { origin: Origin::Abs(of), values });
        }
    }

    /// The first possible value of a weak int that an int type does not hold.
    pub fn unfit_int(&self, operand: &Operand, ty: &Type) -> Option<(Literal, Scalar)> {
        let values = self.values_of_node(operand)?;
        let Type::Scalar(scalar) = *ty else { return None };
        let beyond = values.numbers.iter().find(|number| number.fit(scalar).is_none())?;
        (scalar.is_int() && !values.has_floats()).then_some((*beyond, scalar))
    }

    /// Records the negation or the bitwise inverse of a weak number.
    pub fn note_unary(&mut self, result: &Operand, op: AstUnaryOp, of: NodeId, span: Span) {
        let (Operand::Node(node), true) = (result, self.is_weak(of)) else { return };
        let Some(own) = self.ty(*node).scalar().filter(|_| !self.is_weak(*node)) else { return };
        let values = self.weak_values(WeakSide::Node(of));
        let numbers: Option<Vec<Literal>> =
            values.numbers.iter().map(|number| folded_unary(op, *number)).collect();
        if let Some(values) = numbers.and_then(|numbers| WeakValues::computed(&[values], &numbers, own)) {
            self.f.weak.insert(*node, Weak { origin: Origin::Unary(op, of, span), values });
        }
    }
}

/// The common default type of numbers.
pub(super) fn scalar_alone(values: &[WeakValues]) -> Scalar {
    let own = if values.iter().any(WeakValues::has_floats) { Scalar::F32 } else { Scalar::I32 };
    scalar_of_large(values.iter().flat_map(|values| values.numbers.iter().copied())).unwrap_or(own)
}

/// All pairs of values that two numbers may have.
fn pairs<'v>(a: &'v WeakValues, b: &'v WeakValues) -> impl Iterator<Item = (Literal, Literal)> + 'v {
    a.numbers.iter().flat_map(|a| b.numbers.iter().map(|b| (*a, *b)))
}

/// The numbers without duplicates.
fn distinct<'n>(numbers: impl IntoIterator<Item = &'n Literal>) -> Rc<[Literal]> {
    let mut distinct = Vec::from_iter(numbers.into_iter().copied());
    let mut seen = FxHashSet::with_capacity_and_hasher(distinct.len(), Default::default());
    distinct.retain(|number| seen.insert(*number));
    distinct.into()
}

/// Whether a type represents these exactly.
fn are_exact(numbers: &[Literal], scalar: Scalar) -> bool {
    let is_exact = |number: &Literal| match number.fit(scalar).map(Constant::as_float) {
        Some(Some(value)) => value == number.to_f64(),
        constant => constant.is_some(),
    };
    numbers.iter().all(is_exact)
}
