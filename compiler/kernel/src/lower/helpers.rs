//! Plain functions called from a kernel: each is compiled once for every signature it is called with.
//!
//! Numbers are passed by value, lists by reference; literals, buffers, types and functions are part of
//! the signature, so that a weak literal stays weak inside. What a failed compilation had to say is
//! kept with it, and told once if the kernel that comes out calls it.

use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;

use kps_syntax::ast::{ExprKind, FunctionDef};
use kps_syntax::{Diagnostic, Diagnostics, Span};

use super::calls::Arguments;
use super::operand::{Facts, Operand, Place, Static};
use super::{Ctx, EnvRef, FunctionState};
use crate::check::{TypeExpr, TypeReader};
use crate::constant::{Constant, Literal};
use crate::env::HelperFunction;
use crate::errors;
use crate::ir::{Arg, BufferId, CallArg, FunctionId, Local, LocalId, NodeId, NodeKind, Stmt};
use crate::types::Type;

/// A function compiled for one signature.
pub(crate) struct Instance {
    /// `None` where it has mistakes.
    compiled: Option<(FunctionId, Type)>,
    diagnostics: Vec<Diagnostic>,
    /// The instances that it calls.
    calls: Vec<usize>,
}

#[derive(PartialEq, Eq, Hash)]
pub(crate) struct InstanceKey {
    def: *const FunctionDef,
    args: Vec<ArgKey>,
}

/// What of an argument the compiled function depends on.
#[derive(Clone, PartialEq, Eq, Hash)]
enum ArgKey {
    Value(Type),
    Literal(Literal),
    Constant(Constant),
    Array(Type),
    Buffer(BufferId),
    Type(Type),
    Function(*const FunctionDef),
    Builtin(crate::builtins::Function),
    Module(Arc<str>),
    Tuple(Vec<ArgKey>),
}

/// A `return` of the function being lowered; the value is settled when all are known.
pub(crate) struct ReturnSite {
    operand: Operand,
    span: Span,
    /// Stands for a literal until then.
    node: Option<NodeId>,
}

impl<'a> Ctx<'a> {
    pub fn call_helper(&mut self, function: &HelperFunction, args: Arguments, span: Span) -> Operand {
        let Some(args) = self.match_arguments(function, args, span) else { return Operand::Error };
        if args.iter().any(|(operand, _)| operand.is_error()) {
            return Operand::Error;
        }
        let mut keys = Vec::with_capacity(args.len());
        for (operand, at) in &args {
            match self.arg_key(operand) {
                Some(key) => keys.push(key),
                None => {
                    let what = self.describe(operand);
                    return self.fail(errors::not_an_argument(self.at(*at), &what));
                }
            }
        }
        let key = InstanceKey { def: Arc::as_ptr(&function.def), args: keys };
        let instance = match self.instance_of.get(&key) {
            Some(instance) => *instance,
            None => match self.compile(function, &args, span) {
                Some(instance) => {
                    self.instance_of.insert(key, instance);
                    instance
                }
                None => return Operand::Error,
            },
        };
        self.f.calls.push(instance);
        let Some((id, result)) = self.instances[instance].compiled.clone() else { return Operand::Error };
        self.emit_call(id, result, &args, span)
    }

