//! Operations that take many nodes, such as functions and powers, recorded as the one operation of the
//! script.
//!
//! A device that searches for the first NaN reports the inputs of that operation.

use kps_syntax::Span;

use super::Ctx;
use super::operand::Operand;
use crate::constant::Constant;
use crate::ir::{NodeId, Origin};
use crate::types::Scalar;

impl Ctx<'_> {
    /// Builds an operation on `inputs`. Each node that `make` adds is a step of the operation, or its result.
    pub fn as_one_operation(
        &mut self,
        inputs: &[NodeId],
        make: impl FnOnce(&mut Self) -> Operand,
    ) -> Operand {
        let first = self.f.func.nodes.len();
        let made = make(self);
        let result = match made {
            Operand::Node(result) => result.idx(),
            _ => usize::MAX,
        };
        for (at, node) in self.f.func.nodes.iter_mut().enumerate().skip(first) {
            if node.origin != Origin::Compiler {
                node.origin = if at == result { Origin::Result(inputs.into()) } else { Origin::Step };
            }
        }
        made
    }

    /// The operands that are numbers.
    pub fn operation_inputs<'o>(
        &mut self,
        operands: impl IntoIterator<Item = &'o Operand>,
        span: Span,
    ) -> Vec<NodeId> {
        let number = |operand: &Operand| match operand {
            Operand::Node(node) => Some(*node),
            Operand::Literal(literal) => {
                Some(self.constant(Constant::float(Scalar::F32, literal.to_f64()), span))
            }
            _ => None,
        };
        operands.into_iter().filter_map(number).collect()
    }
}
