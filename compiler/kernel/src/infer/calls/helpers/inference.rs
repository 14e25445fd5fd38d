//! Calls of functions of the script.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use kps_syntax::ast::{Expr, Ident, Name};
use kps_syntax::{Diagnostics, Location, Severity, Span};

use super::{Active, CallStyle, Called, Compiled, Instance, InstanceKey};
use crate::aliases::{Copied, Writer};
use crate::env::{EnvValue, HelperFunction};
use crate::infer::assumptions::WeakKey;
use crate::infer::calls::Arguments;
use crate::infer::calls::argument_passing::{OutgoingArgs, Passed};
use crate::infer::calls::closures::Callee;
use crate::infer::control::returns::Results;
use crate::infer::expressions::operand::{Operand, Static};
use crate::infer::places::lists::places_in;
use crate::infer::{Ctx, FunctionState, MAX_CALLS};
use crate::ir::{Arg, CallArg, Function, FunctionId, Home, Local, LocalId, NodeId, NodeKind, Root, Stmt};
use crate::resolve::{NO_INTS, TypeReader, is_constant};
use crate::signature::DefIdentity;
use crate::stack::with_room;
use crate::type_expr::TypeExpr;
use crate::types::Type;
use crate::{errors, library};

impl<'a> Ctx<'a> {
    pub fn call_helper(&mut self, function: &HelperFunction, args: Arguments, span: Span) -> Operand {
        self.call_function(&Callee::of_helper(function), args, CallStyle::Function, span).result
    }

    pub fn call_function(
        &mut self,
        callee: &Callee<'a>,
        args: Arguments,
        style: CallStyle,
        span: Span,
    ) -> Called {
        let Some(mut args) = self.match_arguments(callee, args, span) else { return Called::ERROR };
        if args.iter().any(|(operand, _)| operand.has_error()) {
            return Called::ERROR;
        }
        for (operand, at) in &mut args {
            let Some(passable) = self.passable(operand, *at) else { return Called::ERROR };
            *operand = passable;
        }
        for (param, (operand, at)) in callee.def.params.iter().zip(&mut args) {
            if let Operand::Place(place) = &*operand
                && self.is_table(place)
                && let Some(Ok(TypeExpr::Value(ty))) = callee.type_of(param)
            {
                if let Some(beyond) = self.out_of_range_error(operand, &ty, *at) {
                    self.error(beyond);
                    return Called::ERROR;
                }
                if let Some(list) = self.table_copied_as(place, &ty, *at) {
                    *operand = list;
                }
            }
            if self.is_weak_node(operand)
                && let Some(Ok(TypeExpr::Value(ty))) = callee.type_of(param)
                && ty.scalar().is_some()
                && let Some(converted) = self.try_convert(operand, &ty, *at)
            {
                *operand = Operand::Node(converted);
            }
        }
        args.extend(callee.values.iter().map(|value| (value.clone(), span)));
        self.call_with(callee, &args, style, span)
    }

    /// Calls with passable arguments.
    fn call_with(
        &mut self,
        callee: &Callee<'a>,
        args: &[(Operand, Span)],
        style: CallStyle,
        span: Span,
    ) -> Called {
        let weak_key = WeakKey::At(span, 0);
        let result = self.f.assumed.weak(weak_key);
        if args.iter().any(|(operand, at)| self.of_bounded_size(operand.clone(), *at).is_error()) {
            return Called::ERROR;
        }
        let is_library = library::is_library_function(&callee.def);
        // Library functions are compiled for the types of their arguments.
        let passed = args.iter().map(|(operand, _)| match self.passed(operand) {
            Passed::Weak { ty, .. } if is_library => Passed::Value(ty),
            passed => passed,
        });
        let passed: Vec<Passed> = passed.collect();
        let mut keys = Vec::with_capacity(args.len());
        for (passed, (operand, at)) in passed.iter().zip(args) {
            match passed.key() {
                Some(key) => keys.push(key),
                None => {
                    let what = self.describe(operand);
                    self.error(errors::not_an_argument(self.at(*at), &what));
                    return Called::ERROR;
                }
            }
        }
        let env = callee.env.get().identity();
        let def = DefIdentity(Arc::clone(&callee.def));
        let key = InstanceKey { def, env, args: keys, style, result };
        let instance = match self.functions.instance_of.get(&key) {
            Some(instance) => *instance,
            None => match self.compile(callee, &key, &passed, span) {
                Some(instance) => {
                    self.functions.instance_of.insert(key, instance);
                    instance
                }
                None => return Called::ERROR,
            },
        };
        self.f.calls.push(instance);
        let Some(compiled) = self.functions.instances[instance].compiled.clone() else {
            return Called::ERROR;
        };
        let called = self.emit_call(&compiled, args, span);
        match (compiled.weak, &called.result) {
            (Some(weak), _) if let [literal] = *weak.numbers => {
                Called { result: Operand::Literal(literal), ..called }
            }
            (Some(weak), Operand::Node(node)) => {
                self.note_weak(*node, weak_key, weak);
                called
            }
            _ => called,
        }
    }

