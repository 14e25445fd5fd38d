//! How a block ends: where control goes, and whether the lane waits for others.

use super::{BlockId, Value};

#[derive(Clone, Debug, PartialEq, Default)]
pub enum Terminator {
    Jump(Edge),
    Branch {
        condition: Value,
        then: Edge,
        otherwise: Edge,
    },
    Switch {
        value: Value,
        cases: Vec<(u64, Edge)>,
        default: Edge,
    },
    /// Every lane of the workgroup arrives here before any continues.
    Barrier(BlockId),
    /// The lanes of a subgroup that wait here perform an operation together: an index into
    /// [`Kernel::group_ops`]. Its operands and results are in the lanes' memory.
    Subgroup {
        op: usize,
        next: BlockId,
    },
    /// The lane has ended.
    #[default]
    Exit,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Edge {
    pub to: BlockId,
    pub args: Vec<Value>,
}

impl Terminator {
    pub fn edges(&self) -> Vec<&Edge> {
        match self {
            Terminator::Jump(edge) => vec![edge],
            Terminator::Branch { then, otherwise, .. } => vec![then, otherwise],
            Terminator::Switch { cases, default, .. } => {
                cases.iter().map(|(_, edge)| edge).chain([default]).collect()
            }
            Terminator::Barrier(_) | Terminator::Subgroup { .. } | Terminator::Exit => Vec::new(),
        }
    }

    pub fn edges_mut(&mut self) -> Vec<&mut Edge> {
        match self {
            Terminator::Jump(edge) => vec![edge],
            Terminator::Branch { then, otherwise, .. } => vec![then, otherwise],
            Terminator::Switch { cases, default, .. } => {
                cases.iter_mut().map(|(_, edge)| edge).chain([default]).collect()
            }
            Terminator::Barrier(_) | Terminator::Subgroup { .. } | Terminator::Exit => Vec::new(),
        }
    }

    /// The next block, if lanes wait here for others.
    pub fn waits(&self) -> Option<BlockId> {
        match self {
            Terminator::Barrier(next) | Terminator::Subgroup { next, .. } => Some(*next),
            _ => None,
        }
    }

    /// The possible next blocks, across waits too.
    pub fn successors(&self) -> Vec<BlockId> {
        match self.waits() {
            Some(next) => vec![next],
            None => self.edges().iter().map(|edge| edge.to).collect(),
        }
    }

    /// Calls `f` on each value used, edge arguments included.
    pub fn each_use(&mut self, f: &mut impl FnMut(&mut Value)) {
        match self {
            Terminator::Branch { condition: value, .. } | Terminator::Switch { value, .. } => f(value),
            Terminator::Jump(_) | Terminator::Barrier(_) | Terminator::Subgroup { .. } | Terminator::Exit => {
            }
        }
        for edge in self.edges_mut() {
            edge.args.iter_mut().for_each(&mut *f);
        }
    }
}
