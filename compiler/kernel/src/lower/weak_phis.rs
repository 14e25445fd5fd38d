//! Phis of weak numbers, where each path assigns one: `s = 0.1` on one path, `s = 0.2` on the other.
//!
//! As at any join, the paths store to a local. It has the default type of the number. When the loaded value is
//! used with another type, each path also stores to a second local of that type, and the use loads that one.
//! The blocks of the paths are closed by then. So these stores are deferred: `place_deferred` inserts them when
//! the function is complete.
//!
//! A second local belongs to one phi. Nothing else stores to it between the join and a load.

use kps_syntax::Span;
use rustc_hash::FxHashMap;

use super::Ctx;
use super::weak_types::{WeakSide, WeakValues};
use crate::ir::{Block, CarryId, LocalId, NodeId, NodeKind, Stmt};
use crate::types::Scalar;

/// A phi of weak numbers, by its number in the function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PhiId(u32);

pub(super) struct WeakPhi {
    /// The local to which the paths store at once.
    local: LocalId,
    paths: Vec<(CarryId, WeakSide)>,
    values: WeakValues,
    span: Span,
}

/// A second local of a phi, of another type.
#[derive(Clone, Copy)]
pub(super) struct TypedPhi {
    of: PhiId,
    scalar: Scalar,
    local: LocalId,
}

/// All phis of weak numbers of a function, in order of creation.
#[derive(Default)]
pub(super) struct WeakPhis {
    phis: Vec<WeakPhi>,
    typed: Vec<TypedPhi>,
    /// Statements that paths execute before their stores.
    deferred: Vec<(CarryId, Stmt)>,
}

/// The lengths of the lists in [`WeakPhis`], for a snapshot.
#[derive(Clone, Copy)]
pub(super) struct WeakPhisMark {
    n_phis: usize,
    n_typed: usize,
    n_deferred: usize,
}

impl WeakPhis {
    pub fn mark(&self) -> WeakPhisMark {
        WeakPhisMark { n_phis: self.phis.len(), n_typed: self.typed.len(), n_deferred: self.deferred.len() }
    }

    pub fn truncate(&mut self, to: WeakPhisMark) {
        self.phis.truncate(to.n_phis);
        self.typed.truncate(to.n_typed);
        self.deferred.truncate(to.n_deferred);
    }
}

impl Ctx<'_> {
    /// Records a phi in `local`.
    pub fn add_phi(&mut self, local: LocalId, paths: Vec<(CarryId, WeakSide)>, span: Span) -> PhiId {
        let own = self.f.func.local(local).ty.scalar().expect("weak numbers are scalars");
        let sides: Vec<WeakValues> = paths.iter().map(|(_, side)| self.weak_values(*side)).collect();
        let values = WeakValues::any_of(&sides, own);
        self.add_phi_of(local, paths, values, span)
    }

    /// Records a phi to which paths may be added. `values` are all values that those may bring.
    pub fn add_phi_of(
        &mut self,
        local: LocalId,
        paths: Vec<(CarryId, WeakSide)>,
        values: WeakValues,
        span: Span,
    ) -> PhiId {
        let phis = &mut self.f.weak_phis.phis;
        phis.push(WeakPhi { local, paths, values, span });
        PhiId(phis.len() as u32 - 1)
    }

    fn phi_of(&self, phi: PhiId) -> &WeakPhi {
        &self.f.weak_phis.phis[phi.0 as usize]
    }

    pub fn phi_values(&self, phi: PhiId) -> &WeakValues {
        &self.phi_of(phi).values
    }

    pub fn phi_local(&self, phi: PhiId) -> LocalId {
        self.phi_of(phi).local
    }

    /// The value of a phi in its default type.
    pub fn load_phi(&mut self, phi: PhiId, span: Span) -> NodeId {
        let local = self.phi_local(phi);
        let ty = self.f.func.local(local).ty.clone();
        let node = self.node(NodeKind::Load(local), ty, span);
        self.note_phi(node, phi);
        node
    }

    /// The local of a phi in `scalar`. All its values fit that type.
    pub fn typed_local(&mut self, phi: PhiId, scalar: Scalar) -> LocalId {
        let mut typed = self.f.weak_phis.typed.iter();
        if let Some(typed) = typed.find(|typed| (typed.of, typed.scalar) == (phi, scalar)) {
            return typed.local;
        }
        let WeakPhi { local, ref paths, span, .. } = *self.phi_of(phi);
        let paths = paths.clone();
        let name = self.f.func.local(local).name.clone();
        let local = self.new_local(&name, scalar.into(), span);
        self.f.weak_phis.typed.push(TypedPhi { of: phi, scalar, local });
        for (carry, side) in paths {
            self.store_deferred(carry, side, (local, scalar), span);
        }
        local
    }

    /// Adds a back edge to the phi of a loop head.
    pub fn add_path(&mut self, phi: PhiId, carry: CarryId, side: WeakSide) {
        let merged = &mut self.f.weak_phis.phis[phi.0 as usize];
        merged.paths.push((carry, side));
        let span = merged.span;
        let typed = self.f.weak_phis.typed.iter().filter(|typed| typed.of == phi).copied();
        for TypedPhi { scalar, local, .. } in typed.collect::<Vec<TypedPhi>>() {
            self.store_deferred(carry, side, (local, scalar), span);
        }
    }

    /// The paths into a phi so far.
    pub fn paths_to(&self, phi: PhiId) -> &[(CarryId, WeakSide)] {
        &self.phi_of(phi).paths
    }

    fn store_deferred(
        &mut self,
        carry: CarryId,
        side: WeakSide,
        (local, scalar): (LocalId, Scalar),
        span: Span,
    ) {
        self.defer(carry, |ctx| {
            let value = ctx.side_as(side, scalar, span);
            ctx.f.block.push(Stmt::Store { local, value, span });
        });
    }

    /// Adds statements to a path whose block is closed.
    pub fn defer<R>(&mut self, carry: CarryId, compute: impl FnOnce(&mut Self) -> R) -> R {
        let (block, result) = self.sub_block(compute);
        self.f.weak_phis.deferred.extend(block.into_iter().map(|stmt| (carry, stmt)));
        result
    }

    /// Inserts the deferred statements at the ends of their paths.
    pub fn place_deferred(&mut self, body: &mut Block) {
        let deferred = std::mem::take(&mut self.f.weak_phis.deferred);
        if deferred.is_empty() {
            return;
        }
        let mut by_carry: FxHashMap<CarryId, Block> = FxHashMap::default();
        for (carry, stmt) in deferred {
            by_carry.entry(carry).or_default().push(stmt);
        }
        place(body, &mut by_carry);
    }
}

fn place(block: &mut Block, deferred: &mut FxHashMap<CarryId, Block>) {
    for stmt in std::mem::take(block) {
        if let Stmt::Carry(carry) = stmt {
            block.extend(deferred.remove(&carry).unwrap_or_default());
        }
        block.push(stmt);
        match block.last_mut() {
            Some(Stmt::If { then, orelse, .. }) => {
                [then, orelse].into_iter().for_each(|block| place(block, deferred))
            }
            Some(Stmt::Loop(parts)) => {
                let parts = &mut **parts;
                [&mut parts.test, &mut parts.body, &mut parts.step]
                    .into_iter()
                    .for_each(|block| place(block, deferred));
            }
            _ => {}
        }
    }
}
