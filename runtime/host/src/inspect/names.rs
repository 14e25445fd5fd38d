//! The names that a script binds, as far as they are known without running it.
//!
//! [`StaticEnv`] is what a kernel sees of a script that was only read: literal constants, functions, imports.
//! Anything that depends on a run is [`EnvValue::Unknown`]. Errors that depend on an unknown value are left
//! for the run.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use kps_kernel::{EnvValue, HelperFunction, KernelEnv, Type, TypeExpr};
use kps_syntax::ast::*;
use kps_syntax::{Source, suggest};

use super::bindings::{Binding, Bound, Names, bind_block, is_changed, star};
use super::builtin;
use super::changes::Changes;
use super::classes::{self, StaticView};
use super::enums;
use super::imports::Imports;
use super::values::value_of;
use crate::modules::kernels;

/// The bindings of one scope, above those of the enclosing scopes. Cheap to clone.
#[derive(Clone)]
pub struct StaticEnv {
    scope: Rc<Scope>,
    /// Names that the scope first binds after this position are not bound yet; `None` for all.
    until: Option<u32>,
}

struct Scope {
    source: Source,
    names: Names,
    outer: Option<StaticEnv>,
    /// The position of a class's definition.
    start: u32,
    reading: Reading,
    imports: Imports,
    /// The sources of `from module import *`.
    stars: Vec<Binding>,
    /// How often kernels requested suggestions for misspelt names.
    n_suggested: Cell<usize>,
}

/// The types, imports and values being read, by their scopes, those of classes in the scope around them: a type that
/// names itself has no size.
type Reading = Rc<RefCell<Vec<(u32, Name)>>>;

/// Values may be computed from one another this deep.
const MAX_READING: usize = 100;

/// The scope around a scope.
struct Around {
    outer: Option<StaticEnv>,
    imports: Imports,
    start: u32,
    reading: Reading,
}

impl Around {
    fn module(imports: Imports) -> Around {
        Around { outer: None, imports, start: 0, reading: Reading::default() }
    }

    fn function(outer: &StaticEnv) -> Around {
        Around { outer: Some(outer.whole()), ..Around::module(outer.scope.imports.clone()) }
    }

    fn class(outer: &StaticEnv, def: &ClassDef) -> Around {
        let reading = Rc::clone(&outer.scope.reading);
        Around { start: def.span.start, reading, ..Around::function(outer) }
    }
}

impl StaticEnv {
    /// The bindings of a script's statements.
    pub fn of_script(module: &Module) -> StaticEnv {
        StaticEnv::of_module(module, Imports::of_script(&module.source))
    }

    /// The same for a module with other imports.
    pub fn of_module(module: &Module, imports: Imports) -> StaticEnv {
        StaticEnv::of_body(&module.source, &module.body, Names::default(), Around::module(imports))
    }

    /// The bindings in the body of a function of this scope, for any call.
    pub fn of_function(&self, def: &FunctionDef) -> StaticEnv {
        self.of_call(def, &[])
    }

    /// The same for a call that determines some of the parameters.
    pub fn of_call(&self, def: &FunctionDef, given: &[(Name, EnvValue)]) -> StaticEnv {
        let params = def.params.iter().map(|param| Arc::clone(&param.name.name));
        let value_of =
            |param: &Name| given.iter().find(|(name, _)| name == param).map(|(_, value)| value.clone());
        let bound = |param: Name| {
            let value = value_of(&param).unwrap_or(EnvValue::Unknown);
            (param, Bound { start: 0, binding: Binding::Value(value) })
        };
        StaticEnv::of_body(&self.scope.source, &def.body, params.map(bound).collect(), Around::function(self))
    }

    /// The bindings in the body of a class of this scope.
    pub fn of_class(&self, def: &ClassDef) -> StaticEnv {
        StaticEnv::of_body(&self.scope.source, &def.body, Names::default(), Around::class(self, def))
    }

