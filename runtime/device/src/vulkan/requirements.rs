//! The requirements of a module on a Vulkan device, from its capabilities, and the line that first needs
//! each.

use ash::vk;
use rspirv::dr::{Instruction, Module, Operand};
use rspirv::spirv::{Capability, ExecutionMode, Op};
use rustc_hash::FxHashMap;

use super::limits;
use super::physical::Physical;
use crate::reflect::reflect;
use crate::select::Lacking;
use crate::{DeviceError, Feature, PipelineOptions, Result, SourceLine};

/// The capabilities that a module declares and the device lacks, with the feature that provides each.
pub(crate) fn lacking(physical: &Physical, module: &Module) -> Vec<Lacking> {
    let lacked = module.capabilities.iter().filter_map(declared).filter(|found| !allows(physical, *found));
    lacked
        .map(|capability| Lacking { capability: format!("{capability:?}"), feature: feature_of(capability) })
        .collect()
}

/// Refuses a pipeline that the device cannot make for reasons other than capabilities.
pub(crate) fn check_beside(physical: &Physical, module: &Module, options: &PipelineOptions) -> Result<()> {
    check_version(physical, module)?;
    check_undeclared(physical, module)?;
    limits::check(physical, &reflect(module, options)?)?;
    limits::subgroup_size(physical, options).map(|_| ())
}

/// Refuses a module that the device cannot run.
pub(super) fn check(physical: &Physical, module: &Module) -> Result<()> {
    check_version(physical, module)?;
    for capability in module.capabilities.iter().filter_map(declared) {
        check_capability(physical, module, capability)?;
    }
    check_undeclared(physical, module)
}

/// Requirements without a capability.
fn check_undeclared(physical: &Physical, module: &Module) -> Result<()> {
    let feature = Feature::SubgroupExtendedTypes;
    if !physical.info.features.contains(&feature)
        && let Some(line) = extended_subgroup_operation(module)
    {
        let device = physical.info.name.clone();
        return Err(DeviceError::MissingFeature { feature, device, line });
    }
    let by_id = Operand::ExecutionMode(ExecutionMode::LocalSizeId);
    let uses_ids = module.execution_modes.iter().any(|mode| mode.operands.get(1) == Some(&by_id));
    if uses_ids && !physical.enabled.has_local_size_id() {
        return Err(refused(physical, "gives its workgroup size by id (`LocalSizeId`)", None));
    }
    Ok(())
}

fn check_version(physical: &Physical, module: &Module) -> Result<()> {
    let newest = if physical.api >= vk::API_VERSION_1_3 { (1, 6) } else { (1, 5) };
    match module.header.as_ref().map(|header| header.version()) {
        Some(version) if version > newest => {
            Err(refused(physical, &format!("is SPIR-V {}.{}", version.0, version.1), None))
        }
        _ => Ok(()),
    }
}

fn check_capability(physical: &Physical, module: &Module, capability: Capability) -> Result<()> {
    if allows(physical, capability) {
        return Ok(());
    }
    let device = physical.info.name.clone();
    match feature_of(capability) {
        Some(feature) => {
            Err(DeviceError::MissingFeature { feature, device, line: first_use(module, capability) })
        }
        None => Err(refused(
            physical,
            &format!("needs the capability `{capability:?}`"),
            first_use(module, capability),
        )),
    }
}

fn allows(physical: &Physical, capability: Capability) -> bool {
    physical.enabled.allows(capability).unwrap_or_else(|| of_properties(physical, capability))
}

fn refused(physical: &Physical, what: &str, line: Option<SourceLine>) -> DeviceError {
    let message = format!("the module {what}, which device `{}` lacks", physical.info.name);
    DeviceError::BadModule { message, line }
}

