//! Compiles the lane IR to machine code. [`scalar`] runs one lane at a time, and [`simd`] runs neighbouring
//! lanes at once. [`context`] is shared by code and host.

mod address;
mod atomics;
pub mod context;
mod images;
mod instrument;
mod ops;
mod scalar;
mod simd;
mod trampolines;

use std::sync::{Mutex, OnceLock, PoisonError};

use cranelift_codegen::ir::{AbiParam, Signature, UserFuncName, types};
use cranelift_codegen::isa::{CallConv, OwnedTargetIsa};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Module, ModuleError};

use self::context::Entry;
pub use self::scalar::{lane_stride, lanes_wait};
use self::trampolines::Trampolines;
use super::errors;
use super::lane::Kernel;
use super::lane::regions::{Carried, Region, Regions};
use super::lane::simd::{Across, Plan, RegionPlan};
use super::module::Line;
use crate::{DeviceError, Result};

/// How much the code is optimised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// Little: it compiles fast.
    Quick,
    Care,
}

/// Code of one kernel. The memory is freed with it.
pub struct Code {
    /// One for each region.
    pub entries: Vec<Entry>,
    /// Where SIMD groups span workgroups, the code for those that fill no SIMD group.
    pub rest: Option<Rest>,
    /// The number of each region in the kernel as it was loaded.
    pub numbers: Vec<usize>,
    /// Whether lanes may wait at different places.
    pub lanes_diverge: bool,
    memory: CodeMemory,
}

/// Code that runs workgroups one by one.
#[derive(Clone, Copy)]
pub struct Rest {
    pub entry: Entry,
    /// Workgroups of a whole SIMD group.
    pub width: u32,
}

impl Code {
    /// Size of its pages.
    pub fn n_bytes(&self) -> usize {
        self.memory.n_bytes.next_multiple_of(PAGE)
    }
}

const PAGE: usize = 4096;

/// The memory of the code.
struct CodeMemory {
    /// Never locked: the mutex makes the type `Sync`. `None` while it is dropped.
    jit: Mutex<Option<JITModule>>,
    n_bytes: usize,
}

impl Drop for CodeMemory {
    fn drop(&mut self) {
        if let Some(jit) = self.jit.get_mut().unwrap_or_else(PoisonError::into_inner).take() {
            // SAFETY: every caller of the code owns the `Code` that this is part of, and it is being dropped.
            // No call is running and none can begin.
            unsafe { jit.free_memory() };
        }
    }
}

/// Compiles a kernel. With a plan, it runs in SIMD groups. The lines at which it may stop go into a table.
pub fn compile(
    kernel: &Kernel,
    regions: &Regions,
    carried: &Carried,
    plan: Option<&Plan>,
    lines: &mut LineTable,
    effort: Effort,
) -> Result<Code> {
    let simd =
        plan.map(|plan| trampolines::trampolines().map(|trampolines| (plan, trampolines))).transpose()?;
    let mut maker =
        Maker { jit: new_jit(effort)?, builder_context: FunctionBuilderContext::new(), lines, n_bytes: 0 };
    let read_ahead = match plan {
        Some(_) => trampolines::read_ahead(&mut maker.jit)?,
        None => None,
    };
    let mut ids = Vec::new();
    for (i, region) in regions.all.iter().enumerate() {
        let simd = simd.map(|(plan, trampolines)| SimdWork {
            plan,
            region: &plan.regions[i],
            trampolines,
            read_ahead,
        });
        ids.push(maker.function(Work { kernel, regions, region, carried }, simd)?);
    }
    let across = plan.filter(|plan| plan.across == Across::Groups);
    if across.is_some() {
        let work = Work { kernel, regions, region: &regions.all[0], carried };
        ids.push(maker.function(work, None)?);
    }
    let Maker { mut jit, n_bytes, .. } = maker;
    jit.finalize_definitions().map_err(failed)?;
    let entry = |id: &FuncId| {
        let address = jit.get_finalized_function(*id);
        // SAFETY: the function has the signature of `Entry`, with the platform's C calling convention.
        unsafe { std::mem::transmute::<*const u8, Entry>(address) }
    };
    let mut entries: Vec<Entry> = ids.iter().map(entry).collect();
    let rest = across.map(|plan| {
        let entry = entries.pop().expect("it was made last");
        Rest { entry, width: plan.width }
    });
    let (numbers, lanes_diverge) = (regions.numbers.clone(), !kernel.group_ops.is_empty());
    let memory = CodeMemory { jit: Mutex::new(Some(jit)), n_bytes };
    Ok(Code { entries, rest, numbers, lanes_diverge, memory })
}

struct Maker<'m> {
    jit: JITModule,
    builder_context: FunctionBuilderContext,
    lines: &'m mut LineTable,
    /// Size of the code so far.
    n_bytes: usize,
}

