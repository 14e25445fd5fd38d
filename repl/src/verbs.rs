//! `kps check`, `kps spirv` and `kps devices`: everything that needs no run of a script.

use std::ffi::OsStr;
use std::fmt::Display;
use std::io::IsTerminal;
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};

use kps::device::{Backend, DeviceError, DeviceInfo, DeviceKind, select};
use kps::inspect::{self, Compiled, GivenTypes, StaticKernel, Target};
use kps_syntax::{Diagnostics, Source};

use crate::args::GivenArgs;
use crate::console::{print_error, report_all, show};
use crate::visible::visible;
use crate::{Failure, heap, read, read_bytes, run};

/// Reports every error of every file; 1 if there was one, and 2 if a file cannot be read.
pub fn check(files: &[PathBuf]) -> Result<u8, Failure> {
    let (mut n_errors, mut unread) = (0, 0);
    for file in files {
        let diagnostics = match found_in(file) {
            Ok(diagnostics) => diagnostics,
            Err(failure) => {
                unread = unread.max(failure.report());
                continue;
            }
        };
        report_all(&diagnostics);
        n_errors += diagnostics.iter().filter(|found| found.severity == kps_syntax::Severity::Error).count();
    }
    match n_errors {
        0 => return Ok(unread),
        1 => print_error(format_args!("1 mistake\n")),
        n => print_error(format_args!("{n} mistakes\n")),
    }
    Ok(unread.max(1))
}

fn found_in(file: &Path) -> Result<Diagnostics, Failure> {
    Ok(match inspect::is_shader(file) {
        true => inspect::check_shader(file, read_bytes(file)?),
        false => inspect::check(&source(file)?),
    })
}

pub fn source(file: &Path) -> Result<Source, Failure> {
    Ok(Source::new(file.display().to_string(), read(file)?))
}

/// Compiles the kernels of a file, or the one after the colon, and shows or writes their SPIR-V.
pub fn spirv(
    argument: &OsStr,
    given: &GivenArgs,
    target: &Target,
    output: Option<&Path>,
) -> Result<u8, Failure> {
    let (file, name) = split_kernel(argument);
    if inspect::is_shader(file) {
        if target.debug_info {
            let sentence = format!("`{}` is a shader, and `-g` is for kernels in scripts", file.display());
            return Err(Failure::Usage(sentence));
        }
        return shader(file, name, output);
    }
    let source = source(file)?;
    heap::prepare(source.text().len());
    // The process ends soon: taking the tree apart is a fiftieth of its time.
    let kernels = ManuallyDrop::new(inspect::kernels(&source)?);
    let chosen = choose(&kernels, file, name)?;
    let given = given_types(given)?;
    match (output, &chosen[..]) {
        (None, chosen) => chosen.iter().try_for_each(|kernel| show_words(kernel, target, given.as_ref()))?,
        (Some(output), [kernel]) => write_words(output, &words(kernel, target, given.as_ref())?)?,
        (Some(_), _) => {
            let names = listed(&kernels);
            let sentence = format!(
                "`{}` has {} kernels, and one file holds one: {names}",
                file.display(),
                kernels.len()
            );
            return Err(Failure::Usage(format!("{sentence}; write `{}:NAME`", file.display())));
        }
    }
    Ok(0)
}

/// The SPIR-V of a shader that is not a script: compiled, or as it is. Of WGSL `name` is an entry point.
fn shader(file: &Path, name: Option<&str>, output: Option<&Path>) -> Result<u8, Failure> {
    let bytes = read_bytes(file)?;
    let entry_points = inspect::entry_points(file, &bytes)?;
    let Some(options) = inspect::entry_point(&entry_points, name) else {
        let shown = file.display();
        let names = quoted(entry_points.iter().map(|entry| &*entry.name));
        return Err(Failure::Usage(match name {
            Some(_) if entry_points.is_empty() => {
                format!("`{shown}` is one shader, which has no kernels to choose from")
            }
            Some(name) => format!("`{shown}` has no entry point `{name}`: it has {names}"),
            None => format!("`{shown}` has several entry points: {names}; write `{shown}:NAME`"),
        }));
    };
    let words = inspect::compile_shader(file, bytes, &options)?;
    match output {
        Some(output) => write_words(output, &words)?,
        None => show(on_screen(inspect::disassemble(&words)?))?,
    }
    Ok(0)
}