/// Capabilities that no feature enables.
fn of_properties(physical: &Physical, capability: Capability) -> bool {
    use vk::SubgroupFeatureFlags as Subgroup;
    let subgroup = |flag| physical.subgroup_operations.contains(flag);
    match capability {
        Capability::Matrix | Capability::Shader | Capability::InputAttachment => true,
        Capability::ImageQuery | Capability::Image1D | Capability::Sampled1D => true,
        Capability::ImageBuffer | Capability::SampledBuffer => true,
        Capability::DerivativeControl | Capability::DeviceGroup | Capability::MultiView => true,
        Capability::GroupNonUniform => subgroup(Subgroup::BASIC),
        Capability::GroupNonUniformVote => subgroup(Subgroup::VOTE),
        Capability::GroupNonUniformArithmetic => subgroup(Subgroup::ARITHMETIC),
        Capability::GroupNonUniformBallot => subgroup(Subgroup::BALLOT),
        Capability::GroupNonUniformShuffle => subgroup(Subgroup::SHUFFLE),
        Capability::GroupNonUniformShuffleRelative => subgroup(Subgroup::SHUFFLE_RELATIVE),
        Capability::GroupNonUniformClustered => subgroup(Subgroup::CLUSTERED),
        Capability::GroupNonUniformQuad => subgroup(Subgroup::QUAD),
        Capability::SignedZeroInfNanPreserve => physical.float_controls.preserves,
        Capability::RoundingModeRTE => physical.float_controls.rounds_to_even,
        Capability::RoundingModeRTZ => physical.float_controls.rounds_to_zero,
        Capability::DenormPreserve => physical.float_controls.keeps_denormals,
        Capability::DenormFlushToZero => physical.float_controls.flushes_denormals,
        _ => false,
    }
}

fn feature_of(capability: Capability) -> Option<Feature> {
    Some(match capability {
        Capability::Float16 => Feature::Float16,
        Capability::Float64 => Feature::Float64,
        Capability::Int8 => Feature::Int8,
        Capability::Int16 => Feature::Int16,
        Capability::Int64 => Feature::Int64,
        Capability::StorageBuffer8BitAccess
        | Capability::UniformAndStorageBuffer8BitAccess
        | Capability::StoragePushConstant8 => Feature::Storage8,
        Capability::StorageBuffer16BitAccess
        | Capability::UniformAndStorageBuffer16BitAccess
        | Capability::StoragePushConstant16 => Feature::Storage16,
        Capability::Int64Atomics => Feature::Int64Atomics,
        Capability::AtomicFloat32AddEXT => Feature::FloatAtomicAdd,
        Capability::AtomicFloat64AddEXT => Feature::DoubleAtomicAdd,
        Capability::PhysicalStorageBufferAddresses => Feature::BufferDeviceAddress,
        Capability::VulkanMemoryModel | Capability::VulkanMemoryModelDeviceScope => {
            Feature::VulkanMemoryModel
        }
        Capability::CooperativeMatrixKHR => Feature::CooperativeMatrix,
        Capability::BFloat16TypeKHR
        | Capability::BFloat16DotProductKHR
        | Capability::BFloat16CooperativeMatrixKHR => Feature::Bfloat16,
        Capability::SignedZeroInfNanPreserve => Feature::FloatControls,
        _ => return None,
    })
}

fn declared(instruction: &Instruction) -> Option<Capability> {
    match instruction.operands.first() {
        Some(Operand::Capability(capability)) => Some(*capability),
        _ => None,
    }
}

/// The line of the first instruction that uses the types of the capability.
fn first_use(module: &Module, capability: Capability) -> Option<SourceLine> {
    let types: FxHashMap<u32, &Instruction> =
        module.types_global_values.iter().filter_map(|i| Some((i.result_id?, i))).collect();
    for function in &module.functions {
        for block in &function.blocks {
            let mut line = None;
            for instruction in &block.instructions {
                match instruction.class.opcode {
                    Op::Line => line = source_line(module, instruction),
                    Op::NoLine => line = None,
                    _ if needs(&types, instruction, capability) && line.is_some() => return line,
                    _ => {}
                }
            }
        }
    }
    None
}

