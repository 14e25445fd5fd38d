//! `kernel.trace(.., at=(3, 0))`: the assignments of one invocation of a launch, step by step.
//!
//! The launch runs on the device of a call, over copies of its arguments, so tensors do not change and
//! nothing is printed. The result is a [`Trace`]: it prints as a table beside the kernel's source, and it is
//! a sequence of steps with line, name and value. Of a long trace the first and the last steps are stored.

use kps_compute::{Extent, Message, MessageKind, Number, Piece, Report};
use kps_device::SourceLine;

use super::object::Kernel;
use super::{errors, launch};
use crate::modules::kp;
use crate::modules::struct_seq::StructSeq;
use crate::value::{Args, Native, NativeDef, NativeType, Result, Value};
use crate::vm::Vm;

pub static TRACE: NativeType = NativeType {
    methods: &[
        NativeDef::getter("steps", steps).doc("", "The steps, each with its line, name and value."),
        NativeDef::getter("invocation", invocation).doc("", "The invocation as (x, y, z)."),
        NativeDef::getter("left_out", left_out)
            .doc("", "The number of steps between the first and the last that were dropped."),
    ],
    ..NativeType::new("Trace", "pyshader").doc("", "The assignments of one invocation, step by step.")
};

static STEP: NativeType = NativeType::new("Step", "pyshader");

/// The widest source text in a table.
const MAX_SOURCE: usize = 44;

struct Trace {
    kernel: String,
    /// The file that the kernel is in.
    file: String,
    invocation: [u32; 3],
    steps: Vec<Step>,
    /// The number of dropped steps after the first ones.
    left_out: u64,
    n_first: usize,
}

struct Step {
    line: SourceLine,
    /// The text of the line.
    source: String,
    name: String,
    /// As `print` writes it, and in brackets why nothing was stored.
    text: String,
    /// `None` if nothing was stored.
    value: Value,
}

/// `kernel.trace(..)` and `kernel[n].trace(..)`: `args` without the kernel.
pub fn trace(vm: &mut Vm, kernel: &Kernel, args: &Args, extent: Extent) -> Result {
    let Some(at) = args.keyword("at") else { return Err(errors::trace_at_missing(&kernel.template)) };
    let at = invocation_of(vm, kernel, at)?;
    let (values, names) = args.without("at");
    let (extent, values, names) = launch::extent_of(vm, &Args::new(&values, &names), extent)?;
    let messages = launch::traced(vm, kernel, &Args::new(&values, &names), &extent, at)?;
    Ok(Value::native(Trace::of(vm, kernel, at, messages)?))
}

/// An int, or up to three along x, y and z.
fn invocation_of(vm: &mut Vm, kernel: &Kernel, at: &Value) -> Result<[u32; 3]> {
    let axes = match vm.try_index(at)? {
        Some(_) => vec![at.clone()],
        None => vm.collect(at).map_err(|_| errors::trace_at(&kernel.template))?,
    };
    let mut invocation = [0; 3];
    if axes.is_empty() || axes.len() > 3 {
        return Err(errors::trace_at(&kernel.template));
    }
    for (place, axis) in invocation.iter_mut().zip(&axes) {
        let n = vm.try_index(axis)?.and_then(|n| u32::try_from(n).ok());
        *place = n.ok_or_else(|| errors::trace_at(&kernel.template))?;
    }
    Ok(invocation)
}

impl Trace {
    fn of(vm: &mut Vm, kernel: &Kernel, at: [u32; 3], report: Report) -> Result<Trace> {
        let mut steps = Vec::with_capacity(report.messages.len());
        for message in report.messages {
            if message.invocation == at {
                steps.push(Step::of(vm, message)?);
            }
        }
        let n_kept = steps.iter().filter(|step| step.name != FAILED).count();
        Ok(Trace {
            kernel: kernel.template.name().to_string(),
            file: kernel.template.source.name().to_owned(),
            invocation: at,
            n_first: if report.lost > 0 { n_kept / 2 } else { usize::MAX },
            left_out: report.lost,
            steps,
        })
    }

