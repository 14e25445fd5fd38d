//! The parameters of a kernel: a signature gives each its type, and scalars get their offsets in push constants
//! or a uniform buffer.

use crate::aliases::Copied;
use crate::constant::Constant;
use crate::env::EnvValue;
use crate::errors;
use crate::function_param::FunctionParam;
use crate::infer::Ctx;
use crate::infer::expressions::operand::Operand;
use crate::ir::{Buffer, NodeKind, ScalarParam};
use crate::signature::{ArrayParam, ParamType, Signature, Width};
use crate::template::{Input, Param, ParamKind};
use crate::types::{Scalar, Type};

impl Ctx<'_> {
    pub(in crate::infer) fn bind_params(&mut self, signature: &Signature) {
        let template = self.template;
        if signature.params.len() != template.params.len() {
            let error = errors::argument_count(
                self.at(template.def.header),
                template.name(),
                template.params.len(),
                signature.params.len(),
            );
            return self.error(error);
        }
        self.passed_functions = signature.functions().cloned().collect();
        for (param_idx, (param, given)) in template.params.iter().zip(&signature.params).enumerate() {
            self.bind_declared(param_idx, param, given);
        }
    }

    pub(in crate::infer) fn bind_declared(&mut self, param_idx: usize, param: &Param, given: &ParamType) {
        let operand = match (&param.kind, given) {
            (ParamKind::Port(port), ParamType::Input) => self.bind_port(param, port),
            _ => Some(self.bind_param(param_idx, param, given)),
        };
        operand.into_iter().for_each(|operand| self.assign_param(param, operand));
    }

    pub(in crate::infer) fn assign_param(&mut self, param: &Param, operand: Operand) {
        if let Some(var) = self.f.vars.named(&param.name.name) {
            self.assign_var(var, operand, param.name.span);
        }
    }

    fn bind_param(&mut self, param_idx: usize, param: &Param, given: &ParamType) -> Operand {
        let span = param.name.span;
        match (&param.kind, given) {
            (ParamKind::Untyped, ParamType::Array(array)) => self.bind_array(param_idx, param, array, None),
            (ParamKind::Array(declared), ParamType::Array(array)) if declared.takes(array) => {
                self.bind_array(param_idx, param, array, None)
            }
            (ParamKind::Uniform { set, binding, ty }, ParamType::Array(array)) if array.element == *ty => {
                self.bind_uniform(param_idx, param, array, (*set, *binding))
            }
            (ParamKind::Buffer { set, binding, element: declared }, ParamType::Array(array))
                if *declared == array.element =>
            {
                self.bind_array(param_idx, param, array, Some((*set, *binding)))
            }
            (ParamKind::Cell { set, binding, ty }, ParamType::Array(array)) if array.element == *ty => {
                self.bind_cell(param_idx, param, array, (*set, *binding))
            }
            (ParamKind::Untyped, ParamType::Scalar(ty)) => self.bind_scalar(param_idx, param, ty),
            (ParamKind::Scalar(declared), ParamType::Scalar(ty)) if declared == ty => {
                self.bind_scalar(param_idx, param, ty)
            }
            (ParamKind::Const(scalar), ParamType::Const(constant)) if constant.scalar() == *scalar => {
                Operand::Node(self.constant(*constant, span))
            }
            (ParamKind::Untyped, ParamType::Texture(ty)) => self.bind_texture(param_idx, param, *ty, None),
            (ParamKind::Texture { slot, ty: declared }, ParamType::Texture(ty)) if declared == ty => {
                self.bind_texture(param_idx, param, *ty, *slot)
            }
            (ParamKind::Untyped, ParamType::Sampler) => self.bind_sampler(param_idx, param, None),
            (ParamKind::Sampler { slot }, ParamType::Sampler) => self.bind_sampler(param_idx, param, *slot),
            (ParamKind::Untyped, ParamType::Function(function)) => self.bind_function(param, function),
            (ParamKind::Input { input: Input::GlobalInvocationId, ty }, ParamType::Input)
                if self.assumptions.ids == Width::Wide && ty.scalar() == Some(Scalar::I32) =>
            {
                self.fail(errors::too_many_invocations(self.at(span)))
            }
            (ParamKind::Input { input, ty }, ParamType::Input) => self.input(*input, ty, span),
            (kind, given) => {
                let (declared, given) = (describe_kind(kind), describe_given(given));
                self.error(errors::argument_type(self.at(span), &param.name.name, &declared, &given));
                Operand::Error
            }
        }
    }

    fn bind_function(&mut self, param: &Param, function: &FunctionParam) -> Operand {
        let function = function.function().expect("a key is not compiled").clone();
        if let EnvValue::Function(function) = &function
            && !self.is_supported(function)
        {
            return Operand::Error;
        }
        self.captured(&param.name.name, function, param.name.span)
    }

    fn bind_array(
        &mut self,
        param_idx: usize,
        param: &Param,
        array: &ArrayParam,
        slot: Option<(u32, u32)>,
    ) -> Operand {
        let span = param.name.span;
        let ArrayParam { element, rank, reach, counts, bytes } = array;
        if !element.has_layout() {
            self.error(errors::no_layout(self.at(span), element));
            return Operand::Error;
        }
        let (set, binding) = slot.unwrap_or((0, self.interface.next_binding()));
        let (name, element) = (param.name.name.clone(), element.clone());
        let id = self.interface.add_buffer(Buffer {
            name,
            param_idx,
            set,
            binding,
            element,
            rank: *rank,
            reach: *reach,
            is_uniform: false,
            is_cell: false,
            counts: *counts,
            bytes: *bytes,
            view_of: None,
            span,
        });
        Operand::Buffer(id)
    }

    /// The value that a uniform has when the kernel starts.
    fn bind_uniform(
        &mut self,
        param_idx: usize,
        param: &Param,
        array: &ArrayParam,
        slot: (u32, u32),
    ) -> Operand {
        let span = param.name.span;
        let Operand::Buffer(buffer) = self.bind_array(param_idx, param, array, Some(slot)) else {
            return Operand::Error;
        };
        self.interface[buffer].is_uniform = true;
        let first = self.constant(Constant::i32(0), span);
        let place = self.buffer_place(buffer, first.into());
        let value = self.load_whole(&place, span);
        self.value(value, span)
    }

    /// The one struct of a buffer, in memory.
    fn bind_cell(
        &mut self,
        param_idx: usize,
        param: &Param,
        array: &ArrayParam,
        slot: (u32, u32),
    ) -> Operand {
        let Operand::Buffer(buffer) = self.bind_array(param_idx, param, array, Some(slot)) else {
            return Operand::Error;
        };
        self.interface[buffer].is_cell = true;
        let first = self.constant(Constant::i32(0), param.name.span);
        Operand::Place(self.buffer_place(buffer, first.into()))
    }

    fn bind_scalar(&mut self, param_idx: usize, param: &Param, ty: &Type) -> Operand {
        let span = param.name.span;
        if !ty.has_layout() {
            self.error(errors::no_layout(self.at(span), ty));
            return Operand::Error;
        }
        let name = param.name.name.clone();
        let id = self.interface.add_scalar(ScalarParam { name, param_idx, ty: ty.clone(), span });
        let node = self.node(NodeKind::Scalar(id), ty.clone(), span);
        let value = self.value(node, span);
        self.record_copied(&value, span, Copied::Given);
        value
    }
}

