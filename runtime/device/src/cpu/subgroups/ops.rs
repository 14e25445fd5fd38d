//! Subgroup operations on their active lanes. [`Slots`] in the lanes' memory hold the operands, and the
//! results replace them. Reductions go from the first lane to the last.

use kps_scalar::{Kind, Scalar};

use super::Active;
use crate::cpu::lane::fold::{round_bfloat16, round_half};
use crate::cpu::lane::{Fold, GroupKind, GroupOp, MultiplyAdd, Overflow, Source, Span};

/// The most lanes of a subgroup.
const MAX_LANES: usize = 64;

pub(super) fn perform(slots: &Slots, op: &GroupOp, active: Active) {
    let n = op.n as usize;
    let first = active.lanes().next().expect("somebody waits");
    let give_bool = |value: bool| active.lanes().for_each(|lane| slots.write(lane, 0, u64::from(value)));
    match op.kind {
        GroupKind::Barrier => {}
        GroupKind::Elect => active.lanes().for_each(|lane| slots.write(lane, 0, u64::from(lane == first))),
        GroupKind::All => give_bool(active.lanes().all(|lane| slots.bool(lane, 0))),
        GroupKind::Any => give_bool(active.lanes().any(|lane| slots.bool(lane, 0))),
        GroupKind::AllEqual(scalar) => {
            let value = |lane, i| decode(scalar, slots.bits(lane, i));
            let same = |lane| (0..n).all(|i| value(lane, i) == value(first, i));
            give_bool(active.lanes().all(same));
        }
        GroupKind::Ballot => ballot(slots, active),
        GroupKind::Read(source) => read(slots, source, n, active),
        GroupKind::MultiplyAdd(multiply) => multiply_add(slots, multiply, active),
        GroupKind::Fold(fold, scalar, span) => {
            for i in 0..n {
                scan(slots, i, (fold, scalar, span), active);
            }
        }
    }
}

/// Addresses of operands and results. A slot has eight bytes, or four where lanes are four bytes apart.
pub(super) struct Slots {
    start: *mut u8,
    /// Bytes from one lane to the next, and from one slot to the next.
    to_lane: usize,
    to_slot: usize,
    subgroup_size: usize,
}

impl Slots {
    /// # Safety
    /// `start` has as many slots as the operation has operands and results, for each of its lanes.
    pub unsafe fn new(start: *mut u8, [to_lane, to_slot]: [usize; 2], subgroup_size: usize) -> Slots {
        Slots { start, to_lane, to_slot, subgroup_size }
    }

    fn at(&self, lane: usize, i: usize) -> *mut u8 {
        // SAFETY: the caller of `new` promised that they exist.
        unsafe { self.start.add(lane * self.to_lane + i * self.to_slot) }
    }

    fn bits(&self, lane: usize, i: usize) -> u64 {
        let at = self.at(lane, i);
        // SAFETY: as in `at`; slots begin at multiples of their size.
        unsafe {
            match self.to_lane {
                4 => at.cast::<u32>().read().into(),
                _ => at.cast::<u64>().read(),
            }
        }
    }

    fn bool(&self, lane: usize, i: usize) -> bool {
        self.bits(lane, i) & 1 != 0
    }

    fn write(&self, lane: usize, i: usize, bits: u64) {
        let at = self.at(lane, i);
        // SAFETY: as in `bits`.
        unsafe {
            match self.to_lane {
                4 => at.cast::<u32>().write(bits as u32),
                _ => at.cast::<u64>().write(bits),
            }
        }
    }
}

fn ballot(slots: &Slots, active: Active) {
    let votes = active.only(|lane| slots.bool(lane, 0)).bits;
    for lane in active.lanes() {
        for (i, word) in [votes & 0xffff_ffff, votes >> 32, 0, 0].into_iter().enumerate() {
            slots.write(lane, i, word);
        }
    }
}

