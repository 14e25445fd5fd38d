//! The code of the rules by which rows of `builtins` type their calls.
//!
//! In goes a call whose arguments have the kinds of the row's parameters; out comes its value, or an error that depends
//! on several arguments at once.

use kps_syntax::Span;

use super::{BuiltinCall, ROUND, TreeCall};
use crate::builtins::{LibraryRule, NumberRule, TreeRule, ValueRule};
use crate::infer::Ctx;
use crate::infer::calls::Arguments;
use crate::infer::expressions::operand::Operand;
use crate::ir::NodeId;

impl Ctx<'_> {
    pub(in crate::infer) fn number_rule(&mut self, rule: NumberRule, call: &BuiltinCall) -> Option<NodeId> {
        match rule {
            NumberRule::Abs => self.abs(call),
            NumberRule::Bits(function) => self.bits_function(function, call),
            NumberRule::Choose(op) => self.choose(op, call.args, call.name, call.span),
            NumberRule::Clamp => self.clamp(call),
            NumberRule::Geometry(function) => self.geometry(function, call),
            NumberRule::Ldexp => self.ldexp(call),
            NumberRule::OneOrTwo(one, two) => {
                self.floats_call(if call.args.len() == 1 { one } else { two }, call)
            }
            NumberRule::Round => match call.args {
                [_] => self.floats_call(&ROUND, call),
                _ => self.round_digits(call),
            },
            NumberRule::Sign => self.sign(call),
        }
    }

    pub(in crate::infer) fn value_rule(&mut self, rule: ValueRule, call: &BuiltinCall) -> Operand {
        match rule {
            ValueRule::All => self.all(call),
            ValueRule::Any => self.any(call),
            ValueRule::Barrier => self.barrier(call.span),
            ValueRule::Bitcast => self.bitcast_call(call),
            ValueRule::Coop(instruction) => self.coop_instruction(instruction, call.args, call.span),
            ValueRule::CoopFill => self.coop_fill(call),
            ValueRule::CoopLoad => self.coop_load(call),
            ValueRule::CoopMultiplyAdd => self.coop_multiply_add(call),
            ValueRule::CoopStore => self.coop_store(call),
            ValueRule::Discard => self.discard(call.span),
            ValueRule::Divmod => self.divmod(call),
            ValueRule::Dot => self.dot("dot", call.sides()),
            ValueRule::Elect => self.elect(call),
            ValueRule::Enumerate => self.enumerate(call),
            ValueRule::Extreme(op) => self.extreme(op, call),
            ValueRule::Frexp => self.frexp(call),
            ValueRule::Len => self.len(call),
            ValueRule::Missing => unreachable!("every row has a rule"),
            ValueRule::Pow => self.pow(call),
            ValueRule::Range => self.range_call(call),
            ValueRule::Reversed => self.reversed(call),
            ValueRule::SharedArray => self.shared_array(call.args, call.span),
            ValueRule::Shuffle(op) => self.shuffle(op, call),
            ValueRule::SquareMatrix(function) => self.square_call(call, function),
            ValueRule::SubgroupCombine(combine, spread) => self.subgroup_combine(combine, spread, call),
            ValueRule::Sum => self.sum(call),
            ValueRule::TextureRead => self.texture_read(call),
            ValueRule::TextureSample => self.texture_sample(call),
            ValueRule::TextureWrite => self.texture_write(call),
            ValueRule::Transpose => self.transpose_call(call),
            ValueRule::Truncating(op) => self.truncating_call(op, call),
            ValueRule::Uniform => self.uniform(call),
            ValueRule::Unroll => self.unroll(call),
            ValueRule::Vote(op) => self.vote(op, call),
            ValueRule::Zip => self.zip(call),
        }
    }

    /// The call, if the function of the library does not support it.
    pub(in crate::infer) fn library_rule(
        &mut self,
        rule: LibraryRule,
        args: &Arguments,
        span: Span,
    ) -> Option<Operand> {
        match rule {
            LibraryRule::Plain => None,
            LibraryRule::Dist => self.dist_call(args, span),
            LibraryRule::Fsum => self.fsum_call(args, span),
            LibraryRule::IsClose => self.isclose_call(args, span),
            LibraryRule::Prod => self.prod_call(args, span),
            LibraryRule::Sumprod => self.sumprod_call(args, span),
        }
    }

    pub(in crate::infer) fn tree_rule(&mut self, rule: TreeRule, call: &TreeCall) -> Operand {
        match rule {
            TreeRule::Atomic(op) => self.atomic_call(op, call),
            TreeRule::CoopMatrix => self.coop_matrix(call),
            TreeRule::Print => self.print_call(call.args, call.span),
        }
    }
}
