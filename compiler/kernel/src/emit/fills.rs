//! Long lists with repeated elements, such as `[0.0] * 1000`, are filled by a loop. Drivers take time quadratic in the
//! number of stores.

use rspirv::spirv::{Op, StorageClass, Word};

use super::function::FunctionEmitter;
use super::module::Operand;
use crate::ir::{Home, LocalId, NodeId, NodeKind};
use crate::types::Type;

/// Shorter lists are stored whole, so that a driver may keep them in registers.
const MIN_LEN: usize = 129;
/// The largest number of elements in a repeated pattern.
const MAX_PERIOD: usize = 16;

impl FunctionEmitter<'_> {
    /// The period of a list that is stored by a loop; `None` for every other value.
    pub fn recurrence(&self, value: NodeId) -> Option<usize> {
        let function = self.function;
        match (&function.node(value).kind, function.ty(value)) {
            // A cooperative matrix has no computed indices.
            (NodeKind::Construct(parts), Type::Array(list))
                if parts.len() >= MIN_LEN && list.element.has_layout() =>
            {
                period(parts)
            }
            _ => None,
        }
    }

    /// Stores a value in a local by a loop, if it is a list that is stored so.
    pub fn try_fill(&mut self, local: LocalId, value: NodeId) -> bool {
        let Some(period) = self.recurrence(value) else { return false };
        let function = self.function;
        let (NodeKind::Construct(parts), Home::Own) =
            (&function.node(value).kind, function.local(local).home)
        else {
            return false;
        };
        let recurring: Vec<Word> = parts[..period].iter().map(|part| self.value(*part)).collect();
        let filled = self.local(local);
        let element = self.module.ty(function.ty(parts[0]));
        let stride = self.int(&Type::I32, period as i128);
        self.count((parts.len() / period) as u32, |emitter, round| {
            let first = emitter.ids(Op::IMul, &Type::I32, &[round, stride]);
            for (at, part) in recurring.iter().enumerate() {
                let at = emitter.int(&Type::I32, at as i128);
                let index = emitter.ids(Op::IAdd, &Type::I32, &[first, at]);
                let place = emitter.pointer_to(StorageClass::Function, element, &[filled, index]);
                emitter.effect(Op::Store, &[Operand::IdRef(place), Operand::IdRef(*part)]);
            }
        });
        true
    }
}

/// After how many elements they recur, to the end.
fn period(parts: &[NodeId]) -> Option<usize> {
    let recurs = |period: usize| parts.iter().zip(&parts[period..]).all(|(part, later)| part == later);
    (1..=MAX_PERIOD.min(parts.len() / 2)).find(|&period| parts.len().is_multiple_of(period) && recurs(period))
}
