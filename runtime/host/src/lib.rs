//! The kps scripting host: values, the virtual machine, modules and the embedding API.

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
