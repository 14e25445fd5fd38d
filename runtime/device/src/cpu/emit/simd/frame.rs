//! Private memory in SIMD groups, interleaved as [`crate::cpu::lane::frames`] describes. An access of all
//! lanes at one offset is one vector access; others go lane by lane.

use cranelift_codegen::ir::{self, AbiParam, BlockArg, InstBuilder, Signature, types};

use super::SimdGroup;
use super::values::vector_type;
use crate::cpu::emit::address::Inside;
use crate::cpu::emit::context::Context;
use crate::cpu::emit::ops::memory;
use crate::cpu::emit::scalar::{Emitter, clif, fixed};
use crate::cpu::lane::frames::is_own;
use crate::cpu::lane::shapes::Shape;
use crate::cpu::lane::{Address, Builtin, Op, Space, Ty, Value};

/// The start of the current SIMD group's private memory, if it has any.
pub(super) fn start(scalar: &mut Emitter<'_, '_>, has_regions: bool) -> Option<ir::Value> {
    let kernel = scalar.kernel;
    if kernel.frame_size == 0 {
        return None;
    }
    let frames = std::mem::offset_of!(Context, frames) as i32;
    let frames = scalar.builder.ins().load(types::I64, fixed(), scalar.context, frames);
    if !has_regions {
        return Some(frames);
    }
    let index = scalar.builtin(Builtin::LocalIndex);
    let index = scalar.builder.ins().uextend(types::I64, index);
    let offset = scalar.builder.ins().imul_imm_s(index, i64::from(kernel.frame_size));
    Some(scalar.builder.ins().iadd(frames, offset))
}

