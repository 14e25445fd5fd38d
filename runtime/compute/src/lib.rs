//! A GPU compute library over any [`kps_device::Device`]: managers, tensors, algorithms and sequences.
//!
//! Tensors have one value wherever it is: what the host reads is downloaded when the device has it
//! newer, what a kernel uses is uploaded when the host has it newer, and nothing is moved twice.
//! Operations are recorded in sequences, which run any number of times and need no barriers. Work on
//! different streams may run at once, with the same results. A kernel is SPIR-V from anywhere; what it binds is reflected from its words and checked against the tensors.
//!
//! ```
//! use kps_compute::{Manager, Op, Tensor};
//!
//! # fn main() -> Result<(), kps_compute::ComputeError> {
//! let manager = Manager::builder().device(kps_device::Selector::Cpu).open()?;
//! let a = manager.tensor(&[1.0f32, 2.0, 3.0])?;
//! let doubled = Tensor::from_slice(&[2.0f32; 3])?;
//! // Uploads, the dispatch and the download are one submission.
//! let sequence = manager.sequence().chain(Op::Multiply(vec![a.clone(), doubled, a.clone()]));
//! sequence.eval()?;
//! sequence.eval()?;
//! assert_eq!(a.to_vec::<f32>()?, [4.0, 8.0, 12.0]);
//! # Ok(())
//! # }
//! ```

pub mod algorithm;
pub mod constants;
mod context;
pub mod element;
pub mod error;
pub mod fields;
mod grid;
pub mod halves;
pub mod host_memory;
pub mod image;
pub mod kernel;
pub mod log;
pub mod manager;
pub mod memory;
mod multiply;
pub mod number;
pub mod observe;
pub mod op;
mod owned;
mod plan;
mod prepared;
mod printf;
pub mod records;
pub mod sequence;
mod sides;
pub mod storage;
pub mod stream;
pub mod tensor;
mod views;
pub mod words;
mod written;

pub use algorithm::Algorithm;
pub use constants::{Push, SpecValues, spec_constants};
pub use element::Element;
pub use error::{ComputeError, Result};
pub use fields::Field;
pub use grid::Extent;
pub use kernel::{Kernel, Running};
pub use kps_device::ImageInfo;
/// The type of a tensor's elements. A `bool` is one byte, 0 or 1.
pub use kps_scalar::Scalar as DType;
pub use log::{Level, Log};
pub use manager::Manager;
pub use memory::{MemoryReport, TensorMemory};
pub use number::{Number, Unfit};
pub use observe::{Profile, Tracer};
pub use op::Op;
pub use prepared::PreparedLaunch;
pub use records::{Message, MessageKind, Piece, Report};
pub use sequence::{Origin, Sequence};
pub use storage::{MemoryType, Storage};
pub use stream::{Event, Stream};
pub use tensor::Tensor;
pub use written::Written;
