//! Accesses to images: calls of [`crate::cpu::images`].

use cranelift_codegen::ir::{self, AbiParam, InstBuilder, Signature, types};

use super::context::Context;
use super::scalar::{Emitter, fixed};
use crate::cpu::images::{self, ImageView};
use crate::cpu::lane::{ImageAction, Value};
use crate::{Access, Sampler};

impl Emitter<'_, '_> {
    pub(super) fn image(&mut self, image: u32, action: ImageAction, place: [Value; 3], texel: Value) {
        let place = place.map(|value| self.value(value));
        let texel = self.value(texel);
        self.image_at(image, action, place, texel);
    }

    /// `texel` is the address of 16 bytes.
    pub(super) fn image_at(
        &mut self,
        image: u32,
        action: ImageAction,
        [x, y, z]: [ir::Value; 3],
        texel: ir::Value,
    ) {
        let view = self.view(image);
        let function = match action {
            ImageAction::Read => images::read_texel as *const () as usize,
            ImageAction::Write => images::write_texel as *const () as usize,
            ImageAction::Sample { sampler } => {
                let sampler = self.sampler(sampler);
                let function = images::sample_texel as *const () as usize;
                self.call_image(function, &[view, sampler, x, y, z, texel], None);
                return;
            }
            ImageAction::Gather { sampler, channel } => {
                let sampler = self.sampler(sampler);
                let channel = self.builder.ins().iconst(types::I32, i64::from(channel));
                let function = images::gather_texels as *const () as usize;
                self.call_image(function, &[view, sampler, x, y, channel, texel], None);
                return;
            }
        };
        self.call_image(function, &[view, x, y, z, texel], None);
    }

    pub(super) fn texel(&mut self, image: u32, place: [Value; 3]) -> ir::Value {
        let view = self.view(image);
        let [x, y, z] = place.map(|value| self.value(value));
        let scratch = self.scratch(Access::ReadWrite);
        let function = images::texel_address as *const () as usize;
        let call = self.call_image(function, &[view, x, y, z, scratch], Some(types::I64));
        self.builder.inst_results(call)[0]
    }

    pub(super) fn image_size(&mut self, image: u32, axis: u8) -> ir::Value {
        let view = self.view(image);
        let offset = std::mem::offset_of!(ImageView, size) as i32 + 4 * i32::from(axis);
        self.builder.ins().load(types::I32, fixed(), view, offset)
    }

    fn view(&mut self, image: u32) -> ir::Value {
        let offset = std::mem::offset_of!(Context, images) as i32;
        let views = self.builder.ins().load(types::I64, fixed(), self.context, offset);
        self.builder.ins().iadd_imm_s(views, i64::from(image) * size_of::<ImageView>() as i64)
    }

    fn sampler(&mut self, sampler: u32) -> ir::Value {
        let offset = std::mem::offset_of!(Context, samplers) as i32;
        let samplers = self.builder.ins().load(types::I64, fixed(), self.context, offset);
        self.builder.ins().iadd_imm_s(samplers, i64::from(sampler) * size_of::<Sampler>() as i64)
    }

    fn call_image(&mut self, function: usize, args: &[ir::Value], result: Option<ir::Type>) -> ir::Inst {
        let mut signature = Signature::new(self.target.call_conv);
        let params = args.iter().map(|&arg| AbiParam::new(self.builder.func.dfg.value_type(arg)));
        signature.params.extend(params);
        signature.returns.extend(result.map(AbiParam::new));
        let signature = self.builder.import_signature(signature);
        let function = self.builder.ins().iconst(types::I64, function as i64);
        self.builder.ins().call_indirect(signature, function, args)
    }
}
