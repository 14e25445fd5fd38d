//! Compares one kernel on the interpreter and on every device, bit for bit.
//!
//! Kernels with cooperative matrices are compiled twice: with instructions for them, which the CPU device
//! supports, and without, for all devices.
//!
//! All NaNs are equal, and in imprecise kernels, so are both zeros. Where a driver may give other results,
//! which `driver.rs` decides, it is not compared; the CPU device always is.

use std::panic::{AssertUnwindSafe, catch_unwind};

use kps::inspect::{self, Compiled};
use kps_device::Device;
use kps_kernel::ir::Kernel;
use kps_kernel::workarounds::Driver;
use kps_kernel::{KernelModule, Matrices, Scalar, Target, Type, Verified, Workarounds};
use kps_spirv_tools::{Options, TargetEnv};
use kps_syntax::{Diagnostics, Source};

use crate::data::{Arguments, Launch};
use crate::devices::{self, Devices, Named, VULKAN};
use crate::driver;
use crate::interpreter::{self, Grid, Notes, Stop, Value};

/// Limit of statements that the interpreter runs for one kernel, over all invocations.
const FUEL: u64 = 8_000_000;

/// The subgroup size of the CPU device, and the shared memory of a workgroup in bytes.
const SUBGROUP_SIZE: u32 = 8;
const MAX_SHARED: u32 = 32 * 1024;

#[derive(Clone)]
pub struct Case {
    pub source: String,
    pub seed: u64,
}

#[derive(Debug)]
pub enum Verdict {
    Agrees,
    /// The CPU device's instructions for cooperative matrices agree, too.
    AgreesInBothForms,
    /// All devices except Vulkan agree; Vulkan may differ for this reason.
    AgreesWithoutVulkan(&'static str),
    /// Rejected by the compiler, with its messages.
    Refused(String),
    /// The interpreter cannot decide the result.
    Open(String),
    /// These devices differ, with the difference. The list is empty if the interpreter or the module is
    /// wrong.
    Differs(Vec<&'static str>, String),
    /// A panic anywhere, with its message.
    Panicked(String),
}

impl Verdict {
    pub const AGREES: &str = "agree";
    pub const AGREES_IN_BOTH_FORMS: &str = "agree, with matrices emulated and with instructions for them";

    /// The same kind of failure: a difference on the same devices, or a panic.
    pub fn is_same_failure(&self, other: &Verdict) -> bool {
        match (self, other) {
            (Verdict::Differs(a, _), Verdict::Differs(b, _)) => a == b,
            (Verdict::Panicked(_), Verdict::Panicked(_)) => true,
            _ => false,
        }
    }

    /// The compiler, a device or the interpreter is wrong.
    pub fn is_failure(&self) -> bool {
        matches!(self, Verdict::Differs(..) | Verdict::Panicked(_))
    }

    /// For statistics.
    pub fn title(&self) -> String {
        match self {
            Verdict::Agrees => Verdict::AGREES.to_owned(),
            Verdict::AgreesInBothForms => Verdict::AGREES_IN_BOTH_FORMS.to_owned(),
            Verdict::AgreesWithoutVulkan(why) => format!("agree without Vulkan: {why}"),
            // The error's code, without the names in the message.
            Verdict::Refused(message) => {
                format!("refused: {}", message.split(':').next().unwrap_or_default())
            }
            Verdict::Open(reason) => format!("open: {reason}"),
            Verdict::Differs(..) => "differ".to_owned(),
            Verdict::Panicked(_) => "panicked".to_owned(),
        }
    }
}

impl Case {
    pub fn run(&self, devices: &Devices) -> Verdict {
        let run = AssertUnwindSafe(|| self.run_or_panic(devices));
        catch_unwind(run).unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no text");
            Verdict::Panicked(text.to_owned())
        })
    }

