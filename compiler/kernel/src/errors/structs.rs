//! Mistakes about structs and their members.

use kps_syntax::{Diagnostic, Location};

use super::parts::{advised, arguments, error, meant};
use super::remedies::how_to_convert;
use super::source_text::{list_of, literal_items};
use crate::found::{Found, one};
use crate::structs::{Member, StructType};
use crate::types::Type;

pub(crate) fn unknown_struct_member(
    at: Location,
    of: &StructType,
    name: &str,
    nearest: Option<&str>,
) -> Diagnostic {
    if of.constant(name).is_some() {
        let message = format!("`{name}` is a constant of the class `{of}`, not a member");
        return error("kernel/struct", at, message, "")
            .help(format!("declare it with its type, then each `{of}` has its own: `{name}: f32`"));
    }
    let diagnostic = error("kernel/struct", at, format!("`{of}` has no member `{name}`"), "");
    match nearest {
        Some(_) => meant(diagnostic, nearest),
        None if !name.contains(char::is_lowercase) => diagnostic.help(in_the_class(name)),
        None => diagnostic.help(format!("it has {}", member_list(of))),
    }
}

/// Of `P.name`, where `P` is the struct itself.
pub(crate) fn not_of_the_struct(at: Location, of: &StructType, name: &str) -> Diagnostic {
    let diagnostic = error("kernel/struct", at, format!("the type `{of}` has no `{name}` in kernels"), "");
    match of.member(name) {
        Some(_) => diagnostic.help(format!("a value of it has: `p.{name}`, where `p = {of}(..)`")),
        None => diagnostic.help(in_the_class(name)),
    }
}

fn in_the_class(name: &str) -> String {
    format!("a constant of all of them belongs in the class: `{name} = ..`")
}

/// Of `__init__` or `__post_init__`.
pub(crate) fn initializer_returns(at: Location, method: &str) -> Diagnostic {
    error("kernel/struct", at, format!("`{method}` returns a value, and what it makes is `self`"), "")
        .help("assign the members, `self.x = ..`, and leave the `return` out")
}

/// For a struct as a condition; `what` is the result of its `__bool__`.
pub(crate) fn truth_not_bool(at: Location, what: &Found) -> Diagnostic {
    error("kernel/condition", at, format!("`__bool__` gives {what}, not a bool"), "")
        .help("let it return a comparison: `return self.x != 0`")
}

/// Of an assignment to a property that is only read.
pub(crate) fn property_without_setter(at: Location, of: &str, name: &str) -> Diagnostic {
    error("kernel/struct", at, format!("`{name}` is a property of `{of}`, which has no setter"), "")
        .help(format!("assign the members that it is computed of, or write one: `@{name}.setter` above `def {name}(self, value):`"))
}

pub(crate) fn method_as_value(at: Location, of: &str, name: &str) -> Diagnostic {
    error("kernel/struct", at, format!("`{name}` is a method of `{of}`, not a value"), "")
        .help(format!("call it: `.{name}(..)`"))
}

pub(crate) fn struct_members(at: Location, of: &StructType, n_given: usize) -> Diagnostic {
    let wanted = arguments(of.members.len());
    error("kernel/struct", at, format!("`{of}` takes {wanted}, not {n_given}"), "")
        .help(format!("its members are {}", member_list(of)))
}

pub(crate) fn member_twice(at: Location, of: &StructType, name: &str) -> Diagnostic {
    error("kernel/struct", at, format!("this `{of}` gets `{name}` twice"), "")
        .help("give it by position or by name, once")
}

pub(crate) fn members_missing(at: Location, of: &StructType, missing: &[&str]) -> Diagnostic {
    let names: Vec<String> = missing.iter().map(|name| format!("`{name}`")).collect();
    error("kernel/struct", at, format!("this `{of}` lacks {}", names.join(", ")), "")
        .help("give every member, or a default in the struct")
}