    fn emit_call(&mut self, compiled: &Compiled, args: &[(Operand, Span)], span: Span) -> Called {
        let mut outgoing = OutgoingArgs::default();
        for (operand, at) in args {
            self.push_args(operand, &compiled.writes, *at, &mut outgoing);
        }
        let OutgoingArgs { args: mut call_args, copies, lists } = outgoing;
        self.overlapping_list_args(&lists);
        for (at, scalar) in &compiled.demanded_args {
            if let CallArg::Value(node) = call_args[*at as usize] {
                self.demand(node, *scalar);
            }
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
        for list in lists.iter().filter(|list| list.is_written) {
            self.record_written(&list.place, list.at, Writer::Call(span));
        }
        if compiled.lists.replaces_parts {
            for (operand, at) in args {
                if let Operand::Place(place) = operand {
                    self.record_replaced(place, *at);
                }
            }
        }
        if compiled.lists.returns_shared {
            let of = places_in(args.iter().map(|(operand, _)| operand));
            self.record_copied(&result, span, Copied::Of(of));
        }
        Called { result, changed_self }
    }

    /// One operand for each parameter, in order. Those of `*rest` are a tuple.
    fn match_arguments(
        &mut self,
        callee: &Callee<'a>,
        mut args: Arguments,
        span: Span,
    ) -> Option<Vec<(Operand, Span)>> {
        let def = &callee.def;
        let name = &self.name_of_call(callee, span);
        let params: Vec<_> = def.params.iter().collect();
        let n_positional = def.params.positional_only.len() + def.params.regular.len();
        let mut matched: Vec<Option<(Operand, Span)>> = vec![None; params.len()];
        let n_given = args.positional.len();
        let rest = args.positional.split_off(n_positional.min(n_given));
        if def.params.var_positional.is_some() {
            let items = rest.into_iter().map(|(operand, _)| operand).collect();
            matched[n_positional] = Some((Operand::Tuple(items), span));
        } else if !rest.is_empty() {
            let declared = callee.declared(name, callee.def.header);
            let error = errors::call_count(self.at(span), name, n_positional, n_given, declared);
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
                // `check` refused the parameter.
                None if def.params.var_keyword.is_some() => {}
                None => {
                    let known = params.iter().map(|param| &*param.name.name);
                    let nearest = kps_syntax::suggest::nearest(&keyword.name, known);
                    let (at, declared) = (self.at(keyword.span), callee.declared(name, callee.def.header));
                    self.error(errors::unknown_keyword(at, name, &keyword.name, nearest, declared));
                    return None;
                }
            }
        }
        for (place, param) in params.iter().enumerate() {
            // `check` refused it.
            if def.params.var_keyword.as_ref().is_some_and(|refused| std::ptr::eq(refused, *param)) {
                matched[place] = Some((Operand::Error, span));
            }
            if matched[place].is_none() {
                let Some(default) = &param.default else {
                    let declared = callee.declared(name, param.span);
                    self.error(errors::missing_argument(self.at(span), name, &param.name.name, declared));
                    return None;
                };
                let operand = match &callee.defaults {
                    Some(defaults) => defaults[place].clone().unwrap_or(Operand::Error),
                    None => self.default_value(callee, &param.name.name, default, span),
                };
                matched[place] = Some((operand, span));
            }
        }
        matched.into_iter().collect()
    }

