//! The finished module: its sections in SPIR-V's order, capabilities and extensions first.

use rspirv::binary::Assemble;
use rspirv::dr::ModuleHeader;
use rspirv::spirv::{self, Op, Word};

use super::words::{begin, end, write, write_string, write_text};
use super::{Module, Operand};
use crate::emit::debug::Debug;
use crate::signature::Capability;
use crate::stages::Stage;

/// The set of instructions for checks.
const CHECKS: &str = "NonSemantic.kps.Checks";

impl Module {
    /// The whole module as words.
    pub fn finish(self, point: &EntryPoint) -> Vec<u32> {
        let mut header = ModuleHeader::new(self.next_id);
        header.set_version(1, 5);
        header.generator = 0;
        let mut first = Vec::with_capacity(USUAL_FIRST);
        header.assemble_into(&mut first);
        self.write_needs(point.float_controls, &mut first);
        self.write_model(&mut first);
        let start = begin(&mut first, Op::EntryPoint);
        first.extend([point.model() as Word, point.main]);
        write_text(&mut first, "main");
        first.extend(&self.interface);
        end(&mut first, start);
        point.write_modes(&mut first);
        self.write_sources(&mut first);
        let last = [self.strings, self.names, self.annotations, self.globals, self.functions];
        first.reserve_exact(last.iter().map(Vec::len).sum());
        last.iter().for_each(|section| first.extend(section));
        first
    }

    /// Capabilities, extensions, and sets of instructions.
    fn write_needs(&self, float_controls: bool, words: &mut Vec<Word>) {
        let mut need =
            |capability| write(words, Op::Capability, None, None, &[Operand::Capability(capability)]);
        need(spirv::Capability::Shader);
        self.capabilities.keys().copied().map(in_spirv).for_each(&mut need);
        if float_controls {
            need(spirv::Capability::SignedZeroInfNanPreserve);
            need(spirv::Capability::RoundingModeRTE);
        }
        let mut extensions: Vec<&str> =
            self.capabilities.keys().filter_map(|capability| capability.extension()).collect();
        extensions.dedup();
        let others = self.checks.map(|id| (id, CHECKS));
        let others: Vec<(Word, &str)> =
            others.into_iter().chain(self.debug.as_ref().map(Debug::import)).collect();
        extensions.extend(others.first().map(|_| "SPV_KHR_non_semantic_info"));
        for name in extensions {
            let start = begin(words, Op::Extension);
            write_text(words, name);
            end(words, start);
        }
        for (id, name) in [(self.glsl, "GLSL.std.450")].into_iter().chain(others) {
            let start = begin(words, Op::ExtInstImport);
            words.push(id);
            write_text(words, name);
            end(words, start);
        }
    }

    fn write_model(&self, words: &mut Vec<Word>) {
        let addressing = match self.capabilities.contains_key(&Capability::PhysicalStorageBufferAddresses) {
            true => spirv::AddressingModel::PhysicalStorageBuffer64,
            false => spirv::AddressingModel::Logical,
        };
        let model = [Operand::AddressingModel(addressing), Operand::MemoryModel(self.model)];
        write(words, Op::MemoryModel, None, None, &model);
    }

    fn write_sources(&self, words: &mut Vec<Word>) {
        for (source, id) in &self.files {
            write_string(words, *id, &source.name().replace('\0', " "));
        }
        for (_, id) in &self.files {
            let language = Operand::SourceLanguage(spirv::SourceLanguage::Unknown);
            let operands = [language, Operand::LiteralBit32(1), Operand::IdRef(*id)];
            write(words, Op::Source, None, None, &operands);
        }
    }
}

/// The words before the names of the sources.
const USUAL_FIRST: usize = 64;

/// The entry point of a module, with its execution modes.
pub(crate) struct EntryPoint {
    pub main: Word,
    pub stage: Stage,
    pub local_size: [u32; 3],
    /// The fragment function writes the depth.
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

    fn write_modes(&self, words: &mut Vec<Word>) {
        let mut write_mode = |mode: spirv::ExecutionMode, values: &[Word]| {
            let start = begin(words, Op::ExecutionMode);
            words.extend([self.main, mode as Word]);
            words.extend(values);
            end(words, start);
        };
        match self.stage {
            Stage::Compute => write_mode(spirv::ExecutionMode::LocalSize, &self.local_size),
            Stage::Vertex => {}
            Stage::Fragment => write_mode(spirv::ExecutionMode::OriginUpperLeft, &[]),
        }
        if self.replaces_depth {
            write_mode(spirv::ExecutionMode::DepthReplacing, &[]);
        }
        if self.float_controls {
            write_mode(spirv::ExecutionMode::SignedZeroInfNanPreserve, &[32]);
            write_mode(spirv::ExecutionMode::RoundingModeRTE, &[32]);
        }
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
