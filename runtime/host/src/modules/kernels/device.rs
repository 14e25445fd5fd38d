//! The features that a kernel's module may use, by its device and its tensors.

use std::rc::Rc;

use kps_array::target::{reach, spare_bindings};
use kps_compute::Tensor;
use kps_device::{Check, Instrument};
use kps_kernel::{
    BoundaryTest, IndexRange, Ints, KernelModule, KernelTemplate, LaunchAssumptions, LaunchSize, Param,
    ParamKind, ParamType, Signature, Target,
};

use super::arguments::{array_shape, tensor_type};
use super::errors;
use super::launch::memory_of;
use super::object::Kernel;
use crate::modules::kp::{self, ScriptedManager};
use crate::value::{Result, Value};
use crate::vm::Vm;

/// The compilation target for a manager's device with this instrumentation.
pub fn target(manager: &ScriptedManager, instrument: Instrument) -> Target {
    let checks = match instrument {
        Instrument::Checked(checks) => Some(checks),
        Instrument::None | Instrument::Profile => None,
    };
    Target {
        checks: checks.is_some(),
        checks_results: checks.is_some_and(|checks| checks.has(Check::Overflow) || checks.has(Check::Nan)),
        ..*manager.target()
    }
}

/// The value of one slot, and its type for a parameter without an annotation.
pub struct Bound {
    pub tensor: Tensor,
    ty: ParamType,
}

impl Bound {
    pub fn tensor(tensor: &Tensor) -> Bound {
        Bound { tensor: tensor.clone(), ty: tensor_type(tensor, None) }
    }

    /// From a script's value; for a sampler, the tensor fills its slot and is unused.
    pub fn given(value: &Value, tensor: &Tensor) -> Bound {
        let ty = match kp::sampler_of(value) {
            Some(_) => ParamType::Sampler,
            None => tensor_type(tensor, kp::element_of(value)),
        };
        Bound { tensor: tensor.clone(), ty }
    }

    /// The value that kernels see, unless it is a sampler.
    fn seen(&self) -> Option<&Tensor> {
        (self.ty != ParamType::Sampler).then_some(&self.tensor)
    }
}

/// How a module will be run: where its dispatches end, what they push, and their instrumentation.
#[derive(Clone, Copy)]
pub struct Launched {
    pub boundary_test: BoundaryTest,
    pub ints: Ints,
    /// Workgroups along x, y and z; 0 along x leaves it to the tensors.
    pub groups: [u32; 3],
    pub instrument: Instrument,
}

/// The compiled form for values bound in order: with the declared types of the parameters, or else those of
/// the values.
pub fn compile_bound(
    vm: &Vm,
    kernel: &Kernel,
    bound: &[Bound],
    launched: Launched,
    manager: &ScriptedManager,
) -> Result<Rc<KernelModule>> {
    let template = &*kernel.template_now()?;
    let slots = slots(template);
    let bound_to = |at: usize| slots[at].and_then(|slot| bound.get(slot));
    let by_what_is_bound = |at: usize| Some(bound_to(at)?.ty.clone());
    let completed = Signature::completed(template, &kernel.env, by_what_is_bound);
    let mut signature = completed.map_err(|param| match param.kind {
        ParamKind::Untyped => errors::unbound(template, &param.name.name),
        _ => errors::undeclared(template, param),
    })?;
    for (at, ty) in signature.params.iter_mut().enumerate() {
        if let (ParamType::Array(array), Some(bound)) = (ty, bound_to(at)) {
            reach(array, &bound.tensor, manager.info());
        }
    }
    spare_bindings(signature.params.iter_mut(), manager.info());
    let target = target(manager, launched.instrument);
    // On other devices an index of one axis is tested at its use, whatever its expression is.
    let matters = target.robust_access || signature.has_arrays_of_several_axes();
    let ints = if matters { launched.ints } else { Ints::Any };
    let tensors: Vec<Tensor> = bound.iter().filter_map(Bound::seen).cloned().collect();
    let assumptions = LaunchAssumptions {
        boundary_test: launched.boundary_test,
        memory: memory_of(&tensors),
        ints,
        ..signature.assumptions
    };
    let signature = signature.with_assumptions(assumptions);
    let local_size = template.local_size(signature.rank);
    let invocations = std::array::from_fn(|axis| match launched.groups {
        [0, ..] => tensors.iter().map(|tensor| tensor.size() as u64).max().unwrap_or(0),
        groups => u64::from(groups[axis]) * u64::from(local_size[axis]),
    });
    let tensor = |at: usize| bound_to(at).map(|bound| &bound.tensor);
    let launch_size = |of: LaunchSize| launch_size(of, &signature, invocations, tensor);
    compile_for_launch(vm, kernel, &signature, &target, &launch_size)
}

/// The value of a size in a launch: the tensor of a parameter is identified by its place.
pub fn launch_size<'t>(
    of: LaunchSize,
    signature: &Signature,
    invocations: [u64; 3],
    tensor: impl Fn(usize) -> Option<&'t Tensor>,
) -> u64 {
    match of {
        LaunchSize::Invocations(axis) => invocations[usize::from(axis)],
        LaunchSize::Axis { param_idx, axis } => match (&signature.params[param_idx], tensor(param_idx)) {
            (ParamType::Array(array), Some(tensor)) => {
                array_shape(array, tensor).get(usize::from(axis)).map_or(1, |&len| len as u64)
            }
            _ => u64::MAX,
        },
    }
}

/// Compiles without tests of flat indices if the launch described by `launch_size` is in range, else with them.
pub fn compile_for_launch(
    vm: &Vm,
    kernel: &Kernel,
    signature: &Signature,
    target: &Target,
    launch_size: &dyn Fn(LaunchSize) -> u64,
) -> Result<Rc<KernelModule>> {
    if signature.has_arrays_of_several_axes() {
        let assumptions = LaunchAssumptions { index_range: IndexRange::Assumed, ..signature.assumptions };
        let assuming = kernel.compile(vm, &signature.clone().with_assumptions(assumptions), target)?;
        if assuming.index_limits.hold(launch_size) {
            return Ok(assuming);
        }
    }
    kernel.compile(vm, signature, target)
}

/// The slot of each parameter.
fn slots(template: &KernelTemplate) -> Vec<Option<usize>> {
    let mut next = 0;
    let slot = |param: &Param| {
        let slot = match param.kind {
            ParamKind::Buffer { binding, .. } => binding as usize,
            ParamKind::Array(_)
            | ParamKind::Texture { .. }
            | ParamKind::Sampler { .. }
            | ParamKind::Untyped => next,
            _ => return None,
        };
        next += 1;
        Some(slot)
    };
    template.params.iter().map(slot).collect()
}
