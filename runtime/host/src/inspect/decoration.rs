//! Reads a kernel's decorator from the tree, and its errors.

use kps_kernel::{EnvValue, KernelEnv, KernelOptions};
use kps_syntax::ast::*;
use kps_syntax::{Diagnostics, Source, suggest};

use super::names::StaticEnv;
use super::values::value_of;
use crate::modules::kernels::errors;
use crate::modules::kernels::options::{
    Known, NAMES, OF_TUNED, known_local_size, known_precise, known_subgroup_size,
};

/// The options of a kernel.
pub(super) struct Decoration {
    pub options: KernelOptions,
    /// An argument whose value is only known at run time.
    pub unknown: Option<String>,
    pub mistakes: Diagnostics,
}

/// The options of `@kernel`, `@kernel(..)`, `@kp.kernel` or `@python2shader`; `None` for other decorators.
pub(super) fn decoration(decorator: &Expr, source: &Source, env: &StaticEnv) -> Option<Decoration> {
    match &decorator.kind {
        ExprKind::Call { func, args } => {
            let mut decoration = decoration(func, source, env)?;
            let is_kernel = decoration.options == KernelOptions::kernel();
            for argument in args {
                match is_kernel {
                    true => decoration.read(argument, source, env),
                    false => {
                        decoration.mistakes.push(errors::python2shader_option_at(source.at(argument.span)))
                    }
                }
            }
            Some(decoration)
        }
        ExprKind::Attribute { attr, .. } => by_name(&attr.name),
        ExprKind::Name(name) => match env.get(name) {
            // A function in the script shadows the builtin of that name.
            Some(EnvValue::Function(_)) => None,
            // Whatever it was imported as.
            Some(EnvValue::Builtin(name)) => by_name(&name),
            _ => by_name(name),
        },
        _ => None,
    }
}

fn by_name(name: &str) -> Option<Decoration> {
    let options = match name {
        "kernel" => KernelOptions::kernel(),
        "python2shader" => KernelOptions::python2shader(),
        _ => return None,
    };
    Some(Decoration { options, unknown: None, mistakes: Diagnostics::new() })
}

impl Decoration {
    fn read(&mut self, argument: &Argument, source: &Source, env: &StaticEnv) {
        match &argument.kind {
            ArgumentKind::Keyword(name, value) => self.set(name, value, source, env),
            ArgumentKind::Positional(value) => match value_of(value, env) {
                // Whatever it is, it may be called with the function.
                EnvValue::Unknown | EnvValue::Function(_) => {}
                _ => self.mistakes.push(errors::unnamed_option_at(source.at(value.span))),
            },
            ArgumentKind::Spread(_) | ArgumentKind::KeywordSpread(_) => {
                self.unknown = Some(source.slice(argument.span).to_owned());
                self.options.sized_later = true;
            }
        }
    }

    fn set(&mut self, name: &Ident, given: &Expr, source: &Source, env: &StaticEnv) {
        if !NAMES.contains(&&*name.name) {
            let nearest = suggest::nearest(&name.name, NAMES.into_iter());
            let mistake = errors::unknown_option_at(source.at(name.span), &name.name, nearest);
            return self.mistakes.push(mistake);
        }
        if OF_TUNED.contains(&&*name.name) {
            return;
        }
        let value = value_of(given, env);
        let options = &mut self.options;
        let known = match &*name.name {
            "precise" => keep(known_precise(&value), |precise| options.precise = precise),
            _ if matches!(given.kind, ExprKind::None) => return,
            "local_size" => keep(known_local_size(&value), |size| options.local_size = Some(size)),
            _ => keep(known_subgroup_size(&value), |size| options.subgroup_size = Some(size)),
        };
        match known {
            Known::Value(()) => {}
            Known::Later => {
                self.unknown = Some(name.name.to_string());
                self.options.sized_later |= &*name.name == "local_size";
            }
            Known::Wrong => {
                self.mistakes.push(errors::bad_option_at(source.at(given.span), &name.name));
            }
        }
    }
}

fn keep<T>(known: Known<T>, set: impl FnOnce(T)) -> Known<()> {
    match known {
        Known::Value(value) => {
            set(value);
            Known::Value(())
        }
        Known::Later => Known::Later,
        Known::Wrong => Known::Wrong,
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
