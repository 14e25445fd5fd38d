//! Textures and samplers: types, variables, reads, writes and samples.

use rspirv::spirv::{Decoration, Dim, ImageFormat, ImageOperands, Op, StorageClass, Word};

use super::function::FunctionEmitter;
use super::module::{ImageUse, Module, Operand, TypeKey};
use crate::ir::{Kernel, NodeId, SamplerId, Texture, TextureId};
use crate::signature::{Binding, BindingPlace, Capability};
use crate::stages::Stage;
use crate::types::{Scalar, Type};

/// The variables of a kernel's textures and samplers.
#[derive(Default)]
pub(crate) struct TextureVariables {
    textures: Vec<TextureVariable>,
    samplers: Vec<Word>,
}

struct TextureVariable {
    id: Word,
    ty: Word,
    reads: bool,
    writes: bool,
}

impl TextureVariables {
    pub fn new(kernel: &Kernel, module: &mut Module) -> TextureVariables {
        let textures = kernel.textures.iter().map(|texture| {
            module.set_span(texture.span);
            let ty = image_type(texture, module);
            let id = module.variable(StorageClass::UniformConstant, ty);
            place(module, id, &texture.name, (texture.set, texture.binding));
            TextureVariable { id, ty, reads: false, writes: false }
        });
        let textures = textures.collect();
        let samplers = kernel.samplers.iter().map(|sampler| {
            module.set_span(sampler.span);
            let ty = sampler_type(module);
            let id = module.variable(StorageClass::UniformConstant, ty);
            place(module, id, &sampler.name, (sampler.set, sampler.binding));
            id
        });
        TextureVariables { textures, samplers: samplers.collect() }
    }

    /// Decorates each storage image by its accesses, when the whole kernel is emitted.
    pub fn decorate_access(&self, kernel: &Kernel, module: &mut Module) {
        for (texture, variable) in kernel.textures.iter().zip(&self.textures) {
            if texture.is_sampled {
                continue;
            }
            if !variable.writes {
                module.decorate(variable.id, Decoration::NonWritable, &[]);
            } else if !variable.reads {
                module.decorate(variable.id, Decoration::NonReadable, &[]);
            }
        }
    }

    /// The binding of each texture and sampler, and its uses, when the whole kernel is emitted.
    pub fn bindings(&self, kernel: &Kernel) -> impl Iterator<Item = Binding> {
        let textures = kernel.textures.iter().zip(&self.textures).map(|(texture, variable)| Binding {
            param_idx: texture.param_idx,
            name: texture.name.clone(),
            place: BindingPlace::Texture {
                set: texture.set,
                binding: texture.binding,
                reads: variable.reads,
                writes: variable.writes,
            },
        });
        let samplers = kernel.samplers.iter().map(|sampler| Binding {
            param_idx: sampler.param_idx,
            name: sampler.name.clone(),
            place: BindingPlace::Sampler { set: sampler.set, binding: sampler.binding },
        });
        textures.chain(samplers)
    }
}

fn place(module: &mut Module, id: Word, name: &str, (set, binding): (u32, u32)) {
    module.name(id, name);
    module.decorate(id, Decoration::DescriptorSet, &[set]);
    module.decorate(id, Decoration::Binding, &[binding]);
}

fn image_type(texture: &Texture, module: &mut Module) -> Word {
    let scalar = module.scalar(texture.ty.scalar);
    if texture.ty.n_axes == 1 {
        module.need(if texture.is_sampled { Capability::Sampled1D } else { Capability::Image1D });
    }
    if !texture.is_sampled && texture.ty.is_extended() {
        module.need(Capability::StorageImageExtendedFormats);
    }
    let format = match texture.ty.format {
        Some(format) if !texture.is_sampled => format,
        _ => ImageFormat::Unknown,
    };
    let image_use = if texture.is_sampled { ImageUse::Sampled } else { ImageUse::Storage };
    let key = TypeKey::Image(scalar, texture.ty.n_axes, format, image_use);
    module.type_of(key, |module| {
        let dimension = match texture.ty.n_axes {
            1 => Dim::Dim1D,
            2 => Dim::Dim2D,
            _ => Dim::Dim3D,
        };
        let mut operands = vec![Operand::IdRef(scalar), Operand::Dim(dimension)];
        // Not a depth image, not in layers, one sample a texel.
        operands.extend([0, 0, 0].map(Operand::LiteralBit32));
        operands.push(Operand::LiteralBit32(if texture.is_sampled { 1 } else { 2 }));
        operands.push(Operand::ImageFormat(format));
        module.global(Op::TypeImage, None, &operands)
    })
}

