//! Specialisation constants, which naga can read and cannot emit.
//!
//! Before naga emits the module, each constant becomes a plain one with a sentinel: a value that occurs
//! nowhere else. The emitted constant with that value then becomes a specialisation constant (`declare`). A
//! boolean has no sentinel, nor has a constant that determines the length of an array, the size of a
//! workgroup or another constant. A module with such a constant is *specialised*: the values of all its
//! constants are fixed in it. It still declares its constants, and it records how it was compiled (`recipe`)
//! to be compiled again for other values.

use kps_syntax::{Diagnostics, Source};
use naga::back::PipelineConstants;
use naga::back::pipeline_constants::{PipelineConstantError, process_overrides};
use naga::{Constant, Expression, Handle, Literal, Module, Override, Span, TypeInner};
use rustc_hash::FxHashSet;

use crate::wgsl::invalid;
use crate::wgsl::names::Names;
use crate::{Given, errors};

mod declare;

/// Sentinels are values that no text is likely to contain: about 7e37 or 1e301 as floats, far from round
/// numbers as integers.
const FIRST_SENTINEL: u32 = 0x7e5a_c301;

/// Adds the values of constants to diagnostics of a module whose constants are not replaced yet.
pub(crate) fn explain(found: Diagnostics, module: &Module, given: &[Given]) -> Diagnostics {
    let open = current(module, &open_constants(module), given);
    with_values(found, &open)
}

/// Adds the values of the constants that the text names at the error or later in its line.
fn with_values(mut found: Diagnostics, constants: &[Declared]) -> Diagnostics {
    for diagnostic in &mut found.0 {
        let Some(label) = diagnostic.labels.first() else { continue };
        let rest = &label.location.source.text()[label.location.span.start as usize..];
        let line = rest.lines().next().unwrap_or_default();
        let words: Vec<&str> = line
            .split(|letter: char| !letter.is_alphanumeric() && letter != '_')
            .filter(|word| !word.is_empty())
            .collect();
        let is_mentioned = |one: &&Declared| {
            let is_size = |pair: &[&str]| pair[0].ends_with("_id") && pair[1] == one.id.to_string();
            words.contains(&one.name.as_str()) || words.windows(2).any(is_size)
        };
        let descriptions: Vec<String> =
            constants.iter().filter(is_mentioned).map(Declared::description).collect();
        if !descriptions.is_empty() {
            diagnostic.help = Some(
                descriptions.into_iter().chain(diagnostic.help.take()).collect::<Vec<String>>().join("; "),
            );
        }
    }
    found
}

/// A specialisation constant of a text.
pub(crate) struct Declared {
    pub id: u32,
    pub name: String,
    /// Its current value: the one that was given, or its default.
    pub value: Literal,
}

impl Declared {
    fn description(&self) -> String {
        let value = match self.value {
            Literal::F64(value) => value.to_string(),
            Literal::F32(value) => value.to_string(),
            Literal::U32(value) => value.to_string(),
            Literal::I32(value) => value.to_string(),
            Literal::Bool(value) => value.to_string(),
            _ => "another".to_owned(),
        };
        format!("the specialisation constant `{}` is {value} here", self.name)
    }
}

/// The specialisation constants of a module.
pub(crate) struct Constants {
    declared: Vec<Declared>,
    /// The sentinels of the constants that are not specialised, in the order of `declared`.
    sentinels: Vec<Literal>,
    /// Names of the constants without a value: the text has no default. In this module they have a stand-in.
    pub unset: Vec<String>,
}

impl Constants {
    /// Whether other values than the given ones require another module.
    pub(crate) fn are_specialised(&self) -> bool {
        self.sentinels.len() < self.declared.len()
    }

    /// Adds these values to diagnostics that they cause.
    pub(crate) fn explain(&self, found: Diagnostics) -> Diagnostics {
        with_values(found, &self.declared)
    }
}

/// An override of naga's with its id.
struct Open {
    id: u32,
    handle: Handle<Override>,
    constant: Override,
}

