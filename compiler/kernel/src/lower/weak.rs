//! Numbers without a type of their own, of which only the run knows which it is: elements of captured lists, and
//! choices between literals. As a literal does, each takes the type that it meets, if all that it may be fit that.
//!
//! It is a node of the type that it has alone until then, and a second node in the type that it takes.

use kps_syntax::Span;

use super::Ctx;
use super::operand::Operand;
use crate::constant::{Constant, Literal};
use crate::ir::{NodeId, NodeKind};
use crate::types::{Scalar, Type};

/// A side of a choice between literals: one, or another choice.
#[derive(Clone, Copy)]
pub(super) enum WeakSide {
    Literal(Literal),
    Node(NodeId),
}

impl Ctx<'_> {
    /// A weak number beside something that has a type of its own, in the type that a literal would take there; `None`
    /// where it keeps its own.
    pub fn beside(&mut self, operand: &Operand, other: &Operand, span: Span) -> Option<Operand> {
        let numbers = self.weak_numbers(operand)?;
        if matches!(other, Operand::Literal(_)) || self.weak_numbers(other).is_some() {
            return None;
        }
        let scalar = self.value_type(other)?.scalar()?;
        let has_floats = numbers.iter().any(|number| matches!(number, Literal::Float(_)));
        let scalar = if has_floats && scalar.is_int() { scalar.as_float() } else { scalar };
        self.taken_as(operand, scalar, span).map(Operand::Node)
    }

    /// A weak number as `scalar`; `None` for any other operand, where not all that it may be fit, and where
    /// converting it gives the same.
    pub fn taken_as(&mut self, operand: &Operand, scalar: Scalar, span: Span) -> Option<NodeId> {
        let numbers = self.weak_numbers(operand)?;
        let Operand::Node(node) = *operand else { return None };
        let own = self.ty(node).scalar()?;
        let is_same = |number: &Literal| {
            let [a, b] = [own, scalar].map(|scalar| number.fit(scalar).and_then(Constant::as_float));
            a == b
        };
        let converts = own.widens_to(scalar) && (own.is_int() || numbers.iter().all(is_same))
            || own.is_int() && matches!(scalar, Scalar::F32 | Scalar::F64);
        if own == scalar || converts || numbers.iter().any(|number| number.fit(scalar).is_none()) {
            return None;
        }
        Some(self.again_as(node, scalar, span))
    }

    fn again_as(&mut self, node: NodeId, scalar: Scalar, span: Span) -> NodeId {
        let kind = match (self.f.func.node(node).kind.clone(), self.f.weak_choices.get(&node).copied()) {
            (NodeKind::LoadElement { local, path }, _) => {
                NodeKind::LoadElement { local: self.table_in(local, scalar), path }
            }
            (NodeKind::Select { condition, .. }, Some(sides)) => {
                let [then, orelse] = sides.map(|side| match side {
                    WeakSide::Node(node) => self.again_as(node, scalar, span),
                    WeakSide::Literal(literal) => {
                        self.constant(literal.fit(scalar).expect("all of them fit"), span)
                    }
                });
                NodeKind::Select { condition, then, orelse }
            }
            _ => return node,
        };
        let facts = self.facts(node);
        let taken = self.node(kind, scalar, span);
        self.set_facts(taken, facts);
        taken
    }

    /// All that a weak number may be.
    fn weak_numbers(&self, operand: &Operand) -> Option<Vec<Literal>> {
        let Operand::Node(node) = *operand else { return None };
        if let NodeKind::LoadElement { local, .. } = &self.f.func.node(node).kind {
            let is_number = matches!(self.ty(node), Type::Scalar(_));
            return self.f.weak_tables.get(local).filter(|_| is_number).map(|table| table.numbers().to_vec());
        }
        let mut numbers = Vec::new();
        for side in self.f.weak_choices.get(&node)? {
            match side {
                WeakSide::Literal(literal) => numbers.push(*literal),
                WeakSide::Node(node) => numbers.extend(self.weak_numbers(&Operand::Node(*node))?),
            }
        }
        Some(numbers)
    }

    /// Remembers a choice between these two, if both are weak.
    pub fn note_choice(&mut self, choice: NodeId, sides: [&Operand; 2]) {
        let [then, orelse] = sides.map(|side| match side {
            Operand::Literal(literal) => Some(WeakSide::Literal(*literal)),
            Operand::Node(node) => self.f.weak_choices.contains_key(node).then_some(WeakSide::Node(*node)),
            _ => None,
        });
        if let (Some(then), Some(orelse)) = (then, orelse) {
            self.f.weak_choices.insert(choice, [then, orelse]);
        }
    }
}
