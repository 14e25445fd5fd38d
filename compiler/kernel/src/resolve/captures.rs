//! The names that a kernel captures: their values at a launch, those of the functions that it calls included.

use std::rc::Rc;
use std::sync::Arc;

use kps_syntax::Span;
use kps_syntax::ast::{FunctionDef, Name};
use rustc_hash::FxHashSet;

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
        let mut captures = Vec::new();
        let seen = FxHashSet::from_iter([(Arc::as_ptr(&self.def), env.identity())]);
        let mut called: Vec<HelperFunction> = Vec::new();
        for ty in types {
            called.extend(ty.methods());
            capture_classes(ty, &mut captures);
        }
        self.capture_names(&self.def, env, &mut called, &mut captures);
        self.capture_called(called, seen, &mut captures);
        captures
    }

    /// A value that a launch passes, followed by the captures of the functions that it leads to.
    pub(crate) fn captures_of(&self, value: EnvValue) -> Vec<Capture> {
        let (mut called, mut captures) = (Vec::new(), Vec::new());
        capture("".into(), value, &mut called, &mut captures);
        self.capture_called(called, FxHashSet::default(), &mut captures);
        captures
    }

    /// The captures of functions and of those that they call. `seen` are functions whose captures are known.
    fn capture_called(
        &self,
        // A list, not recursion: a chain of helpers may be of any length.
        mut called: Vec<HelperFunction>,
        mut seen: FxHashSet<(*const FunctionDef, usize)>,
        captures: &mut Vec<Capture>,
    ) {
        while let Some(function) = called.pop() {
            if seen.insert((Arc::as_ptr(&function.def), function.env.identity())) {
                self.capture_defaults(&function, &mut called, captures);
                self.capture_names(&function.def, &*function.env, &mut called, captures);
            }
        }
    }

    /// Whether the kernel, or a function that it may call, has operations of a whole workgroup or subgroup.
    /// `passed` are the functions that the launch passes.
    pub(crate) fn is_collective(&self, env: &dyn KernelEnv, passed: &[HelperFunction]) -> bool {
        let is_collective = |(name, _): &(Name, Span)| &**name == "barrier" || name.starts_with("coop_");
        let mut seen = FxHashSet::from_iter([Arc::as_ptr(&self.def)]);
        let (mut called, mut captures) = (passed.to_vec(), Vec::new());
        let mut is_there = self.free_paths(&self.def).iter().any(is_collective);
        self.capture_names(&self.def, env, &mut called, &mut captures);
        while let Some(function) = called.pop() {
            if seen.insert(Arc::as_ptr(&function.def)) {
                is_there |= self.free_paths(&function.def).iter().any(is_collective);
                self.capture_names(&function.def, &*function.env, &mut called, &mut captures);
            }
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
    fn capture_defaults(
        &self,
        function: &HelperFunction,
        called: &mut Vec<HelperFunction>,
        captures: &mut Vec<Capture>,
    ) {
        for param in function.def.params.iter() {
            let is_computed = param.default.as_ref().is_some_and(|default| !is_constant(default));
            let Some(value) = function.env.default_of(&param.name.name).filter(|_| is_computed) else {
                continue;
            };
            capture(Arc::clone(&param.name.name), value, called, captures);
        }
    }

    fn capture_names(
        &self,
        def: &Arc<FunctionDef>,
        env: &dyn KernelEnv,
        called: &mut Vec<HelperFunction>,
        captures: &mut Vec<Capture>,
    ) {
        for (path, _) in self.free_paths(def).iter() {
            // A name that the script does not define is built in, and never changes.
            let Some(value) = resolve(path, env) else { continue };
            capture(Arc::clone(path), value, called, captures);
        }
    }

    /// The names that the kernel, or a function that it calls, takes from outside, dotted, each with its first place.
    pub fn free_paths(&self, def: &Arc<FunctionDef>) -> Rc<[(Name, Span)]> {
        self.free_names(def, || free_paths(def).into())
    }
}

fn capture(path: Name, value: EnvValue, called: &mut Vec<HelperFunction>, captures: &mut Vec<Capture>) {
    functions_of(&value, called);
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
fn functions_of(value: &EnvValue, called: &mut Vec<HelperFunction>) {
    match value {
        EnvValue::Function(function) => called.push(function.clone()),
        EnvValue::Type(ty) | EnvValue::Numbers(ty, _) => called.extend(ty.methods()),
        EnvValue::Tuple(items) | EnvValue::Named(_, items) | EnvValue::List(items) => {
            items.iter().for_each(|item| functions_of(item, called));
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