/// Replaces all overrides of a module.
pub(crate) fn take_constants(
    source: &Source,
    module: &mut Module,
    given: &[Given],
) -> Result<Constants, Diagnostics> {
    let open = open_constants(module);
    let is_given = |id: u32| given.iter().any(|(given, _)| *given == id);
    let unset: Vec<&Open> =
        open.iter().filter(|open| open.constant.init.is_none() && !is_given(open.id)).collect();
    if given.is_empty()
        && unset.is_empty()
        && let Some(constants) = insert_sentinels(module, &open)
    {
        return Ok(constants);
    }
    let mut declared = match unset.is_empty() {
        true => specialise(source, module, &open, given)?,
        false => specialise_with_stand_ins(source, module, &open, (&unset, given))?,
    };
    declared.sort_by_key(|constant| constant.id);
    let unset = unset.iter().map(|open| open.constant.name.clone().unwrap_or_default()).collect();
    Ok(Constants { declared, sentinels: Vec::new(), unset })
}

/// Stand-ins for constants without a value; the first one for which a module compiles is used. They may be
/// sizes.
const STAND_INS: [f64; 3] = [1.0, 64.0, 1024.0];

/// Specialises a module of which some constants have no value.
fn specialise_with_stand_ins(
    source: &Source,
    module: &mut Module,
    open: &[Open],
    (unset, given): (&[&Open], &[Given]),
) -> Result<Vec<Declared>, Diagnostics> {
    let mut first = None;
    for stand_in in STAND_INS {
        let values: Vec<Given> =
            given.iter().copied().chain(unset.iter().map(|open| (open.id, stand_in))).collect();
        match specialise(source, module, open, &values) {
            Ok(declared) => return Ok(declared),
            Err(found) => first = first.or(Some(found)),
        }
    }
    Err(first.expect("there is a number to try"))
}

/// The overrides of a module. Those without an id in the text get free ids, in order.
fn open_constants(module: &Module) -> Vec<Open> {
    let in_text = module.overrides.iter().filter_map(|(_, one)| one.id).map(u32::from);
    let given: FxHashSet<u32> = in_text.collect();
    let mut free = (0..).filter(|id| !given.contains(id));
    let open = |(handle, constant): (Handle<Override>, &Override)| {
        let id =
            constant.id.map(u32::from).or_else(|| free.next()).expect("there are more ids than constants");
        Open { id, handle, constant: constant.clone() }
    };
    module.overrides.iter().map(open).collect()
}

/// Turns all overrides into plain constants with sentinels, if all can be found again.
fn insert_sentinels(module: &mut Module, open: &[Open]) -> Option<Constants> {
    let fixed = part_of_others(module);
    let mut declared = Vec::new();
    for Open { id, handle, constant } in open {
        let value = value(module, constant.init?)?;
        if fixed.contains(handle) {
            return None;
        }
        declared.push(Declared { id: *id, name: constant.name.clone().unwrap_or_default(), value });
    }
    let sentinels: Vec<Literal> = declared
        .iter()
        .zip(FIRST_SENTINEL..)
        .map_while(|(one, sentinel)| sentinel_of(one.value, sentinel))
        .collect();
    if sentinels.len() < declared.len() {
        return None;
    }
    for (open, sentinel) in open.iter().zip(&sentinels) {
        let init = module.global_expressions.append(Expression::Literal(*sentinel), Span::UNDEFINED);
        let plain = Constant { name: open.constant.name.clone(), ty: open.constant.ty, init };
        let plain = module.constants.append(plain, Span::UNDEFINED);
        replace(module, open.handle, plain);
    }
    Some(Constants { declared, sentinels, unset: Vec::new() })
}

/// A sentinel of a value's type. Types of few bits have none.
fn sentinel_of(value: Literal, sentinel: u32) -> Option<Literal> {
    Some(match value {
        Literal::F64(_) => Literal::F64(f64::from_bits(u64::from(sentinel) << 32)),
        Literal::F32(_) => Literal::F32(f32::from_bits(sentinel)),
        Literal::I32(_) => Literal::I32(sentinel as i32),
        Literal::U32(_) => Literal::U32(sentinel),
        _ => return None,
    })
}

/// Constants that types or other constants depend on. Only functions use all others.
fn part_of_others(module: &Module) -> FxHashSet<Handle<Override>> {
    let in_globals = module.global_expressions.iter().filter_map(|(_, one)| match one {
        Expression::Override(handle) => Some(*handle),
        _ => None,
    });
    let in_types = module.types.iter().filter_map(|(_, ty)| match ty.inner {
        TypeInner::Array { size: naga::ArraySize::Pending(handle), .. } => Some(handle),
        _ => None,
    });
    in_globals.chain(in_types).collect()
}

