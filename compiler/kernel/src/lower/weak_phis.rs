//! Merges whose ways all bring weak numbers: `s = 0.1` on one way, `s = 0.2` on the other.
//!
//! The ways store to a local of the type that the number has alone, as to any merge. Where what is loaded from it meets
//! another type, each way stores to a twin of that type as well, and the twin is loaded. By then the blocks of the ways
//! are closed, so that what they do late is kept aside and put before their carries when the function is whole.
//!
//! A twin belongs to one merge, so nothing stores to it between that merge and a load of what was merged.

use kps_syntax::Span;
use rustc_hash::FxHashMap;

use super::Ctx;
use super::weak_types::{WeakSide, WeakValues};
use crate::ir::{Block, CarryId, LocalId, NodeId, NodeKind, Stmt};
use crate::types::Scalar;

/// A merge of weak numbers, by its number in the function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MergeId(u32);

pub(super) struct WeakMerge {
    /// What the ways store to at once.
    local: LocalId,
    paths: Vec<(CarryId, WeakSide)>,
    values: WeakValues,
    span: Span,
}

/// Another local for a merge.
#[derive(Clone, Copy)]
pub(super) struct Twin {
    of: MergeId,
    scalar: Scalar,
    local: LocalId,
}

/// All that is known of such merges, in the order in which it came to be.
#[derive(Default)]
pub(super) struct Twins {
    merges: Vec<WeakMerge>,
    twins: Vec<Twin>,
    /// What ways do before their stores.
    late: Vec<(CarryId, Stmt)>,
}

/// How much of it there was.
#[derive(Clone, Copy)]
pub(super) struct TwinsMark {
    n_merges: usize,
    n_twins: usize,
    n_late: usize,
}

impl Twins {
    pub fn mark(&self) -> TwinsMark {
        TwinsMark { n_merges: self.merges.len(), n_twins: self.twins.len(), n_late: self.late.len() }
    }

    pub fn truncate(&mut self, to: TwinsMark) {
        self.merges.truncate(to.n_merges);
        self.twins.truncate(to.n_twins);
        self.late.truncate(to.n_late);
    }
}

impl Ctx<'_> {
    /// Remembers a merge into `local`.
    pub fn note_merge(&mut self, local: LocalId, paths: Vec<(CarryId, WeakSide)>, span: Span) -> MergeId {
        let own = self.f.func.local(local).ty.scalar().expect("weak numbers are scalars");
        let sides: Vec<WeakValues> = paths.iter().map(|(_, side)| self.weak_values(*side)).collect();
        let values = WeakValues::any_of(&sides, own);
        self.note_merge_of(local, paths, values, span)
    }

    /// Remembers a merge that more ways may lead to, with all that they may bring.
    pub fn note_merge_of(
        &mut self,
        local: LocalId,
        paths: Vec<(CarryId, WeakSide)>,
        values: WeakValues,
        span: Span,
    ) -> MergeId {
        let merges = &mut self.f.twins.merges;
        merges.push(WeakMerge { local, paths, values, span });
        MergeId(merges.len() as u32 - 1)
    }

    fn merge_of(&self, merge: MergeId) -> &WeakMerge {
        &self.f.twins.merges[merge.0 as usize]
    }

    pub fn merged_values(&self, merge: MergeId) -> &WeakValues {
        &self.merge_of(merge).values
    }

    pub fn merged_local(&self, merge: MergeId) -> LocalId {
        self.merge_of(merge).local
    }

    /// What was merged, in the type that it has alone.
    pub fn load_merged(&mut self, merge: MergeId, span: Span) -> NodeId {
        let local = self.merged_local(merge);
        let ty = self.f.func.local(local).ty.clone();
        let node = self.node(NodeKind::Load(local), ty, span);
        self.note_merged(node, merge);
        node
    }

    /// The local for a merge in `scalar`, which all that is merged fits.
    pub fn twin(&mut self, merge: MergeId, scalar: Scalar) -> LocalId {
        let mut twins = self.f.twins.twins.iter();
        if let Some(twin) = twins.find(|twin| (twin.of, twin.scalar) == (merge, scalar)) {
            return twin.local;
        }
        let WeakMerge { local, ref paths, span, .. } = *self.merge_of(merge);
        let paths = paths.clone();
        let name = self.f.func.local(local).name.clone();
        let local = self.new_local(&name, scalar.into(), span);
        self.f.twins.twins.push(Twin { of: merge, scalar, local });
        for (carry, side) in paths {
            self.store_late(carry, side, (local, scalar), span);
        }
        local
    }

    /// A way that leads back to a merge, the head of a loop.
    pub fn add_path(&mut self, merge: MergeId, carry: CarryId, side: WeakSide) {
        let merged = &mut self.f.twins.merges[merge.0 as usize];
        merged.paths.push((carry, side));
        let span = merged.span;
        let twins = self.f.twins.twins.iter().filter(|twin| twin.of == merge).copied();
        for Twin { scalar, local, .. } in twins.collect::<Vec<Twin>>() {
            self.store_late(carry, side, (local, scalar), span);
        }
    }

    /// The ways to a merge, so far.
    pub fn paths_to(&self, merge: MergeId) -> &[(CarryId, WeakSide)] {
        &self.merge_of(merge).paths
    }

    fn store_late(&mut self, carry: CarryId, side: WeakSide, (local, scalar): (LocalId, Scalar), span: Span) {
        self.late(carry, |ctx| {
            let value = ctx.side_as(side, scalar, span);
            ctx.f.block.push(Stmt::Store { local, value, span });
        });
    }

    /// Does something on a way whose block is closed.
    pub fn late<R>(&mut self, carry: CarryId, compute: impl FnOnce(&mut Self) -> R) -> R {
        let (block, result) = self.sub_block(compute);
        self.f.twins.late.extend(block.into_iter().map(|stmt| (carry, stmt)));
        result
    }

    /// Puts what the ways do late where they do it.
    pub fn place_late(&mut self, body: &mut Block) {
        let late = std::mem::take(&mut self.f.twins.late);
        if late.is_empty() {
            return;
        }
        let mut by_carry: FxHashMap<CarryId, Block> = FxHashMap::default();
        for (carry, stmt) in late {
            by_carry.entry(carry).or_default().push(stmt);
        }
        place(body, &mut by_carry);
    }
}

fn place(block: &mut Block, late: &mut FxHashMap<CarryId, Block>) {
    for stmt in std::mem::take(block) {
        if let Stmt::Carry(carry) = stmt {
            block.extend(late.remove(&carry).unwrap_or_default());
        }
        block.push(stmt);
        match block.last_mut() {
            Some(Stmt::If { then, orelse, .. }) => {
                [then, orelse].into_iter().for_each(|block| place(block, late))
            }
            Some(Stmt::Loop(parts)) => {
                let parts = &mut **parts;
                [&mut parts.test, &mut parts.body, &mut parts.step]
                    .into_iter()
                    .for_each(|block| place(block, late));
            }
            _ => {}
        }
    }
}
