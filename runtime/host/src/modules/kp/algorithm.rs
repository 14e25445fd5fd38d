//! `kp.Algorithm`.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use kps_compute::{Algorithm, ComputeError, Push, Tensor};
use kps_kernel::Ints;

use super::errors::{self, compute};
use super::image;
use super::ops;
use super::shared::SharedManager;
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
        NativeDef::method("rebuild", rebuild).doc(
            "(tensors)",
            "Binds other tensors, without compiling anything; `Sequence.rerecord` takes them over.",
        ),
        NativeDef::method("is_init", is_init).doc("()", "Returns whether it is not destroyed."),
        NativeDef::method("destroy", destroy).doc("()", "Frees the algorithm."),
    ],
    ..NativeType::new("Algorithm", "kp")
        .doc("", "A kernel or shader with what it binds; `Manager.algorithm` makes one.")
};

pub struct ScriptAlgorithm {
    /// `None` without a kernel: for `OpMult`, which has its own.
    algorithm: Option<Algorithm>,
    general: Option<General>,
    pushed: Option<PushedKernel>,
    /// The tensors as the script holds them.
    tensors: RefCell<Rc<[Value]>>,
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
        let tensors = RefCell::new(tensors.into());
        Value::native(ScriptAlgorithm {
            algorithm: Some(algorithm),
            general,
            pushed,
            tensors,
            _manager: manager,
        })
    }

    /// An algorithm without a kernel, which cannot be dispatched.
    pub fn without_kernel(manager: SharedManager) -> Value {
        let tensors = RefCell::new(Rc::from([]));
        Value::native(ScriptAlgorithm {
            algorithm: None,
            general: None,
            pushed: None,
            tensors,
            _manager: manager,
        })
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
        let algorithm = self.algorithm.as_ref().ok_or_else(errors::no_kernel)?;
        let Some(general) = self.general.as_ref().filter(|_| ops::ints(push) == Ints::Any) else {
            return Ok(algorithm.clone());
        };
        if let Some(made) = general.made.get() {
            return Ok(made.clone());
        }
        let made = algorithm.with_words(&general.words).map_err(compute)?;
        Ok(general.made.get_or_init(|| made).clone())
    }

    fn rebind(&self, tensors: &[Tensor]) -> std::result::Result<(), ComputeError> {
        let general = self.general.as_ref().and_then(|general| general.made.get());
        self.algorithm.iter().chain(general).try_for_each(|algorithm| algorithm.rebind(tensors))
    }
}

impl Native for ScriptAlgorithm {
    fn native_type(&self) -> &'static NativeType {
        &ALGORITHM
    }
}

fn tensors(_: &mut Vm, args: &Args) -> Result {
    let this: &ScriptAlgorithm = args.this()?;
    Ok(Value::list(this.tensors.borrow().to_vec()))
}

fn spec_consts(_: &mut Vm, args: &Args) -> Result {
    let algorithm = &args.this::<ScriptAlgorithm>()?.algorithm;
    let constants = algorithm.as_ref().map_or(&[][..], Algorithm::spec_constants);
    Ok(Value::list(constants.iter().map(|constant| values::value(*constant)).collect()))
}

/// `rebuild(tensors)`: in place of those that it binds.
fn rebuild(vm: &mut Vm, args: &Args) -> Result {
    let this: &ScriptAlgorithm = args.this()?;
    let mut parser = args.method_parser("rebuild");
    let given = parser.required("tensors")?;
    parser.finish()?;
    let operands = values::operands(vm, given, "rebuild")?;
    let (tensors, _) = image::with_samplers(&operands, "rebuild")?;
    if this.algorithm.is_none() {
        return Err(errors::no_kernel());
    }
    this.rebind(&tensors).map_err(compute)?;
    this.tensors.replace(operands.into());
    Ok(args.receiver()?.clone())
}

fn is_init(_: &mut Vm, args: &Args) -> Result {
    Ok(args.this::<ScriptAlgorithm>()?.algorithm.as_ref().is_some_and(Algorithm::is_init).into())
}

fn destroy(_: &mut Vm, args: &Args) -> Result {
    let this: &ScriptAlgorithm = args.this()?;
    let general = this.general.as_ref().and_then(|general| general.made.get());
    for algorithm in general.into_iter().chain(&this.algorithm) {
        algorithm.destroy();
    }
    Ok(Value::None)
}
