//! The library: functions that are written in the kernel language, in `*.kps` beside this file.
//!
//! It has the functions of f64 that GLSL.std.450 lacks, error and gamma functions of every float, functions on the
//! bits of floats, int functions of Python's `math`, built-in functions that are loops, determinants and inverses of
//! matrices, and emulated cooperative matrices.
//!
//! A chapter is parsed once in a process, at the first use of one of its functions. A function is compiled once for
//! each type of its arguments. The library is trusted: only the tests check it.
//!
//! Error bounds are in the rows in `builtins`. Each chapter cites its formulas; `tests/doubles.rs` compares them with
//! the host's functions. They need correctly rounded `+ - * /` and square roots, subnormals included. On a device
//! that flushes subnormals, a subnormal result or intermediate number is 0.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::{Arc, OnceLock};

use kps_syntax::Source;
use kps_syntax::ast::{ExprKind, FunctionDef, Name, StmtKind};
use num_traits::ToPrimitive;

use crate::builtins;
use crate::env::{EnvValue, HelperFunction, KernelEnv};

const CHAPTERS: [(&str, &str); 16] = [
    ("double", include_str!("double.kps")),
    ("exp", include_str!("exp.kps")),
    ("log", include_str!("log.kps")),
    ("power", include_str!("power.kps")),
    ("trig", include_str!("trig.kps")),
    ("arc", include_str!("arc.kps")),
    ("hyperbolic", include_str!("hyperbolic.kps")),
    ("error", include_str!("error.kps")),
    ("gamma", include_str!("gamma.kps")),
    ("single", include_str!("single.kps")),
    ("parts", include_str!("parts.kps")),
    ("builtin", include_str!("builtin.kps")),
    ("numbers", include_str!("numbers.kps")),
    ("matrix", include_str!("matrix.kps")),
    ("coop", include_str!("coop.kps")),
    ("tiles", include_str!("tiles.kps")),
];

/// The function of this name.
pub(crate) fn function(name: &str) -> Option<HelperFunction> {
    match item(name)? {
        Item::Function(def, source) => {
            Some(HelperFunction { def: Arc::clone(def), source: source.clone(), env: Rc::new(Library) })
        }
        Item::Int(_) | Item::Float(_) => None,
    }
}

/// Whether a function is of the library, not of a script.
pub(crate) fn is_library_function(def: &Arc<FunctionDef>) -> bool {
    let is_it = |item: &Item| matches!(item, Item::Function(known, _) if Arc::ptr_eq(known, def));
    PARSED.iter().filter_map(OnceLock::get).any(|chapter| chapter.get(&*def.name.name).is_some_and(is_it))
}

/// Functions whose steps are the script's own: overflow or an index out of range in them is a mistake of the script.
const STEPWISE: [&str; 16] = [
    "sum",
    "prod",
    "product_from",
    "sumprod",
    "dist",
    "distance",
    "lcm",
    "common_multiple",
    "factorial",
    "perm",
    "arrangements",
    "comb",
    "coop_load",
    "coop_load_columns",
    "coop_store",
    "coop_store_columns",
];

pub(crate) fn is_stepwise(name: &str) -> bool {
    STEPWISE.contains(&name)
}

enum Item {
    Function(Arc<FunctionDef>, Source),
    Int(i128),
    Float(f64),
}

type Chapter = BTreeMap<Name, Item>;

static PARSED: [OnceLock<Chapter>; CHAPTERS.len()] = [const { OnceLock::new() }; CHAPTERS.len()];

fn item(name: &str) -> Option<&'static Item> {
    let chapter = *contents().get(name)?;
    let parsed = PARSED[chapter].get_or_init(|| {
        let (title, text) = CHAPTERS[chapter];
        items(title, text)
    });
    parsed.get(name)
}

/// Each name that a chapter gives a meaning at its top level, with the chapter's number.
fn contents() -> &'static BTreeMap<&'static str, usize> {
    static CONTENTS: OnceLock<BTreeMap<&str, usize>> = OnceLock::new();
    CONTENTS.get_or_init(|| {
        let names = |text: &'static str| text.lines().filter_map(name_of_line);
        CHAPTERS
            .iter()
            .enumerate()
            .flat_map(|(number, (_, text))| names(text).map(move |name| (name, number)))
            .collect()
    })
}

/// The name in `def name(..)` or `name = ..` at the margin.
fn name_of_line(line: &str) -> Option<&str> {
    let name = match line.strip_prefix("def ") {
        Some(rest) => rest.split_once('(')?.0,
        None => line.split_once(" = ")?.0,
    };
    name.chars().all(|c| c.is_alphanumeric() || c == '_').then_some(name)
}

fn items(name: &str, text: &str) -> Chapter {
    let source = Source::new(format!("kps.{name}"), text);
    let (module, mistakes) = kps_syntax::parse(&source);
    assert!(mistakes.is_empty(), "our own functions parse: {mistakes:?}");
    let mut items = Chapter::new();
    for stmt in &module.body {
        match &stmt.kind {
            StmtKind::Function(def) => {
                items.insert(def.name.name.clone(), Item::Function(Arc::clone(def), source.clone()));
            }
            StmtKind::Assign { targets, value } => {
                let ExprKind::Name(name) = &targets[0].kind else { continue };
                let item = match &value.kind {
                    ExprKind::Float(value) => Item::Float(*value),
                    ExprKind::Int(value) => Item::Int(value.to_i128().expect("our constants are small")),
                    _ => continue,
                };
                items.insert(name.clone(), item);
            }
            _ => {}
        }
    }
    items
}

/// The environment of library functions: each other, and their constants.
struct Library;

impl KernelEnv for Library {
    fn get(&self, name: &str) -> Option<EnvValue> {
        if let Some(instruction) = builtins::coop_instruction(name) {
            return Some(EnvValue::Builtin(instruction.into()));
        }
        match item(name)? {
            Item::Function(..) => function(name).map(EnvValue::Function),
            Item::Int(value) => Some(EnvValue::Int(*value)),
            Item::Float(value) => Some(EnvValue::Float(*value)),
        }
    }

    fn names(&self) -> Vec<Name> {
        contents().keys().map(|name| Name::from(*name)).collect()
    }

    fn identity(&self) -> usize {
        std::ptr::from_ref(&PARSED) as usize
    }
}
