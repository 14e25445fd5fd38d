//! GLSL text to naga's module.
//!
//! naga's front end for GLSL knows no atomic and no subgroup operations, no images with their samplers in one, and
//! neither narrow nor 64-bit integers; what it lacks is told by name (`limits`) with what to write instead.

use std::ops::Range;

use kps_syntax::{Diagnostic, Diagnostics, Source};
use naga::front::glsl::{self, Error, Frontend};
use naga::{AddressSpace, Binding, Module, ShaderStage};

use self::constants::Constants;
use self::counts::Counts;
use self::doubles::Doubles;
use self::numbers::Odd;
use self::places::Change;
use self::told::diagnostics;
use crate::specialise::Declared;
use crate::{Options, Stage, barriers, blocks, errors, layouts, switches};

mod arguments;
mod arrays;
mod columns;
mod constants;
mod counts;
mod doubles;
mod folded;
mod functions;
mod indices;
mod instead;
mod lengths;
mod limits;
mod lines;
mod loops;
mod lvalues;
mod mends;
mod numbers;
mod places;
mod shifts;
mod shortcuts;
mod strict;
mod tokens;
mod told;

const WORKGROUP_SIZE: &str = "gl_WorkGroupSize";

/// Names that extensions give to types that GLSL has by other names.
const SAME_TYPES: [(&str, &str); 4] =
    [("int32_t", "int"), ("uint32_t", "uint"), ("float32_t", "float"), ("float64_t", "double")];

/// What GLSL for Vulkan defines, and naga does not; the version is defined with the text at hand.
const KNOWN_MACROS: [(&str, &str); 2] = [("VULKAN", "100"), ("GL_core_profile", "1")];
const VERSION: &str = "__VERSION__";

/// The module, and the specialisation constants that are plain ones in it.
pub(crate) fn parse(source: &Source, options: &Options) -> Result<(Module, Vec<Declared>), Diagnostics> {
    if let Some(name) = options.entry_point.as_deref().filter(|name| *name != "main") {
        return Err(errors::no_entry_of_glsl(source, name).into());
    }
    let text = arrays::turn_lengths(source.text());
    if let Some(range) = arrays::behind_array(&text) {
        return Err(errors::behind_array(errors::location(source, span(range))).into());
    }
    match numbers::odd(&text) {
        Some(Odd::TooLarge(range)) => {
            return Err(errors::large_number(errors::location(source, span(range))).into());
        }
        Some(Odd::Digits(range)) => {
            return Err(errors::odd_number(errors::location(source, span(range))).into());
        }
        None => {}
    }
    let constants = Constants::of(&text);
    if let Some((name, range)) = constants.not_finite(&options.constants) {
        return Err(errors::not_finite(name, errors::location(source, span(range))).into());
    }
    let must_settle = constants.have_sizes() || !options.constants.is_empty();
    let open = (!must_settle).then(|| read(&text, settings(options), &mut |_| Vec::new()));
    let (mut module, settled) = match open {
        Some(Ok(read)) if constants.is_empty() || run_time_value(source, &read.0).is_none() => read,
        Some(Err(found)) if constants.is_empty() => return Err(diagnostics(source, &found)),
        // What is made of a constant may be why: it is tried with their values.
        _ => {
            let (text, macros) = constants.settle(&text, &options.constants);
            let mut settings = settings(options);
            settings.defines.extend(macros);
            read(&text, settings, &mut |module| constants.take(module, &options.constants))
                .map_err(|found| diagnostics(source, &found))?
        }
    };
    let found = functions::undefined(source, &module)
        .or_else(|| port_of_compute(source, &module))
        .or_else(|| run_time_value(source, &module))
        .or_else(|| loops::without_condition(source, &module))
        .or_else(|| Doubles::of(&text).assigned(source, &module))
        .or_else(|| strict::mistake(source, &module));
    if let Some(found) = found {
        return Err(found.into());
    }
    loops::test_behind_continue(&mut module);
    loops::end_behind_endless(&mut module);
    let found =
        lvalues::evaluate_once(source, &mut module).or_else(|| indices::in_order(source, &mut module));
    if let Some(found) = found {
        return Err(found.into());
    }
    shortcuts::take(&mut module);
    let_write_only_buffers_be_read(&mut module);
    blocks::load_members(&mut module);
    layouts::convert(&mut module);
    switches::fill_empty_cases(&mut module);
    barriers::wait_for_workgroups(&mut module);
    barriers::order_memory(&mut module);
    Ok((module, settled))
}

fn span(range: Range<usize>) -> naga::Span {
    naga::Span::new(range.start as u32, range.end as u32)
}

fn settings(options: &Options) -> glsl::Options {
    let mut settings = glsl::Options::from(match options.stage {
        Stage::Compute => ShaderStage::Compute,
        Stage::Vertex => ShaderStage::Vertex,
        Stage::Fragment => ShaderStage::Fragment,
    });
    settings.defines.extend(SAME_TYPES.map(|(name, known)| (name.to_owned(), known.to_owned())));
    settings.defines.extend(KNOWN_MACROS.map(|(name, known)| (name.to_owned(), known.to_owned())));
    settings.defines.extend(options.definitions.iter().cloned());
    settings
}