    fn step(&self, at: usize) -> Value {
        let step = &self.steps[at];
        let items =
            vec![Value::Int(step.line.line.into()), Value::str(step.name.clone()), step.value.clone()];
        StructSeq::value(&STEP, &["line", "name", "value"], items)
    }

    fn list(&self) -> Value {
        Value::list((0..self.steps.len()).map(|at| self.step(at)).collect())
    }

    /// The steps in rows: neighbouring steps of one line share a row.
    fn rows(&self) -> Vec<Row<'_>> {
        let mut rows: Vec<Row> = Vec::new();
        for (at, step) in self.steps.iter().enumerate() {
            if at == self.n_first {
                rows.push(Row::Gap(self.left_out));
            }
            match rows.last_mut() {
                Some(Row::Steps(steps))
                    if steps[0].line.line == step.line.line
                        && steps[0].line.file == step.line.file
                        && steps.iter().all(|before| before.name != step.name) =>
                {
                    steps.push(step);
                }
                _ => rows.push(Row::Steps(vec![step])),
            }
        }
        rows
    }

    fn table(&self) -> String {
        let [x, y, z] = self.invocation;
        let mut table = format!("trace of `{}`, invocation ({x}, {y}, {z})\n", self.kernel);
        let rows = self.rows();
        if rows.is_empty() {
            return table + "  it assigns nothing";
        }
        let steps = || self.steps.iter();
        let place = |step: &Step| self.place(&step.line);
        let indent = steps().map(|step| indent_of(&step.source)).min().unwrap_or(0);
        let source = |step: &Step| shortened(&step.source[indent..]);
        let place_width = steps().map(|step| place(step).len()).max().unwrap_or(0).max(4);
        let width = steps().map(|step| source(step).chars().count()).max().unwrap_or(0).max(6);
        // Printed text may have several lines, which are printed below each other.
        let value = |step: &Step| {
            let indent = step.name.chars().count() + " = ".len();
            let line = format!("\n{:>place_width$} | {:width$} | {:indent$}", "", "", "");
            format!("{} = {}", step.name, step.text.trim_end().replace('\n', &line))
        };
        table += &format!("{:>place_width$} | {:width$} |\n", "line", "source");
        for row in rows {
            table += &match row {
                Row::Gap(n) => format!("{:>place_width$} | .. {n} steps left out ..\n", ""),
                Row::Steps(steps) => {
                    let values: Vec<String> = steps.iter().map(|step| value(step)).collect();
                    let (place, source) = (place(steps[0]), source(steps[0]));
                    format!("{place:>place_width$} | {source:width$} | {}\n", values.join(", "))
                }
            };
        }
        table.trim_end().to_owned()
    }

    /// The line, with its file if that is not the kernel's.
    fn place(&self, line: &SourceLine) -> String {
        match line.file == self.file {
            true => line.line.to_string(),
            false => format!("{}:{}", line.file.rsplit('/').next().unwrap_or(&line.file), line.line),
        }
    }
}

/// One line of the table.
enum Row<'t> {
    Steps(Vec<&'t Step>),
    Gap(u64),
}

/// The name of a step that is an assertion which failed.
const FAILED: &str = "assertion";

/// The name of a step that shows an argument of `print`.
const PRINTED: &str = "print";

