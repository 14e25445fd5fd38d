//! Plain functions called from a kernel: each is compiled once for every signature it is called with.
//!
//! Numbers are passed by value, lists by reference; literals, buffers, types and functions are part of
//! the signature, so that a weak literal stays weak inside. What a failed compilation had to say is
//! kept with it, and told once if the kernel that comes out calls it.

use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;

use kps_syntax::ast::{ExprKind, FunctionDef, Name};
use kps_syntax::{Diagnostic, Diagnostics, Span};

use super::calls::Arguments;
use super::operand::{Facts, Operand, Place, Root, Row, Static};
use super::shared::SharedPart;
use super::{Ctx, EnvRef, FunctionState};
use crate::check::{TypeExpr, TypeReader};
use crate::constant::{Constant, Literal};
use crate::env::HelperFunction;
use crate::errors;
use crate::ir::{
    Arg, BufferId, CallArg, Function, FunctionId, Home, Local, LocalId, NodeId, NodeKind, Stmt, steps,
};
use crate::library;
use crate::types::Type;

/// A function compiled for one signature.
pub(crate) struct Instance {
    /// `None` where it has mistakes.
    compiled: Option<Compiled>,
    diagnostics: Vec<Diagnostic>,
    /// The instances that it calls.
    calls: Vec<usize>,
}

#[derive(Clone)]
struct Compiled {
    id: FunctionId,
    result: Type,
    /// The arrays that it writes to, by their place among the references.
    writes: Vec<bool>,
    /// It leaves a changed `self` in one more reference.
    changes_self: bool,
}

#[derive(PartialEq, Eq, Hash)]
pub(crate) struct InstanceKey {
    def: *const FunctionDef,
    args: Vec<ArgKey>,
    style: CallStyle,
}

/// How a function is called.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum CallStyle {
    Function,
    /// On a struct, which is its first argument: what it assigns to members of that, the caller sees.
    Method,
}

/// What a call gave.
pub(crate) struct Called {
    pub result: Operand,
    /// The struct that a method was called on, where the method changed it.
    pub changed_self: Option<NodeId>,
}

impl Called {
    const ERROR: Called = Called { result: Operand::Error, changed_self: None };
}

/// What of an argument is passed at run time.
enum Passed {
    Value(Type),
    Reference(Type),
    Shared(SharedPart),
    Constant(Constant),
    /// A row, by where it starts; the type of that.
    Row(Row, Type),
    Tuple(Vec<Passed>),
    /// Known statically, the same inside.
    Static(Operand),
}