impl<'k> SimdGroup<'_, 'k, '_> {
    /// The address behind a value, if it is in private memory.
    pub(super) fn own_address(&self, value: Value) -> Option<&'k Address> {
        match self.shapes.def(value) {
            Some(Op::Address(address)) if is_own(address) => Some(address),
            _ => None,
        }
    }

    /// Whether all lanes access a whole granule at the same offset.
    fn is_alike(&self, address: &Address, size: u32) -> bool {
        let dynamic = address.dynamic.map_or(Shape::Uniform, |dynamic| self.shape(dynamic));
        size == self.plan.granule && dynamic == Shape::Uniform
    }

    pub(super) fn load_own(&mut self, address: &Address, ty: Ty, offset: u32) -> Vec<ir::Value> {
        if self.is_alike(address, ty.size()) {
            let there = self.own_place(address, offset, 0);
            let vectors = (0..self.n_vectors(ty)).map(|i| 16 * i as i32);
            return vectors
                .map(|at| self.scalar.builder.ins().load(vector_type(ty), memory(), there, at))
                .collect();
        }
        let lanes: Vec<_> = (0..self.plan.width)
            .map(|lane| {
                let there = self.own_place(address, offset, lane);
                self.scalar.builder.ins().load(clif(ty), memory(), there, 0)
            })
            .collect();
        self.gather(ty, &lanes)
    }

    pub(super) fn store_own(&mut self, address: &Address, offset: u32, value: Value) {
        let ty = self.ty(value);
        if !self.is_alike(address, ty.size()) {
            return self.store_own_lanes(address, offset, value);
        }
        let there = self.own_place(address, offset, 0);
        let mask = self.active();
        for (i, new) in self.vector(value).into_iter().enumerate() {
            let at = 16 * i as i32;
            let new = match &mask {
                Some(mask) => {
                    let old = self.scalar.builder.ins().load(vector_type(ty), memory(), there, at);
                    self.blend(Some(mask), i, ty, new, old)
                }
                None => new,
            };
            self.scalar.builder.ins().store(memory(), new, there, at);
        }
    }

    /// Stores lane by lane. Inactive lanes store to scratch memory.
    fn store_own_lanes(&mut self, address: &Address, offset: u32, value: Value) {
        let bits = self.active().map(|mask| self.bits(&mask));
        for lane in 0..self.plan.width {
            let own = self.lane(value, lane);
            let mut there = self.own_place(address, offset, lane);
            if let Some(bits) = bits {
                let sink = self.scalar.scratch(crate::Access::Write);
                let runs = self.scalar.builder.ins().band_imm_u(bits, 1 << lane);
                there = self.scalar.builder.ins().select(runs, there, sink);
            }
            self.scalar.builder.ins().store(memory(), own, there, 0);
        }
    }

    /// The address `offset` bytes after an address, for one lane. Scratch memory if it is out of range.
    pub(super) fn own_place(&mut self, address: &Address, offset: u32, lane: u32) -> ir::Value {
        let dynamic = address.dynamic.map(|dynamic| match self.shape(dynamic) {
            Shape::Uniform => self.scalar.value(dynamic),
            _ => self.lane(dynamic, lane),
        });
        let limit = self.scalar.limit(address);
        let inside = self.scalar.inside(dynamic, limit);
        if let Inside::Never = inside {
            return self.scalar.scratch(address.access);
        }
        let there = self.interleaved(address, offset, dynamic, lane);
        match inside {
            Inside::If(inside) => {
                let scratch = self.scalar.scratch(address.access);
                self.scalar.builder.ins().select(inside, there, scratch)
            }
            Inside::Always | Inside::Never => there,
        }
    }

    fn interleaved(
        &mut self,
        address: &Address,
        offset: u32,
        dynamic: Option<ir::Value>,
        lane: u32,
    ) -> ir::Value {
        let Space::Frame { start, .. } = address.space else {
            unreachable!("the address is one of the lane's memory")
        };
        let frame = self.frame.expect("a kernel with memory of its own has some");
        let [granule, width] = [self.plan.granule, self.plan.width].map(i64::from);
        let constant = i64::from(start) + address.constant as i64 + i64::from(offset);
        let column = i64::from(lane) * granule;
        if address.size >= self.plan.granule {
            let first = self.scalar.builder.ins().iadd_imm_s(frame, constant * width + column);
            return match dynamic {
                Some(dynamic) => {
                    let rows = self.scalar.builder.ins().imul_imm_s(dynamic, width);
                    self.scalar.builder.ins().iadd(first, rows)
                }
                None => first,
            };
        }
        // Inside a granule.
        let constant = self.scalar.builder.ins().iconst(types::I64, constant);
        let at = match dynamic {
            Some(dynamic) => self.scalar.builder.ins().iadd(dynamic, constant),
            None => constant,
        };
        let within = self.scalar.builder.ins().band_imm_s(at, granule - 1);
        let row = self.scalar.builder.ins().band_imm_s(at, -granule);
        let rows = self.scalar.builder.ins().imul_imm_s(row, width);
        let there = self.scalar.builder.ins().iadd(frame, rows);
        let there = self.scalar.builder.ins().iadd(there, within);
        self.scalar.builder.ins().iadd_imm_s(there, column)
    }

    /// Zeroes bytes in the memory of each active lane.
    pub(super) fn clear(&mut self, start: u32, size: u32) {
        let width = self.plan.width;
        let frame = self.frame.expect("a kernel with memory of its own has some");
        let Some(mask) = self.active() else {
            self.scalar.clear_from(frame, start * width, size * width);
            return;
        };
        let bits = self.bits(&mask);
        let all = self.scalar.builder.ins().icmp_imm_u(ir::condcodes::IntCC::Equal, bits, (1 << width) - 1);
        let [whole, part, after] = std::array::from_fn(|_| self.scalar.builder.create_block());
        let none: [BlockArg; 0] = [];
        self.scalar.builder.ins().brif(all, whole, &none, part, &none);
        self.scalar.builder.switch_to_block(whole);
        self.scalar.clear_from(frame, start * width, size * width);
        self.scalar.builder.ins().jump(after, &none);
        self.scalar.builder.switch_to_block(part);
        self.clear_some(frame, [start, size], bits);
        self.scalar.builder.ins().jump(after, &none);
        self.scalar.builder.switch_to_block(after);
    }

    fn clear_some(&mut self, frame: ir::Value, [start, size]: [u32; 2], bits: ir::Value) {
        let mut signature = Signature::new(self.scalar.target.call_conv);
        let kinds = [types::I64, types::I32, types::I32, types::I32, types::I32];
        signature.params.extend(kinds.map(AbiParam::new));
        let signature = self.scalar.builder.import_signature(signature);
        let function = self.scalar.builder.ins().iconst(types::I64, clear_lanes as *const () as i64);
        let first = self.scalar.builder.ins().iadd_imm_s(frame, i64::from(start * self.plan.width));
        let numbers = [size / self.plan.granule, self.plan.granule, self.plan.width];
        let [rows, granule, width] =
            numbers.map(|n| self.scalar.builder.ins().iconst(types::I32, i64::from(n)));
        self.scalar.builder.ins().call_indirect(signature, function, &[first, rows, granule, width, bits]);
    }
}

/// Zeroes the granules of some lanes.
extern "C" fn clear_lanes(first: *mut u8, rows: u32, granule: u32, width: u32, lanes: u32) {
    for row in 0..rows {
        for lane in (0..width).filter(|lane| lanes >> lane & 1 == 1) {
            let at = (row * width + lane) * granule;
            // SAFETY: compiled code passes a part of the SIMD group's memory, which has so many rows.
            unsafe { first.add(at as usize).write_bytes(0, granule as usize) };
        }
    }
}
