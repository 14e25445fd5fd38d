//! Access paths of arguments.

use kps_syntax::Span;
use kps_syntax::ast::Name;

use super::{AccessPath, AccessRoot, AccessStep};
use crate::infer::Ctx;
use crate::ir::{CallArg, ElementIndex, NodeId, Place, Root, Step, steps};

impl Ctx<'_> {
    /// `None` if a place is in memory of the invocation itself.
    pub fn access_path(&self, place: &Place) -> Option<AccessPath> {
        let root = match &place.root {
            Root::Local(_) => AccessRoot::Workgroup(self.shared_id(place)?),
            // The id of the array would have to be passed as well, so a copy is passed instead.
            Root::Element(buffer, _) if self.is_selected(*buffer) => return None,
            Root::Element(buffer, index) => {
                let types = index.indices().iter().map(|index| self.ty(*index).clone()).collect();
                AccessRoot::Element(*buffer, types)
            }
        };
        let steps = place.path.iter().map(|step| match step {
            Step::Part(at) => AccessStep::Part(*at),
            Step::At(index) => AccessStep::At(self.ty(*index).clone()),
        });
        Some(AccessPath { root, steps: steps.collect(), ty: place.ty.clone() })
    }

    /// Adds the indices of a part of memory, in the order of [`Ctx::bind_access_path`].
    pub fn pass_indices(&self, place: &Place, args: &mut Vec<CallArg>) {
        if let Root::Element(_, index) = &place.root {
            args.extend(index.indices().iter().copied().map(CallArg::Value));
        }
        args.extend(steps(&place.path).map(CallArg::Value));
    }

    /// Binds a parameter to a part of memory, with an argument for each index.
    pub fn bind_access_path(&mut self, part: &AccessPath, name: &Name, span: Span) -> Place {
        let root = match &part.root {
            AccessRoot::Workgroup(id) => {
                let ty = self.interface[*id].ty.clone();
                Root::Local(self.local_for_shared(*id, name, ty, span))
            }
            AccessRoot::Element(buffer, types) => {
                let indices: Vec<NodeId> = types.iter().map(|ty| self.value_arg(name, ty, span)).collect();
                Root::Element(*buffer, ElementIndex::new(indices))
            }
        };
        let mut path: Vec<Step> = Vec::new();
        for step in &part.steps {
            path.push(match step {
                AccessStep::Part(at) => Step::Part(*at),
                AccessStep::At(ty) => Step::At(self.value_arg(name, ty, span)),
            });
        }
        Place { root, path: path.into(), ty: part.ty.clone() }
    }
}