fn describe_kind(kind: &ParamKind) -> String {
    match kind {
        ParamKind::Untyped => "an array, an image, a scalar or a function".to_owned(),
        ParamKind::Array(array) => format!("`{array}`"),
        ParamKind::Buffer { element, .. } => format!("`Array[{element}]`"),
        ParamKind::Cell { ty, .. } => format!("a buffer with {}", errors::one(ty)),
        ParamKind::Uniform { ty, .. } => format!("the uniform `{ty}`"),
        ParamKind::Scalar(ty) => format!("`{ty}`"),
        ParamKind::Const(scalar) => format!("`const[{scalar}]`"),
        ParamKind::Texture { ty, .. } => format!("a {ty} image"),
        ParamKind::Sampler { .. } => "a sampler".to_owned(),
        ParamKind::Input { input, .. } => format!("the input `{}`", input.name()),
        ParamKind::Port(port) => format!("an {} of type `{}`", port.direction.name(), port.ty),
    }
}

fn describe_given(given: &ParamType) -> String {
    match given {
        ParamType::Array(array) => format!("`{array}`"),
        ParamType::Scalar(ty) => format!("`{ty}`"),
        ParamType::Const(constant) => format!("a constant `{}`", constant.scalar()),
        ParamType::Texture(ty) => format!("a {ty} image"),
        ParamType::Sampler => "a sampler".to_owned(),
        ParamType::Function(_) => "a function".to_owned(),
        ParamType::Input => "an input".to_owned(),
    }
}
