//! What inference adds to the table of types.

use std::sync::Arc;

use kps_syntax::ast::FunctionDef;
use kps_syntax::{Diagnostic, Span};

use super::FunctionTypes;
use crate::constant::Literal;
use crate::infer::Ctx;
use crate::infer::expressions::operand::{Operand, Static};
use crate::infer::places::targets::Target;
use crate::infer::places::vars::Var;
use crate::ir::{Function, FunctionId, LocalId, NodeId, Stmt, walk};
use crate::remark;
use crate::remark::{ExplainedFunction, Remark, RemarkKind, RemarkType};
use crate::types::Scalar;

impl Ctx<'_> {
    fn remark(&mut self, span: Span, kind: RemarkKind) {
        if self.types.is_some() {
            self.f.remarks.push(Remark { span, kind });
        }
    }

    /// Remarks on the type of an expression.
    pub fn remark_value(&mut self, span: Span, operand: &Operand) {
        if self.types.is_none() {
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
    pub fn remark_target(&mut self, span: Span, target: &Target) {
        if self.types.is_some()
            && !matches!(target, Target::Name(..))
            && let Some(ty) = self.target_type(target)
        {
            self.remark(span, RemarkKind::Type(RemarkType::Value(ty)));
        }
    }

    /// Remarks on the value of a variable. Arguments and composite values have remarks of their own.
    pub fn remark_assigned(&mut self, var: Var, operand: &Operand, span: Span) {
        if self.types.is_none() || self.f.vars.name_in_source(var).is_none() {
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
            Operand::Static(Static::Texture(texture)) => Some(RemarkType::Image(self.interface[*texture].ty)),
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

    /// The entries of a function whose body is inferred, if they are collected. Functions of the library have none.
    pub fn function_types(
        &self,
        def: &Arc<FunctionDef>,
        (func, mistakes): (&Function, &[Diagnostic]),
        mut remarks: Vec<Remark>,
        instance: Option<usize>,
    ) -> Option<FunctionTypes> {
        if self.types.is_none() || func.called_for.is_some() {
            return None;
        }
        resolve_literals(func, &mut remarks);
        let signature = instance.map(|_| remark::signature_of(def, &func.result, &remarks));
        let function = ExplainedFunction {
            name: func.name.clone(),
            source: func.source.clone(),
            span: def.span,
            header: def.header,
            signature: signature.unwrap_or_default(),
            remarks: remark::in_order(remarks),
        };
        let mistakes = mistakes.to_vec();
        Some(FunctionTypes { id: None, def: Arc::clone(def), function, mistakes, instance })
    }

    /// Adds a function to the table.
    pub fn keep_types(&mut self, types: Option<FunctionTypes>, id: Option<FunctionId>) {
        if let (Some(table), Some(types)) = (&mut self.types, types) {
            table.push(FunctionTypes { id, ..types });
        }
    }

    /// The table: the kernel first, then the functions that it calls in the order of the source. Functions of other
    /// sources come last.
    pub fn take_types(&mut self) -> Vec<FunctionTypes> {
        let Some(mut table) = self.types.take() else { return Vec::new() };
        let called = self.called_instances();
        table.retain(|types| types.instance.is_none_or(|instance| called.contains(&instance)));
        let home = &self.template.source;
        table.sort_by_key(|types| {
            let is_external = types.function.source != *home;
            (types.instance.is_some(), is_external, types.def.span.start, types.instance)
        });
        table
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

/// A variable that starts as a literal and is stored in memory has the type of that memory, and more than one value.
fn resolve_literals(function: &Function, remarks: &mut Vec<Remark>) {
    let mut changing = Vec::new();
    let stored = stored(function);
    for remark in remarks.iter_mut() {
        let RemarkKind::Assigned(ty) = &mut remark.kind else { continue };
        let name = function.source.slice(remark.span);
        let mut kept = stored.iter().filter(|local| *function.local(**local).name == *name);
        if let Some(local) = kept.next() {
            changing.push(remark.span);
            if matches!(ty, RemarkType::Weak(_)) && kept.next().is_none() {
                *ty = RemarkType::Value(function.local(*local).ty.clone());
            }
        }
    }
    let is_changing =
        |remark: &Remark| matches!(remark.kind, RemarkKind::Known(_)) && changing.contains(&remark.span);
    remarks.retain(|remark| !is_changing(remark));
}

/// The locals that something stores to.
fn stored(function: &Function) -> Vec<LocalId> {
    let mut stored: Vec<LocalId> = function.carries.iter().flatten().map(|(local, _)| *local).collect();
    walk(&function.body, &mut |stmt| {
        if let Stmt::Store { local, .. } = stmt {
            stored.push(*local);
        }
    });
    stored.sort_unstable();
    stored.dedup();
    stored
}
