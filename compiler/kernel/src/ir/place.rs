//! Places in memory.

use std::rc::Rc;

use kps_syntax::Span;

use super::{BoundsCheck, BufferId, ElementIndex, LocalId, NodeId, NodeKind, Step, Stmt};
use crate::types::Type;

/// A place in memory: a root and the steps from it.
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    pub root: Root,
    pub path: Rc<[Step]>,
    pub ty: Type,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Root {
    Local(LocalId),
    /// An element of a buffer.
    Element(BufferId, ElementIndex),
}

impl Place {
    pub fn local(local: LocalId, ty: Type) -> Place {
        Place { root: Root::Local(local), path: Rc::new([]), ty }
    }

    pub fn element(buffer: BufferId, index: ElementIndex, ty: Type) -> Place {
        Place { root: Root::Element(buffer, index), path: Rc::new([]), ty }
    }

    /// What loads all of it.
    pub fn load(&self) -> NodeKind {
        let path = self.path.to_vec();
        match &self.root {
            Root::Local(local) if path.is_empty() => NodeKind::Load(*local),
            Root::Local(local) => NodeKind::LoadElement { local: *local, path },
            Root::Element(buffer, index) => {
                let (buffer, index) = (*buffer, index.clone());
                NodeKind::BufferLoad { buffer, index, path, bounds: BoundsCheck::Device }
            }
        }
    }

    /// What stores all of it.
    pub fn store(&self, value: NodeId, span: Span) -> Stmt {
        let path = self.path.to_vec();
        match self.root.clone() {
            Root::Local(local) if path.is_empty() => Stmt::Store { local, value, span },
            Root::Local(local) => Stmt::StoreElement { local, path, value, span },
            Root::Element(buffer, index) => Stmt::BufferStore { buffer, index, path, value, span },
        }
    }

    /// The place one step further.
    pub fn part(&self, step: Step, ty: Type) -> Place {
        let path = self.path.iter().copied().chain([step]).collect();
        Place { root: self.root.clone(), path, ty }
    }
}
