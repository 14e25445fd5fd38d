//! Alias analysis of lists: where a kernel could see that a list is a copy.
//!
//! A name refers to a list, or to a part of one, as in Python. But a part is stored inside its list, and a list that
//! is selected, joined or passed at run time is copied. That is no mistake unless a script could notice: where a name
//! is read whose part was replaced or whose original was written, and where a copy is written that another name should
//! see.
//!
//! In: the [`Record`] that inference keeps of a function, which lists in source order what the function names, reads,
//! writes and copies, and where control flow forks and joins. Out: the mistakes, and what callers must know of the
//! function. Each path has a state of its own. Where paths join, what holds on any of them holds, and a loop is
//! repeated until the state at its head no longer changes.
//!
//! Never here: which lists are copied. Inference determines that by their types, and this analysis changes no code.

mod join;
mod record;
mod reports;
mod state;
mod walk;

use kps_syntax::ast::Name;
use kps_syntax::{Diagnostic, Source};

pub(crate) use self::record::{Copied, Event, Join, Named, Point, Record, Var, Writer, Written};
pub(crate) use self::state::may_overlap;
use self::walk::Walk;
use crate::ir::{BufferId, Local};

/// The function to which a record belongs.
pub(crate) struct Recorded<'a> {
    pub source: &'a Source,
    pub locals: &'a [Local],
    pub array_name: &'a dyn Fn(BufferId) -> Name,
}

/// What the callers of a function must know of its lists.
#[derive(Clone, Copy, Default)]
pub(crate) struct ListEffects {
    /// It returns a list to which its caller has another reference.
    pub returns_shared: bool,
    /// It replaces a list or struct inside an argument.
    pub replaces_parts: bool,
}

/// The mistakes of a function, in source order of its evaluation, and its effects.
pub(crate) fn check(record: &Record, function: &Recorded) -> (Vec<Diagnostic>, ListEffects) {
    if !record.has_lists() {
        return Default::default();
    }
    Walk::new(record, function).run()
}
