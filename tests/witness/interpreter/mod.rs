//! An interpreter of the typed form of a kernel, by the rules of the language.
//!
//! The input is a verified kernel, its arguments and a grid. The output is the content of its arrays
//! afterwards, or the reason why the result is unspecified. It is slow and simple on purpose, and shares
//! nothing with the emitter or the devices. It uses no device, no SPIR-V and no threads.
//!
//! `value.rs` has the values, `numbers.rs` their arithmetic, and `nodes.rs` evaluates the nodes of the typed
//! form. `subgroups.rs` has subgroup operations, `tiles.rs` cooperative matrices, and `machine.rs` the
//! control flow of one invocation.

mod machine;
mod nodes;
mod numbers;
mod subgroups;
mod tiles;
mod value;

use std::cell::Cell;

use kps_kernel::ir::{Kernel, Together};
use kps_kernel::{Scalar, Type};

pub use value::Value;

use machine::{Invocation, Pause};

/// Why a run has no result to compare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The language leaves the result open here, such as the bits of a NaN.
    Open(&'static str),
    /// It exceeded the limit of steps.
    Endless,
    /// This interpreter lacks the operation.
    NotHere(String),
    /// Invocations of a workgroup reached different barriers.
    Divergent,
}

/// An array argument.
pub struct Memory {
    pub element: Type,
    pub shape: Vec<u32>,
    pub values: Vec<Value>,
}

impl Memory {
    /// Reads elements in the layout of devices.
    pub fn from_bytes(element: &Type, shape: Vec<u32>, bytes: &[u8]) -> Memory {
        let elements = bytes.chunks_exact(element.packed_size() as usize);
        Memory {
            element: element.clone(),
            shape,
            values: elements.map(|at| Value::read(element, at)).collect(),
        }
    }

    /// Padding between members remains zero.
    pub fn to_bytes(&self) -> Vec<u8> {
        let size = self.element.packed_size() as usize;
        let mut bytes = vec![0; size * self.values.len()];
        for (value, at) in self.values.iter().zip(bytes.chunks_exact_mut(size)) {
            value.write(&self.element, at);
        }
        bytes
    }
}

/// Workgroups and, for kernels with a guard, the domain.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    pub groups: [u32; 3],
    pub domain: [u32; 3],
}

/// Properties of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Notes {
    /// A subnormal number occurred.
    pub has_subnormal: bool,
    /// A constant zero or equal operands occurred where a driver's shortcut would change the result.
    pub has_short_cut: bool,
    /// A quotient or a root occurred that Vulkan only bounds.
    pub has_bound: bool,
}

/// The state that the invocations of a launch share.
pub struct World<'k> {
    kernel: &'k Kernel,
    grid: Grid,
    scalars: &'k [Value],
    buffers: &'k mut [Memory],
    /// The memory of the running workgroup.
    shared: Vec<Value>,
    notes: Cell<Notes>,
    /// Statements until it counts as endless.
    fuel: u64,
}

impl World<'_> {
    /// They are exact for f64 on all devices.
    fn note_rounding(&self, is_rough: bool, scalar: Scalar) {
        if is_rough && scalar.is_float() && scalar != Scalar::F64 {
            self.notes.set(Notes { has_bound: true, ..self.notes.get() });
        }
    }
}

/// Runs all invocations, workgroup after workgroup.
pub fn run<'k>(
    kernel: &'k Kernel,
    grid: Grid,
    scalars: &'k [Value],
    buffers: &'k mut [Memory],
    fuel: u64,
) -> Result<Notes, Stop> {
    let mut world =
        World { kernel, grid, scalars, buffers, shared: Vec::new(), notes: Cell::default(), fuel };
    let [nx, ny, nz] = grid.groups;
    for z in 0..nz {
        for y in 0..ny {
            for x in 0..nx {
                run_group(&mut world, [x, y, z])?;
            }
        }
    }
    Ok(world.notes.get())
}

/// Runs each invocation up to its next barrier, until all have ended.
fn run_group(world: &mut World, group: [u32; 3]) -> Result<(), Stop> {
    let kernel = world.kernel;
    world.shared = kernel.shared.iter().map(|shared| Value::zero(&shared.ty)).collect();
    let [nx, ny, nz] = kernel.local_size;
    let places = (0..nz).flat_map(|z| (0..ny).flat_map(move |y| (0..nx).map(move |x| [x, y, z])));
    let asked_for = |local: &[u32; 3]| {
        let inside =
            |axis: usize| group[axis] * kernel.local_size[axis] + local[axis] < world.grid.domain[axis];
        !kernel.has_domain || (0..3).all(inside)
    };
    let mut invocations: Vec<Invocation> =
        places.filter(asked_for).map(|local| Invocation::new(kernel, group, local)).collect();
    while !invocations.is_empty() {
        let mut pauses = Vec::new();
        for invocation in &mut invocations {
            pauses.push(invocation.run(world)?);
        }
        let at_subgroup = |pause: &Pause| matches!(pause, Pause::Subgroup(_));
        match pauses.iter().all(|pause| *pause == pauses[0]).then_some(pauses[0]) {
            None if pauses.iter().any(at_subgroup) => return Err(Stop::Open("which invocations are active")),
            None => return Err(Stop::Divergent),
            Some(Pause::Ended) => break,
            Some(Pause::Subgroup(node)) => machine::combine(&mut invocations, node)?,
            // Moving matrices is in lockstep, too: nothing is stored before all invocations have loaded.
            Some(Pause::Waits(Together::Barrier | Together::CoopMatrix)) => {}
        }
    }
    Ok(())
}
