//! The names that every kernel knows without an import: types, inputs, functions, constants.
//!
//! A function is one row of a chapter here. Everything else reads the rows: lookup, checks of arguments, inference,
//! messages, completion, help, the reference pages and the conformance test. A name that the script defines hides
//! the one here.

mod atomics;
mod bits;
mod constants;
mod fold;
mod geometry;
mod help;
mod library;
mod math;
mod matrices;
mod members;
mod places;
mod python;
mod row;
mod section;
mod subgroups;
mod textures;
mod types;
mod typing;
mod workgroups;

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

pub(crate) use self::fold::fold_function;
pub use self::help::help;
pub(crate) use self::library::coop_instruction;
pub use self::places::PlaceName;
pub(crate) use self::row::{Effect, Kind, Lists, Stages, any, count_in_words, line, takes};
pub use self::row::{Function, Gives, Known, Param, Row};
pub use self::section::Constant;
pub use self::section::{Name, Rows, Section, Setup};
pub(crate) use self::typing::{
    BitsFn, CoopInstruction, LibraryRule, NumberRule, TreeRule, Typing, ValueRule,
};
use crate::types::Type;

/// The meaning of a built-in name.
#[derive(Clone, Debug, PartialEq)]
pub enum Builtin {
    Type(Type),
    /// `Vector`, which takes a size and a scalar.
    VectorType,
    /// `Struct`, which takes its members.
    StructType,
    /// `Matrix`, which takes columns, rows and a scalar.
    MatrixType,
    Place(PlaceName),
    Function(Function),
    /// `math.pi` and the like.
    Constant(f64),
    /// A module whose members are functions and constants of this table.
    Module,
}

/// The reference page, in its order.
pub static SECTIONS: [&Section; 14] = [
    &places::SECTION,
    &types::SECTION,
    &python::SECTION,
    &math::ARITHMETIC,
    &math::POWERS,
    &geometry::SECTION,
    &bits::SECTION,
    &workgroups::SECTION,
    &atomics::SECTION,
    &subgroups::SECTION,
    &matrices::SECTION,
    &textures::SECTION,
    &constants::SECTION,
    &members::SECTION,
];

/// All functions that scripts know, in the order of the page.
pub fn functions() -> impl Iterator<Item = Function> {
    rows().map(Function::of)
}

fn rows() -> impl Iterator<Item = &'static Row> {
    SECTIONS.iter().flat_map(|section| match section.rows {
        Rows::Functions(rows) => rows,
        Rows::Names(_) | Rows::Constants(_) => &[],
    })
}

static BY_NAME: LazyLock<FxHashMap<&'static str, Function>> = LazyLock::new(|| {
    let all = rows().chain(library::ROWS);
    all.flat_map(|row| row.names.iter().map(move |name| (*name, Function::of(row)))).collect()
});

/// The function of this name, whether it is known bare or as a member.
fn function(name: &str) -> Option<Function> {
    BY_NAME.get(name).copied()
}

/// A bare name.
pub fn lookup(name: &str) -> Option<Builtin> {
    if let Some(place) = places::named(name) {
        return Some(Builtin::Place(place));
    }
    if let Some(ty) = Type::by_name(name) {
        return Some(Builtin::Type(ty));
    }
    match name {
        "Vector" => return Some(Builtin::VectorType),
        "Struct" => return Some(Builtin::StructType),
        "Matrix" => return Some(Builtin::MatrixType),
        "math" | "stdlib" => return Some(Builtin::Module),
        _ => {}
    }
    if let Some(constant) = constants::named(name).filter(|constant| constant.known == Known::Everywhere) {
        return Some(Builtin::Constant(constant.value));
    }
    function(name).filter(|function| is_bare(function)).map(Builtin::Function)
}

fn is_bare(row: &Row) -> bool {
    matches!(row.known, Known::Everywhere | Known::Bare)
}

/// A member of `math`, `stdlib` or `pyshader`, or a function that only the library calls.
pub fn member(name: &str) -> Option<Builtin> {
    if let Some(constant) = constants::named(name) {
        return Some(Builtin::Constant(constant.value));
    }
    function(name).map(Builtin::Function).or_else(|| lookup(name))
}

/// The method of arrays that gives a view of their memory.
pub const VIEW: &str = "view";

/// Whether a module's members are built in, not those of an environment.
pub fn is_kernel_module(name: &str) -> bool {
    matches!(name, "math" | "stdlib" | "pyshader" | "pyshader.stdlib")
}

/// All constants.
pub fn constants() -> &'static [Constant] {
    constants::CONSTANTS
}

/// Every bare name, for "did you mean" and for completion.
pub fn names() -> impl Iterator<Item = &'static str> {
    let functions = rows().filter(|row| is_bare(row)).flat_map(|row| row.names.iter().copied());
    let constants = constants::CONSTANTS.iter().filter(|constant| constant.known == Known::Everywhere);
    types::names()
        .chain(places::names())
        .chain(["math", "stdlib"])
        .chain(functions)
        .chain(constants.map(|constant| constant.name))
}

/// Members of `math` and `stdlib`, for "did you mean" and for completion.
pub fn member_names() -> impl Iterator<Item = &'static str> {
    let functions = rows().filter(|row| row.known != Known::Bare);
    functions
        .flat_map(|row| row.names.iter().copied())
        .chain(constants::CONSTANTS.iter().map(|constant| constant.name))
}

/// The members of `stdlib` for scripts: functions that only kernels have, and constants with their values.
pub fn stdlib() -> impl Iterator<Item = (&'static str, Option<f64>)> {
    let functions = rows().filter(|row| matches!(row.known, Known::Everywhere | Known::Member));
    functions
        .flat_map(|row| row.names.iter().map(|name| (*name, None)))
        .chain(constants::CONSTANTS.iter().map(|constant| (constant.name, Some(constant.value))))
}

/// What to write instead of a name of another language.
pub(crate) fn instead(name: &str) -> Option<String> {
    static FOREIGN: LazyLock<FxHashMap<&str, (Function, &str)>> = LazyLock::new(|| {
        let all = rows().flat_map(|row| row.external.iter().map(move |external| (row, external)));
        all.flat_map(|(row, (names, text))| names.iter().map(move |name| (*name, (Function::of(row), *text))))
            .collect()
    });
    if let Some((function, text)) = FOREIGN.get(name) {
        return Some(match *text {
            "" => format!("write `{}`", function.line()),
            text => text.to_owned(),
        });
    }
    let member = function(name).filter(|function| matches!(function.known, Known::Member | Known::Math))?;
    Some(format!("write it with its module, `{}`", member.line()))
}

#[cfg(test)]
mod tests;
