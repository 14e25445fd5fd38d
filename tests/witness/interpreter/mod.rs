//! The third witness: runs the typed form of a kernel directly, as LANGUAGE's rules say.
//!
//! A verified kernel, its arguments and a grid go in; what its arrays hold afterwards comes out, or the
//! reason why nothing can be said of it. It is slow and plain on purpose, and shares nothing with the
//! emitter or the devices. Never here: a device, SPIR-V, threads.
//!
//! `value.rs` has what a kernel computes with, `numbers.rs` its arithmetic, `nodes.rs` what each node of the
//! typed form gives, `subgroups.rs` what invocations make together, `tiles.rs` the matrices that they hold together, and
//! `machine.rs` the flow of control of one invocation.

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

/// Why a run says nothing about what devices should give.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The language leaves the result open here, such as the bits of a NaN.
    Open(&'static str),
    /// It took more steps than any kernel of these tests should.
    Endless,
    /// This interpreter has no such operation.
    NotHere(String),
    /// Invocations of a workgroup came to different barriers.
    Divergent,
}

/// An array argument.
pub struct Memory {
    pub element: Type,
    pub shape: Vec<u32>,
    pub values: Vec<Value>,
}

impl Memory {
    /// Elements as they lie in the bytes that a device sees.
    pub fn from_bytes(element: &Type, shape: Vec<u32>, bytes: &[u8]) -> Memory {
        let elements = bytes.chunks_exact(element.packed_size() as usize);
        Memory {
            element: element.clone(),
            shape,
            values: elements.map(|at| Value::read(element, at)).collect(),
        }
    }

    /// The bytes that lie between members stay zero.
    pub fn to_bytes(&self) -> Vec<u8> {
        let size = self.element.packed_size() as usize;
        let mut bytes = vec![0; size * self.values.len()];
        for (value, at) in self.values.iter().zip(bytes.chunks_exact_mut(size)) {
            value.write(&self.element, at);
        }
        bytes
    }
}

/// Workgroups and, where the kernel has a guard, the invocations asked for.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    pub groups: [u32; 3],
    pub domain: [u32; 3],
}

/// What a run was like.
#[derive(Clone, Copy, Debug, Default)]
pub struct Notes {
    /// It came to a subnormal number.
    pub has_subnormal: bool,
    /// It came to a constant zero or to equal operands where a driver's short cut would show.
    pub has_short_cut: bool,
    /// It came to a quotient or a root that Vulkan gives a bound only.
    pub has_bound: bool,
}

/// Everything that the invocations of a launch have in common.
pub struct World<'k> {
    kernel: &'k Kernel,
    grid: Grid,
    scalars: &'k [Value],
    buffers: &'k mut [Memory],
    /// The memory of the workgroup that is running.
    shared: Vec<Value>,
    notes: Cell<Notes>,
    /// Statements until it counts as endless.
    fuel: u64,
}

impl World<'_> {
    /// Of f64 they are right everywhere.
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

/// Runs each invocation up to its next barrier, and so on until all have ended.
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
            // What a matrix is moved by is in step, too: nobody stores what others have yet to load.
            Some(Pause::Waits(Together::Barrier | Together::CoopMatrix)) => {}
        }
    }
    Ok(())
}