    /// The function of the script, or of a file that it imports, with a plain or dotted name, and the scope
    /// around it.
    pub fn function(&self, name: &Expr) -> Option<(Arc<FunctionDef>, StaticEnv)> {
        match &name.kind {
            ExprKind::Name(name) => self.function_named(name),
            ExprKind::Attribute { value, attr } => match &value.kind {
                ExprKind::Name(module) => match &self.bound(module)?.binding {
                    Binding::Import { module, level, member: None } => {
                        self.scope.imports.names_of(module, *level)?.function_named(&attr.name)
                    }
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        }
    }

    fn function_named(&self, name: &str) -> Option<(Arc<FunctionDef>, StaticEnv)> {
        let found = || match self.scope.names.get(name).map(|bound| &bound.binding) {
            Some(Binding::Function(def)) => Some((Arc::clone(def), self.whole())),
            Some(Binding::Import { module, level, member: Some(member) }) => {
                self.scope.imports.names_of(module, *level)?.function_named(member)
            }
            Some(_) => None,
            None => self.scope.outer.as_ref()?.function_named(name),
        };
        // Files may import a name from each other.
        self.reading(name, |_| found())
    }

    fn bound(&self, name: &str) -> Option<&Bound> {
        self.scope.names.get(name).or_else(|| self.scope.outer.as_ref()?.bound(name))
    }

    /// The module written in Rust, and the member of it, that a name was imported as.
    pub fn member_of_builtin(&self, name: &str) -> Option<(Name, Name)> {
        match &self.bound(name)?.binding {
            Binding::Builtin { module, member: Some(member), .. } => Some((module.clone(), member.clone())),
            _ => None,
        }
    }

    /// The module written in kps, and its member, with a plain or dotted name.
    pub fn imported(&self, name: &Expr) -> Option<(Name, Name)> {
        let (bound, attr) = match &name.kind {
            ExprKind::Name(name) => (self.bound(name)?, None),
            ExprKind::Attribute { value, attr } => match &value.kind {
                ExprKind::Name(module) => (self.bound(module)?, Some(&attr.name)),
                _ => return None,
            },
            _ => return None,
        };
        match (&bound.binding, attr) {
            (Binding::Import { module, level: 0, member }, attr) => {
                let member = if attr.is_none() { member.as_ref() } else { attr.filter(|_| member.is_none()) };
                Some((Arc::clone(module), Arc::clone(member?)))
            }
            _ => None,
        }
    }

    /// The value of a name that this scope itself binds.
    pub fn own(&self, name: &str) -> Option<EnvValue> {
        let bound = self.scope.names.get(name).filter(|bound| self.has(bound))?;
        Some(self.value(name, &bound.binding))
    }

    pub fn own_names(&self) -> Vec<Name> {
        let own = self.scope.names.iter().filter(|(_, bound)| self.has(bound));
        let mut own: Vec<Name> = own.map(|(name, _)| Arc::clone(name)).collect();
        own.sort_unstable();
        own
    }

    fn of_body(source: &Source, body: &[Stmt], mut names: Names, around: Around) -> StaticEnv {
        bind_block(&mut names, body);
        let changes = Changes::of(body);
        for (name, bound) in &mut names {
            if let Binding::Struct(_, view) | Binding::Class(_, view) | Binding::Derived(_, view) =
                &mut bound.binding
            {
                *view = StaticView::of(name, &changes);
            }
            if is_changed(name, &bound.binding, &changes) {
                bound.binding = Binding::Value(EnvValue::Unknown);
            }
        }
        let stars = body.iter().filter_map(star).collect();
        let Around { outer, imports, start, reading } = around;
        let (source, n_suggested) = (source.clone(), Cell::default());
        let scope = Rc::new(Scope { source, names, outer, start, reading, imports, stars, n_suggested });
        StaticEnv { scope, until: None }
    }

    /// The scope when control reaches this position. Code in a loop sees all bindings of the loop.
    pub fn until(&self, at: u32) -> StaticEnv {
        StaticEnv { scope: Rc::clone(&self.scope), until: self.until.or(Some(at)) }
    }

    pub fn source(&self) -> &Source {
        &self.scope.source
    }

    /// With the names that it binds last, which functions see that are called later.
    fn whole(&self) -> StaticEnv {
        StaticEnv { scope: Rc::clone(&self.scope), until: None }
    }

    /// A kernel counts as there: to use it in another is a mistake wherever it is defined.
    fn has(&self, bound: &Bound) -> bool {
        let is_kernel = matches!(bound.binding, Binding::Value(EnvValue::Other { .. }));
        is_kernel || self.until.is_none_or(|until| bound.start < until)
    }

    /// Whether an import of this module fails.
    pub fn lacks_module(&self, name: &str) -> bool {
        self.scope.imports.lacks(name)
    }

    fn import(&self, module: &str, level: usize, member: Option<&str>) -> EnvValue {
        let module = self.scope.imports.module(module, level);
        match (module, member) {
            (Some(module), None) => EnvValue::Module(module),
            (Some(module), Some(member)) => module.members.get(member).unwrap_or(EnvValue::Unknown),
            (None, _) => EnvValue::Unknown,
        }
    }

    /// A name from a star import.
    fn of_stars(&self, name: &str) -> Option<EnvValue> {
        if self.scope.stars.is_empty() {
            return None;
        }
        let mut stars = self.scope.stars.iter().rev().filter(|_| !name.starts_with('_'));
        // Modules may star-import each other.
        self.reading(name, |_| {
            stars.find_map(|star| match self.value("*", star) {
                EnvValue::Module(module) => module.members.get(name),
                _ => None,
            })
        })
    }

    fn value(&self, name: &str, binding: &Binding) -> EnvValue {
        match binding {
            Binding::Value(value) => value.clone(),
            Binding::Computed { expr, value } => {
                if let Some(known) = value.get() {
                    return known.clone();
                }
                let computed = self.reading(name, |_| Some(value_of(expr, &self.whole())));
                // In a cycle of names, this one was found to be unknown meanwhile.
                value.get_or_init(|| computed.unwrap_or(EnvValue::Unknown)).clone()
            }
            Binding::Function(def) => EnvValue::Function(HelperFunction {
                def: Arc::clone(def),
                source: self.scope.source.clone(),
                env: Rc::new(self.clone()),
            }),
            // Its methods are looked at when a kernel is launched.
            Binding::Struct(def, view) => self.read_type(name, |source| {
                let env: Rc<dyn KernelEnv> = Rc::new(self.whole());
                let mut of = kps_kernel::read_struct(def, source, &env).ok()?;
                of.constants = classes::constants_of(def, *view, &self.whole());
                Some(TypeExpr::Value(Type::Struct(Rc::new(of))))
            }),
            Binding::Class(def, view) => classes::value_of(def, *view, &self.whole()),
            Binding::Derived(def, view) => self
                .reading(name, |_| enums::value_of(def, *view, &self.whole()))
                .unwrap_or(EnvValue::Unknown),
            Binding::Type(expr) => {
                self.read_type(name, |source| kps_kernel::read_type(expr, source, self).ok())
            }
            Binding::Builtin { module, member, value } => {
                value.get_or_init(|| builtin::value_of(module, member.as_deref())).clone()
            }
            Binding::Import { module, level, member } => {
                let read = |_: &Source| Some(self.import(module, *level, member.as_deref()));
                self.reading(name, read).unwrap_or(EnvValue::Unknown)
            }
        }
    }

    /// A type that the script defines; its errors are reported at its definition.
    fn read_type(&self, name: &str, read: impl FnOnce(&Source) -> Option<TypeExpr>) -> EnvValue {
        self.reading(name, read).map_or(EnvValue::Unknown, EnvValue::from)
    }

    /// Evaluates a name; `None` if that needs the name itself, or too many other names.
    fn reading<T>(&self, name: &str, read: impl FnOnce(&Source) -> Option<T>) -> Option<T> {
        let start = self.scope.start;
        if self.scope.reading.borrow().len() >= MAX_READING {
            return None;
        }
        if self.scope.reading.borrow().iter().any(|(of, reading)| *of == start && &**reading == name) {
            return None;
        }
        self.scope.reading.borrow_mut().push((start, name.into()));
        let value = read(&self.scope.source);
        self.scope.reading.borrow_mut().pop();
        value
    }
}

impl KernelEnv for StaticEnv {
    fn get(&self, name: &str) -> Option<EnvValue> {
        let own = self.own(name).or_else(|| self.of_stars(name));
        own.or_else(|| self.scope.outer.as_ref()?.get(name))
    }

    fn names(&self) -> Vec<Name> {
        let outer = self.scope.outer.iter().flat_map(|outer| outer.names());
        self.own_names().into_iter().chain(outer).collect()
    }

    fn candidates(&self) -> Option<Vec<Name>> {
        let mut names = match &self.scope.outer {
            Some(outer) => outer.candidates()?,
            None => Vec::new(),
        };
        let n_suggested = self.scope.n_suggested.get();
        self.scope.n_suggested.set(n_suggested + 1);
        if n_suggested >= suggest::MOST {
            return None;
        }
        names.splice(..0, self.own_names());
        Some(names)
    }

    fn identity(&self) -> usize {
        Rc::as_ptr(&self.scope) as usize
    }

    fn default_of(&self, _: &str) -> Option<EnvValue> {
        Some(EnvValue::Unknown)
    }

    fn library(&self) -> Option<Name> {
        kernels::library_of(&self.scope.source)
    }
}
