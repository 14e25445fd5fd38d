//! `help(value)`: describes a value.
//!
//! A value goes in; a page of text is printed. The page of a function has its signature and its docstring. The
//! page of a class, a module or an object also has a line for each documented member, then the names of the
//! others. Properties are described, never read.

use std::fmt::Write;

use crate::modules::kernels;
use crate::value::{Args, BoundMethod, Class, Descriptor, Function, Name, NativeKind, Result, Value};
use crate::vm::Vm;

const HINT: &str = "Write help(x) for what x is and what it can do, help(\"clamp\") for a function of kernels, dir() for \
                    the names that are there.\n";

/// `help(value)`, `help()`.
pub fn help(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("help");
    let value = parser.optional_positional();
    parser.finish()?;
    let page = match value {
        Some(value) => page(vm, value)?,
        None => HINT.to_owned(),
    };
    vm.print(&page)?;
    Ok(Value::None)
}

fn page(vm: &mut Vm, value: &Value) -> Result<String> {
    if let Some(page) = kernels::help(vm, value)? {
        return Ok(page);
    }
    if let Some(name) = value.as_str() {
        return Ok(format!("Kernels know no name `{name}`. {HINT}"));
    }
    let mut page = title(vm, value)?;
    page.push('\n');
    let doc = vm.find_attr(value, "__doc__")?;
    for line in doc.iter().filter_map(Value::as_str).flat_map(|doc| doc.trim().lines()) {
        let line = line.trim();
        let indent = if line.is_empty() { "" } else { "    " };
        writeln!(page, "{indent}{line}").expect("a string takes all");
    }
    add_members(vm, value, &mut page)?;
    Ok(page)
}

fn title(vm: &mut Vm, value: &Value) -> Result<String> {
    match value {
        Value::Class(class) => {
            let signature = signature(vm, value)?;
            Ok(format!("class {}{signature} in module {}", class.shown_name(), class.shown_module()))
        }
        Value::Module(module) => Ok(format!("module {}", module.name)),
        Value::Function(_) | Value::Method(_) => {
            let name = vm.get_attr(value, "__qualname__")?;
            Ok(format!("{}{}", vm.str(&name)?, signature(vm, value)?))
        }
        Value::NativeFunction(function) => {
            let class = function.class.as_ref().map_or(String::new(), |class| format!("{class}."));
            Ok(format!("{class}{}{}", function.name, signature(vm, value)?))
        }
        other => Ok(format!("{}: {}", vm.repr(other)?, other.type_name())),
    }
}

/// A line for each documented member, and the names of the others.
fn add_members(vm: &mut Vm, value: &Value, page: &mut String) -> Result<()> {
    let mut undocumented: Vec<Name> = Vec::new();
    let mut is_first = true;
    for name in vm.attr_names(value).into_iter().filter(|name| !name.starts_with('_')) {
        let member = member(vm, value, &name);
        let Some(line) = member.map_or(Ok(None), |member| member_line(vm, &name, &member))? else {
            undocumented.push(name);
            continue;
        };
        if std::mem::take(&mut is_first) {
            page.push('\n');
        }
        writeln!(page, "    {line}").expect("a string takes all");
    }
    if !undocumented.is_empty() {
        let names: Vec<&str> = undocumented.iter().map(|name| &**name).collect();
        writeln!(page, "attributes: {}", names.join(", ")).expect("a string takes all");
    }
    Ok(())
}

/// An attribute as the module or the class has it, unbound.
fn member(vm: &Vm, value: &Value, name: &Name) -> Option<Value> {
    match value {
        Value::Module(module) => module.get(name),
        Value::Class(class) => class.lookup(name),
        other => vm.class_of(other).lookup(name),
    }
}

fn member_line(vm: &mut Vm, name: &Name, member: &Value) -> Result<Option<String>> {
    let Some(doc) = doc(vm, member)? else { return Ok(None) };
    let first = doc.trim().lines().next().unwrap_or_default().trim_end();
    if first.is_empty() {
        return Ok(None);
    }
    let signature = signature(vm, member)?;
    Ok(Some(format!("{name}{signature} - {first}")))
}

