//! How many arguments each function takes, and what a call with the right ones looks like.

use super::groups::{AtomicOp, CoopFunction, GroupFunction, SubgroupOp};
use super::{FloatFn, Function};

/// What a function takes.
pub(crate) struct Call {
    /// The arguments that it needs, by names that stand for them in messages.
    pub needs: &'static [&'static str],
    /// How many it takes at most.
    pub most: usize,
}

impl Call {
    const fn exactly(needs: &'static [&'static str]) -> Call {
        Call { needs, most: needs.len() }
    }

    const fn at_most(most: usize, needs: &'static [&'static str]) -> Call {
        Call { needs, most }
    }

    pub const NOTHING: Call = Call { needs: &[], most: 0 };

    /// `f32(x)`
    pub const CAST: Call = Call { needs: &[], most: 1 };

    pub fn of(function: Function) -> Call {
        match function {
            Function::Range => Call::at_most(3, &["n"]),
            Function::Enumerate => Call::at_most(2, &["xs"]),
            Function::Zip => Call::at_most(usize::MAX, &["xs"]),
            Function::Reversed | Function::Len | Function::All | Function::Any => Call::exactly(&["xs"]),
            Function::Sum => Call::at_most(2, &["xs"]),
            Function::Print => Call::at_most(usize::MAX, &[]),
            Function::Discard => Call::exactly(&[]),
            Function::Min | Function::Max => Call::at_most(usize::MAX, &["a", "b"]),
            Function::Hypot => Call::at_most(usize::MAX, &["x"]),
            Function::Log | Function::Float(FloatFn::Round) => Call::at_most(2, &["x"]),
            Function::Pow => Call::at_most(3, &["x", "y"]),
            Function::Clamp | Function::Float(FloatFn::NClamp) => Call::exactly(&["x", "low", "high"]),
            Function::Mix => Call::exactly(&["a", "b", "t"]),
            Function::SmoothStep => Call::exactly(&["low", "high", "x"]),
            Function::Step => Call::exactly(&["edge", "x"]),
            Function::FaceForward => Call::exactly(&["n", "i", "reference"]),
            Function::Reflect => Call::exactly(&["i", "n"]),
            Function::Refract => Call::exactly(&["i", "n", "eta"]),
            Function::TextureRead => Call::exactly(&["image", "ivec2(x, y)"]),
            Function::TextureWrite => Call::exactly(&["image", "ivec2(x, y)", "value"]),
            Function::TextureSample => Call::exactly(&["image", "sampler", "vec2(x, y)"]),
            Function::DivMod
            | Function::TruncDiv
            | Function::TruncRem
            | Function::Dot
            | Function::Cross
            | Function::Distance => Call::exactly(&["a", "b"]),
            Function::Fmod | Function::Remainder | Function::Copysign | Function::NextAfter => {
                Call::exactly(&["x", "y"])
            }
            Function::Ldexp => Call::exactly(&["x", "n"]),
            Function::Bitcast => Call::exactly(&["u32", "x"]),
            Function::Transpose | Function::Determinant | Function::Inverse => Call::exactly(&["m"]),
            Function::Length | Function::Normalize => Call::exactly(&["v"]),
            Function::Float(FloatFn::Atan2) => Call::exactly(&["y", "x"]),
            Function::Float(FloatFn::Pow) => Call::exactly(&["x", "y"]),
            Function::Float(FloatFn::NMin | FloatFn::NMax) => Call::exactly(&["a", "b"]),
            Function::Float(FloatFn::Fma) => Call::exactly(&["a", "b", "c"]),
            Function::Group(function) => Call::of_group(function),
            _ => Call::exactly(&["x"]),
        }
    }

    pub fn of_group(function: GroupFunction) -> Call {
        match function {
            GroupFunction::Shared => Call::at_most(9, &["f32", "256"]),
            GroupFunction::Barrier => Call::exactly(&[]),
            GroupFunction::Uniform => Call::exactly(&["x"]),
            GroupFunction::Atomic(AtomicOp::Load) => Call::exactly(&["a", "i"]),
            GroupFunction::Atomic(AtomicOp::CompareExchange) => Call::exactly(&["a", "i", "expected", "new"]),
            GroupFunction::Atomic(_) => Call::exactly(&["a", "i", "value"]),
            GroupFunction::Subgroup(SubgroupOp::Elect) => Call::exactly(&[]),
            GroupFunction::Subgroup(SubgroupOp::Any | SubgroupOp::All | SubgroupOp::Ballot) => {
                Call::exactly(&["condition"])
            }
            GroupFunction::Subgroup(SubgroupOp::Combine(..) | SubgroupOp::FromFirst) => {
                Call::exactly(&["value"])
            }
            GroupFunction::Subgroup(SubgroupOp::ShuffleXor) => Call::exactly(&["value", "mask"]),
            GroupFunction::Subgroup(SubgroupOp::ShuffleUp | SubgroupOp::ShuffleDown) => {
                Call::exactly(&["value", "distance"])
            }
            GroupFunction::Subgroup(SubgroupOp::Shuffle) => Call::exactly(&["value", "lane"]),
            GroupFunction::Coop(CoopFunction::Matrix) => Call::exactly(&["f16", "16", "16", "\"a\""]),
            GroupFunction::Coop(CoopFunction::Fill) => Call::exactly(&["m", "value"]),
            GroupFunction::Coop(CoopFunction::MultiplyAdd) => Call::exactly(&["c", "a", "b"]),
            GroupFunction::Coop(_) => Call::exactly(&["m", "array", "start", "stride"]),
        }
    }

    pub fn takes(&self, n_args: usize) -> bool {
        (self.needs.len()..=self.most).contains(&n_args)
    }

    /// The call with what is given, without what is too much and with names for what lacks.
    pub fn line(&self, name: &str, given: &[&str]) -> String {
        let kept = given.iter().take(self.most);
        let args: Vec<&str> = kept.chain(self.needs.iter().skip(given.len())).copied().collect();
        format!("{name}({})", args.join(", "))
    }
}

/// Whether a call stands on a line of its own, because it gives no value.
pub(crate) fn gives_nothing(function: Function) -> bool {
    matches!(
        function,
        Function::Print
            | Function::Discard
            | Function::TextureWrite
            | Function::Group(
                GroupFunction::Barrier
                    | GroupFunction::Atomic(AtomicOp::Store)
                    | GroupFunction::Coop(
                        CoopFunction::Load
                            | CoopFunction::Fill
                            | CoopFunction::MultiplyAdd
                            | CoopFunction::Store
                    )
            )
    )
}
