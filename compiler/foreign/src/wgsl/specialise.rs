//! Specialisation constants, which naga can read and cannot write.
//!
//! Before naga writes the words, each constant is made a plain one whose value occurs nowhere else; in the words, that
//! value is found again and turned into a specialisation constant (`declare`). A boolean, or a constant that the length
//! of an array, the size of a workgroup or another constant is made of, cannot be found again: then all of the module's
//! constants are *settled*, which is to say that their values are in the words. Such words declare their constants all
//! the same and say how they were made (`recipe`), so that they are made anew for other values.

use kps_syntax::{Diagnostics, Source};
use naga::back::PipelineConstants;
use naga::back::pipeline_constants::{PipelineConstantError, process_overrides};
use naga::{Constant, Expression, Handle, Literal, Module, Override, Span, TypeInner};
use rustc_hash::FxHashSet;

use crate::wgsl::invalid;
use crate::wgsl::names::Names;
use crate::{Given, errors};

mod declare;

/// Values that no text is likely to hold: about 7e37 or 1e301 as floats, far from round numbers as integers.
const FIRST_MARK: u32 = 0x7e5a_c301;

/// Mistakes of a module whose constants are not taken yet, with their values.
pub(crate) fn explain(found: Diagnostics, module: &Module, given: &[Given]) -> Diagnostics {
    let open = current(module, &open_constants(module), given);
    with_values(found, &open)
}

/// Mistakes with the values of the constants that are named where they are, or behind on the line.
fn with_values(mut found: Diagnostics, constants: &[Declared]) -> Diagnostics {
    for diagnostic in &mut found.0 {
        let Some(label) = diagnostic.labels.first() else { continue };
        let rest = &label.location.source.text()[label.location.span.start as usize..];
        let line = rest.lines().next().unwrap_or_default();
        let words: Vec<&str> = line
            .split(|letter: char| !letter.is_alphanumeric() && letter != '_')
            .filter(|word| !word.is_empty())
            .collect();
        let is_told = |one: &&Declared| {
            let is_size = |pair: &[&str]| pair[0].ends_with("_id") && pair[1] == one.id.to_string();
            words.contains(&one.name.as_str()) || words.windows(2).any(is_size)
        };
        let told: Vec<String> = constants.iter().filter(is_told).map(Declared::told).collect();
        if !told.is_empty() {
            diagnostic.help =
                Some(told.into_iter().chain(diagnostic.help.take()).collect::<Vec<String>>().join("; "));
        }
    }
    found
}

/// A specialisation constant of a text.
pub(crate) struct Declared {
    pub id: u32,
    pub name: String,
    /// The value that it has here: the one that was given, or its default.
    pub value: Literal,
}

impl Declared {
    fn told(&self) -> String {
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
    /// The values by which those are found again that are not settled, in the order of `declared`.
    marks: Vec<Literal>,
    /// Names of those that have no value yet: the text gives them none. In these words they have one that serves.
    pub unset: Vec<String>,
}

impl Constants {
    /// Whether other values than those that were given take other words.
    pub(crate) fn are_settled(&self) -> bool {
        self.marks.len() < self.declared.len()
    }

    /// Mistakes that come of their values, with these.
    pub(crate) fn explain(&self, found: Diagnostics) -> Diagnostics {
        with_values(found, &self.declared)
    }
}

/// An override of naga's with the id by which values are given for it.
struct Open {
    id: u32,
    handle: Handle<Override>,
    constant: Override,
}

/// Leaves no override in a module.
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
        && let Some(constants) = hide(module, &open)
    {
        return Ok(constants);
    }
    let mut declared = match unset.is_empty() {
        true => settle(source, module, &open, given)?,
        false => settle_without(source, module, &open, (&unset, given))?,
    };
    declared.sort_by_key(|constant| constant.id);
    let unset = unset.iter().map(|open| open.constant.name.clone().unwrap_or_default()).collect();
    Ok(Constants { declared, marks: Vec::new(), unset })
}

/// Numbers for constants without a value, the first of which will do that makes a module: they may be sizes.
const STAND_INS: [f64; 3] = [1.0, 64.0, 1024.0];

/// Puts values in, where some constants have none.
fn settle_without(
    source: &Source,
    module: &mut Module,
    open: &[Open],
    (unset, given): (&[&Open], &[Given]),
) -> Result<Vec<Declared>, Diagnostics> {
    let mut first = None;
    for stand_in in STAND_INS {
        let values: Vec<Given> =
            given.iter().copied().chain(unset.iter().map(|open| (open.id, stand_in))).collect();
        match settle(source, module, open, &values) {
            Ok(declared) => return Ok(declared),
            Err(found) => first = first.or(Some(found)),
        }
    }
    Err(first.expect("there is a number to try"))
}

/// The overrides of a module; those that the text gives no id get what is free, in order.
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