    fn emit_call(&mut self, id: FunctionId, result: Type, args: &[(Operand, Span)], span: Span) -> Operand {
        let mut call_args = Vec::new();
        // Parts of arrays are passed through a local of their own, and written back.
        let mut copies: Vec<(Place, LocalId)> = Vec::new();
        for (operand, at) in args {
            match operand {
                Operand::Node(node) if self.f.func.constant(*node).is_none() => {
                    call_args.push(CallArg::Value(*node));
                }
                Operand::Place(place) if place.path.is_empty() => {
                    call_args.push(CallArg::Reference(place.local));
                }
                Operand::Place(place) => {
                    let local = self.new_local("kps.part", place.ty.clone(), *at);
                    let value = self.load_whole(place, *at);
                    self.f.block.push(Stmt::Store { local, value, span: *at });
                    copies.push((place.clone(), local));
                    call_args.push(CallArg::Reference(local));
                }
                _ => {}
            }
        }
        let kind = NodeKind::Call { function: id, args: call_args };
        let node = self.node(kind, result.clone(), span);
        let facts = self.facts(node);
        self.set_facts(node, Facts { nonneg: false, ..facts });
        for (place, local) in copies {
            let value = self.node(NodeKind::Load(local), place.ty.clone(), span);
            let path = place.path.to_vec();
            self.f.block.push(Stmt::StoreElement { local: place.local, path, value, span });
        }
        match result {
            Type::Void => Operand::Static(Static::None),
            _ => Operand::Node(node),
        }
    }

    /// One operand for each parameter, in their order.
    fn match_arguments(
        &mut self,
        function: &HelperFunction,
        args: Arguments,
        span: Span,
    ) -> Option<Vec<(Operand, Span)>> {
        let def = &function.def;
        let name = &def.name.name;
        let params: Vec<_> = def.params.iter().collect();
        let n_positional = def.params.positional_only.len() + def.params.regular.len();
        let mut matched: Vec<Option<(Operand, Span)>> = vec![None; params.len()];
        if args.positional.len() > n_positional {
            let error = errors::call_count(self.at(span), name, n_positional, args.positional.len());
            self.error(error);
            return None;
        }
        for (place, arg) in args.positional.into_iter().enumerate() {
            matched[place] = Some(arg);
        }
        for (keyword, operand, at) in args.keywords {
            let place = params.iter().position(|param| param.name.name == keyword.name);
            match place {
                Some(place) if place < def.params.positional_only.len() || matched[place].is_some() => {
                    self.error(errors::argument_twice(self.at(keyword.span), name, &keyword.name));
                    return None;
                }
                Some(place) => matched[place] = Some((operand, at)),
                None => {
                    self.error(errors::unknown_keyword(self.at(keyword.span), name, &keyword.name));
                    return None;
                }
            }
        }
        for (place, param) in params.iter().enumerate() {
            if matched[place].is_none() {
                let Some(default) = &param.default else {
                    self.error(errors::missing_argument(self.at(span), name, &param.name.name));
                    return None;
                };
                matched[place] = Some((self.default_value(default), span));
            }
        }
        matched.into_iter().collect()
    }

    /// A constant, as `check` made sure.
    fn default_value(&mut self, default: &kps_syntax::ast::Expr) -> Operand {
        match &default.kind {
            ExprKind::Unary { op, operand } => {
                let value = self.default_value(operand);
                self.unary(*op, &value, default.span, operand.span)
            }
            ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::True | ExprKind::False => self.expr(default),
            _ => Operand::Error,
        }
    }

    fn arg_key(&self, operand: &Operand) -> Option<ArgKey> {
        Some(match operand {
            Operand::Node(node) => match self.f.func.constant(*node) {
                Some(constant) => ArgKey::Constant(constant),
                None => ArgKey::Value(self.ty(*node).clone()),
            },
            Operand::Literal(literal) => ArgKey::Literal(*literal),
            Operand::Place(place) => ArgKey::Array(place.ty.clone()),
            Operand::Buffer(buffer) => ArgKey::Buffer(*buffer),
            Operand::Static(Static::Type(ty)) => ArgKey::Type(ty.clone()),
            Operand::Static(Static::Function(function)) => ArgKey::Function(Arc::as_ptr(&function.def)),
            Operand::Static(Static::Builtin(function)) => ArgKey::Builtin(*function),
            Operand::Static(Static::Module(name, _)) => ArgKey::Module(name.clone()),
            Operand::Tuple(items) => {
                // Values inside would need places of their own.
                let keys: Option<Vec<ArgKey>> = items.iter().map(|item| self.arg_key(item)).collect();
                let keys = keys?;
                if keys.iter().any(|key| matches!(key, ArgKey::Value(_) | ArgKey::Array(_))) {
                    return None;
                }
                ArgKey::Tuple(keys)
            }
            _ => return None,
        })
    }

