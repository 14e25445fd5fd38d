//! The names that a script binds, as far as they can be told without running it.
//!
//! [`StaticEnv`] is what a kernel sees of a script that was only read: constants that are written out,
//! functions, imports. Whatever depends on running is [`EnvValue::Unknown`], and mistakes that would
//! hang on it are left for the run.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use kps_kernel::{EnvValue, HelperFunction, KernelEnv, Type, TypeExpr};
use kps_syntax::Source;
use kps_syntax::ast::*;

use super::builtin::{self, is_builtin, of_kernels};
use super::changes::Changes;
use super::declared::is_type;
use super::imports::Imports;
use super::values::value_of;
use crate::modules::kernels;

/// What one scope of a script binds, above what the scopes around it bind. Cheap to clone.
#[derive(Clone)]
pub struct StaticEnv {
    scope: Rc<Scope>,
    /// Names that the scope binds for the first time behind this are not there yet; `None` where it has all.
    until: Option<u32>,
}

type Names = BTreeMap<Name, Bound>;

struct Bound {
    /// Where the scope binds it first.
    start: u32,
    binding: Binding,
}

struct Scope {
    source: Source,
    names: Names,
    outer: Option<StaticEnv>,
    /// The types and imports being read: a type that names itself has no size.
    reading: RefCell<Vec<Name>>,
    imports: Imports,
    /// What `from module import *` was written of.
    stars: Vec<Binding>,
}

#[derive(Clone)]
enum Binding {
    Value(EnvValue),
    /// What an expression gives: told when somebody asks for it.
    Computed {
        expr: Rc<Expr>,
        value: OnceCell<EnvValue>,
    },
    /// Kept as its definition: a function sees the scope that it is bound in.
    Function(Arc<FunctionDef>),
    /// `@struct class`.
    Struct(Arc<ClassDef>),
    /// `Struct(..)`, `Array(4, f32)`.
    Type(Rc<Expr>),
    /// A module that is written in Rust, or a member of one: made when somebody asks for it.
    Builtin {
        module: Name,
        member: Option<Name>,
        value: OnceCell<EnvValue>,
    },
    /// A module that is written in kps, or a member of one, by the dots before its name.
    Import {
        module: Name,
        level: usize,
        member: Option<Name>,
    },
}

impl StaticEnv {
    /// What the statements of a script bind.
    pub fn of_script(module: &Module) -> StaticEnv {
        StaticEnv::of_module(module, Imports::of_script(&module.source))
    }

    /// The same of a module whose own imports lead elsewhere.
    pub fn of_module(module: &Module, imports: Imports) -> StaticEnv {
        StaticEnv::of_body(&module.source, &module.body, BTreeMap::new(), (None, imports))
    }

    /// What a function of this scope binds in its body, whatever it is called with.
    pub fn of_function(&self, def: &FunctionDef) -> StaticEnv {
        self.of_call(def, &[])
    }

    /// The same for a call that gives some of the parameters values.
    pub fn of_call(&self, def: &FunctionDef, given: &[(Name, EnvValue)]) -> StaticEnv {
        let params = def.params.iter().map(|param| Arc::clone(&param.name.name));
        let value_of =
            |param: &Name| given.iter().find(|(name, _)| name == param).map(|(_, value)| value.clone());
        let bound = |param: Name| {
            let value = value_of(&param).unwrap_or(EnvValue::Unknown);
            (param, Bound { start: 0, binding: Binding::Value(value) })
        };
        let around = (Some(self.whole()), self.scope.imports.clone());
        StaticEnv::of_body(&self.scope.source, &def.body, params.map(bound).collect(), around)
    }

    /// The function of the script that a name stands for, with the scope around it.
    pub fn function(&self, name: &str) -> Option<(Arc<FunctionDef>, StaticEnv)> {
        match self.scope.names.get(name).map(|bound| &bound.binding) {
            Some(Binding::Function(def)) => Some((Arc::clone(def), self.clone())),
            Some(_) => None,
            None => self.scope.outer.as_ref()?.function(name),
        }
    }

    fn of_body(
        source: &Source,
        body: &[Stmt],
        mut names: Names,
        (outer, imports): (Option<StaticEnv>, Imports),
    ) -> StaticEnv {
        bind_block(&mut names, body);
        let changes = Changes::of(body);
        for (name, bound) in &mut names {
            if is_changed(name, &bound.binding, &changes) {
                bound.binding = Binding::Value(EnvValue::Unknown);
            }
        }
        let stars = body.iter().filter_map(star).collect();
        let (source, reading) = (source.clone(), RefCell::default());
        let scope = Rc::new(Scope { source, names, outer, reading, imports, stars });
        StaticEnv { scope, until: None }
    }

