//! Targets of assignment, deletion and loops, and descriptions of all other expressions.

use crate::ast::{Expr, ExprKind};
use crate::errors;

use super::Builder;

/// The kind of assignment.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    Assign,
    For,
    With,
    Delete,
}

impl Builder<'_> {
    pub(super) fn check_for_target(&mut self, target: &Expr) {
        self.check_target(target, Use::For);
    }

    /// A target that may be a tuple or list of targets.
    pub(super) fn check_target(&mut self, target: &Expr, usage: Use) {
        match &target.kind {
            ExprKind::Starred(_) => {
                let at = self.at(target.span);
                match usage {
                    Use::Delete => self.report(errors::delete_target(at, "a starred expression")),
                    _ => self.report(errors::lone_star_target(at, self.source.slice(target.span))),
                }
            }
            ExprKind::Tuple(elements) | ExprKind::List(elements) => self.check_elements(elements, usage),
            _ => self.check_single(target, usage),
        }
    }

    fn check_elements(&mut self, elements: &[Expr], usage: Use) {
        let mut star: Option<&Expr> = None;
        for element in elements {
            let ExprKind::Starred(inner) = &element.kind else {
                self.check_target(element, usage);
                continue;
            };
            match (usage, star) {
                (Use::Delete, _) => {
                    let at = self.at(element.span);
                    self.report(errors::delete_target(at, "a starred expression"));
                }
                (_, Some(first)) => {
                    self.report(errors::second_star_target(self.at(element.span), self.at(first.span)));
                }
                _ => {
                    star = Some(element);
                    self.check_target(inner, usage);
                }
            }
        }
    }

    fn check_single(&mut self, target: &Expr, usage: Use) {
        match target.kind {
            ExprKind::Name(_) | ExprKind::Attribute { .. } | ExprKind::Subscript { .. } => {}
            ExprKind::Error => {}
            _ => {
                let (at, what) = (self.at(target.span), self.describe(target));
                self.report(match usage {
                    Use::Assign => errors::assign_target(at, what, self.source.slice(target.span)),
                    Use::For => errors::loop_target(at, what),
                    Use::With => errors::with_target(at, what),
                    Use::Delete => errors::delete_target(at, what),
                });
            }
        }
    }

    /// A target that must be one name, attribute or subscript.
    pub(super) fn check_lone_target(&mut self, target: &Expr, what_for: &'static str) {
        match target.kind {
            ExprKind::Name(_) | ExprKind::Attribute { .. } | ExprKind::Subscript { .. } => {}
            ExprKind::Error => {}
            _ => {
                let (at, what) = (self.at(target.span), self.describe(target));
                self.report(errors::lone_target(at, what, what_for));
            }
        }
    }

    /// A description of `expr`, with its article.
    pub(super) fn describe(&self, expr: &Expr) -> &'static str {
        match &expr.kind {
            ExprKind::None => "`None`",
            ExprKind::True => "`True`",
            ExprKind::False => "`False`",
            ExprKind::Ellipsis => "`...`",
            ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Imaginary(_) => "a number",
            ExprKind::Str(_) => "a string",
            ExprKind::Bytes(_) => "a bytes literal",
            ExprKind::FString(_) => "an f-string",
            ExprKind::Name(_) => "a name",
            ExprKind::Bool { .. } | ExprKind::Binary { .. } | ExprKind::Unary { .. } => "an expression",
            ExprKind::Walrus { .. } => "an assignment expression",
            ExprKind::Compare { .. } => "a comparison",
            ExprKind::Lambda(_) => "a lambda",
            ExprKind::IfElse { .. } => "a conditional expression",
            ExprKind::List(_) => "a list",
            ExprKind::Tuple(_) => "a tuple",
            ExprKind::Set(_) => "a set",
            ExprKind::Dict(_) => "a dict",
            ExprKind::ListComp { .. } => "a list comprehension",
            ExprKind::SetComp { .. } => "a set comprehension",
            ExprKind::DictComp { .. } => "a dict comprehension",
            ExprKind::Generator { .. } => "a generator expression",
            ExprKind::Call { .. } => "a function call",
            ExprKind::Attribute { .. } => "an attribute",
            ExprKind::Subscript { .. } => "a subscript",
            ExprKind::Slice { .. } => "a slice",
            ExprKind::Starred(_) => "a starred expression",
            ExprKind::Yield(_) | ExprKind::YieldFrom(_) => "a `yield` expression",
            ExprKind::Await(_) => "an `await` expression",
            ExprKind::Error => "this",
        }
    }
}
