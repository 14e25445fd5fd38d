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
    /// Copies bytes from `from_offset` of one tensor to `to_offset` of another.
    Copy(CopyStep),
    Dispatch {
        algorithm: Algorithm,
        launch: Launch,
    },
    Nothing,
}

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
        Op::CopyRange { from, range, to, to_start } => part_copy(from, range, to, to_start)?,
        Op::Dispatch { algorithm, extent, push } => dispatch(context, algorithm, &extent, &push)?,
        Op::Multiply(tensors) => {
            let tensors = at_least("multiply", 3, tensors, "multiply")?;
            let algorithm = multiply::algorithm(context, &tensors)?;
            dispatch(context, algorithm, &Extent::Default, &Push::Default)?
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
    tensors.iter().try_for_each(|tensor| tensor.storage().check_alive(verb))?;
    Ok(tensors)
}

fn dispatch(context: &Rc<Context>, algorithm: Algorithm, extent: &Extent, push: &Push) -> Result<Step> {
    if !Rc::ptr_eq(algorithm.kernel().context(), context) {
        return Err(ComputeError::OtherManager { what: "the algorithm".to_owned() });
    }
    let launch = algorithm.launch(extent, push)?;
    Ok(Step::Dispatch { algorithm, launch })
}

fn whole_copy(from: &Tensor, to: &Tensor) -> Result<Step> {
    check_dtypes(from, to)?;
    let (from_bytes, to_bytes) = (from.n_bytes(), to.n_bytes());
    if from_bytes != to_bytes {
        let (from, to) = (from.label().to_owned(), to.label().to_owned());
        return Err(ComputeError::CopySize { from, to, from_bytes, to_bytes });
    }
    let (from, to) = (from.clone(), to.clone());
    Ok(Step::Copy(CopyStep { from, from_offset: 0, to, to_offset: 0, size: from_bytes }))
}

fn part_copy(from: Tensor, range: Range<usize>, to: Tensor, to_start: usize) -> Result<Step> {
    check_dtypes(&from, &to)?;
    let size = from.dtype().size();
    let n = range.len();
    let in_range = |tensor: &Tensor, start: usize| {
        let end = start.saturating_add(n);
        if end <= tensor.size() {
            return Ok(());
        }
        let (what, index) = (tensor.label().to_owned(), end - 1);
        Err(ComputeError::OutOfRange { what, index, len: tensor.size() })
    };
    in_range(&from, range.start)?;
    in_range(&to, to_start)?;
    let (from_offset, to_offset) = (range.start * size, to_start * size);
    Ok(Step::Copy(CopyStep { from, from_offset, to, to_offset, size: n * size }))
}

fn check_dtypes(from: &Tensor, to: &Tensor) -> Result<()> {
    if from.dtype() == to.dtype() {
        return Ok(());
    }
    Err(ComputeError::CopyDType { from: from.label().to_owned(), to: to.label().to_owned() })
}
