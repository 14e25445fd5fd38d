//! Lane operations in CLIF, one lane at a time. [`super::atomics`] has the atomic ones.

use cranelift_codegen::ir::condcodes::{CondCode, FloatCC, IntCC};
use cranelift_codegen::ir::{self, AbiParam, InstBuilder, MemFlagsData, Signature, types};

use super::scalar::{Emitter, clif};
use crate::cpu::lane::{Binary, Compare, Convert, Op, Ty, Unary, Value};
use crate::cpu::math::Function;

/// Frames up to this many bytes are cleared store by store.
const MAX_STORES_TO_CLEAR: u32 = 256;

/// Flags of accesses to valid memory, about which nothing else is known.
pub(super) fn memory() -> MemFlagsData {
    MemFlagsData::new().with_notrap()
}

impl Emitter<'_, '_> {
    /// Emits an operation. Returns its result, if it has one.
    pub(super) fn op(&mut self, op: &Op) -> Option<ir::Value> {
        Some(match op {
            Op::Unary(op, a) => self.unary(*op, *a),
            Op::Binary(op, a, b) => self.binary(*op, *a, *b),
            Op::Compare(op, a, b) => self.compare(*op, *a, *b),
            Op::Select(condition, a, b) => {
                let [condition, a, b] = [*condition, *a, *b].map(|value| self.value(value));
                self.builder.ins().select(condition, a, b)
            }
            Op::Convert(op, a) => self.convert(*op, *a),
            Op::Fma(a, b, c) => self.fma(*a, *b, *c),
            Op::Call(function, args) => {
                let args: Vec<_> = args.iter().map(|&arg| self.value(arg)).collect();
                self.call(*function, &args)
            }
            Op::Address(address) => self.address(address),
            Op::Load { ty, address, offset } => {
                // Push constants never change, so their loads may move out of the loops over lanes.
                let is_fixed = self.fixed_addresses.contains(address);
                let flags = if is_fixed { memory().with_readonly().with_can_move() } else { memory() };
                let address = self.value(*address);
                self.builder.ins().load(clif(*ty), flags, address, *offset as i32)
            }
            Op::Store { address, offset, value } => {
                let [address, value] = [*address, *value].map(|value| self.value(value));
                self.builder.ins().store(memory(), value, address, *offset as i32);
                return None;
            }
            Op::LoadNarrow { bytes, address, offset } => {
                let address = self.value(*address);
                let narrow = if *bytes == 1 { types::I8 } else { types::I16 };
                let loaded = self.builder.ins().load(narrow, memory(), address, *offset as i32);
                self.builder.ins().uextend(types::I32, loaded)
            }
            Op::StoreNarrow { bytes, address, offset, value } => {
                let [address, value] = [*address, *value].map(|value| self.value(value));
                let narrow = if *bytes == 1 { types::I8 } else { types::I16 };
                let value = self.builder.ins().ireduce(narrow, value);
                self.builder.ins().store(memory(), value, address, *offset as i32);
                return None;
            }
            Op::AtomicLoad { ty, address } => self.atomic_load(*ty, *address),
            Op::Atomic { op, address, value } => self.atomic(*op, *address, *value),
            Op::AtomicHalf { op, address, value } => self.atomic_half(*op, *address, *value),
            Op::CompareExchange { address, expected, value } => {
                self.compare_exchange(*address, *expected, *value)
            }
            Op::Image { image, action, place, texel } => {
                self.image(*image, *action, *place, *texel);
                return None;
            }
            Op::Texel { image, place } => self.texel(*image, *place),
            Op::ImageSize { image, axis } => self.image_size(*image, *axis),
            Op::BufferSize(buffer) => self.spaces.buffer_size(*buffer),
            Op::Get(_) | Op::Set(..) => unreachable!("locals were promoted to values"),
            Op::Instrument { site_id, values, when } => {
                self.instrument(*site_id, values, *when);
                return None;
            }
            Op::Unwritten => self.unwritten(),
            Op::Watched(buffer) => self.watched(*buffer),
            Op::Clear { start, size } => {
                self.clear(*start, *size);
                return None;
            }
            Op::Subgroup(_) => unreachable!("only SIMD code has subgroup operations as instructions"),
        })
    }

    fn unary(&mut self, op: Unary, a: Value) -> ir::Value {
        let is_bool = self.ty(a) == Ty::Bool;
        let a = self.value(a);
        let ins = self.builder.ins();
        match op {
            Unary::Neg => ins.ineg(a),
            Unary::Not if is_bool => ins.bxor_imm_u(a, 1),
            Unary::Not => ins.bnot(a),
            Unary::BitReverse => ins.bitrev(a),
            Unary::PopCount => ins.popcnt(a),
            Unary::LeadingZeros => ins.clz(a),
            Unary::TrailingZeros => ins.ctz(a),
            Unary::FNeg => ins.fneg(a),
            Unary::FAbs => ins.fabs(a),
            Unary::Sqrt => ins.sqrt(a),
            Unary::Floor => ins.floor(a),
            Unary::Ceil => ins.ceil(a),
            Unary::Trunc => ins.trunc(a),
            Unary::Nearest => ins.nearest(a),
        }
    }