    /// The name of a function in messages. Library functions are members of modules.
    fn name_of_call(&self, callee: &Callee, span: Span) -> Name {
        match library::is_library_function(&callee.def) {
            true => errors::callee(self.f.source.slice(span)).into(),
            false => callee.name().clone(),
        }
    }

    /// The default of a parameter of a function of the script, for a call at `span`.
    fn default_value(&mut self, callee: &Callee<'a>, name: &str, default: &Expr, span: Span) -> Operand {
        match callee.env.get().default_of(name) {
            // `check` refused it at its place in the source.
            Some(EnvValue::Other { .. }) if self.is_partial => Operand::Error,
            Some(value) if !is_constant(default) => self.captured(name, value, span),
            // Literal numbers, which mean the same here.
            _ => self.expr(default),
        }
    }

    /// The calls from an active call of this function to this one, if there is one.
    fn cycle(&self, callee: &Callee, given: &[DefIdentity], span: Span) -> Option<Vec<(Location, String)>> {
        let env = callee.env.get().identity();
        let is_same = |active: &Active| {
            Arc::ptr_eq(&active.def, &callee.def) && active.env == env && active.given == given
        };
        let first = self.functions.active.iter().position(is_same)?;
        let callees =
            self.functions.active[first + 1..].iter().map(|active| (&active.def, active.location.clone()));
        let callees = callees.chain([(&callee.def, self.at(span))]);
        let steps = self.functions.active[first..].iter().zip(callees).map(|(caller, (callee, location))| {
            (location, format!("`{}` calls `{}`", caller.def.name.name, callee.name.name))
        });
        Some(steps.collect())
    }

    /// Builds the function for these arguments. `None` if it is recursive.
    fn compile(
        &mut self,
        callee: &Callee<'a>,
        key: &InstanceKey,
        passed: &[Passed],
        span: Span,
    ) -> Option<usize> {
        let def = &callee.def;
        let mut given = Vec::new();
        key.args.iter().for_each(|key| key.functions(&mut given));
        if let Some(steps) = self.cycle(callee, &given, span) {
            self.error(errors::recursion(callee.name(), steps));
            return None;
        }
        if !self.spend_function(def, span) {
            return None;
        }
        if self.functions.active.len() > MAX_CALLS {
            self.error(errors::called_too_deep(self.at(span), MAX_CALLS));
            return None;
        }
        let env = callee.env.get().identity();
        self.functions.active.push(Active { def: Arc::clone(def), env, given, location: self.at(span) });
        let mut state = FunctionState::new(def, &callee.source, callee.env.clone(), &callee.captured);
        if library::is_library_function(def) {
            let caller = &self.f.func;
            let is_reported = caller.called_for.is_none() || caller.is_operator;
            state.func.is_operator = is_reported && library::is_stepwise(&def.name.name);
            state.func.called_for = Some(caller.called_for.clone().unwrap_or_else(|| self.at(span)));
        }
        state.call_nesting = self.nesting;
        let outer = std::mem::replace(&mut self.f, state);
        let is_resolved = with_room(self.nesting, || {
            self.f.results = Results::new(self.declared_result(def), key.result);
            self.bind_args(callee, passed);
            if key.style == CallStyle::Method {
                self.track_self(def);
            }
            let is_resolved = self.walk_until_right(|ctx| {
                ctx.make_tables(def);
                ctx.block(&def.body);
                ctx.finish_returns(def)
            });
            self.finish_body();
            is_resolved
        });
        let inner = std::mem::replace(&mut self.f, outer);
        self.functions.active.pop();
        let FunctionState {
            mut func,
            diagnostics,
            remarks,
            calls,
            method,
            stopped,
            lists,
            results,
            weak,
            ..
        } = inner;
        let callees_compiled = calls.iter().all(|call| self.functions.instances[*call].compiled.is_some());
        let is_whole = is_resolved && diagnostics.is_empty() && callees_compiled && !stopped;
        if let Some(module) = callee.env.get().library()
            && !is_whole
            && !(self.is_partial && diagnostics.is_empty())
        {
            self.error(errors::of_the_host(self.at(span), &module));
            return None;
        }
        // Mistakes inside library functions are not shown to users.
        if library::is_library_function(def)
            && diagnostics.iter().any(|found| found.severity == Severity::Error)
        {
            self.error(errors::not_for(self.at(span)));
            return None;
        }
        let instance = self.functions.instances.len();
        let types = self.function_types(def, (&func, &diagnostics), remarks, Some(instance));
        let compiled = is_whole.then(|| {
            let result = func.result.clone();
            let n_writes = self.n_writes(&func);
            let changed_self = method.and_then(|method| method.changed(&mut func, &n_writes));
            let writes = written_references(&func, &n_writes);
            func.args.extend(changed_self.map(Arg::Reference));
            let changes_self = changed_self.is_some();
            let id = self.functions.add(func);
            self.functions.compiled_in.insert(id, instance);
            Compiled {
                id,
                result,
                writes,
                changes_self,
                lists: lists.effects(),
                demanded_args: weak.into_demanded_args(),
                weak: results.into_weak(),
            }
        });
        self.keep_types(types, compiled.as_ref().map(|compiled| compiled.id));
        self.functions.instances.push(Instance { compiled, diagnostics, calls });
        Some(instance)
    }

