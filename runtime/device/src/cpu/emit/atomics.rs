//! Atomic operations in CLIF. Those on ints are instructions. Those on floats are functions of this file,
//! which loop on compare-and-exchange.
//!
//! An address out of range gives zero. So does a misaligned one: it can only come from a buffer whose layout
//! is not its type's.

use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, Ordering};

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, AbiParam, AtomicRmwOp, InstBuilder, MemFlagsData, Signature, types};
use half::f16;

use super::ops::memory;
use super::scalar::{Emitter, clif};
use crate::Access;
use crate::cpu::lane::{Atomic, Ty, Value};

impl Emitter<'_, '_> {
    pub(super) fn atomic_load(&mut self, ty: Ty, address: Value) -> ir::Value {
        let address = self.value(address);
        let address = self.aligned(address, ty.size(), Access::Read);
        let bits = self.builder.ins().atomic_load(int(ty), memory(), address);
        self.value_of_bits(ty, bits)
    }

    pub(super) fn atomic(&mut self, op: Atomic, address: Value, value: Value) -> ir::Value {
        let ty = self.ty(value);
        let [address, value] = [address, value].map(|value| self.value(value));
        let address = self.aligned(address, ty.size(), Access::ReadWrite);
        let old = match rmw(op) {
            Some(op) => {
                let bits = self.bits_of(ty, value);
                let old = self.builder.ins().atomic_rmw(int(ty), memory(), op, address, bits);
                self.value_of_bits(ty, old)
            }
            None => self.call_atomic(float_function(op, ty), ty, address, value),
        };
        self.zero_in_scratch(ty, address, old)
    }

    pub(super) fn compare_exchange(&mut self, address: Value, expected: Value, value: Value) -> ir::Value {
        let ty = self.ty(value);
        let [address, expected, value] = [address, expected, value].map(|value| self.value(value));
        let address = self.aligned(address, ty.size(), Access::ReadWrite);
        let old = self.builder.ins().atomic_cas(memory(), address, expected, value);
        self.zero_in_scratch(ty, address, old)
    }

    pub(super) fn atomic_half(&mut self, op: Atomic, address: Value, value: Value) -> ir::Value {
        let [address, value] = [address, value].map(|value| self.value(value));
        let address = self.aligned(address, 2, Access::ReadWrite);
        let old = self.call_atomic(half_function(op), Ty::F32, address, value);
        self.zero_in_scratch(Ty::F32, address, old)
    }

    /// The address, or that of scratch memory where it is misaligned.
    fn aligned(&mut self, address: ir::Value, size: u32, access: Access) -> ir::Value {
        let rest = self.builder.ins().band_imm_u(address, i64::from(size) - 1);
        let scratch = self.scratch(access);
        self.builder.ins().select(rest, scratch, address)
    }

    /// The value that was read, but zero for scratch memory, which has arbitrary content.
    fn zero_in_scratch(&mut self, ty: Ty, address: ir::Value, old: ir::Value) -> ir::Value {
        let sink = self.scratch(Access::ReadWrite);
        let outside = self.builder.ins().icmp(IntCC::Equal, address, sink);
        let zero = self.constant(ty, 0);
        self.builder.ins().select(outside, zero, old)
    }

    fn call_atomic(&mut self, function: usize, ty: Ty, address: ir::Value, value: ir::Value) -> ir::Value {
        let mut signature = Signature::new(self.target.call_conv);
        signature.params.extend([types::I64, clif(ty)].map(AbiParam::new));
        signature.returns.push(AbiParam::new(clif(ty)));
        let signature = self.builder.import_signature(signature);
        let function = self.builder.ins().iconst(types::I64, function as i64);
        let call = self.builder.ins().call_indirect(signature, function, &[address, value]);
        self.builder.inst_results(call)[0]
    }

    fn bits_of(&mut self, ty: Ty, value: ir::Value) -> ir::Value {
        match ty {
            Ty::F32 | Ty::F64 => self.builder.ins().bitcast(int(ty), MemFlagsData::new(), value),
            _ => value,
        }
    }