    fn binary(&mut self, op: Binary, a: Value, b: Value) -> ir::Value {
        if let Binary::DivS | Binary::DivU | Binary::RemS | Binary::RemU | Binary::ModS = op {
            return self.division(op, a, b);
        }
        let [a, b] = [a, b].map(|value| self.value(value));
        let ins = self.builder.ins();
        match op {
            Binary::Add => ins.iadd(a, b),
            Binary::Sub => ins.isub(a, b),
            Binary::Mul => ins.imul(a, b),
            Binary::MulHighS => ins.smulhi(a, b),
            Binary::MulHighU => ins.umulhi(a, b),
            Binary::And => ins.band(a, b),
            Binary::Or => ins.bor(a, b),
            Binary::Xor => ins.bxor(a, b),
            Binary::Shl => ins.ishl(a, b),
            Binary::ShrS => ins.sshr(a, b),
            Binary::ShrU => ins.ushr(a, b),
            Binary::FAdd => ins.fadd(a, b),
            Binary::FSub => ins.fsub(a, b),
            Binary::FMul => ins.fmul(a, b),
            Binary::FDiv => ins.fdiv(a, b),
            Binary::DivS | Binary::DivU | Binary::RemS | Binary::RemU | Binary::ModS => {
                unreachable!("divisions went to `division`")
            }
        }
    }

    /// Replaces divisors that would trap by 1, and selects the right result afterwards.
    fn division(&mut self, op: Binary, a: Value, divisor: Value) -> ir::Value {
        let (ty, known) = (clif(self.ty(a)), self.as_const(divisor));
        let [a, b] = [a, divisor].map(|value| self.value(value));
        let ones = self.constant_ones(ty);
        let is_ones = |bits: u64| ty.bits() == 64 && bits == u64::MAX || bits == u64::from(u32::MAX);
        let signed = !matches!(op, Binary::DivU | Binary::RemU);
        let (zero, minus_one) = match known {
            Some(bits) => (bits == 0, signed && is_ones(bits)),
            None => (true, signed),
        };
        let is_zero = zero.then(|| self.builder.ins().icmp_imm_s(IntCC::Equal, b, 0));
        let is_minus_one = minus_one.then(|| self.builder.ins().icmp(IntCC::Equal, b, ones));
        let one = self.builder.ins().iconst(ty, 1);
        let mut safe = b;
        for trap in [is_zero, is_minus_one].into_iter().flatten() {
            safe = self.builder.ins().select(trap, one, safe);
        }
        let mut result = match op {
            Binary::DivS => self.builder.ins().sdiv(a, safe),
            Binary::DivU => self.builder.ins().udiv(a, safe),
            Binary::RemS => self.builder.ins().srem(a, safe),
            Binary::RemU => self.builder.ins().urem(a, safe),
            _ => self.floor_rem(a, safe),
        };
        // A remainder by -1 is 0, as is one by 1.
        if let (Binary::DivS, Some(is_minus_one)) = (op, is_minus_one) {
            let negated = self.builder.ins().ineg(a);
            result = self.builder.ins().select(is_minus_one, negated, result);
        }
        if let Some(is_zero) = is_zero {
            let nothing = self.builder.ins().iconst(ty, 0);
            result = self.builder.ins().select(is_zero, nothing, result);
        }
        result
    }

    fn constant_ones(&mut self, ty: ir::Type) -> ir::Value {
        self.builder.ins().iconst(ty, if ty == types::I32 { i64::from(u32::MAX) } else { -1 })
    }

    /// The remainder with the divisor's sign.
    fn floor_rem(&mut self, a: ir::Value, b: ir::Value) -> ir::Value {
        let rem = self.builder.ins().srem(a, b);
        let signs = self.builder.ins().bxor(rem, b);
        let differ = self.builder.ins().icmp_imm_s(IntCC::SignedLessThan, signs, 0);
        let some = self.builder.ins().icmp_imm_s(IntCC::NotEqual, rem, 0);
        let wrong = self.builder.ins().band(differ, some);
        let moved = self.builder.ins().iadd(rem, b);
        self.builder.ins().select(wrong, moved, rem)
    }

    fn compare(&mut self, op: Compare, a: Value, b: Value) -> ir::Value {
        let [a, b] = [a, b].map(|value| self.value(value));
        match condition(op) {
            Condition::Int(code) => self.builder.ins().icmp(code, a, b),
            Condition::Float(code) => self.builder.ins().fcmp(code, a, b),
        }
    }

