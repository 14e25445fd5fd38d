//! `kps explain`: explains a kernel below the lines of its source.
//!
//! The request on the command line goes in, a page or JSON comes out, which `kps::explain` creates.

use std::ffi::OsStr;
use std::path::Path;

use kps::explain::{self, AskedLine, Explained};
use kps::inspect::{self, GivenTypes, Phase, StaticKernel, Target};

use crate::Failure;
use crate::args::GivenArgs;
use crate::console::show;
use crate::run::asked_device;
use crate::verbs::{choose, done, given_types, source, split_kernel, target, unknown_types};
use crate::visible::visible;

/// The format of the explanation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Page,
    Json,
}

/// Explains the kernels of a file, the one after the colon, or a line of one. No script runs. Devices are
/// only queried if the kernel needs a feature that not every device has. Among several kernels, one that only
/// a run could explain is reported as such.
pub fn explain(
    argument: &OsStr,
    given: &GivenArgs,
    line: Option<AskedLine>,
    form: Form,
    device: Option<String>,
) -> Result<u8, Failure> {
    let Asked { file, name, line } = Asked::read(argument, line)?;
    refuse_shader(file)?;
    let source = source(file)?;
    let kernels = inspect::kernels(&source)?;
    let mut chosen = choose(&kernels, file, name)?;
    if let Some(AskedLine { file: None, line }) = line {
        keep_those_at(&mut chosen, &source, line);
    }
    let (given, target) = (given_types(given)?, target(device.as_deref())?);
    let device = asked_device(device);
    let mut explained = Vec::with_capacity(chosen.len());
    let mut left_out = Vec::new();
    for kernel in chosen {
        match done(kernel, kernel.explain(given.as_ref(), &target)?) {
            Ok(explanation) => {
                let found = Explained::new(kernel.name(), explanation, device.as_deref());
                explained.push(found.map_err(|error| Failure::Usage(error.to_string()))?);
            }
            Err(reason) => left_out.push(reason),
        }
    }
    ensure_some(explained.len(), &mut left_out)?;
    let text = match (form, &line) {
        (Form::Json, _) => explain::json(&explained, line.as_ref()),
        (Form::Page, None) => pages(explained.iter().map(Explained::page)),
        (Form::Page, Some(line)) => line_page(&explained, file, line)?,
    };
    show_all(&text, left_out)
}

/// Shows what a phase of the compiler made of the kernels of a file, or of the one after the colon. Like
/// `explain`, it goes on after a kernel that only a run could compile.
pub fn show_phase(argument: &OsStr, given: &GivenArgs, phase: Phase, target: &Target) -> Result<u8, Failure> {
    let Asked { file, name, line } = Asked::read(argument, None)?;
    refuse_shader(file)?;
    if line.is_some() {
        return Err(Failure::Usage("`--phase` shows whole kernels: leave the line out".to_owned()));
    }
    let source = source(file)?;
    let kernels = inspect::kernels(&source)?;
    let given = given_types(given)?;
    let chosen = choose(&kernels, file, name)?;
    if phase == Phase::Infer {
        return show_types(chosen, given.as_ref());
    }
    let (mut texts, mut left_out) = (Vec::new(), Vec::new());
    for kernel in chosen {
        match done(kernel, kernel.text_after(phase, given.as_ref(), target)?) {
            Ok(text) => texts.push(text),
            Err(reason) => left_out.push(reason),
        }
    }
    ensure_some(texts.len(), &mut left_out)?;
    show_all(&pages(texts.into_iter()), left_out)
}

/// Shows the types in kernels, with the mistakes in their places, and why types are unknown. Fails if there are
/// mistakes.
fn show_types(kernels: Vec<&StaticKernel>, given: Option<&GivenTypes>) -> Result<u8, Failure> {
    let (mut texts, mut unknown) = (Vec::with_capacity(kernels.len()), Vec::new());
    let mut has_mistakes = false;
    for kernel in kernels {
        let (types, whole) = kernel.types(given)?;
        has_mistakes |= !types.mistakes.is_empty();
        texts.push(types.to_text());
        unknown.extend(unknown_types(kernel, whole));
    }
    show_all(&pages(texts.into_iter()), unknown)?;
    Ok(u8::from(has_mistakes))
}

/// If all kernels were left out, the first reason is the failure.
fn ensure_some(n_shown: usize, left_out: &mut Vec<Failure>) -> Result<(), Failure> {
    match n_shown == 0 && !left_out.is_empty() {
        true => Err(left_out.swap_remove(0)),
        false => Ok(()),
    }
}

/// Shows a text, then why kernels were left out.
fn show_all(text: &str, left_out: Vec<Failure>) -> Result<u8, Failure> {
    show(&*visible(text))?;
    for reason in left_out {
        reason.report();
    }
    Ok(0)
}

fn refuse_shader(file: &Path) -> Result<(), Failure> {
    if !inspect::is_shader(file) {
        return Ok(());
    }
    let sentence = "is a shader, and only kernels in a script are explained; see it with `kps spirv`";
    Err(Failure::Usage(format!("`{}` {sentence}", file.display())))
}

/// Keeps only the kernels that contain the line, if one does. A line of a function that kernels call is in
/// none of them.
fn keep_those_at(kernels: &mut Vec<&StaticKernel>, source: &kps_syntax::Source, line: u32) {
    let holds = |kernel: &&StaticKernel| {
        let span = kernel.def.span;
        (source.line(span.start)..=source.line(span.end)).contains(&line)
    };
    if kernels.iter().any(holds) {
        kernels.retain(holds);
    }
}

fn pages(pages: impl Iterator<Item = String>) -> String {
    pages.collect::<Vec<_>>().join("\n")
}

/// The request on the command line.
struct Asked<'a> {
    file: &'a Path,
    name: Option<&'a str>,
    line: Option<AskedLine>,
}

impl<'a> Asked<'a> {
    /// `FILE:KERNEL:LINE`, `FILE:LINE`, and the forms that `split_kernel` reads.
    fn read(argument: &'a OsStr, line: Option<AskedLine>) -> Result<Asked<'a>, Failure> {
        if let Some((before, last)) = argument.to_str().and_then(|text| text.rsplit_once(':'))
            && let Ok(at) = last.parse::<u32>()
            && !Path::new(argument).exists()
        {
            let (file, name) = split_kernel(OsStr::new(before));
            return Ok(Asked { file, name, line: Some(at.into()) });
        }
        let (file, name) = split_kernel(argument);
        if let (Some(last), (before, Some(_))) = (name, split_kernel(file.as_os_str()))
            && before.exists()
        {
            let message =
                format!("`{last}` is no line: write `{}:KERNEL:LINE`, with a number", before.display());
            return Err(Failure::Usage(message));
        }
        Ok(Asked { file, name, line })
    }
}

/// All that is known of one line, in any of the kernels.
fn line_page(explained: &[Explained], home: &Path, asked: &AskedLine) -> Result<String, Failure> {
    let text = pages(explained.iter().filter_map(|found| found.line(asked)));
    if !text.is_empty() {
        return Ok(text);
    }
    let places: Vec<String> = explained.iter().map(Explained::place).collect();
    let places = places.join(", ");
    let file = asked.file.clone().unwrap_or_else(|| home.display().to_string());
    let line = asked.line;
    Err(Failure::Usage(match asked.file {
        None => format!("line {line} of `{file}` is in no kernel: {places}"),
        Some(_) => format!("line {line} of `{file}` is in no function that a kernel here calls: {places}"),
    }))
}
