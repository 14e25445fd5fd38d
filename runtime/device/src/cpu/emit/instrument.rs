//! Instrumentation: calls to the dispatch's observer, in a cold block if there is a condition.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    self, AbiParam, InstBuilder, MemFlagsData, Signature, StackSlotData, StackSlotKind, types,
};

use super::context::Context;
use super::scalar::{Emitter, fixed};
use crate::Invocation;
use crate::cpu::lane::{Ty, Value};

/// The arguments of a call in memory. The values follow, eight bytes each. ORDER: compiled code stores at
/// these offsets.
#[repr(C)]
struct Reached {
    group: [u32; 3],
    local: [u32; 3],
    site_id: u32,
    n_values: u32,
}

const HEAD: u32 = size_of::<Reached>() as u32;

impl Emitter<'_, '_> {
    pub(super) fn instrument(&mut self, site_id: u32, values: &[Value], when: Option<Value>) {
        // Computed before the branch, because the block may reuse them after it, on every path.
        let values: Vec<(Ty, ir::Value)> =
            values.iter().map(|&value| (self.ty(value), self.value(value))).collect();
        let Some(when) = when else { return self.report(site_id, &values) };
        let when = self.value(when);
        let (cold, after) = (self.builder.create_block(), self.builder.create_block());
        self.builder.set_cold_block(cold);
        self.builder.ins().brif(when, cold, &[], after, &[]);
        self.builder.switch_to_block(cold);
        self.report(site_id, &values);
        self.builder.ins().jump(after, &[]);
        self.builder.switch_to_block(after);
    }

    fn report(&mut self, site_id: u32, values: &[(Ty, ir::Value)]) {
        let size = HEAD + 8 * values.len() as u32;
        let slot = StackSlotData::new(StackSlotKind::ExplicitSlot, size, 3);
        let slot = self.builder.create_sized_stack_slot(slot);
        let at = self.builder.ins().stack_addr(types::I64, slot, 0);
        let numbers = [i64::from(site_id), values.len() as i64];
        let numbers = numbers.map(|number| self.builder.ins().iconst(types::I32, number));
        for (i, value) in self.place().into_iter().chain(numbers).enumerate() {
            self.builder.ins().store(MemFlagsData::trusted(), value, at, 4 * i as i32);
        }
        for (i, &(ty, value)) in values.iter().enumerate() {
            let value = self.widened(ty, value);
            self.builder.ins().store(MemFlagsData::trusted(), value, at, (HEAD + 8 * i as u32) as i32);
        }
        let mut signature = Signature::new(self.target.call_conv);
        signature.params.extend([AbiParam::new(types::I64); 2]);
        let signature = self.builder.import_signature(signature);
        let function = self.builder.ins().iconst(types::I64, reached as *const () as i64);
        self.builder.ins().call_indirect(signature, function, &[self.context, at]);
    }

    /// Whether the workgroup may have left some shared memory unwritten.
    pub(super) fn unwritten(&mut self) -> ir::Value {
        let offset = std::mem::offset_of!(Context, stamps.unwritten) as i32;
        let unwritten = self.builder.ins().load(types::I32, fixed(), self.context, offset);
        self.builder.ins().icmp_imm_s(IntCC::NotEqual, unwritten, 0)
    }

    /// Whether the observer wants the accesses to a buffer, or to an image (counted after the buffers).
    pub(super) fn watched(&mut self, buffer: u32) -> ir::Value {
        let offset = std::mem::offset_of!(Context, watched) as i32;
        let watched = self.builder.ins().load(types::I64, fixed(), self.context, offset);
        self.builder.ins().load(types::I8, fixed(), watched, buffer as i32)
    }

    /// A value's bits, extended to 64.
    fn widened(&mut self, ty: Ty, value: ir::Value) -> ir::Value {
        let ins = self.builder.ins();
        match ty {
            Ty::I64 | Ty::F64 => value,
            Ty::Bool | Ty::I32 => ins.uextend(types::I64, value),
            Ty::F32 => {
                let bits = ins.bitcast(types::I32, MemFlagsData::new(), value);
                self.builder.ins().uextend(types::I64, bits)
            }
        }
    }
}

/// Reports a site to the observer.
///
/// # Safety
/// Compiled code passes its context, which has an observer if the kernel is instrumented, and the arguments
/// that it stored.
unsafe extern "C" fn reached(context: *mut Context, reached: *const Reached) {
    // SAFETY: the code stored the head and as many values as it says. This thread alone uses the observer
    // while the code runs.
    let (head, observation) = unsafe { (&*reached, &mut *(*context).observation) };
    // SAFETY: as above; the values follow the head.
    let values = unsafe { std::slice::from_raw_parts(reached.add(1).cast::<u64>(), head.n_values as usize) };
    let invocation = Invocation::new(head.group, head.local, observation.local_size);
    observation.observer.reached(head.site_id, invocation, values);
}
