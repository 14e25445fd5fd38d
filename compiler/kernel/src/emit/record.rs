//! Records for the host: the output of `print` and `assert` in the buffer `kps.print`.
//!
//! The buffer starts with four counters: requested words and lost records, first of prints, then of assertions. The
//! words of assertions come first ([`ASSERT_WORDS`]) and prints fill the rest, so that prints never displace a failed
//! assertion. A record is its site, the invocation's x, y and z, and the values. A record without space is counted as
//! lost, and a 0 at its start ends the list.
//!
//! Steps of a trace use the words of prints, in slots of [`STEP_WORDS`], and the first counter counts them. The first
//! [`STEPS_KEPT`] steps stay; later ones are a ring buffer of as many slots.
//!
//! The text of a site is an `OpString`: `kps.record SITE KIND LINE COLUMN FILE`, a newline, and the template.

use rspirv::spirv::{MemorySemantics, Op, Scope, StorageClass, Word};

use super::function::FunctionEmitter;
use super::module::Operand;
use super::variables::RECORD_DATA;
use crate::ir::{NodeId, Record, RecordKind};
use crate::template::Input;
use crate::types::{Scalar, Type};

/// Words at the front of the buffer's data that only assertions use.
pub const ASSERT_WORDS: u32 = 16 * 1024;

/// Words of one step at most.
pub const STEP_WORDS: u32 = 72;

/// Steps that are kept of the first ones, and of the last ones. A power of two.
pub const STEPS_KEPT: u32 = 512;

/// Words before the values: the site and the invocation.
const HEADER_WORDS: u32 = 4;

