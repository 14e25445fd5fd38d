//! `min`, `max`, `any`, `all`: reductions.

use super::support::given;
use crate::errors;
use crate::value::{Args, CompareOp, NativeDef, Result, Value};
use crate::vm::Vm;

pub static FUNCTIONS: &[NativeDef] = &[
    NativeDef::function("min", min)
        .doc("(iterable, *args[, default, key])", "The least item of an iterable, or the least argument."),
    NativeDef::function("max", max).doc(
        "(iterable, *args[, default, key])",
        "The greatest item of an iterable, or the greatest argument.",
    ),
    NativeDef::function("any", any).doc("(iterable, /)", "Tests whether at least one item is true."),
    NativeDef::function("all", all).doc("(iterable, /)", "Tests whether no item is false."),
];

fn min(vm: &mut Vm, args: &Args) -> Result {
    extreme(vm, args, "min", CompareOp::Less)
}

fn max(vm: &mut Vm, args: &Args) -> Result {
    extreme(vm, args, "max", CompareOp::Greater)
}

/// The first item that no other one beats.
fn extreme(vm: &mut Vm, args: &Args, function: &'static str, beats: CompareOp) -> Result {
    let mut parser = args.parser(function);
    let candidates = parser.rest();
    let (key, default) = (given(parser.keyword_only("key")), parser.keyword_only("default"));
    parser.finish()?;
    let iter = match candidates {
        [] => {
            let message = format!("{function} expected at least 1 argument, got 0");
            return Err(errors::type_error(message));
        }
        [items] => vm.iter(items)?,
        several if default.is_none() => vm.iter(&Value::tuple(several))?,
        _ => {
            let message =
                format!("Cannot specify a default for {function}() with multiple positional arguments");
            return Err(errors::type_error(message));
        }
    };
    let mut best: Option<(Value, Value)> = None;
    while let Some(item) = vm.next(&iter)? {
        vm.poll()?;
        let rank = match key {
            Some(key) => vm.call(key, std::slice::from_ref(&item))?,
            None => item.clone(),
        };
        let is_better = match &best {
            Some((best_rank, _)) => {
                let verdict = vm.compare(beats, &rank, best_rank)?;
                vm.truth(&verdict)?
            }
            None => true,
        };
        if is_better {
            best = Some((rank, item));
        }
    }
    match (best, default) {
        (Some((_, item)), _) => Ok(item),
        (None, Some(default)) => Ok(default.clone()),
        (None, None) => Err(errors::value_error(format!("{function}() arg is an empty sequence"))),
    }
}

fn any(vm: &mut Vm, args: &Args) -> Result {
    find_truth(vm, args, "any", true)
}

fn all(vm: &mut Vm, args: &Args) -> Result {
    find_truth(vm, args, "all", false).map(|found| Value::Bool(matches!(found, Value::Bool(false))))
}

/// Whether an item has the truth that is looked for.
fn find_truth(vm: &mut Vm, args: &Args, function: &str, wanted: bool) -> Result {
    let [items] = args.exactly(function)?;
    let iter = vm.iter(items)?;
    while let Some(item) = vm.next(&iter)? {
        vm.poll()?;
        if vm.truth(&item)? == wanted {
            return Ok(Value::Bool(true));
        }
    }
    Ok(Value::Bool(false))
}