/// Makes plain constants with marks of all, where all will be found again.
fn hide(module: &mut Module, open: &[Open]) -> Option<Constants> {
    let fixed = part_of_others(module);
    let mut declared = Vec::new();
    for Open { id, handle, constant } in open {
        let value = value(module, constant.init?)?;
        if fixed.contains(handle) {
            return None;
        }
        declared.push(Declared { id: *id, name: constant.name.clone().unwrap_or_default(), value });
    }
    let marks: Vec<Literal> =
        declared.iter().zip(FIRST_MARK..).map_while(|(one, mark)| marked(one.value, mark)).collect();
    if marks.len() < declared.len() {
        return None;
    }
    for (open, mark) in open.iter().zip(&marks) {
        let init = module.global_expressions.append(Expression::Literal(*mark), Span::UNDEFINED);
        let plain = Constant { name: open.constant.name.clone(), ty: open.constant.ty, init };
        let plain = module.constants.append(plain, Span::UNDEFINED);
        replace(module, open.handle, plain);
    }
    Some(Constants { declared, marks, unset: Vec::new() })
}

/// A mark of a value's type; there are none of few bits.
fn marked(value: Literal, mark: u32) -> Option<Literal> {
    Some(match value {
        Literal::F64(_) => Literal::F64(f64::from_bits(u64::from(mark) << 32)),
        Literal::F32(_) => Literal::F32(f32::from_bits(mark)),
        Literal::I32(_) => Literal::I32(mark as i32),
        Literal::U32(_) => Literal::U32(mark),
        _ => return None,
    })
}

/// Constants that types or other constants are made of; for all others, it is functions alone that use them.
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

/// Puts values in: those that are given, and defaults, which may follow from them.
fn settle(
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
        // naga goes by ids alone where there are some.
        values.insert(constant.id.map_or(name, |id| id.to_string()), *value);
    }
    let info = invalid::check(source, Names { module })?;
    let mut kept = module.clone();
    keep(&mut kept, open);
    let (resolved, _) = process_overrides(&kept, &info, None, &values).map_err(|error| {
        let found = unsettled(source, Names { module }, &error);
        with_values(found, &current(module, open, given))
    })?;
    *module = resolved.into_owned();
    Ok(take_kept(module, open))
}

/// The constants as they are given, or else by default.
fn current(module: &Module, open: &[Open], given: &[Given]) -> Vec<Declared> {
    let declared = |Open { id, constant, .. }: &Open| {
        let given = given.iter().find(|(given, _)| given == id).map(|(_, value)| Literal::F64(*value));
        let value = given.or_else(|| value(module, constant.init?))?;
        Some(Declared { id: *id, name: constant.name.clone().unwrap_or_default(), value })
    };
    open.iter().filter_map(declared).collect()
}

/// naga drops what nothing uses, and keeps constants that have names: each gets one, which has its value then.
fn keep(module: &mut Module, open: &[Open]) {
    for Open { id, handle, constant } in open {
        let init = module.global_expressions.append(Expression::Override(*handle), Span::UNDEFINED);
        let constant = Constant { name: Some(kept_name(*id)), ty: constant.ty, init };
        module.constants.append(constant, Span::UNDEFINED);
    }
}

fn take_kept(module: &mut Module, open: &[Open]) -> Vec<Declared> {
    let mut declared = Vec::new();
    for Open { id, constant, .. } in open {
        let name = kept_name(*id);
        let Some((handle, kept)) = module.constants.iter().find(|(_, one)| one.name.as_ref() == Some(&name))
        else {
            continue;
        };
        if let Some(value) = value(module, kept.init) {
            declared.push(Declared { id: *id, name: constant.name.clone().unwrap_or_default(), value });
        }
        // Without a name it goes with whatever else is not used.
        module.constants[handle].name = None;
    }
    declared
}

/// A name that is none in any language.
fn kept_name(id: u32) -> String {
    format!("constant {id}")
}

/// The values, those that follow from them included, do not make a module.
fn unsettled(source: &Source, names: Names, error: &PipelineConstantError) -> Diagnostics {
    match error {
        PipelineConstantError::ValidationError(error) => invalid::diagnostic(source, names, error).into(),
        PipelineConstantError::NegativeWorkgroupSize => errors::workgroup_size(source).into(),
        error => errors::not_emitted(source, &error.to_string()).into(),
    }
}

/// The value of a constant's expression, where it is known.
pub(crate) fn value(module: &Module, init: Handle<Expression>) -> Option<Literal> {
    match module.global_expressions[init] {
        Expression::Literal(literal) => Some(literal),
        Expression::Constant(constant) => value(module, module.constants[constant].init),
        Expression::ZeroValue(ty) => Literal::zero(module.types[ty].inner.scalar()?),
        _ => None,
    }
}