fn replace(module: &mut Module, from: Handle<Override>, to: Handle<Constant>) {
    let functions = module.functions.iter_mut().map(|(_, function)| function);
    let entries = module.entry_points.iter_mut().map(|entry| &mut entry.function);
    for function in functions.chain(entries) {
        for (_, expression) in function.expressions.iter_mut() {
            if *expression == Expression::Override(from) {
                *expression = Expression::Constant(to);
            }
        }
    }
}

/// Specialises a module with the given values and the defaults, which may depend on them.
fn specialise(
    source: &Source,
    module: &mut Module,
    open: &[Open],
    given: &[Given],
) -> Result<Vec<Declared>, Diagnostics> {
    let mut values = PipelineConstants::default();
    for Open { id, handle, constant } in open {
        let Some((_, value)) = given.iter().find(|(given, _)| given == id) else { continue };
        let name = constant.name.clone().unwrap_or_default();
        if !value.is_finite() {
            let location = errors::location(source, module.overrides.get_span(*handle));
            return Err(errors::not_finite(&name, location).into());
        }
        // naga uses the id alone if a constant has one.
        values.insert(constant.id.map_or(name, |id| id.to_string()), *value);
    }
    let info = invalid::check(source, Names { module })?;
    let mut kept = module.clone();
    keep(&mut kept, open);
    let (resolved, _) = process_overrides(&kept, &info, None, &values).map_err(|error| {
        let found = not_specialisable(source, Names { module }, &error);
        with_values(found, &current(module, open, given))
    })?;
    *module = resolved.into_owned();
    Ok(take_kept(module, open))
}

/// The constants with their given values or their defaults.
fn current(module: &Module, open: &[Open], given: &[Given]) -> Vec<Declared> {
    let declared = |Open { id, constant, .. }: &Open| {
        let given = given.iter().find(|(given, _)| given == id).map(|(_, value)| Literal::F64(*value));
        let value = given.or_else(|| value(module, constant.init?))?;
        Some(Declared { id: *id, name: constant.name.clone().unwrap_or_default(), value })
    };
    open.iter().filter_map(declared).collect()
}

/// naga drops unused constants, but keeps named ones: each gets a name, and so has its value afterwards.
fn keep(module: &mut Module, open: &[Open]) {
    for Open { id, handle, constant } in open {
        let init = module.global_expressions.append(Expression::Override(*handle), Span::UNDEFINED);
        let constant = Constant { name: Some(placeholder_name(*id)), ty: constant.ty, init };
        module.constants.append(constant, Span::UNDEFINED);
    }
}

fn take_kept(module: &mut Module, open: &[Open]) -> Vec<Declared> {
    let mut declared = Vec::new();
    for Open { id, constant, .. } in open {
        let name = placeholder_name(*id);
        let Some((handle, kept)) = module.constants.iter().find(|(_, one)| one.name.as_ref() == Some(&name))
        else {
            continue;
        };
        if let Some(value) = value(module, kept.init) {
            declared.push(Declared { id: *id, name: constant.name.clone().unwrap_or_default(), value });
        }
        // Without a name, an unused constant is dropped.
        module.constants[handle].name = None;
    }
    declared
}

/// A name that is not an identifier in any language.
fn placeholder_name(id: u32) -> String {
    format!("constant {id}")
}

/// Reports that the values, or constants that depend on them, make no valid module.
fn not_specialisable(source: &Source, names: Names, error: &PipelineConstantError) -> Diagnostics {
    match error {
        PipelineConstantError::ValidationError(error) => invalid::diagnostic(source, names, error).into(),
        PipelineConstantError::NegativeWorkgroupSize => errors::workgroup_size(source).into(),
        error => errors::not_emitted(source, &error.to_string()).into(),
    }
}

/// The value of a constant's expression, if it is known.
pub(crate) fn value(module: &Module, init: Handle<Expression>) -> Option<Literal> {
    match module.global_expressions[init] {
        Expression::Literal(literal) => Some(literal),
        Expression::Constant(constant) => value(module, module.constants[constant].init),
        Expression::ZeroValue(ty) => Literal::zero(module.types[ty].inner.scalar()?),
        _ => None,
    }
}