    /// As it is when control gets to this place; what is in a loop sees what all of the loop binds.
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

    /// A name that came with all of a module's.
    fn of_stars(&self, name: &str) -> Option<EnvValue> {
        let mut stars = self.scope.stars.iter().rev().filter(|_| !name.starts_with('_'));
        // Modules may take all names of each other.
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
                // Where names lead round to each other, this one was found to be unknown meanwhile.
                value.get_or_init(|| computed.unwrap_or(EnvValue::Unknown)).clone()
            }
            Binding::Function(def) => EnvValue::Function(HelperFunction {
                def: Arc::clone(def),
                source: self.scope.source.clone(),
                env: Rc::new(self.clone()),
            }),
            // Its methods are looked at when a kernel is launched.
            Binding::Struct(def) => self.read_type(name, |source| {
                let env: Rc<dyn KernelEnv> = Rc::new(self.whole());
                let of = kps_kernel::read_struct(def, source, &env).ok()?;
                Some(TypeExpr::Value(Type::Struct(Rc::new(of))))
            }),
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

    /// A type that the script defines; what is wrong with it is told where it is defined.
    fn read_type(&self, name: &str, read: impl FnOnce(&Source) -> Option<TypeExpr>) -> EnvValue {
        self.reading(name, read).map_or(EnvValue::Unknown, EnvValue::from)
    }

    /// What is read for a name; `None` where that asks for the name itself.
    fn reading<T>(&self, name: &str, read: impl FnOnce(&Source) -> Option<T>) -> Option<T> {
        if self.scope.reading.borrow().iter().any(|reading| &**reading == name) {
            return None;
        }
        self.scope.reading.borrow_mut().push(name.into());
        let value = read(&self.scope.source);
        self.scope.reading.borrow_mut().pop();
        value
    }
}

impl KernelEnv for StaticEnv {
    fn get(&self, name: &str) -> Option<EnvValue> {
        if let Some(bound) = self.scope.names.get(name).filter(|bound| self.has(bound)) {
            return Some(self.value(name, &bound.binding));
        }
        self.of_stars(name).or_else(|| self.scope.outer.as_ref()?.get(name))
    }

