//! The ports of vertex and fragment functions: `("input", 0, vec2)`, `("output", "Position", vec4)`.
//!
//! In go a slot and a type, out comes a port whose type is legal there. Ports of one direction never share a location
//! or a builtin.

use kps_syntax::ast::{Expr, FunctionDef};
use kps_syntax::{Diagnostic, Diagnostics, Source};

use super::params::slot_number;
use super::types::TypeReader;
use crate::errors;
use crate::stages::{self, Direction, Port, Slot, Stage};
use crate::template::{Input, Param, ParamKind};

/// More locations than any device has, so that their sums stay small.
const MAX_LOCATIONS: u32 = 1024;

pub(super) fn port(
    stage: Stage,
    direction: Direction,
    (slot, ty): (&Expr, &Expr),
    reader: &TypeReader,
) -> Result<ParamKind, Diagnostic> {
    let (source, declared) = (reader.source, reader.value_type(ty)?);
    let slot = match reader.word(slot) {
        Some(name) => {
            let Some(builtin) = stages::builtin(stage, direction, &name) else {
                return Err(unknown_builtin(stage, direction, (&name, slot), source));
            };
            if !builtin.ty.takes(&declared) {
                let wanted = builtin.ty.example();
                return Err(errors::port_type(source.at(ty.span), direction, &name, &declared, wanted));
            }
            Slot::Builtin(builtin)
        }
        None => {
            let at = source.at(slot.span);
            let location =
                slot_number(slot, reader).ok_or_else(|| errors::port_slot(at, stage, direction))?;
            let n = stages::n_locations(&declared)
                .ok_or_else(|| errors::port_cannot_travel(source.at(ty.span), &declared))?;
            if location.saturating_add(n) > MAX_LOCATIONS {
                return Err(errors::port_too_large(source.at(ty.span), &declared, n));
            }
            Slot::Location(location)
        }
    };
    Ok(ParamKind::Port(Port { direction, slot, ty: declared }))
}

fn unknown_builtin(
    stage: Stage,
    direction: Direction,
    (name, slot): (&str, &Expr),
    source: &Source,
) -> Diagnostic {
    let at = source.at(slot.span);
    if direction == Direction::Input && kernel_input(name).is_some() {
        return errors::compute_input(at, name, stage);
    }
    let other = |direction| stages::builtin(stage, direction, name).is_some();
    let turned = match direction {
        Direction::Input => Direction::Output,
        Direction::Output => Direction::Input,
    };
    if other(turned) {
        return errors::port_direction(at, name, stage, turned);
    }
    if let Some(other) = stage_with(direction, name) {
        return errors::port_of_stage(at, name, (stage, direction), other);
    }
    let known = || stages::builtins(stage, direction).iter().map(|row| row.name);
    let nearest = kps_syntax::suggest::nearest(name, known());
    errors::unknown_port(at, name, (stage, direction), nearest, &known().collect::<Vec<_>>())
}

/// The input of compute kernels by this name.
fn kernel_input(name: &str) -> Option<Input> {
    Input::ALL.into_iter().find(|input| input.name() == name)
}

/// Whether every stage has this input: those of subgroups.
pub(super) fn is_of_every_stage(slot: &Expr, reader: &TypeReader) -> bool {
    let Some(name) = reader.word(slot) else { return false };
    matches!(kernel_input(&name), Some(Input::SubgroupSize | Input::SubgroupLocalInvocationId))
}

/// The stage of a graphics pipeline that has a builtin by this name.
pub(super) fn stage_with(direction: Direction, name: &str) -> Option<Stage> {
    let stages = [Stage::Vertex, Stage::Fragment];
    stages.into_iter().find(|stage| stages::builtin(*stage, direction, name).is_some())
}

/// Two ports of one direction at one place.
pub(super) fn check_overlaps(params: &[Param], source: &Source, diagnostics: &mut Diagnostics) {
    let mut earlier: Vec<(&Param, &Port)> = Vec::new();
    for param in params {
        let ParamKind::Port(port) = &param.kind else { continue };
        if let Some((first, other)) = earlier.iter().find(|(_, other)| overlap(other, port)) {
            let (at, first_at) = (source.at(param.name.span), source.at(first.name.span));
            diagnostics.push(errors::port_taken(at, first_at, (port, other), &first.name.name));
        }
        earlier.push((param, port));
    }
}

fn overlap(a: &Port, b: &Port) -> bool {
    let end = |start: u32, port: &Port| start + stages::n_locations(&port.ty).unwrap_or(0);
    a.direction == b.direction
        && match (a.slot, b.slot) {
            (Slot::Location(first), Slot::Location(second)) => {
                first < end(second, b) && second < end(first, a)
            }
            (Slot::Builtin(first), Slot::Builtin(second)) => first.builtin == second.builtin,
            _ => false,
        }
}

/// A vertex function that places nothing draws nothing.
pub(super) fn missing_position(def: &FunctionDef, source: &Source, params: &[Param]) -> Option<Diagnostic> {
    let is_position = |param: &Param| match &param.kind {
        ParamKind::Port(Port { slot: Slot::Builtin(builtin), .. }) => builtin.name == "Position",
        // Its mistake was reported.
        ParamKind::Untyped => true,
        _ => false,
    };
    let is_missing = !params.iter().any(is_position);
    is_missing.then(|| errors::missing_position(source.at(def.name.span), &def.name.name))
}
