//! Race detection for rows in shared memory. The code itself compares and sets the stamps of adjacent words
//! that neighbouring lanes access, as [`SharedShadow`] would lane by lane. If a row may have a conflict, it
//! sets no stamp, and calls the observer for every lane.
//!
//! [`SharedShadow`]: crate::cpu::instrumentation::shared::SharedShadow

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder, types};

use super::memory::{Row, memory};
use super::{LANES, SimdGroup};
use crate::cpu::emit::context::Context;
use crate::cpu::emit::scalar::fixed;
use crate::cpu::instrumentation::shared::{self, Stamps};
use crate::cpu::lane::{Builtin, CheckSite, SiteKind, Touch, Ty, Value, Where};

/// The lanes of a row, as vectors.
struct Touching {
    /// The address of the first word.
    first: ir::Value,
    /// The active lanes; `None` if all are.
    there: Option<Vec<ir::Value>>,
    /// The lanes' stamps, and these without the site's bits.
    me: Vec<ir::Value>,
    own: Vec<ir::Value>,
    /// Stamps since the last barrier are greater; those of this workgroup are not below `group`.
    before_epoch: ir::Value,
    group: ir::Value,
    code_bits: i64,
    /// The kinds of atomic writes, most recent first, if the kernel has any.
    atomics: Vec<usize>,
}

/// A field of the context's [`Stamps`].
macro_rules! field {
    ($field:ident) => {
        std::mem::offset_of!(Context, stamps) + std::mem::offset_of!(Stamps, $field)
    };
}

impl<'g> SimdGroup<'g, '_, '_> {
    /// The row of a site that accesses words of shared memory without atomics.
    pub(super) fn row_of(&self, site_id: u32, values: &[Value]) -> Option<(&'g Row, Touch)> {
        let SiteKind::Check(CheckSite::Access { touch, place: Where::Shared, offset: 0, size: 4, .. }) =
            self.work.kernel.sites[site_id as usize].kind
        else {
            return None;
        };
        let rows = self.rows;
        let row = rows.get(values.first()?).filter(|row| row.stride() == 4)?;
        (matches!(touch, Touch::Read | Touch::Write) && self.stamp_form.grain == 2).then_some((row, touch))
    }

    pub(super) fn note_row(&mut self, (row, touch): (&Row, Touch), site_id: u32, values: &[Value]) {
        let [inside, closer, alone, cold, after] =
            std::array::from_fn(|_| self.scalar.builder.create_block());
        self.scalar.builder.set_cold_block(cold);
        let (whole, first) = self.is_whole(row);
        let lane = self.scalar.builtin(Builtin::LocalIndex);
        let there = self.active();
        self.scalar.builder.ins().brif(whole, inside, &[], cold, &[]);

        self.scalar.builder.switch_to_block(inside);
        let touching = self.touching((first, lane, there), site_id);
        let may_conflict = self.any_lane(&touching, |simd, i| match touch.writes() {
            true => simd.write_may_conflict(&touching, i),
            false => simd.read_may_conflict(&touching, i),
        });
        self.scalar.builder.ins().brif(may_conflict, closer, &[], alone, &[]);

        self.scalar.builder.switch_to_block(closer);
        let conflicts = self.any_lane(&touching, |simd, i| match touch.writes() {
            true => simd.write_conflicts(&touching, i),
            false => simd.read_conflicts(&touching, i),
        });
        self.scalar.builder.ins().brif(conflicts, cold, &[], alone, &[]);

        self.scalar.builder.switch_to_block(alone);
        match touch.writes() {
            true => self.note(&touching, field!(writes)),
            false => self.note_read(&touching),
        }
        self.scalar.builder.ins().jump(after, &[]);

        self.scalar.builder.switch_to_block(cold);
        self.aside(|simd| simd.report(site_id, values, None));
        self.scalar.builder.ins().jump(after, &[]);
        self.scalar.builder.switch_to_block(after);
    }

