//! The names that a kernel captures: their values at a launch, those of the functions that it calls included.

use std::collections::hash_map::Entry;
use std::rc::Rc;
use std::sync::Arc;

use kps_syntax::Span;
use kps_syntax::ast::{FunctionDef, Name};
use rustc_hash::FxHashMap;

use super::free::free_paths;
use super::params::is_constant;
use crate::env::{EnvValue, HelperFunction, KernelEnv};
use crate::signature::{Capture, CaptureValue};
use crate::template::KernelTemplate;
use crate::types::Type;

impl KernelTemplate {
    /// Every captured name with its value now, those of called functions and of the methods of these
    /// types included.
    pub(crate) fn captures<'t>(
        &self,
        env: &dyn KernelEnv,
        types: impl Iterator<Item = &'t Type>,
    ) -> Vec<Capture> {
        let (mut found, mut captures) = (Found::starting_at(&self.def, env), Vec::new());
        for ty in types {
            ty.methods().into_iter().for_each(|method| found.function(method, &mut captures));
            capture_classes(ty, &mut captures);
        }
        self.capture_names(&self.def, env, &mut found, &mut captures);
        self.capture_called(found, &mut captures);
        captures
    }

    /// A value that a launch passes, followed by the captures of the functions that it leads to.
    pub(crate) fn captures_of(&self, value: EnvValue) -> Vec<Capture> {
        let (mut found, mut captures) = (Found::default(), Vec::new());
        capture("".into(), value, &mut found, &mut captures);
        self.capture_called(found, &mut captures);
        captures
    }

    /// The captures of functions and of those that they call.
    // A list, not recursion: a chain of helpers may be of any length.
    fn capture_called(&self, mut found: Found, captures: &mut Vec<Capture>) {
        while let Some(function) = found.waiting.pop() {
            self.capture_defaults(&function, &mut found, captures);
            self.capture_names(&function.def, &*function.env, &mut found, captures);
        }
    }

    /// Whether the kernel, or a function that it may call, has operations of a whole workgroup or subgroup.
    /// `passed` are the functions that the launch passes.
    pub(crate) fn is_collective(&self, env: &dyn KernelEnv, passed: &[HelperFunction]) -> bool {
        let is_collective = |(name, _): &(Name, Span)| &**name == "barrier" || name.starts_with("coop_");
        let has_collective = |def: &Arc<FunctionDef>| self.free_paths(def).iter().any(is_collective);
        let (mut found, mut captures) = (Found::starting_at(&self.def, env), Vec::new());
        passed.iter().for_each(|function| found.function(function.clone(), &mut captures));
        self.capture_names(&self.def, env, &mut found, &mut captures);
        let mut is_there = has_collective(&self.def);
        while let Some(function) = found.waiting.pop() {
            is_there |= has_collective(&function.def);
            self.capture_names(&function.def, &*function.env, &mut found, &mut captures);
        }
        is_there
    }

    /// The captured names whose values are not known before the script runs.
    pub fn unknown_captures(&self, env: &dyn KernelEnv) -> Vec<Name> {
        let captures = self.captures(env, std::iter::empty()).into_iter();
        captures
            .filter(|capture| capture.value == CaptureValue::Unknown)
            .map(|capture| capture.path)
            .collect()
    }

    /// The defaults that were computed when the function was defined.
    fn capture_defaults(&self, function: &HelperFunction, found: &mut Found, captures: &mut Vec<Capture>) {
        for param in function.def.params.iter() {
            let is_computed = param.default.as_ref().is_some_and(|default| !is_constant(default));
            let Some(value) = function.env.default_of(&param.name.name).filter(|_| is_computed) else {
                continue;
            };
            capture(Arc::clone(&param.name.name), value, found, captures);
        }
    }

    fn capture_names(
        &self,
        def: &Arc<FunctionDef>,
        env: &dyn KernelEnv,
        found: &mut Found,
        captures: &mut Vec<Capture>,
    ) {
        for (path, _) in self.free_paths(def).iter() {
            // A name that the script does not define is built in, and never changes.
            let Some(value) = resolve(path, env) else { continue };
            capture(Arc::clone(path), value, found, captures);
        }
    }

    /// The names that the kernel, or a function that it calls, takes from outside, dotted, each with its first place.
    pub fn free_paths(&self, def: &Arc<FunctionDef>) -> Rc<[(Name, Span)]> {
        self.free_names(def, || free_paths(def).into())
    }
}

/// The functions that captured values lead to, in the order in which they are found.
#[derive(Default)]
struct Found {
    numbers: FxHashMap<(*const FunctionDef, usize), usize>,
    /// Those whose captures are not known yet.
    waiting: Vec<HelperFunction>,
}

impl Found {
    /// Where the captures of this function are being found.
    fn starting_at(def: &Arc<FunctionDef>, env: &dyn KernelEnv) -> Found {
        let numbers = FxHashMap::from_iter([((Arc::as_ptr(def), env.identity()), 0)]);
        Found { numbers, waiting: Vec::new() }
    }

    /// Adds a function. For one that was found before, the captures have which one it is: functions of one definition
    /// differ in what they capture, and captures are listed once for each function.
    fn function(&mut self, function: HelperFunction, captures: &mut Vec<Capture>) {
        let next = self.numbers.len();
        match self.numbers.entry((Arc::as_ptr(&function.def), function.env.identity())) {
            Entry::Occupied(known) => {
                captures.push(Capture { path: "".into(), value: CaptureValue::Again(*known.get()) });
            }
            Entry::Vacant(place) => {
                place.insert(next);
                self.waiting.push(function);
            }
        }
    }
}

fn capture(path: Name, value: EnvValue, found: &mut Found, captures: &mut Vec<Capture>) {
    functions_of(&value, &mut |function| found.function(function, captures));
    types_of(&value, &mut |ty| capture_classes(ty, captures));
    captures.push(Capture { path, value: CaptureValue::of(value) });
}

/// The constants of the classes that a type leads to.
fn capture_classes(ty: &Type, captures: &mut Vec<Capture>) {
    let constants = ty.class_constants().into_iter();
    captures.extend(constants.map(|(path, value)| Capture { path, value: CaptureValue::of(value) }));
}

fn types_of(value: &EnvValue, found: &mut dyn FnMut(&Type)) {
    match value {
        EnvValue::Type(ty) | EnvValue::Numbers(ty, _) => found(ty),
        EnvValue::Tuple(items) | EnvValue::Named(_, items) | EnvValue::List(items) => {
            items.iter().for_each(|item| types_of(item, found));
        }
        _ => {}
    }
}

/// The functions that a captured value may lead to.
fn functions_of(value: &EnvValue, found: &mut dyn FnMut(HelperFunction)) {
    match value {
        EnvValue::Function(function) => found(function.clone()),
        EnvValue::Type(ty) | EnvValue::Numbers(ty, _) => ty.methods().into_iter().for_each(found),
        EnvValue::Tuple(items) | EnvValue::Named(_, items) | EnvValue::List(items) => {
            items.iter().for_each(|item| functions_of(item, found));
        }
        _ => {}
    }
}

/// The value of a dotted path: `N`, `config.N`.
fn resolve(path: &str, env: &dyn KernelEnv) -> Option<EnvValue> {
    let (name, rest) = path.split_once('.').unwrap_or((path, ""));
    match env.get(name)? {
        EnvValue::Module(module) | EnvValue::Named(module, _) if !rest.is_empty() => {
            resolve(rest, &*module.members)
        }
        // A type has its constants with it.
        value => Some(value),
    }
}
