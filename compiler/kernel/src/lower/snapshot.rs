//! Snapshots of lowering, to roll back to: a loop is lowered again until the types of its variables reach a
//! fixpoint.
//!
//! A rollback keeps the hints of the failed pass, for the next one.

use kps_syntax::Diagnostic;
use rustc_hash::FxHashMap;

use super::Ctx;
use super::aliases::{Copied, Stored};
use super::vars::Fork;
use super::weak_phis::WeakPhisMark;
use crate::ir::LocalId;

/// The state of lowering before a loop.
pub(crate) struct Snapshot {
    fork: Fork,
    n_nodes: usize,
    n_locals: usize,
    n_carries: usize,
    n_stmts: usize,
    n_diagnostics: usize,
    n_remarks: usize,
    n_returns: usize,
    n_calls: usize,
    n_weak_calls: usize,
    copies: FxHashMap<LocalId, Copied>,
    stored: Vec<Stored>,
    weak_phis: WeakPhisMark,
}

/// Diagnostics since a snapshot, of this function and of functions called since.
#[derive(Default)]
pub(crate) struct SavedDiagnostics {
    diagnostics: Vec<Diagnostic>,
    calls: Vec<usize>,
}

impl Ctx<'_> {
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            fork: self.fork(),
            n_nodes: self.f.func.nodes.len(),
            n_locals: self.f.func.locals.len(),
            n_carries: self.f.func.carries.len(),
            n_stmts: self.f.block.len(),
            n_diagnostics: self.f.diagnostics.len(),
            n_remarks: self.f.remarks.len(),
            n_returns: self.f.returns.len(),
            n_calls: self.f.calls.len(),
            n_weak_calls: self.f.weak_calls.len(),
            copies: self.f.copies.clone(),
            stored: self.f.stored.clone(),
            weak_phis: self.f.weak_phis.mark(),
        }
    }

    /// Forgets everything since the snapshot except the hints and the locals, which cost nothing.
    pub fn roll_back(&mut self, before: &Snapshot) {
        self.rewind(before.fork);
        self.f.func.truncate_nodes(before.n_nodes);
        self.f.facts.truncate(before.n_nodes);
        self.f.weak.retain(|node, _| node.idx() < before.n_nodes);
        self.f.weak_tables.retain(|table, _| table.idx() < before.n_locals);
        self.f.weak_phis.truncate(before.weak_phis);
        self.f.func.carries.truncate(before.n_carries);
        self.f.block.truncate(before.n_stmts);
        self.f.diagnostics.truncate(before.n_diagnostics);
        self.f.remarks.truncate(before.n_remarks);
        self.f.returns.truncate(before.n_returns);
        self.f.calls.truncate(before.n_calls);
        self.f.weak_calls.truncate(before.n_weak_calls);
        self.f.copies.clone_from(&before.copies);
        self.f.stored.clone_from(&before.stored);
        self.f.live = true;
        self.f.stopped = false;
    }

    /// Moves the diagnostics since the snapshot to `saved`, to report them after a rollback.
    pub fn save_diagnostics(&mut self, before: &Snapshot, saved: &mut SavedDiagnostics) {
        saved.diagnostics.extend(self.f.diagnostics.drain(before.n_diagnostics..));
        saved.calls.extend(self.f.calls.drain(before.n_calls..));
    }

    /// Reports saved diagnostics. `all_diagnostics` removes duplicates.
    pub fn report_saved(&mut self, saved: SavedDiagnostics) {
        self.f.diagnostics.extend(saved.diagnostics);
        self.f.calls.extend(saved.calls);
    }
}