    fn touching(
        &mut self,
        (first, lane, there): (ir::Value, ir::Value, Option<Vec<ir::Value>>),
        site_id: u32,
    ) -> Touching {
        let form = self.stamp_form;
        let code_bits = i64::from(form.code_bits);
        let [epoch, group] = [field!(epoch), field!(group)].map(|field| self.stamps_field(field));
        let ins = &mut self.scalar.builder;
        let lane = ins.ins().ishl_imm_u(lane, code_bits);
        let start = ins.ins().iadd(epoch, lane);
        let start = ins.ins().splat(types::I32X4, start);
        let code = ins.ins().iconst(types::I32, i64::from(shared::code(site_id)));
        let code = ins.ins().splat(types::I32X4, code);
        let before_epoch = ins.ins().iadd_imm_s(epoch, -1);
        let [before_epoch, group] = [before_epoch, group].map(|all| ins.ins().splat(types::I32X4, all));
        let (mut me, mut own) = (Vec::new(), Vec::new());
        for i in 0..self.n_vectors(Ty::I32) as u32 {
            let steps = (0..LANES).flat_map(|lane| ((i * LANES + lane) << code_bits).to_le_bytes());
            let steps = self.constant_vector(types::I32X4, steps.collect());
            let stamps = self.scalar.builder.ins().iadd(start, steps);
            own.push(self.scalar.builder.ins().ushr_imm_u(stamps, code_bits));
            me.push(self.scalar.builder.ins().bor(stamps, code));
        }
        let atomics = match form.has_atomics {
            true => vec![field!(atomics), field!(other_atomics)],
            false => Vec::new(),
        };
        Touching { first, there, me, own, before_epoch, group, code_bits, atomics }
    }

    /// Whether a condition holds for an active lane.
    fn any_lane(
        &mut self,
        touching: &Touching,
        mut of_vector: impl FnMut(&mut Self, usize) -> ir::Value,
    ) -> ir::Value {
        let vectors = 0..touching.me.len();
        let conflicts: Vec<_> = vectors
            .map(|i| {
                let conflicts = of_vector(self, i);
                self.of_those_there(touching, i, conflicts)
            })
            .collect();
        self.any(&conflicts)
    }

    /// True wherever `read_conflicts` is, and rarely otherwise: few words are read after a write without a
    /// barrier between.
    fn read_may_conflict(&mut self, touching: &Touching, i: usize) -> ir::Value {
        let last = self.last_write(touching, i);
        let late = self.is_late(touching, last);
        let new = self.is_new(touching, last);
        self.scalar.builder.ins().bor(late, new)
    }

    /// Whether another lane has written the word since the last barrier, or no lane of this workgroup has.
    fn read_conflicts(&mut self, touching: &Touching, i: usize) -> ir::Value {
        let last = self.last_write(touching, i);
        let new = self.is_new(touching, last);
        let writes = [field!(writes)].into_iter().chain(touching.atomics.iter().copied());
        writes.fold(new, |conflicts, kind| {
            let other = self.other(touching, kind, i);
            self.scalar.builder.ins().bor(conflicts, other)
        })
    }

    /// True wherever `write_conflicts` is, and rarely otherwise: lanes often write what they have just read.
    fn write_may_conflict(&mut self, touching: &Touching, i: usize) -> ir::Value {
        let last = self.last_write(touching, i);
        let others = self.stamp(touching, field!(others), i);
        let last = self.scalar.builder.ins().smax(last, others);
        let late = self.is_late(touching, last);
        let read = self.other(touching, field!(reads), i);
        self.scalar.builder.ins().bor(late, read)
    }

    /// Whether another lane has accessed a word since the last barrier.
    fn write_conflicts(&mut self, touching: &Touching, i: usize) -> ir::Value {
        let read = self.other(touching, field!(reads), i);
        let plain = [field!(writes), field!(other_writes), field!(others)];
        let kinds = plain.into_iter().chain(touching.atomics.iter().copied());
        kinds.fold(read, |conflicts, kind| {
            let other = self.other(touching, kind, i);
            self.scalar.builder.ins().bor(conflicts, other)
        })
    }

