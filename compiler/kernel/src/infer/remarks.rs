//! Remarks for a reader of the source, collected during inference if [`crate::explain`] asks for them.
//!
//! A remark says nothing that the IR does not contain. But the IR no longer knows which expression it belongs
//! to. Remarks never change what is inferred.

use std::sync::Arc;

use kps_syntax::Span;
use kps_syntax::ast::FunctionDef;

use super::Ctx;
use super::operand::{Operand, Static};
use super::targets::Target;
use super::vars::Var;
use crate::constant::Literal;
use crate::ir::{FunctionId, NodeId};
use crate::remark::{Remark, RemarkKind, RemarkType};
use crate::types::{Scalar, Type};

/// A inferred function with its remarks.
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

    /// Remarks on the type of an expression.
    pub fn remark_value(&mut self, span: Span, operand: &Operand) {
        if self.remarked.is_none() {
            return;
        }
        if let Some(ty) = self.remark_type(operand) {
            self.remark(span, RemarkKind::Type(ty));
        }
        if let Some(value) = self.known_text(operand) {
            self.remark(span, RemarkKind::Known(value));
        }
    }

    /// Remarks on a target of an assignment, except names.
    pub(super) fn remark_target(&mut self, span: Span, target: &Target) {
        if self.remarked.is_some()
            && !matches!(target, Target::Name(..))
            && let Some(ty) = self.target_type(target)
        {
            self.remark(span, RemarkKind::Type(RemarkType::Value(ty)));
        }
    }

    /// Remarks on the value of a variable. Arguments and composite values have remarks of their own.
    pub fn remark_assigned(&mut self, var: Var, operand: &Operand, span: Span) {
        if self.remarked.is_none() || self.f.vars.name_in_source(var).is_none() {
            return;
        }
        let ty = match operand {
            Operand::Static(Static::Function(_) | Static::Closure(_)) => RemarkType::Function,
            operand => match self.remark_type(operand) {
                Some(ty) => ty,
                None => return,
            },
        };
        self.remark(span, RemarkKind::Assigned(ty));
        if let Some(value) = self.known_text(operand) {
            self.remark(span, RemarkKind::Known(value));
        }
    }

    /// The type that an annotation could declare.
    fn remark_type(&self, operand: &Operand) -> Option<RemarkType> {
        match operand {
            Operand::Literal(literal) => Some(RemarkType::Weak(literal.kind())),
            Operand::Buffer(buffer) => Some(RemarkType::Array(self.buffer_array(*buffer))),
            Operand::Row(row) => Some(RemarkType::Array(self.row_array(row))),
            Operand::Static(Static::Texture(texture)) => {
                Some(RemarkType::Image(self.textures[texture.idx()].ty))
            }
            Operand::Static(Static::Sampler(_)) => Some(RemarkType::Sampler),
            Operand::Static(_) | Operand::Error => None,
            operand => self.value_type(operand).map(RemarkType::Value),
        }
    }

    /// Remarks that a literal adopts this type.
    pub fn remark_adopted(&mut self, literal: Literal, scalar: Scalar, span: Span) {
        if scalar != literal.default_scalar() {
            self.remark(span, RemarkKind::Taken(scalar));
        }
    }

    /// An implicit conversion.
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

    /// Stores the remarks of a complete function.
    pub fn keep_remarks(&mut self, id: FunctionId, def: &Arc<FunctionDef>, remarks: Vec<Remark>) {
        if let Some(remarked) = &mut self.remarked {
            remarked.push(Remarked { id, def: Arc::clone(def), remarks });
        }
    }

    /// A constant value as source text.
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
