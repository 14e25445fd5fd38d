//! Instrumentation of SIMD groups: one test for all lanes, and one call for those that it selects.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, AbiParam, InstBuilder, Signature, StackSlotData, StackSlotKind, types};

use super::SimdGroup;
use super::memory::own;
use crate::cpu::emit::context::Context;
use crate::cpu::instrumentation::{Column, Lanes};
use crate::cpu::lane::shapes::Shape;
use crate::cpu::lane::simd::Across;
use crate::cpu::lane::{Binary, Compare, Op, Ty, Value};

/// The arguments of a call in memory. The columns follow. ORDER: compiled code stores at these offsets.
#[repr(C, align(16))]
struct Reached {
    group: [u32; 3],
    local: [u32; 3],
    site_id: u32,
    n_values: u32,
    /// As in [`Lanes`].
    wide: u32,
    truths: u32,
    there: u32,
    /// 1 if lanes are workgroups.
    across_groups: u32,
}

impl SimdGroup<'_, '_, '_> {
    pub(super) fn instrument(&mut self, site_id: u32, values: &[Value], when: Option<Value>) {
        let any = match (when, self.row_of(site_id, values)) {
            (Some(when), _) => self.may_be_true(when),
            (None, Some((row, touch))) => return self.note_row((row, touch), site_id, values),
            (None, None) => return self.aside(|simd| simd.report(site_id, values, None)),
        };
        let (cold, after) = (self.scalar.builder.create_block(), self.scalar.builder.create_block());
        self.scalar.builder.set_cold_block(cold);
        self.scalar.builder.ins().brif(any, cold, &[], after, &[]);
        self.scalar.builder.switch_to_block(cold);
        self.aside(|simd| simd.report(site_id, values, when));
        self.scalar.builder.ins().jump(after, &[]);
        self.scalar.builder.switch_to_block(after);
    }

    /// Whether a condition may be true for an active lane. It may be true too often, but never too rarely.
    fn may_be_true(&mut self, when: Value) -> ir::Value {
        if self.shape(when) == Shape::Uniform {
            return self.scalar.value(when);
        }
        match self.shapes.def(when) {
            Some(&Op::Binary(Binary::Or, a, b)) => {
                let [a, b] = [a, b].map(|part| self.may_be_true(part));
                self.scalar.builder.ins().bor(a, b)
            }
            Some(&Op::Compare(Compare::GeU, a, b)) if self.rises(a) && self.shape(b) == Shape::Uniform => {
                self.ends_past(a, b)
            }
            _ => {
                let lanes = self.vector(when);
                let lanes = match self.active() {
                    Some(active) => {
                        let pairs = lanes.into_iter().zip(active);
                        pairs.map(|(own, runs)| self.scalar.builder.ins().band(own, runs)).collect()
                    }
                    None => lanes,
                };
                self.any(&lanes)
            }
        }
    }

    /// Whether the value increases from lane to lane, unless it wraps around.
    fn rises(&self, value: Value) -> bool {
        let is_exit_value = self.region.is_loop_exit_value(self.work.kernel, value, self.place);
        let rises = matches!(self.shape(value), Shape::Linear { stride: 1..=0xffff, exact: true });
        rises && !is_exit_value
    }

    /// Whether the last lane is not below a bound, or the value wraps around before it. Otherwise all lanes
    /// are below the bound.
    fn ends_past(&mut self, value: Value, bound: Value) -> ir::Value {
        let (first, last) = (self.lane(value, 0), self.lane(value, self.plan.width - 1));
        let bound = self.scalar.value(bound);
        let past = self.scalar.builder.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, last, bound);
        let wraps = self.scalar.builder.ins().icmp(IntCC::UnsignedLessThan, last, first);
        self.scalar.builder.ins().bor(past, wraps)
    }

    /// Calls the observer for the active lanes for which a condition is true.
    pub(super) fn report(&mut self, site_id: u32, values: &[Value], when: Option<Value>) {
        let there = self.lanes_there(when);
        let head = size_of::<Reached>();
        let size = head + values.len() * size_of::<Column>();
        let slot = StackSlotData::new(StackSlotKind::ExplicitSlot, size as u32, 4);
        let slot = self.scalar.builder.create_sized_stack_slot(slot);
        let at = self.scalar.builder.ins().stack_addr(types::I64, slot, 0);
        for (i, &value) in values.iter().enumerate() {
            let start = head + i * size_of::<Column>();
            for (j, vector) in self.vector(value).into_iter().enumerate() {
                self.scalar.builder.ins().store(own(), vector, at, (start + 16 * j) as i32);
            }
        }
        let which = |is: &dyn Fn(Ty) -> bool| {
            let bits = values.iter().enumerate().filter(|(_, value)| is(self.ty(**value)));
            bits.fold(0, |bits, (i, _)| bits | 1 << i)
        };
        let (wide, truths) = (which(&|ty| ty.size() == 8), which(&|ty| ty == Ty::Bool));
        let across = i64::from(self.plan.across == Across::Groups);
        let numbers = [i64::from(site_id), values.len() as i64, wide, truths];
        let numbers = numbers.map(|number| self.scalar.builder.ins().iconst(types::I32, number));
        let across = self.scalar.builder.ins().iconst(types::I32, across);
        let fields = self.scalar.place().into_iter().chain(numbers).chain([there, across]);
        for (i, field) in fields.enumerate() {
            self.scalar.builder.ins().store(own(), field, at, 4 * i as i32);
        }
        let mut signature = Signature::new(self.scalar.target.call_conv);
        signature.params.extend([AbiParam::new(types::I64); 2]);
        let signature = self.scalar.builder.import_signature(signature);
        let function = self.scalar.builder.ins().iconst(types::I64, reached as *const () as i64);
        self.scalar.builder.ins().call_indirect(signature, function, &[self.scalar.context, at]);
    }

    /// The active lanes for which a condition is true, as bits.
    pub(super) fn lanes_there(&mut self, when: Option<Value>) -> ir::Value {
        let active = self.active();
        let holds = when.filter(|&when| self.shape(when) != Shape::Uniform).map(|when| self.vector(when));
        match (active, holds) {
            (None, None) => self.scalar.builder.ins().iconst(types::I32, (1 << self.plan.width) - 1),
            (Some(lanes), None) | (None, Some(lanes)) => self.bits(&lanes),
            (Some(active), Some(holds)) => {
                let pairs = active.into_iter().zip(holds);
                let both: Vec<_> =
                    pairs.map(|(runs, holds)| self.scalar.builder.ins().band(runs, holds)).collect();
                self.bits(&both)
            }
        }
    }
}

/// Reports the lanes of a SIMD group at a site to the observer.
///
/// # Safety
/// Compiled code passes its context, which has an observer if the kernel is instrumented, and the arguments
/// that it stored.
unsafe extern "C" fn reached(context: *mut Context, reached: *const Reached) {
    // SAFETY: the code stored the head and as many columns as it says. This thread alone uses the observer
    // while the code runs.
    let (head, observation) = unsafe { (&*reached, &mut *(*context).observation) };
    if head.there == 0 {
        return;
    }
    // SAFETY: as above; the columns follow the head.
    let columns =
        unsafe { std::slice::from_raw_parts(reached.add(1).cast::<Column>(), head.n_values as usize) };
    let lanes = Lanes {
        group: head.group,
        local: head.local,
        local_size: observation.local_size,
        across: if head.across_groups == 1 { Across::Groups } else { Across::Row },
        there: head.there,
        wide: head.wide,
        truths: head.truths,
        columns,
    };
    observation.observer.reached_by_lanes(head.site_id, &lanes);
}