    fn names(&self) -> Vec<Name> {
        let outer = self.scope.outer.iter().flat_map(|outer| outer.names());
        let own = self.scope.names.iter().filter(|(_, bound)| self.has(bound));
        own.map(|(name, _)| Arc::clone(name)).chain(outer).collect()
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

/// Whether a binding may not be what its name stands for when a kernel is launched.
fn is_changed(name: &str, binding: &Binding, changes: &Changes) -> bool {
    let lists = match binding {
        Binding::Computed { expr, .. } => depth_of_lists(expr),
        _ => 0,
    };
    let is_import = matches!(binding, Binding::Import { .. } | Binding::Builtin { .. });
    changes.rebinds(name)
        || is_import && changes.sets_attributes(name)
        || lists == 1 && changes.touches_list(name)
        || lists > 1 && changes.touches_nested(name)
}

/// How many lists lie in one another, tuples counted as well.
fn depth_of_lists(expr: &Expr) -> usize {
    match &expr.kind {
        ExprKind::List(items) => 1 + items.iter().map(depth_of_lists).max().unwrap_or(0),
        ExprKind::Tuple(items) => match items.iter().map(depth_of_lists).max().unwrap_or(0) {
            0 => 0,
            depth => 1 + depth,
        },
        _ => 0,
    }
}

/// Binds every name of a block; a name that is bound twice has no value that could be told.
fn bind_block(names: &mut Names, body: &[Stmt]) {
    for stmt in body {
        bind_stmt(names, stmt);
    }
}

fn bind(names: &mut Names, name: &Ident, binding: Binding) {
    let bound = match names.get(&name.name) {
        Some(Bound { start, .. }) => Bound { start: *start, binding: Binding::Value(EnvValue::Unknown) },
        None => Bound { start: name.span.start, binding },
    };
    names.insert(Arc::clone(&name.name), bound);
}

fn bind_unknown(names: &mut Names, name: &Ident) {
    bind(names, name, Binding::Value(EnvValue::Unknown));
}

fn bind_stmt(names: &mut Names, stmt: &Stmt) {
    match &stmt.kind {
        StmtKind::Assign { targets, value } => {
            for target in targets {
                bind_target(names, target, Some(value));
            }
        }
        StmtKind::AnnAssign { target, value, .. } => bind_target(names, target, value.as_ref()),
        StmtKind::AugAssign { target, .. } => bind_target(names, target, None),
        StmtKind::For { target, body, orelse, .. } => {
            bind_target(names, target, None);
            // What a loop binds may be bound again in its next round.
            bind_as_unknown(names, body);
            bind_block(names, orelse);
        }
        StmtKind::While { body, orelse, .. } => {
            bind_as_unknown(names, body);
            bind_block(names, orelse);
        }
        StmtKind::If { branches, orelse } => {
            for branch in branches {
                bind_as_unknown(names, &branch.body);
            }
            bind_as_unknown(names, orelse);
        }
        StmtKind::With { items, body, .. } => {
            for target in items.iter().filter_map(|item| item.target.as_ref()) {
                bind_target(names, target, None);
            }
            bind_block(names, body);
        }
        StmtKind::Try(try_stmt) => {
            bind_as_unknown(names, &try_stmt.body);
            for handler in &try_stmt.handlers {
                handler.name.iter().for_each(|name| bind_unknown(names, name));
                bind_as_unknown(names, &handler.body);
            }
            bind_as_unknown(names, &try_stmt.orelse);
            bind_block(names, &try_stmt.finally);
        }
        StmtKind::Match { cases, .. } => {
            for case in cases {
                bind_pattern(names, &case.pattern);
                bind_as_unknown(names, &case.body);
            }
        }
        StmtKind::Import(imports) => imports.iter().for_each(|import| bind_import(names, import)),
        StmtKind::ImportFrom(import) => bind_import_from(names, import),
        StmtKind::Function(def) if def.decorators.is_empty() => {
            bind(names, &def.name, Binding::Function(Arc::clone(def)));
        }
        StmtKind::Function(def) if def.decorators.iter().any(is_kernel) => {
            let kernel = EnvValue::Other { type_name: "Kernel".to_owned() };
            bind(names, &def.name, Binding::Value(kernel));
        }
        StmtKind::Function(def) => bind_unknown(names, &def.name),
        StmtKind::Class(class) if is_struct(class) => {
            bind(names, &class.name, Binding::Struct(Arc::clone(class)));
        }
        StmtKind::Class(class) if class.decorators.is_empty() && class.arguments.is_empty() => {
            bind(names, &class.name, Binding::Value(builtin::class_of_script(&class.name.name)));
        }
        StmtKind::Class(class) => bind_unknown(names, &class.name),
        StmtKind::TypeAlias { name, .. } => bind_unknown(names, name),
        StmtKind::Global(idents) | StmtKind::Nonlocal(idents) => {
            idents.iter().for_each(|ident| bind_unknown(names, ident));
        }
        StmtKind::Expr(_)
        | StmtKind::Delete(_)
        | StmtKind::Return(_)
        | StmtKind::Raise { .. }
        | StmtKind::Pass
        | StmtKind::Break
        | StmtKind::Continue
        | StmtKind::Assert { .. }
        | StmtKind::Error => {}
    }
}

/// Binds the names of a block that may not run, or may run often.
fn bind_as_unknown(names: &mut Names, body: &[Stmt]) {
    let mut inner = BTreeMap::new();
    bind_block(&mut inner, body);
    for (name, Bound { start, binding }) in inner {
        // A function that is defined once keeps its meaning wherever that is.
        let known = names.get(&name).map(|bound| bound.start);
        let is_function = matches!(binding, Binding::Function(_)) && known.is_none();
        let binding = if is_function { binding } else { Binding::Value(EnvValue::Unknown) };
        names.insert(name, Bound { start: known.unwrap_or(start), binding });
    }
}

fn bind_target(names: &mut Names, target: &Expr, value: Option<&Expr>) {
    match (&target.kind, value.map(|value| &value.kind)) {
        (ExprKind::Name(name), Some(ExprKind::Lambda(lambda))) => {
            let def = Arc::new(lambda.to_function(value.map_or(target.span, |value| value.span)));
            bind(names, &Ident { name: Arc::clone(name), span: target.span }, Binding::Function(def));
        }
        (ExprKind::Name(name), _) => {
            let binding = match value {
                Some(value) if is_type(value) => Binding::Type(Rc::new(value.clone())),
                Some(value) => Binding::Computed { expr: Rc::new(value.clone()), value: OnceCell::new() },
                None => Binding::Value(EnvValue::Unknown),
            };
            bind(names, &Ident { name: Arc::clone(name), span: target.span }, binding);
        }
        (
            ExprKind::Tuple(targets) | ExprKind::List(targets),
            Some(ExprKind::Tuple(values) | ExprKind::List(values)),
        ) if targets.len() == values.len() => {
            for (target, value) in targets.iter().zip(values) {
                bind_target(names, target, Some(value));
            }
        }
        (ExprKind::Tuple(targets) | ExprKind::List(targets), _) => {
            targets.iter().for_each(|target| bind_target(names, target, None));
        }
        (ExprKind::Starred(target), _) => bind_target(names, target, None),
        _ => {}
    }
}

/// `@struct class`, `@kp.struct class`.
pub(super) fn is_struct(class: &ClassDef) -> bool {
    class.decorators.iter().any(|decorator| called(decorator) == Some("struct"))
}

/// `@kernel`, `@kp.kernel(local_size=64)`.
pub(super) fn is_kernel(decorator: &Expr) -> bool {
    let decorator = match &decorator.kind {
        ExprKind::Call { func, .. } => func,
        _ => decorator,
    };
    matches!(called(decorator), Some("kernel" | "python2shader"))
}

/// The last part of a name.
pub(super) fn called(expr: &Expr) -> Option<&str> {
    match &expr.kind {
        ExprKind::Name(name) => Some(name),
        ExprKind::Attribute { attr, .. } => Some(&attr.name),
        _ => None,
    }
}

fn bind_pattern(names: &mut Names, pattern: &Pattern) {
    match &pattern.kind {
        PatternKind::Capture(name) | PatternKind::Star(Some(name)) => bind_unknown(names, name),
        PatternKind::As { pattern, name } => {
            bind_pattern(names, pattern);
            bind_unknown(names, name);
        }
        PatternKind::Sequence(patterns) | PatternKind::Or(patterns) => {
            patterns.iter().for_each(|pattern| bind_pattern(names, pattern));
        }
        PatternKind::Mapping { items, rest } => {
            items.iter().for_each(|(_, pattern)| bind_pattern(names, pattern));
            rest.iter().for_each(|name| bind_unknown(names, name));
        }
        PatternKind::Class { positional, keywords, .. } => {
            positional.iter().for_each(|pattern| bind_pattern(names, pattern));
            keywords.iter().for_each(|(_, pattern)| bind_pattern(names, pattern));
        }
        PatternKind::Wildcard
        | PatternKind::Value(_)
        | PatternKind::Singleton(_)
        | PatternKind::Star(None)
        | PatternKind::Error => {}
    }
}

fn bind_import(names: &mut Names, import: &ImportName) {
    let Some(first) = import.path.first() else { return };
    let bound = import.alias.as_ref().unwrap_or(first);
    let path = match import.alias {
        Some(_) => dotted(&import.path),
        None => first.name.to_string(),
    };
    bind(names, bound, module(&path, 0));
}

fn bind_import_from(names: &mut Names, import: &ImportFrom) {
    let from = dotted(&import.path);
    let ImportedNames::Names(imports) = &import.names else { return };
    for import_name in imports {
        let Some(member) = import_name.path.first() else { continue };
        let member_name = Some(Arc::clone(&member.name));
        let binding = match from.as_str() {
            "math" | "pyshader" | "pyshader.stdlib" if import.level == 0 => {
                Binding::Value(of_kernels(&member.name))
            }
            from if import.level == 0 && is_builtin(from) => {
                Binding::Builtin { module: from.into(), member: member_name, value: OnceCell::new() }
            }
            from => {
                Binding::Import { module: from.into(), level: import.level as usize, member: member_name }
            }
        };
        bind(names, import_name.alias.as_ref().unwrap_or(member), binding);
    }
}

/// The module of `from module import *`.
fn star(stmt: &Stmt) -> Option<Binding> {
    match &stmt.kind {
        StmtKind::ImportFrom(import) if matches!(import.names, ImportedNames::Star(_)) => {
            Some(module(&dotted(&import.path), import.level as usize))
        }
        _ => None,
    }
}

fn module(path: &str, level: usize) -> Binding {
    match path {
        "math" | "pyshader" | "pyshader.stdlib" if level == 0 => {
            Binding::Value(builtin::module_of_kernels(path))
        }
        path if level == 0 && is_builtin(path) => {
            Binding::Builtin { module: path.into(), member: None, value: OnceCell::new() }
        }
        path => Binding::Import { module: path.into(), level, member: None },
    }
}

fn dotted(path: &[Ident]) -> String {
    path.iter().map(|part| &*part.name).collect::<Vec<_>>().join(".")
}