/// Text for the standard output. A file gets it as it is; on a terminal, names and texts of a module do not move the
/// cursor.
fn on_screen(text: String) -> String {
    match std::io::stdout().is_terminal() {
        true => visible(&text).into_owned(),
        false => text,
    }
}

/// `FILE:KERNEL`, unless `FILE` itself is a file with a colon in its name.
pub fn split_kernel(argument: &OsStr) -> (&Path, Option<&str>) {
    match argument.to_str().and_then(|text| text.rsplit_once(':')) {
        Some((file, name)) if !Path::new(argument).exists() => (Path::new(file), Some(name)),
        _ => (Path::new(argument), None),
    }
}

/// The kernels of that name or path, or all of them.
pub fn choose<'k>(
    kernels: &'k [StaticKernel],
    file: &Path,
    name: Option<&str>,
) -> Result<Vec<&'k StaticKernel>, Failure> {
    let chosen: Vec<&StaticKernel> = match name {
        Some(name) => {
            kernels.iter().filter(|kernel| kernel.name() == name || kernel.path() == name).collect()
        }
        None => kernels.iter().collect(),
    };
    if !chosen.is_empty() {
        return Ok(chosen);
    }
    let file = file.display();
    Err(Failure::Usage(match (kernels, name) {
        ([], _) => format!("`{file}` has no kernel: no function in it is decorated with `@kernel`"),
        (_, Some(name)) => unknown_kernel(kernels, &file.to_string(), name),
        (_, None) => unreachable!("all kernels were chosen"),
    }))
}

fn unknown_kernel(kernels: &[StaticKernel], file: &str, name: &str) -> String {
    let sentence = format!("`{file}` has no kernel `{name}`: it has {}", listed(kernels));
    match inspect::nearest(name, kernels.iter().map(StaticKernel::name)) {
        Some(nearest) => format!("{sentence}; did you mean `{nearest}`?"),
        None => sentence,
    }
}

fn listed(kernels: &[StaticKernel]) -> String {
    quoted(kernels.iter().map(StaticKernel::path))
}

fn quoted(names: impl Iterator<Item = impl Display>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// The types in `--args`.
pub fn given_types(given: &GivenArgs) -> Result<Option<GivenTypes>, Failure> {
    Ok(given.types.as_deref().map(GivenTypes::parse).transpose()?)
}

/// The result of compiling, or why it needs a run.
pub fn done<T>(kernel: &StaticKernel, compiled: Compiled<T>) -> Result<T, Failure> {
    let failure =
        |lacking| format!("cannot compile `{}` without running the script: {lacking}", kernel.name());
    result_of(kernel, compiled).map_err(|lacking| Failure::Usage(failure(lacking)))
}

/// What a kernel needs to have all types, if `whole` says that it lacks something.
pub fn unknown_types(kernel: &StaticKernel, whole: Compiled<()>) -> Option<Failure> {
    let lacking = result_of(kernel, whole).err()?;
    Some(Failure::Usage(format!("not all types in `{}` are known: {lacking}", kernel.name())))
}

/// The result, or what is lacking and how to give it.
fn result_of<T>(kernel: &StaticKernel, compiled: Compiled<T>) -> Result<T, String> {
    match compiled {
        Compiled::Done(result) => Ok(result),
        Compiled::NeedsRun(reason) => {
            Err(format!("{reason}; ask in the script: `print({})`", kernel.explain_call()))
        }
        Compiled::NeedsArgs(reason) => {
            let wanted = kernel.wanted_args().join(", ");
            Err(format!("{reason}; say what a launch would pass: `--args '{wanted}'`"))
        }
    }
}

/// The compilation target: the requested device, or the features of all devices.
pub fn target(device: Option<&str>) -> Result<Target, Failure> {
    let Some(device) = device else { return Ok(Target::portable()) };
    let infos = select::list();
    let chosen = select::choose(&infos, &select::Selector::parse(device)).map_err(no_such_device)?;
    Ok(inspect::target_of(&infos[chosen]))
}

fn words(kernel: &StaticKernel, target: &Target, given: Option<&GivenTypes>) -> Result<Vec<u32>, Failure> {
    Ok(done(kernel, kernel.compile_for(target, given)?)?.words)
}

fn show_words(kernel: &StaticKernel, target: &Target, given: Option<&GivenTypes>) -> Result<(), Failure> {
    let text = inspect::disassemble(&words(kernel, target, given)?)?;
    show(on_screen(format!("; {}\n{text}\n", kernel.name())))
}

fn write_words(output: &Path, words: &[u32]) -> Result<(), Failure> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    match output.to_str() {
        Some("-") => show(bytes),
        _ => std::fs::write(output, bytes)
            .map_err(|error| Failure::Usage(format!("cannot write `{}`: {error}", output.display()))),
    }
}

