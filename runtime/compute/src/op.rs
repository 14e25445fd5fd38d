//! The operations that a sequence records, as data.

use std::ops::Range;
use std::rc::Rc;

use crate::algorithm::{Algorithm, Launch};
use crate::constants::Push;
use crate::context::Context;
use crate::error::{ComputeError, Result};
use crate::grid::Extent;
use crate::multiply;
use crate::tensor::Tensor;
use crate::views;

/// One operation.
#[derive(Clone, Debug)]
pub enum Op {
    /// Allocates the tensors on the device, and uploads their newest bytes.
    SyncDevice(Vec<Tensor>),
    /// Downloads the newest bytes of the tensors. Tensors with memory type `storage` are skipped.
    SyncLocal(Vec<Tensor>),
    /// Copies the first tensor to all others.
    Copy(Vec<Tensor>),
    /// Copies elements of one tensor over those of another, from `to_start` on.
    CopyRange { from: Tensor, range: Range<usize>, to: Tensor, to_start: usize },
    /// Runs an algorithm; defaults are the algorithm's own.
    Dispatch { algorithm: Algorithm, extent: Extent, push: Push },
    /// Stores the products of the first two tensors' elements in the third.
    Multiply(Vec<Tensor>),
    /// A memory barrier. It has no effect, because operations are ordered anyway.
    MemoryBarrier(Vec<Tensor>),
}

impl Op {
    /// The name in logs and timestamps.
    pub fn name(&self) -> &'static str {
        match self {
            Op::SyncDevice(_) => "sync device",
            Op::SyncLocal(_) => "sync local",
            Op::Copy(_) | Op::CopyRange { .. } => "copy",
            Op::Dispatch { .. } => "dispatch",
            Op::Multiply(_) => "multiply",
            Op::MemoryBarrier(_) => "memory barrier",
        }
    }
}

/// A checked and resolved operation, which recording makes from an [`Op`].
#[derive(Clone)]
pub(crate) enum Step {
    Upload(Vec<Tensor>),
    Download(Vec<Tensor>),
    Copy(CopyStep),
    /// A copy for an unaligned slice of the dispatch before or after it.
    Stage(CopyStep),
    Dispatch {
        algorithm: Algorithm,
        launch: Launch,
    },
    Nothing,
}

/// Copies bytes from `from_offset` of one tensor's storage to `to_offset` of another's.
#[derive(Clone)]
pub(crate) struct CopyStep {
    pub from: Tensor,
    pub from_offset: usize,
    pub to: Tensor,
    pub to_offset: usize,
    pub size: usize,
}

/// Checks an operation and resolves its launch, so that mistakes are reported when it is recorded.
pub(crate) fn record(context: &Rc<Context>, op: Op) -> Result<Vec<Step>> {
    let step = match op {
        Op::SyncDevice(tensors) => Step::Upload(at_least("sync device", 1, tensors, "upload")?),
        Op::SyncLocal(tensors) => Step::Download(at_least("sync local", 1, tensors, "download")?),
        Op::MemoryBarrier(tensors) => {
            at_least("memory barrier", 1, tensors, "order accesses to")?;
            Step::Nothing
        }
        Op::Copy(tensors) => {
            let tensors = at_least("copy", 2, tensors, "copy")?;
            let (from, others) = tensors.split_first().expect("there are two at least");
            return others.iter().map(|to| whole_copy(from, to)).collect();
        }
        Op::CopyRange { from, range, to, to_start } => part_copy(&from, range, &to, to_start)?,
        Op::Dispatch { algorithm, extent, push } => return dispatch(context, algorithm, &extent, &push),
        Op::Multiply(tensors) => {
            let tensors = at_least("multiply", 3, tensors, "multiply")?;
            let algorithm = multiply::algorithm(context, &tensors)?;
            return dispatch(context, algorithm, &Extent::Default, &Push::Default);
        }
    };
    Ok(vec![step])
}

fn at_least(
    operation: &'static str,
    needed: usize,
    tensors: Vec<Tensor>,
    verb: &'static str,
) -> Result<Vec<Tensor>> {
    if tensors.len() < needed {
        return Err(ComputeError::OpTensors { operation, needed, given: tensors.len() });
    }
    // An operation that is recorded again follows its tensors to their new memory.
    let tensors: Vec<Tensor> = tensors.iter().map(Tensor::present).collect();
    tensors.iter().try_for_each(|tensor| tensor.storage().check_alive(verb))?;
    Ok(tensors)
}

fn dispatch(context: &Rc<Context>, algorithm: Algorithm, extent: &Extent, push: &Push) -> Result<Vec<Step>> {
    if !Rc::ptr_eq(algorithm.kernel().context(), context) {
        return Err(ComputeError::OtherManager { what: "the algorithm".to_owned() });
    }
    let mut launch = algorithm.launch(extent, push)?;
    let device = context.device("dispatch on")?;
    let Some(staged) = views::staged(algorithm.kernel(), device.info(), &launch.tensors)? else {
        return Ok(vec![Step::Dispatch { algorithm, launch }]);
    };
    launch.tensors = staged.tensors;
    let mut steps: Vec<Step> = staged.before.into_iter().map(Step::Stage).collect();
    let after = staged.after.into_iter().map(Step::Stage);
    steps.push(Step::Dispatch { algorithm, launch });
    steps.extend(after);
    Ok(steps)
}

fn whole_copy(from: &Tensor, to: &Tensor) -> Result<Step> {
    check_dtypes(from, to)?;
    let (from_bytes, to_bytes) = (from.n_bytes(), to.n_bytes());
    if from_bytes != to_bytes {
        let (from, to) = (from.label().to_owned(), to.label().to_owned());
        return Err(ComputeError::CopySize { from, to, from_bytes, to_bytes });
    }
    copy(from, to)
}

fn part_copy(from: &Tensor, range: Range<usize>, to: &Tensor, to_start: usize) -> Result<Step> {
    check_dtypes(from, to)?;
    let n = range.len();
    if n == 0 {
        return Ok(Step::Nothing);
    }
    copy(&from.slice(range)?, &to.slice(to_start..to_start.saturating_add(n))?)
}

fn copy(from: &Tensor, to: &Tensor) -> Result<Step> {
    if views::overlap(from, to) {
        return Err(ComputeError::CopyOverlap { what: to.label().to_owned() });
    }
    Ok(Step::Copy(views::copy_step(from, to)))
}

fn check_dtypes(from: &Tensor, to: &Tensor) -> Result<()> {
    if from.dtype() == to.dtype() && from.element_size() == to.element_size() {
        return Ok(());
    }
    Err(ComputeError::CopyDType { from: from.label().to_owned(), to: to.label().to_owned() })
}
