//! The finished module: its sections in the order that SPIR-V wants them, capabilities and extensions first.

use rspirv::binary::Assemble;
use rspirv::dr;
use rspirv::spirv::{self, Op, Word};

use super::{Module, Operand, instruction};
use crate::emit::debug::Debug;
use crate::signature::Capability;
use crate::stages::Stage;

impl Module {
    /// All of it as words.
    pub fn finish(self, point: &EntryPoint) -> Vec<u32> {
        let mut module = dr::Module::new();
        let mut header = dr::ModuleHeader::new(self.next_id);
        header.set_version(1, 5);
        header.generator = 0;
        module.header = Some(header);
        let mut capabilities = vec![spirv::Capability::Shader];
        capabilities.extend(self.capabilities.keys().copied().map(in_spirv));
        if point.float_controls {
            capabilities.push(spirv::Capability::SignedZeroInfNanPreserve);
            capabilities.push(spirv::Capability::RoundingModeRTE);
        }
        module.capabilities = capabilities
            .into_iter()
            .map(|capability| instruction(Op::Capability, None, None, vec![Operand::Capability(capability)]))
            .collect();
        let mut extensions: Vec<&str> =
            self.capabilities.keys().filter_map(|capability| capability.extension()).collect();
        extensions.dedup();
        let others = self.checks.map(|id| (id, crate::emit::checks::SET));
        let others: Vec<(Word, &str)> =
            others.into_iter().chain(self.debug.as_ref().map(Debug::import)).collect();
        extensions.extend(others.first().map(|_| "SPV_KHR_non_semantic_info"));
        module.extensions = extensions
            .into_iter()
            .map(|name| {
                let name = vec![Operand::LiteralString(name.to_owned())];
                instruction(Op::Extension, None, None, name)
            })
            .collect();
        let set = vec![Operand::LiteralString("GLSL.std.450".to_owned())];
        module.ext_inst_imports.push(instruction(Op::ExtInstImport, None, Some(self.glsl), set));
        for (id, name) in others {
            let set = vec![Operand::LiteralString(name.to_owned())];
            module.ext_inst_imports.push(instruction(Op::ExtInstImport, None, Some(id), set));
        }
        let addressing = match self.capabilities.contains_key(&Capability::PhysicalStorageBufferAddresses) {
            true => spirv::AddressingModel::PhysicalStorageBuffer64,
            false => spirv::AddressingModel::Logical,
        };
        let model = vec![Operand::AddressingModel(addressing), Operand::MemoryModel(self.model)];
        module.memory_model = Some(instruction(Op::MemoryModel, None, None, model));
        let mut entry = vec![
            Operand::ExecutionModel(point.model()),
            Operand::IdRef(point.main),
            Operand::LiteralString("main".to_owned()),
        ];
        entry.extend(self.interface.iter().map(|id| Operand::IdRef(*id)));
        module.entry_points.push(instruction(Op::EntryPoint, None, None, entry));
        module.execution_modes = point.execution_modes();
        for (source, id) in &self.files {
            let name = vec![Operand::LiteralString(source.name().replace('\0', " "))];
            module.debug_string_source.push(instruction(Op::String, None, Some(*id), name));
        }
        for (_, id) in &self.files {
            let operands = vec![
                Operand::SourceLanguage(spirv::SourceLanguage::Unknown),
                Operand::LiteralBit32(1),
                Operand::IdRef(*id),
            ];
            module.debug_string_source.push(instruction(Op::Source, None, None, operands));
        }
        module.debug_string_source.extend(self.strings);
        let last = [self.names, self.annotations, self.globals, self.functions];
        let n_before: usize = module.all_inst_iter().map(|inst| 4 + inst.operands.len()).sum();
        let mut words = Vec::with_capacity(n_before + last.iter().map(Vec::len).sum::<usize>());
        module.assemble_into(&mut words);
        last.iter().for_each(|section| words.extend(section));
        words
    }
}

/// Where a device enters a module, and how.
pub(crate) struct EntryPoint {
    pub main: Word,
    pub stage: Stage,
    pub local_size: [u32; 3],
    /// A fragment says its own depth.
    pub replaces_depth: bool,
    pub float_controls: bool,
}

