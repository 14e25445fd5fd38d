//! `kp.Algorithm`.

use kps_compute::Algorithm;

use super::shared::SharedManager;
use super::tensor::ScriptTensor;
use super::values;
use crate::value::{Args, Native, NativeDef, NativeType, Result, Value};
use crate::vm::Vm;

pub static ALGORITHM: NativeType = NativeType {
    methods: &[
        NativeDef::method("get_tensors", tensors),
        NativeDef::method("get_mem_objects", tensors),
        NativeDef::method("get_spec_consts", spec_consts),
        NativeDef::method("is_init", is_init),
        NativeDef::method("destroy", destroy),
    ],
    ..NativeType::new("Algorithm", "kp")
};

pub struct ScriptAlgorithm {
    algorithm: Algorithm,
    /// The tensors as the script holds them.
    tensors: Vec<Value>,
    /// Lives as long as what was made with it.
    _manager: SharedManager,
}

impl ScriptAlgorithm {
    pub fn value(algorithm: Algorithm, tensors: Vec<Value>, manager: SharedManager) -> Value {
        Value::native(ScriptAlgorithm { algorithm, tensors, _manager: manager })
    }

    pub fn algorithm(&self) -> &Algorithm {
        &self.algorithm
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
        let tensors = this.algorithm.tensors().iter().cloned();
        return Ok(Value::list(tensors.map(ScriptTensor::value).collect()));
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
    args.this::<ScriptAlgorithm>()?.algorithm.destroy();
    Ok(Value::None)
}