    fn run_or_panic(&self, devices: &Devices) -> Verdict {
        // Two targets with different code for loads and index checks. Both have the workarounds for the
        // driver; one also has those for another driver.
        let portable = Target {
            scalar_layout: false,
            robust_access: false,
            workarounds: devices.target.workarounds.or(Workarounds::of(Driver::Nvidia, None)),
            ..devices.target
        };
        let target = if self.seed.is_multiple_of(2) { devices.target } else { portable };
        if !self.source.contains("coop_matrix") {
            return self.run_for(&target, devices, &devices.all).0;
        }
        let (verdict, emulated) = self.run_for(&target, devices, &devices.all);
        if !matches!(verdict, Verdict::Agrees) {
            return verdict;
        }
        let with_matrices = Target { matrices: Matrices::of_all(SUBGROUP_SIZE, MAX_SHARED), ..target };
        match self.run_for(&with_matrices, devices, &devices.built_in()) {
            (Verdict::Agrees, Some(expected)) if expected.has_matrices => {
                match differing(&expected, &emulated.map_or(Vec::new(), |emulated| emulated.arrays)) {
                    Some(difference) => {
                        Verdict::Differs(vec![], "with instructions, ".to_owned() + &difference.text)
                    }
                    None => Verdict::AgreesInBothForms,
                }
            }
            (verdict, _) => verdict,
        }
    }

    /// Compares these devices for a target, and returns the interpreter's arrays.
    fn run_for(&self, target: &Target, known: &Devices, devices: &[Named]) -> (Verdict, Option<Expected>) {
        match self.expected(target) {
            Err(verdict) => (verdict, None),
            Ok(expected) => (compared(&expected, target, known, devices), Some(expected)),
        }
    }

    fn expected(&self, target: &Target) -> Result<Expected, Verdict> {
        let (module, kernel) = compile(&self.source, target).map_err(Verdict::Refused)?;
        let kernel = kernel.get();
        let launch = Launch::new(kernel, self.seed);
        let arguments = Arguments::new(kernel, &launch, self.seed);
        let mut memories = arguments.memories();
        let scalars: Vec<Value> = arguments.scalars.iter().map(|(_, value)| value.clone()).collect();
        let grid = Grid { groups: launch.groups, domain: launch.domain };
        let notes =
            interpreter::run(kernel, grid, &scalars, &mut memories, FUEL).map_err(|stop| match stop {
                Stop::Divergent => {
                    Verdict::Differs(vec![], "the interpreter came to divergent barriers".into())
                }
                stop => Verdict::Open(format!("{stop:?}")),
            })?;
        if let Err(error) = validate(&module.words, target) {
            return Err(Verdict::Differs(vec![], format!("the module is invalid: {error}")));
        }
        let arrays = memories.iter().map(interpreter::Memory::to_bytes).collect();
        Ok(Expected {
            module,
            launch,
            arguments,
            arrays,
            notes,
            is_precise: kernel.precise,
            has_matrices: kernel.has_matrices(),
        })
    }
}

fn compared(expected: &Expected, target: &Target, known: &Devices, devices: &[Named]) -> Verdict {
    let Expected { launch, arguments, notes, .. } = expected;
    let found: Vec<Option<Difference>> =
        devices.iter().map(|(_, device)| differs(&**device, expected)).collect();
    let names = || devices.iter().map(|(name, _)| *name).zip(&found);
    if found.iter().all(Option::is_none) {
        return Verdict::Agrees;
    }
    let is_of_zeros = found.iter().flatten().all(|difference| difference.is_of_zeros);
    let is_excusable = names().all(|(name, found)| {
        found.as_ref().is_none_or(|difference| name == VULKAN && difference.is_of_numbers)
    });
    let excuse = driver::excuse(notes, known.is_lavapipe, is_of_zeros);
    if let Some(why) = excuse.filter(|_| is_excusable) {
        return Verdict::AgreesWithoutVulkan(why);
    }
    let mut report =
        format!("{launch:?}\nwords for {target:?}\nvulkan is {}\n{arguments}", known.vulkan_name);
    for (name, found) in names() {
        let found = found.as_ref().map(|difference| difference.text.as_str());
        report += &format!("{name}: {}\n", found.unwrap_or("as the interpreter has it"));
    }
    let who = names().filter(|(_, found)| found.is_some()).map(|(name, _)| name);
    Verdict::Differs(who.collect(), report)
}

/// The input of a kernel, and the interpreter's results.
struct Expected {
    module: KernelModule,
    launch: Launch,
    arguments: Arguments,
    arrays: Vec<Vec<u8>>,
    notes: Notes,
    is_precise: bool,
    /// Whether it has cooperative matrices.
    has_matrices: bool,
}

