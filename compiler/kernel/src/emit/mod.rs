//! The emitter: a verified kernel in, a SPIR-V module out.
//!
//! Each file emits a family of instructions:
//! - `control`: the tree of statements; `values`: the nodes; `ints`, `floats`, `convert`, `vectors`: arithmetic;
//! - `memory`: locals and buffers, with addresses from `reach` and types from `layout`; `stored`, `bits`: values that
//!   memory holds in another type;
//! - `opaque`: constants that no optimizer knows;
//! - `coop`: cooperative matrices; `atomics`, `narrow`, `subgroup`: operations between invocations;
//! - `checks`: check instructions; `debug`: debug information;
//! - `interface`: bindings; `ports`: inputs and outputs of a graphics stage; `module`: what functions share.

mod atomics;
mod bits;
mod checks;
mod control;
mod convert;
mod coop;
mod debug;
mod ends;
mod fills;
mod floats;
mod function;
mod interface;
mod ints;
mod layout;
mod memory;
mod module;
mod narrow;
mod opaque;
mod params;
mod ports;
mod reach;
mod record;
mod stored;
mod subgroup;
mod textures;
mod values;
mod variables;
mod vectors;

use kps_syntax::{Diagnostics, Location};
use rspirv::spirv::{MemoryModel, Word};

use self::function::FunctionEmitter;
use self::interface::Interface;
use self::module::{EntryPoint, Module};
use crate::ir::{Entry, Kernel, SharedId};
use crate::signature::{KernelModule, Target};
use crate::verify::Verified;

pub(crate) fn emit(kernel: &Verified<Kernel>, target: &Target) -> KernelModule {
    let kernel = kernel.get();
    let main = kernel.functions.last().expect("a verified kernel has its own function");
    let model = if kernel.has_matrices() { MemoryModel::Vulkan } else { MemoryModel::GLSL450 };
    let mut module = Module::new(main.source.at(main.span), model);
    if target.debug_info {
        module.begin_debug_info(&main.source);
    }
    let mut interface = Interface::new(kernel, target, &mut module);
    let ids = function_ids(kernel, &mut module);
    for (function, id) in kernel.functions.iter().zip(&ids) {
        let Some(id) = *id else { continue };
        match &function.called_for {
            Some(place) => module.set_place(place),
            None => module.set_source(&function.source),
        }
        FunctionEmitter::new(kernel, function, &ids, target, &mut module, &mut interface).emit(id);
    }
    interface.decorate_access(kernel, &mut module);
    module.debug_globals(kernel, &interface);
    let main_id = ids.last().copied().flatten().expect("the kernel itself is always emitted");
    let entry_id = match kernel.entry {
        Entry::Kernel => main_id,
        Entry::Wrapper => ends::wrapper(&mut module, main_id),
    };
    let capabilities = module.capabilities();
    let entry = EntryPoint {
        main: entry_id,
        stage: kernel.stage,
        local_size: kernel.local_size,
        replaces_depth: ports::replaces_depth(kernel),
        float_controls: kernel.precise && target.float_controls,
    };
    KernelModule {
        stage: kernel.stage,
        local_size: kernel.local_size,
        has_domain: kernel.has_domain,
        whole_groups: kernel.whole_groups,
        bindings: interface.bindings(kernel),
        push_constant_size: kernel.push.push.size,
        uniform_size: kernel.push.spill.size,
        index_limits: kernel.index_limits.clone(),
        capabilities,
        shared: interface
            .shared_variables()
            .into_iter()
            .map(|(shared, _)| shared_declaration(kernel, shared))
            .collect(),
        words: module.finish(&entry),
        warnings: Diagnostics::new(),
    }
}

/// The place of a declaration of shared memory, and its bytes.
fn shared_declaration(kernel: &Kernel, shared: SharedId) -> (Location, u64) {
    let shared = &kernel.shared[shared.idx()];
    (shared.at.clone(), shared.ty.packed_size().into())
}

/// Ids for the functions that the kernel reaches.
fn function_ids(kernel: &Kernel, module: &mut Module) -> Vec<Option<Word>> {
    kernel.reached().into_iter().map(|reached| reached.then(|| module.id())).collect()
}
