//! Delivers the messages of kernels: prints, in the host's format, and failed assertions.

use kps_compute::records::Format;
use kps_compute::{Message, MessageKind, Number, Piece, Sequence};

use super::findings;
use super::shared::ScriptedManager;
use super::values;
use crate::builtins::format::format_value;
use crate::modules::kernels::domain::Domain;
use crate::modules::logging;
use crate::modules::numpy::{NdArray, Scalar, element};
use crate::value::{ExceptionKind, Raise, Result, Value};
use crate::vm::Vm;

/// What has run.
#[derive(Clone, Copy)]
pub enum Ran<'a> {
    /// A kernel that was called, over a domain unless it was given workgroups.
    Kernel(Option<&'a Domain>),
    /// A sequence that a script recorded and evaluated.
    Sequence(&'a Sequence),
    /// Whatever was started before.
    Started,
}

/// Prints the output of kernels, and raises the first assertion that failed.
pub fn deliver(vm: &mut Vm, manager: &ScriptedManager, ran: Ran) -> Result<()> {
    logging::flush_kp(vm)?;
    findings::report(vm, manager, ran);
    let report = manager.take_report();
    if report.messages.is_empty() && report.lost == 0 {
        return Ok(());
    }
    let (prints, failed): (Vec<Message>, Vec<Message>) =
        report.messages.into_iter().partition(|message| message.kind == MessageKind::Print);
    let mut text = String::new();
    for message in &prints {
        text += &pieces_text(vm, &message.pieces)?;
    }
    if report.lost > 0 {
        let plural = if report.lost == 1 { "" } else { "s" };
        text += &format!("[{} more message{plural} of kernels found no room to wait in]\n", report.lost);
    }
    if !text.is_empty() {
        vm.print(&text)?;
    }
    match failed.split_first() {
        Some((first, others)) => Err(failure(vm, first, others.len() as u64 + report.lost_asserts)?),
        None => Ok(()),
    }
}

/// The exception for an assertion: its message, and in brackets the line, the invocation and the tested
/// values.
fn failure(vm: &mut Vm, message: &Message, n_others: u64) -> Result<Raise> {
    let text = pieces_text(vm, &message.pieces)?;
    let (said, values) = text.rsplit_once('\n').unwrap_or((&text, ""));
    let said = if said.is_empty() { "assertion failed" } else { said };
    let [x, y, z] = message.invocation;
    let values = if values.is_empty() { String::new() } else { format!(": {values}") };
    let line = &message.line;
    // The folder is the script's own, or of one that it imports.
    let file = line.file.rsplit('/').next().unwrap_or(&line.file);
    let place = format!("{file}:{}, invocation ({x}, {y}, {z}){values}", line.line);
    let raise = Raise::new(ExceptionKind::AssertionError, format!("{said} ({place})"));
    Ok(match n_others {
        0 => raise,
        1 => raise.help("it failed in one more invocation"),
        n => raise.help(format!("it failed in {n} more invocations")),
    })
}

/// As `print` writes them.
pub fn pieces_text(vm: &mut Vm, pieces: &[Piece]) -> Result<String> {
    let mut text = String::new();
    for piece in pieces {
        match piece {
            Piece::Text(literal) => text += literal,
            Piece::Value { number, format } => text += &value_text(vm, *number, format)?,
            Piece::Array { numbers, shape, format } => text += &array_text(vm, numbers, shape, format)?,
        }
    }
    Ok(text)
}

fn value_text(vm: &mut Vm, number: Number, format: &Format) -> Result<String> {
    let plain = Scalar { dtype: format.dtype, number }.text();
    match format.spec.as_deref() {
        None | Some("") => Ok(plain),
        Some(spec) if format.conversion.is_some() => format_value(vm, &Value::str(plain), spec),
        Some(spec) => format_value(vm, &values::value(number), spec),
    }
}

/// A vector or a matrix: the array that it is on the host, or each of its numbers as a format spec has it.
fn array_text(vm: &mut Vm, numbers: &[Number], shape: &[usize], format: &Format) -> Result<String> {
    let spec = format.spec.as_deref().unwrap_or_default();
    if format.conversion.is_none() && !spec.is_empty() {
        let texts: Vec<String> =
            numbers.iter().map(|number| value_text(vm, *number, format)).collect::<Result<_>>()?;
        let rows: Vec<String> =
            texts.chunks(*shape.last().unwrap_or(&1)).map(|row| format!("[{}]", row.join(" "))).collect();
        return Ok(if shape.len() > 1 { format!("[{}]", rows.join(" ")) } else { rows.concat() });
    }
    let row = numbers.iter().flat_map(|number| element(format.dtype, *number)).collect();
    let array = Value::native(NdArray::from_row(format.dtype, shape, row));
    let text = match format.conversion {
        Some('r' | 'a') => vm.repr(&array)?,
        _ => vm.str(&array)?,
    };
    if spec.is_empty() { Ok(text) } else { format_value(vm, &Value::str(text), spec) }
}
