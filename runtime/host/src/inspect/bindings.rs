//! The bindings of a scope: each name with its first place and its value.
//!
//! A block goes in; bindings come out, which are evaluated on demand. A name that is bound under a condition,
//! in a loop or more than once is unknown.

use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::Arc;

use kps_kernel::EnvValue;
use kps_syntax::ast::*;
use kps_syntax::{Part, Span};
use rustc_hash::FxHashMap;

use super::arrays::makes_array;
use super::builtin::{self, is_builtin, of_kernels};
use super::changes::Changes;
use super::classes::StaticView;
use super::declared::is_type;
use super::decoration::{is_kernel, is_struct};
use super::enums;

/// The bindings of one scope.
pub(super) type Names = FxHashMap<Name, Bound>;

pub(super) struct Bound {
    /// The first binding in the scope.
    pub start: u32,
    pub binding: Binding,
}

#[derive(Clone)]
pub(super) enum Binding {
    Value(EnvValue),
    /// The value of an expression, evaluated on demand.
    Computed {
        expr: Rc<Expr>,
        value: OnceCell<EnvValue>,
    },
    /// Stored as its definition: a function sees the scope that it is bound in.
    Function(Arc<FunctionDef>),
    /// `@struct class`.
    Struct(Arc<ClassDef>, StaticView),
    /// Any other that has no base and no decorator.
    Class(Arc<ClassDef>, StaticView),
    /// A class with one base, which is known if it is one of `enum`'s.
    Derived(Arc<ClassDef>, StaticView),
    /// `Struct(..)`, `Array(4, f32)`.
    Type(Rc<Expr>),
    /// A module that is written in Rust, or a member of one, created on demand.
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

/// Binds every name of a block.
pub(super) fn bind_block(names: &mut Names, body: &[Stmt]) {
    for stmt in body {
        bind_stmt(names, stmt);
    }
}

fn bind_stmt(names: &mut Names, stmt: &Stmt) {
    match &stmt.kind {
        StmtKind::Assign { targets, value } => {
            for target in targets {
                bind_target(names, target, value);
            }
        }
        StmtKind::AnnAssign { target, value: Some(value), .. } => bind_target(names, target, value),
        StmtKind::For { target, body, orelse, .. } => {
            bind_unknown_target(names, target);
            // A name bound in a loop may be bound again in the next iteration.
            bind_as_unknown(names, body);
            bind_block(names, orelse);
        }
        StmtKind::While { body, orelse, .. } => {
            bind_as_unknown(names, body);
            bind_block(names, orelse);
        }
        StmtKind::With { items, body, .. } => {
            for target in items.iter().filter_map(|item| item.target.as_ref()) {
                bind_unknown_target(names, target);
            }
            bind_block(names, body);
        }
        StmtKind::Try(try_stmt) => {
            bind_as_unknown(names, &try_stmt.body);
            for handler in &try_stmt.handlers {
                handler.name.iter().for_each(|name| bind_unknown(names, &name.name, name.span));
                bind_as_unknown(names, &handler.body);
            }
            bind_as_unknown(names, &try_stmt.orelse);
            bind_block(names, &try_stmt.finally);
        }
        StmtKind::Import(imports) => imports.iter().for_each(|import| bind_import(names, import)),
        StmtKind::ImportFrom(import) => bind_import_from(names, import),
        StmtKind::Function(def) if def.decorators.is_empty() => {
            bind(names, &def.name.name, def.name.span, Binding::Function(Arc::clone(def)));
        }
        StmtKind::Function(def) if def.decorators.iter().any(is_kernel) => {
            let kernel = EnvValue::Other { type_name: "Kernel".to_owned() };
            bind(names, &def.name.name, def.name.span, Binding::Value(kernel));
        }
        StmtKind::Class(class) if is_struct(class) => {
            bind(
                names,
                &class.name.name,
                class.name.span,
                Binding::Struct(Arc::clone(class), StaticView::Nothing),
            );
        }
        StmtKind::Class(class) if class.decorators.is_empty() && class.arguments.is_empty() => {
            bind(
                names,
                &class.name.name,
                class.name.span,
                Binding::Class(Arc::clone(class), StaticView::Nothing),
            );
        }
        StmtKind::Class(class) if enums::base(class).is_some() => {
            bind(
                names,
                &class.name.name,
                class.name.span,
                Binding::Derived(Arc::clone(class), StaticView::Nothing),
            );
        }
        _ => stmt.each_part(&mut |part| match part {
            Part::Name(name, span) => bind_unknown(names, name, span),
            Part::Block(body) => bind_as_unknown(names, body),
            Part::Expr(_) | Part::Place(_) => {}
        }),
    }
}

/// Binds the names of a block that may not run, or may run often.
fn bind_as_unknown(names: &mut Names, body: &[Stmt]) {
    let mut inner = Names::default();
    bind_block(&mut inner, body);
    for (name, Bound { start, binding }) in inner {
        // A function that is defined once keeps its meaning wherever that is.
        let known = names.get(&name).map(|bound| bound.start);
        let is_function = matches!(binding, Binding::Function(_)) && known.is_none();
        let binding = if is_function { binding } else { Binding::Value(EnvValue::Unknown) };
        names.insert(name, Bound { start: known.unwrap_or(start), binding });
    }
}

fn bind_target(names: &mut Names, target: &Expr, value: &Expr) {
    match (&target.kind, &value.kind) {
        (ExprKind::Name(name), ExprKind::Lambda(lambda)) => {
            let def = Arc::new(lambda.to_function(value.span));
            bind(names, name, target.span, Binding::Function(def));
        }
        (ExprKind::Name(name), _) => {
            let binding = match is_type(value) {
                true => Binding::Type(Rc::new(value.clone())),
                false => Binding::Computed { expr: Rc::new(value.clone()), value: OnceCell::new() },
            };
            bind(names, name, target.span, binding);
        }
        (
            ExprKind::Tuple(targets) | ExprKind::List(targets),
            ExprKind::Tuple(values) | ExprKind::List(values),
        ) if targets.len() == values.len() => {
            for (target, value) in targets.iter().zip(values) {
                bind_target(names, target, value);
            }
        }
        _ => bind_unknown_target(names, target),
    }
}

/// Binds the names of a target whose value is unknown.
fn bind_unknown_target(names: &mut Names, target: &Expr) {
    target.each_target(&mut |part| {
        if let Part::Name(name, span) = part {
            bind_unknown(names, name, span);
        }
    });
}

/// A name that is bound twice has no known value.
fn bind(names: &mut Names, name: &Name, span: Span, binding: Binding) {
    let bound = match names.get(name) {
        Some(Bound { start, .. }) => Bound { start: *start, binding: Binding::Value(EnvValue::Unknown) },
        None => Bound { start: span.start, binding },
    };
    names.insert(Arc::clone(name), bound);
}

fn bind_unknown(names: &mut Names, name: &Name, span: Span) {
    bind(names, name, span, Binding::Value(EnvValue::Unknown));
}

fn bind_import(names: &mut Names, import: &ImportName) {
    let bound = import.bound();
    let path = match import.alias {
        Some(_) => dotted(&import.path),
        None => bound.name.to_string(),
    };
    bind(names, &bound.name, bound.span, module(&path, 0));
}

fn bind_import_from(names: &mut Names, import: &ImportFrom) {
    let from = dotted(&import.path);
    let ImportedNames::Names(imports) = &import.names else { return };
    for import_name in imports {
        let member = &import_name.path[0].name;
        let member_name = Some(Arc::clone(member));
        let binding = match from.as_str() {
            "math" | "pyshader" | "pyshader.stdlib" if import.level == 0 => {
                Binding::Value(of_kernels(member))
            }
            from if import.level == 0 && is_builtin(from) => {
                Binding::Builtin { module: from.into(), member: member_name, value: OnceCell::new() }
            }
            from => {
                Binding::Import { module: from.into(), level: import.level as usize, member: member_name }
            }
        };
        let bound = import_name.bound();
        bind(names, &bound.name, bound.span, binding);
    }
}

/// The module of `from module import *`.
pub(super) fn star(stmt: &Stmt) -> Option<Binding> {
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

/// Whether a binding may differ from the name's value when a kernel is launched.
pub(super) fn is_changed(name: &str, binding: &Binding, changes: &Changes) -> bool {
    let lists = match binding {
        Binding::Computed { expr, .. } => depth_of_lists(expr),
        _ => 0,
    };
    // A slice of an array shares its elements.
    let is_array = matches!(binding, Binding::Computed { expr, .. } if makes_array(expr));
    let is_import = matches!(binding, Binding::Import { .. } | Binding::Builtin { .. });
    changes.rebinds(name)
        || is_import && changes.sets_attributes(name)
        || lists == 1 && changes.touches_list(name)
        || (lists > 1 || is_array) && changes.touches_nested(name)
}

/// The nesting depth of lists and tuples.
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