    /// Lowers the function for these arguments; `None` where it calls itself.
    fn compile(&mut self, function: &HelperFunction, args: &[(Operand, Span)], span: Span) -> Option<usize> {
        let def = &function.def;
        let name = &def.name.name;
        if let Some(first) = self.active.iter().position(|(active, _)| Arc::ptr_eq(active, def)) {
            let mut steps = Vec::new();
            for at in first..self.active.len() {
                let caller = &self.active[at].0.name.name;
                let (callee, location) = match self.active.get(at + 1) {
                    Some((callee, location)) => (&callee.name.name, location.clone()),
                    None => (name, self.at(span)),
                };
                steps.push((location, format!("`{caller}` calls `{callee}`")));
            }
            self.error(errors::recursion(name, steps));
            return None;
        }
        let location = self.at(span);
        let args: Vec<(Operand, Span)> = args.to_vec();
        let types: Vec<Option<Type>> = args.iter().map(|(operand, _)| self.passed_type(operand)).collect();
        let constants: Vec<Option<Constant>> = args
            .iter()
            .map(|(operand, _)| match operand {
                Operand::Node(node) => self.f.func.constant(*node),
                _ => None,
            })
            .collect();
        self.active.push((Arc::clone(def), location));
        let env = EnvRef::Helper(Rc::clone(&function.env));
        let state = FunctionState::new(def, &function.source, env, false);
        let outer = std::mem::replace(&mut self.f, state);
        self.nested(def.name.span, (), |ctx| {
            ctx.f.result = ctx.declared_result(def);
            ctx.bind_args(def, &args, &types, &constants);
            ctx.block(&def.body);
            ctx.finish_returns(def);
        });
        let inner = std::mem::replace(&mut self.f, outer);
        self.active.pop();
        let FunctionState { func, diagnostics, calls, .. } = inner;
        let callees_compiled = calls.iter().all(|call| self.instances[*call].compiled.is_some());
        let compiled = (diagnostics.is_empty() && callees_compiled).then(|| {
            let id = FunctionId(self.functions.len() as u32);
            let result = func.result.clone();
            self.functions.push(func);
            (id, result)
        });
        self.instances.push(Instance { compiled, diagnostics, calls });
        Some(self.instances.len() - 1)
    }

    /// The type of what is passed at run time.
    fn passed_type(&self, operand: &Operand) -> Option<Type> {
        match operand {
            Operand::Node(node) if self.f.func.constant(*node).is_none() => Some(self.ty(*node).clone()),
            Operand::Place(place) => Some(place.ty.clone()),
            _ => None,
        }
    }

    fn bind_args(
        &mut self,
        def: &Arc<FunctionDef>,
        args: &[(Operand, Span)],
        types: &[Option<Type>],
        constants: &[Option<Constant>],
    ) {
        for (place, param) in def.params.iter().enumerate() {
            let span = param.name.span;
            let name = param.name.name.clone();
            let operand = match (&args[place].0, &types[place], constants[place]) {
                (_, _, Some(constant)) => Operand::Node(self.constant(constant, span)),
                (Operand::Node(_), Some(ty), None) => {
                    let at = self.f.func.args.len() as u32;
                    self.f.func.args.push(Arg::Value { name: name.clone(), ty: ty.clone() });
                    Operand::Node(self.node(NodeKind::Arg(at), ty.clone(), span))
                }
                (Operand::Place(_), Some(ty), None) => {
                    let local = LocalId(self.f.func.locals.len() as u32);
                    let local_def = Local { name: name.clone(), ty: ty.clone(), span, is_reference: true };
                    self.f.func.locals.push(local_def);
                    self.f.func.args.push(Arg::Reference(local));
                    Operand::Place(Place { local, path: Rc::new([]), ty: ty.clone() })
                }
                (operand, ..) => operand.clone(),
            };
            let operand = match &param.annotation {
                Some(annotation) => self.annotated_arg(&name, operand, annotation),
                None => operand,
            };
            if let Some(var) = self.f.scope.get(&name) {
                self.assign_var(var, operand, span);
            }
        }
    }