fn read(slots: &Slots, source: Source, n: usize, active: Active) {
    let first_active = active.bits.trailing_zeros();
    let found = |lane: usize| {
        let own = (lane - active.first) as u32;
        let operand = if source == Source::First { 0 } else { slots.bits(lane, n) as u32 };
        let wanted = match source {
            Source::First => first_active,
            Source::Lane => operand,
            Source::Xor => own ^ operand,
            Source::Up => own.wrapping_sub(operand),
            Source::Down => own.wrapping_add(operand),
            Source::Rotate(cluster) => own / cluster * cluster + own.wrapping_add(operand) % cluster,
            Source::Quad => own & !3 | operand & 3,
            Source::QuadSwap => own ^ operand.saturating_add(1).min(3),
        };
        let wanted = active.first.checked_add(wanted as usize);
        wanted.filter(|&wanted| active.contains(wanted)).unwrap_or(lane)
    };
    let mut sources = [0; MAX_LANES];
    for lane in active.lanes() {
        sources[lane - active.first] = found(lane);
    }
    for i in 0..n {
        // All values are read before the first is overwritten.
        let values = sources.map(|lane| if active.contains(lane) { slots.bits(lane, i) } else { 0 });
        for lane in active.lanes() {
            slots.write(lane, i, values[lane - active.first]);
        }
    }
}

fn scan(slots: &Slots, i: usize, (fold, scalar, span): (Fold, Scalar, Span), active: Active) {
    if let Span::Clustered(size) = span {
        let cluster = Active::first(0, size as usize).bits;
        for start in (0..MAX_LANES).step_by(size as usize) {
            reduce(slots, i, (fold, scalar), Active { bits: active.bits & cluster << start, ..active });
        }
        return;
    }
    if span == Span::Reduce {
        return reduce(slots, i, (fold, scalar), active);
    }
    let mut sum = identity(fold, scalar);
    for lane in active.lanes() {
        let next = combine(fold, scalar, sum, slots.bits(lane, i));
        slots.write(lane, i, if span == Span::Inclusive { next } else { sum });
        sum = next;
    }
}

fn reduce(slots: &Slots, i: usize, (fold, scalar): (Fold, Scalar), lanes: Active) {
    let values = lanes.lanes().map(|lane| slots.bits(lane, i));
    let sum = values.fold(identity(fold, scalar), |sum, value| combine(fold, scalar, sum, value));
    lanes.lanes().for_each(|lane| slots.write(lane, i, sum));
}

fn multiply_add(slots: &Slots, multiply: MultiplyAdd, active: Active) {
    let size = slots.subgroup_size;
    let MultiplyAdd { rows, inner, columns, a, b, c, sum, overflow } = multiply;
    let [rows, inner, columns] = [rows, inner, columns].map(|n| n as usize);
    // Lanes that do not exist have zeros.
    let element = |slot: usize, scalar: Scalar, i: usize| {
        let lane = active.first + i % size;
        let there = active.contains(lane);
        decode(scalar, if there { slots.bits(lane, slot + i / size) } else { 0 })
    };
    let matrix = |slot: usize, scalar: Scalar, n: usize| -> Vec<Number> {
        (0..n).map(|i| element(slot, scalar, i)).collect()
    };
    let (n_a, n_b, n_c) = (rows * inner, inner * columns, rows * columns);
    let (slot_b, slot_c) = (n_a.div_ceil(size), n_a.div_ceil(size) + n_b.div_ceil(size));
    let (a, b, c) = (matrix(0, a, n_a), matrix(slot_b, b, n_b), matrix(slot_c, c, n_c));
    for (i, &start) in c.iter().enumerate() {
        let (row, column) = (i / columns, i % columns);
        let terms = (0..inner).map(|k| (a[row * inner + k], b[k * columns + column]));
        let total = match start {
            Number::Int(start) => Number::Int(saturated(sum, overflow, terms.fold(start, int_term))),
            Number::Float(start) => Number::Float(round(
                sum,
                terms.fold(start, |total, term| {
                    let wide = sum.at_least_f32();
                    round(wide, total + float_product(term))
                }),
            )),
        };
        let lane = active.first + i % size;
        if active.contains(lane) {
            slots.write(lane, i / size, encode(sum, total));
        }
    }
}

fn int_term(total: i128, term: (Number, Number)) -> i128 {
    match term {
        (Number::Int(a), Number::Int(b)) => total.wrapping_add(a.wrapping_mul(b)),
        _ => unreachable!("matrices of ints are multiplied with each other"),
    }
}

fn float_product(term: (Number, Number)) -> f64 {
    match term {
        (Number::Float(a), Number::Float(b)) => a * b,
        _ => unreachable!("matrices of floats are multiplied with each other"),
    }
}

