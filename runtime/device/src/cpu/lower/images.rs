//! Images and samplers. They are no values of the lane IR, but resolved while lowering ([`Opaque`]). A texel
//! goes through 16 bytes of the lane's memory.

use kps_scalar::Scalar;
use rspirv::spirv::{ImageOperands, Op, StorageClass};

use super::pointers::{MAX_FRAME, Place, Pointer};
use super::{Data, Lowerer, Operand};
use crate::cpu::errors;
use crate::cpu::lane::{self, Address, Binary, Convert, ImageAction, Space, Ty};
use crate::cpu::module::constants::lane_ty;
use crate::cpu::module::types::{Type, TypeId};
use crate::cpu::module::{Global, Instruction};
use crate::{Access, Result};

/// An image, a sampler or both, as indices of bindings.
#[derive(Clone, Copy, Debug)]
pub struct Opaque {
    pub ty: TypeId,
    pub image: Option<u32>,
    pub sampler: Option<u32>,
}

pub fn is_known(op: Op) -> bool {
    matches!(
        op,
        Op::SampledImage
            | Op::Image
            | Op::ImageRead
            | Op::ImageWrite
            | Op::ImageFetch
            | Op::ImageSampleImplicitLod
            | Op::ImageSampleExplicitLod
            | Op::ImageSampleProjImplicitLod
            | Op::ImageSampleProjExplicitLod
            | Op::ImageGather
            | Op::ImageQuerySize
            | Op::ImageQuerySizeLod
            | Op::ImageQueryLevels
            | Op::ImageQuerySamples
            | Op::ImageTexelPointer
    )
}

