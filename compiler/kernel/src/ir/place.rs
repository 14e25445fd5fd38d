//! Places in memory.

use std::rc::Rc;

use super::{BoundsCheck, BufferId, ElementIndex, LocalId, NodeKind, Step};
use crate::types::Type;

/// A place in memory: a root and the steps from it.
#[derive(Clone, PartialEq)]
pub(crate) struct Place {
    pub root: Root,
    pub path: Rc<[Step]>,
    pub ty: Type,
}

#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Root {
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

    /// The place one step further.
    pub fn part(&self, step: Step, ty: Type) -> Place {
        let path = self.path.iter().copied().chain([step]).collect();
        Place { root: self.root.clone(), path, ty }
    }
}
