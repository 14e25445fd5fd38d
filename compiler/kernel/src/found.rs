//! The operand that a message is about: its kind, and its type if it has one. For `errors` and what is below it.
//!
//! Constructors of errors match on it. It becomes text only in a message or a label.

use std::fmt;

use kps_syntax::ast::Name;

use crate::constant::{Literal, LiteralKind};
use crate::matrices::CoopShape;
use crate::textures::TextureType;
use crate::type_expr::ArrayParam;
use crate::types::{Scalar, Type};

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Found {
    /// A value of this type. `Type::Error` after a mistake that was reported.
    Value(Type),
    /// A literal without a type of its own.
    Literal(LiteralKind),
    /// An array parameter, or a row of one.
    Array(ArrayParam),
    /// A tuple of so many items.
    Tuple(usize),
    /// A cooperative matrix.
    Coop(Option<CoopShape>),
    /// A type where a value is wanted.
    Type(Type),
    /// `Array` or `Vector` without arguments.
    Generic(&'static str),
    Function(Name),
    Lambda,
    Sequence(SequenceKind),
    /// A module, by its full name.
    Module(Name),
    /// A class of the script that is no struct.
    Class(Name),
    /// An object of the script, by the name of its class.
    Object(Name),
    /// A member of an enum that has no number for itself, by the name of the enum.
    EnumMember(Name),
    Texture(TextureType),
    Sampler,
    /// The result of a function without one.
    Nothing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SequenceKind {
    Range,
    Enumerate,
    Zip,
    Reversed,
    Unroll,
}

impl Found {
    /// The type of a value that is computed at run time.
    pub fn value(&self) -> Option<&Type> {
        match self {
            Found::Value(ty) => Some(ty),
            _ => None,
        }
    }

    /// The type of one number that has a type of its own.
    pub fn scalar(&self) -> Option<Scalar> {
        match self {
            Found::Value(Type::Scalar(scalar)) => Some(*scalar),
            _ => None,
        }
    }

    /// The size and the component type of a vector.
    pub fn vector(&self) -> Option<(u8, Scalar)> {
        match self {
            Found::Value(Type::Vector(n, scalar)) => Some((*n, *scalar)),
            _ => None,
        }
    }

    pub fn is_vector(&self) -> bool {
        self.vector().is_some()
    }

    pub fn is_matrix(&self) -> bool {
        matches!(self, Found::Value(Type::Matrix { .. }) | Found::Coop(_))
    }

    /// One number, with or without a type of its own.
    pub fn is_number(&self) -> bool {
        self.scalar().is_some() || matches!(self, Found::Literal(_))
    }

    pub fn is_int(&self) -> bool {
        self.scalar().is_some_and(Scalar::is_int) || *self == Found::Literal(LiteralKind::Int)
    }

    pub fn is_float(&self) -> bool {
        self.scalar().is_some_and(Scalar::is_float) || *self == Found::Literal(LiteralKind::Float)
    }

    /// An array parameter, a row of one, or a list.
    pub fn is_array(&self) -> bool {
        matches!(self, Found::Array(_)) || self.is_list()
    }

    /// An array of known length.
    pub fn is_list(&self) -> bool {
        matches!(self, Found::Value(Type::Array(_)))
    }

    /// The element type of an array parameter or a list.
    pub fn element(&self) -> Option<&Type> {
        match self {
            Found::Array(array) => Some(&array.element),
            Found::Value(Type::Array(list)) => Some(&list.element),
            _ => None,
        }
    }

    /// The number of items of a tuple or a list.
    pub fn n_items(&self) -> Option<u32> {
        match self {
            Found::Tuple(n) => u32::try_from(*n).ok(),
            Found::Value(Type::Array(list)) => Some(list.len),
            _ => None,
        }
    }

    pub fn is_tuple(&self) -> bool {
        matches!(self, Found::Tuple(_) | Found::Value(Type::Tuple(_)))
    }

    pub fn is_struct(&self) -> bool {
        matches!(self, Found::Value(Type::Struct(_)))
    }

    pub fn is_function(&self) -> bool {
        matches!(self, Found::Function(_) | Found::Lambda)
    }

    pub fn is_type(&self) -> bool {
        matches!(self, Found::Type(_) | Found::Generic(_))
    }

    /// Without backquotes, for text that is no Markdown.
    pub fn plain(&self) -> String {
        match self {
            Found::Value(ty) => ty.to_string(),
            Found::Array(array) => array.to_string(),
            found => found.to_string(),
        }
    }

    /// The form after "one" and "another": without `a` or `an`.
    pub fn without_article(&self) -> String {
        self.to_string_with(match self.article() {
            "a" | "an" => "",
            article => article,
        })
    }

    fn article(&self) -> &'static str {
        match self {
            Found::Value(_) | Found::Array(_) | Found::Nothing => "",
            Found::Literal(LiteralKind::Int)
            | Found::Sequence(SequenceKind::Enumerate | SequenceKind::Unroll) => "an",
            Found::Literal(LiteralKind::Float)
            | Found::Tuple(_)
            | Found::Coop(_)
            | Found::Lambda
            | Found::Sequence(_)
            | Found::EnumMember(_)
            | Found::Texture(_)
            | Found::Sampler => "a",
            Found::Object(name) => article_of(name),
            Found::Type(_) | Found::Generic(_) | Found::Function(_) | Found::Module(_) | Found::Class(_) => {
                "the"
            }
        }
    }

    fn to_string_with(&self, article: &str) -> String {
        let space = if article.is_empty() { "" } else { " " };
        format!("{article}{space}{}", Noun(self))
    }
}

/// The noun without its article.
struct Noun<'f>(&'f Found);