impl Lowerer<'_> {
    /// A variable of image or sampler type.
    pub(super) fn opaque_variable(&mut self, inst: &Instruction, global: &Global) -> Result<Place> {
        let (Some(set), Some(binding)) = (global.set, global.binding) else {
            return Err(self.malformed(inst, "an image has no `DescriptorSet` or no `Binding`"));
        };
        let number = |list: &mut Vec<(u32, u32)>| {
            let known = list.iter().position(|&slot| slot == (set, binding));
            known.unwrap_or_else(|| {
                list.push((set, binding));
                list.len() - 1
            }) as u32
        };
        let (ty, kernel) = (global.pointee, &mut self.builder.kernel);
        let (image, sampler) = match self.module.types.get(ty) {
            Type::Image { .. } => (Some(number(&mut kernel.images)), None),
            Type::Sampler => (None, Some(number(&mut kernel.samplers))),
            Type::SampledImage { .. } => {
                (Some(number(&mut kernel.images)), Some(number(&mut kernel.samplers)))
            }
            _ => {
                return Err(self
                    .unsupported(inst, "only images and samplers are supported as variables of this class"));
            }
        };
        Ok(Place::Opaque(Opaque { ty, image, sampler }))
    }

    pub(super) fn images(&mut self, inst: &Instruction) -> Result<()> {
        match inst.op {
            Op::SampledImage => {
                let (image, sampler) = (self.opaque(inst, 2)?, self.opaque(inst, 3)?);
                let ty = self.result_type(inst)?;
                let fits =
                    matches!(*self.module.types.get(ty), Type::SampledImage { image: of } if of == image.ty);
                match (fits, image.image, sampler.sampler) {
                    (true, Some(_), Some(_)) => {
                        let both = Opaque { ty, image: image.image, sampler: sampler.sampler };
                        self.define(inst, Operand::Opaque(both))
                    }
                    _ => Err(self.wrong_operands(inst)),
                }
            }
            Op::Image => {
                let both = self.opaque(inst, 2)?;
                let Type::SampledImage { image: ty } = *self.module.types.get(both.ty) else {
                    return Err(self.wrong_operands(inst));
                };
                self.define(inst, Operand::Opaque(Opaque { ty, image: both.image, sampler: None }))
            }
            Op::ImageRead | Op::ImageFetch => self.read_texel(inst),
            Op::ImageWrite => self.write_texel(inst),
            Op::ImageSampleImplicitLod | Op::ImageSampleExplicitLod => self.sample(inst),
            Op::ImageSampleProjImplicitLod | Op::ImageSampleProjExplicitLod => self.sample_projected(inst),
            Op::ImageGather => self.gather(inst),
            Op::ImageQuerySize | Op::ImageQuerySizeLod => self.image_size(inst),
            Op::ImageTexelPointer => self.texel_pointer(inst),
            // There is one mip level, with one sample for each texel.
            _ => {
                self.opaque(inst, 2)?;
                let (ty, one) = (self.result_type(inst)?, self.builder.i32(1));
                self.define(inst, Operand::Data(Data { ty, parts: [one].into() }))
            }
        }
    }

    fn opaque(&mut self, inst: &Instruction, i: usize) -> Result<Opaque> {
        match self.operand(inst, i)? {
            Operand::Opaque(opaque) => Ok(opaque),
            _ => Err(self.malformed(inst, "an operand is no image and no sampler")),
        }
    }

    /// An image operand: its index, the scalar of its texels and its number of coordinates.
    fn image(&mut self, inst: &Instruction, i: usize) -> Result<(u32, Scalar, usize)> {
        let opaque = self.opaque(inst, i)?;
        let types = &self.module.types;
        let ty = match *types.get(opaque.ty) {
            Type::SampledImage { image } => image,
            _ => opaque.ty,
        };
        match (types.get(ty), opaque.image) {
            (Type::Image { scalar, n_axes }, Some(image)) => Ok((image, *scalar, *n_axes as usize)),
            _ => Err(self.malformed(inst, "an operand is no image")),
        }
    }

    /// Coordinates, with zeros for the axes that the image lacks.
    fn place(&mut self, inst: &Instruction, i: usize, n_axes: usize, ty: Ty) -> Result<[lane::Value; 3]> {
        let (scalar, data) = self.scalars(inst, i)?;
        if data.parts.len() < n_axes || lane_ty(scalar) != ty || scalar.bits() != 32 {
            return Err(self.malformed(inst, "the coordinates do not fit the image"));
        }
        let zero = self.builder.constant(ty, 0);
        Ok(std::array::from_fn(|axis| if axis < n_axes { data.parts[axis] } else { zero }))
    }

    /// The optional image operands: offsets are used, and levels must be 0.
    fn image_operands(&mut self, inst: &Instruction, i: usize) -> Result<Option<Data>> {
        let words = self.module.operands(inst).get(i..).unwrap_or_default();
        let Some((&mask, words)) = words.split_first() else { return Ok(None) };
        let mask = ImageOperands::from_bits_truncate(mask);
        // Each bit that is set has its operands in the order of the bits.
        let mut next = i + 1;
        let mut offset = None;
        for bit in mask.iter() {
            let n = match bit {
                ImageOperands::LOD | ImageOperands::BIAS => 1,
                ImageOperands::GRAD => 2,
                ImageOperands::CONST_OFFSET | ImageOperands::OFFSET => {
                    offset = Some(self.data(inst, next)?);
                    1
                }
                ImageOperands::MAKE_TEXEL_AVAILABLE | ImageOperands::MAKE_TEXEL_VISIBLE => 1,
                ImageOperands::NON_PRIVATE_TEXEL
                | ImageOperands::VOLATILE_TEXEL
                | ImageOperands::SIGN_EXTEND
                | ImageOperands::ZERO_EXTEND => 0,
                _ => {
                    return Err(
                        self.unsupported(inst, &format!("the image operand {bit:?} is not known here"))
                    );
                }
            };
            next += n;
        }
        if next - i - 1 > words.len() {
            return Err(self.malformed(inst, "an operand is missing"));
        }
        Ok(offset)
    }

    fn read_texel(&mut self, inst: &Instruction) -> Result<()> {
        let (image, scalar, n_axes) = self.image(inst, 2)?;
        let mut place = self.place(inst, 3, n_axes, Ty::I32)?;
        if let Some(offset) = self.image_operands(inst, 4)? {
            for (at, &more) in place.iter_mut().zip(offset.parts.iter()) {
                *at = self.builder.binary(Binary::Add, *at, more);
            }
        }
        self.check_texel(inst, 3, (image, &place[..n_axes]), Access::Read)?;
        self.texel_result(inst, scalar, (image, ImageAction::Read, place))
    }

    fn sample(&mut self, inst: &Instruction) -> Result<()> {
        let (image, scalar, n_axes) = self.image(inst, 2)?;
        let sampler = self.sampler_of(inst)?;
        let place = self.place(inst, 3, n_axes, Ty::F32)?;
        let place = self.moved_place(inst, 4, (image, n_axes), place)?;
        self.texel_result(inst, scalar, (image, ImageAction::Sample { sampler }, place))
    }

    /// Projected coordinates: a point and its divisor.
    fn sample_projected(&mut self, inst: &Instruction) -> Result<()> {
        let (image, scalar, n_axes) = self.image(inst, 2)?;
        let sampler = self.sampler_of(inst)?;
        let mut place = self.place(inst, 3, n_axes, Ty::F32)?;
        let Some(&divisor) = self.data(inst, 3)?.parts.get(n_axes) else {
            return Err(self.malformed(inst, "the coordinates do not fit the image"));
        };
        for at in &mut place[..n_axes] {
            *at = self.builder.binary(Binary::FDiv, *at, divisor);
        }
        let place = self.moved_place(inst, 4, (image, n_axes), place)?;
        self.texel_result(inst, scalar, (image, ImageAction::Sample { sampler }, place))
    }

    fn gather(&mut self, inst: &Instruction) -> Result<()> {
        let (image, scalar, n_axes) = self.image(inst, 2)?;
        let sampler = self.sampler_of(inst)?;
        if n_axes != 2 {
            return Err(self.unsupported(inst, "texels can be gathered from 2-D images only"));
        }
        let channel = self.constant_int(inst, 4)? as u32;
        if channel > 3 {
            return Err(self.malformed(inst, "the channel is not one from 0 to 3"));
        }
        let place = self.place(inst, 3, n_axes, Ty::F32)?;
        let place = self.moved_place(inst, 5, (image, n_axes), place)?;
        self.texel_result(inst, scalar, (image, ImageAction::Gather { sampler, channel }, place))
    }

    fn sampler_of(&mut self, inst: &Instruction) -> Result<u32> {
        let sampler = self.opaque(inst, 2)?.sampler;
        sampler.ok_or_else(|| self.malformed(inst, "the image has no sampler"))
    }

    /// Sampling coordinates plus the offset among the image operands, if any.
    fn moved_place(
        &mut self,
        inst: &Instruction,
        i: usize,
        (image, n_axes): (u32, usize),
        mut place: [lane::Value; 3],
    ) -> Result<[lane::Value; 3]> {
        if let Some(offset) = self.image_operands(inst, i)? {
            for (axis, &more) in offset.parts.iter().enumerate().take(n_axes) {
                // Offsets count texels.
                let size = self.builder.image_size(image, axis as u8);
                let size = self.builder.convert(Convert::UToFloat(Ty::F32), size);
                let more = self.builder.convert(Convert::SToFloat(Ty::F32), more);
                let more = self.builder.binary(Binary::FDiv, more, size);
                place[axis] = self.builder.binary(Binary::FAdd, place[axis], more);
            }
        }
        Ok(place)
    }

    /// As many of a texel's four channels as the result has components.
    fn texel_result(
        &mut self,
        inst: &Instruction,
        scalar: Scalar,
        (image, action, place): (u32, ImageAction, [lane::Value; 3]),
    ) -> Result<()> {
        let (ty, result, n) = self.result_scalars(inst)?;
        if !result.is_alike(scalar) || scalar.bits() != 32 {
            return Err(self.malformed(inst, "the result has another type than the image's texels"));
        }
        let texel = self.texel_memory(inst)?;
        self.builder.image(image, action, place, texel);
        let parts = (0..n as u32).map(|i| self.builder.load(lane_ty(scalar), texel, 4 * i)).collect();
        self.define(inst, Operand::Data(Data { ty, parts }))
    }

    fn write_texel(&mut self, inst: &Instruction) -> Result<()> {
        let (image, scalar, n_axes) = self.image(inst, 0)?;
        let place = self.place(inst, 1, n_axes, Ty::I32)?;
        let (given, data) = self.scalars(inst, 2)?;
        self.image_operands(inst, 3)?;
        if !given.is_alike(scalar) || scalar.bits() != 32 {
            return Err(self.malformed(inst, "the texel has another type than the image's"));
        }
        self.check_texel(inst, 1, (image, &place[..n_axes]), Access::Write)?;
        let texel = self.texel_memory(inst)?;
        let zero = self.builder.constant(lane_ty(scalar), 0);
        for i in 0..4 {
            let part = data.parts.get(i).copied().unwrap_or(zero);
            self.builder.store(texel, 4 * i as u32, part);
        }
        self.builder.image(image, ImageAction::Write, place, texel);
        Ok(())
    }

    /// Sixteen bytes of the lane's memory.
    fn texel_memory(&mut self, inst: &Instruction) -> Result<lane::Value> {
        if self.texel_slot.is_none() {
            if !self.has_frame_room(16) {
                return Err(errors::too_many_variables(MAX_FRAME, self.module.line(inst.line)));
            }
            self.texel_slot = Some(self.builder.kernel.frame_size);
            self.builder.kernel.frame_size += 16;
        }
        let start = self.texel_slot.expect("it was made above");
        let space = Space::Frame { start, size: 16 };
        let access = Access::ReadWrite;
        Ok(self.builder.address(Address { space, dynamic: None, constant: 0, size: 16, access }))
    }

    fn image_size(&mut self, inst: &Instruction) -> Result<()> {
        let (image, _, n_axes) = self.image(inst, 2)?;
        let (ty, scalar, n) = self.result_scalars(inst)?;
        if n != n_axes || lane_ty(scalar) != Ty::I32 {
            return Err(self.malformed(inst, "the result does not fit the image"));
        }
        let parts = (0..n as u8).map(|axis| self.builder.image_size(image, axis)).collect();
        self.define(inst, Operand::Data(Data { ty, parts }))
    }

    /// A pointer for atomics. The image operand is itself a pointer.
    fn texel_pointer(&mut self, inst: &Instruction) -> Result<()> {
        let Pointer { place: Place::Opaque(opaque), .. } = self.pointer(inst, 2)? else {
            return Err(self.wrong_operands(inst));
        };
        let (Type::Image { n_axes, .. }, Some(image)) = (self.module.types.get(opaque.ty), opaque.image)
        else {
            return Err(self.wrong_operands(inst));
        };
        let coordinates = self.place(inst, 3, *n_axes as usize, Ty::I32)?;
        let Type::Pointer { pointee, .. } = *self.module.types.get(self.result_type(inst)?) else {
            return Err(self.wrong_operands(inst));
        };
        let place = Place::Texel(self.builder.texel(image, coordinates));
        self.define(
            inst,
            Operand::Pointer(Pointer { class: StorageClass::Image, pointee, stride: None, place }),
        )
    }
}