/// `begun` is the text of the list that `text` names.
pub(crate) fn member_type(
    at: Location,
    of: &StructType,
    member: &Member,
    (text, begun): (&str, &str),
    found: &Found,
) -> Diagnostic {
    let Member { name, ty, .. } = member;
    let diagnostic =
        error("kernel/struct", at, format!("the member `{name}` of `{of}` is `{ty}`, not {found}"), found);
    match ty {
        Type::Scalar(_) | Type::Vector(..) => advised(diagnostic, how_to_convert(text, found, ty)),
        Type::Array(of) => match (&of.element, literal_items(begun)) {
            (Type::Scalar(scalar), Some(items)) => {
                let help = list_of(items, *scalar).map(|list| match begun == text {
                    true => format!("write `{list}`"),
                    false => format!("begin it as one: `{text} = {list}`"),
                });
                advised(diagnostic, help)
            }
            _ => diagnostic,
        },
        _ => diagnostic,
    }
}

pub(crate) fn structs_have_no_order(at: Location, ty: &Type) -> Diagnostic {
    error("kernel/struct", at, format!("structs of type `{ty}` have no order"), "")
        .help("compare with `==` or `!=`, or compare a member")
}

pub(crate) fn struct_too_long_to_compare(at: Location, ty: &Type) -> Diagnostic {
    error("kernel/struct", at, format!("{} has too many numbers to compare at once", one(ty)), "")
        .help("compare its members in a loop")
}

pub(crate) fn assign_self(at: Location, name: &str) -> Diagnostic {
    error("kernel/struct", at, format!("`{name}` of a method cannot be assigned as a whole"), "")
        .help(format!("assign to its members, or to a name of its own: `new = {name}`"))
}

pub(crate) fn struct_base(at: Location) -> Diagnostic {
    error("kernel/struct", at, "a struct has no base class", "")
        .help("hold the other struct as a member: `base: Other`")
}

pub(crate) fn empty_struct(at: Location, name: &str) -> Diagnostic {
    error("kernel/struct", at, format!("the struct `{name}` has no members"), "")
        .help("a member is a name with a type: `mass: f32`, or `Struct(mass=f32)`")
}

pub(crate) fn struct_statement(at: Location) -> Diagnostic {
    error("kernel/struct", at, "a struct holds members and methods only", "")
        .help("a member is a name with a type: `mass: f32`")
}

pub(crate) fn member_declared_twice(at: Location, name: &str) -> Diagnostic {
    error("kernel/struct", at, format!("the member `{name}` is declared twice"), "")
        .help("leave one of them out")
}

pub(crate) fn struct_too_large(at: Location, limit: u32) -> Diagnostic {
    error("kernel/struct", at, format!("a struct of more than {limit} bytes"), "")
        .help("keep large arrays in array parameters of their own")
}

pub(crate) fn struct_member_name(at: Location) -> Diagnostic {
    error("kernel/struct", at, "every member of a `Struct` has a name", "").help("write `Struct(mass=f32)`")
}

pub(crate) fn method_without_self(at: Location, name: &str) -> Diagnostic {
    error("kernel/struct", at, format!("the method `{name}` has no parameter for its struct"), "")
        .help(format!("write `def {name}(self):`, or decorate it with `@staticmethod`"))
}

pub(crate) fn no_layout(at: Location, ty: &Type) -> Diagnostic {
    error("kernel/type", at, format!("{} has no place in an array that the host shares", one(ty)), "")
        .help("use a struct: its members have names and places")
}

pub(crate) fn part_of_item(at: Location, text: &str) -> Diagnostic {
    error(
        "kernel/assignment",
        at,
        format!("`{text}` is what a method gives, and has no place to assign to"),
        "",
    )
    .help(format!("change a copy, and store that: `item = {text}`, `{text} = item`"))
}

/// Of `text[i] += 1`.
pub(crate) fn item_not_read(at: Location, text: &str, what: &Found) -> Diagnostic {
    error(
        "kernel/index",
        at,
        format!("`{text}` is {what}, which has no method `__getitem__` to read with"),
        "",
    )
    .help("define it: `def __getitem__(self, i):`")
}

fn member_list(of: &StructType) -> String {
    let names: Vec<String> = of.members.iter().map(|member| format!("`{}`", member.name)).collect();
    names.join(", ")
}
