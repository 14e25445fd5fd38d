//! Profiles and traces of a device: which commands ran, when, and on which queue.
//!
//! An [`ObservedDevice`] takes the place of a manager's device while a profile or a trace is recorded. It
//! submits each list of commands with timestamps between them, and reads these when the submission has ended.
//! So nothing waits after a launch.

mod device;
mod profile;
mod timed;
mod trace;

pub(crate) use device::ObservedDevice;
pub use profile::{Profile, Row, RowKind};
pub use trace::{Span, Tracer};