/// The amount of detail for each device.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Short,
    Long,
}

/// A row for each device: number, name, kind, memory; a star before the one that scripts get. The long form
/// has more below it.
pub fn devices(device: Option<String>, form: Form) -> Result<u8, Failure> {
    let infos = select::list();
    let chosen = select::choose(&infos, &run::selector(device)).map_err(no_such_device)?;
    let mut text = String::new();
    let width = infos.iter().map(|info| info.name.chars().count()).max().unwrap_or(0);
    for (number, info) in infos.iter().enumerate() {
        let mark = if number == chosen { '*' } else { ' ' };
        let row = format!(
            "{mark} {number}  {:width$}  {:6}  {:10}  {}",
            info.name,
            backend(info),
            kind(info),
            remarks(info)
        );
        text.push_str(row.trim_end());
        text.push('\n');
        if form == Form::Long {
            text.push_str(&details(info));
        }
    }
    // Without even a software driver, the short list explains why as well.
    if form == Form::Long || infos.iter().all(|info| info.kind == DeviceKind::BuiltIn) {
        for reason in select::no_gpu(&infos) {
            text.push_str(&format!("no GPU: {reason}\n"));
        }
    }
    show(&*visible(&text))?;
    Ok(0)
}

fn details(info: &DeviceInfo) -> String {
    let driver = Some(info.driver.as_str()).filter(|driver| !driver.is_empty());
    let driver = driver.map(|driver| format!("     driver  {driver}\n"));
    let products = info.matrices.iter().map(|product| format!("     matrices  {product}\n"));
    driver.into_iter().chain(products).collect()
}

pub fn no_such_device(error: DeviceError) -> Failure {
    let sentence = error.to_string();
    match error {
        DeviceError::NoSuchDevice { available, .. } => {
            Failure::Usage(format!("{sentence}; there are {}", quoted(available.iter().map(String::as_str))))
        }
        _ => Failure::Usage(sentence),
    }
}

fn backend(info: &DeviceInfo) -> &'static str {
    match info.backend {
        Backend::Vulkan => "vulkan",
        Backend::Cpu => "cpu",
    }
}

fn kind(info: &DeviceInfo) -> &'static str {
    match info.kind {
        DeviceKind::Discrete => "discrete",
        DeviceKind::Integrated => "integrated",
        DeviceKind::Virtual => "virtual",
        DeviceKind::BuiltIn => "built in",
        DeviceKind::Software => "software",
        DeviceKind::Other => "other",
    }
}

fn remarks(info: &DeviceInfo) -> String {
    match info.lacks.is_empty() {
        true => format!("{:.1} GiB", info.memory as f64 / (1u64 << 30) as f64),
        false => format!("cannot be used: it lacks {}", info.lacks.join(", ")),
    }
}
