//! Nested functions: their captures and their calls.

use std::rc::Rc;
use std::sync::Arc;

use kps_syntax::ast::{Expr, FunctionDef, Lambda, Name, Param, Parameters};
use kps_syntax::{Diagnostic, Location, Span};

use super::{Callee, Closure};
use crate::env::HelperFunction;
use crate::errors::Declared;
use crate::infer::expressions::operand::{Operand, Static};
use crate::infer::{Ctx, EnvRef};
use crate::resolve::{NO_INTS, TypeReader, captured_names};
use crate::type_expr::TypeExpr;
use crate::{errors, library};

impl Callee<'_> {
    pub fn of_helper(function: &HelperFunction) -> Callee<'static> {
        Callee {
            def: Arc::clone(&function.def),
            source: function.source.clone(),
            env: EnvRef::Helper(Rc::clone(&function.env)),
            captured: Rc::new([]),
            values: Rc::new([]),
            defaults: None,
        }
    }

    /// Its name in messages.
    pub fn name(&self) -> &Name {
        &self.def.name.name
    }

    /// The type from the annotation of a parameter, if it has one.
    pub fn type_of(&self, param: &Param) -> Option<Result<TypeExpr, Diagnostic>> {
        let types = TypeReader { source: &self.source, env: self.env.get(), ints: NO_INTS };
        Some(types.read(param.annotation.as_ref()?))
    }

    /// Its parameters, for a message: the place in the script, or for a library function how to call it by this
    /// name.
    pub fn declared(&self, name: &str, at: Span) -> Declared {
        if !library::is_library_function(&self.def) {
            return Declared::Here(self.source.at(at));
        }
        let header = self.source.slice(self.def.header);
        let params = header.split_once('(').map_or("", |(_, params)| params.trim_end_matches(':'));
        Declared::Library(format!("{name}({params}"))
    }
}

/// The nested functions whose captures are being read, each with the place where the previous one names it.
type Reading = Vec<(Arc<FunctionDef>, Location)>;

impl<'a> Ctx<'a> {
    pub fn lambda(&mut self, lambda: &Arc<Lambda>, span: Span) -> Operand {
        let known = self.lambdas.iter().find(|(known, _)| Arc::ptr_eq(known, lambda));
        let def = match known {
            Some((_, def)) => Arc::clone(def),
            None => {
                let def = Arc::new(lambda.to_function(span));
                self.lambdas.push((Arc::clone(lambda), Arc::clone(&def)));
                def
            }
        };
        self.closure(&def)
    }

    /// A function that is defined here.
    pub fn closure(&mut self, def: &Arc<FunctionDef>) -> Operand {
        let captured = captured_names(def, self.f.vars.scope()).into();
        let defaults = self.nested_defaults(&def.params);
        let env = match &self.f.env {
            EnvRef::Kernel(_) => None,
            EnvRef::Helper(env) => Some(Rc::clone(env)),
        };
        let (def, source) = (Arc::clone(def), self.f.source.clone());
        Operand::Static(Static::Closure(Rc::new(Closure {
            def,
            source,
            env,
            captured,
            values: None,
            defaults,
        })))
    }

    fn nested_defaults(&mut self, params: &Parameters) -> Rc<[Option<Operand>]> {
        let mut compute = |default: &Expr| self.expr(default);
        params.iter().map(|param| param.default.as_ref().map(&mut compute)).collect()
    }

    /// The closure, ready for a call. `None` after a mistake.
    pub fn callee_of(&mut self, closure: &Rc<Closure>, span: Span) -> Option<Callee<'a>> {
        let closure = self.read_captures(closure, &mut Vec::new(), self.at(span))?;
        let env = match &closure.env {
            Some(env) => EnvRef::Helper(Rc::clone(env)),
            None => EnvRef::Kernel(self.kernel_env),
        };
        Some(Callee {
            def: Arc::clone(&closure.def),
            source: closure.source.clone(),
            env,
            captured: Rc::clone(&closure.captured),
            values: closure.values.clone().expect("read above"),
            defaults: Some(Rc::clone(&closure.defaults)),
        })
    }

    /// An operand that is about to be passed to a function: reads the captures of nested functions. `None`
    /// after a mistake.
    pub fn passable(&mut self, operand: &Operand, span: Span) -> Option<Operand> {
        let at = self.at(span);
        self.passable_in(operand, &mut Vec::new(), at)
    }

    fn passable_in(&mut self, operand: &Operand, reading: &mut Reading, at: Location) -> Option<Operand> {
        Some(match operand {
            Operand::Static(Static::Closure(closure)) => {
                Operand::Static(Static::Closure(self.read_captures(closure, reading, at)?))
            }
            Operand::Tuple(items) => {
                let items: Option<Rc<[Operand]>> =
                    items.iter().map(|item| self.passable_in(item, reading, at.clone())).collect();
                Operand::Tuple(items?)
            }
            operand => operand.clone(),
        })
    }

    fn read_captures(
        &mut self,
        closure: &Rc<Closure>,
        reading: &mut Reading,
        at: Location,
    ) -> Option<Rc<Closure>> {
        if closure.values.is_some() {
            return Some(Rc::clone(closure));
        }
        if let Some(first) = reading.iter().position(|(def, _)| Arc::ptr_eq(def, &closure.def)) {
            self.nested_recursion(closure, &reading[first..], at);
            return None;
        }
        reading.push((Arc::clone(&closure.def), at));
        let mut values = Vec::with_capacity(closure.captured.len());
        for (name, span) in closure.captured.iter() {
            let var = self.f.vars.named(name).expect("captured names are variables of this function");
            let operand = self.read_var(var, *span);
            let value = match operand {
                Operand::Error => None,
                operand => self.passable_in(&operand, reading, closure.source.at(*span)),
            };
            values.push(value);
        }
        let defaults: Vec<Option<Operand>> = closure
            .defaults
            .iter()
            .map(|default| {
                let at = closure.source.at(closure.def.header);
                default.as_ref().and_then(|default| self.passable_in(default, reading, at))
            })
            .collect();
        reading.pop();
        let values: Option<Rc<[Operand]>> = values.into_iter().collect();
        Some(Rc::new(closure.with_values(values?, defaults.into())))
    }

    /// The error for a nested function that captures itself, and so is recursive.
    fn nested_recursion(
        &mut self,
        closure: &Closure,
        reading: &[(Arc<FunctionDef>, Location)],
        at: Location,
    ) {
        let callees = reading[1..].iter().map(|(def, at)| (&def.name.name, at.clone()));
        let callees = callees.chain([(&closure.def.name.name, at)]);
        let steps = reading
            .iter()
            .zip(callees)
            .map(|((caller, _), (callee, at))| (at, format!("`{}` calls `{callee}`", caller.name.name)));
        let error = errors::recursion(&closure.def.name.name, steps.collect());
        self.error(error);
    }
}
