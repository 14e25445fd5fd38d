//! `format(value, spec)` and the `%` operator of strings.

use crate::errors;
use crate::value::{Result, Value};
use crate::vm::Vm;

/// `format(value, spec)`.
pub fn format_value(vm: &mut Vm, value: &Value, spec: &str) -> Result<String> {
    if let Value::Native(object) = value
        && let Some(text) = object.object().format(value, vm, spec)?
    {
        return Ok(text);
    }
    if let Some(function) = vm.script_method(value, "__format__") {
        let text = vm.call_method_value(&function, value, &[Value::str(spec)])?;
        return vm.str(&text);
    }
    if spec.is_empty() {
        return vm.str(value);
    }
    Err(errors::value_error(format!("format specs such as `{spec}` are not there yet")))
}

/// `text % args`.
pub fn percent(_: &mut Vm, _: &str, _: &Value) -> Result<String> {
    Err(errors::type_error("the `%` operator of strings is not there yet").help("write an f-string"))
}
