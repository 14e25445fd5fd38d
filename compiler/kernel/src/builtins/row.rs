//! A row of the table of kernel functions.
//!
//! Everything that the compiler, the prompt and the reference pages know of a function comes from its row. `tests.rs`
//! checks the rules that the types do not express.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;

use super::typing::{Typing, ValueRule};
use crate::constant::Literal;
use crate::intrinsics::rows::Intrinsic;

/// A built-in function of kernels.
pub struct Row {
    /// The first one is canonical.
    pub names: &'static [&'static str],
    pub known: Known,
    pub params: &'static [Param],
    pub result: Gives,
    /// The rule by which inference types a call.
    pub(crate) typing: Typing,
    /// The result for literals, which stays weakly typed.
    pub(crate) fold: Fold,
    /// The special method of a struct that implements the function: `__len__`.
    pub(crate) method: Option<&'static str>,
    pub(crate) lists: Lists,
    pub(crate) effect: Effect,
    pub(crate) stages: Stages,
    /// Calls over the floats `x`, `y` and `z`, each with its error bounds. The conformance test runs them.
    pub floats: &'static [Intrinsic],
    /// Exact calls: over the ints `x`, `y` and `z`, or with a bool as the result. The conformance test runs them.
    pub exact: &'static [&'static str],
    /// Names in other languages, each with a sentence that says what to write; an empty one means this function.
    pub(crate) external: &'static [(&'static [&'static str], &'static str)],
    /// One sentence in Markdown.
    pub doc: &'static str,
    /// An expression or a statement that runs in the kernel of the section.
    pub example: &'static str,
}

/// The values that most rows have.
pub(super) const FUNCTION: Row = Row {
    names: &[],
    known: Known::Everywhere,
    params: &[],
    result: Gives::Same,
    typing: Typing::Value(ValueRule::Missing),
    fold: Fold::Never,
    method: None,
    lists: Lists::Other,
    effect: Effect::None,
    stages: Stages::All,
    floats: &[],
    exact: &[],
    external: &[],
    doc: "",
    example: "",
};

/// The scope of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// By itself, and as a member of `math` and of `stdlib`.
    Everywhere,
    /// By itself. Scripts that import `stdlib` do not get it.
    Bare,
    /// As a member of `math` and of `stdlib`: scripts often use the bare name themselves.
    Member,
    /// The same, but scripts get it from their own `math`.
    Math,
    /// In the library alone.
    Library,
}

/// The result of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gives {
    /// The type of the arguments.
    Same,
    /// The scalar of the arguments.
    Scalar,
    /// A bool.
    Bool,
    /// A bool for each component.
    Bools,
    /// An `i32`.
    Int,
    /// An `i32` for each component.
    Ints,
    /// A call is a statement.
    Nothing,
    /// In words.
    Other(&'static str),
}

/// The use of a list argument, for the analysis of lists that are only read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lists {
    /// The result has no part of the list.
    Consumes,
    /// The result has the elements of the list.
    Walks,
    /// The elements are computed from bounds.
    Counts,
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// The call only computes: it may be repeated, or left out.
    None,
    /// It writes, has a barrier, or depends on other invocations.
    Group,
}

/// The stages that have a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stages {
    All,
    Compute,
    Fragment,
}

/// One parameter of a function.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    pub name: &'static str,
    /// The placeholder in messages; without one they show the names of the required parameters.
    sample: Option<&'static str>,
    pub(crate) kind: Kind,
    need: Need,
    /// It is also passed by its name.
    pub(crate) is_named: bool,
    /// The call changes its argument.
    pub(crate) is_changed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Need {
    Required,
    Optional,
    /// Any number of arguments.
    Rest,
    /// Passed by its name alone. Only the last parameter may be so, but for functions of the library.
    Keyword,
}

/// The kind of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Inference judges it.
    Any,
    /// A number, or a vector of numbers.
    Number,
    /// An int, or a vector of ints.
    Int,
    Matrix,
    Texture,
    /// One number.
    OneNumber,
    /// One int.
    WholeNumber,
    /// One float; an int becomes one.
    Float,
    /// A list, a tuple, a vector or an array of numbers.
    Items,
}

impl Kind {
    pub fn words(self) -> &'static str {
        match self {
            Kind::Any => "values",
            Kind::Number | Kind::OneNumber => "numbers",
            Kind::Int => "ints",
            Kind::WholeNumber => "whole numbers",
            Kind::Float => "a float",
            Kind::Matrix => "a matrix",
            Kind::Texture => "a texture",
            Kind::Items => "lists, tuples or arrays",
        }
    }
}

const fn param(name: &'static str, kind: Kind) -> Param {
    Param { name, sample: None, kind, need: Need::Required, is_named: false, is_changed: false }
}

pub(crate) const fn any(name: &'static str) -> Param {
    param(name, Kind::Any)
}

pub(super) const fn number(name: &'static str) -> Param {
    param(name, Kind::Number)
}

pub(super) const fn int(name: &'static str) -> Param {
    param(name, Kind::Int)
}

pub(super) const fn matrix(name: &'static str) -> Param {
    param(name, Kind::Matrix)
}

pub(super) const fn texture(name: &'static str) -> Param {
    param(name, Kind::Texture)
}