impl FunctionEmitter<'_> {
    pub fn record(&mut self, record: &Record) {
        if record.kind == RecordKind::Trace {
            return self.step(record);
        }
        let site = self.site(record);
        let ring = self.interface.ring(self.kernel, self.module);
        let words = self.record_words(site, &record.values);
        if record.kind != RecordKind::AssertOnce {
            return self.put_record(ring, record.kind, &words);
        }
        let has_failed = self.has_failed();
        let is_first = self.ids(Op::LogicalNot, &Type::BOOL, &[has_failed]);
        self.when(is_first, |emitter| {
            emitter.note_failure();
            emitter.put_record(ring, record.kind, &words);
        });
    }

    fn put_record(&mut self, ring: Word, kind: RecordKind, words: &[Word]) {
        let n_words = self.int(&Type::U32, words.len() as i128);
        let (first_counter, start) = match kind {
            RecordKind::Print | RecordKind::Trace => (0, ASSERT_WORDS),
            RecordKind::Assert | RecordKind::AssertOnce => (2, 0),
        };
        let room = self.room(ring, kind);
        let asked = self.ring_word(ring, first_counter);
        let lost = self.ring_word(ring, first_counter + 1);
        // Looked at first, so that a full buffer is not counted up until the counter wraps.
        let seen = self.relaxed(Op::AtomicLoad, asked, None);
        let has_room = self.ids(Op::ULessThan, &Type::BOOL, &[seen, room]);
        let one = self.int(&Type::U32, 1);
        self.when_else(
            has_room,
            |emitter| {
                let at = emitter.relaxed(Op::AtomicIAdd, asked, Some(n_words));
                let end = emitter.ids(Op::IAdd, &Type::U32, &[at, n_words]);
                let fits = emitter.ids(Op::ULessThanEqual, &Type::BOOL, &[end, room]);
                let start = emitter.int(&Type::U32, i128::from(start));
                let place = emitter.ids(Op::IAdd, &Type::U32, &[at, start]);
                emitter.when_else(
                    fits,
                    |emitter| emitter.put_words(ring, place, words),
                    |emitter| {
                        emitter.relaxed(Op::AtomicIAdd, lost, Some(one));
                        let begins = emitter.ids(Op::ULessThan, &Type::BOOL, &[at, room]);
                        let zero = emitter.int(&Type::U32, 0);
                        emitter.when(begins, |emitter| emitter.put_words(ring, place, &[zero]));
                    },
                );
            },
            |emitter| {
                emitter.relaxed(Op::AtomicIAdd, lost, Some(one));
            },
        );
    }

    /// Only one invocation records steps, so their slots need no atomics.
    fn step(&mut self, record: &Record) {
        let site = self.site(record);
        let ring = self.interface.ring(self.kernel, self.module);
        let words = self.record_words(site, &record.values);
        debug_assert!(words.len() <= STEP_WORDS as usize);
        let number = |emitter: &mut Self, n: u32| emitter.int(&Type::U32, i128::from(n));
        let (one, kept) = (number(self, 1), number(self, STEPS_KEPT));
        let counter = self.ring_word(ring, 0);
        let n = self.relaxed(Op::AtomicIAdd, counter, Some(one));
        let is_first = self.ids(Op::ULessThan, &Type::BOOL, &[n, kept]);
        let round = number(self, STEPS_KEPT - 1);
        let round = self.ids(Op::BitwiseAnd, &Type::U32, &[n, round]);
        let late = self.ids(Op::IAdd, &Type::U32, &[round, kept]);
        let at = self.select(&Type::U32, is_first, n, late);
        let (width, start) = (number(self, STEP_WORDS), number(self, ASSERT_WORDS));
        let offset = self.ids(Op::IMul, &Type::U32, &[at, width]);
        let place = self.ids(Op::IAdd, &Type::U32, &[offset, start]);
        self.put_words(ring, place, &words);
    }

    /// The number of a new site; its text becomes part of the module.
    fn site(&mut self, record: &Record) -> u32 {
        let site = self.interface.next_site();
        let kind = match record.kind {
            RecordKind::Print => "print",
            RecordKind::Assert | RecordKind::AssertOnce => "assert",
            RecordKind::Trace => "trace",
        };
        let (line, column) = self.function.source.line_column(record.span.start);
        let file = self.function.source.name().replace(['\n', '\0'], " ");
        let template = record.template.replace('\0', "\u{fffd}");
        self.module.string(&format!("kps.record {site} {kind} {line} {column} {file}\n{template}"));
        site
    }

    fn record_words(&mut self, site: u32, values: &[NodeId]) -> Vec<Word> {
        let mut words = Vec::with_capacity(HEADER_WORDS as usize + values.len());
        words.push(self.int(&Type::U32, i128::from(site)));
        let id = self.input_value(Input::GlobalInvocationId);
        words.extend((0..3).map(|axis| self.extract(id, axis, &Type::U32)));
        for value in values {
            self.value_words(*value, &mut words);
        }
        words
    }

    /// A number's bits, the low word first.
    fn value_words(&mut self, node: NodeId, words: &mut Vec<Word>) {
        let ty = self.function.ty(node).clone();
        let value = self.value(node);
        match ty.scalar() {
            Some(Scalar::Bool) => {
                let (one, zero) = (self.int(&Type::U32, 1), self.int(&Type::U32, 0));
                words.push(self.select(&Type::U32, value, one, zero));
            }
            Some(Scalar::U32) => words.push(value),
            Some(scalar) if scalar.bits() == 64 => {
                let halves = self.ids(Op::Bitcast, &Type::Vector(2, Scalar::U32), &[value]);
                words.extend((0..2).map(|half| self.extract(halves, half, &Type::U32)));
            }
            _ => words.push(self.ids(Op::Bitcast, &Type::U32, &[value])),
        }
    }

    /// Words that this kind of record has room for.
    fn room(&mut self, ring: Word, kind: RecordKind) -> Word {
        let reserved = self.int(&Type::U32, i128::from(ASSERT_WORDS));
        if matches!(kind, RecordKind::Assert | RecordKind::AssertOnce) {
            return reserved;
        }
        let result = self.module.scalar(Scalar::U32);
        let len =
            self.op(Op::ArrayLength, result, &[Operand::IdRef(ring), Operand::LiteralBit32(RECORD_DATA)]);
        self.ids(Op::ISub, &Type::U32, &[len, reserved])
    }

    fn put_words(&mut self, ring: Word, first: Word, words: &[Word]) {
        for (at, word) in words.iter().enumerate() {
            let at = self.int(&Type::U32, at as i128);
            let index = self.ids(Op::IAdd, &Type::U32, &[first, at]);
            let data = self.int(&Type::U32, i128::from(RECORD_DATA));
            let place = self.ring_place(&[ring, data, index]);
            self.effect(Op::Store, &[Operand::IdRef(place), Operand::IdRef(*word)]);
        }
    }

    fn ring_word(&mut self, ring: Word, member: u32) -> Word {
        let member = self.int(&Type::U32, i128::from(member));
        self.ring_place(&[ring, member])
    }

    fn ring_place(&mut self, chain: &[Word]) -> Word {
        let word = self.module.scalar(Scalar::U32);
        let pointer = self.module.pointer(StorageClass::StorageBuffer, word);
        self.over(Op::AccessChain, pointer, chain)
    }

    /// An atomic operation that orders nothing else.
    fn relaxed(&mut self, op: Op, place: Word, value: Option<Word>) -> Word {
        let scope = self.scope(Scope::Device);
        let semantics = self.int(&Type::U32, i128::from(MemorySemantics::RELAXED.bits()));
        let operands: Vec<Word> = [place, scope, semantics].into_iter().chain(value).collect();
        self.ids(op, &Type::U32, &operands)
    }
}