impl fmt::Display for Noun<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Found::Value(ty) => write!(f, "`{ty}`"),
            Found::Literal(kind) => write!(f, "{} literal", kind.name()),
            Found::Array(array) => write!(f, "`{array}`"),
            Found::Tuple(n) => write!(f, "tuple of {n}"),
            Found::Coop(Some(shape)) => write!(f, "matrix, {shape}"),
            Found::Coop(None) => f.write_str("matrix"),
            Found::Type(ty) => write!(f, "type `{ty}`"),
            Found::Generic(name) => write!(f, "type `{name}`"),
            Found::Function(name) => write!(f, "function `{name}`"),
            Found::Lambda => f.write_str("lambda"),
            Found::Sequence(SequenceKind::Range) => f.write_str("`range`"),
            Found::Sequence(SequenceKind::Enumerate) => f.write_str("`enumerate`"),
            Found::Sequence(SequenceKind::Zip) => f.write_str("`zip`"),
            Found::Sequence(SequenceKind::Reversed) => f.write_str("`reversed`"),
            Found::Sequence(SequenceKind::Unroll) => f.write_str("`unroll`"),
            Found::Module(name) => write!(f, "module `{name}`"),
            Found::Class(name) => write!(f, "class `{name}`"),
            Found::Object(name) => write!(f, "`{name}`"),
            Found::EnumMember(name) => write!(f, "member of `{name}`"),
            Found::Texture(ty) => write!(f, "{ty} texture"),
            Found::Sampler => f.write_str("sampler"),
            Found::Nothing => f.write_str("`None`"),
        }
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_string_with(self.article()))
    }
}

impl From<&Found> for String {
    fn from(found: &Found) -> String {
        found.to_string()
    }
}

impl From<Literal> for Found {
    fn from(literal: Literal) -> Found {
        Found::Literal(literal.kind())
    }
}

/// `an i32`, `a vec3`, with backquotes.
pub(crate) fn one(name: impl fmt::Display) -> String {
    let name = name.to_string();
    format!("{} `{name}`", article_of(&name))
}

fn article_of(name: &str) -> &'static str {
    // By pronunciation: an "eff 32", a "you 32".
    let is_spoken_so = ["f16", "f32", "f64", "hvec"].iter().any(|word| name.starts_with(word));
    match is_spoken_so || name.starts_with(['a', 'e', 'i', 'o', 'A', 'E', 'I', 'O']) {
        true => "an",
        false => "a",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_an_article_and_lists_of_alternatives_have_none() {
        let check = |found: Found, text: &str, without_article: &str| {
            assert_eq!(
                (found.to_string(), found.without_article()),
                (text.to_owned(), without_article.to_owned())
            );
        };
        check(Found::Value(Type::Vector(3, Scalar::F32)), "`vec3`", "`vec3`");
        check(Found::Literal(LiteralKind::Int), "an int literal", "int literal");
        check(Found::Tuple(3), "a tuple of 3", "tuple of 3");
        check(Found::Coop(None), "a matrix", "matrix");
        check(Found::Function("f".into()), "the function `f`", "the function `f`");
        check(Found::Sequence(SequenceKind::Enumerate), "an `enumerate`", "`enumerate`");
        check(Found::Object("Image".into()), "an `Image`", "`Image`");
        check(Found::EnumMember("Color".into()), "a member of `Color`", "member of `Color`");
    }

    #[test]
    fn a_name_is_no_kind() {
        let names = ["vec_like", "literal", "texture", "tuple", "mat2", "float", "lambda", "Array"];
        for name in names.map(Name::from) {
            for found in
                [Found::Object(name.clone()), Found::Class(name.clone()), Found::Function(name.clone())]
            {
                assert!(!found.is_vector() && !found.is_matrix() && !found.is_number(), "{found}");
                assert!(!found.is_array() && !found.is_tuple() && !found.is_type(), "{found}");
            }
        }
    }
}
