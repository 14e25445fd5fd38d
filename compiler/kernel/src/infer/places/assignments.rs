//! The assignments of the source, marked in the IR for passes that follow them.
//!
//! In: a name or a place, and the value that it now has. Out: a statement that computes nothing. Library functions
//! have none.

use kps_syntax::Span;
use kps_syntax::ast::Name;

use crate::constant::Literal;
use crate::infer::Ctx;
use crate::infer::expressions::operand::Operand;
use crate::ir::{Assigned, AssignedValue, Assignee, Home, NodeId, Place, Root, Stmt, TextureId};
use crate::types::{Scalar, Type};

/// The name of a list without a variable.
const LIST: &str = "list";
/// The name of a cooperative matrix without a variable.
pub(in crate::infer) const MATRIX: &str = "matrix";

impl Ctx<'_> {
    /// The name has this value now.
    pub fn mark_name(&mut self, name: &Name, operand: &Operand, span: Span) {
        if self.is_of_script()
            && let Some(value) = self.assigned_value(operand, span)
        {
            self.mark_assigned(Assignee::Name(name.clone()), value, span);
        }
    }

    /// This value was stored there.
    pub fn mark_place(&mut self, place: &Place, value: NodeId, span: Span) {
        if !self.is_of_script() {
            return;
        }
        let path = place.path.to_vec();
        let target = match place.root.clone() {
            Root::Local(local) => Assignee::Local { local, path },
            Root::Element(buffer, index) => Assignee::Element { buffer, index, path },
        };
        self.mark_assigned(target, AssignedValue::Node(value), span);
    }

    /// This value was written to a texel.
    pub fn mark_texel(&mut self, texture: TextureId, at: NodeId, value: &Operand, span: Span) {
        if self.is_of_script()
            && let Some(value) = self.assigned_value(value, span)
        {
            self.mark_assigned(Assignee::Texel { texture, at }, value, span);
        }
    }

    /// This value is about to be stored in several places, if their index is inside.
    pub fn mark_scattered(&mut self, inside: NodeId, value: NodeId, span: Span) {
        if self.is_of_script() {
            self.mark_assigned(Assignee::Scattered { inside }, AssignedValue::Node(value), span);
        }
    }

    /// A list is named after its variable.
    pub fn name_list(&mut self, operand: &Operand, name: &Name) {
        if let Operand::Place(Place { root: Root::Local(local), path, .. }) = operand
            && path.is_empty()
            && [LIST, MATRIX].contains(&&*self.f.func.local(*local).name)
        {
            self.f.func.locals[local.idx()].name = name.clone();
        }
    }

    fn is_of_script(&self) -> bool {
        self.f.func.called_for.is_none()
    }

    fn mark_assigned(&mut self, target: Assignee, value: AssignedValue, span: Span) {
        self.f.block.push(Stmt::Assigned(Box::new(Assigned { target, value, span })));
    }

    /// `None` if the operand is not a value, or not in memory of the invocation.
    fn assigned_value(&mut self, operand: &Operand, span: Span) -> Option<AssignedValue> {
        match operand {
            Operand::Literal(literal) => {
                let scalar = match literal {
                    Literal::Int(_) if literal.fit(Scalar::I32).is_none() => Scalar::I64,
                    literal => literal.default_scalar(),
                };
                let constant = literal.fit(scalar)?;
                Some(AssignedValue::Node(self.constant(constant, span)))
            }
            Operand::Node(node) if is_value(self.ty(*node)) => Some(AssignedValue::Node(*node)),
            Operand::Place(place) if self.is_followed(place) => {
                Some(AssignedValue::InMemory { load: place.load(), ty: place.ty.clone() })
            }
            Operand::Tuple(items) => {
                let items = items.iter().map(|item| self.assigned_value(item, span));
                Some(AssignedValue::Tuple(items.collect::<Option<_>>()?))
            }
            _ => None,
        }
    }

    /// Whether a place is in memory of the invocation or in an array parameter, without cooperative matrices.
    fn is_followed(&self, place: &Place) -> bool {
        if !is_value(&place.ty) || place.ty.holds_coops() {
            return false;
        }
        match place.root {
            Root::Local(local) => {
                let is_shared = matches!(self.f.func.local(local).home, Home::Workgroup(_));
                !is_shared && !self.f.coops.contains_key(&local)
            }
            Root::Element(buffer, _) => !self.is_selected(buffer),
        }
    }
}

fn is_value(ty: &Type) -> bool {
    match ty {
        Type::Scalar(_) | Type::Vector(..) | Type::Matrix { .. } => true,
        Type::Array(array) => is_value(&array.element),
        Type::Struct(of) => of.members.iter().all(|member| is_value(&member.ty)),
        Type::Tuple(items) => items.iter().all(is_value),
        Type::Void | Type::Coop(_) | Type::Error => false,
    }
}
