//! The interface of a kernel: its parameters and its memory of a workgroup, in the order in which inference meets them.
//!
//! An id is given where a part is added, and leads to it after that.

pub(super) mod outputs;
pub(super) mod params;
pub(super) mod stages;

use std::ops::{Index, IndexMut};

use crate::infer::builtin_calls::textures::TextureUses;
use crate::ir::{
    Buffer, BufferId, Kernel, Port, PortId, SamplerId, SamplerParam, ScalarId, ScalarParam, Shared, SharedId,
    Texture, TextureId,
};
use crate::types::Type;

#[derive(Default)]
pub(crate) struct Interface {
    buffers: Vec<Buffer>,
    scalars: Vec<ScalarParam>,
    shared: Vec<Shared>,
    textures: Vec<Texture>,
    /// One for each texture.
    texture_uses: Vec<TextureUses>,
    samplers: Vec<SamplerParam>,
    /// The inputs and outputs of a vertex or fragment function.
    ports: Vec<Port>,
}

impl Interface {
    pub fn add_buffer(&mut self, buffer: Buffer) -> BufferId {
        self.buffers.push(buffer);
        BufferId::Param(self.buffers.len() as u32 - 1)
    }

    /// The view of a parameter's memory as elements of this type: one for each type.
    pub fn view(&mut self, memory: BufferId, element: &Type) -> BufferId {
        let is_same = |buffer: &Buffer| buffer.view_of == Some(memory) && buffer.element == *element;
        if let Some(known) = self.buffers.iter().position(is_same) {
            return BufferId::Param(known as u32);
        }
        let of = self[memory].clone();
        let is_larger = element.packed_size() >= of.element.packed_size();
        self.add_buffer(Buffer {
            name: format!("{}.view({element})", of.name).into(),
            element: element.clone(),
            rank: 1,
            counts: if is_larger { of.counts } else { of.bytes },
            view_of: Some(memory),
            ..of
        })
    }

    pub fn add_scalar(&mut self, scalar: ScalarParam) -> ScalarId {
        self.scalars.push(scalar);
        ScalarId(self.scalars.len() as u32 - 1)
    }

    pub fn add_shared(&mut self, shared: Shared) -> SharedId {
        self.shared.push(shared);
        SharedId(self.shared.len() as u32 - 1)
    }

    pub fn add_texture(&mut self, texture: Texture) -> TextureId {
        self.textures.push(texture);
        self.texture_uses.push(TextureUses::default());
        TextureId(self.textures.len() as u32 - 1)
    }

    pub fn add_sampler(&mut self, sampler: SamplerParam) -> SamplerId {
        self.samplers.push(sampler);
        SamplerId(self.samplers.len() as u32 - 1)
    }

    pub fn add_port(&mut self, port: Port) -> PortId {
        self.ports.push(port);
        PortId(self.ports.len() as u32 - 1)
    }

    /// The first binding of set 0 that no parameter has, where none says its slot.
    pub fn next_binding(&self) -> u32 {
        (self.buffers.len() + self.textures.len() + self.samplers.len()) as u32
    }

    pub fn uses_of(&mut self, texture: TextureId) -> &mut TextureUses {
        &mut self.texture_uses[texture.idx()]
    }

    /// Each texture with its uses.
    pub fn used_textures(&mut self) -> impl Iterator<Item = (&mut Texture, TextureUses)> {
        self.textures.iter_mut().zip(self.texture_uses.iter().copied())
    }

    /// Takes over the arrays of a kernel and its memory of a workgroup.
    pub fn see_arrays(&mut self, kernel: &Kernel) {
        self.buffers = kernel.buffers.clone();
        self.shared = kernel.shared.clone();
    }

    /// Moves all to a kernel.
    pub fn give_to(self, kernel: &mut Kernel) {
        kernel.buffers = self.buffers;
        kernel.scalars = self.scalars;
        kernel.shared = self.shared;
        kernel.textures = self.textures;
        kernel.samplers = self.samplers;
        kernel.ports = self.ports;
    }
}

macro_rules! index {
    ($parts:ident, $id:ident, $part:ident) => {
        impl Index<$id> for Interface {
            type Output = $part;

            fn index(&self, id: $id) -> &$part {
                &self.$parts[id.idx()]
            }
        }

        impl IndexMut<$id> for Interface {
            fn index_mut(&mut self, id: $id) -> &mut $part {
                &mut self.$parts[id.idx()]
            }
        }
    };
}

index!(buffers, BufferId, Buffer);
index!(shared, SharedId, Shared);
index!(textures, TextureId, Texture);
index!(ports, PortId, Port);