    /// Earlier reads of other lanes since the last barrier are preserved in `others`.
    fn note_read(&mut self, touching: &Touching) {
        let late = self.any_lane(touching, |simd, i| {
            let before = simd.stamp(touching, field!(reads), i);
            simd.is_late(touching, before)
        });
        let [preserve, after] = std::array::from_fn(|_| self.scalar.builder.create_block());
        self.scalar.builder.ins().brif(late, preserve, &[], after, &[]);

        self.scalar.builder.switch_to_block(preserve);
        for i in 0..touching.me.len() {
            let other = self.other(touching, field!(reads), i);
            let other = self.of_those_there(touching, i, other);
            let [before, others] = [field!(reads), field!(others)].map(|kind| self.stamp(touching, kind, i));
            let others = self.scalar.builder.ins().bitselect(other, before, others);
            self.put_stamp(touching, field!(others), i, others);
        }
        self.scalar.builder.ins().jump(after, &[]);

        self.scalar.builder.switch_to_block(after);
        self.note(touching, field!(reads));
    }

    /// Replaces stamps of one kind by the lanes' own.
    fn note(&mut self, touching: &Touching, kind: usize) {
        for (i, &me) in touching.me.iter().enumerate() {
            let stamp = match &touching.there {
                Some(there) => {
                    let before = self.stamp(touching, kind, i);
                    self.scalar.builder.ins().bitselect(there[i], me, before)
                }
                None => me,
            };
            self.put_stamp(touching, kind, i, stamp);
        }
    }

    /// The stamp of the last write, plain or atomic.
    fn last_write(&mut self, touching: &Touching, i: usize) -> ir::Value {
        let write = self.stamp(touching, field!(writes), i);
        let Some(&atomics) = touching.atomics.first() else { return write };
        let atomic = self.stamp(touching, atomics, i);
        self.scalar.builder.ins().smax(write, atomic)
    }

    /// Whether stamps of one kind are later than the last barrier, and of other lanes.
    fn other(&mut self, touching: &Touching, kind: usize, i: usize) -> ir::Value {
        let stamp = self.stamp(touching, kind, i);
        let late = self.is_late(touching, stamp);
        let lane = self.scalar.builder.ins().ushr_imm_u(stamp, touching.code_bits);
        let same = self.scalar.builder.ins().icmp(IntCC::Equal, lane, touching.own[i]);
        self.scalar.builder.ins().band_not(late, same)
    }

    fn is_late(&mut self, touching: &Touching, stamp: ir::Value) -> ir::Value {
        self.scalar.builder.ins().icmp(IntCC::SignedGreaterThan, stamp, touching.before_epoch)
    }

    /// Whether no lane of this workgroup has written the word.
    fn is_new(&mut self, touching: &Touching, last_write: ir::Value) -> ir::Value {
        self.scalar.builder.ins().icmp(IntCC::SignedLessThan, last_write, touching.group)
    }

    fn of_those_there(&mut self, touching: &Touching, i: usize, mask: ir::Value) -> ir::Value {
        match &touching.there {
            Some(there) => self.scalar.builder.ins().band(mask, there[i]),
            None => mask,
        }
    }

    /// Vector `i` of the stamps of one kind, for the row's words.
    fn stamp(&mut self, touching: &Touching, kind: usize, i: usize) -> ir::Value {
        let place = self.stamp_place(touching, kind);
        self.scalar.builder.ins().load(types::I32X4, memory(), place, 16 * i as i32)
    }

    fn put_stamp(&mut self, touching: &Touching, kind: usize, i: usize, stamp: ir::Value) {
        let place = self.stamp_place(touching, kind);
        self.scalar.builder.ins().store(memory(), stamp, place, 16 * i as i32);
    }

    fn stamp_place(&mut self, touching: &Touching, kind: usize) -> ir::Value {
        let context = self.scalar.context;
        let lead = self.scalar.builder.ins().load(types::I64, fixed(), context, kind as i32);
        self.scalar.builder.ins().iadd(touching.first, lead)
    }

    fn stamps_field(&mut self, field: usize) -> ir::Value {
        let context = self.scalar.context;
        self.scalar.builder.ins().load(types::I32, fixed(), context, field as i32)
    }
}