    /// The properties of a complete function of the script.
    fn compiled(&self, function: FunctionId) -> Option<&Compiled> {
        self.functions.instances[*self.functions.compiled_in.get(&function)?].compiled.as_ref()
    }

    /// The number of writes to each local of a function.
    fn n_writes(&self, func: &Function) -> HashMap<LocalId, usize> {
        let mut written = HashMap::new();
        func.body.iter().for_each(|stmt| count_writes(stmt, &mut written));
        for node in &func.nodes {
            let NodeKind::Call { function, args } = &node.kind else { continue };
            let references = args.iter().filter_map(|arg| match arg {
                CallArg::Reference(local) => Some(*local),
                CallArg::Value(_) => None,
            });
            let writes = self.compiled(*function).map_or(&[][..], |compiled| &compiled.writes);
            let writes = writes.iter().copied().chain(std::iter::repeat(true));
            for (local, _) in references.zip(writes).filter(|(_, writes)| *writes) {
                *written.entry(local).or_default() += 1;
            }
        }
        written
    }

    /// Binds the parameters, then the captures.
    fn bind_args(&mut self, callee: &Callee<'a>, passed: &[Passed]) {
        let params: Vec<_> = callee.def.params.iter().collect();
        let n_params = params.len();
        for (param, passed) in params.into_iter().zip(passed) {
            let name = &param.name.name;
            let operand = self.received(passed, name, param.name.span);
            let is_rest =
                matches!(&callee.def.params.var_positional, Some(rest) if std::ptr::eq(rest, param));
            let operand = match &param.annotation {
                Some(annotation) if !is_rest => self.annotated_arg(&param.name, operand, annotation),
                _ => operand,
            };
            self.bind_name(name, operand, param.name.span);
        }
        for ((name, span), passed) in callee.captured.iter().zip(&passed[n_params..]) {
            let operand = self.received(passed, name, *span);
            let var = self.f.vars.named(name).expect("captured names are variables");
            self.bind_var(var, operand, *span);
        }
    }

    fn bind_name(&mut self, name: &str, operand: Operand, span: Span) {
        let var = self.f.vars.named(name).expect("parameters are variables");
        self.assign_var(var, operand, span);
    }

    /// Adds an argument that is passed by value.
    pub fn value_arg(&mut self, name: &Name, ty: &Type, span: Span) -> NodeId {
        let at = self.f.func.args.len() as u32;
        self.f.func.args.push(Arg::Value { name: name.clone(), ty: ty.clone() });
        self.node(NodeKind::Arg(at), ty.clone(), span)
    }

    /// Adds a local of the caller, passed by reference.
    pub fn reference(&mut self, name: &Name, ty: Type, span: Span) -> LocalId {
        let local = LocalId(self.f.func.locals.len() as u32);
        self.f.func.locals.push(Local { name: name.clone(), ty, span, home: Home::Caller });
        local
    }