/// naga's module, with what `settle` finds in it: it may put the workgroup's size right.
///
/// What naga refuses for no reason is changed, and the text read again.
fn read(
    text: &str,
    settings: glsl::Options,
    settle: &mut dyn FnMut(&mut Module) -> Vec<Declared>,
) -> Result<(Module, Vec<Declared>), Vec<Error>> {
    let doubles = Doubles::of(text);
    let mut changes = [&lengths::known(text), doubles.changes()].concat();
    let mut first_errors = None;
    loop {
        let settings = glsl::Options { stage: settings.stage, defines: settings.defines.clone() };
        let result = read_changed(text, &changes, &doubles, settings, settle);
        let mends = match &result {
            Ok((module, _)) => mends::of_module(text, module),
            Err(errors) => {
                let mut all = errors.iter().map(|error| mends::of_error(text, error));
                all.find(|mends| !mends.is_empty()).unwrap_or_default()
            }
        };
        let is_changed = |place: Range<usize>| {
            changes.iter().any(|one| one.place.start < place.end && place.start < one.place.end)
        };
        let are_new = !mends.is_empty() && !mends.iter().any(|mend| is_changed(mend.place.clone()));
        match result {
            result if are_new => {
                first_errors = first_errors.or(result.err());
                changes.extend(mends);
            }
            Err(errors) => {
                let are_of_changes = errors.iter().filter_map(|one| one.meta.to_range()).any(is_changed);
                return Err(first_errors.filter(|_| are_of_changes).unwrap_or(errors));
            }
            result => return result,
        }
    }
}

fn read_changed(
    text: &str,
    changes: &[Change],
    doubles: &Doubles,
    mut settings: glsl::Options,
    settle: &mut dyn FnMut(&mut Module) -> Vec<Declared>,
) -> Result<(Module, Vec<Declared>), Vec<Error>> {
    let counts = Counts::of(text);
    settings.defines.extend([counts.declaration(), (VERSION.to_owned(), version(text))]);
    let text = &*lines::counted(text);
    let text = &*counts.mark(text);
    let declarations = [
        shortcuts::declaration(text),
        mends::declaration(changes),
        doubles.declaration(),
        barriers::declaration(text),
    ]
    .concat();
    let changed = places::change(text, [changes, &[places::declare(text, declarations)]].concat());
    let mut parse = |settings: &glsl::Options| {
        let mut module = Frontend::default().parse(settings, &changed.text).map_err(|mut found| {
            found.errors.iter_mut().for_each(|error| error.meta = changed.span(error.meta));
            found.errors
        })?;
        changed.restore(&mut module);
        counts.define(&mut module);
        doubles.define(&mut module);
        let settled = settle(&mut module);
        Ok((module, settled))
    };
    if text.contains(WORKGROUP_SIZE) {
        // It is a constant, and naga takes it for an input: it is read with some size to learn the one that it has.
        settings.defines.insert(WORKGROUP_SIZE.to_owned(), "uvec3(1, 1, 1)".to_owned());
        let (module, _) = parse(&settings)?;
        let [x, y, z] = module.entry_points.first().map_or([1; 3], |entry| entry.workgroup_size);
        settings.defines.insert(WORKGROUP_SIZE.to_owned(), format!("uvec3({x}, {y}, {z})"));
    }
    parse(&settings)
}

/// The number of the version that a text says, or else of the newest that is known here.
fn version(text: &str) -> String {
    let said = text.split_once("#version").and_then(|(_, behind)| behind.split_whitespace().next());
    said.filter(|said| said.parse::<u32>().is_ok()).unwrap_or("460").to_owned()
}

/// GLSL has `writeonly` buffers, and naga's checker refuses them.
fn let_write_only_buffers_be_read(module: &mut Module) {
    for (_, variable) in module.global_variables.iter_mut() {
        if let AddressSpace::Storage { access } = &mut variable.space {
            *access |= naga::StorageAccess::LOAD;
        }
    }
}

/// An `in` or `out` of a compute shader, which naga makes parameters and results of its entry point.
fn port_of_compute(source: &Source, module: &Module) -> Option<Diagnostic> {
    let entry = module.entry_points.iter().find(|entry| entry.stage == ShaderStage::Compute)?;
    let is_port = |binding: &Option<Binding>| matches!(binding, Some(Binding::Location { .. }));
    let is_input = entry.function.arguments.iter().any(|one| is_port(&one.binding));
    if !is_input && entry.function.result.is_none() {
        return None;
    }
    let word = if is_input { "in" } else { "out" };
    let tokens = tokens::tokens(source.text());
    let mut pairs = tokens.windows(2);
    let place = pairs.find(|pair| pair[0].text == word && pair[1].is_word())?[0].range.clone();
    Some(errors::port_of_compute(word, errors::location(source, span(place))))
}

/// A variable outside of functions with a value that naga leaves out, since it is none of a constant.
fn run_time_value(source: &Source, module: &Module) -> Option<Diagnostic> {
    module.global_variables.iter().find_map(|(handle, variable)| {
        let place = module.global_variables.get_span(handle);
        let location = errors::location(source, place);
        let is_left_out = variable.space == AddressSpace::Private
            && variable.init.is_none()
            && place.is_defined()
            && source.slice(location.span).contains('=');
        is_left_out.then(|| errors::run_time_value(variable.name.as_deref().unwrap_or_default(), location))
    })
}