    fn value_of_bits(&mut self, ty: Ty, bits: ir::Value) -> ir::Value {
        match ty {
            Ty::F32 | Ty::F64 => self.builder.ins().bitcast(clif(ty), MemFlagsData::new(), bits),
            _ => bits,
        }
    }
}

/// The int type of this width.
fn int(ty: Ty) -> ir::Type {
    if ty.size() == 8 { types::I64 } else { types::I32 }
}

/// `None` where there is no instruction.
fn rmw(op: Atomic) -> Option<AtomicRmwOp> {
    Some(match op {
        Atomic::Add => AtomicRmwOp::Add,
        Atomic::Sub => AtomicRmwOp::Sub,
        Atomic::And => AtomicRmwOp::And,
        Atomic::Or => AtomicRmwOp::Or,
        Atomic::Xor => AtomicRmwOp::Xor,
        Atomic::MinS => AtomicRmwOp::Smin,
        Atomic::MinU => AtomicRmwOp::Umin,
        Atomic::MaxS => AtomicRmwOp::Smax,
        Atomic::MaxU => AtomicRmwOp::Umax,
        Atomic::Exchange => AtomicRmwOp::Xchg,
        Atomic::FAdd | Atomic::FMin | Atomic::FMax => return None,
    })
}

fn float_function(op: Atomic, ty: Ty) -> usize {
    match (op, ty) {
        (Atomic::FAdd, Ty::F32) => add_f32 as *const () as usize,
        (Atomic::FMin, Ty::F32) => min_f32 as *const () as usize,
        (Atomic::FMax, Ty::F32) => max_f32 as *const () as usize,
        (Atomic::FAdd, Ty::F64) => add_f64 as *const () as usize,
        (Atomic::FMin, Ty::F64) => min_f64 as *const () as usize,
        (Atomic::FMax, Ty::F64) => max_f64 as *const () as usize,
        _ => unreachable!("atomics of floats are on 32 or 64 bits"),
    }
}

fn half_function(op: Atomic) -> usize {
    match op {
        Atomic::FAdd => add_half as *const () as usize,
        Atomic::FMin => min_half as *const () as usize,
        Atomic::FMax => max_half as *const () as usize,
        Atomic::Exchange => exchange_half as *const () as usize,
        _ => unreachable!("the others are atomics of ints"),
    }
}

macro_rules! half_atomics {
    ($($name:ident: $change:expr;)*) => {
        $(extern "C" fn $name(address: *mut u8, value: f32) -> f32 {
            // SAFETY: as for the wider floats below.
            let cell = unsafe { AtomicU16::from_ptr(address.cast()) };
            let change = |old| Some(f16::from_f32($change(f16::from_bits(old).to_f32(), value)).to_bits());
            let old = cell.fetch_update(Ordering::SeqCst, Ordering::SeqCst, change);
            f16::from_bits(old.expect("the change is always made")).to_f32()
        })*
    };
}

half_atomics! {
    add_half: |old: f32, value: f32| old + value;
    min_half: f32::min;
    max_half: f32::max;
    exchange_half: |_: f32, value: f32| value;
}

macro_rules! float_atomics {
    ($($name:ident: $float:ident in $cell:ident, $change:expr;)*) => {
        $(extern "C" fn $name(address: *mut u8, value: $float) -> $float {
            // SAFETY: the compiled code checked that the address is inside a buffer or in the context's
            // scratch memory, and that it is aligned.
            let cell = unsafe { $cell::from_ptr(address.cast()) };
            let change = |old| {
                let new: $float = $change($float::from_bits(old), value);
                Some(new.to_bits())
            };
            let old = cell.fetch_update(Ordering::SeqCst, Ordering::SeqCst, change);
            $float::from_bits(old.expect("the change is always made"))
        })*
    };
}

float_atomics! {
    add_f32: f32 in AtomicU32, |old: f32, value| old + value;
    min_f32: f32 in AtomicU32, f32::min;
    max_f32: f32 in AtomicU32, f32::max;
    add_f64: f64 in AtomicU64, |old: f64, value| old + value;
    min_f64: f64 in AtomicU64, f64::min;
    max_f64: f64 in AtomicU64, f64::max;
}