impl Step {
    fn of(vm: &mut Vm, message: Message) -> Result<Step> {
        let Message { kind, line, pieces, .. } = message;
        let source = vm.source_line(&line);
        if kind == MessageKind::Assert {
            let said = kp::pieces_text(vm, &pieces)?;
            let (said, values) = said.rsplit_once('\n').unwrap_or((&said, ""));
            let text = match (said, values) {
                ("", "") => "failed".to_owned(),
                (one, "") | ("", one) => format!("failed: {one}"),
                (said, values) => format!("failed: {said} ({values})"),
            };
            return Ok(Step { line, source, name: FAILED.to_owned(), value: Value::str(text.clone()), text });
        }
        let (name, value) = parted(pieces);
        let name = kp::pieces_text(vm, &name)?;
        if name == PRINTED {
            let text = kp::pieces_text(vm, &value)?;
            return Ok(Step { line, source, name, value: Value::str(text.clone()), text });
        }
        let (value, dropped) = parted(value);
        let text = kp::pieces_text(vm, &value)?;
        if !dropped.is_empty() {
            let text = format!("{text} ({})", kp::pieces_text(vm, &dropped)?);
            return Ok(Step { line, source, name, value: Value::None, text });
        }
        let value = value_of(&value).unwrap_or_else(|| Value::str(text.clone()));
        Ok(Step { line, source, name, text, value })
    }
}

/// The parts before and after the first line end.
fn parted(pieces: Vec<Piece>) -> (Vec<Piece>, Vec<Piece>) {
    let (mut name, mut value) = (Vec::new(), Vec::new());
    let mut is_name = true;
    for piece in pieces {
        match piece {
            Piece::Text(text) if is_name && text.contains('\n') => {
                let (before, behind) = text.split_once('\n').expect("there is one");
                name.push(Piece::Text(before.to_owned()));
                value.push(Piece::Text(behind.to_owned()));
                is_name = false;
            }
            piece if is_name => name.push(piece),
            piece => value.push(piece),
        }
    }
    (name, value)
}

/// The host's value: a number, or tuples and lists nested like the brackets. `None` if there are no numbers.
fn value_of(pieces: &[Piece]) -> Option<Value> {
    let mut open: Vec<Vec<Value>> = vec![Vec::new()];
    for piece in pieces {
        match piece {
            Piece::Value { number, .. } => open.last_mut()?.push(number_value(*number)),
            // A step writes vectors as the calls that create them.
            Piece::Array { .. } => return None,
            Piece::Text(text) => {
                for letter in text.chars() {
                    match letter {
                        '(' | '[' => open.push(Vec::new()),
                        ')' | ']' => {
                            let items = open.pop()?;
                            let value = if letter == ']' { Value::list(items) } else { Value::tuple(items) };
                            open.last_mut()?.push(value);
                        }
                        _ => {}
                    }
                }
            }
        }
    }
    match open.as_slice() {
        [whole] => whole.first().cloned(),
        _ => None,
    }
}

fn number_value(number: Number) -> Value {
    kp::number_value(number)
}

fn indent_of(text: &str) -> usize {
    text.len() - text.trim_start_matches(' ').len()
}

fn shortened(text: &str) -> String {
    let text = text.trim_end();
    match text.char_indices().nth(MAX_SOURCE) {
        Some((end, _)) => format!("{}..", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

impl Native for Trace {
    fn native_type(&self) -> &'static NativeType {
        &TRACE
    }

    fn len(&self, _: &mut Vm) -> Result<Option<usize>> {
        Ok(Some(self.steps.len()))
    }

    fn get_item(&self, _: &Value, vm: &mut Vm, index: &Value) -> Result<Option<Value>> {
        vm.get_item(&self.list(), index).map(Some)
    }

    fn iter(&self, _: &Value, vm: &mut Vm) -> Result<Option<Value>> {
        vm.iter(&self.list()).map(Some)
    }

    fn repr(&self, _: &Value, _: &mut Vm) -> Result<String> {
        Ok(self.table())
    }
}

fn steps(_: &mut Vm, args: &Args) -> Result {
    Ok(args.this::<Trace>()?.list())
}

fn invocation(_: &mut Vm, args: &Args) -> Result {
    let axes = args.this::<Trace>()?.invocation.map(|n| Value::Int(n.into()));
    Ok(Value::tuple(axes))
}

fn left_out(_: &mut Vm, args: &Args) -> Result {
    Ok(Value::Int(args.this::<Trace>()?.left_out as i64))
}