/// A wrong result of a device.
struct Difference {
    text: String,
    /// It ran, and gave other numbers.
    is_of_numbers: bool,
    /// Only the sign of zeros differs.
    is_of_zeros: bool,
}

fn differs(device: &dyn Device, expected: &Expected) -> Option<Difference> {
    let Expected { module, launch, arguments, .. } = expected;
    let found = match devices::launch(device, module, launch, arguments) {
        Ok(found) => found,
        Err(error) if devices::is_too_large(&error) => return None,
        Err(error) => {
            let text = error.to_string();
            return Some(Difference { text, is_of_numbers: false, is_of_zeros: false });
        }
    };
    differing(expected, &found)
}

/// Describes the difference of the arrays from the expected ones.
fn differing(expected: &Expected, found: &[Vec<u8>]) -> Option<Difference> {
    let arrays = expected.arguments.arrays.iter().zip(expected.arrays.iter().zip(found));
    let differences: Vec<Difference> = arrays
        .filter_map(|(array, (expected, found))| {
            let found = difference(&array.element, expected, found)?;
            Some(Difference { text: array.name.clone() + &found.text, ..found })
        })
        .collect();
    let texts: Vec<&str> = differences.iter().map(|difference| difference.text.as_str()).collect();
    let is_of_zeros = differences.iter().all(|difference| difference.is_of_zeros);
    let is_allowed = texts.is_empty() || (is_of_zeros && !expected.is_precise);
    (!is_allowed).then(|| Difference { text: texts.join("; also "), is_of_numbers: true, is_of_zeros })
}

/// Compiles the only kernel of a script. Returns the module and the typed form.
fn compile(text: &str, target: &Target) -> Result<(KernelModule, Verified<Kernel>), String> {
    let source = Source::new("random.kps", text);
    let kernels = inspect::kernels(&source).map_err(|mistakes| first(&mistakes))?;
    let kernel = kernels.first().ok_or("there is no kernel")?;
    match kernel.compile_typed(target).map_err(|mistakes| first(&mistakes))? {
        Compiled::Done(compiled) => Ok(compiled),
        Compiled::NeedsRun(reason) | Compiled::NeedsArgs(reason) => Err(reason),
    }
}

fn first(mistakes: &Diagnostics) -> String {
    mistakes.0.first().map_or_else(String::new, |mistake| format!("{}: {}", mistake.code, mistake.message))
}

pub fn validate(words: &[u32], target: &Target) -> Result<(), String> {
    let options = Options { scalar_block_layout: target.scalar_layout, ..Options::default() };
    kps_spirv_tools::validate(words, TargetEnv::Vulkan_1_2, options)
}

/// The first number that differs, with its bits, and the number of differences. All NaNs are equal.
fn difference(element: &Type, expected: &[u8], found: &[u8]) -> Option<Difference> {
    let size = element.packed_size() as usize;
    let mut first = None;
    let (mut n_numbers, mut n_others, mut n_zeros) = (0, 0, 0);
    for (at, (expected, found)) in expected.chunks_exact(size).zip(found.chunks_exact(size)).enumerate() {
        for (offset, scalar) in element.numbers() {
            let number = |bytes: &[u8]| Value::read(&scalar.into(), &bytes[offset as usize..]);
            let (expected, found) = (number(expected), number(found));
            n_numbers += 1;
            if is_same(scalar, &expected, &found) {
                continue;
            }
            n_others += 1;
            n_zeros += usize::from(is_zero(&expected) && is_zero(&found));
            first.get_or_insert_with(|| {
                let show = |value: &Value| format!("{value} ({:#x})", value.bits(scalar));
                format!(
                    "[{at}], byte {offset}: expected {scalar} {}, found {}",
                    show(&expected),
                    show(&found)
                )
            });
        }
    }
    first.map(|first| Difference {
        text: format!("{first}; {n_others} of {n_numbers} numbers are others"),
        is_of_numbers: true,
        is_of_zeros: n_zeros == n_others,
    })
}

fn is_zero(value: &Value) -> bool {
    matches!(value, Value::Float(0.0))
}

fn is_same(scalar: Scalar, expected: &Value, found: &Value) -> bool {
    let is_nan = |value: &Value| matches!(value, Value::Float(value) if value.is_nan());
    is_nan(expected) && is_nan(found) || expected.bits(scalar) == found.bits(scalar)
}
