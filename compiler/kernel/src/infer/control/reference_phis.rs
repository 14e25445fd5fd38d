//! Phis of references: a row of an array, an element in memory, a function with defaults.
//!
//! Such a reference is known statically except for some numbers: indices and defaults, computed where the name
//! was assigned. Those may not dominate the join. So each path stores its numbers to locals. After the join,
//! the name is the same reference with the loaded numbers.
//!
//! Never here: paths whose references differ in anything but numbers.

use std::rc::Rc;

use kps_syntax::Span;

use super::joins::same_static;
use crate::infer::Ctx;
use crate::infer::calls::closures::Closure;
use crate::infer::expressions::operand::{Operand, Static};
use crate::infer::places::vars::{Binding, FlowPath, Var, binding_span};
use crate::ir::{ElementIndex, NodeId, NodeKind, Place, Root, Step};

impl Ctx<'_> {
    /// `None` if the paths have different references, or some that cannot be stored.
    pub fn join_references(&mut self, var: Var, bindings: &[Binding], paths: &[FlowPath]) -> Option<Binding> {
        let references: Vec<&Operand> = bindings.iter().map(reference_of).collect::<Option<_>>()?;
        let numbers: Vec<Vec<NodeId>> = references.iter().map(|references| numbers(references)).collect();
        let types = |of: &[NodeId]| of.iter().map(|node| self.ty(*node).clone()).collect::<Vec<_>>();
        let first_types = types(&numbers[0]);
        let is_like_first =
            |at: usize| is_alike(references[0], references[at]) && types(&numbers[at]) == first_types;
        if !(1..references.len()).all(is_like_first) || paths.iter().any(|path| path.carry.is_none()) {
            return None;
        }
        let span = binding_span(&bindings[0]);
        let loaded: Vec<NodeId> =
            (0..numbers[0].len()).map(|at| self.join_number(var, at, &numbers, paths, span)).collect();
        Some(Binding::Bound { operand: with_numbers(references[0], &loaded), span })
    }

    /// One of the numbers, stored on every path and loaded here.
    fn join_number(
        &mut self,
        var: Var,
        at: usize,
        numbers: &[Vec<NodeId>],
        paths: &[FlowPath],
        span: Span,
    ) -> NodeId {
        let ty = self.ty(numbers[0][at]).clone();
        let name = self.var_name(var);
        let local = self.new_local(&name, ty.clone(), span);
        for (numbers, path) in numbers.iter().zip(paths) {
            let carry = path.carry.expect("paths without stores were excluded above");
            self.f.func.carries[carry.idx()].push((local, numbers[at]));
        }
        self.node(NodeKind::Load(local), ty, span)
    }
}

/// Whether no part of the operand is computed.
pub(crate) fn is_fixed(operand: &Operand) -> bool {
    numbers(operand).is_empty()
}

fn reference_of(binding: &Binding) -> Option<&Operand> {
    match binding {
        Binding::Bound { operand, .. } if !matches!(operand, Operand::Node(_)) => Some(operand),
        _ => None,
    }
}

/// Whether two operands differ only in computed numbers.
fn is_alike(a: &Operand, b: &Operand) -> bool {
    let all =
        |a: &[Operand], b: &[Operand]| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_alike(a, b));
    match (a, b) {
        (Operand::Node(_), Operand::Node(_)) => true,
        (Operand::Row(a), Operand::Row(b)) => (a.buffer, a.axis()) == (b.buffer, b.axis()),
        (Operand::Place(a), Operand::Place(b)) => is_alike_place(a, b),
        (Operand::Tuple(a), Operand::Tuple(b)) => all(a, b),
        (Operand::Static(Static::Closure(a)), Operand::Static(Static::Closure(b))) => {
            let parts = |closure: &Closure| -> Vec<Operand> {
                let values = closure.values.iter().flat_map(|values| values.iter());
                values.chain(closure.defaults.iter().flatten()).cloned().collect()
            };
            a.is_same_function(b) && all(&parts(a), &parts(b))
        }
        (a, b) => same_static(a, b),
    }
}

pub(crate) fn is_alike_place(a: &Place, b: &Place) -> bool {
    let roots = match (&a.root, &b.root) {
        (Root::Element(a, _), Root::Element(b, _)) => a == b,
        (a, b) => a == b,
    };
    let is_alike_step = |(a, b): (&Step, &Step)| match (a, b) {
        (Step::Part(a), Step::Part(b)) => a == b,
        (Step::At(_), Step::At(_)) => true,
        _ => false,
    };
    roots && a.path.len() == b.path.len() && a.path.iter().zip(&*b.path).all(is_alike_step)
}

/// The computed numbers of an operand, always in the same order.
fn numbers(operand: &Operand) -> Vec<NodeId> {
    match operand {
        Operand::Node(node) => vec![*node],
        Operand::Row(row) => row.indices.to_vec(),
        Operand::Place(place) => {
            let indices = match &place.root {
                Root::Element(_, index) => index.indices(),
                Root::Local(_) => &[],
            };
            let steps = place.path.iter().filter_map(|step| match step {
                Step::At(index) => Some(*index),
                Step::Part(_) => None,
            });
            indices.iter().copied().chain(steps).collect()
        }
        Operand::Tuple(items) => items.iter().flat_map(numbers).collect(),
        Operand::Static(Static::Closure(closure)) => {
            let values = closure.values.iter().flat_map(|values| values.iter());
            values.chain(closure.defaults.iter().flatten()).flat_map(numbers).collect()
        }
        Operand::Literal(_)
        | Operand::Buffer(_)
        | Operand::Scattered(_)
        | Operand::Static(_)
        | Operand::Error => Vec::new(),
    }
}

/// The operand with its numbers replaced by as many others.
fn with_numbers(operand: &Operand, numbers: &[NodeId]) -> Operand {
    replaced(operand, &mut numbers.iter().copied())
}

fn replaced(operand: &Operand, numbers: &mut dyn Iterator<Item = NodeId>) -> Operand {
    let next = |numbers: &mut dyn Iterator<Item = NodeId>| {
        numbers.next().expect("there is a number for each one removed")
    };
    match operand {
        Operand::Node(_) => Operand::Node(next(numbers)),
        Operand::Row(row) => Operand::Row(row.with_indices(|| next(numbers))),
        Operand::Place(place) => {
            let root = match &place.root {
                Root::Element(buffer, index) => {
                    let indices = index.indices().iter().map(|_| next(numbers));
                    Root::Element(*buffer, ElementIndex::new(indices.collect::<Vec<_>>()))
                }
                root => root.clone(),
            };
            let path = place.path.iter().map(|step| match step {
                Step::At(_) => Step::At(next(numbers)),
                step => *step,
            });
            Operand::Place(Place { root, path: path.collect(), ty: place.ty.clone() })
        }
        Operand::Tuple(items) => Operand::Tuple(items.iter().map(|item| replaced(item, numbers)).collect()),
        Operand::Static(Static::Closure(closure)) => {
            let values = closure.values.as_ref();
            let values = values.map(|values| values.iter().map(|value| replaced(value, numbers)).collect());
            let defaults = closure.defaults.iter();
            let defaults =
                defaults.map(|given| given.as_ref().map(|given| replaced(given, numbers))).collect();
            Operand::Static(Static::Closure(Rc::new(closure.with_parts(values, defaults))))
        }
        other => other.clone(),
    }
}
