//! What a kernel's words may rely on, by the device that runs them and the tensors that it is given.

use std::rc::Rc;

use kps_compute::Tensor;
use kps_device::{Backend, Component, DeviceInfo, Feature, Instrument, MatrixProduct, MatrixScope};
use kps_kernel::{
    ArrayParam, Edge, Ints, KernelModule, Matrices, ParamKind, ParamType, Product, Reach, Target, Type, Width,
};

use super::object::Kernel;
use crate::modules::kp::ScriptedManager;
use crate::value::Result;
use crate::vm::Vm;

/// What words for a manager's device, watched so, may rely on.
pub fn target(manager: &ScriptedManager, instrument: Instrument) -> Target {
    Target { checks: matches!(instrument, Instrument::Checked(_)), ..*manager.target() }
}

/// What words for this device may rely on.
pub fn target_of(info: &DeviceInfo) -> Target {
    let has = |feature| info.features.contains(&feature);
    Target {
        scalar_layout: has(Feature::ScalarLayout),
        // The built-in device loads in vectors where a kernel tests its indices itself.
        robust_access: has(Feature::RobustAccess) && info.backend == Backend::Vulkan,
        float_controls: has(Feature::FloatControls),
        f32_atomic_add: has(Feature::FloatAtomicAdd),
        f64_atomic_add: has(Feature::DoubleAtomicAdd),
        matrices: matrices(info),
        ..Target::portable()
    }
}

/// The products of matrices that kernels can leave to a device. Their words are for the Vulkan memory model,
/// and what is bound lies where lines of matrices may begin.
fn matrices(info: &DeviceInfo) -> Matrices {
    let is_fit = info.features.contains(&Feature::VulkanMemoryModel)
        && (info.backend == Backend::Cpu || info.limits.storage_offset_alignment.is_multiple_of(16));
    let products = info.matrices.iter().filter(|_| is_fit).filter_map(product);
    Matrices::new(products, info.limits.subgroup_size, info.limits.max_shared)
}

fn product(listed: &MatrixProduct) -> Option<Product> {
    let scalar = |component: Component| Type::by_name(component.name())?.scalar();
    let &MatrixProduct { m, n, k, a, b, c, result, scope, .. } = listed;
    let is_ours = a == b && c == result && scope == MatrixScope::Subgroup;
    let (factor, sum) = (scalar(a)?, scalar(c)?);
    is_ours.then_some(Product { m, n, k, factor, sum })
}

/// Chooses how the words reach an array, and what counts its elements.
pub fn reach(array: &mut ArrayParam, tensor: &Tensor, info: &DeviceInfo) {
    let n_bytes = tensor.n_bytes() as u64;
    array.counts = Width::of(n_bytes / u64::from(array.element.packed_size().max(1)));
    // The built-in device takes wide indices everywhere, drivers surely with addresses alone.
    let is_far = n_bytes > info.limits.max_storage_range
        || (array.counts == Width::Wide && info.backend == Backend::Vulkan);
    if is_far && info.features.contains(&Feature::BufferDeviceAddress) {
        array.reach = Reach::Address;
    }
}

/// How words will be run: where their dispatches end, what these push, and what is watched meanwhile.
#[derive(Clone, Copy)]
pub struct Launched {
    pub edge: Edge,
    pub ints: Ints,
    pub instrument: Instrument,
}

/// The compiled form for tensors that are bound in order, by the types that the parameters declare.
pub fn compile_bound(
    vm: &Vm,
    kernel: &Kernel,
    tensors: &[Tensor],
    launched: Launched,
    manager: &ScriptedManager,
) -> Result<Rc<KernelModule>> {
    let mut signature = kernel.declared()?;
    let mut next = 0;
    for (param, ty) in kernel.template.params.iter().zip(&mut signature.params) {
        let slot = match param.kind {
            ParamKind::Buffer { binding, .. } => binding as usize,
            ParamKind::Array(_) | ParamKind::Texture { .. } | ParamKind::Sampler { .. } => next,
            _ => continue,
        };
        next += 1;
        if let (ParamType::Array(array), Some(tensor)) = (ty, tensors.get(slot)) {
            reach(array, tensor, manager.info());
        }
    }
    let target = target(manager, launched.instrument);
    // Elsewhere every index is tested where it is used, whatever it is made of.
    let ints = if target.robust_access { launched.ints } else { Ints::Any };
    kernel.compile(vm, &signature.with_edge(launched.edge).with_ints(ints), &target)
}
