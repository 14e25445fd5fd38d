//! One kernel on the interpreter and on every device: do they agree, bit for bit?
//!
//! Any NaN equals any NaN. Where a driver may give something else, which `driver.rs` tells, it is not held to
//! the interpreter; the built-in device always is.

use std::panic::{AssertUnwindSafe, catch_unwind};

use kps::inspect::{self, Compiled};
use kps_kernel::ir::Kernel;
use kps_kernel::{KernelModule, Target, Type, Verified};
use kps_syntax::{Diagnostics, Source};
use spirv_tools::TargetEnv;
use spirv_tools::val::{Validator, ValidatorOptions};

use crate::data::{Arguments, Array, Launch};
use crate::devices::{self, Devices, VULKAN};
use crate::interpreter::{self, Grid, Stop, Value};

/// Statements that the interpreter runs of one kernel, over all invocations.
const FUEL: u64 = 2_000_000;

#[derive(Clone)]
pub struct Case {
    pub source: String,
    pub seed: u64,
}

#[derive(Debug)]
pub enum Outcome {
    Agrees,
    /// All but Vulkan, which may give something else for this reason.
    AgreesWithoutVulkan(&'static str),
    /// By the compiler, with its messages.
    Refused(String),
    /// The interpreter does not know what should come out.
    Open(String),
    /// With what differs.
    Differs(String),
}

impl Outcome {
    pub const AGREES: &str = "agree";

    /// For counting.
    pub fn title(&self) -> String {
        match self {
            Outcome::Agrees => Outcome::AGREES.to_owned(),
            Outcome::AgreesWithoutVulkan(why) => format!("agree without Vulkan: {why}"),
            // Its code, without the names in the message.
            Outcome::Refused(message) => {
                format!("refused: {}", message.split(':').next().unwrap_or_default())
            }
            Outcome::Open(reason) => format!("open: {reason}"),
            Outcome::Differs(_) => "differ".to_owned(),
        }
    }
}

impl Case {
    /// A panic anywhere is a difference, too.
    pub fn run(&self, devices: &Devices) -> Outcome {
        let run = AssertUnwindSafe(|| self.run_or_panic(devices));
        catch_unwind(run).unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no text");
            Outcome::Differs(format!("panicked: {text}"))
        })
    }

    fn run_or_panic(&self, devices: &Devices) -> Outcome {
        // Both kinds of words, each with its own ways to load and to test an index. Without float controls a
        // driver may take `0.0 * x` for 0.
        let portable = Target { float_controls: devices.target.float_controls, ..Target::portable() };
        let target = if self.seed.is_multiple_of(2) { devices.target } else { portable };
        let (module, kernel) = match compile(&self.source, &target) {
            Ok(compiled) => compiled,
            Err(refused) => return Outcome::Refused(refused),
        };
        let kernel = kernel.get();
        let launch = Launch::new(kernel, self.seed);
        let arguments = Arguments::new(kernel, &launch, self.seed);
        let mut memories = arguments.memories();
        let scalars: Vec<Value> = arguments.scalars.iter().map(|(_, value)| value.clone()).collect();
        let grid = Grid { groups: launch.groups, domain: launch.domain };
        let notes = match interpreter::run(kernel, grid, &scalars, &mut memories, FUEL) {
            Ok(notes) => notes,
            Err(Stop::Divergent) => {
                return Outcome::Differs("the interpreter came to divergent barriers".into());
            }
            Err(stop) => return Outcome::Open(format!("{stop:?}")),
        };
        if let Err(error) = validate(&module.words, &target) {
            return Outcome::Differs(format!("the words are not valid: {error}"));
        }
        let expected: Vec<Vec<u8>> = memories.iter().map(interpreter::Memory::to_bytes).collect();
        for (name, device) in &devices.all {
            let found = match devices::launch(&**device, &module, &launch, &arguments) {
                Ok(found) => found,
                Err(error) => return Outcome::Differs(format!("{name}: {error}")),
            };
            let arrays = arguments.arrays.iter().zip(expected.iter().zip(&found));
            let difference = |(array, (expected, found)): (&Array, (&Vec<u8>, &Vec<u8>))| {
                let text = difference(&array.element, expected, found)?;
                Some(format!("{launch:?}\n{name}: {}{text}\nscalars: {:?}", array.name, arguments.scalars))
            };
            let differs = arrays.filter_map(difference).next();
            match (differs, *name, notes.driver) {
                (None, ..) => {}
                (Some(_), VULKAN, Some(why)) => return Outcome::AgreesWithoutVulkan(why),
                (Some(text), ..) => return Outcome::Differs(text),
            }
        }
        Outcome::Agrees
    }
}

/// The one kernel of a script, as words and in its typed form.
fn compile(text: &str, target: &Target) -> Result<(KernelModule, Verified<Kernel>), String> {
    let source = Source::new("random.kps", text);
    let kernels = inspect::kernels(&source).map_err(|mistakes| first(&mistakes))?;
    let kernel = kernels.first().ok_or("there is no kernel")?;
    match kernel.compile_typed(target).map_err(|mistakes| first(&mistakes))? {
        Compiled::Done(compiled) => Ok(compiled),
        Compiled::NeedsRun(reason) => Err(reason),
    }
}

fn first(mistakes: &Diagnostics) -> String {
    mistakes.0.first().map_or_else(String::new, |mistake| format!("{}: {}", mistake.code, mistake.message))
}

pub fn validate(words: &[u32], target: &Target) -> Result<(), String> {
    let options =
        ValidatorOptions { scalar_block_layout: target.scalar_layout, ..ValidatorOptions::default() };
    let validator = spirv_tools::val::create(Some(TargetEnv::Vulkan_1_2));
    validator.validate(words, Some(options)).map_err(|error| error.to_string())
}

/// The first number that is another one; a NaN is like any other.
fn difference(element: &Type, expected: &[u8], found: &[u8]) -> Option<String> {
    let size = element.packed_size() as usize;
    for (at, (expected, found)) in expected.chunks_exact(size).zip(found.chunks_exact(size)).enumerate() {
        for (offset, scalar) in element.numbers() {
            let number = |bytes: &[u8]| Value::read(&scalar.into(), &bytes[offset as usize..]);
            let (expected, found) = (number(expected), number(found));
            let both_nan = [&expected, &found]
                .iter()
                .all(|value| matches!(value, Value::Float(value) if value.is_nan()));
            if !both_nan && expected.bits(scalar) != found.bits(scalar) {
                return Some(format!(
                    "[{at}], byte {offset}: expected {expected:?}, found {found:?} ({scalar})"
                ));
            }
        }
    }
    None
}
