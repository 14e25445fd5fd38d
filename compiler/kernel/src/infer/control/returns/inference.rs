//! Each `return`, and the type of the result.

use std::sync::Arc;

use kps_syntax::Span;
use kps_syntax::ast::FunctionDef;

use super::ReturnSite;
use crate::constant::Constant;
use crate::errors;
use crate::infer::Ctx;
use crate::infer::expressions::operand::{Operand, Static};
use crate::infer::expressions::weak_types::WeakValues;
use crate::ir::{NodeId, NodeKind, Stmt, ends_control};
use crate::resolve::{NO_INTS, TypeReader};
use crate::types::Type;

impl<'a> Ctx<'a> {
    /// A `return` of a helper.
    pub fn return_value(&mut self, operand: Operand, span: Span) {
        self.record_returned(&operand);
        let weak = self.weak_side(&operand).map(|side| self.weak_values(&side));
        let operand = match (self.f.results.declared.clone(), self.f.results.wide) {
            (Some(ty), _) if self.value_type(&operand).is_some() => self.returned(&operand, &ty, span),
            (None, Some(scalar)) if self.is_weak_node(&operand) => {
                self.returned(&operand, &scalar.into(), span)
            }
            _ => operand,
        };
        let node = match &operand {
            Operand::Static(Static::None) => None,
            other if other.has_error() => None,
            other => match self.returned_node(other, span) {
                Some(node) => Some(node),
                None => {
                    let what = self.describe(other);
                    let error = match other {
                        Operand::Static(Static::Closure(_) | Static::Function(_) | Static::Builtin(_)) => {
                            errors::returned_function(self.at(span), &what)
                        }
                        Operand::Row(_) | Operand::Buffer(_) => errors::returned_array(self.at(span)),
                        _ => errors::not_a_value(self.at(span), &what),
                    };
                    self.error(error);
                    let site = ReturnSite { operand: Operand::Error, span, node: None, weak: None };
                    self.f.results.sites.push(site);
                    return;
                }
            },
        };
        self.return_self(span);
        self.f.block.push(Stmt::Return(node, span));
        self.f.results.sites.push(ReturnSite { operand, span, node, weak });
    }

    /// A returned operand as one value. Its literals get their types when every return is known.
    fn returned_node(&mut self, operand: &Operand, span: Span) -> Option<NodeId> {
        Some(match operand {
            Operand::Node(node) => *node,
            Operand::Literal(_) => self.constant(Constant::i32(0), span),
            Operand::Place(place) => self.load_whole(place, span),
            Operand::Tuple(items) => {
                let parts: Option<Vec<NodeId>> =
                    items.iter().map(|item| self.returned_node(item, span)).collect();
                let parts = parts?;
                let ty = Type::tuple(parts.iter().map(|part| self.ty(*part).clone()));
                self.node(NodeKind::Construct(parts), ty, span)
            }
            _ => return None,
        })
    }

    /// The operand as the declared type.
    fn returned(&mut self, operand: &Operand, ty: &Type, span: Span) -> Operand {
        let same_shape =
            self.value_type(operand).is_some_and(|found| found.n_components() == ty.n_components());
        match same_shape.then(|| self.try_convert(operand, ty, span)).flatten() {
            Some(node) => Operand::Node(node),
            None => {
                let (what, name) = (self.describe(operand), self.f.func.name.clone());
                self.fail(errors::return_type(self.at(span), &name, ty, &what))
            }
        }
    }

    /// Resolves the result type of the function, and that of every literal that it returns. Returns false if a
    /// returned value is wrong.
    pub fn finish_returns(&mut self, def: &Arc<FunctionDef>) -> bool {
        let returns = std::mem::take(&mut self.f.results.sites);
        let is_resolved = !self.f.stopped && !returns.iter().any(|site| site.operand.has_error());
        if is_resolved {
            self.resolve_returns(def, &returns);
        }
        if self.f.func.result == Type::Void {
            if self.f.live {
                self.return_self(def.span);
            }
            if self.f.live || !self.f.block.last().is_some_and(ends_control) {
                self.f.block.push(Stmt::Return(None, def.span));
            }
        }
        is_resolved
    }