    fn annotated_arg(&mut self, name: &str, operand: Operand, annotation: &kps_syntax::ast::Expr) -> Operand {
        let (env, source) = (self.f.env.clone(), self.f.source.clone());
        let declared = (TypeReader { source: &source, env: env.get() }).read(annotation);
        let call = self.active.last().map(|(_, location)| location.clone());
        let converted = match (&declared, &operand) {
            (Ok(TypeExpr::Buffer(element)), Operand::Buffer(buffer)) => {
                (self.buffers[buffer.idx()].element == *element).then(|| operand.clone())
            }
            (Ok(TypeExpr::Value(ty)), Operand::Place(place)) => (place.ty == *ty).then(|| operand.clone()),
            (Ok(TypeExpr::Value(ty)), operand) => {
                let same_shape =
                    self.value_type(operand).is_some_and(|given| given.n_components() == ty.n_components());
                let node = if same_shape { self.try_convert(operand, ty, annotation.span) } else { None };
                node.map(Operand::Node)
            }
            (Ok(TypeExpr::Const(scalar)), operand) => match self.known_int(operand) {
                Some(_) => {
                    self.try_convert(operand, &Type::from(*scalar), annotation.span).map(Operand::Node)
                }
                None => None,
            },
            _ => None,
        };
        converted.unwrap_or_else(|| {
            let (what, wanted) = (self.describe(&operand), source.slice(annotation.span).to_owned());
            let call = call.unwrap_or_else(|| source.at(annotation.span));
            self.fail(errors::helper_argument(call, source.at(annotation.span), name, &wanted, &what))
        })
    }

