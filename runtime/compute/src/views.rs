//! Slices of tensors in dispatches.
//!
//! A device binds a slice where the offset of its first byte has the required alignment. Another slice is
//! copied to memory of its own before the dispatch, and back after it if the kernel writes it. The kernel must
//! not access the slice's bytes through another tensor then, because it would see two versions of them.

use std::rc::Rc;

use kps_device::{ADDRESS_ALIGNMENT, Access, DeviceInfo};

use crate::DType;
use crate::context::Context;
use crate::error::{ComputeError, Result};
use crate::kernel::{BoundAs, Kernel};
use crate::op::{CopyStep, Step};
use crate::plan::{Plan, Timestamps};
use crate::storage::Storage;
use crate::tensor::Tensor;

/// Uniform buffers have an alignment of their own, which no device has above this.
const UNIFORM_ALIGNMENT: u64 = 256;

/// The tensors of a dispatch with copies in the place of unaligned slices.
pub(crate) struct Staged {
    pub tensors: Vec<Tensor>,
    /// To run before the dispatch.
    pub before: Vec<CopyStep>,
    /// To run after it.
    pub after: Vec<CopyStep>,
}

/// Replaces the slices that the device cannot bind; `None` if there are none.
pub(crate) fn staged(kernel: &Kernel, info: &DeviceInfo, tensors: &[Tensor]) -> Result<Option<Staged>> {
    if !tensors.iter().any(Tensor::is_slice) {
        return Ok(None);
    }
    let uses: Vec<(usize, Access, BoundAs)> = kernel.uses(tensors.len()).collect();
    let alignment = |bound| match bound {
        BoundAs::Storage => info.limits.storage_offset_alignment,
        BoundAs::Uniform => UNIFORM_ALIGNMENT,
        BoundAs::Address => ADDRESS_ALIGNMENT,
        BoundAs::Image => 1,
    };
    let is_unaligned = |(at, _, bound): &&(usize, Access, BoundAs)| {
        !(tensors[*at].byte_range().start as u64).is_multiple_of(alignment(*bound).max(1))
    };
    let mut staged = Staged { tensors: tensors.to_vec(), before: Vec::new(), after: Vec::new() };
    for (at, access, bound) in uses.iter().filter(is_unaligned) {
        let slice = &tensors[*at];
        for (other, other_access, _) in uses.iter().filter(|(other, ..)| other != at) {
            if (access.writes() || other_access.writes()) && overlap(slice, &tensors[*other]) {
                let (what, alignment) = (slice.label().to_owned(), alignment(*bound));
                let (start, device) = (slice.byte_range().start, info.name.clone());
                return Err(ComputeError::SliceShared { what, start, alignment, device });
            }
        }
        let copy = slice.with_own_memory();
        staged.before.push(copy_step(slice, &copy));
        if access.writes() {
            staged.after.push(copy_step(&copy, slice));
        }
        staged.tensors[*at] = copy;
    }
    Ok((!staged.before.is_empty()).then_some(staged))
}

/// Whether two tensors have bytes in common.
pub(crate) fn overlap(one: &Tensor, other: &Tensor) -> bool {
    let (a, b) = (one.byte_range(), other.byte_range());
    Rc::ptr_eq(one.storage(), other.storage()) && a.start < b.end && b.start < a.end
}

/// The copy of all of a tensor to another one of the same size.
pub(crate) fn copy_step(from: &Tensor, to: &Tensor) -> CopyStep {
    CopyStep {
        from: from.clone(),
        from_offset: from.byte_range().start,
        to: to.clone(),
        to_offset: to.byte_range().start,
        size: from.n_bytes(),
    }
}

/// Starts copies as a submission of their own.
pub(crate) fn start_copies(context: &Rc<Context>, copies: Vec<CopyStep>) -> Result<()> {
    if copies.is_empty() {
        return Ok(());
    }
    let steps: Vec<Step> = copies.into_iter().map(Step::Copy).collect();
    let mut plan = Plan::of(&steps);
    let commands = plan.prepare(context, &steps, Timestamps::Off)?;
    let device = context.device("copy on")?;
    let ticket = context.submit(&*device, None, &commands, &mut plan.predecessors())?;
    plan.submitted(ticket);
    context.started(ticket, plan.title(&steps));
    Ok(())
}

/// Starts a copy of the first bytes of a storage to another one.
pub(crate) fn start_copy(
    context: &Rc<Context>,
    from: &Rc<Storage>,
    to: &Rc<Storage>,
    size: usize,
) -> Result<()> {
    let bytes = |storage: &Rc<Storage>| Tensor::over(storage.clone(), DType::U8, &[storage.len()]);
    let (from, to) = (bytes(from), bytes(to));
    start_copies(context, vec![CopyStep { from, from_offset: 0, to, to_offset: 0, size }])
}

impl Tensor {
    /// The first `n` elements, or rows if there are several axes, in a tensor with memory of its own. New ones
    /// are zeros. Views of the old memory, and what was recorded with it, cannot be used any more. A dispatch
    /// that is recorded now binds the new memory.
    ///
    /// ```
    /// let tensor = kps_compute::Tensor::from_slice(&[1.0f32, 2.0])?;
    /// assert_eq!(tensor.resize(3)?.to_vec::<f32>()?, [1.0, 2.0, 0.0]);
    /// assert!(tensor.bytes().is_err());
    /// # Ok::<(), kps_compute::ComputeError>(())
    /// ```
    pub fn resize(&self, n: usize) -> Result<Tensor> {
        if self.is_slice() || self.as_image().is_some() {
            return Err(ComputeError::NotResized { what: self.label().to_owned() });
        }
        self.storage().check_alive("resize")?;
        let rest = self.shape().iter().skip(1).copied();
        let shape: Vec<usize> = std::iter::once(n).chain(rest).collect();
        let resized = self.with_shape(&shape)?;
        let len = shape.iter().product::<usize>().checked_mul(self.element_size());
        let len = len.ok_or(ComputeError::TooLarge { shape: shape.clone() })?;
        let storage = self.storage().resized(len, shape.into(), resized.fresh_label())?;
        Ok(resized.whole_of(storage))
    }

    /// This tensor, or if it was resized, the one that has its elements now.
    pub(crate) fn present(&self) -> Tensor {
        let mut present = self.clone();
        while let Some((storage, shape)) = present.storage().successor().filter(|_| !present.is_slice()) {
            present = present.with_shape(&shape).map_or(present, |resized| resized.whole_of(storage));
        }
        present
    }

    /// A tensor of the same type and shape with new memory.
    fn with_own_memory(&self) -> Tensor {
        let storage = Storage::zeros(self.n_bytes(), self.memory_type(), self.fresh_label());
        self.whole_of(storage)
    }
}
