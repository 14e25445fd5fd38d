//! `dir`, `vars`, `globals`, `locals`, `help`, `input`: introspection, and the user's input.

use super::namespace_dict;
use crate::errors;
use crate::input::read_line;
use crate::modules::kernels;
use crate::value::{Args, Dict, ExceptionKind, Name, NativeDef, Raise, Result, Value};
use crate::vm::Vm;

pub static FUNCTIONS: &[NativeDef] = &[
    NativeDef::function("dir", dir),
    NativeDef::function("vars", vars),
    NativeDef::function("globals", globals),
    NativeDef::function("locals", locals),
    NativeDef::function("help", help),
    NativeDef::function("input", input),
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

/// `help(value)`: its kind, its docstring, and the names of its attributes. What kernels know by themselves is asked
/// for by its name: `help("clamp")`.
fn help(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("help");
    let value = parser.optional_positional();
    parser.finish()?;
    let Some(value) = value else {
        vm.print("Write help(x) for what x is and what it can do, help(\"clamp\") for a function of kernels, dir() for the names \
             that are there.\n")?;
        return Ok(Value::None);
    };
    if let Some(text) = kernels::help(vm, value)? {
        vm.print(&text)?;
        return Ok(Value::None);
    }
    let mut text = match value {
        Value::Class(class) => format!("class {} in module {}\n", class.name, class.module),
        Value::Module(module) => format!("module {}\n", module.name),
        other => format!("{}: {}\n", vm.repr(other)?, other.type_name()),
    };
    if let Some(doc) = vm.find_attr(value, "__doc__")?
        && let Some(doc) = doc.as_str()
    {
        for line in doc.trim().lines() {
            text.push_str(&format!("    {}\n", line.trim()));
        }
    }
    let names: Vec<Name> = vm.attr_names(value).into_iter().filter(|name| !name.starts_with('_')).collect();
    if !names.is_empty() {
        let names: Vec<&str> = names.iter().map(|name| &**name).collect();
        text.push_str(&format!("attributes: {}\n", names.join(", ")));
    }
    vm.print(&text)?;
    Ok(Value::None)
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