    /// A `return` of a helper.
    pub fn return_value(&mut self, operand: Operand, span: Span) {
        let operand = match self.f.result.clone() {
            Some(ty) if matches!(operand, Operand::Node(_) | Operand::Literal(_)) => {
                self.returned(&operand, &ty, span)
            }
            _ => operand,
        };
        let node = match &operand {
            Operand::Node(node) => Some(*node),
            // Typed when every return is known.
            Operand::Literal(_) => Some(self.constant(Constant::i32(0), span)),
            Operand::Static(Static::None) | Operand::Error => None,
            other => {
                let what = self.describe(other);
                let error = match other {
                    Operand::Tuple(_) => errors::not_yet(self.at(span), "functions that return a tuple"),
                    Operand::Place(_) => errors::not_yet(self.at(span), "functions that return a list"),
                    _ => errors::not_a_value(self.at(span), &what),
                };
                self.error(error);
                self.f.returns.push(ReturnSite { operand: Operand::Error, span, node: None });
                return;
            }
        };
        self.f.block.push(Stmt::Return(node, span));
        self.f.returns.push(ReturnSite { operand, span, node });
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

    /// Gives the function its result type, and every literal that it returns.
    fn finish_returns(&mut self, def: &Arc<FunctionDef>) {
        let returns = std::mem::take(&mut self.f.returns);
        if !returns.iter().any(|site| site.operand.is_error()) {
            self.settle_returns(def, &returns);
        }
        if self.f.live && self.f.func.result == Type::Void {
            self.f.block.push(Stmt::Return(None, def.span));
        }
        self.f.func.body = std::mem::take(&mut self.f.block);
    }

    fn settle_returns(&mut self, def: &Arc<FunctionDef>, returns: &[ReturnSite]) {
        let is_none = |site: &ReturnSite| matches!(site.operand, Operand::Static(Static::None));
        let Some(first) = returns.iter().find(|site| !is_none(site)) else {
            return self.check_declared(def, None);
        };
        if let Some(bare) = returns.iter().find(|site| is_none(site)) {
            let error = errors::returns_sometimes(
                self.at(first.span),
                self.at(bare.span),
                &def.name.name,
                "returns nothing here",
            );
            return self.error(error);
        }
        if self.f.live {
            let end = Span::point(def.span.end);
            let error = errors::returns_sometimes(
                self.at(first.span),
                self.at(end),
                &def.name.name,
                "the end can be reached without a `return`",
            );
            return self.error(error);
        }
        let ty = match self.f.result.clone() {
            Some(ty) => ty,
            None => {
                let operands: Vec<(&Operand, Span)> =
                    returns.iter().map(|site| (&site.operand, site.span)).collect();
                match self.join_types(&operands) {
                    Some((ty, _)) => ty,
                    None => return self.unlike_returns(def, returns),
                }
            }
        };
        for site in returns {
            self.settle_return(def, site, &ty);
        }
        self.f.func.result = ty;
    }

    fn settle_return(&mut self, def: &Arc<FunctionDef>, site: &ReturnSite, ty: &Type) {
        let Some(node) = site.node else { return };
        let constant = match &site.operand {
            Operand::Literal(literal) => match ty {
                Type::Scalar(scalar) => literal.fit(*scalar),
                _ => None,
            },
            Operand::Node(node) if self.ty(*node) == ty => return,
            _ => None,
        };
        match constant {
            Some(constant) => {
                let returned = &mut self.f.func.nodes[node.idx()];
                returned.kind = NodeKind::Constant(constant);
                returned.ty = constant.scalar().into();
            }
            None => {
                let (what, name) = (self.describe(&site.operand), def.name.name.clone());
                self.error(errors::return_type(self.at(site.span), &name, ty, &what));
            }
        }
    }

    fn unlike_returns(&mut self, def: &Arc<FunctionDef>, returns: &[ReturnSite]) {
        let first = self.describe(&returns[0].operand);
        let other = returns.iter().find(|site| self.describe(&site.operand) != first).unwrap_or(&returns[0]);
        let second = self.describe(&other.operand);
        self.error(errors::return_types(
            &def.name.name,
            (self.at(returns[0].span), &first),
            (self.at(other.span), &second),
        ));
    }

    /// The type after `->`; `None` where there is none, or it is wrong, which `check` reported.
    fn declared_result(&mut self, def: &Arc<FunctionDef>) -> Option<Type> {
        let annotation = def.returns.as_ref()?;
        let (env, source) = (self.f.env.clone(), self.f.source.clone());
        (TypeReader { source: &source, env: env.get() }).value_type(annotation).ok()
    }

    fn check_declared(&mut self, def: &Arc<FunctionDef>, found: Option<&Type>) {
        if found.is_none()
            && let Some(declared) = self.f.result.clone()
            && self.f.live
        {
            let at = def.returns.as_ref().map_or(def.header, |annotation| annotation.span);
            self.error(errors::missing_return(self.at(at), &def.name.name, &declared));
        }
    }

    /// What the kernel and everything that it calls had to say, each mistake once.
    pub fn all_diagnostics(&self) -> Diagnostics {
        let mut diagnostics = Diagnostics(self.f.diagnostics.clone());
        let mut seen = HashSet::new();
        let mut calls: Vec<usize> = self.f.calls.clone();
        while let Some(call) = calls.pop() {
            if seen.insert(call) {
                let instance = &self.instances[call];
                diagnostics.extend(instance.diagnostics.iter().cloned());
                calls.extend(&instance.calls);
            }
        }
        let mut told = HashSet::new();
        diagnostics.0.retain(|diagnostic| {
            // Past the limit everything is too deep: one place is enough.
            let is_depth = diagnostic.code == "kernel/nested-too-deep";
            let place = diagnostic.location().map(|location| location.span).filter(|_| !is_depth);
            told.insert((diagnostic.code, place, diagnostic.message.clone()))
        });
        diagnostics
    }
}