fn saturated(scalar: Scalar, overflow: Overflow, value: i128) -> i128 {
    match (overflow, scalar.int_range()) {
        (Overflow::Saturates, Some((least, most))) => value.clamp(least, most),
        _ => value,
    }
}

/// An intermediate value.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Number {
    Int(i128),
    Float(f64),
}

fn decode(scalar: Scalar, bits: u64) -> Number {
    match scalar.kind() {
        Kind::Bool | Kind::Unsigned => Number::Int(i128::from(bits & low_bits(scalar.bits()))),
        Kind::Signed => Number::Int(i128::from(sign_extended(scalar, bits))),
        Kind::Float if scalar == Scalar::F64 => Number::Float(f64::from_bits(bits)),
        Kind::Float => Number::Float(f64::from(f32::from_bits(bits as u32))),
    }
}

fn encode(scalar: Scalar, number: Number) -> u64 {
    match number {
        Number::Float(value) if scalar == Scalar::F64 => value.to_bits(),
        Number::Float(value) => u64::from((value as f32).to_bits()),
        Number::Int(value) => value as u64 & low_bits(scalar.bits()),
    }
}

fn sign_extended(scalar: Scalar, bits: u64) -> i64 {
    let unused = 64 - scalar.bits();
    (bits << unused) as i64 >> unused
}

/// Combines the bits of two values. Unused high bits of narrow types are ignored.
fn combine(fold: Fold, scalar: Scalar, a: u64, b: u64) -> u64 {
    let mask = low_bits(scalar.bits());
    match scalar.kind() {
        Kind::Float if scalar == Scalar::F64 => {
            combine_floats(fold, f64::from_bits(a), f64::from_bits(b)).to_bits()
        }
        Kind::Float => {
            let [a, b] = [a, b].map(|bits| f64::from(f32::from_bits(bits as u32)));
            encode(scalar, Number::Float(round(scalar, combine_floats(fold, a, b))))
        }
        Kind::Signed if matches!(fold, Fold::Min | Fold::Max) => {
            let [a, b] = [a, b].map(|bits| sign_extended(scalar, bits));
            (if fold == Fold::Min { a.min(b) } else { a.max(b) }) as u64 & mask
        }
        Kind::Bool | Kind::Signed | Kind::Unsigned => combine_ints(fold, a & mask, b & mask) & mask,
    }
}

fn round(scalar: Scalar, value: f64) -> f64 {
    match scalar {
        Scalar::F64 => value,
        Scalar::F16 => f64::from(round_half(value as f32)),
        Scalar::Bf16 => f64::from(round_bfloat16(value as f32)),
        _ => f64::from(value as f32),
    }
}

/// The neutral element of an operation.
pub fn identity(fold: Fold, scalar: Scalar) -> u64 {
    if scalar.is_float() {
        return encode(
            scalar,
            Number::Float(match fold {
                Fold::Min => f64::INFINITY,
                Fold::Max => f64::NEG_INFINITY,
                Fold::Mul => 1.0,
                _ => 0.0,
            }),
        );
    }
    let all = low_bits(scalar.bits());
    let (least, most) = match scalar.kind() {
        Kind::Signed => (1 << (scalar.bits() - 1), all >> 1),
        _ => (0, all),
    };
    match fold {
        Fold::Min => most,
        Fold::Max => least,
        Fold::Mul => 1,
        Fold::And => all,
        Fold::Add | Fold::Or | Fold::Xor => 0,
    }
}

/// Minimum and maximum ignore NaNs, and prefer the first of two zeros. ORDER: SIMD code does the same.
fn combine_floats(fold: Fold, a: f64, b: f64) -> f64 {
    match fold {
        Fold::Add => a + b,
        Fold::Mul => a * b,
        Fold::Min => {
            if b < a {
                b
            } else {
                a
            }
        }
        _ => {
            if b > a {
                b
            } else {
                a
            }
        }
    }
}

fn combine_ints(fold: Fold, a: u64, b: u64) -> u64 {
    match fold {
        Fold::Add => a.wrapping_add(b),
        Fold::Mul => a.wrapping_mul(b),
        Fold::Min => a.min(b),
        Fold::Max => a.max(b),
        Fold::And => a & b,
        Fold::Or => a | b,
        Fold::Xor => a ^ b,
    }
}

fn low_bits(width: u32) -> u64 {
    u64::MAX >> (64 - width)
}
