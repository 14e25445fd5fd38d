//! Check instructions for a device that checks kernels ([`Target::checks`](crate::Target::checks)).
//!
//! `passes/instrument/checks.rs` decides what is checked. Here are the numbers of the instructions. They are a non-semantic
//! instruction set, which other devices ignore.
//!
//! | instruction | operands |
//! |---|---|
//! | index | the variable, or a string with the name of a member; 0 for a read, 1 for a write, 2 for both; index and length of each axis |
//! | division | the dividend, the divisor |
//! | shift | the shifted value, the amount |
//! | conversion | the float, the int that results, the precision of the float's type in bits |
//! | uniform | a value that should be uniform |
//! | arithmetic | 0 sum, 1 difference, 2 product, 5 quotient; the two ints. 3 negation, 4 magnitude; 0 and the int |
//! | non-finite | the float, and its operands |
//!
//! ORDER: the device reads these numbers (`checks` in `interface.rs` of the device crate).

use rspirv::spirv::{Op, Word};

use super::function::FunctionEmitter;
use super::module::Operand;
use crate::ir::{Arithmetic, CheckKind, Indexed, Operation, Touch};
use crate::types::Type;

const INDEX: u32 = 1;

impl FunctionEmitter<'_> {
    /// Whether the device tests the indices of this function by itself, since it has check instructions.
    pub fn is_checked(&self) -> bool {
        self.target.checks && self.function.is_of_script()
    }

    pub fn check(&mut self, check: &CheckKind) {
        let (number, operands) = match check {
            CheckKind::Index { of, touch, axes } => {
                let mut operands = match of {
                    Indexed::Buffer(buffer) => vec![self.buffer_base(*buffer)],
                    Indexed::Named(name) => vec![self.module.check_name(name)],
                };
                operands.push(self.int(&Type::U32, touch_number(*touch)));
                for (index, len) in axes {
                    operands.push(self.value(*index));
                    operands.push(match (len, of) {
                        (Some(len), _) => self.value(*len),
                        (None, Indexed::Buffer(buffer)) => self.buffer_len(*buffer),
                        (None, Indexed::Named(_)) => unreachable!("verified: an index has a length"),
                    });
                }
                (INDEX, operands)
            }
            CheckKind::Operation(operation, of) => {
                let mut operands = Vec::with_capacity(of.len() + 1);
                if let Operation::Arithmetic(which) = operation {
                    operands.push(self.int(&Type::U32, arithmetic_number(*which)));
                }
                operands.extend(of.iter().map(|node| self.value(*node)));
                (operation_number(*operation), operands)
            }
        };
        let (set, void) = (self.module.checks(), self.module.void());
        let mut all = vec![Operand::IdRef(set), Operand::LiteralExtInstInteger(number)];
        all.extend(operands.into_iter().map(Operand::IdRef));
        self.op(Op::ExtInst, void, &all);
    }
}

fn operation_number(operation: Operation) -> Word {
    match operation {
        Operation::Division => 2,
        Operation::Shift => 3,
        Operation::Conversion => 4,
        Operation::Uniform => 5,
        Operation::Arithmetic(_) => 6,
        Operation::NonFinite => 7,
    }
}

fn arithmetic_number(of: Arithmetic) -> i128 {
    match of {
        Arithmetic::Sum => 0,
        Arithmetic::Difference => 1,
        Arithmetic::Product => 2,
        Arithmetic::Negation => 3,
        Arithmetic::Magnitude => 4,
        Arithmetic::Quotient => 5,
    }
}

fn touch_number(touch: Touch) -> i128 {
    match touch {
        Touch::Read => 0,
        Touch::Write => 1,
        Touch::Both => 2,
    }
}
