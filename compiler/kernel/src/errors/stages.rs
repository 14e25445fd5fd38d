//! Mistakes in vertex and fragment functions.

use kps_syntax::{Diagnostic, Location};

use super::parts::{advised, error, meant};
use super::remedies::how_to_convert;
use crate::found::{Found, one};
use crate::stages::{self, Direction, Port, Slot, Stage};
use crate::types::{Scalar, Type};

pub(crate) fn ambiguous_stage(at: Location, name: &str, first: Stage, second: Stage) -> Diagnostic {
    let (first, second) = (first.name(), second.name());
    let message = format!("`{name}` names two stages: {first} and {second}");
    error("kernel/ambiguous-stage", at, message, "")
        .help("give the function a name with one of \"vertex\", \"fragment\" and \"compute\" in it")
}

/// A builtin that another stage has.
pub(crate) fn port_of_stage(
    at: Location,
    name: &str,
    (stage, direction): (Stage, Direction),
    other: Stage,
) -> Diagnostic {
    let (other, direction) = (other.name(), direction.name());
    let message = format!("\"{name}\" is an {direction} of {other} functions");
    let this = match stage {
        Stage::Compute => "compute kernel".to_owned(),
        stage => format!("{} function", stage.name()),
    };
    error("kernel/unknown-input", at, message, "")
        .help(format!("this is a {this}: one with \"{other}\" in its name is for that stage"))
}

pub(crate) fn compute_input(at: Location, name: &str, stage: Stage) -> Diagnostic {
    let example = match stage {
        Stage::Vertex => "\"VertexIndex\" counts vertices: (\"input\", \"VertexIndex\", i32)",
        _ => "\"FragCoord\" is the position of the fragment: (\"input\", \"FragCoord\", vec4)",
    };
    let message =
        format!("\"{name}\" is an input of compute kernels, and this is a {} function", stage.name());
    error("kernel/unknown-input", at, message, "").help(example)
}

pub(crate) fn port_direction(at: Location, name: &str, stage: Stage, direction: Direction) -> Diagnostic {
    let (stage, direction) = (stage.name(), direction.name());
    let message = format!("\"{name}\" is an {direction} of {stage} functions");
    error("kernel/port-direction", at, message, "")
        .help(format!("declare it as one: (\"{direction}\", \"{name}\", ..)"))
}

pub(crate) fn unknown_port(
    at: Location,
    name: &str,
    (stage, direction): (Stage, Direction),
    nearest: Option<&str>,
    known: &[&str],
) -> Diagnostic {
    let message = format!("{} functions have no {} \"{name}\"", stage.name(), direction.name());
    let diagnostic = error("kernel/unknown-input", at, message, "");
    match nearest {
        Some(_) => meant(diagnostic, nearest),
        None => diagnostic.help(format!("a location such as 0, or one of {}", known.join(", "))),
    }
}

pub(crate) fn port_slot(at: Location, stage: Stage, direction: Direction) -> Diagnostic {
    let example = match (stage, direction) {
        (Stage::Vertex, Direction::Input) => "VertexIndex",
        (Stage::Vertex, Direction::Output) => "Position",
        (_, Direction::Input) => "FragCoord",
        (_, Direction::Output) => "FragDepth",
    };
    let message = format!("the slot of an {} is a location or the name of a builtin", direction.name());
    error("kernel/port-slot", at, message, "").help(format!("`0`, or \"{example}\""))
}

pub(crate) fn port_type(
    at: Location,
    direction: Direction,
    name: &str,
    declared: &Type,
    wanted: &str,
) -> Diagnostic {
    let message = format!("the {} \"{name}\" is not {}", direction.name(), one(declared));
    error("kernel/input-type", at, message, "").help(format!("declare it as `{wanted}`"))
}

pub(crate) fn port_cannot_travel(at: Location, ty: &Type) -> Diagnostic {
    let scalar = ty.numbers().into_iter().map(|(_, scalar)| scalar).find(|scalar| scalar.bits() < 32);
    let help = match scalar {
        Some(Scalar::Bf16) => "use f32 or f16",
        Some(Scalar::Bool) => "use i32, with 1 for true and 0 for false",
        _ => "use i32",
    };
    error("kernel/port-type", at, format!("{} cannot travel between stages", one(ty)), "").help(help)
}

