//! What lowering finds out on its way that a reader of the source may want to know, kept where
//! [`crate::explain`] asked for it.
//!
//! Remarks say nothing that the IR does not hold; it only no longer says which expression it holds it
//! for. Nothing here changes what is lowered.

use std::sync::Arc;

use kps_syntax::Span;
use kps_syntax::ast::FunctionDef;

use super::Ctx;
use super::operand::{Operand, Static};
use super::targets::Target;
use super::vars::Var;
use crate::constant::Literal;
use crate::ir::{FunctionId, NodeId};
use crate::remark::{Remark, RemarkKind};
use crate::types::{Scalar, Type};

/// A function that was lowered, with what was remarked in it.
pub(crate) struct Remarked {
    pub id: FunctionId,
    pub def: Arc<FunctionDef>,
    pub remarks: Vec<Remark>,
}

impl Ctx<'_> {
    fn remark(&mut self, span: Span, kind: RemarkKind) {
        if self.remarked.is_some() {
            self.f.remarks.push(Remark { span, kind });
        }
    }

    /// What an expression is.
    pub fn remark_value(&mut self, span: Span, operand: &Operand) {
        if self.remarked.is_none() {
            return;
        }
        match operand {
            Operand::Literal(Literal::Int(_)) => self.remark(span, RemarkKind::Type("int".to_owned())),
            Operand::Literal(Literal::Float(_)) => self.remark(span, RemarkKind::Type("float".to_owned())),
            Operand::Buffer(buffer) => {
                let ty = self.buffer_array(*buffer).to_string();
                self.remark(span, RemarkKind::Type(ty));
            }
            Operand::Row(row) => {
                let ty = self.row_array(row).to_string();
                self.remark(span, RemarkKind::Type(ty));
            }
            Operand::Static(entity) => {
                if let Some(ty) = self.image_or_sampler(entity) {
                    self.remark(span, RemarkKind::Type(ty));
                }
            }
            operand => {
                if let Some(ty) = self.value_type(operand) {
                    self.remark(span, RemarkKind::Type(ty.to_string()));
                }
            }
        }
        if let Some(value) = self.known_text(operand) {
            self.remark(span, RemarkKind::Known(value));
        }
    }

    /// What is assigned to, but for names.
    pub(super) fn remark_target(&mut self, span: Span, target: &Target) {
        if self.remarked.is_some()
            && !matches!(target, Target::Name(..))
            && let Some(ty) = self.target_type(target)
        {
            self.remark(span, RemarkKind::Type(ty.to_string()));
        }
    }

    /// A variable gets a value; what was passed or is made of others is told there.
    pub fn remark_assigned(&mut self, var: Var, operand: &Operand, span: Span) {
        if self.remarked.is_none() || var as usize >= self.f.scope.names().len() {
            return;
        }
        let ty = match operand {
            Operand::Literal(literal) => format!("weak {}", kind_name(*literal)),
            Operand::Static(Static::Function(_) | Static::Closure(_)) => "a function".to_owned(),
            Operand::Static(entity) => match self.image_or_sampler(entity) {
                Some(ty) => ty,
                None => return,
            },
            Operand::Error => return,
            Operand::Buffer(buffer) => self.buffer_array(*buffer).to_string(),
            Operand::Row(row) => self.row_array(row).to_string(),
            operand => match self.value_type(operand) {
                Some(ty) => ty.to_string(),
                None => return,
            },
        };
        self.remark(span, RemarkKind::Assigned(ty));
        if let Some(value) = self.known_text(operand) {
            self.remark(span, RemarkKind::Known(value));
        }
    }

    /// What an annotation would call it.
    fn image_or_sampler(&self, entity: &Static) -> Option<String> {
        match entity {
            Static::Texture(texture) => Some(format!("Image[\"{}\"]", self.textures[texture.idx()].ty)),
            Static::Sampler(_) => Some("Sampler".to_owned()),
            _ => None,
        }
    }

    /// A literal without a type of its own takes this one.
    pub fn remark_taken(&mut self, literal: Literal, scalar: Scalar, span: Span) {
        if scalar != literal.default_scalar() {
            self.remark(span, RemarkKind::Taken(scalar));
        }
    }

    /// A number without a type of its own is made in this one from the start.
    pub fn remark_made_in(&mut self, scalar: Scalar, span: Span) {
        self.remark(span, RemarkKind::Taken(scalar));
    }

    /// The same value in another type, which nobody wrote.
    pub fn coerce(&mut self, node: NodeId, to: Scalar, span: Span) -> NodeId {
        let from = self.ty(node).clone();
        if from.scalar() != Some(to) {
            let to = from.with_scalar(to);
            self.remark(span, RemarkKind::Converted { from, to });
        }
        self.convert(node, to, span)
    }

    pub fn remark_computed_in(&mut self, wide: Scalar, ty: &Type, span: Span) {
        self.remark(span, RemarkKind::ComputedIn { wide, ty: ty.clone() });
    }

    /// The function is lowered to its end.
    pub fn keep_remarks(&mut self, id: FunctionId, def: &Arc<FunctionDef>, remarks: Vec<Remark>) {
        if let Some(remarked) = &mut self.remarked {
            remarked.push(Remarked { id, def: Arc::clone(def), remarks });
        }
    }

    /// A value that is known now, as the source would write it.
    fn known_text(&self, operand: &Operand) -> Option<String> {
        match operand {
            Operand::Literal(literal) => Some(literal.to_string()),
            Operand::Node(node) => {
                let constant = self.f.func.constant(*node)?;
                match (constant.scalar(), constant.as_int(), constant.as_float()) {
                    (Scalar::Bool, Some(0), _) => Some("False".to_owned()),
                    (Scalar::Bool, Some(_), _) => Some("True".to_owned()),
                    (_, Some(value), _) => Some(value.to_string()),
                    (_, _, Some(value)) => Some(Literal::Float(value).to_string()),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

fn kind_name(literal: Literal) -> &'static str {
    match literal {
        Literal::Int(_) => "int",
        Literal::Float(_) => "float",
    }
}
