//! What the active lanes of a subgroup do together. Operands are read from the lanes' memory, eight bytes
//! each, and results are written over them. Sums go from the first lane to the last.

use super::Lanes;
use crate::cpu::lane::fold::{round_bfloat16, round_half};
use crate::cpu::lane::{Fold, GroupKind, GroupOp, MultiplyAdd, Numbers, Overflow, Source, Span};

/// `active` are lanes of the workgroup in order, of the subgroup that begins at `first`.
pub(super) fn perform(lanes: &Lanes<'_>, op: &GroupOp, first: usize, active: &[usize]) {
    let slots = Slots { lanes, start: op.slots as usize };
    let n = op.n as usize;
    let any = |i: usize| active.iter().any(|&lane| slots.bool(lane, i));
    let give_bool = |value: bool| active.iter().for_each(|&lane| slots.write(lane, 0, u64::from(value)));
    match op.kind {
        GroupKind::Barrier => {}
        GroupKind::Elect => {
            for &lane in active {
                slots.write(lane, 0, u64::from(lane == active[0]));
            }
        }
        GroupKind::All => give_bool(active.iter().all(|&lane| slots.bool(lane, 0))),
        GroupKind::Any => give_bool(any(0)),
        GroupKind::AllEqual(numbers) => {
            let value = |lane, i| numbers.decode(slots.bits(lane, i));
            let same = |&lane: &usize| (0..n).all(|i| value(lane, i) == value(active[0], i));
            give_bool(active.iter().all(same));
        }
        GroupKind::Ballot => ballot(&slots, first, active),
        GroupKind::Read(source) => read(&slots, source, n, first, active),
        GroupKind::MultiplyAdd(multiply) => multiply_add(&slots, multiply, first, active),
        GroupKind::Fold(fold, numbers, span) => {
            for i in 0..n {
                scan(&slots, i, (fold, numbers, span), first, active);
            }
        }
    }
}

struct Slots<'l> {
    lanes: &'l Lanes<'l>,
    start: usize,
}

impl Slots<'_> {
    fn at(&self, lane: usize, i: usize) -> *mut u64 {
        self.lanes.at(lane, self.start + 8 * i).cast()
    }

    fn bits(&self, lane: usize, i: usize) -> u64 {
        // SAFETY: lowering set aside eight bytes for each operand and result, at multiples of eight.
        unsafe { self.at(lane, i).read() }
    }

    fn bool(&self, lane: usize, i: usize) -> bool {
        self.bits(lane, i) & 1 != 0
    }

    fn write(&self, lane: usize, i: usize, bits: u64) {
        // SAFETY: as in `bits`.
        unsafe { self.at(lane, i).write(bits) };
    }
}

fn ballot(slots: &Slots<'_>, first: usize, active: &[usize]) {
    let bit = |&lane: &usize| u64::from(slots.bool(lane, 0)) << (lane - first);
    let votes = active.iter().map(bit).fold(0, |votes, bit| votes | bit);
    for &lane in active {
        for (i, word) in [votes & 0xffff_ffff, votes >> 32, 0, 0].into_iter().enumerate() {
            slots.write(lane, i, word);
        }
    }
}

fn read(slots: &Slots<'_>, source: Source, n: usize, first: usize, active: &[usize]) {
    let found = |lane: usize| {
        let (own, operand) = ((lane - first) as u32, slots.bits(lane, n) as u32);
        let wanted = match source {
            Source::First => (active[0] - first) as u32,
            Source::Lane => operand,
            Source::Xor => own ^ operand,
            Source::Up => own.wrapping_sub(operand),
            Source::Down => own.wrapping_add(operand),
            Source::Rotate(cluster) => own / cluster * cluster + own.wrapping_add(operand) % cluster,
            Source::Quad => own & !3 | operand & 3,
            Source::QuadSwap => own ^ (operand + 1).min(3),
        };
        let wanted = first.checked_add(wanted as usize);
        wanted.filter(|wanted| active.contains(wanted)).unwrap_or(lane)
    };
    let sources: Vec<usize> = active.iter().map(|&lane| found(lane)).collect();
    for i in 0..n {
        let values: Vec<u64> = sources.iter().map(|&source| slots.bits(source, i)).collect();
        for (&lane, value) in active.iter().zip(values) {
            slots.write(lane, i, value);
        }
    }
}

fn scan(
    slots: &Slots<'_>,
    i: usize,
    (fold, numbers, span): (Fold, Numbers, Span),
    first: usize,
    active: &[usize],
) {
    let cluster = if let Span::Clustered(size) = span { size as usize } else { usize::MAX };
    for lanes in active.chunk_by(|&a, &b| (a - first) / cluster == (b - first) / cluster) {
        let mut sum = numbers.identity(fold);
        for &lane in lanes {
            let value = numbers.combine(fold, sum, numbers.decode(slots.bits(lane, i)));
            match span {
                Span::Inclusive => slots.write(lane, i, numbers.encode(value)),
                Span::Exclusive => slots.write(lane, i, numbers.encode(sum)),
                Span::Reduce | Span::Clustered(_) => {}
            }
            sum = value;
        }
        if let Span::Reduce | Span::Clustered(_) = span {
            lanes.iter().for_each(|&lane| slots.write(lane, i, numbers.encode(sum)));
        }
    }
}

