//! The attributes of a script's classes, as far as its text determines them.
//!
//! A class definition goes in. Out come the names that its body binds, with their values if no code sets them
//! from outside. Attributes of instances are not covered.

use std::rc::Rc;

use kps_kernel::{ClassConstants, EnvModule, EnvValue, HelperFunction, Holder, KernelEnv};
use kps_syntax::ast::*;

use super::changes::Changes;
use super::names::StaticEnv;

/// How much of a class is statically known.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum StaticView {
    /// Every name and its value.
    All,
    /// All but the items of its lists, which may have changed.
    NoLists,
    /// That it has names.
    Nothing,
}

impl StaticView {
    /// By how a script uses a class with this name.
    pub fn of(name: &str, changes: &Changes) -> StaticView {
        match () {
            () if changes.sets_attributes(name) || changes.passes(name) => StaticView::Nothing,
            () if changes.touches_list(name) => StaticView::NoLists,
            () => StaticView::All,
        }
    }
}

/// A class as kernels see it.
pub(super) fn value_of(def: &ClassDef, view: StaticView, around: &StaticEnv) -> EnvValue {
    let members = Rc::new(class_env(def, view, around));
    EnvValue::Module(EnvModule { name: def.name.name.clone(), kind: Holder::Class, members })
}

/// The attributes of a struct's class besides its members.
pub(super) fn constants_of(def: &ClassDef, view: StaticView, around: &StaticEnv) -> ClassConstants {
    ClassConstants::of_class(Rc::new(ClassEnv { is_struct: true, ..class_env(def, view, around) }))
}

fn class_env(def: &ClassDef, view: StaticView, around: &StaticEnv) -> ClassEnv {
    ClassEnv { body: around.of_class(def), around: around.clone(), view, is_struct: false }
}

struct ClassEnv {
    body: StaticEnv,
    around: StaticEnv,
    view: StaticView,
    is_struct: bool,
}

impl KernelEnv for ClassEnv {
    fn get(&self, name: &str) -> Option<EnvValue> {
        let value = self.body.own(name);
        match (value, self.view) {
            // Code outside may have added it.
            (None, StaticView::Nothing) if !self.is_struct => Some(EnvValue::Unknown),
            // Such as `__name__`.
            (None, _) if name.starts_with("__") && !self.is_struct => Some(EnvValue::Unknown),
            (None, _) => None,
            (Some(_), StaticView::Nothing) => Some(EnvValue::Unknown),
            (Some(value), StaticView::NoLists) if has_list(&value) => Some(EnvValue::Unknown),
            // A method sees the scope around the class, not the class body.
            (Some(EnvValue::Function(function)), _) => {
                Some(EnvValue::Function(HelperFunction { env: Rc::new(self.around.clone()), ..function }))
            }
            (value, _) => value,
        }
    }

    fn names(&self) -> Vec<Name> {
        self.body.own_names()
    }

    fn identity(&self) -> usize {
        self.body.identity()
    }
}

fn has_list(value: &EnvValue) -> bool {
    match value {
        EnvValue::List(_) | EnvValue::Numbers(..) | EnvValue::Module(_) => true,
        EnvValue::Tuple(items) | EnvValue::Named(_, items) => items.iter().any(has_list),
        _ => false,
    }
}
