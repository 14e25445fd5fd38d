//! Corrects `a != b` of floats, which is true if one is NaN: naga emits the ordered comparison.

use crate::words::{HEADER_WORDS, instructions};

const OP_F_ORD_NOT_EQUAL: u32 = 182;
const OP_F_UNORD_NOT_EQUAL: u32 = 183;

pub(crate) fn let_nan_differ(words: Vec<u32>) -> Vec<u32> {
    let mut corrected = words[..HEADER_WORDS].to_vec();
    for instruction in instructions(&words) {
        let at = corrected.len();
        corrected.extend(instruction);
        if instruction[0] & 0xffff == OP_F_ORD_NOT_EQUAL {
            corrected[at] = instruction[0] & !0xffff | OP_F_UNORD_NOT_EQUAL;
        }
    }
    corrected
}
