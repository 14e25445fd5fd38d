//! Vertex and fragment functions: their inputs and outputs, `discard`, and what only kernels have.
//!
//! An output is a variable of its declared type. What it holds where the function ends goes to the stage
//! behind, so every way there must have assigned it.

use kps_syntax::Span;

use super::Ctx;
use super::operand::{Operand, Static};
use super::vars::{Binding, Var};
use crate::errors;
use crate::ir::{self, NodeKind, PortId, Stmt};
use crate::stages::{Direction, Port, Stage};
use crate::template::Param;

/// A parameter that the function assigns.
#[derive(Clone, Copy)]
pub(crate) struct Output {
    var: Var,
    port: PortId,
}

impl Ctx<'_> {
    /// The value of an input; an output is unset until it is assigned.
    pub fn bind_port(&mut self, param: &Param, port: &Port) -> Option<Operand> {
        let id = PortId(self.ports.len() as u32);
        let (name, span) = (param.name.name.clone(), param.name.span);
        self.ports.push(ir::Port { name: name.clone(), port: port.clone(), span });
        match port.direction {
            Direction::Input => {
                let node = self.node(NodeKind::Port(id), port.ty.clone(), span);
                Some(self.value(node, span))
            }
            Direction::Output => {
                let var = self.f.scope.get(&name)?;
                self.outputs.push(Output { var, port: id });
                None
            }
        }
    }

    /// The output that this variable of the function being lowered is.
    fn output_of(&self, var: Var) -> Option<PortId> {
        let outputs = self.outputs.iter().filter(|_| self.f.is_kernel);
        outputs.into_iter().find(|output| output.var == var).map(|output| output.port)
    }

    pub fn is_output(&self, var: Var) -> bool {
        self.output_of(var).is_some()
    }

    /// What is assigned to an output has its type; any other variable takes what it is given.
    pub fn as_output(&mut self, var: Var, operand: Operand, span: Span) -> Operand {
        let Some(port) = self.output_of(var) else { return operand };
        let ir::Port { name, port, .. } = &self.ports[port.idx()];
        let (name, ty) = (name.clone(), port.ty.clone());
        match self.converted(&operand, &ty, span) {
            Some(value) => value,
            None if operand.has_error() => Operand::Error,
            None => {
                let found = self.describe(&operand);
                self.fail(errors::output_type(self.at(span), &name, &ty, &found))
            }
        }
    }

    /// The function ends here, at a `return` or behind its last line, and the outputs go on.
    pub fn store_outputs(&mut self, returned: Option<Span>) {
        let span = returned.unwrap_or(self.template.def.span);
        for Output { var, port } in self.outputs.clone() {
            let ir::Port { name, port: declared, span: at } = &self.ports[port.idx()];
            let (name, ty, declared_at) = (name.clone(), declared.ty.clone(), self.at(*at));
            let error = match &self.f.vars[var as usize] {
                Binding::Unset => match returned {
                    Some(at) => errors::output_unwritten_at(self.at(at), &name, &ty, declared_at),
                    None => errors::output_never_written(declared_at, &name, &ty),
                },
                Binding::Maybe { assigned, missing, .. } => errors::output_maybe_unwritten(
                    declared_at,
                    &name,
                    self.at(*assigned),
                    self.at(missing.span),
                    missing.text,
                ),
                _ => {
                    let value = match self.read_var(var, span) {
                        Operand::Node(node) => node,
                        Operand::Place(place) => self.load_whole(&place, span),
                        _ => continue,
                    };
                    self.f.block.push(Stmt::PortStore { port, value, span });
                    continue;
                }
            };
            self.error(error);
            self.set(var, Binding::Error);
        }
    }

    /// `discard()`: the fragment leaves no trace, and nothing after this runs.
    pub fn discard(&mut self, span: Span) -> Operand {
        let stage = self.template.stage;
        if stage != Stage::Fragment {
            return self.fail(errors::discard_outside_fragment(self.at(span), stage));
        }
        if self.f.alone != Some(span) {
            return self.fail(errors::discard_in_expression(self.at(span)));
        }
        self.f.block.push(Stmt::Discard(span));
        self.f.live = false;
        Operand::Static(Static::None)
    }

    /// Whether this is a kernel; in other stages it is a mistake to use what belongs to kernels.
    pub fn belongs_to_compute(&mut self, what: &str, span: Span) -> bool {
        let stage = self.template.stage;
        if stage != Stage::Compute {
            self.error(errors::compute_only(self.at(span), &format!("`{what}`"), stage));
        }
        stage == Stage::Compute
    }
}