/// What of an argument the compiled function depends on.
#[derive(Clone, PartialEq, Eq, Hash)]
enum ArgKey {
    Value(Type),
    Literal(Literal),
    Constant(Constant),
    Array(Type),
    /// The workgroup's memory, or a part of it.
    Shared(SharedPart),
    Buffer(BufferId),
    /// Its buffer, the axes that have their index, and the type of where it starts.
    Row(BufferId, u8, Type),
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
        self.call_function(function, args, CallStyle::Function, span).result
    }

    pub fn call_function(
        &mut self,
        function: &HelperFunction,
        args: Arguments,
        style: CallStyle,
        span: Span,
    ) -> Called {
        let Some(args) = self.match_arguments(function, args, span) else { return Called::ERROR };
        if args.iter().any(|(operand, _)| operand.is_error()) {
            return Called::ERROR;
        }
        let mut keys = Vec::with_capacity(args.len());
        for (operand, at) in &args {
            match self.arg_key(operand) {
                Some(key) => keys.push(key),
                None => {
                    let what = self.describe(operand);
                    self.error(errors::not_an_argument(self.at(*at), &what));
                    return Called::ERROR;
                }
            }
        }
        let key = InstanceKey { def: Arc::as_ptr(&function.def), args: keys, style };
        let instance = match self.instance_of.get(&key) {
            Some(instance) => *instance,
            None => match self.compile(function, &args, style, span) {
                Some(instance) => {
                    self.instance_of.insert(key, instance);
                    instance
                }
                None => return Called::ERROR,
            },
        };
        self.f.calls.push(instance);
        match self.instances[instance].compiled.clone() {
            Some(compiled) => self.emit_call(&compiled, &args, span),
            None => Called::ERROR,
        }
    }

    fn emit_call(&mut self, compiled: &Compiled, args: &[(Operand, Span)], span: Span) -> Called {
        let mut call_args = Vec::new();
        let mut copies = Vec::new();
        for (operand, at) in args {
            self.pass(operand, &compiled.writes, *at, &mut call_args, &mut copies);
        }
        let changed = compiled.changes_self.then(|| {
            let (receiver, at) = &args[0];
            let Operand::Node(value) = *receiver else { unreachable!("a method is called on a struct") };
            let local = self.new_local("self", self.ty(value).clone(), *at);
            self.f.block.push(Stmt::Store { local, value, span: *at });
            call_args.push(CallArg::Reference(local));
            local
        });
        let kind = NodeKind::Call { function: compiled.id, args: call_args };
        let node = self.node(kind, compiled.result.clone(), span);
        let facts = self.facts(node);
        self.set_facts(node, Facts { nonneg: false, ..facts });
        for (place, local) in copies {
            let value = self.node(NodeKind::Load(local), place.ty.clone(), span);
            self.store_whole(&place, value, span);
        }
        let changed_self = changed.map(|local| {
            let ty = self.f.func.local(local).ty.clone();
            self.node(NodeKind::Load(local), ty, span)
        });
        let result = match compiled.result {
            Type::Void => Operand::Static(Static::None),
            _ => self.value(node, span),
        };
        Called { result, changed_self }
    }

    /// Adds what of an argument is passed. Parts of arrays go through a local of their own, which is
    /// written back where the function writes to it.
    fn pass(
        &mut self,
        operand: &Operand,
        writes: &[bool],
        at: Span,
        call_args: &mut Vec<CallArg>,
        copies: &mut Vec<(Place, LocalId)>,
    ) {
        let n_references = call_args.iter().filter(|arg| matches!(arg, CallArg::Reference(_))).count();
        match operand {
            Operand::Node(node) if self.f.func.constant(*node).is_none() => {
                call_args.push(CallArg::Value(*node));
            }
            // The function knows which array it is; what leads to a part of it is passed.
            Operand::Place(place) if self.shared_id(place).is_some() => {
                call_args.extend(steps(&place.path).map(CallArg::Value));
            }
            Operand::Place(Place { root: Root::Local(local), path, .. }) if path.is_empty() => {
                call_args.push(CallArg::Reference(*local));
            }
            Operand::Place(place) => {
                let local = self.new_local("kps.part", place.ty.clone(), at);
                let value = self.load_whole(place, at);
                self.f.block.push(Stmt::Store { local, value, span: at });
                if writes.get(n_references).copied().unwrap_or(true) {
                    copies.push((place.clone(), local));
                }
                call_args.push(CallArg::Reference(local));
            }
            Operand::Row(row) => call_args.push(CallArg::Value(row.start)),
            Operand::Tuple(items) => {
                items.iter().for_each(|item| self.pass(item, writes, at, call_args, copies));
            }
            _ => {}
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
            Operand::Place(place) => match self.shared_part(place) {
                Some(part) => ArgKey::Shared(part),
                None => ArgKey::Array(place.ty.clone()),
            },
            Operand::Buffer(buffer) => ArgKey::Buffer(*buffer),
            Operand::Row(row) => ArgKey::Row(row.buffer, row.axis, self.ty(row.start).clone()),
            Operand::Static(Static::Type(ty)) => ArgKey::Type(ty.clone()),
            Operand::Static(Static::Function(function)) => ArgKey::Function(Arc::as_ptr(&function.def)),
            Operand::Static(Static::Builtin(function)) => ArgKey::Builtin(*function),
            Operand::Static(Static::Module(name, _)) => ArgKey::Module(name.clone()),
            Operand::Tuple(items) => {
                let keys: Option<Vec<ArgKey>> = items.iter().map(|item| self.arg_key(item)).collect();
                ArgKey::Tuple(keys?)
            }
            _ => return None,
        })
    }

    /// Lowers the function for these arguments; `None` where it calls itself.
    fn compile(
        &mut self,
        function: &HelperFunction,
        args: &[(Operand, Span)],
        style: CallStyle,
        span: Span,
    ) -> Option<usize> {
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
        let passed: Vec<Passed> = args.iter().map(|(operand, _)| self.passed(operand)).collect();
        self.active.push((Arc::clone(def), location));
        let env = EnvRef::Helper(Rc::clone(&function.env));
        let mut state = FunctionState::new(def, &function.source, env, false);
        if library::is_ours(def) {
            state.func.called_for = Some(self.f.func.called_for.clone().unwrap_or_else(|| self.at(span)));
        }
        let outer = std::mem::replace(&mut self.f, state);
        self.nested(def.name.span, (), |ctx| {
            ctx.f.result = ctx.declared_result(def);
            ctx.bind_args(def, passed);
            if style == CallStyle::Method {
                ctx.watch_self(def);
            }
            ctx.block(&def.body);
            ctx.finish_returns(def);
        });
        let inner = std::mem::replace(&mut self.f, outer);
        self.active.pop();
        let FunctionState { mut func, diagnostics, calls, method, .. } = inner;
        let callees_compiled = calls.iter().all(|call| self.instances[*call].compiled.is_some());
        let compiled = (diagnostics.is_empty() && callees_compiled).then(|| {
            let id = FunctionId(self.functions.len() as u32);
            let result = func.result.clone();
            let writes = self.written_references(&func);
            let changes_self = method.as_ref().is_some_and(|method| method.changed);
            if let Some(method) = method.filter(|method| method.changed) {
                func.args.push(Arg::Reference(method.out));
            }
            self.functions.push(func);
            Compiled { id, result, writes, changes_self }
        });
        self.instances.push(Instance { compiled, diagnostics, calls });
        Some(self.instances.len() - 1)
    }

    /// Which of the arrays that it is given a function writes to, in the order of its references.
    fn written_references(&self, func: &Function) -> Vec<bool> {
        let mut written = HashSet::new();
        func.body.iter().for_each(|stmt| note_writes(stmt, &mut written));
        for node in &func.nodes {
            let NodeKind::Call { function, args } = &node.kind else { continue };
            let references = args.iter().filter_map(|arg| match arg {
                CallArg::Reference(local) => Some(*local),
                CallArg::Value(_) => None,
            });
            let callee = self.instances.iter().filter_map(|instance| instance.compiled.as_ref());
            let callee = callee.into_iter().find(|compiled| compiled.id == *function);
            let writes = callee.map_or(&[][..], |compiled| &compiled.writes);
            let writes = writes.iter().copied().chain(std::iter::repeat(true));
            written.extend(references.zip(writes).filter(|(_, writes)| *writes).map(|(local, _)| local));
        }
        let references = func.args.iter().filter_map(|arg| match arg {
            Arg::Reference(local) => Some(written.contains(local)),
            Arg::Value { .. } => None,
        });
        references.collect()
    }

    fn passed(&self, operand: &Operand) -> Passed {
        match operand {
            Operand::Node(node) => match self.f.func.constant(*node) {
                Some(constant) => Passed::Constant(constant),
                None => Passed::Value(self.ty(*node).clone()),
            },
            Operand::Row(row) => Passed::Row(*row, self.ty(row.start).clone()),
            Operand::Place(place) => match self.shared_part(place) {
                Some(part) => Passed::Shared(part),
                None => Passed::Reference(place.ty.clone()),
            },
            Operand::Tuple(items) => Passed::Tuple(items.iter().map(|item| self.passed(item)).collect()),
            operand => Passed::Static(operand.clone()),
        }
    }

    fn bind_args(&mut self, def: &Arc<FunctionDef>, passed: Vec<Passed>) {
        for (param, passed) in def.params.iter().zip(passed) {
            let span = param.name.span;
            let name = param.name.name.clone();
            let operand = self.bind_arg(&name, passed, span);
            let operand = match &param.annotation {
                Some(annotation) => self.annotated_arg(&name, operand, annotation),
                None => operand,
            };
            if let Some(var) = self.f.scope.get(&name) {
                self.assign_var(var, operand, span);
            }
        }
    }

    /// What an argument is inside of the function.
    fn bind_arg(&mut self, name: &Name, passed: Passed, span: Span) -> Operand {
        match passed {
            Passed::Constant(constant) => Operand::Node(self.constant(constant, span)),
            Passed::Value(ty) => Operand::Node(self.value_arg(name, &ty, span)),
            Passed::Row(row, ty) => Operand::Row(Row { start: self.value_arg(name, &ty, span), ..row }),
            Passed::Reference(ty) => {
                let local = self.reference(name, ty.clone(), span);
                self.f.func.args.push(Arg::Reference(local));
                Operand::Place(Place::local(local, ty))
            }
            Passed::Shared(part) => Operand::Place(self.bind_shared(&part, name, span)),
            Passed::Tuple(items) => {
                Operand::Tuple(items.into_iter().map(|item| self.bind_arg(name, item, span)).collect())
            }
            Passed::Static(operand) => operand,
        }
    }

    /// The next argument that is passed by value.
    fn value_arg(&mut self, name: &Name, ty: &Type, span: Span) -> NodeId {
        let at = self.f.func.args.len() as u32;
        self.f.func.args.push(Arg::Value { name: name.clone(), ty: ty.clone() });
        self.node(NodeKind::Arg(at), ty.clone(), span)
    }

    /// A local that is the caller's.
    pub fn reference(&mut self, name: &Name, ty: Type, span: Span) -> LocalId {
        let local = LocalId(self.f.func.locals.len() as u32);
        self.f.func.locals.push(Local { name: name.clone(), ty, span, home: Home::Caller });
        local
    }

    fn annotated_arg(&mut self, name: &str, operand: Operand, annotation: &kps_syntax::ast::Expr) -> Operand {
        let (env, source) = (self.f.env.clone(), self.f.source.clone());
        let declared = (TypeReader { source: &source, env: env.get() }).read(annotation);
        let call = self.active.last().map(|(_, location)| location.clone());
        let converted = match (&declared, &operand) {
            (Ok(TypeExpr::Buffer(array)), Operand::Buffer(buffer)) => {
                (self.buffer_array(*buffer) == *array).then(|| operand.clone())
            }
            (Ok(TypeExpr::Buffer(array)), Operand::Row(row)) => {
                (self.row_array(row) == *array).then(|| operand.clone())
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
            Some(ty) if self.value_type(&operand).is_some() => self.returned(&operand, &ty, span),
            _ => operand,
        };
        let node = match &operand {
            Operand::Static(Static::None) | Operand::Error => None,
            other => match self.returned_node(other, span) {
                Some(node) => Some(node),
                None => {
                    let what = self.describe(other);
                    self.error(errors::not_a_value(self.at(span), &what));
                    self.f.returns.push(ReturnSite { operand: Operand::Error, span, node: None });
                    return;
                }
            },
        };
        self.leave_self(span);
        self.f.block.push(Stmt::Return(node, span));
        self.f.returns.push(ReturnSite { operand, span, node });
    }

    /// A returned operand as one value, in which literals are typed when every return is known.
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

    /// Gives the function its result type, and every literal that it returns.
    fn finish_returns(&mut self, def: &Arc<FunctionDef>) {
        let returns = std::mem::take(&mut self.f.returns);
        if !returns.iter().any(|site| site.operand.is_error()) {
            self.settle_returns(def, &returns);
        }
        if self.f.live && self.f.func.result == Type::Void {
            self.leave_self(def.span);
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
                match self.join_values(&operands) {
                    Some(ty) => ty,
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
        if !self.settle_value(&site.operand, node, ty) {
            let (what, name) = (self.describe(&site.operand), def.name.name.clone());
            self.error(errors::return_type(self.at(site.span), &name, ty, &what));
        }
    }

    /// Gives the literals in a returned value their types; false where it is of another type.
    fn settle_value(&mut self, operand: &Operand, node: NodeId, ty: &Type) -> bool {
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
                all.all(|((item, part), ty)| self.settle_value(item, part, ty))
            }
            _ => self.ty(node) == ty,
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

fn note_writes(stmt: &Stmt, written: &mut HashSet<LocalId>) {
    match stmt {
        Stmt::Store { local, .. } | Stmt::StoreElement { local, .. } => {
            written.insert(*local);
        }
        Stmt::If { then, orelse, .. } => {
            then.iter().chain(orelse).for_each(|stmt| note_writes(stmt, written));
        }
        Stmt::Loop(parts) => {
            let blocks = [&parts.test, &parts.body, &parts.step];
            blocks.into_iter().flatten().for_each(|stmt| note_writes(stmt, written));
        }
        _ => {}
    }
}