impl Maker<'_> {
    /// Emits the function of a region.
    fn function(&mut self, work: Work<'_>, simd: Option<SimdWork<'_>>) -> Result<FuncId> {
        let Maker { jit, builder_context, lines, n_bytes } = self;
        let mut context = jit.make_context();
        context.func.signature = entry_signature(jit.isa().default_call_conv());
        let id = jit.declare_anonymous_function(&context.func.signature).map_err(failed)?;
        context.func.name = UserFuncName::user(0, id.as_u32());
        let target = Target { call_conv: jit.isa().default_call_conv(), fma: has_fma() };
        let read_ahead = simd.and_then(|simd| simd.read_ahead);
        let read_ahead = read_ahead.map(|id| jit.declare_func_in_func(id, &mut context.func));
        let builder = FunctionBuilder::new(&mut context.func, builder_context);
        let config = jit.target_config();
        match simd {
            Some(simd) => simd::emit(work, target, simd, read_ahead, lines, builder, config),
            None => scalar::emit(work, target, lines, builder, config),
        }
        jit.define_function(id, &mut context).map_err(failed)?;
        *n_bytes += context.compiled_code().map_or(0, |code| code.code_info().total_size as usize);
        Ok(id)
    }
}

/// The input of one function.
#[derive(Clone, Copy)]
struct Work<'k> {
    kernel: &'k Kernel,
    regions: &'k Regions,
    region: &'k Region,
    carried: &'k Carried,
}

/// How a function runs in SIMD groups.
#[derive(Clone, Copy)]
struct SimdWork<'p> {
    plan: &'p Plan,
    region: &'p RegionPlan,
    trampolines: Trampolines,
    /// The module's [`trampolines::read_ahead`].
    read_ahead: Option<FuncId>,
}

/// Properties of the machine.
#[derive(Clone, Copy)]
pub struct Target {
    pub call_conv: CallConv,
    /// Whether it has an instruction for a fused multiply-add.
    pub fma: bool,
}

fn has_fma() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("fma");
    #[cfg(not(target_arch = "x86_64"))]
    return cfg!(target_arch = "aarch64");
}

fn entry_signature(call_conv: CallConv) -> Signature {
    let mut signature = Signature::new(call_conv);
    let params = [types::I64, types::I32, types::I32, types::I32, types::I32];
    signature.params.extend(params.map(AbiParam::new));
    signature.returns.push(AbiParam::new(types::I32));
    signature
}

fn new_jit(effort: Effort) -> Result<JITModule> {
    static QUICK: OnceLock<OwnedTargetIsa> = OnceLock::new();
    static CARE: OnceLock<OwnedTargetIsa> = OnceLock::new();
    let known = match effort {
        Effort::Quick => &QUICK,
        Effort::Care => &CARE,
    };
    let isa = match known.get() {
        Some(isa) => isa.clone(),
        None => {
            let isa = isa(effort).map_err(|message| errors::no_compiler(&message))?;
            known.get_or_init(|| isa).clone()
        }
    };
    Ok(JITModule::new(JITBuilder::with_isa(isa, cranelift_module::default_libcall_names())))
}

fn isa(effort: Effort) -> std::result::Result<OwnedTargetIsa, String> {
    let mut flags = settings::builder();
    let (opt_level, allocator) = match effort {
        Effort::Quick => ("none", "single_pass"),
        Effort::Care => ("speed", "backtracking"),
    };
    let verify = if cfg!(debug_assertions) { "true" } else { "false" };
    let set = [
        ("opt_level", opt_level),
        ("regalloc_algorithm", allocator),
        ("enable_verifier", verify),
        ("is_pic", "false"),
        ("use_colocated_libcalls", "false"),
        ("unwind_info", "false"),
        // Addresses out of range are replaced by a select, so speculation cannot bypass the check.
        ("enable_heap_access_spectre_mitigation", "false"),
        ("enable_table_access_spectre_mitigation", "false"),
    ];
    for (name, value) in set {
        flags.set(name, value).map_err(|error| error.to_string())?;
    }
    let builder = cranelift_native::builder().map_err(str::to_owned)?;
    builder.finish(settings::Flags::new(flags)).map_err(|error| error.to_string())
}

fn failed(error: ModuleError) -> DeviceError {
    errors::too_large(format!("its code cannot be made: {error}"), None)
}

/// Lines in the order of their first use.
#[derive(Default)]
pub struct LineTable {
    lines: Vec<Option<Line>>,
}

impl LineTable {
    pub fn place(&mut self, line: Option<Line>) -> usize {
        self.lines.iter().position(|known| *known == line).unwrap_or_else(|| {
            self.lines.push(line);
            self.lines.len() - 1
        })
    }

    pub fn line(&self, place: usize) -> Option<Line> {
        self.lines.get(place).copied().flatten()
    }
}
