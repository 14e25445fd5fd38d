//! The images and the samplers among the variables that an entry point uses.

use kps_scalar::Scalar;
use rspirv::dr::{Instruction, Module, Operand};
use rspirv::spirv::{Decoration, Dim, ImageFormat, Op};
use rustc_hash::FxHashMap;

use super::access::Reached;
use super::bad_module;
use super::ids::{Ids, id_at, literal_at};
use super::layout;
use super::resources::{self, Variable, pointee, reached_variables, shown};
use crate::interface::{ImageBinding, ImageKind, SamplerSlot};
use crate::{Access, Dimension, Result, TexelFormat};

/// Whether the variable is an image or a sampler.
pub(super) fn is_opaque(ids: &Ids, variable: &Variable) -> bool {
    let definition = pointee(ids, variable).ok().and_then(|ty| ids.definition(ty));
    definition
        .is_some_and(|ty| matches!(ty.class.opcode, Op::TypeImage | Op::TypeSampler | Op::TypeSampledImage))
}

/// Both lists are ordered by set and binding.
pub(super) fn images(
    module: &Module,
    ids: &Ids,
    reached: &Reached,
) -> Result<(Vec<ImageBinding>, Vec<SamplerSlot>)> {
    let (mut images, mut samplers) = (Vec::new(), Vec::new());
    let opaque: Vec<Variable> =
        reached_variables(module, reached).filter(|variable| is_opaque(ids, variable)).collect();
    let pairs = if opaque.is_empty() { Vec::new() } else { sampled_with(module, ids) };
    for variable in opaque {
        let (set, binding) = resources::place(ids, &variable)?;
        let wrong =
            |what: String| bad_module(format!("{} {what}", shown(ids, &variable, Some((set, binding)))));
        let ty = pointee(ids, &variable).map_err(wrong)?;
        let definition = ids.definition(ty).expect("`is_opaque` saw it");
        let name = ids.name(variable.id).map(str::to_owned);
        if definition.class.opcode == Op::TypeSampler {
            samplers.push(SamplerSlot { set, binding, name });
            continue;
        }
        let seen = image(ids, definition).map_err(wrong)?;
        let access = if seen.kind == ImageKind::Storage { variable.used.access() } else { Access::Read };
        let Seen { kind, dimension, scalar, format } = seen;
        let samplers = match kind {
            ImageKind::WithSampler => vec![(set, binding)],
            _ => {
                pairs.iter().filter(|(image, _)| *image == variable.id).map(|(_, sampler)| *sampler).collect()
            }
        };
        images.push(ImageBinding { set, binding, name, kind, dimension, scalar, format, samplers, access });
    }
    images.sort_by_key(|image| (image.set, image.binding));
    samplers.sort_by_key(|sampler| (sampler.set, sampler.binding));
    Ok((merge_aliases(images)?, samplers))
}

