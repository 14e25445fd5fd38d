//! Vertex and fragment functions: their inputs and outputs, `discard`, and names that only compute kernels
//! have.

use kps_syntax::Span;

use crate::errors;
use crate::infer::Ctx;
use crate::infer::expressions::operand::{Operand, Static};
use crate::ir::{self, NodeKind, Stmt};
use crate::stages::{Direction, Port, Stage};
use crate::template::Param;

impl Ctx<'_> {
    /// The value of an input. An output is unset until it is assigned.
    pub fn bind_port(&mut self, param: &Param, port: &Port) -> Option<Operand> {
        let (name, span) = (param.name.name.clone(), param.name.span);
        let id = self.interface.add_port(ir::Port { name: name.clone(), port: port.clone(), span });
        match port.direction {
            Direction::Input => {
                let node = self.node(NodeKind::Port(id), port.ty.clone(), span);
                Some(self.value(node, span))
            }
            Direction::Output => {
                self.declare_output(&name, id);
                None
            }
        }
    }

    /// `discard()`: the fragment has no effect, and the invocation ends.
    pub fn discard(&mut self, span: Span) -> Operand {
        let stage = self.template.stage;
        if stage != Stage::Fragment {
            return self.fail(errors::discard_outside_fragment(self.at(span), stage));
        }
        if self.f.expr_stmt != Some(span) {
            return self.fail(errors::discard_in_expression(self.at(span)));
        }
        self.f.block.push(Stmt::End(span));
        self.f.live = false;
        Operand::Static(Static::None)
    }

    /// Whether this is a compute kernel. In other stages it is a mistake to use `what`.
    pub fn belongs_to_compute(&mut self, what: &str, span: Span) -> bool {
        let stage = self.template.stage;
        if stage != Stage::Compute {
            self.error(errors::compute_only(self.at(span), &format!("`{what}`"), stage));
        }
        stage == Stage::Compute
    }
}
