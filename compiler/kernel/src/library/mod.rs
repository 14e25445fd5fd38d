//! Functions of ours that are written in the kernel language: `*.kps` beside this file.
//!
//! What GLSL.std.450 lacks for f64, and determinants and inverses of matrices. They are parsed once for
//! a process, when a kernel first wants one; each becomes a function of the module, once for every type
//! it is called with. They are trusted: nothing checks them but the tests.
//!
//! Their bounds are in the table of `intrinsics`. Each chapter names its formulas; `tests/doubles.rs` holds
//! them against the host's.
//!
//! They rely on `+ - * /` and the square root being rounded right, subnormals included; a device that
//! flushes those gives 0 where the result, or a number on the way to it, is one.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::{Arc, OnceLock};

use kps_syntax::Source;
use kps_syntax::ast::{ExprKind, FunctionDef, Name, StmtKind};
use num_traits::ToPrimitive;

use crate::env::{EnvValue, HelperFunction, KernelEnv};

const CHAPTERS: [(&str, &str); 9] = [
    ("double", include_str!("double.kps")),
    ("exp", include_str!("exp.kps")),
    ("log", include_str!("log.kps")),
    ("power", include_str!("power.kps")),
    ("trig", include_str!("trig.kps")),
    ("arc", include_str!("arc.kps")),
    ("hyperbolic", include_str!("hyperbolic.kps")),
    ("matrix", include_str!("matrix.kps")),
    ("coop", include_str!("coop.kps")),
];

/// The function of this name.
pub(crate) fn function(name: &str) -> Option<HelperFunction> {
    match library().get(name)? {
        Item::Function(def, source) => {
            Some(HelperFunction { def: Arc::clone(def), source: source.clone(), env: Rc::new(Library) })
        }
        Item::Int(_) | Item::Float(_) => None,
    }
}

/// Whether this is one of our functions, and not the user's.
pub(crate) fn is_ours(def: &Arc<FunctionDef>) -> bool {
    matches!(library().get(&*def.name.name), Some(Item::Function(ours, _)) if Arc::ptr_eq(ours, def))
}

enum Item {
    Function(Arc<FunctionDef>, Source),
    Int(i128),
    Float(f64),
}

fn library() -> &'static BTreeMap<Name, Item> {
    static LIBRARY: OnceLock<BTreeMap<Name, Item>> = OnceLock::new();
    LIBRARY.get_or_init(|| CHAPTERS.iter().flat_map(|(name, text)| items(name, text)).collect())
}

fn items(name: &str, text: &str) -> Vec<(Name, Item)> {
    let source = Source::new(format!("kps.{name}"), text);
    let (module, mistakes) = kps_syntax::parse(&source);
    assert!(mistakes.is_empty(), "our own functions parse: {mistakes:?}");
    let mut items = Vec::new();
    for stmt in &module.body {
        match &stmt.kind {
            StmtKind::Function(def) => {
                items.push((def.name.name.clone(), Item::Function(Arc::clone(def), source.clone())));
            }
            StmtKind::Assign { targets, value } => {
                let ExprKind::Name(name) = &targets[0].kind else { continue };
                let item = match &value.kind {
                    ExprKind::Float(value) => Item::Float(*value),
                    ExprKind::Int(value) => Item::Int(value.to_i128().expect("our constants are small")),
                    _ => continue,
                };
                items.push((name.clone(), item));
            }
            _ => {}
        }
    }
    items
}

/// What our functions see: each other, and their constants.
struct Library;

impl KernelEnv for Library {
    fn get(&self, name: &str) -> Option<EnvValue> {
        match library().get(name)? {
            Item::Function(..) => function(name).map(EnvValue::Function),
            Item::Int(value) => Some(EnvValue::Int(*value)),
            Item::Float(value) => Some(EnvValue::Float(*value)),
        }
    }

    fn names(&self) -> Vec<Name> {
        library().keys().cloned().collect()
    }

    fn identity(&self) -> usize {
        std::ptr::from_ref(library()) as usize
    }
}
