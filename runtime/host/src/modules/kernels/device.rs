//! The features that a kernel's module may use, by its device and its tensors.

use std::rc::Rc;

use kps_compute::Tensor;
use kps_device::{Check, DeviceInfo, Feature, Instrument, MatrixProduct, MatrixScope};
use kps_kernel::{
    ArrayParam, BoundaryTest, IndexRange, Ints, KernelModule, KernelTemplate, LaunchAssumptions, LaunchSize,
    Matrices, Param, ParamKind, ParamType, Product, Reach, Signature, Target, Width, Workarounds,
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

/// The compilation target for this device.
pub fn target_of(info: &DeviceInfo) -> Target {
    let has = |feature| info.features.contains(&feature);
    Target {
        scalar_layout: has(Feature::ScalarLayout),
        robust_access: has(Feature::RobustAccess) && !info.capabilities.prefers_tested_indices,
        float_controls: has(Feature::FloatControls),
        workarounds: workarounds(info),
        f32_atomic_add: has(Feature::FloatAtomicAdd),
        f64_atomic_add: has(Feature::DoubleAtomicAdd),
        matrices: matrices(info),
        ..Target::portable()
    }
}

fn workarounds(info: &DeviceInfo) -> Workarounds {
    let driver = info.vulkan_driver.as_ref();
    driver.map_or(Workarounds::NONE, |driver| Workarounds::of_vulkan_driver(driver.id, &driver.version))
}

/// The matrix products that a device computes natively. Their modules use the Vulkan memory model, and
/// bindings are aligned as lines of matrices require.
fn matrices(info: &DeviceInfo) -> Matrices {
    let is_fit = info.features.contains(&Feature::VulkanMemoryModel)
        && (info.capabilities.unaligned_matrices || info.limits.storage_offset_alignment.is_multiple_of(16));
    let products = info.matrices.iter().filter(|_| is_fit).filter_map(product);
    Matrices::new(products, info.limits.subgroup_size, info.limits.max_shared)
}

fn product(listed: &MatrixProduct) -> Option<Product> {
    let &MatrixProduct { m, n, k, a, b, c, result, scope, .. } = listed;
    let is_supported = a == b && c == result && scope == MatrixScope::Subgroup;
    is_supported.then_some(Product { m, n, k, factor: a, sum: c })
}

/// Chooses how the module addresses an array, and the type of its element counts.
pub fn reach(array: &mut ArrayParam, tensor: &Tensor, info: &DeviceInfo) {
    let n_bytes = tensor.n_bytes() as u64;
    array.counts = Width::of(n_bytes / u64::from(array.element.packed_size().max(1)));
    let is_far = n_bytes > info.limits.max_storage_range
        || (array.counts == Width::Wide && !info.capabilities.wide_indices);
    if is_far && info.features.contains(&Feature::BufferDeviceAddress) {
        array.reach = Reach::Address;
    }
}

/// Passes the arrays beyond the number of bindings by address, if the device has addresses.
pub fn spare_bindings<'p>(params: impl Iterator<Item = &'p mut ParamType>, info: &DeviceInfo) {
    if !info.features.contains(&Feature::BufferDeviceAddress) {
        return;
    }
    // One binding is for the output of `print`.
    let n_bound = info.limits.max_storage_buffers.saturating_sub(1) as usize;
    let arrays = params.filter_map(|param| match param {
        ParamType::Array(array) => Some(array),
        _ => None,
    });
    let bound = arrays.filter(|array| array.reach == Reach::Binding);
    bound.skip(n_bound).for_each(|array| array.reach = Reach::Address);
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
