//! Arrays that compute: NumPy's arrays over the tensors of a device, in kernels that are written on demand.
//!
//! An expression such as `a * x + sin(y)` is a graph of nodes. Its elements are computed when somebody needs
//! them, by one kernel of which this crate writes the text. That text goes the way of every kernel: `kps-kernel`
//! compiles it, and `kps-compute` runs it.
//!
//! | File | What it does |
//! |---|---|
//! | [`array`] | [`Array`]: what it is made of, its views, and when it is computed |
//! | [`element`] | the type of an element, which may be a complex number |
//! | [`ops`], [`promote`] | the operations on elements, and the types of their results |
//! | `complex` | complex numbers as floats, and floats as complex numbers |
//! | [`shape`], [`layout`] | broadcasting, and the places of elements in memory |
//! | `plan` | which nodes become one kernel |
//! | `places`, `expression` | the text of that kernel |
//! | `vectors` | its form with four elements an invocation |
//! | `pick` | elements at indices that are arrays |
//! | [`reduce`] | sums and other reductions |
//! | [`engine`] | runs the text of a kernel, and keeps its compiled forms |
//! | [`target`] | what kernels are compiled for |
//!
//! ```
//! use std::rc::Rc;
//! use kps_array::{Array, Engine, Op};
//! use kps_compute::{Manager, Number, Tensor};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let manager = Rc::new(Manager::builder().device(kps_device::Selector::Cpu).open()?);
//! let engine = Rc::new(Engine::new(manager, Rc::default()));
//! let x = Array::of_tensor(&engine, &Tensor::from_slice(&[1.0f32, 4.0, 9.0])?)?;
//! let root = Array::apply(Op::named("sqrt").unwrap(), &[x.into()])?;
//! let sum = Array::apply(Op::named("add").unwrap(), &[root.into(), Number::Int(1).into()])?;
//! assert_eq!(sum.tensor()?.to_vec::<f32>()?, [2.0, 3.0, 4.0]);
//! # Ok(())
//! # }
//! ```

pub mod array;
mod complex;
pub mod element;
pub mod engine;
pub mod errors;
mod expression;
pub mod layout;
mod library;
pub mod ops;
mod pick;
mod places;
mod plan;
pub mod promote;
pub mod reduce;
pub mod shape;
pub mod target;
mod vectors;

pub use array::{Array, Operand, View, power};
pub use element::{Constant, ElementType};
pub use engine::Engine;
pub use errors::{ArrayError, Result};
pub use layout::{Layout, Part};
pub use ops::Op;
pub use pick::IndexPart;
pub use reduce::{ReducedAxes, Reducer};
