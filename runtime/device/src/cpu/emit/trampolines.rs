//! Functions that SIMD code calls on rare paths, such as at the ends of arrays, and that preserve all
//! registers. An ordinary call may clobber every vector register. A rare one in a loop would spill them all.
//!
//! [`read_ahead`] prefetches memory on the common path, because the code generator has no such instruction.
//! It is next to its caller, since an indirect call costs twice as much.

use std::sync::OnceLock;

use cranelift_codegen::ir::{AbiParam, InstBuilder, Signature, UserFuncName, types};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::JITModule;
use cranelift_module::{FuncId, Module};

use super::{Effort, failed, new_jit, simd};
use crate::Result;

/// Their addresses, valid for the whole process. Each forwards its argument to the function of its name in
/// [`simd`].
#[derive(Clone, Copy)]
pub struct Trampolines {
    pub gather: usize,
    pub scatter: usize,
}

/// Compiled on first use.
pub fn trampolines() -> Result<Trampolines> {
    static TRAMPOLINES: OnceLock<Trampolines> = OnceLock::new();
    match TRAMPOLINES.get() {
        Some(trampolines) => Ok(*trampolines),
        None => {
            let trampolines = make()?;
            Ok(*TRAMPOLINES.get_or_init(|| trampolines))
        }
    }
}

fn make() -> Result<Trampolines> {
    // The code of a dropped module stays mapped.
    let mut jit = new_jit(Effort::Care)?;
    let mut builder_context = FunctionBuilderContext::new();
    let functions = [simd::gather as *const (), simd::scatter as *const ()];
    let mut ids = Vec::new();
    for function in functions {
        ids.push(trampoline(&mut jit, &mut builder_context, function as usize)?);
    }
    jit.finalize_definitions().map_err(failed)?;
    let [gather, scatter] = [0, 1].map(|i| jit.get_finalized_function(ids[i]) as usize);
    Ok(Trampolines { gather, scatter })
}

/// Cache lines that one call of [`read_ahead`] fetches, to amortise the call.
pub const N_LINES: usize = 4;

/// Defines a function that prefetches cache lines from an address on. It preserves all registers, and no
/// address faults. `None` on machines for which there is no code here.
pub fn read_ahead(jit: &mut JITModule) -> Result<Option<FuncId>> {
    let Some(code) = READ_AHEAD else { return Ok(None) };
    let id = jit.declare_anonymous_function(&call_signature()).map_err(failed)?;
    jit.define_function_bytes(id, CODE_ALIGNMENT, code, &[]).map_err(failed)?;
    Ok(Some(id))
}

/// Four times `prefetcht0 [rdi + 64 * i]`, and `ret`.
#[cfg(target_arch = "x86_64")]
const READ_AHEAD: Option<&[u8]> = Some(&[
    0x0f, 0x18, 0x0f, 0x0f, 0x18, 0x4f, 0x40, 0x0f, 0x18, 0x8f, 0x80, 0, 0, 0, 0x0f, 0x18, 0x8f, 0xc0, 0, 0,
    0, 0xc3,
]);
/// Four times `prfm pldl1keep, [x0, #64 * i]`, and `ret`.
#[cfg(target_arch = "aarch64")]
const READ_AHEAD: Option<&[u8]> = Some(&[
    0x00, 0x00, 0x80, 0xf9, 0x00, 0x20, 0x80, 0xf9, 0x00, 0x40, 0x80, 0xf9, 0x00, 0x60, 0x80, 0xf9, 0xc0,
    0x03, 0x5f, 0xd6,
]);
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const READ_AHEAD: Option<&[u8]> = None;
/// Alignment of functions in bytes.
const CODE_ALIGNMENT: u64 = 16;

/// `fn(argument)`, where the argument is an address. More arguments would occupy registers on the common
/// path.
fn signature(call_conv: CallConv) -> Signature {
    let mut signature = Signature::new(call_conv);
    signature.params.push(AbiParam::new(types::I64));
    signature
}

/// The signature for calls of a trampoline.
pub fn call_signature() -> Signature {
    signature(CallConv::PreserveAll)
}

fn trampoline(
    jit: &mut JITModule,
    builder_context: &mut FunctionBuilderContext,
    function: usize,
) -> Result<FuncId> {
    let mut context = jit.make_context();
    context.func.signature = call_signature();
    let id = jit.declare_anonymous_function(&context.func.signature).map_err(failed)?;
    context.func.name = UserFuncName::user(0, id.as_u32());
    let mut builder = FunctionBuilder::new(&mut context.func, builder_context);
    let entry = builder.create_block();
    builder.append_block_params_for_function_params(entry);
    builder.switch_to_block(entry);
    let args = builder.block_params(entry).to_vec();
    let ordinary = builder.import_signature(signature(jit.isa().default_call_conv()));
    let address = builder.ins().iconst(types::I64, function as i64);
    builder.ins().call_indirect(ordinary, address, &args);
    builder.ins().return_(&[]);
    builder.seal_all_blocks();
    builder.finalize(jit.target_config());
    jit.define_function(id, &mut context).map_err(failed)?;
    Ok(id)
}
