//! `dir`, `vars`, `globals`, `locals`, `input`: introspection, and the user's input.

use super::namespace_dict;
use crate::errors;
use crate::input::read_line;
use crate::value::{Args, Dict, ExceptionKind, Name, NativeDef, Raise, Result, Value};
use crate::vm::Vm;

pub static FUNCTIONS: &[NativeDef] = &[
    NativeDef::function("dir", dir).doc(
        "([object])",
        "The names of an object's attributes, sorted; without an object, those of the scope.",
    ),
    NativeDef::function("vars", vars).doc(
        "([object])",
        "The attributes of an object as a dict; without an object, the same as `locals()`.",
    ),
    NativeDef::function("globals", globals)
        .doc("()", "The names of the module with their values, as a dict."),
    NativeDef::function("locals", locals)
        .doc("()", "The names of the function with their values, as a dict."),
    NativeDef::function("help", super::help::help)
        .doc("([object])", "Prints the signature, the meaning and the members of an object."),
    NativeDef::function("input", input)
        .doc("(prompt='', /)", "Reads a line of standard input, without its end."),
];

fn global_pairs(vm: &Vm) -> Vec<(Name, Value)> {
    vm.caller_globals().map_or(Vec::new(), |globals| globals.to_pairs())
}

fn local_pairs(vm: &Vm) -> Vec<(Name, Value)> {
    vm.caller_locals().unwrap_or_else(|| global_pairs(vm))
}

/// A copy of the local names; those of a module are its globals.
fn local_names(vm: &Vm) -> Result {
    match (vm.caller_locals(), vm.caller_globals()) {
        (None, Some(globals)) => Ok(namespace_dict(&globals)),
        (locals, _) => Ok(Dict::of_names(locals.unwrap_or_default())),
    }
}

/// `dir()`, `dir(value)`.
fn dir(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("dir");
    let value = parser.optional_positional();
    parser.finish()?;
    let mut names: Vec<Name> = match value {
        None => local_pairs(vm).into_iter().map(|(name, _)| name).collect(),
        Some(value) => {
            if let Some(function) = vm.script_method(value, "__dir__") {
                let names = vm.call_method_value(&function, value, &[])?;
                return super::sort::sorted(vm, &Args::new(&[names], &[]));
            }
            if let Value::Module(module) = value
                && let Some(function) = module.get("__dir__")
            {
                let names = vm.call(&function, &[])?;
                return super::sort::sorted(vm, &Args::new(&[names], &[]));
            }
            vm.attr_names(value)
        }
    };
    names.sort_by(|left, right| left.as_bytes().cmp(right.as_bytes()));
    Ok(Value::list(names.into_iter().map(Value::from).collect()))
}

/// `vars()`, `vars(value)`: the names and their values.
fn vars(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("vars");
    let value = parser.optional_positional();
    parser.finish()?;
    let Some(value) = value else { return local_names(vm) };
    match vm.find_attr(value, "__dict__")? {
        Some(dict) => Ok(dict),
        None => Err(errors::type_error("vars() argument must have __dict__ attribute")),
    }
}

fn globals(vm: &mut Vm, args: &Args) -> Result {
    args.exactly::<0>("globals")?;
    Ok(match vm.caller_globals() {
        Some(globals) => namespace_dict(&globals),
        None => Value::Dict(Dict::new().into()),
    })
}

fn locals(vm: &mut Vm, args: &Args) -> Result {
    args.exactly::<0>("locals")?;
    local_names(vm)
}

/// `input(prompt="")`: a line from standard input, without its end.
fn input(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("input");
    let prompt = parser.optional_positional();
    parser.finish()?;
    if let Some(prompt) = prompt {
        let prompt = vm.str(prompt)?;
        vm.print(&prompt)?;
    }
    match read_line(vm)? {
        Some(line) => Ok(Value::str(line.strip_suffix('\n').unwrap_or(&line))),
        None => Err(Raise::new(ExceptionKind::EOFError, "EOF when reading a line")),
    }
}
