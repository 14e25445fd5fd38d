//! `kernel.explain()`: what the kernel means, as `kps explain` prints it.
//!
//! Out comes an [`Explanation`], which prints as that page. Without arguments the parameters' annotations
//! say the types; given those of a launch, what that launch would compile is explained. Nothing runs.

use kps_compute::Extent;
use kps_kernel::Target;

use super::object::Kernel;
use super::{errors, launch};
use crate::explain::Explained;
use crate::value::{Args, Native, NativeType, Result, Value};
use crate::vm::Vm;

static EXPLANATION: NativeType = NativeType::new("Explanation", "pyshader");

struct Explanation {
    text: String,
}

impl Native for Explanation {
    fn native_type(&self) -> &'static NativeType {
        &EXPLANATION
    }

    fn repr(&self, _: &Value, _: &mut Vm) -> Result<String> {
        Ok(self.text.clone())
    }
}

/// `kernel.explain(line=3)` and `kernel.explain(x, y)`: `args` without the kernel.
pub fn explain(vm: &mut Vm, kernel: &Kernel, args: &Args, extent: Extent) -> Result {
    let line = match args.keyword("line") {
        Some(line) => {
            let line = line.as_int().and_then(|line| u32::try_from(line).ok());
            Some(line.ok_or_else(|| errors::explain_line(&kernel.template))?)
        }
        None => None,
    };
    let (values, names) = args.without("line");
    let (extent, values, names) = launch::extent_of(vm, &Args::new(&values, &names), extent)?;
    let text = text(vm, kernel, &Args::new(&values, &names), extent, line)?;
    Ok(Value::native(Explanation { text: text.trim_end().to_owned() }))
}

/// The same text of a value that is a kernel; `None` for any other.
pub fn of_value(vm: &mut Vm, value: &Value, line: Option<u32>) -> Option<Result<String>> {
    let kernel = value.downcast::<Kernel>()?;
    Some(text(vm, kernel, &Args::new(&[], &[]), Extent::Default, line))
}

fn text(vm: &mut Vm, kernel: &Kernel, args: &Args, extent: Extent, line: Option<u32>) -> Result<String> {
    let Kernel { template, env, .. } = kernel;
    let is_given = !args.positional().is_empty() || args.keywords().next().is_some();
    let signature = match is_given {
        true => launch::signature(vm, kernel, args, &extent)?,
        false => kernel.declared().map_err(|raise| errors::explain_undeclared(raise, template))?,
    };
    let found = kps_kernel::explain(template, env, &signature, &Target::portable());
    let found = found.map_err(errors::compile)?;
    let device = Some(&*vm.device).filter(|device| !device.is_empty());
    let explained = Explained::new(template.name(), found, device).map_err(errors::no_device)?;
    match line {
        None => Ok(explained.page()),
        Some(line) => explained.line(line).ok_or_else(|| errors::line_outside(line, &explained.place())),
    }
}
