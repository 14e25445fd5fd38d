//! Operations that lower to many nodes, such as functions and powers, recorded as the one operation of the
//! script.
//!
//! A device that searches for the first NaN reports the inputs of that operation. Only binaries for such a
//! device contain them.

use kps_syntax::Span;

use super::Ctx;
use super::operand::Operand;
use crate::constant::Constant;
use crate::ir::NodeId;
use crate::types::Scalar;

impl Ctx<'_> {
    /// Lowers an operation on `inputs`. Each node that `make` adds is a step of the operation, or its result.
    pub fn as_one_operation(
        &mut self,
        inputs: &[NodeId],
        make: impl FnOnce(&mut Self) -> Operand,
    ) -> Operand {
        let first = self.f.func.nodes.len();
        let made = make(self);
        let func = &mut self.f.func;
        func.origins.extend((first..func.nodes.len()).map(|step| (NodeId(step as u32), Vec::new())));
        if let Operand::Node(result) = made
            && result.idx() >= first
        {
            func.origins.insert(result, inputs.to_vec());
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
