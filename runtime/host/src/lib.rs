//! kps as a library: a [`Host`] runs scripts inside a Rust program.
//!
//! [`Program::parse`] compiles a text. A [`Host`] runs programs and keeps their names. Values go in by
//! [`Host::set`] and [`Host::register`], and come back by [`Host::get`] and [`Host::call`].
//! A mistake, at compile time or at run time, is a [`Diagnostic`].
//!
//! | Type | Use |
//! |---|---|
//! | [`HostBuilder`] | device, streams, limits, checking |
//! | [`Program`] | a compiled script; threads may share it |
//! | [`Session`] | entries at a prompt |
//! | [`Interrupter`] | stops a script from another thread |
//! | [`Value`] | a value of the script, where no Rust type is wanted |
//! | [`inspect`], [`explain`] | check and explain a script without running it |
//!
//! ```
//! use kps::{Host, Program};
//!
//! let script = "
//! @kernel
//! def scale(x: Array[f32], factor: f32):
//!     x[global_id.x] *= factor
//!
//! x = Tensor(values)
//! scale(x, 10.0)
//! ";
//! let mut host = Host::builder().device("cpu").build();
//! host.set("values", vec![1.0_f32, 2.0]);
//! host.run(&Program::parse("scale.kps", script)?)?;
//! let x: Vec<f32> = host.get("x")?;
//! assert_eq!(x, [10.0, 20.0]);
//! # Ok::<(), kps::Diagnostics>(())
//! ```

mod blocking;
mod builtins;
mod checking;
mod convert;
mod errors;
pub mod explain;
mod foreign;
mod host;
mod input;
pub mod inspect;
mod memory;
mod modules;
mod ops;
pub mod other_packages;
mod output;
mod profile;
mod session;
mod system_memory;
pub mod text;
pub mod value;
mod vm;
mod warnings;

pub use checking::{Checking, Findings, parse_checks};
pub use convert::{FromValue, HostFunction, IntoArgs, IntoResult};
pub use host::{Host, HostBuilder, Outcome, Program};
pub use kps_device as device;
pub use kps_syntax::{Diagnostic, Diagnostics, Source};
pub use memory::Heap;
pub use output::{Output, Unwritten};
pub use profile::Profile;
pub use session::{Evaluated, Session};
pub use value::{Raise, Result, Value};
pub use vm::{Interrupter, Limits, Vm};
