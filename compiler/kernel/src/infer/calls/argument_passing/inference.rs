//! Arguments in calls, and in the function that is called.

use std::rc::Rc;

use kps_syntax::Span;
use kps_syntax::ast::Name;

use super::{ListArg, OutgoingArgs, Passed};
use crate::infer::Ctx;
use crate::infer::expressions::operand::{Operand, Row, Static};
use crate::infer::expressions::weak_types::WeakValues;
use crate::ir::{Arg, CallArg, Place, Root, Stmt};

impl Ctx<'_> {
    /// An operand as the callee sees it. It was made passable.
    pub fn passed(&self, operand: &Operand) -> Passed {
        let all = |operands: &[Operand]| operands.iter().map(|operand| self.passed(operand)).collect();
        match operand {
            Operand::Node(node) => {
                if let Some(constant) = self.f.func.constant(*node) {
                    return Passed::Constant(constant);
                }
                let ty = self.ty(*node).clone();
                match self.values_of_node(operand) {
                    Some(WeakValues { numbers, .. }) => Passed::Weak { ty, numbers },
                    None => Passed::Value(ty),
                }
            }
            Operand::Row(row) => {
                let array_set = self.selection_of(row.buffer).map(|(array_set, _)| array_set);
                Passed::Row(
                    row.clone(),
                    array_set,
                    row.indices.iter().map(|node| self.ty(*node).clone()).collect(),
                )
            }
            Operand::Buffer(buffer) if self.is_selected(*buffer) => {
                let (array_set, _) = self.selection_of(*buffer).expect("checked above");
                Passed::Selected(array_set)
            }
            Operand::Place(place) => match self.access_path(place) {
                Some(part) => Passed::Memory(part),
                None => Passed::Array(place.ty.clone()),
            },
            Operand::Tuple(items) => Passed::Tuple(all(items)),
            Operand::Static(Static::Closure(closure)) => Passed::Closure {
                closure: Rc::clone(closure),
                values: all(closure.values.as_ref().expect("a closure that is passed was made passable")),
                defaults: closure
                    .defaults
                    .iter()
                    .map(|default| Some(self.passed(default.as_ref()?)))
                    .collect(),
            },
            operand => Passed::Static(operand.clone()),
        }
    }

    /// Adds the run-time arguments of an operand, in order. Parts of lists are passed in locals, and copied
    /// back if the function writes to them. `writes` says so of each reference.
    pub fn push_args(&mut self, operand: &Operand, writes: &[bool], at: Span, outgoing: &mut OutgoingArgs) {
        let args = &mut outgoing.args;
        match operand {
            Operand::Node(node) if self.f.func.constant(*node).is_none() => {
                args.push(CallArg::Value(*node));
            }
            Operand::Place(place) if self.access_path(place).is_some() => self.pass_indices(place, args),
            Operand::Place(place) => {
                let n_references = args.iter().filter(|arg| matches!(arg, CallArg::Reference(_))).count();
                let is_written = writes.get(n_references).copied().unwrap_or(true);
                outgoing.lists.push(ListArg { place: place.clone(), is_written, at });
                let local = match place.root {
                    Root::Local(local) if place.path.is_empty() => local,
                    _ => {
                        let local = self.new_local("kps.part", place.ty.clone(), at);
                        let value = self.load_whole(place, at);
                        self.f.block.push(Stmt::Store { local, value, span: at });
                        if is_written {
                            outgoing.copies.push((place.clone(), local));
                        }
                        local
                    }
                };
                outgoing.args.push(CallArg::Reference(local));
            }
            Operand::Buffer(buffer) => {
                args.extend(self.selection_of(*buffer).map(|(_, selector)| CallArg::Value(selector)));
            }
            Operand::Row(row) => {
                args.extend(self.selection_of(row.buffer).map(|(_, selector)| CallArg::Value(selector)));
                args.extend(row.indices.iter().copied().map(CallArg::Value));
            }
            Operand::Tuple(items) => {
                items.iter().for_each(|item| self.push_args(item, writes, at, outgoing));
            }
            Operand::Static(Static::Closure(closure)) => {
                let values = closure.values.clone().expect("a closure that is passed was made passable");
                let defaults = Rc::clone(&closure.defaults);
                let parts = values.iter().chain(defaults.iter().flatten());
                parts.for_each(|part| self.push_args(part, writes, at, outgoing));
            }
            _ => {}
        }
    }

    /// The parameter in the callee, with new arguments for what is passed at run time.
    pub fn received(&mut self, passed: &Passed, name: &Name, span: Span) -> Operand {
        match passed {
            Passed::Constant(constant) => Operand::Node(self.constant(*constant, span)),
            Passed::Value(ty) => Operand::Node(self.value_arg(name, ty, span)),
            Passed::Weak { ty, numbers } => {
                let node = self.value_arg(name, ty, span);
                self.note_weak_arg(node, numbers);
                Operand::Node(node)
            }
            Passed::Array(ty) => {
                let local = self.reference(name, ty.clone(), span);
                self.f.func.args.push(Arg::Reference(local));
                Operand::Place(Place::local(local, ty.clone()))
            }
            Passed::Selected(array_set) => Operand::Buffer(self.received_array(*array_set, name, span)),
            Passed::Row(row, array_set, types) => {
                let buffer =
                    array_set.map_or(row.buffer, |array_set| self.received_array(array_set, name, span));
                let mut types = types.iter();
                let mut number = || {
                    let ty = types.next().expect("a type for each index");
                    self.value_arg(name, ty, span)
                };
                Operand::Row(Row { buffer, ..row.with_indices(&mut number) })
            }
            Passed::Memory(part) => Operand::Place(self.bind_access_path(part, name, span)),
            Passed::Tuple(items) => {
                Operand::Tuple(items.iter().map(|item| self.received(item, name, span)).collect())
            }
            Passed::Closure { closure, values, defaults } => {
                let values = values.iter().map(|value| self.received(value, name, span)).collect();
                let defaults = defaults
                    .iter()
                    .map(|default| Some(self.received(default.as_ref()?, name, span)))
                    .collect();
                Operand::Static(Static::Closure(Rc::new(closure.with_values(values, defaults))))
            }
            Passed::Static(operand) => operand.clone(),
        }
    }
}
