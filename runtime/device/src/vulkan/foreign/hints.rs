//! Removes loop hints for Mesa's software driver. It unrolls every loop that a module asks it to unroll: a
//! loop of 256 iterations then compiles for minutes.

use std::borrow::Cow;

use rspirv::spirv::{LoopControl, Op};

use crate::words::{instructions, opcode};

/// The module without hints to unroll loops.
pub fn without_unrolling(mut words: Cow<[u32]>) -> Cow<[u32]> {
    let hinted: Vec<usize> = instructions(&words)
        .filter(|(_, inst)| opcode(inst) == Op::LoopMerge as u32)
        .map(|(at, _)| at + 3)
        .filter(|at| words.get(*at).is_some_and(|control| control & LoopControl::UNROLL.bits() != 0))
        .collect();
    for at in hinted {
        words.to_mut()[at] &= !LoopControl::UNROLL.bits();
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_hint_to_unroll_is_left_out() {
        let merge = |control: u32| vec![4 << 16 | Op::LoopMerge as u32, 7, 8, control];
        let check = |control: u32, expect: u32| {
            let words = [vec![0; 5], merge(control)].concat();
            let expect = [vec![0; 5], merge(expect)].concat();
            assert_eq!(*without_unrolling(Cow::Owned(words)), *expect);
        };
        check(0b01, 0);
        check(0b10, 0b10);
        check(0b101, 0b100);
    }
}
