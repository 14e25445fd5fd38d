//! Checked addresses: the address of a range of bytes, if all of it is inside its space.
//!
//! The limit of an access is the first offset at which it no longer fits. So one unsigned comparison
//! suffices, and negative offsets fail it too. Limits are computed once, before the loops over lanes.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, AbiParam, InstBuilder, Signature, types};
use cranelift_frontend::FunctionBuilder;
use rustc_hash::FxHashMap;

use super::context::{Context, Slot};
use super::scalar::{Emitter, fixed, lane_stride};
use crate::Access;
use crate::cpu::lane::regions::{Carried, Region};
use crate::cpu::lane::{Address, Kernel, Op, Space};

/// What the prologue computes.
#[derive(Default)]
pub(super) struct Spaces {
    buffers: FxHashMap<u32, (ir::Value, ir::Value)>,
    /// Keyed by the buffer, and by the bytes from the dynamic offset to the end of the access.
    limits: FxHashMap<(u32, u64), ir::Value>,
    push: Option<ir::Value>,
    shared: Option<ir::Value>,
    frame: Option<ir::Value>,
}

impl Spaces {
    pub fn prologue(
        kernel: &Kernel,
        region: &Region,
        carried: &Carried,
        builder: &mut FunctionBuilder<'_>,
        context: ir::Value,
    ) -> Spaces {
        let mut spaces = Spaces::default();
        for inst in region.blocks.iter().flat_map(|block| &kernel.blocks[block.0 as usize].insts) {
            match &inst.op {
                Op::Address(address) => spaces.prepare(address, builder, context),
                Op::BufferSize(buffer) => spaces.prepare_buffer(*buffer, builder, context),
                _ => {}
            }
        }
        if lane_stride(kernel, carried) > 0 {
            let frames = std::mem::offset_of!(Context, frames) as i32;
            spaces.frame = Some(builder.ins().load(types::I64, fixed(), context, frames));
        }
        spaces
    }

    /// Advances from the first lane's frame to the current one's.
    pub fn move_frame(&mut self, builder: &mut FunctionBuilder<'_>, offset: ir::Value) {
        self.frame = Some(builder.ins().iadd(self.frame(), offset));
    }

    fn prepare(&mut self, address: &Address, builder: &mut FunctionBuilder<'_>, context: ir::Value) {
        let field = |builder: &mut FunctionBuilder<'_>, offset: usize| {
            builder.ins().load(types::I64, fixed(), context, offset as i32)
        };
        match address.space {
            Space::Buffer(buffer) => {
                self.prepare_buffer(buffer, builder, context);
                let (size, need) = (self.buffers[&buffer].1, need(address));
                self.limits.entry((buffer, need)).or_insert_with(|| limit(builder, size, need));
            }
            Space::Push if self.push.is_none() => {
                self.push = Some(field(builder, std::mem::offset_of!(Context, push)));
            }
            Space::Shared if self.shared.is_none() => {
                self.shared = Some(field(builder, std::mem::offset_of!(Context, shared)));
            }
            Space::Device | Space::Push | Space::Shared | Space::Frame { .. } => {}
        }
    }

    fn prepare_buffer(&mut self, buffer: u32, builder: &mut FunctionBuilder<'_>, context: ir::Value) {
        self.buffers.entry(buffer).or_insert_with(|| {
            let slots = std::mem::offset_of!(Context, buffers) as i32;
            let slots = builder.ins().load(types::I64, fixed(), context, slots);
            let slot = buffer as i32 * size_of::<Slot>() as i32;
            let base = slot + std::mem::offset_of!(Slot, base) as i32;
            let size = slot + std::mem::offset_of!(Slot, size) as i32;
            let base = builder.ins().load(types::I64, fixed(), slots, base);
            (base, builder.ins().load(types::I64, fixed(), slots, size))
        });
    }

    pub fn buffer_size(&self, buffer: u32) -> ir::Value {
        self.buffers[&buffer].1
    }

    pub fn frame(&self) -> ir::Value {
        self.frame.expect("a kernel that uses its frame has one")
    }
}

/// Bytes from the dynamic offset to the end of the access.
fn need(address: &Address) -> u64 {
    address.constant + u64::from(address.size)
}

/// The first offset that is too large: `size - need + 1`, or 0 where nothing fits.
fn limit(builder: &mut FunctionBuilder<'_>, size: ir::Value, need: u64) -> ir::Value {
    let zero = builder.ins().iconst(types::I64, 0);
    let need = builder.ins().iconst(types::I64, need as i64);
    let rest = builder.ins().isub(size, need);
    let rest = builder.ins().iadd_imm_s(rest, 1);
    let fits = builder.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, size, need);
    builder.ins().select(fits, rest, zero)
}

/// A limit that is known at compile time, or a value.
#[derive(Clone, Copy)]
pub(super) enum Limit {
    Known(u64),
    Made(ir::Value),
}

impl Emitter<'_, '_> {
    pub(super) fn address(&mut self, address: &Address) -> ir::Value {
        if address.space == Space::Device {
            return self.device_address(address);
        }
        let limit = self.limit(address);
        let dynamic = address.dynamic.map(|dynamic| self.value(dynamic));
        let inside = self.inside(dynamic, limit);
        if let Inside::Never = inside {
            return self.scratch(address.access);
        }
        let base = self.base(address);
        let there = match dynamic {
            Some(dynamic) => self.builder.ins().iadd(base, dynamic),
            None => base,
        };
        match inside {
            Inside::If(inside) => {
                let scratch = self.scratch(address.access);
                self.builder.ins().select(inside, there, scratch)
            }
            Inside::Always | Inside::Never => there,
        }
    }