    fn resolve_returns(&mut self, def: &Arc<FunctionDef>, returns: &[ReturnSite]) {
        let is_none = |site: &ReturnSite| matches!(site.operand, Operand::Static(Static::None));
        let Some(first) = returns.iter().find(|site| !is_none(site)) else {
            return self.check_declared(def, None);
        };
        let zero = self.value_type(&first.operand).map_or_else(|| "0".to_owned(), |ty| errors::zero_of(&ty));
        if let Some(bare) = returns.iter().find(|site| is_none(site)) {
            let error = errors::returns_sometimes(
                self.at(first.span),
                (self.at(bare.span), "returns nothing here"),
                &def.name.name,
                &zero,
            );
            return self.error(error);
        }
        if self.f.live {
            let end = Span::point(def.span.end);
            let error = errors::returns_sometimes(
                self.at(first.span),
                (self.at(end), "the end can be reached without a `return`"),
                &def.name.name,
                &zero,
            );
            return self.error(error);
        }
        let ty = match self.f.results.declared.clone() {
            Some(ty) => ty,
            None => {
                let operands: Vec<(&Operand, Span)> =
                    returns.iter().map(|site| (&site.operand, site.span)).collect();
                let joined = self.join_values(&operands);
                let ty = self.f.results.wide.map(Type::from).or(joined);
                match ty {
                    Some(ty) if self.give_back(returns, &ty) => {
                        self.f.results.weak = self.weak_results(returns, &ty);
                        ty
                    }
                    _ => return self.unlike_returns(def, returns),
                }
            }
        };
        for site in returns {
            self.resolve_return(def, site, &ty);
        }
        self.f.func.result = ty;
    }

    /// Whether all computed results have this type. Literals adopt it.
    fn give_back(&self, returns: &[ReturnSite], ty: &Type) -> bool {
        returns.iter().all(|site| match site.operand {
            Operand::Node(node) => self.ty(node) == ty,
            _ => true,
        })
    }

    /// The possible results of a function of the script, if all are weak.
    fn weak_results(&self, returns: &[ReturnSite], ty: &Type) -> Option<WeakValues> {
        if self.f.func.called_for.is_some() {
            return None;
        }
        let values = returns.iter().map(|site| site.weak.clone()).collect::<Option<Vec<WeakValues>>>()?;
        Some(WeakValues::any_of(&values, ty.scalar()?))
    }

    fn resolve_return(&mut self, def: &Arc<FunctionDef>, site: &ReturnSite, ty: &Type) {
        let Some(node) = site.node else { return };
        if !self.resolve_value(&site.operand, node, ty) {
            let (what, name) = (self.describe(&site.operand), def.name.name.clone());
            self.error(errors::return_type(self.at(site.span), &name, ty, &what));
        }
    }

    /// Gives the literals in a returned value their types. Returns false if the value has another type.
    fn resolve_value(&mut self, operand: &Operand, node: NodeId, ty: &Type) -> bool {
        match (operand, ty) {
            (Operand::Literal(literal), Type::Scalar(scalar)) => {
                let Some(constant) = literal.fit(*scalar) else { return false };
                let returned = &mut self.f.func.nodes[node.idx()];
                returned.kind = NodeKind::Constant(constant);
                returned.ty = constant.scalar().into();
                true
            }
            (Operand::Tuple(items), Type::Tuple(types)) if items.len() == types.len() => {
                let NodeKind::Construct(parts) = self.f.func.nodes[node.idx()].kind.clone() else {
                    return false;
                };
                self.f.func.nodes[node.idx()].ty = ty.clone();
                let mut all = items.iter().zip(parts).zip(types.iter());
                all.all(|((item, part), ty)| self.resolve_value(item, part, ty))
            }
            _ => self.ty(node) == ty,
        }
    }

    fn unlike_returns(&mut self, def: &Arc<FunctionDef>, returns: &[ReturnSite]) {
        let first = self.describe(&returns[0].operand);
        let other = returns.iter().find(|site| self.describe(&site.operand) != first).unwrap_or(&returns[0]);
        let second = self.describe(&other.operand);
        let cast = self.alike_hint((&returns[0].operand, returns[0].span), (&other.operand, other.span));
        self.error(errors::return_types(
            &def.name.name,
            (self.at(returns[0].span), &first),
            (self.at(other.span), &second),
            cast,
        ));
    }

    /// The type after `->`. `None` if there is none, or if it is wrong, which `check` reported.
    pub fn declared_result(&mut self, def: &Arc<FunctionDef>) -> Option<Type> {
        let annotation = def.returns.as_ref()?;
        let (env, source) = (self.f.env.clone(), self.f.source.clone());
        (TypeReader { source: &source, env: env.get(), ints: NO_INTS }).value_type(annotation).ok()
    }

    fn check_declared(&mut self, def: &Arc<FunctionDef>, found: Option<&Type>) {
        if found.is_none()
            && let Some(declared) = self.f.results.declared.clone()
            && self.f.live
        {
            let at = def.returns.as_ref().map_or(def.header, |annotation| annotation.span);
            self.error(errors::missing_return(self.at(at), &def.name.name, &declared));
        }
    }
}