impl EntryPoint {
    fn model(&self) -> spirv::ExecutionModel {
        match self.stage {
            Stage::Compute => spirv::ExecutionModel::GLCompute,
            Stage::Vertex => spirv::ExecutionModel::Vertex,
            Stage::Fragment => spirv::ExecutionModel::Fragment,
        }
    }

    fn execution_modes(&self) -> Vec<dr::Instruction> {
        let mode = |mode: spirv::ExecutionMode, values: &[u32]| {
            let mut operands = vec![Operand::IdRef(self.main), Operand::ExecutionMode(mode)];
            operands.extend(values.iter().map(|value| Operand::LiteralBit32(*value)));
            instruction(Op::ExecutionMode, None, None, operands)
        };
        let mut modes = match self.stage {
            Stage::Compute => vec![mode(spirv::ExecutionMode::LocalSize, &self.local_size)],
            Stage::Vertex => Vec::new(),
            Stage::Fragment => vec![mode(spirv::ExecutionMode::OriginUpperLeft, &[])],
        };
        if self.replaces_depth {
            modes.push(mode(spirv::ExecutionMode::DepthReplacing, &[]));
        }
        if self.float_controls {
            modes.push(mode(spirv::ExecutionMode::SignedZeroInfNanPreserve, &[32]));
            modes.push(mode(spirv::ExecutionMode::RoundingModeRTE, &[32]));
        }
        modes
    }
}

fn in_spirv(capability: Capability) -> spirv::Capability {
    match capability {
        Capability::Int64 => spirv::Capability::Int64,
        Capability::Float64 => spirv::Capability::Float64,
        Capability::Int8 => spirv::Capability::Int8,
        Capability::Int16 => spirv::Capability::Int16,
        Capability::Float16 => spirv::Capability::Float16,
        Capability::StorageBuffer8BitAccess => spirv::Capability::StorageBuffer8BitAccess,
        Capability::StorageBuffer16BitAccess => spirv::Capability::StorageBuffer16BitAccess,
        Capability::GroupNonUniform => spirv::Capability::GroupNonUniform,
        Capability::GroupNonUniformVote => spirv::Capability::GroupNonUniformVote,
        Capability::GroupNonUniformArithmetic => spirv::Capability::GroupNonUniformArithmetic,
        Capability::GroupNonUniformBallot => spirv::Capability::GroupNonUniformBallot,
        Capability::GroupNonUniformShuffle => spirv::Capability::GroupNonUniformShuffle,
        Capability::Int64Atomics => spirv::Capability::Int64Atomics,
        Capability::AtomicFloat32AddEXT => spirv::Capability::AtomicFloat32AddEXT,
        Capability::AtomicFloat64AddEXT => spirv::Capability::AtomicFloat64AddEXT,
        Capability::Image1D => spirv::Capability::Image1D,
        Capability::Sampled1D => spirv::Capability::Sampled1D,
        Capability::StorageImageExtendedFormats => spirv::Capability::StorageImageExtendedFormats,
        Capability::ImageQuery => spirv::Capability::ImageQuery,
        Capability::PhysicalStorageBufferAddresses => spirv::Capability::PhysicalStorageBufferAddresses,
        Capability::CooperativeMatrixKHR => spirv::Capability::CooperativeMatrixKHR,
        Capability::BFloat16TypeKHR => spirv::Capability::BFloat16TypeKHR,
        Capability::BFloat16CooperativeMatrixKHR => spirv::Capability::BFloat16CooperativeMatrixKHR,
        Capability::VulkanMemoryModel => spirv::Capability::VulkanMemoryModel,
        Capability::StorageInputOutput16 => spirv::Capability::StorageInputOutput16,
        Capability::DrawParameters => spirv::Capability::DrawParameters,
        Capability::MultiView => spirv::Capability::MultiView,
        Capability::Geometry => spirv::Capability::Geometry,
        Capability::SampleRateShading => spirv::Capability::SampleRateShading,
        Capability::ShaderLayer => spirv::Capability::ShaderLayer,
        Capability::ShaderViewportIndex => spirv::Capability::ShaderViewportIndex,
        Capability::ClipDistance => spirv::Capability::ClipDistance,
        Capability::CullDistance => spirv::Capability::CullDistance,
    }
}