fn sampler_type(module: &mut Module) -> Word {
    module.type_of(TypeKey::Sampler, |module| module.global(Op::TypeSampler, None, &[]))
}

impl FunctionEmitter<'_> {
    fn texture(&mut self, texture: TextureId) -> Word {
        let variable = &self.interface.textures.textures[texture.idx()];
        let (id, ty) = (variable.id, variable.ty);
        self.op(Op::Load, ty, &[Operand::IdRef(id)])
    }

    /// The number of texels along each axis.
    pub fn texture_size(&mut self, texture: TextureId, ty: &Type) -> Word {
        self.module.need(Capability::ImageQuery);
        let image = self.texture(texture);
        if !self.kernel.textures[texture.idx()].is_sampled {
            return self.ids(Op::ImageQuerySize, ty, &[image]);
        }
        let first = self.int(&Type::I32, 0);
        self.ids(Op::ImageQuerySizeLod, ty, &[image, first])
    }

    pub fn texture_read(&mut self, texture: TextureId, at: NodeId, ty: &Type) -> Word {
        self.interface.textures.textures[texture.idx()].reads = true;
        let at = self.value(at);
        let texel = self.texel(texture, at, ty);
        // Devices give alpha as one where the image has none, outside as well.
        let inside = self.texel_is_inside(texture, at);
        let result = self.module.ty(ty);
        let nothing = self.module.null(result);
        self.select(ty, inside, texel, nothing)
    }

    fn texel(&mut self, texture: TextureId, at: Word, ty: &Type) -> Word {
        let image = self.texture(texture);
        if !self.kernel.textures[texture.idx()].is_sampled {
            return self.ids(Op::ImageRead, ty, &[image, at]);
        }
        let first = self.int(&Type::I32, 0);
        let result = self.module.ty(ty);
        let mut operands = vec![Operand::IdRef(image), Operand::IdRef(at)];
        operands.extend([Operand::ImageOperands(ImageOperands::LOD), Operand::IdRef(first)]);
        self.op(Op::ImageFetch, result, &operands)
    }

    fn texel_is_inside(&mut self, texture: TextureId, at: Word) -> Word {
        let n_axes = self.kernel.textures[texture.idx()].ty.n_axes;
        let size = self.texture_size(texture, &Type::of(n_axes, Scalar::I32));
        // Unsigned, so that negative coordinates are beyond the end.
        let inside = self.ids(Op::ULessThan, &Type::of(n_axes, Scalar::Bool), &[at, size]);
        if n_axes == 1 { inside } else { self.ids(Op::All, &Type::BOOL, &[inside]) }
    }

    pub fn texture_write(&mut self, texture: TextureId, at: NodeId, value: NodeId) {
        self.interface.textures.textures[texture.idx()].writes = true;
        let image = self.texture(texture);
        let operands = [image, self.value(at), self.value(value)].map(Operand::IdRef);
        self.effect(Op::ImageWrite, &operands);
    }

    /// In kernels the largest picture of the texture is the only one.
    pub fn texture_sample(&mut self, texture: TextureId, sampler: SamplerId, at: NodeId, ty: &Type) -> Word {
        self.interface.textures.textures[texture.idx()].reads = true;
        let image = self.texture(texture);
        let image_type = self.interface.textures.textures[texture.idx()].ty;
        let sampler_type = sampler_type(self.module);
        let sampler = self.interface.textures.samplers[sampler.idx()];
        let sampler = self.op(Op::Load, sampler_type, &[Operand::IdRef(sampler)]);
        let sampled = self.module.type_of(TypeKey::SampledImage(image_type), |module| {
            module.global(Op::TypeSampledImage, None, &[Operand::IdRef(image_type)])
        });
        let both = self.over(Op::SampledImage, sampled, &[image, sampler]);
        let at = self.value(at);
        let result = self.module.ty(ty);
        let mut operands = vec![Operand::IdRef(both), Operand::IdRef(at)];
        // Only fragments have neighbours, from which the device computes the level of detail.
        if self.kernel.stage == Stage::Fragment {
            return self.op(Op::ImageSampleImplicitLod, result, &operands);
        }
        let level = self.float(&Type::F32, 0.0);
        operands.extend([Operand::ImageOperands(ImageOperands::LOD), Operand::IdRef(level)]);
        self.op(Op::ImageSampleExplicitLod, result, &operands)
    }
}