pub(super) const fn one_number(name: &'static str) -> Param {
    param(name, Kind::OneNumber)
}

pub(super) const fn whole_number(name: &'static str) -> Param {
    param(name, Kind::WholeNumber)
}

pub(super) const fn float(name: &'static str) -> Param {
    param(name, Kind::Float)
}

pub(super) const fn items(name: &'static str) -> Param {
    param(name, Kind::Items)
}

/// Any number of further arguments of a kind.
pub(super) const fn rest(kind: Kind) -> Param {
    Param { need: Need::Rest, ..param("..", kind) }
}

impl Param {
    pub(super) const fn optional(self) -> Param {
        Param { need: Need::Optional, ..self }
    }

    pub(super) const fn sample(self, sample: &'static str) -> Param {
        Param { sample: Some(sample), ..self }
    }

    pub(super) const fn named(self) -> Param {
        Param { is_named: true, ..self }
    }

    pub(super) const fn keyword(self) -> Param {
        Param { need: Need::Keyword, ..self }
    }

    /// Its place among the others: parameters are in the order of these.
    #[cfg(test)]
    pub(super) fn rank(&self) -> u8 {
        match self.need {
            Need::Required => 0,
            Need::Optional => 1,
            Need::Rest => 2,
            Need::Keyword => 3,
        }
    }

    pub(crate) fn is_keyword(&self) -> bool {
        self.need == Need::Keyword
    }

    pub(super) const fn changed(self) -> Param {
        Param { is_changed: true, ..self }
    }
}

/// The folding of a function for literals. A non-finite result is not folded.
#[derive(Clone, Copy)]
pub(crate) enum Fold {
    Never,
    Of1(fn(f64) -> f64),
    Of2(fn(f64, f64) -> f64),
    Of1Or2(fn(f64) -> f64, fn(f64, f64) -> f64),
    /// Ints stay ints.
    Literals(fn(&[Literal]) -> Option<Literal>),
}

impl Row {
    pub fn name(&self) -> &'static str {
        self.names[0]
    }

    /// How messages and pages write it: `math.erf`.
    pub fn path(&self) -> String {
        match self.known {
            Known::Member | Known::Math => format!("math.{}", self.name()),
            Known::Everywhere | Known::Bare | Known::Library => self.name().to_owned(),
        }
    }

    /// The call with the names of all parameters: `round(x, ndigits)`.
    pub fn signature(&self) -> String {
        let names: Vec<&str> = self.params.iter().map(|param| param.name).collect();
        format!("{}({})", self.path(), names.join(", "))
    }

    /// The call as messages show it.
    pub(crate) fn line(&self) -> String {
        line(self.params, &self.path(), &[])
    }

    pub(crate) fn gives_nothing(&self) -> bool {
        self.result == Gives::Nothing
    }

    /// The argument that a call changes, by its place.
    pub(crate) fn changes(&self) -> Option<usize> {
        self.params.iter().position(|param| param.is_changed)
    }

    /// The kind of the argument at a place.
    pub(crate) fn kind_of(&self, at: usize) -> Kind {
        let param = self.params.get(at).or(self.params.last());
        param.map_or(Kind::Any, |param| param.kind)
    }
}

/// The least and the largest number of arguments.
pub(crate) fn arity(params: &[Param]) -> (usize, usize) {
    let n_required = params.iter().filter(|param| param.need == Need::Required).count();
    let has_rest = params.iter().any(|param| param.need == Need::Rest);
    let n_positional = params.iter().filter(|param| param.need != Need::Keyword).count();
    (n_required, if has_rest { usize::MAX } else { n_positional })
}

pub(crate) fn takes(params: &[Param], n_args: usize) -> bool {
    let (least, most) = arity(params);
    (least..=most).contains(&n_args)
}

/// The number of arguments in words: `2 to 3 arguments`.
pub(crate) fn count_in_words(params: &[Param]) -> String {
    match arity(params) {
        (0, 0) => "no arguments".to_owned(),
        (1, 1) => "one argument".to_owned(),
        (least, most) if least == most => format!("{least} arguments"),
        (1, usize::MAX) => "one argument or more".to_owned(),
        (least, usize::MAX) => format!("at least {least} arguments"),
        (least, most) => format!("{least} to {most} arguments"),
    }
}

/// The call with the given arguments, without surplus ones and with names for missing ones.
pub(crate) fn line(params: &[Param], name: &str, given: &[&str]) -> String {
    let kept = given.iter().copied().take(arity(params).1);
    let asked = params.iter().filter(|param| param.need == Need::Required || param.sample.is_some());
    let missing = asked.skip(given.len()).map(|param| param.sample.unwrap_or(param.name));
    let args: Vec<&str> = kept.chain(missing).collect();
    format!("{name}({})", args.join(", "))
}

/// A row, by identity.
#[derive(Clone, Copy)]
pub struct Function(&'static Row);

impl Function {
    pub(super) const fn of(row: &'static Row) -> Function {
        Function(row)
    }

    pub fn row(self) -> &'static Row {
        self.0
    }
}

impl Deref for Function {
    type Target = Row;

    fn deref(&self) -> &Row {
        self.0
    }
}

impl PartialEq for Function {
    fn eq(&self, other: &Function) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for Function {}

impl Hash for Function {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::ptr::from_ref(self.0).hash(state);
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