    /// The negation of a boolean.
    pub(super) fn opposite(&mut self, boolean: Value) -> ir::Value {
        let Some(&(op, a, b)) = self.compared.get(&boolean) else {
            let boolean = self.value(boolean);
            return self.builder.ins().icmp_imm_s(IntCC::Equal, boolean, 0);
        };
        let [a, b] = [a, b].map(|value| self.value(value));
        match condition(op) {
            Condition::Int(code) => self.builder.ins().icmp(code.complement(), a, b),
            Condition::Float(code) => self.builder.ins().fcmp(code.complement(), a, b),
        }
    }

    fn convert(&mut self, op: Convert, a: Value) -> ir::Value {
        let to = clif(op.result(self.ty(a)));
        let a = self.value(a);
        let ins = self.builder.ins();
        match op {
            Convert::BoolToInt | Convert::ZeroExtend => ins.uextend(to, a),
            Convert::SignExtend => ins.sextend(to, a),
            Convert::Truncate => ins.ireduce(to, a),
            Convert::FloatToS(_) => ins.fcvt_to_sint_sat(to, a),
            Convert::FloatToU(_) => ins.fcvt_to_uint_sat(to, a),
            Convert::SToFloat(_) => ins.fcvt_from_sint(to, a),
            Convert::UToFloat(_) => ins.fcvt_from_uint(to, a),
            Convert::Promote => ins.fpromote(to, a),
            Convert::Demote => ins.fdemote(to, a),
            Convert::Bits => ins.bitcast(to, MemFlagsData::new(), a),
        }
    }

    fn fma(&mut self, a: Value, b: Value, c: Value) -> ir::Value {
        let ty = self.ty(a);
        let args = [a, b, c].map(|value| self.value(value));
        match ty {
            _ if self.target.fma => self.builder.ins().fma(args[0], args[1], args[2]),
            Ty::F32 => self.call(Function::Fma32, &args),
            _ => self.call(Function::Fma64, &args),
        }
    }

    fn call(&mut self, function: Function, args: &[ir::Value]) -> ir::Value {
        let mut signature = Signature::new(self.target.call_conv);
        signature.params.extend(function.params().iter().map(|&ty| AbiParam::new(clif(ty))));
        signature.returns.push(AbiParam::new(clif(function.result())));
        let signature = self.builder.import_signature(signature);
        let address = self.builder.ins().iconst(types::I64, function.address() as i64);
        let call = self.builder.ins().call_indirect(signature, address, args);
        self.builder.inst_results(call)[0]
    }

    fn clear(&mut self, start: u32, size: u32) {
        let frame = self.spaces.frame();
        self.clear_from(frame, start, size);
    }

    /// Zeroes bytes of memory from an address on.
    pub(super) fn clear_from(&mut self, frame: ir::Value, start: u32, size: u32) {
        let zero = self.builder.ins().iconst(types::I64, 0);
        if size <= MAX_STORES_TO_CLEAR {
            for offset in (start..start + size).step_by(8) {
                self.builder.ins().store(memory(), zero, frame, offset as i32);
            }
            return;
        }
        let mut signature = Signature::new(self.target.call_conv);
        signature.params.extend([AbiParam::new(types::I64); 2]);
        let signature = self.builder.import_signature(signature);
        let address = self.builder.ins().iconst(types::I64, clear_bytes as *const () as i64);
        let first = self.builder.ins().iadd_imm_s(frame, i64::from(start));
        let n = self.builder.ins().iconst(types::I64, i64::from(size));
        self.builder.ins().call_indirect(signature, address, &[first, n]);
    }
}

pub(super) enum Condition {
    Int(IntCC),
    Float(FloatCC),
}

pub(super) fn condition(op: Compare) -> Condition {
    match op {
        Compare::Eq => Condition::Int(IntCC::Equal),
        Compare::Ne => Condition::Int(IntCC::NotEqual),
        Compare::LtS => Condition::Int(IntCC::SignedLessThan),
        Compare::LeS => Condition::Int(IntCC::SignedLessThanOrEqual),
        Compare::GtS => Condition::Int(IntCC::SignedGreaterThan),
        Compare::GeS => Condition::Int(IntCC::SignedGreaterThanOrEqual),
        Compare::LtU => Condition::Int(IntCC::UnsignedLessThan),
        Compare::LeU => Condition::Int(IntCC::UnsignedLessThanOrEqual),
        Compare::GtU => Condition::Int(IntCC::UnsignedGreaterThan),
        Compare::GeU => Condition::Int(IntCC::UnsignedGreaterThanOrEqual),
        Compare::FEq => Condition::Float(FloatCC::Equal),
        Compare::FNe => Condition::Float(FloatCC::NotEqual),
        Compare::FLt => Condition::Float(FloatCC::LessThan),
        Compare::FLe => Condition::Float(FloatCC::LessThanOrEqual),
        Compare::FGt => Condition::Float(FloatCC::GreaterThan),
        Compare::FGe => Condition::Float(FloatCC::GreaterThanOrEqual),
    }
}

extern "C" fn clear_bytes(first: *mut u8, n: usize) {
    // SAFETY: compiled code passes a part of the lane's frame, whose size the kernel declares.
    unsafe { first.write_bytes(0, n) };
}