fn multiply_add(slots: &Slots<'_>, multiply: MultiplyAdd, first: usize, active: &[usize]) {
    let size = slots.lanes.together.subgroup_size;
    let MultiplyAdd { rows, inner, columns, a, b, c, sum, overflow } = multiply;
    let [rows, inner, columns] = [rows, inner, columns].map(|n| n as usize);
    // A lane that is not there has zeros.
    let element = |slot: usize, numbers: Numbers, i: usize| {
        let lane = first + i % size;
        let there = active.contains(&lane);
        numbers.decode(if there { slots.bits(lane, slot + i / size) } else { 0 })
    };
    let matrix = |slot: usize, numbers: Numbers, n: usize| -> Vec<Number> {
        (0..n).map(|i| element(slot, numbers, i)).collect()
    };
    let (n_a, n_b, n_c) = (rows * inner, inner * columns, rows * columns);
    let (slot_b, slot_c) = (n_a.div_ceil(size), n_a.div_ceil(size) + n_b.div_ceil(size));
    let (a, b, c) = (matrix(0, a, n_a), matrix(slot_b, b, n_b), matrix(slot_c, c, n_c));
    for (i, &start) in c.iter().enumerate() {
        let (row, column) = (i / columns, i % columns);
        let terms = (0..inner).map(|k| (a[row * inner + k], b[k * columns + column]));
        let total = match start {
            Number::Int(start) => Number::Int(saturated(sum, overflow, terms.fold(start, int_term))),
            Number::Float(start) => Number::Float(sum.round(terms.fold(start, |total, term| {
                let wide = if sum == Numbers::Float(64) { sum } else { Numbers::Float(32) };
                wide.round(total + float_product(term))
            }))),
        };
        let lane = first + i % size;
        if active.contains(&lane) {
            slots.write(lane, i / size, sum.encode(total));
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

fn saturated(numbers: Numbers, overflow: Overflow, value: i128) -> i128 {
    let (least, most) = match numbers {
        Numbers::Signed(width) => (-1i128 << (width - 1), (1i128 << (width - 1)) - 1),
        Numbers::Unsigned(width) => (0, i128::from(low_bits(width))),
        _ => return value,
    };
    if overflow == Overflow::Saturates { value.clamp(least, most) } else { value }
}

/// A value while it is computed with.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Number {
    Int(i128),
    Float(f64),
}

impl Numbers {
    fn decode(self, bits: u64) -> Number {
        match self {
            Numbers::Bool => Number::Int(i128::from(bits & 1)),
            Numbers::Unsigned(width) => Number::Int(i128::from(bits & low_bits(width))),
            Numbers::Signed(width) => {
                let unused = 64 - u32::from(width);
                Number::Int(i128::from((bits << unused) as i64 >> unused))
            }
            Numbers::Float(64) => Number::Float(f64::from_bits(bits)),
            Numbers::Float(_) | Numbers::BFloat16 => Number::Float(f64::from(f32::from_bits(bits as u32))),
        }
    }

    fn encode(self, number: Number) -> u64 {
        match (self, number) {
            (Numbers::Float(64), Number::Float(value)) => value.to_bits(),
            (_, Number::Float(value)) => u64::from((value as f32).to_bits()),
            (Numbers::Unsigned(width) | Numbers::Signed(width), Number::Int(value)) => {
                value as u64 & low_bits(width)
            }
            (_, Number::Int(value)) => value as u64 & 1,
        }
    }

    fn combine(self, fold: Fold, a: Number, b: Number) -> Number {
        match (a, b) {
            (Number::Int(a), Number::Int(b)) => self.decode(self.encode(Number::Int(match fold {
                Fold::Add => a.wrapping_add(b),
                Fold::Mul => a.wrapping_mul(b),
                Fold::Min => a.min(b),
                Fold::Max => a.max(b),
                Fold::And => a & b,
                Fold::Or => a | b,
                Fold::Xor => a ^ b,
            }))),
            (Number::Float(a), Number::Float(b)) => Number::Float(self.round(match fold {
                Fold::Add => a + b,
                Fold::Mul => a * b,
                Fold::Min => a.min(b),
                _ => a.max(b),
            })),
            _ => unreachable!("numbers of one kind are combined"),
        }
    }

    fn round(self, value: f64) -> f64 {
        match self {
            Numbers::Float(64) => value,
            Numbers::Float(16) => f64::from(round_half(value as f32)),
            Numbers::BFloat16 => f64::from(round_bfloat16(value as f32)),
            _ => f64::from(value as f32),
        }
    }

    /// What changes nothing.
    fn identity(self, fold: Fold) -> Number {
        let is_float = matches!(self, Numbers::Float(_) | Numbers::BFloat16);
        let (least, greatest) = match self {
            Numbers::Signed(width) => (-1 << (width - 1), (1 << (width - 1)) - 1),
            Numbers::Unsigned(width) => (0, i128::from(low_bits(width))),
            _ => (0, 1),
        };
        match fold {
            Fold::Min if is_float => Number::Float(f64::INFINITY),
            Fold::Max if is_float => Number::Float(f64::NEG_INFINITY),
            Fold::Add | Fold::Mul if is_float => Number::Float(if fold == Fold::Mul { 1.0 } else { 0.0 }),
            Fold::Min => Number::Int(greatest),
            Fold::Max => Number::Int(least),
            Fold::Mul => Number::Int(1),
            // All bits, in what the numbers hold.
            Fold::And => self.decode(u64::MAX),
            Fold::Add | Fold::Or | Fold::Xor => Number::Int(0),
        }
    }
}

fn low_bits(width: u8) -> u64 {
    u64::MAX >> (64 - u32::from(width))
}