    /// A physical address, if the whole access is in one buffer.
    fn device_address(&mut self, address: &Address) -> ir::Value {
        let constant = self.builder.ins().iconst(types::I64, address.constant as i64);
        let at = match address.dynamic {
            Some(dynamic) => {
                let dynamic = self.value(dynamic);
                self.builder.ins().iadd(dynamic, constant)
            }
            None => constant,
        };
        let size = self.builder.ins().iconst(types::I64, i64::from(address.size));
        let scratch = self.scratch(address.access);
        let mut signature = Signature::new(self.target.call_conv);
        signature.params.extend([AbiParam::new(types::I64); 4]);
        signature.returns.push(AbiParam::new(types::I64));
        let signature = self.builder.import_signature(signature);
        let function = self.builder.ins().iconst(types::I64, find_address as *const () as i64);
        let args = [self.context, at, size, scratch];
        let call = self.builder.ins().call_indirect(signature, function, &args);
        self.builder.inst_results(call)[0]
    }

    /// The address of an access whose dynamic offset is zero.
    pub(super) fn base(&mut self, address: &Address) -> ir::Value {
        let (base, start) = match address.space {
            Space::Buffer(buffer) => (self.spaces.buffers[&buffer].0, 0),
            Space::Push => (self.spaces.push.expect("the prologue saw this access"), 0),
            Space::Shared => (self.spaces.shared.expect("the prologue saw this access"), 0),
            Space::Frame { start, .. } => (self.spaces.frame(), u64::from(start)),
            Space::Device => unreachable!("addresses of the device are found by a function"),
        };
        let constant = start + address.constant;
        if constant == 0 { base } else { self.builder.ins().iadd_imm_s(base, constant as i64) }
    }

    /// The first dynamic offset at which an access does not fit.
    pub(super) fn limit(&mut self, address: &Address) -> Limit {
        let need = need(address);
        let known = |size: u32| Limit::Known((u64::from(size) + 1).saturating_sub(need));
        match address.space {
            Space::Buffer(buffer) => {
                let size = self.spaces.buffer_size(buffer);
                let made = self.spaces.limits.get(&(buffer, need)).copied();
                Limit::Made(made.unwrap_or_else(|| limit(&mut self.builder, size, need)))
            }
            Space::Push => known(self.kernel.push_size),
            Space::Shared => known(self.kernel.shared_size),
            Space::Frame { size, .. } => known(size),
            Space::Device => unreachable!("addresses of the device are found by a function"),
        }
    }

    /// The minimum of a limit and a number.
    pub(super) fn lower_limit(&mut self, limit: Limit, bound: u64) -> Limit {
        match limit {
            Limit::Known(limit) => Limit::Known(limit.min(bound)),
            Limit::Made(limit) if bound < 1 << 62 => {
                let bound = self.builder.ins().iconst(types::I64, bound as i64);
                Limit::Made(self.builder.ins().umin(limit, bound))
            }
            limit @ Limit::Made(_) => limit,
        }
    }

    /// The minimum of a limit and a value.
    pub(super) fn lowest(&mut self, limit: Limit, bound: ir::Value) -> Limit {
        let limit = match limit {
            Limit::Known(limit) => self.builder.ins().iconst(types::I64, limit as i64),
            Limit::Made(limit) => limit,
        };
        Limit::Made(self.builder.ins().umin(limit, bound))
    }

    pub(super) fn inside(&mut self, dynamic: Option<ir::Value>, limit: Limit) -> Inside {
        match (dynamic, limit) {
            (None, Limit::Known(0)) | (Some(_), Limit::Known(0)) => Inside::Never,
            (None, Limit::Known(_)) => Inside::Always,
            (None, Limit::Made(limit)) => {
                Inside::If(self.builder.ins().icmp_imm_s(IntCC::NotEqual, limit, 0))
            }
            (Some(offset), Limit::Known(limit)) => {
                let below = IntCC::UnsignedLessThan;
                Inside::If(self.builder.ins().icmp_imm_s(below, offset, limit as i64))
            }
            (Some(offset), Limit::Made(limit)) => {
                Inside::If(self.builder.ins().icmp(IntCC::UnsignedLessThan, offset, limit))
            }
        }
    }

    /// The address of scratch memory for an access out of range.
    pub(super) fn scratch(&mut self, access: Access) -> ir::Value {
        let offset = match access {
            Access::Read => std::mem::offset_of!(Context, zeros),
            Access::Write | Access::ReadWrite => std::mem::offset_of!(Context, sink),
        };
        self.builder.ins().iadd_imm_s(self.context, offset as i64)
    }
}

/// `at` if `size` bytes from there are in a buffer of the device, else `scratch`.
///
/// # Safety
/// Compiled code passes its context, whose list of buffers is sorted by address.
unsafe extern "C" fn find_address(context: *const Context, at: u64, size: u64, scratch: u64) -> u64 {
    // SAFETY: the dispatch keeps the list alive while its code runs.
    let ranges = unsafe { std::slice::from_raw_parts((*context).ranges, (*context).n_ranges) };
    let after = ranges.partition_point(|range| range.base as u64 <= at);
    let inside = after.checked_sub(1).is_some_and(|i| {
        let offset = at - ranges[i].base as u64;
        offset.checked_add(size).is_some_and(|end| end <= ranges[i].size)
    });
    if inside { at } else { scratch }
}

pub(super) enum Inside {
    Always,
    Never,
    If(ir::Value),
}