    fn annotated_arg(&mut self, param: &Ident, operand: Operand, annotation: &Expr) -> Operand {
        let (env, source) = (self.f.env.clone(), self.f.source.clone());
        let declared = (TypeReader { source: &source, env: env.get(), ints: NO_INTS }).read(annotation);
        let call = self.functions.active.last().map(|active| active.location.clone());
        let converted = match (&declared, &operand) {
            (Ok(TypeExpr::Buffer(array)), Operand::Buffer(buffer)) => {
                array.takes(&self.buffer_array(*buffer)).then(|| operand.clone())
            }
            (Ok(TypeExpr::Buffer(array)), Operand::Row(row)) => {
                array.takes(&self.row_array(row)).then(|| operand.clone())
            }
            (Ok(TypeExpr::Value(ty)), Operand::Place(place)) => {
                place.ty.has_rows_of(ty).then(|| operand.clone())
            }
            (Ok(TypeExpr::Value(ty)), operand) => {
                let same_shape =
                    self.value_type(operand).is_some_and(|given| given.n_components() == ty.n_components());
                let node = if same_shape { self.try_convert(operand, ty, param.span) } else { None };
                node.map(Operand::Node)
            }
            (Ok(TypeExpr::Const(scalar)), operand) => match self.known_int(operand) {
                Some(_) => {
                    self.try_convert(operand, &Type::from(*scalar), annotation.span).map(Operand::Node)
                }
                None => None,
            },
            // `check` reported the annotation.
            (Err(_), _) => return Operand::Error,
            _ => None,
        };
        converted.unwrap_or_else(|| {
            let what = self.describe(&operand);
            let wanted = match &declared {
                Ok(TypeExpr::Value(ty)) => Some(ty),
                _ => None,
            };
            let call = call.unwrap_or_else(|| source.at(annotation.span));
            self.fail(errors::helper_argument(call, source.at(annotation.span), &param.name, wanted, &what))
        })
    }

    /// The diagnostics of the kernel and of all functions that it calls, without duplicates.
    pub fn all_diagnostics(&self) -> Diagnostics {
        if let Some(end) = &self.budget.end {
            return end.clone().into();
        }
        let mut diagnostics = Diagnostics(self.f.diagnostics.clone());
        for called in self.called_instances() {
            diagnostics.extend(self.functions.instances[called].diagnostics.iter().cloned());
        }
        let mut reported = HashSet::new();
        diagnostics.0.retain(|diagnostic| {
            // Beyond the limit all code is too deep, and a missing output is missing everywhere. One place is
            // enough.
            let place = diagnostic.location().map(|location| location.span);
            reported.insert(match diagnostic.code {
                code @ ("kernel/nested-too-deep" | "kernel/local-size-needed") => (code, None, String::new()),
                code => (code, place, diagnostic.message.clone()),
            })
        });
        diagnostics
    }

    /// The instances that the kernel calls, also from one another.
    pub fn called_instances(&self) -> Vec<usize> {
        let (mut called, mut seen) = (Vec::new(), HashSet::new());
        let mut calls: Vec<usize> = self.f.calls.clone();
        while let Some(call) = calls.pop() {
            if seen.insert(call) {
                called.push(call);
                calls.extend(&self.functions.instances[call].calls);
            }
        }
        called
    }
}

/// Whether a function writes to each of its references, in order.
fn written_references(func: &Function, n_writes: &HashMap<LocalId, usize>) -> Vec<bool> {
    let references = func.args.iter().filter_map(|arg| match arg {
        Arg::Reference(local) => Some(n_writes.contains_key(local)),
        Arg::Value { .. } => None,
    });
    references.collect()
}

fn count_writes(stmt: &Stmt, written: &mut HashMap<LocalId, usize>) {
    match stmt {
        Stmt::Store { local, .. } | Stmt::StoreElement { local, .. } => {
            *written.entry(*local).or_default() += 1;
        }
        Stmt::If { then, orelse, .. } => {
            then.iter().chain(orelse).for_each(|stmt| count_writes(stmt, written));
        }
        Stmt::Loop(parts) => {
            let blocks = [&parts.test, &parts.body, &parts.step];
            blocks.into_iter().flatten().for_each(|stmt| count_writes(stmt, written));
        }
        Stmt::Coop(op) => {
            if let Some(Root::Local(local)) = op.written().map(|place| &place.root) {
                *written.entry(*local).or_default() += 1;
            }
        }
        _ => {}
    }
}
