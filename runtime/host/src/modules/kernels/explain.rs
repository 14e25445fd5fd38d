//! `kernel.explain()`: explains the kernel, as `kps explain` prints it.
//!
//! The result is an [`Explanation`], which prints as that page. By default the types are those of the
//! parameters' annotations. With the arguments of a launch, the code that it would compile is explained.
//! Nothing runs.

use kps_compute::Extent;
use kps_kernel::Target;

use super::object::Kernel;
use super::{errors, launch};
use crate::explain::{AskedLine, Explained};
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
    let asked = args.keyword("line").map(|given| asked_line(kernel, given)).transpose()?;
    let (values, names) = args.without("line");
    let (extent, values, names) = launch::extent_of(vm, &Args::new(&values, &names), extent)?;
    let text = text(vm, kernel, &Args::new(&values, &names), extent, asked)?;
    Ok(Value::native(Explanation { text: text.trim_end().to_owned() }))
}

/// A number, or `"helpers.kps:6"`.
fn asked_line(kernel: &Kernel, given: &Value) -> Result<AskedLine> {
    let asked = match given.as_str() {
        Some(text) => text.parse().ok(),
        None => given.as_int().and_then(|line| u32::try_from(line).ok()).map(AskedLine::from),
    };
    asked.ok_or_else(|| errors::explain_line(&kernel.template))
}

/// The same text for a value that is a kernel; `None` for any other.
pub fn of_value(vm: &mut Vm, value: &Value, line: Option<u32>) -> Option<Result<String>> {
    let kernel = value.downcast::<Kernel>()?;
    Some(text(vm, kernel, &Args::new(&[], &[]), Extent::Default, line.map(AskedLine::from)))
}

fn text(
    vm: &mut Vm,
    kernel: &Kernel,
    args: &Args,
    extent: Extent,
    asked: Option<AskedLine>,
) -> Result<String> {
    let template = &*kernel.template_now()?;
    let is_given = !args.positional().is_empty() || args.keywords().next().is_some();
    let signature = match is_given {
        true => launch::signature(vm, kernel, args, &extent)?,
        false => {
            kernel.declared().map_err(|raise| errors::explain_undeclared(raise, template, &kernel.env))?
        }
    };
    let found = kps_kernel::explain(template, &kernel.env.interruptible(vm), &signature, &Target::portable());
    let found = found.map_err(errors::compile)?;
    let device = Some(&*vm.device).filter(|device| !device.is_empty());
    let explained = Explained::new(template.name(), found, device).map_err(errors::no_device)?;
    match asked {
        None => Ok(explained.page()),
        Some(asked) => explained.line(&asked).ok_or_else(|| errors::line_outside(&asked, &explained.place())),
    }
}