/// The docstring of a member; that of its class does not count.
fn doc(vm: &mut Vm, value: &Value) -> Result<Option<String>> {
    let doc = match value {
        Value::Native(object) => match vm.class_of(value).lookup_text("__doc__") {
            Some(_) => vm.find_attr(value, "__doc__")?,
            None => object.object().get_attr(value, vm, "__doc__")?,
        },
        Value::Class(_)
        | Value::Module(_)
        | Value::Function(_)
        | Value::NativeFunction(_)
        | Value::Method(_)
        | Value::Descriptor(_) => vm.find_attr(value, "__doc__")?,
        _ => None,
    };
    Ok(doc.and_then(|doc| doc.as_str().map(|text| text.to_string())))
}

/// The parameters in brackets; empty for what is not called.
fn signature(vm: &mut Vm, value: &Value) -> Result<String> {
    Ok(match value {
        Value::NativeFunction(function) => match (function.doc, function.kind) {
            (Some(doc), _) => doc.signature.to_owned(),
            (None, NativeKind::Getter) => String::new(),
            (None, _) => "(..)".to_owned(),
        },
        Value::Class(class) => class_signature(vm, class)?,
        Value::Function(function) => parameters(vm, function, 0)?,
        Value::Method(method) => method_signature(vm, method)?,
        Value::Descriptor(descriptor) => match &**descriptor {
            Descriptor::Property { .. } => String::new(),
            Descriptor::StaticMethod(function) => signature(vm, function)?,
            Descriptor::ClassMethod(Value::Function(function)) => parameters(vm, function, 1)?,
            Descriptor::ClassMethod(_) => "(..)".to_owned(),
        },
        _ => String::new(),
    })
}

/// The parameters of `__init__` for a class of a script.
fn class_signature(vm: &mut Vm, class: &Class) -> Result<String> {
    match class.lookup_text("__init__") {
        Some(Value::Function(init)) if class.is_script => parameters(vm, &init, 1),
        _ => Ok(class.doc.map_or(String::new(), |doc| doc.signature.to_owned())),
    }
}

fn method_signature(vm: &mut Vm, method: &BoundMethod) -> Result<String> {
    match &method.function {
        Value::Function(function) => parameters(vm, function, 1),
        function => signature(vm, function),
    }
}

/// The parameters of a script's function with their defaults, without the first `n_bound`.
fn parameters(vm: &mut Vm, function: &Function, n_bound: usize) -> Result<String> {
    let params = function.code.code.params;
    let names = &function.code.param_names;
    let (n_positional, n_named) = (params.n_positional as usize, params.n_named());
    let defaults = function.defaults.borrow().clone();
    let keyword_defaults = function.keyword_defaults.borrow().clone();
    let first_default = n_positional - defaults.len();
    let mut shown = Vec::with_capacity(names.len());
    for at in n_bound..n_positional {
        let default = at.checked_sub(first_default).map(|at| &defaults[at]);
        shown.push(parameter(vm, &names[at], default)?);
        if at + 1 == params.n_positional_only as usize {
            shown.push("/".to_owned());
        }
    }
    if params.has_var_positional {
        shown.push(format!("*{}", names[n_named]));
    } else if params.n_keyword_only > 0 {
        shown.push("*".to_owned());
    }
    for at in n_positional..n_named {
        let default = keyword_defaults.get(at - n_positional).filter(|default| !default.is_unset());
        shown.push(parameter(vm, &names[at], default)?);
    }
    if params.has_var_keyword {
        shown.push(format!("**{}", names[n_named + usize::from(params.has_var_positional)]));
    }
    Ok(format!("({})", shown.join(", ")))
}

fn parameter(vm: &mut Vm, name: &Name, default: Option<&Value>) -> Result<String> {
    match default {
        Some(default) => Ok(format!("{name}={}", vm.repr(default)?)),
        None => Ok(name.to_string()),
    }
}
