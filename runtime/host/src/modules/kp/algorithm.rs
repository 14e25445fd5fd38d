//! `kp.Algorithm`.

use std::cell::OnceCell;

use kps_compute::{Algorithm, Push};
use kps_kernel::Ints;

use super::errors::compute;
use super::ops;
use super::shared::SharedManager;
use super::tensor::ScriptTensor;
use super::values;
use crate::modules::kernels::PushedKernel;
use crate::value::{Args, Native, NativeDef, NativeType, Result, Value};
use crate::vm::Vm;

pub static ALGORITHM: NativeType = NativeType {
    methods: &[
        NativeDef::method("get_tensors", tensors)
            .doc("()", "Returns the tensors, images and samplers that it binds."),
        NativeDef::method("get_mem_objects", tensors)
            .doc("()", "Returns the tensors, images and samplers that it binds."),
        NativeDef::method("get_spec_consts", spec_consts)
            .doc("()", "Returns the values of its specialisation constants."),
        NativeDef::method("is_init", is_init).doc("()", "Returns whether it is not destroyed."),
        NativeDef::method("destroy", destroy).doc("()", "Frees the algorithm."),
    ],
    ..NativeType::new("Algorithm", "kp")
        .doc("", "A kernel or shader with what it binds; `Manager.algorithm` makes one.")
};

pub struct ScriptAlgorithm {
    algorithm: Algorithm,
    general: Option<General>,
    pushed: Option<PushedKernel>,
    /// The tensors as the script holds them.
    tensors: Vec<Value>,
    /// Keeps the manager alive as long as its algorithm.
    _manager: SharedManager,
}

/// The fallback for a dispatch that pushes larger ints than the algorithm's module allows.
struct General {
    words: Vec<u32>,
    made: OnceCell<Algorithm>,
}

impl ScriptAlgorithm {
    /// `general` is the module for dispatches with any ints, if the algorithm's module requires small ones.
    pub fn value(
        algorithm: Algorithm,
        general: Option<Vec<u32>>,
        pushed: Option<PushedKernel>,
        tensors: Vec<Value>,
        manager: SharedManager,
    ) -> Value {
        let general = general.map(|words| General { words, made: OnceCell::new() });
        Value::native(ScriptAlgorithm { algorithm, general, pushed, tensors, _manager: manager })
    }

    /// Push constants in the module's order. Scripts give them in the order of a kernel's parameters.
    pub fn arranged(&self, push: Push) -> Result<Push> {
        match &self.pushed {
            Some(pushed) => pushed.arranged(push),
            None => Ok(push),
        }
    }

    /// The algorithm to run for a dispatch with these push constants.
    pub fn for_push(&self, push: &Push) -> Result<Algorithm> {
        let Some(general) = self.general.as_ref().filter(|_| ops::ints(push) == Ints::Any) else {
            return Ok(self.algorithm.clone());
        };
        if let Some(made) = general.made.get() {
            return Ok(made.clone());
        }
        let made = self.algorithm.with_words(&general.words).map_err(compute)?;
        Ok(general.made.get_or_init(|| made).clone())
    }
}

impl Native for ScriptAlgorithm {
    fn native_type(&self) -> &'static NativeType {
        &ALGORITHM
    }
}

fn tensors(_: &mut Vm, args: &Args) -> Result {
    let this: &ScriptAlgorithm = args.this()?;
    if this.tensors.is_empty() {
        let tensors = this.algorithm.tensors();
        return Ok(Value::list(tensors.iter().cloned().map(ScriptTensor::value).collect()));
    }
    Ok(Value::list(this.tensors.clone()))
}

fn spec_consts(_: &mut Vm, args: &Args) -> Result {
    let constants = args.this::<ScriptAlgorithm>()?.algorithm.spec_constants();
    Ok(Value::list(constants.iter().map(|constant| values::value(*constant)).collect()))
}

fn is_init(_: &mut Vm, args: &Args) -> Result {
    Ok(args.this::<ScriptAlgorithm>()?.algorithm.is_init().into())
}

fn destroy(_: &mut Vm, args: &Args) -> Result {
    let this: &ScriptAlgorithm = args.this()?;
    let general = this.general.as_ref().and_then(|general| general.made.get());
    for algorithm in general.into_iter().chain([&this.algorithm]) {
        algorithm.destroy();
    }
    Ok(Value::None)
}