/// For each image variable that is combined with samplers, their bindings.
fn sampled_with(module: &Module, ids: &Ids) -> Vec<(u32, (u32, u32))> {
    let instructions = || module.functions.iter().flat_map(|function| function.all_inst_iter());
    let is_pair = |instruction: &&Instruction| instruction.class.opcode == Op::SampledImage;
    let pairs: Vec<[u32; 2]> =
        instructions().filter(is_pair).filter_map(|pair| Some([id_at(pair, 0)?, id_at(pair, 1)?])).collect();
    if pairs.is_empty() {
        return Vec::new();
    }
    let loads: FxHashMap<u32, u32> = instructions()
        .filter(|instruction| instruction.class.opcode == Op::Load)
        .filter_map(|load| Some((load.result_id?, id_at(load, 0)?)))
        .collect();
    let place =
        |id| Some((ids.literal(id, Decoration::DescriptorSet)?, ids.literal(id, Decoration::Binding)?));
    let mut found: Vec<(u32, (u32, u32))> = pairs
        .iter()
        .filter_map(|pair| {
            let [image, sampler] = pair.map(|id| loads.get(&id).copied());
            Some((image?, place(sampler?)?))
        })
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// kps has no comparison samplers, and a module does not say which of its samplers must compare.
pub(super) fn refuse_depth_comparison(module: &Module) -> Result<()> {
    let found = module.all_inst_iter().find(|instruction| compares_depth(instruction.class.opcode));
    found.map_or(Ok(()), |instruction| {
        let name = instruction.class.opname;
        let message = format!("`Op{name}` compares with a depth: samplers that compare cannot be bound");
        Err(bad_module(message + "; sample, and compare what comes"))
    })
}

fn compares_depth(op: Op) -> bool {
    matches!(
        op,
        Op::ImageSampleDrefImplicitLod
            | Op::ImageSampleDrefExplicitLod
            | Op::ImageSampleProjDrefImplicitLod
            | Op::ImageSampleProjDrefExplicitLod
            | Op::ImageDrefGather
    )
}

struct Seen {
    kind: ImageKind,
    dimension: Dimension,
    scalar: Scalar,
    format: Option<TexelFormat>,
}

/// The properties of an image type, or why such images cannot be bound, to follow their name.
fn image(ids: &Ids, definition: &Instruction) -> std::result::Result<Seen, String> {
    let with_sampler = definition.class.opcode == Op::TypeSampledImage;
    let definition = match with_sampler {
        true => id_at(definition, 0).and_then(|id| ids.definition(id)).ok_or("has no image type")?,
        false => definition,
    };
    let dimension = dimension(definition)?;
    if literal_at(definition, 3) != Some(0) {
        let message = "is an array of images in layers: images of one layer are supported; the planes of a 3d one \
                       may stand for layers";
        return Err(message.to_owned());
    }
    if literal_at(definition, 4) != Some(0) {
        return Err("is a multisampled image: images with one sample a texel are supported".to_owned());
    }
    let sampled = id_at(definition, 0).and_then(|id| ids.definition(id)).ok_or("has no sampled type")?;
    let scalar = layout::scalar(sampled)?;
    if !matches!(scalar, Scalar::F32 | Scalar::I32 | Scalar::U32) {
        return Err(format!("is an image of {}: f32, i32 and u32 are supported", scalar.name()));
    }
    let kind = match (with_sampler, literal_at(definition, 5)) {
        (true, _) => ImageKind::WithSampler,
        (false, Some(2)) => ImageKind::Storage,
        (false, _) => ImageKind::Sampled,
    };
    Ok(Seen { kind, dimension, scalar, format: format(definition)? })
}

fn dimension(definition: &Instruction) -> std::result::Result<Dimension, String> {
    match definition.operands.get(1) {
        Some(Operand::Dim(Dim::Dim1D)) => Ok(Dimension::D1),
        Some(Operand::Dim(Dim::Dim2D)) => Ok(Dimension::D2),
        Some(Operand::Dim(Dim::Dim3D)) => Ok(Dimension::D3),
        Some(Operand::Dim(Dim::DimCube)) => {
            Err("is a cube image: 1d, 2d and 3d are supported; a 3d one may hold its six sides".to_owned())
        }
        Some(Operand::Dim(_)) => Err("is no 1d, 2d or 3d image: those are supported".to_owned()),
        _ => Err("has no dimension".to_owned()),
    }
}

fn format(definition: &Instruction) -> std::result::Result<Option<TexelFormat>, String> {
    match definition.operands.get(6) {
        Some(Operand::ImageFormat(ImageFormat::Unknown)) | None => Ok(None),
        Some(Operand::ImageFormat(format)) => match TexelFormat::of_spirv(*format) {
            Some(format) => Ok(Some(format)),
            None => Err(format!("has texels of {format:?}, which are not supported")),
        },
        Some(_) => Err("has no format".to_owned()),
    }
}

/// Several variables may alias one image, if they have the same type.
fn merge_aliases(images: Vec<ImageBinding>) -> Result<Vec<ImageBinding>> {
    let mut merged: Vec<ImageBinding> = Vec::with_capacity(images.len());
    for image in images {
        let Some(last) =
            merged.last_mut().filter(|last| (last.set, last.binding) == (image.set, image.binding))
        else {
            merged.push(image);
            continue;
        };
        if (last.kind, last.dimension, last.format) != (image.kind, image.dimension, image.format) {
            let (set, binding) = (image.set, image.binding);
            return Err(bad_module(format!("set {set} binding {binding} is two different kinds of image")));
        }
        if last.access != image.access {
            last.access = Access::ReadWrite;
        }
        last.samplers.extend(image.samplers);
    }
    Ok(merged)
}