/// The line of the first subgroup operation on types that are not 32 bits wide, which has no capability of
/// its own; `None` if there is none.
fn extended_subgroup_operation(module: &Module) -> Option<Option<SourceLine>> {
    let definitions = module.types_global_values.iter().filter_map(|i| Some((i.result_id?, i)));
    let types: FxHashMap<u32, &Instruction> = definitions.collect();
    let blocks = module.functions.iter().flat_map(|function| &function.blocks);
    for block in blocks {
        let mut line = None;
        for instruction in &block.instructions {
            match instruction.class.opcode {
                Op::Line => line = source_line(module, instruction),
                Op::NoLine => line = None,
                _ if instruction.class.opname.starts_with("GroupNonUniform") => {
                    let width = instruction.result_type.and_then(|ty| component_width(&types, ty));
                    if width.is_some_and(|width| width != 32) {
                        return Some(line);
                    }
                }
                _ => {}
            }
        }
    }
    None
}

/// Bits of a scalar, or of a vector's components.
fn component_width(types: &FxHashMap<u32, &Instruction>, ty: u32) -> Option<u32> {
    let definition = types.get(&ty)?;
    match (definition.class.opcode, definition.operands.first()?) {
        (Op::TypeInt | Op::TypeFloat, Operand::LiteralBit32(width)) => Some(*width),
        (Op::TypeVector, Operand::IdRef(component)) => component_width(types, *component),
        _ => None,
    }
}

fn needs(types: &FxHashMap<u32, &Instruction>, instruction: &Instruction, capability: Capability) -> bool {
    let opname = instruction.class.opname;
    if capability == Capability::Int64Atomics || format!("{capability:?}").starts_with("AtomicFloat") {
        return opname.starts_with("Atomic");
    }
    if instruction.class.capabilities.contains(&capability) {
        return true;
    }
    instruction.result_type.is_some_and(|ty| is_brought(types, ty, capability, 0))
}

/// Whether `ty` is, or contains, a type of the capability.
fn is_brought(types: &FxHashMap<u32, &Instruction>, ty: u32, capability: Capability, depth: u32) -> bool {
    let Some(definition) = types.get(&ty) else { return false };
    let width = match definition.operands.first() {
        Some(Operand::LiteralBit32(width)) => *width,
        _ => 0,
    };
    let wanted = match capability {
        Capability::Float16 => Some((Op::TypeFloat, 16)),
        Capability::Float64 => Some((Op::TypeFloat, 64)),
        Capability::BFloat16TypeKHR => Some((Op::TypeFloat, 16)),
        Capability::Int8 => Some((Op::TypeInt, 8)),
        Capability::Int16 => Some((Op::TypeInt, 16)),
        Capability::Int64 => Some((Op::TypeInt, 64)),
        _ => None,
    };
    if wanted.is_none() || depth > 8 {
        return false;
    }
    let inner = match (definition.class.opcode, definition.operands.as_slice()) {
        (opcode, _) if Some((opcode, width)) == wanted => return true,
        (Op::TypeVector | Op::TypeMatrix | Op::TypeArray, [Operand::IdRef(element), ..]) => *element,
        (Op::TypePointer, [_, Operand::IdRef(pointee)]) => *pointee,
        _ => return false,
    };
    is_brought(types, inner, capability, depth + 1)
}

/// The position in an `OpLine` of the module.
pub(super) fn source_line(module: &Module, instruction: &Instruction) -> Option<SourceLine> {
    let [Operand::IdRef(file), Operand::LiteralBit32(line), Operand::LiteralBit32(column)] =
        instruction.operands.as_slice()
    else {
        return None;
    };
    let name = module.debug_string_source.iter().find(|string| string.result_id == Some(*file))?;
    let Some(Operand::LiteralString(name)) = name.operands.first() else { return None };
    Some(SourceLine { file: name.clone(), line: *line, column: *column })
}