pub(crate) fn port_too_large(at: Location, ty: &Type, n: u32) -> Diagnostic {
    error("kernel/port-type", at, format!("{} takes {n} locations, more than there are", one(ty)), "")
        .help("put it in a buffer: (\"buffer\", 0, Array(f32))")
}

pub(crate) fn port_taken(
    at: Location,
    first: Location,
    (port, other): (&Port, &Port),
    name: &str,
) -> Diagnostic {
    let direction = port.direction.name();
    let (message, help) = match (port.slot, other.slot) {
        (Slot::Location(location), Slot::Location(start)) => {
            let n = stages::n_locations(&other.ty).unwrap_or(1);
            (
                format!("{direction} location {location} is already taken by `{name}`"),
                format!("`{name}` ends before location {}", start + n),
            )
        }
        _ => (
            format!("the builtin {direction} is already taken by `{name}`"),
            format!("use `{name}` in both places"),
        ),
    };
    error("kernel/slot-taken", at, message, "").label(first, "taken here").help(help)
}

/// A warning: such a function is allowed, and draws nothing.
pub(crate) fn missing_position(at: Location, name: &str) -> Diagnostic {
    Diagnostic::warning("kernel/missing-position", format!("`{name}` does not say where its vertices are"))
        .label(at, "")
        .help("add the output `pos=(\"output\", \"Position\", vec4)` and assign it")
}

pub(crate) fn output_read_before_written(at: Location, name: &str) -> Diagnostic {
    error("kernel/unset", at, format!("the output `{name}` is read before it is written"), "no value yet")
        .help("outputs hold nothing when the function starts: assign it first, or use a variable of your own")
}

/// `value` is a placeholder of the value to assign.
pub(crate) fn output_never_written(at: Location, name: &str, value: &str) -> Diagnostic {
    error("kernel/output-not-written", at, format!("the output `{name}` is never written"), "")
        .help(format!("assign it: `{name} = {value}`"))
}

pub(crate) fn output_unwritten_at(at: Location, name: &str, value: &str, declared: Location) -> Diagnostic {
    error(
        "kernel/output-not-written",
        at,
        format!("the function returns before the output `{name}` is written"),
        "",
    )
    .label(declared, "declared here")
    .help(format!("assign it before that: `{name} = {value}`"))
}

pub(crate) fn output_maybe_unwritten(
    at: Location,
    name: &str,
    assigned: Location,
    missing: Location,
    path: &str,
) -> Diagnostic {
    let message = format!("the output `{name}` is not written on every path through the function");
    error("kernel/output-not-written", at, message, "")
        .label(assigned, "written here")
        .label(missing, path)
        .help(format!("give `{name}` a value before that"))
}

pub(crate) fn output_type(at: Location, name: &str, wanted: &Type, found: &Found) -> Diagnostic {
    let mistake =
        error("kernel/type", at, format!("the output `{name}` is {}, not {found}", one(wanted)), found);
    advised(mistake, how_to_convert("value", found, wanted))
}

/// A value, and no value of a function.
pub(crate) fn stage_returns(at: Location, stage: Stage) -> Diagnostic {
    error("kernel/returns-value", at, format!("a {} function returns nothing", stage.name()), "")
        .help("declare an output, out=(\"output\", 0, vec4), and assign it")
}

pub(crate) fn compute_only(at: Location, what: &str, stage: Stage) -> Diagnostic {
    let message = format!("{what} belongs to compute kernels, and this is a {} function", stage.name());
    error("kernel/compute-only", at, message, "")
        .help("do it in a kernel of its own, and pass the result on in a buffer")
}

pub(crate) fn discard_outside_fragment(at: Location, stage: Stage) -> Diagnostic {
    let diagnostic =
        error("kernel/discard", at, format!("a {} function has no fragment to discard", stage.name()), "");
    match stage {
        Stage::Vertex => diagnostic.help("leave it to the fragment function"),
        _ => diagnostic.help("write `return` to end the invocation"),
    }
}

pub(crate) fn discard_in_expression(at: Location) -> Diagnostic {
    error("kernel/discard", at, "`discard()` gives no value", "")
        .help("write it on a line of its own, under an `if`")
}
