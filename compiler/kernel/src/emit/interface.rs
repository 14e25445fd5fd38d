//! What the module binds: buffers, the push-constant block, the inputs of an invocation.
//!
//! The `i`-th array has set 0 and binding `i`, or PyShader's slot. Parameters that are values are in `params.rs`.

use rspirv::spirv::{BuiltIn, Decoration, MemoryModel, StorageClass, Word};
use rustc_hash::{FxHashMap, FxHashSet};

use super::layout::Packing;
use super::module::Module;
use super::params::Blocks;
use super::ports::Ports;
use super::reach::{Accesses, BufferVariable, fits_uniform};
use super::textures::TextureVariables;
use super::variables::{bits_of, failed_variable, ring_variable, shared_bits};
use crate::analysis::written_buffers;
use crate::ir::{BufferId, Kernel, ScalarId, SharedId};
use crate::push::BlockKind;
use crate::signature::{Binding, BindingPlace, Capability, Target};
use crate::stages::Stage;
use crate::template::Input;
use crate::types::{Scalar, Type};

pub(crate) struct Interface {
    pub buffers: Vec<BufferVariable>,
    pub textures: TextureVariables,
    pub blocks: Blocks,
    pub ports: Ports,
    inputs: FxHashMap<Input, Word>,
    /// The buffer of records, where there is one, and how many sites write to it.
    ring: Option<Word>,
    /// Whether an assertion of the invocation has failed, where that must be known.
    failed: Option<Word>,
    /// The functions in which an invocation may end.
    pub ending: FxHashSet<Word>,
    n_sites: u32,
    shared: FxHashMap<SharedId, Word>,
    /// Shared memory that holds the bits of its elements.
    pub shared_bits: Vec<SharedId>,
    /// Buffers that the kernel writes, where it says so at each access.
    written: FxHashSet<BufferId>,
}

impl Interface {
    pub fn new(kernel: &Kernel, target: &Target, module: &mut Module) -> Interface {
        let buffers = kernel
            .buffers
            .iter()
            .map(|buffer| {
                module.set_span(buffer.span);
                if buffer.is_uniform && fits_uniform(&buffer.element, target) {
                    return BufferVariable::uniform(buffer, module);
                }
                let packing = Packing::of_element(target.scalar_layout);
                let element = module.laid_type(&buffer.element, packing);
                BufferVariable::new(buffer, element, module)
            })
            .collect();
        let blocks = Blocks::new(kernel, module);
        let textures = TextureVariables::new(kernel, module);
        let ports = Ports::new(kernel, module);
        Interface {
            buffers,
            textures,
            blocks,
            ports,
            inputs: FxHashMap::default(),
            ring: None,
            failed: None,
            ending: FxHashSet::default(),
            n_sites: 0,
            shared: FxHashMap::default(),
            shared_bits: shared_bits(kernel, target),
            written: match module.model {
                MemoryModel::Vulkan => written_buffers(kernel),
                _ => FxHashSet::default(),
            },
        }
    }

    pub fn buffer(&mut self, buffer: BufferId) -> &mut BufferVariable {
        &mut self.buffers[buffer.idx()]
    }

    pub fn is_written(&self, buffer: BufferId) -> bool {
        self.written.contains(&buffer)
    }

    /// The buffer of records, made when first used.
    pub fn ring(&mut self, kernel: &Kernel, module: &mut Module) -> Word {
        *self.ring.get_or_insert_with(|| ring_variable(kernel, module))
    }

    /// The variable for whether an assertion of the invocation has failed, made at its first use.
    pub fn failed(&mut self, module: &mut Module) -> Word {
        *self.failed.get_or_insert_with(|| failed_variable(module))
    }

    /// Sites count from 1: a 0 ends the list of records.
    pub fn next_site(&mut self) -> u32 {
        self.n_sites += 1;
        self.n_sites
    }

    /// The variable of an input, made when first used.
    pub fn input(&mut self, kernel: &Kernel, input: Input, module: &mut Module) -> Word {
        if let Some(id) = self.inputs.get(&input) {
            return *id;
        }
        let ty = module.ty(&Type::of(input.n_components(), Scalar::U32));
        let id = module.variable(StorageClass::Input, ty);
        if input.is_of_subgroups() {
            module.need(Capability::GroupNonUniform);
        }
        module.decorate_builtin(id, builtin(input));
        if kernel.stage == Stage::Fragment {
            module.decorate(id, Decoration::Flat, &[]);
        }
        module.name(id, input.name());
        self.inputs.insert(input, id);
        id
    }

