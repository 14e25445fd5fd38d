//! Tuples, and arrays and structs that are values: taken apart and put together.
//!
//! The items of a tuple are known one by one. A tuple becomes one value only where that is needed: returned
//! from a function, stored in a list, or joined after a branch.

use std::rc::Rc;

use kps_syntax::Span;
use kps_syntax::ast::{Expr, ExprKind};

use super::operand::Operand;
use crate::errors;
use crate::infer::Ctx;
use crate::ir::{NodeId, NodeKind, Place, Step, Stmt};
use crate::types::Type;

impl Ctx<'_> {
    /// A node as an operand: a tuple is split into items, an array gets a place of its own.
    pub fn value(&mut self, node: NodeId, span: Span) -> Operand {
        match self.ty(node).clone() {
            Type::Tuple(items) => {
                let extract = |(at, ty): (u32, &Type)| {
                    let item = self.node(NodeKind::Extract(node, at), ty.clone(), span);
                    self.value(item, span)
                };
                Operand::Tuple((0..).zip(items.iter()).map(extract).collect())
            }
            ty @ Type::Array(_) => {
                let local = self.new_local("list", ty.clone(), span);
                self.f.block.push(Stmt::Store { local, value: node, span });
                Operand::Place(Place::local(local, ty))
            }
            _ => Operand::Node(node),
        }
    }

    /// The items of an operand that can be unpacked. `None` for any other.
    pub fn items_of(&mut self, operand: &Operand, span: Span) -> Option<Rc<[Operand]>> {
        match operand {
            Operand::Tuple(items) => Some(Rc::clone(items)),
            Operand::Node(node) if self.ty(*node).is_vector() => {
                let n = u32::from(self.ty(*node).n_components());
                Some((0..n).map(|at| self.load_components(*node, &[at], span)).collect())
            }
            Operand::Node(node) => self.rows(*node, span),
            Operand::Place(place) if place.ty.is_matrix() => {
                let matrix = self.load_whole(place, span);
                self.rows(matrix, span)
            }
            Operand::Place(place) => {
                let n = place.ty.n_parts()?;
                Some((0..n).map(|at| self.element_of(place, Step::Part(at), span)).collect())
            }
            _ => None,
        }
    }

    /// The rows of a matrix. `None` for any other value.
    fn rows(&mut self, matrix: NodeId, span: Span) -> Option<Rc<[Operand]>> {
        let Type::Matrix { rows, .. } = *self.ty(matrix) else { return None };
        Some((0..u32::from(rows)).map(|at| Operand::Node(self.row(matrix, &Step::Part(at), span))).collect())
    }

    /// The items of a tuple or list as written. `*t` adds those of `t`.
    pub fn items(&mut self, items: &[Expr]) -> Vec<(Operand, Span)> {
        let mut operands = Vec::with_capacity(items.len());
        for item in items {
            let ExprKind::Starred(inner) = &item.kind else {
                let operand = self.expr(item);
                operands.push((operand, item.span));
                continue;
            };
            let operand = self.expr(inner);
            match self.items_of(&operand, item.span) {
                Some(spread) => operands.extend(spread.iter().map(|operand| (operand.clone(), item.span))),
                None => {
                    if !operand.has_error() {
                        let what = self.describe(&operand);
                        self.error(errors::not_spreadable(self.at(item.span), &what));
                    }
                    operands.push((Operand::Error, item.span));
                }
            }
        }
        operands
    }

    /// `a, b = value`, `first, *rest = value`.
    pub fn unpack(&mut self, targets: &[Expr], operand: &Operand, span: Span, value_span: Span) {
        let poison = |ctx: &mut Self| {
            targets.iter().for_each(|target| ctx.assign_target(unstarred(target), Operand::Error, span));
        };
        let Some(items) = self.items_of(operand, value_span) else {
            if !operand.has_error() {
                let what = self.describe(operand);
                self.error(errors::not_unpackable(self.at(value_span), &what, targets.len()));
            }
            return poison(self);
        };
        let star = targets.iter().position(|target| matches!(target.kind, ExprKind::Starred(_)));
        let n_plain = targets.len() - usize::from(star.is_some());
        let fits = if star.is_some() { items.len() >= n_plain } else { items.len() == n_plain };
        if !fits {
            self.error(errors::unpack_count(self.at(span), targets.len(), items.len()));
            return poison(self);
        }
        let n_rest = items.len() - n_plain;
        // Nothing is loaded again after a star: the items for it are made here.
        let items: Vec<Operand> = match star {
            None => {
                let pairs = targets.iter().zip(items.iter());
                pairs.map(|(target, item)| self.read_before_stores(target, item, value_span)).collect()
            }
            Some(_) => items.to_vec(),
        };
        let mut items = items.iter();
        for (at, target) in targets.iter().enumerate() {
            let item = if star == Some(at) {
                let rest: Vec<(Operand, Span)> =
                    items.by_ref().take(n_rest).map(|item| (item.clone(), value_span)).collect();
                self.rest(&rest, target.span)
            } else {
                items.next().expect("counted above").clone()
            };
            // A target for one item has no source text of its own.
            let target = unstarred(target);
            self.assign_target(target, item, target.span);
        }
    }

    /// The value of a starred target: a list if its items have one type.
    fn rest(&mut self, items: &[(Operand, Span)], span: Span) -> Operand {
        let refs: Vec<(&Operand, Span)> = items.iter().map(|(operand, at)| (operand, *at)).collect();
        match self.join_values(&refs) {
            Some(_) if !items.is_empty() => self.array_of(items, span),
            _ => Operand::Tuple(items.iter().map(|(operand, _)| operand.clone()).collect()),
        }
    }

    /// The common type of operands as values, with literals widened. `None` if there is none.
    pub fn join_values<'p>(&mut self, operands: &[(&'p Operand, Span)]) -> Option<Type> {
        match operands.first()?.0 {
            Operand::Tuple(first) => {
                let n = first.len();
                let tuples = operands.iter().map(|(operand, _)| match operand {
                    Operand::Tuple(items) if items.len() == n => Some(items),
                    _ => None,
                });
                let tuples = tuples.collect::<Option<Vec<_>>>()?;
                let column = |at: usize| -> Vec<(&Operand, Span)> {
                    tuples.iter().zip(operands).map(|(items, (_, span))| (&items[at], *span)).collect()
                };
                let types: Option<Vec<Type>> = (0..n).map(|at| self.join_values(&column(at))).collect();
                types.map(Type::tuple)
            }
            Operand::Place(_) => {
                let place = |(operand, _): &(&'p Operand, Span)| match operand {
                    Operand::Place(place) => Some(place),
                    _ => None,
                };
                self.join_lists(&operands.iter().map(place).collect::<Option<Vec<&Place>>>()?)
            }
            _ => self.join_types(operands, None).map(|(ty, _)| ty),
        }
    }

    /// The items as one value of type `ty`, each converted as in an assignment.
    pub fn pack(&mut self, items: &[Operand], ty: &Type, span: Span) -> Option<NodeId> {
        if !matches!(ty, Type::Tuple(_) | Type::Array(_)) || ty.n_parts() != Some(items.len() as u32) {
            return None;
        }
        let mut parts = Vec::with_capacity(items.len());
        for (item, at) in items.iter().zip(0..) {
            parts.push(self.try_convert(item, &ty.part(at)?, span)?);
        }
        Some(self.node(NodeKind::Construct(parts), ty.clone(), span))
    }
}

fn unstarred(target: &Expr) -> &Expr {
    match &target.kind {
        ExprKind::Starred(inner) => inner,
        _ => target,
    }
}
