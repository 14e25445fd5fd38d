//! What the module binds: buffers, the push-constant block, the inputs of an invocation.
//!
//! Set 0 binding `i` is the `i`-th array, or what PyShader's slot says. What arrives as a value is in
//! `params.rs`.

use rspirv::spirv::{BuiltIn, Decoration, StorageClass, Word};
use rustc_hash::FxHashMap;

use super::atomics::shared_bits;
use super::bits::bits_of;
use super::layout::Packing;
use super::module::Module;
use super::params::Blocks;
use super::record::ring_variable;
use super::textures::TextureVariables;
use crate::ir::{BufferId, Kernel, ScalarId, SharedId};
use crate::push::BlockKind;
use crate::signature::{Binding, BindingPlace, Capability, Target};
use crate::template::Input;
use crate::types::{Scalar, Type};

pub(crate) struct Interface {
    pub buffers: Vec<BufferVariable>,
    pub textures: TextureVariables,
    pub blocks: Blocks,
    inputs: FxHashMap<Input, Word>,
    /// The buffer of records, where there is one, and how many sites write to it.
    ring: Option<Word>,
    n_sites: u32,
    shared: FxHashMap<SharedId, Word>,
    /// Shared memory that holds the bits of its elements.
    pub shared_bits: Vec<SharedId>,
}

pub(crate) struct BufferVariable {
    pub id: Word,
    pub element: Type,
    /// The variable that sees its elements as ints.
    pub bits: Option<Word>,
    pub reads: bool,
    pub writes: bool,
}

impl Interface {
    pub fn new(kernel: &Kernel, target: &Target, module: &mut Module) -> Interface {
        let buffers = kernel
            .buffers
            .iter()
            .map(|buffer| {
                module.set_span(buffer.span);
                let packing = Packing::of_element(target.scalar_layout);
                let element = module.laid_type(&buffer.element, packing);
                let block = module.buffer_block(element, buffer.element.packed_size());
                let id = module.variable(StorageClass::StorageBuffer, block);
                module.name(id, &buffer.name);
                module.decorate(id, Decoration::DescriptorSet, &[buffer.set]);
                module.decorate(id, Decoration::Binding, &[buffer.binding]);
                let element = buffer.element.clone();
                BufferVariable { id, element, bits: None, reads: false, writes: false }
            })
            .collect();
        let blocks = Blocks::new(kernel, module);
        let textures = TextureVariables::new(kernel, module);
        Interface {
            buffers,
            textures,
            blocks,
            inputs: FxHashMap::default(),
            ring: None,
            n_sites: 0,
            shared: FxHashMap::default(),
            shared_bits: shared_bits(kernel, target),
        }
    }

    pub fn buffer(&mut self, buffer: BufferId) -> &mut BufferVariable {
        &mut self.buffers[buffer.idx()]
    }

    /// The buffer of records, made when first used.
    pub fn ring(&mut self, kernel: &Kernel, module: &mut Module) -> Word {
        *self.ring.get_or_insert_with(|| ring_variable(kernel, module))
    }

    /// Sites count from 1: a 0 ends the list of records.
    pub fn next_site(&mut self) -> u32 {
        self.n_sites += 1;
        self.n_sites
    }

    /// The variable of an input, made when first used.
    pub fn input(&mut self, input: Input, module: &mut Module) -> Word {
        if let Some(id) = self.inputs.get(&input) {
            return *id;
        }
        let ty = module.ty(&Type::of(input.n_components(), Scalar::U32));
        let id = module.variable(StorageClass::Input, ty);
        if matches!(input, Input::SubgroupId | Input::SubgroupLocalInvocationId | Input::SubgroupSize) {
            module.need(Capability::GroupNonUniform);
        }
        module.decorate_builtin(id, builtin(input));
        module.name(id, input.name());
        self.inputs.insert(input, id);
        id
    }

    /// A second variable for a buffer, through which its elements are seen as ints; made when first used.
    pub fn buffer_bits(
        &mut self,
        kernel: &Kernel,
        buffer: BufferId,
        bits: &Type,
        module: &mut Module,
    ) -> Word {
        let variable = &mut self.buffers[buffer.idx()];
        if let Some(id) = variable.bits {
            return id;
        }
        let def = &kernel.buffers[buffer.idx()];
        let element = module.ty(bits);
        let block = module.buffer_block(element, bits.packed_size());
        let id = module.variable(StorageClass::StorageBuffer, block);
        module.name(id, &format!("{}.bits", def.name));
        module.decorate(id, Decoration::DescriptorSet, &[def.set]);
        module.decorate(id, Decoration::Binding, &[def.binding]);
        for alias in [variable.id, id] {
            module.decorate(alias, Decoration::Aliased, &[]);
        }
        variable.bits = Some(id);
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

    /// Says what the kernel does with each buffer, once all of it is emitted.
    pub fn decorate_access(&self, kernel: &Kernel, module: &mut Module) {
        self.textures.decorate_access(kernel, module);
        for buffer in &self.buffers {
            // Behind a barrier an invocation sees what others of its workgroup wrote.
            if kernel.whole_groups && buffer.reads && buffer.writes {
                module.decorate(buffer.id, Decoration::Coherent, &[]);
            }
            if !buffer.writes {
                module.decorate(buffer.id, Decoration::NonWritable, &[]);
            }
            if !buffer.reads && buffer.writes {
                module.decorate(buffer.id, Decoration::NonReadable, &[]);
            }
        }
    }

    pub fn bindings(&self, kernel: &Kernel) -> Vec<Binding> {
        let buffers = kernel.buffers.iter().zip(&self.buffers).map(|(buffer, variable)| Binding {
            param_idx: buffer.param_idx,
            name: buffer.name.clone(),
            place: BindingPlace::Buffer {
                set: buffer.set,
                binding: buffer.binding,
                element: buffer.element.clone(),
                reads: variable.reads,
                writes: variable.writes,
            },
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
            buffers.chain(scalars).chain(TextureVariables::bindings(kernel)).collect();
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
        Input::SubgroupId => BuiltIn::SubgroupId,
        Input::SubgroupLocalInvocationId => BuiltIn::SubgroupLocalInvocationId,
        Input::SubgroupSize => BuiltIn::SubgroupSize,
    }
}