    /// The variable of an array of the workgroup's, made when first used.
    pub fn shared(&mut self, kernel: &Kernel, shared: SharedId, module: &mut Module) -> Word {
        if let Some(id) = self.shared.get(&shared) {
            return *id;
        }
        let def = &kernel.shared[shared.idx()];
        let ty = if self.shared_bits.contains(&shared) { bits_of(&def.ty) } else { def.ty.clone() };
        let ty = module.ty(&ty);
        let id = module.variable(StorageClass::Workgroup, ty);
        module.name(id, &def.name);
        self.shared.insert(shared, id);
        id
    }

    /// Variables of workgroups, in the order of the kernel's.
    pub fn shared_variables(&self) -> Vec<(SharedId, Word)> {
        let mut all: Vec<_> = self.shared.iter().map(|(shared, id)| (*shared, *id)).collect();
        all.sort_by_key(|(shared, _)| shared.idx());
        all
    }

    /// Decorates each buffer by its accesses, when the whole kernel is emitted.
    pub fn decorate_access(&self, kernel: &Kernel, module: &mut Module) {
        self.textures.decorate_access(kernel, module);
        for (id, variable) in (0..).map(BufferId::Param).zip(&self.buffers) {
            let memory = kernel.memory_of(id);
            variable.decorate_access(self.accesses(kernel, memory), kernel, module);
        }
    }

    /// The accesses to the memory of a parameter, those through its views included.
    fn accesses(&self, kernel: &Kernel, memory: BufferId) -> Accesses {
        let variables = (0..).map(BufferId::Param).zip(&self.buffers);
        let own = variables.filter(|(id, _)| kernel.memory_of(*id) == memory);
        let mut accesses = Accesses { n_variables: 0, reads: false, writes: false };
        for (_, variable) in own {
            accesses.n_variables += 1;
            accesses.reads |= variable.reads;
            accesses.writes |= variable.writes;
        }
        accesses
    }

    pub fn bindings(&self, kernel: &Kernel) -> Vec<Binding> {
        let params = (0..).map(BufferId::Param).zip(&kernel.buffers);
        let params = params.filter(|(_, buffer)| buffer.view_of.is_none());
        let buffers = params.map(|(id, buffer)| {
            let Accesses { reads, writes, .. } = self.accesses(kernel, id);
            Binding {
                param_idx: buffer.param_idx,
                name: buffer.name.clone(),
                place: BindingPlace::Buffer {
                    set: buffer.set,
                    binding: buffer.binding,
                    element: buffer.element.clone(),
                    reads,
                    writes,
                },
            }
        });
        let scalars = kernel.scalars.iter().zip(0..).filter_map(|(scalar, at)| {
            let place = kernel.push.place(ScalarId(at));
            let first = kernel.push.block(place.block).members.get(place.members.start)?;
            let (offset, ty) = (first.offset, scalar.ty.clone());
            let place = match place.block {
                BlockKind::Push => BindingPlace::PushConstant { offset, ty },
                BlockKind::Spill => BindingPlace::Uniform { offset, ty },
            };
            Some(Binding { param_idx: scalar.param_idx, name: scalar.name.clone(), place })
        });
        let mut bindings: Vec<Binding> =
            buffers.chain(scalars).chain(self.textures.bindings(kernel)).collect();
        bindings.sort_by_key(|binding| binding.param_idx);
        bindings
    }
}

fn builtin(input: Input) -> BuiltIn {
    match input {
        Input::GlobalInvocationId => BuiltIn::GlobalInvocationId,
        Input::LocalInvocationId => BuiltIn::LocalInvocationId,
        Input::LocalInvocationIndex => BuiltIn::LocalInvocationIndex,
        Input::WorkgroupId => BuiltIn::WorkgroupId,
        Input::NumWorkgroups => BuiltIn::NumWorkgroups,
        Input::WorkgroupSize => BuiltIn::WorkgroupSize,
        Input::NumSubgroups => BuiltIn::NumSubgroups,
        Input::SubgroupId => BuiltIn::SubgroupId,
        Input::SubgroupLocalInvocationId => BuiltIn::SubgroupLocalInvocationId,
        Input::SubgroupSize => BuiltIn::SubgroupSize,
    }
}
