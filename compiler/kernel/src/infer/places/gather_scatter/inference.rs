//! Loads and stores of components that are not adjacent.

use kps_syntax::Span;

use super::{ScatteredVector, TestedIndex};
use crate::aliases::Writer;
use crate::constant::Constant;
use crate::infer::Ctx;
use crate::infer::control::stmts::Condition;
use crate::infer::expressions::operand::Operand;
use crate::ir::{BinaryOp, Extent, NodeId, NodeKind, Place, Root, Step, part_at};
use crate::types::Type;

impl Ctx<'_> {
    /// A step to a part that exists, and whether it is the requested one if that is not known.
    pub fn tested_step(&mut self, step: Step, len: u32, span: Span) -> (Step, Option<NodeId>) {
        let Step::At(index) = step else { return (step, None) };
        let of = Extent::Parts(len);
        let inside = self.node(NodeKind::IsInside { of, index: index.into() }, Type::BOOL, span);
        let ty = self.ty(index).clone();
        let first = self.constant(Constant::zero(ty.scalar().expect("an index is an int")), span);
        let kind = NodeKind::Select { condition: inside, then: index, orelse: first };
        let there = self.node(kind, ty, span);
        (Step::At(there), Some(inside))
    }

    /// One component.
    pub fn scattered_element(&mut self, of: &ScatteredVector, step: Step, spans: (Span, Span)) -> Operand {
        if let Step::Part(at) = step {
            return of.components(&[at]).into_operand();
        }
        let n = of.places.len() as u32;
        let (there, inside) = self.tested_step(step, n, spans.1);
        let Step::At(index) = there else { return Operand::Error };
        let mut tested = of.tested.clone();
        tested.extend(inside.map(|_| TestedIndex { axes: vec![(step, n)], places: spans }));
        let both = |a, b| self.node(NodeKind::Binary(BinaryOp::And, a, b), Type::BOOL, spans.1);
        let inside = of.inside.into_iter().chain(inside).reduce(both);
        let place = self.select_place(&of.places, index, spans.1);
        ScatteredVector { places: vec![place], inside, tested }.into_operand()
    }

    /// The place at an index. All places differ in at most one constant step.
    fn select_place(&mut self, places: &[Place], index: NodeId, span: Span) -> Place {
        let first = &places[0];
        let differs = |at: &usize| places.iter().any(|place| place.path[*at] != first.path[*at]);
        let Some(at) = (0..first.path.len()).find(differs) else { return first.clone() };
        let numbers: Vec<u32> = places.iter().map(|place| place.path[at].part()).collect();
        let number = self.select_number(&numbers, index, span);
        let mut path = first.path.to_vec();
        path[at] = Step::At(number);
        Place { path: path.into(), ..first.clone() }
    }

    /// `numbers[index]`.
    fn select_number(&mut self, numbers: &[u32], index: NodeId, span: Span) -> NodeId {
        if numbers.iter().zip(0..).all(|(number, at)| *number == at) {
            return index;
        }
        let scalar = self.ty(index).scalar().expect("an index is an int");
        let mut selected = self.constant(Constant::int(scalar, numbers[0].into()), span);
        for (at, number) in numbers.iter().enumerate().skip(1) {
            let number = self.constant(Constant::int(scalar, (*number).into()), span);
            selected = self.where_index(index, at, (number, selected), span);
        }
        selected
    }

    /// The vector in memory of which these are several components, and their numbers.
    pub fn swizzled(&self, of: &ScatteredVector) -> Option<(Place, Vec<u32>)> {
        let first = of.places.first().filter(|_| of.inside.is_none() && of.places.len() > 1)?;
        let (_, path) = first.path.split_last()?;
        let number = |place: &Place| match place.path.split_last()? {
            (Step::Part(at), before) if place.root == first.root && before == path => Some(*at),
            _ => None,
        };
        let components = of.places.iter().map(number).collect::<Option<_>>()?;
        let whole = match &first.root {
            Root::Local(local) => &self.f.func.local(*local).ty,
            Root::Element(buffer, _) => &self.array(*buffer).element,
        };
        let ty = part_at(whole, path);
        ty.is_vector().then(|| (Place { root: first.root.clone(), path: path.into(), ty }, components))
    }

    pub fn gather(&mut self, of: &ScatteredVector, span: Span) -> NodeId {
        let parts: Vec<NodeId> = of.places.iter().map(|place| self.load_whole(place, span)).collect();
        let ty = of.ty();
        let value = match parts[..] {
            [only] => only,
            _ => self.node(NodeKind::Construct(parts), ty.clone(), span),
        };
        let Some(condition) = of.inside else { return value };
        let orelse = self.zero(&ty, span);
        self.node(NodeKind::Select { condition, then: value, orelse }, ty, span)
    }

    pub fn scatter(&mut self, to: &ScatteredVector, operand: &Operand, span: Span, value_span: Span) {
        let Some(value) = self.stored_value(operand, &to.ty(), span, value_span) else { return };
        self.record_written(&to.places[0], span, Writer::Store);
        let inside = match to.inside {
            Some(inside) => {
                self.mark_scattered(inside, value, span);
                Condition::Node(inside)
            }
            None => Condition::Known(true),
        };
        let store = |ctx: &mut Self| ctx.store_components(&to.places, value, span);
        self.branch(&inside, span, store, |_| {});
    }

    fn store_components(&mut self, places: &[Place], value: NodeId, span: Span) {
        for (place, at) in places.iter().zip(0..) {
            let part = match places.len() {
                1 => value,
                _ => self.node(NodeKind::Extract(value, at), place.ty.clone(), span),
            };
            self.store_whole(place, part, span);
            self.mark_place(place, part, span);
        }
    }
}
